#!/usr/bin/env python3
"""`wick eval` against the same numbers computed here from `wick run --logits`, window by window. eval.py WICK SOURCE WORK"""
import array
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

wick, source, work = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
story = source / "assets/story"
CONTEXT, VOCAB = 32, 1024
EXPORT = ["export", "--quiet", "base.model_class=llama3_2", f"base.checkpoint={story}/consolidated.00.pth", f"base.params={story}/params.json",
          f"export.max_context_length={CONTEXT}", "export.max_seq_length=16"]
TEXT = "Once upon a time, there was a little girl. She had a red ball and a big dog. They went to the park. " * 3
failed = 0


def check(condition, what):
    global failed
    failed += not condition
    print(("ok: " if condition else "WRONG: ") + what)


def run(*arguments, **options):
    return subprocess.run([wick, *map(str, arguments)], capture_output=True, text=True, **options)


def evaluate(*arguments):
    result = run("eval", *arguments, "--json", "--quiet", "--numerics", "reproducible")
    if result.returncode:
        raise SystemExit(f"eval {arguments}: {result.stderr}")
    return json.loads(result.stdout)


def rows_of(program, ids):
    """Logits after each of the ids but the last."""
    path = work / "rows.f32"
    made = run("run", program, "--tokens", ids[0], "--force-tokens", ",".join(map(str, ids[1:])), "--max-new-tokens", len(ids) - 1, "--ignore-eos", "--temperature", 0,
               "--numerics", "reproducible", "--logits", path)
    if made.returncode:
        raise SystemExit(made.stderr)
    data = array.array("f")
    data.frombytes(path.read_bytes())
    return [data[i:i + VOCAB] for i in range(0, len(data), VOCAB)]


def log_softmax(row):
    most = max(row)
    total = most + math.log(math.fsum(math.exp(x - most) for x in row))
    return [x - total for x in row]


def expected(programs, ids, context, stride, bos=None):
    """Mean NLL of each program, mean and largest KL of the last from the first, agreement, largest and root mean square difference."""
    nll, kls, same, most, squares, scored, done = [0.0] * len(programs), [], 0, 0.0, 0.0, 0, 0
    for begin in range(0, len(ids), stride):
        window = ids[begin:begin + context]
        fed = ([] if bos is None else [bos]) + window
        rows = [rows_of(program, fed) for program in programs] if len(fed) > 1 else [[] for _ in programs]
        for i, row in enumerate(zip(*rows)):
            at = begin + i + (bos is None)
            if at < done:
                continue
            logs = [log_softmax(one) for one in row]
            for k in range(len(programs)):
                nll[k] -= logs[k][ids[at]]
            kls.append(math.fsum(math.exp(p) * (p - q) for p, q in zip(logs[0], logs[-1])))
            same += row[0].index(max(row[0])) == row[-1].index(max(row[-1]))
            most = max([most] + [abs(a - b) for a, b in zip(row[0], row[-1])])
            squares += math.fsum((a - b) ** 2 for a, b in zip(row[0], row[-1]))
            scored += 1
        done = begin + len(window)
        if done == len(ids):
            break
    return [x / scored for x in nll], sum(kls) / scored, max(kls), same / scored, most, math.sqrt(squares / scored / VOCAB), scored


