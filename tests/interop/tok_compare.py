#!/usr/bin/env python3
"""tok_compare.py TOK_LINES GOLDEN WORK [--count N] [--seed S] [--only NAME ...] [--speed]: random Unicode strings through our tokenizers and through
the originals' (Hugging Face tokenizers, tiktoken, sentencepiece, where installed): the ids and the decoded texts must be equal. Besides the golden
tokenizers, small ones are trained here with the originals, so that every model and every rule has its turn. Exits 77 if none of the three is installed."""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import time
import unicodedata

try:
    import tokenizers
except ImportError:
    tokenizers = None
try:
    import tiktoken
    import tiktoken.load
except ImportError:
    tiktoken = None
try:
    import sentencepiece
except ImportError:
    sentencepiece = None

WORDS = ("the of and a to in is it you that he was for on are with as I his they be at one have this from or had by hot word but what some we can out "
         "other were all there when up use your how said an each she which do their time if will way about many then them write would like so these her "
         "long make thing see him two has look more day could go come did number sound no most people my over know water than call first who may down "
         "side been now find don't we'll it's I'm you're they've he'd Größe naïve café Straße привет мир как дела 你好 世界 こんにちは 世界 한국어 مرحبا שלום "
         "नमस्ते ไทย def return import printf int main {} [] () == != <= >= -> => // /* */ http://example.com/a?b=c 3.14159 1,000,000 2024-01-01 0x1F "
         "🙂 👩‍👩‍👧 🇩🇪 e\u0301 A\u030a ﬁ ① ½ Ⅷ ｶﾞ ㌔ \u200d \u00a0 \u3000 <s> </s> <|endoftext|> <|im_start|> [INST] [UNK] ▁ ▁▁ ##s").split(" ")
RANGES = [(0x20, 0x7f), (0x80, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700), (0x900, 0xe80), (0x1100, 0x1200), (0x1e00, 0x2000),
          (0x2000, 0x2400), (0x2460, 0x2800), (0x3000, 0x3200), (0x3200, 0x3400), (0x4e00, 0x5000), (0xac00, 0xac80), (0xf900, 0xfb00), (0xfb00, 0x10000),
          (0x1d400, 0x1d500), (0x1f100, 0x1f700), (0x10000, 0x11000), (0x20000, 0x20100), (0xe0000, 0xe0100), (0x10ff00, 0x110000)]
BLANKS = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", " \n ", "\u00a0", "\u3000", "", ""]


def random_char(rng, old):
    assigned = unicodedata.ucd_3_2_0 if old else unicodedata
    while True:
        code = rng.randrange(*rng.choice(RANGES)) if rng.random() < 0.97 else rng.randrange(0x110000)
        # What newer editions of Unicode assigned is where two libraries may differ by their tables alone.
        if not 0xd800 <= code < 0xe000 and assigned.category(chr(code)) != "Cn":
            return chr(code)


def random_text(rng, old):
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.random()
        if kind < 0.45:
            parts.append(rng.choice(WORDS))
        elif kind < 0.6:
            parts.append("".join(random_char(rng, old) for _ in range(rng.randrange(1, 6))))
        elif kind < 0.7:
            parts.append(str(rng.randrange(10 ** rng.randrange(1, 9))))
        elif kind < 0.8:
            parts.append(rng.choice(WORDS).upper() if rng.random() < 0.5 else rng.choice(WORDS).capitalize())
        elif kind < 0.9:
            parts.append(rng.choice("!?.,;:'\"-_*#@$%&/\\|~^`+=<>()[]{}") * rng.randrange(1, 5))
        else:
            parts.append(rng.choice(WORDS)[: rng.randrange(1, 4)])
        parts.append(rng.choice(BLANKS))
    return "".join(parts)


# Where Hugging Face's classes of characters are of an old edition of Unicode.
OLD = ("hf_wordpiece", "hf_wordlevel", "hf_unigram_accents")


