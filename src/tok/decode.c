/* tok/decode.c - ids to text, token by token. What single tokens print was worked out at load (wick_tok.text); here they are
 * joined: bytes become characters, blanks at the ends go. */
#include "tok/model.h"

static const char replacement[] = "\xef\xbf\xbd";

/* Bytes of the character or error at data: > 0 a whole character, 0 the begin of one, < 0 minus the bytes that can never become
 * one (as many as a standard decoder replaces by one U+FFFD). */
static int examine(const char *data, size_t size)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t whole = wick_utf8_next(data, size, NULL);
    if (whole) return (int)whole;
    size_t wanted = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    if (wanted == 0) return -1;
    unsigned low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80, high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < wanted; i++, low = 0x80, high = 0xbf) {
        if (i == size) return 0;
        if (p[i] < low || p[i] > high) return -(int)i;
    }
    return 0;
}

/* ---- characters out ---- */

/* Appends valid text, but for blanks at the ends that may have to go. */
static void emit(struct wick_tok_stream *stream, const char *data, size_t size, struct wick_buf *out)
{
    const struct wick_tok_decoder *decoder = &stream->tok->decoder;
    struct wick_str text = {data, size};
    while (decoder->lead == WICK_TOK_LEAD_KEPT && stream->strip_left && text.size) {
        if (!wick_str_starts(text, decoder->strip)) {
            stream->strip_left = 0;
            break;
        }
        text = (struct wick_str){text.data + decoder->strip.size, text.size - decoder->strip.size};
        stream->strip_left--;
    }
    if (!decoder->strip_stop) {
        wick_buf_append(out, text.data, text.size);
        return;
    }
    /* The last few are held back until something follows. */
    size_t end = text.size, trailing = 0;
    while (end >= decoder->strip.size && memcmp(text.data + end - decoder->strip.size, decoder->strip.data, decoder->strip.size) == 0) {
        end -= decoder->strip.size;
        trailing++;
    }
    if (end) {
        for (; stream->held; stream->held--) wick_buf_append(out, decoder->strip.data, decoder->strip.size);
        wick_buf_append(out, text.data, end);
    }
    for (; trailing; trailing--) {
        if (stream->held < decoder->strip_stop) stream->held++;
        else wick_buf_append(out, decoder->strip.data, decoder->strip.size);
    }
}

static void emit_bad(struct wick_tok_stream *stream, size_t bytes, struct wick_buf *out)
{
    /* Byte tokens are replaced one by one, a byte-level stream by whole broken characters, each as the original does. */
    for (size_t i = 0; i < (stream->tok->decoder.byte_level ? 1 : bytes); i++) emit(stream, replacement, 3, out);
}

/* Bytes that may be part of characters: whole ones go out, a begun one is kept. */
static void feed_bytes(struct wick_tok_stream *stream, const char *data, size_t size, struct wick_buf *out)
{
    while (stream->pending_size && size) {
        stream->pending[stream->pending_size++] = *data;
        int got = examine(stream->pending, stream->pending_size);
        if (got == 0) {
            data++, size--;
            continue;
        }
        if (got > 0) {
            emit(stream, stream->pending, (size_t)got, out);
            data++, size--;
        } else {
            /* The new byte does not belong to what was kept: that is lost, the byte is looked at afresh. */
            emit_bad(stream, stream->pending_size - 1, out);
        }
        stream->pending_size = 0;
    }
    size_t good = 0; /* data[0..good) is whole characters, not yet out */
    while (good < size) {
        int got = examine(data + good, size - good);
        if (got > 0) {
            good += (size_t)got;
            continue;
        }
        emit(stream, data, good, out);
        data += good, size -= good, good = 0;
        if (got == 0) {
            memcpy(stream->pending, data, size);
            stream->pending_size = (uint32_t)size;
            return;
        }
        emit_bad(stream, (size_t)-got, out);
        data += -got, size -= (size_t)-got;
    }
    emit(stream, data, good, out);
}

static void drop_pending(struct wick_tok_stream *stream, struct wick_buf *out)
{
    size_t size = stream->pending_size;
    stream->pending_size = 0;
    if (size) emit_bad(stream, size, out);
}

/* ---- tokens in ---- */

void wick_tok_stream_init(struct wick_tok_stream *stream, const struct wick_tok *tok, unsigned flags)
{
    bool more = flags & WICK_TOK_CONTINUE;
    *stream = (struct wick_tok_stream){.tok = tok, .flags = flags, .begun = more, .strip_left = more ? 0 : tok->decoder.strip_start};
}

/* The text of a token at the begin, without the blank that marks its begin. */
static struct wick_str without_lead(struct wick_tok_stream *stream, uint8_t flags, struct wick_str text)
{
    const struct wick_tok_decoder *decoder = &stream->tok->decoder;
    bool leads = !(flags & (WICK_TOK_IS_BYTE | WICK_TOK_IS_SPECIAL)) && wick_str_starts(text, decoder->strip);
    if (leads) text = (struct wick_str){text.data + decoder->strip.size, text.size - decoder->strip.size};
    if (text.size || (leads && decoder->lead == WICK_TOK_LEAD_ONCE)) stream->strip_left = 0;
    return text;
}

void wick_tok_stream_feed(struct wick_tok_stream *stream, int32_t id, struct wick_buf *out)
{
    const struct wick_tok *tok = stream->tok;
    const struct wick_tok_decoder *decoder = &tok->decoder;
    if (id < 0 || id >= tok->limit || !tok->text[id].data) return;
    uint8_t flags = tok->flags[id];
    if ((flags & WICK_TOK_IS_SPECIAL) && (stream->flags & WICK_TOK_SKIP_SPECIAL)) return;
    bool first = !stream->begun;
    stream->begun = true;
    if (decoder->join_blank && !first) feed_bytes(stream, " ", 1, out);
    /* Byte tokens only form characters among themselves; in a byte-level stream all tokens do. */
    if (!decoder->byte_level && !(flags & WICK_TOK_IS_BYTE)) drop_pending(stream, out);
    uint32_t strip_left = stream->strip_left;
    struct wick_str text = first && tok->first ? tok->first[id] : tok->text[id];
    if (decoder->lead != WICK_TOK_LEAD_KEPT && stream->strip_left) text = without_lead(stream, flags, text);
    feed_bytes(stream, text.data, text.size, out);
    if (decoder->strip_past_special && (flags & WICK_TOK_IS_SPECIAL)) stream->strip_left = strip_left;
}

void wick_tok_stream_flush(struct wick_tok_stream *stream, struct wick_buf *out)
{
    drop_pending(stream, out);
    stream->held = 0;
}

wick_status wick_tok_decode(const struct wick_tok *tok, const int32_t *ids, size_t count, unsigned flags, struct wick_buf *out, wick_error *err)
{
    struct wick_tok_stream stream;
    wick_tok_stream_init(&stream, tok, flags);
    for (size_t i = 0; i < count; i++) wick_tok_stream_feed(&stream, ids[i], out);
    wick_tok_stream_flush(&stream, out);
    return out->failed ? wick_fail_oom(err, out->size, "decoded text") : WICK_OK;
}