def near(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * max(1, abs(b))


def compare(what, got, programs, ids, context, stride, bos=None):
    nll, kl, kl_most, same, most, rms, scored = expected(programs, ids, context, stride, bos)
    check(got["scored"] == scored and near(got["nll"], nll[-1]) and near(got["perplexity"], math.exp(nll[-1]), 1e-5), f"{what}: perplexity {got['perplexity']:.4f} of {scored} tokens")
    if len(programs) > 1:
        other = got["against"]
        good = near(other["nll"], nll[0]) and near(other["kl_mean"], kl) and near(other["kl_max"], kl_most) and near(other["top1_agreement"], same)
        check(good and near(other["max_logit_difference"], most) and near(other["rms_logit_difference"], rms),
              f"{what}: KL {other['kl_mean']:.6f}, most {other['kl_max']:.6f}, same best {other['top1_agreement']:.4f}, logits {other['max_logit_difference']:.4f}")


def export(name, *more):
    made = run(*EXPORT, *more, f"export.output_name={work}/{name}.pte")
    check(made.returncode == 0, f"export {name} {made.stderr.strip()}")
    return work / f"{name}.pte"


def numbers():
    floats = export("float", "-kv", "--use_sdpa_with_kv_cache")
    whole = export("whole", "-kv", "--use_sdpa_with_kv_cache", "--generate_full_logits")
    small = export("small", "-kv", "--use_sdpa_with_kv_cache", "-qmode", "8da4w", "-G", "32", "-X")
    stateless = export("stateless", "--generate_full_logits")
    (work / "text.txt").write_text(TEXT)
    tokenizer = story / "tokenizer.json"
    lines = run("tokenize", "--tokenizer", tokenizer, "--json", input=json.dumps([TEXT])).stdout
    ids = json.loads(lines)[0]
    (work / "ids.txt").write_text("\n".join(map(str, ids)))
    given = ["--tokens-file", work / "ids.txt"]
    compare("windows one after the other", evaluate(small, *given, "--against", floats), [floats, small], ids, CONTEXT, CONTEXT)
    compare("windows that overlap", evaluate(small, *given, "--against", floats, "--context", 20, "--stride", 7), [floats, small], ids, 20, 7)
    compare("a token before every window", evaluate(floats, *given, "--bos", 5, "--stride", 16), [floats], ids, CONTEXT - 1, 16, 5)
    compare("all positions of a call", evaluate(whole, *given, "--stride", 16), [floats], ids, CONTEXT, 16)
    compare("no cache", evaluate(stateless, *given, "--context", 12), [floats], ids, 12, 12)
    compare("ids of the command line", evaluate(floats, "--token-ids", ",".join(map(str, ids[:9]))), [floats], ids[:9], CONTEXT, CONTEXT)
    text = evaluate(floats, "--text", work / "text.txt", "--tokenizer", tokenizer, "--no-bos")
    same = evaluate(floats, *given)
    check(text["nll"] == same["nll"] and near(text["bits_per_byte"], text["nll"] / math.log(2) * len(ids) / len(TEXT.encode())), "a text is its ids; bits a byte")
    check(evaluate(floats, *given, "--max-tokens", 40)["tokens"] == 40, "--max-tokens")
    itself = evaluate(floats, *given, "--against", floats)["against"]
    check(itself["kl_max"] == 0 and itself["max_logit_difference"] == 0 and itself["top1_agreement"] == 1, "a program against itself")
    checkpoint = evaluate(small, *given, "--against-checkpoint", story, "--export", "base.model_class=llama3_2")
    program = evaluate(small, *given, "--against", floats)
    check(near(checkpoint["against"]["kl_mean"], program["against"]["kl_mean"], 1e-5) and checkpoint["nll"] == program["nll"], "the checkpoint in float is the float program")


def refusals():
    program = work / "float.pte"
    (work / "bare").mkdir()
    (work / "bare/float.pte").write_bytes(program.read_bytes())
    other = run(*EXPORT, "-kv", "export.output_name=x", "base.checkpoint=none.pth")
    check(other.returncode == 1, "no checkpoint")
    for status, words, arguments in (
            (2, "name one program", []), (2, "give one of --text", [program]), (2, "give one of --text", [program, "--token-ids", "1,2", "--text", "x"]),
            (2, "goes with --against-checkpoint", [program, "--token-ids", "1,2", "--export", "a=b"]), (1, "nothing to score", [program, "--token-ids", "1"]),
            (1, "token 1: id 99999 is outside", [program, "--token-ids", "1,99999"]), (1, "would leave tokens out", [program, "--token-ids", "1,2", "--context", 4, "--stride", 5]),
            (1, "more than the program's context", [program, "--token-ids", "1,2", "--context", CONTEXT + 1]), (1, "nobody.pte", ["nobody.pte", "--token-ids", "1,2"]),
            (1, "no id", [program, "--token-ids", "1,x"]), (1, "no tokenizer beside", [work / "bare/float.pte", "--text", work / "text.txt"]),
            (1, "none.pth", [program, "--token-ids", "1,2", "--against-checkpoint", "none.pth"])):
        result = run("eval", *arguments)
        check(result.returncode == status and words in result.stderr and not result.stdout, f"refused: {result.stderr.strip()[:120]!r} {result.returncode}")
    scratch = work / "scratch"
    scratch.mkdir()
    run("eval", program, "--token-ids", "1,2", "--against-checkpoint", story, "--export", "base.model_class=nope", env={**os.environ, "TMPDIR": str(scratch)})
    run("eval", program, "--token-ids", "1,2", "--against-checkpoint", story, "--export", "base.model_class=llama3_2", env={**os.environ, "TMPDIR": str(scratch)})
    check(not list(scratch.iterdir()), "nothing is left of a float program")


def interrupted():
    (work / "long.txt").write_text(" ".join(str(i % 1000) for i in range(400000)))
    process = subprocess.Popen([wick, "eval", work / "float.pte", "--tokens-file", work / "long.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    check(process.returncode == 130 and not out, f"interrupted: status {process.returncode}")


subprocess.run(["rm", "-rf", work], check=True)
work.mkdir(parents=True)
numbers()
refusals()
interrupted()
sys.exit(failed != 0)