class Original:
    """encode(texts) and decode(ids); `exact` decoded text is compared too."""
    special = False
    exact = True


class HuggingFace(Original):
    special = True

    def __init__(self, path):
        self.tok = tokenizers.Tokenizer.from_file(path)
        self.tok.no_truncation()
        self.tok.no_padding()

    def encode(self, texts):
        return [e.ids for e in self.tok.encode_batch(texts, add_special_tokens=False)]

    def decode(self, ids):
        return self.tok.decode_batch(ids, skip_special_tokens=False)


class SentencePiece(Original):
    def __init__(self, path):
        self.tok = sentencepiece.SentencePieceProcessor(model_file=path)

    def encode(self, texts):
        return [self.tok.encode(text) for text in texts]

    def decode(self, ids):
        return [self.tok.decode(one) for one in ids]


class TikToken(Original):
    def __init__(self, path, pattern):
        ranks = tiktoken.load.load_tiktoken_bpe(path)
        self.tok = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(self, texts):
        return [self.tok.encode_ordinary(text) for text in texts]

    def decode(self, ids):
        return [self.tok.decode(one, errors="replace") for one in ids]


LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def golden_cases(golden):
    base = os.path.join(golden, "tokenizers")
    for name in ("smollm2", "llama3_1", "qwen3", "llama2"):
        yield name, os.path.join(base, name, "tokenizer.json"), HuggingFace
    yield "gemma3", os.environ.get("WICK_GEMMA3") or os.path.join(base, "gemma3/tokenizer.json"), HuggingFace
    yield "llama3_tiktoken", os.path.join(base, "llama3_tiktoken/tokenizer.model"), lambda path: TikToken(path, LLAMA3)
    yield "qwen_tiktoken", os.path.join(base, "qwen_tiktoken/qwen.tiktoken"), lambda path: TikToken(path, QWEN)
    yield "llama2_sp", os.path.join(base, "llama2_sp/tokenizer.model"), SentencePiece
    yield "mistral_v3_sp", os.path.join(base, "mistral_v3_sp/mistral_instruct_tokenizer_240323.model.v3"), SentencePiece


# ---- small ones, trained here ----

def corpus(rng, lines):
    return [" ".join(rng.choice(WORDS[:200]) for _ in range(rng.randrange(3, 14))) for _ in range(lines)]


def train_sentencepiece(work, name, **options):
    path = os.path.join(work, name)
    if not os.path.exists(path + ".model"):
        with open(path + ".txt", "w", encoding="utf-8") as file:
            file.write("\n".join(corpus(random.Random(5), 4000)))
        sentencepiece.SentencePieceTrainer.train(input=path + ".txt", model_prefix=path, minloglevel=2, hard_vocab_limit=False, num_threads=1,
                                                 **{"vocab_size": 500, **options})
    return path + ".model"


def sentencepiece_cases(work):
    variants = {
        "sp_unigram": {},
        "sp_unigram_bytes": dict(byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, vocab_size=700),
        "sp_unigram_user": dict(user_defined_symbols=["<tool>", "ing", "▁the▁"], normalization_rule_name="nfkc_cf", control_symbols=["<ctl>"]),
        "sp_unigram_plain": dict(add_dummy_prefix=False, normalization_rule_name="nfkc", split_by_whitespace=False),
        "sp_bpe": dict(model_type="bpe"),
        "sp_bpe_user": dict(model_type="bpe", user_defined_symbols=["<tool>", "the", "\n", "  "], byte_fallback=True, vocab_size=700,
                            normalization_rule_name="identity", remove_extra_whitespaces=False),
        "sp_bpe_suffix": dict(model_type="bpe", treat_whitespace_as_suffix=True),
        "sp_unigram_suffix": dict(treat_whitespace_as_suffix=True, normalization_rule_name="nmt_nfkc_cf"),
        "sp_word": dict(model_type="word", vocab_size=150),
        "sp_char": dict(model_type="char", vocab_size=150),
    }
    for name, options in variants.items():
        yield name, train_sentencepiece(work, name, **options), SentencePiece


