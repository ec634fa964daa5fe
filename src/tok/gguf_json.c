/* tok/gguf_json.c - writes a GGUF vocabulary as a Hugging Face tokenizer.json, which stands beside an exported program. */
#include "tok/gguf.h"

#include "base/checked.h"

#include <stdlib.h>

static void put_string(struct wick_buf *out, struct wick_str text) { wick_buf_json_string(out, text.data, text.size); }

/* ---- vocabulary ---- */

/* A piece repeated later in the list is left out: JSON keys are unique, and text never leads to the later id. */
static wick_status put_vocab(const struct wick_tok *tok, struct wick_buf *out, wick_error *err)
{
    const char *comma = "";
    wick_buf_text(out, "{");
    for (int32_t id = 0; id < tok->limit; id++) {
        struct wick_str piece = tok->piece[id];
        if (wick_tok_id_of(tok, piece) != id) continue;
        for (size_t at = 0, n; at < piece.size; at += n) {
            n = wick_utf8_next(piece.data + at, piece.size - at, NULL);
            if (n == 0) return wick_fail(err, WICK_NOT_SUPPORTED, "tokenizer.ggml.tokens[%d]: not UTF-8, cannot be written as JSON", id);
        }
        wick_buf_text(out, comma);
        put_string(out, piece);
        wick_buf_printf(out, ":%d", id);
        comma = ",";
    }
    wick_buf_text(out, "}");
    return WICK_OK;
}

/* ---- merges ---- */

struct order {
    uint32_t rank, left_size;
    int32_t left, right;
};

/* Merges of one rank are cuts of one piece: the one with the longest left part first, as Hugging Face's converter has it. */
static int compare(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->left_size != y->left_size) return x->left_size > y->left_size ? -1 : 1;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    return x->right < y->right ? -1 : x->right > y->right;
}

static wick_status put_merges(const struct wick_tok *tok, struct wick_buf *out, wick_error *err)
{
    size_t count = 0, bytes;
    struct order *list = wick_mul_size(tok->pairs.count + 1, sizeof *list, &bytes) ? NULL : malloc(bytes);
    if (!list) return wick_fail_oom(err, tok->pairs.count, "merges");
    for (size_t i = 0; i <= tok->pairs.mask; i++) {
        struct wick_tok_merge merge = tok->pairs.slots[i];
        if (merge.left >= 0) list[count++] = (struct order){merge.rank, (uint32_t)tok->piece[merge.left].size, merge.left, merge.right};
    }
    qsort(list, count, sizeof *list, compare);
    wick_buf_text(out, "[");
    for (size_t i = 0; i < count; i++) {
        wick_buf_text(out, i ? ",[" : "[");
        put_string(out, tok->piece[list[i].left]);
        wick_buf_text(out, ",");
        put_string(out, tok->piece[list[i].right]);
        wick_buf_text(out, "]");
    }
    wick_buf_text(out, "]");
    free(list);
    return WICK_OK;
}

/* ---- the small parts ---- */

static void put_added(const struct wick_tok *tok, struct wick_buf *out)
{
    wick_buf_text(out, "[");
    for (size_t i = 0; i < tok->added_count; i++) {
        const struct wick_tok_added *token = &tok->added[i];
        wick_buf_printf(out, "%s{\"id\":%d,\"content\":", i ? "," : "", token->id);
        put_string(out, token->content);
        wick_buf_printf(out, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":%s}",
                        token->special ? "true" : "false");
    }
    wick_buf_text(out, "]");
}

static void put_byte_level(const struct wick_tok_pre *pre, struct wick_buf *out)
{
    wick_buf_text(out, pre->nfc ? ",\"normalizer\":{\"type\":\"NFC\"}" : ",\"normalizer\":null");
    wick_buf_text(out, ",\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[");
    for (size_t i = 0; i < WICK_ARRAY_SIZE(pre->patterns) && pre->patterns[i]; i++) {
        wick_buf_text(out, "{\"type\":\"Split\",\"pattern\":{\"Regex\":");
        put_string(out, wick_str_of(pre->patterns[i]));
        wick_buf_text(out, "},\"behavior\":\"Isolated\",\"invert\":false},");
    }
    wick_buf_printf(out, "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":%s}]}",
                    pre->gpt2 ? "true" : "false");
    wick_buf_text(out, ",\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}");
}

