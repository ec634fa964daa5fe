/* tok/protobuf.c - see protobuf.h. */
#include "tok/protobuf.h"

static bool varint(struct wick_tok_message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && message->at < message->end; shift += 7) {
        uint8_t byte = (uint8_t)*message->at++;
        if (shift < 64) *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool fixed(struct wick_tok_message *message, size_t size, uint64_t *value)
{
    if ((size_t)(message->end - message->at) < size) return false;
    *value = 0;
    for (size_t i = 0; i < size; i++) *value |= (uint64_t)(uint8_t)message->at[i] << 8 * i;
    message->at += size;
    return true;
}

static bool take(struct wick_tok_message *message, struct wick_tok_field *field)
{
    uint64_t key;
    if (!varint(message, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX) return false;
    *field = (struct wick_tok_field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case WICK_TOK_WIRE_VARINT: field->wire = WICK_TOK_WIRE_VARINT; return varint(message, &field->value);
    case WICK_TOK_WIRE_64: field->wire = WICK_TOK_WIRE_64; return fixed(message, 8, &field->value);
    case WICK_TOK_WIRE_32: field->wire = WICK_TOK_WIRE_32; return fixed(message, 4, &field->value);
    case WICK_TOK_WIRE_BYTES:
        field->wire = WICK_TOK_WIRE_BYTES;
        if (!varint(message, &field->value) || field->value > (size_t)(message->end - message->at)) return false;
        field->bytes = (struct wick_str){message->at, (size_t)field->value};
        message->at += field->value;
        return true;
    default: return false; /* groups are long gone */
    }
}

bool wick_tok_message_next(struct wick_tok_message *message, struct wick_tok_field *field)
{
    if (!message->at || message->at == message->end) return false;
    if (take(message, field)) return true;
    message->at = NULL;
    return false;
}