def hf_variants():
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]

    def wordpiece(**options):
        tok = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
        tok.normalizer = normalizers.BertNormalizer(**options)
        tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tok.decoder = decoders.WordPiece()
        return tok, trainers.WordPieceTrainer(vocab_size=600, special_tokens=bert, show_progress=False)

    def unigram(normalizer, pre, decoder, **options):
        tok = tokenizers.Tokenizer(models.Unigram())
        tok.normalizer, tok.pre_tokenizer, tok.decoder = normalizer, pre, decoder
        return tok, trainers.UnigramTrainer(vocab_size=500, special_tokens=["<unk>", "<s>"], unk_token="<unk>", show_progress=False, **options)

    def bpe(normalizer, pre, decoder, model, **options):
        tok = tokenizers.Tokenizer(models.BPE(**model))
        if normalizer:
            tok.normalizer = normalizer
        tok.pre_tokenizer, tok.decoder = pre, decoder
        return tok, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>"], show_progress=False, **options)

    def wordlevel(pre):
        tok = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
        tok.pre_tokenizer = pre
        return tok, trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False)

    n, p, d = normalizers, pre_tokenizers, decoders
    yield "hf_wordpiece", wordpiece()
    yield "hf_wordpiece_cased", wordpiece(lowercase=False, strip_accents=False, handle_chinese_chars=False)
    yield "hf_wordpiece_accents", wordpiece(lowercase=False, strip_accents=True, clean_text=False)
    yield "hf_unigram", unigram(n.Sequence([n.Nmt(), n.NFKC(), n.Replace(tokenizers.Regex(" {2,}"), " ")]), p.Metaspace(), d.Metaspace())
    yield "hf_unigram_accents", unigram(n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase(), n.Strip()]), p.Metaspace(prepend_scheme="first"),
                                        d.Metaspace(prepend_scheme="first"))
    yield "hf_bpe_suffix", bpe(n.Lowercase(), p.Sequence([p.Whitespace(), p.Digits(True)]), d.BPEDecoder(), dict(unk_token="<unk>", end_of_word_suffix="</w>"),
                               end_of_word_suffix="</w>")
    yield "hf_bpe_inner", bpe(None, p.WhitespaceSplit(), d.WordPiece("##", False), dict(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True),
                              continuing_subword_prefix="##")
    yield "hf_bpe_byte_norm", bpe(n.Sequence([n.NFC(), n.ByteLevel()]), p.Punctuation("contiguous"), d.ByteLevel(), dict(unk_token="<unk>"),
                                  initial_alphabet=p.ByteLevel.alphabet())
    yield "hf_wordlevel", wordlevel(p.BertPreTokenizer())
    yield "hf_wordlevel_chars", wordlevel(p.CharDelimiterSplit("e"))
    if hasattr(p, "FixedLength"):
        yield "hf_wordlevel_fixed", wordlevel(p.FixedLength(3))


def hf_cases(work):
    lines = corpus(random.Random(6), 2000)
    for name, (tok, trainer) in hf_variants():
        path = os.path.join(work, name + ".json")
        if not os.path.exists(path):
            tok.train_from_iterator(lines, trainer)
            tok.save(path)
        yield name, path, HuggingFace
    if sentencepiece:
        yield "hf_unigram_precompiled", precompiled(work), HuggingFace


def protobuf_fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            at += size
            yield key >> 3, data[at - size:at]