static void put_sentence_piece(const struct wick_tok_vocab *vocab, struct wick_buf *out)
{
    bool prefix = !vocab->no_space_prefix;
    wick_buf_text(out, ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    if (prefix) wick_buf_text(out, "{\"type\":\"Prepend\",\"prepend\":\"\xe2\x96\x81\"},");
    wick_buf_text(out, "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"}]},\"pre_tokenizer\":null");
    wick_buf_text(
        out, ",\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xe2\x96\x81\"},\"content\":\" \"},"
             "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}");
    if (prefix) wick_buf_text(out, ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}");
    wick_buf_text(out, "]}");
}

/* The ids before and after a text, as special tokens of a template. */
static void put_post_processor(const struct wick_tok *tok, struct wick_buf *out)
{
    const struct wick_tok_id_list *lists[2] = {&tok->prefix, &tok->suffix};
    if (tok->prefix.count == 0 && tok->suffix.count == 0) {
        wick_buf_text(out, ",\"post_processor\":null");
        return;
    }
    for (int pass = 0; pass < 2; pass++) {
        /* "single" has the sequence A, "pair" has A and B. */
        wick_buf_text(out, pass == 0 ? ",\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[" : ",\"pair\":[");
        for (int sequence = 0; sequence <= pass; sequence++) {
            for (int end = 0; end < 2; end++) {
                for (size_t i = 0; i < lists[end]->count; i++) {
                    wick_buf_text(out, end ? ",{\"SpecialToken\":{\"id\":" : "{\"SpecialToken\":{\"id\":");
                    put_string(out, tok->piece[lists[end]->ids[i]]);
                    wick_buf_printf(out, ",\"type_id\":%d}}%s", sequence, end ? "" : ",");
                }
                if (end == 0) wick_buf_printf(out, "{\"Sequence\":{\"id\":\"%c\",\"type_id\":%d}}", 'A' + sequence, sequence);
            }
            if (sequence < pass) wick_buf_text(out, ",");
        }
        wick_buf_text(out, "]");
    }
    wick_buf_text(out, ",\"special_tokens\":{");
    const char *comma = "";
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; i < lists[end]->count; i++) {
            int32_t id = lists[end]->ids[i];
            if (end == 1 && tok->prefix.count && tok->prefix.ids[0] == id) continue; /* named once */
            wick_buf_text(out, comma);
            put_string(out, tok->piece[id]);
            wick_buf_text(out, ":{\"id\":");
            put_string(out, tok->piece[id]);
            wick_buf_printf(out, ",\"ids\":[%d],\"tokens\":[", id);
            put_string(out, tok->piece[id]);
            wick_buf_text(out, "]}");
            comma = ",";
        }
    }
    wick_buf_text(out, "}}");
}

wick_status wick_tok_vocab_to_json(const struct wick_tok_vocab *vocab, struct wick_buf *out, wick_error *err)
{
    enum wick_tok_gguf_model model;
    const struct wick_tok_pre *pre;
    struct wick_tok *tok = NULL;
    WICK_TRY(wick_tok_gguf_kind(vocab, &model, &pre, err));
    WICK_TRY(wick_tok_from_vocab(&tok, vocab, err));
    wick_buf_text(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":");
    put_added(tok, out);
    if (model == WICK_TOK_GGUF_BYTE_LEVEL) put_byte_level(pre, out);
    else put_sentence_piece(vocab, out);
    put_post_processor(tok, out);
    wick_buf_text(out, ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":");
    if (tok->unk >= 0) put_string(out, tok->piece[tok->unk]);
    else wick_buf_text(out, "null");
    wick_buf_printf(
        out, ",\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":%s,\"byte_fallback\":%s,\"ignore_merges\":%s,\"vocab\":",
        tok->fuse_unk ? "true" : "false", tok->byte_fallback ? "true" : "false", tok->ignore_merges ? "true" : "false");
    wick_status status = put_vocab(tok, out, err);
    wick_buf_text(out, ",\"merges\":");
    if (status == WICK_OK) status = put_merges(tok, out, err);
    wick_buf_text(out, "}}\n");
    wick_tok_free(tok);
    if (status == WICK_OK && out->failed) status = wick_fail_oom(err, out->size, "tokenizer.json");
    return status;
}