def precompiled(work):
    """A SentencePiece model as transformers converts it."""
    import base64
    path = os.path.join(work, "hf_unigram_precompiled.json")
    model = open(train_sentencepiece(work, "sp_unigram"), "rb").read()
    vocab, charsmap = [], b""
    for number, value in protobuf_fields(model):
        if number == 1:
            piece = dict(protobuf_fields(value))
            vocab.append([piece[1].decode(), struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0])
        elif number == 3:
            charsmap = dict(protobuf_fields(value)).get(2, b"")
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    json.dump({"version": "1.0", "added_tokens": [], "post_processor": None, "decoder": space, "pre_tokenizer": space,
               "normalizer": {"type": "Sequence", "normalizers": [
                   {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
                   {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
               "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}}, open(path, "w"))
    return path


# ---- comparing ----

def ours(program, path, texts, work, special):
    source, out = os.path.join(work, "texts.bin"), os.path.join(work, "out.bin")
    with open(source, "wb") as file:
        for text in texts:
            data = text.encode()
            file.write(struct.pack("<I", len(data)) + data)
    got = subprocess.run([program, path, source, out] + (["special"] if special else []), capture_output=True, text=True)
    if got.returncode:
        return None, None, got.stderr.strip()
    data, at, ids, decoded = open(out, "rb").read(), 0, [], []
    for _ in texts:
        count, = struct.unpack_from("<I", data, at)
        at += 4
        if count == 0xffffffff:
            ids.append(None)
        else:
            ids.append(list(struct.unpack_from(f"<{count}i", data, at)))
            at += 4 * count
        size, = struct.unpack_from("<I", data, at)
        decoded.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    return ids, decoded, json.loads(got.stdout)


def compare(args, name, path, make):
    original = make(path)
    bad_ids = bad_texts = done = 0
    shown = []
    for start in range(0, args.count, 10000):
        rng = random.Random(args.seed * 1000 + start)
        texts = [random_text(rng, name.startswith(OLD)) for _ in range(min(10000, args.count - start))]
        ids, decoded, facts = ours(args.program, path, texts, args.work, original.special)
        if ids is None:
            print(f"{name}: FAIL: {facts}")
            return False
        wanted = original.encode(texts)
        wanted_texts = original.decode(wanted)
        for text, a, b, s, t in zip(texts, ids, wanted, decoded, wanted_texts):
            done += 1
            bad_ids += a != b
            bad_texts += a == b and s != t
            if (a != b or s != t) and len(shown) < args.show:
                shown.append(f"    {text!r}\n      ours   {a if a != b else s!r}\n      theirs {b if a != b else t!r}")
    print(f"{name}: {'ok' if not bad_ids and not bad_texts else 'FAIL'}: {done} texts, {bad_ids} with other ids, {bad_texts} with other text")
    print("\n".join(shown), end="\n" if shown else "")
    return not bad_ids and not bad_texts


def speed(args, name, path, make):
    rng = random.Random(1)
    text = ""
    while len(text.encode()) < 1 << 20:
        text += " ".join(rng.choice(WORDS[:150]) for _ in range(12)) + rng.choice([".\n", ", ", ". "])
    os.environ["TOKENIZERS_PARALLELISM"] = os.environ["RAYON_NUM_THREADS"] = "1"
    original = make(path)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        original.tok.encode(text)
        times.append((time.perf_counter() - began) * 1000)
    facts = min((ours(args.program, path, [text], args.work, original.special)[2] for _ in range(3)), key=lambda f: f["encode_ms"])
    print(f"{name}: load {facts['load_ms']:.0f} ms, 1 MB in {facts['encode_ms']:.1f} ms; the original {min(times):.1f} ms: {min(times) / facts['encode_ms']:.1f} times")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("golden")
    parser.add_argument("work")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    cases = list(golden_cases(args.golden))
    if sentencepiece:
        cases += sentencepiece_cases(args.work)
    if tokenizers:
        cases += hf_cases(args.work)
    ran, ok = 0, True
    for name, path, make in cases:
        if args.only and not any(word in name for word in args.only):
            continue
        library = {HuggingFace: tokenizers, SentencePiece: sentencepiece}.get(make, tiktoken)
        if not library or not os.path.exists(path):
            print(f"{name}: skipped: {'no file' if library else 'the original is not installed'}")
            continue
        ran += 1
        ok = (speed if args.speed else compare)(args, name, path, make) and ok
    return 77 if ran == 0 else 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
