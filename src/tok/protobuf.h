/* tok/protobuf.h - a pull reader for Protocol Buffers messages in memory: field by field, without a schema. */
#ifndef WICK_TOK_PROTOBUF_H
#define WICK_TOK_PROTOBUF_H

#include "base/str.h"

struct wick_tok_message {
    const char *at, *end;
};

enum wick_tok_wire { WICK_TOK_WIRE_VARINT = 0, WICK_TOK_WIRE_64 = 1, WICK_TOK_WIRE_BYTES = 2, WICK_TOK_WIRE_32 = 5 };

struct wick_tok_field {
    uint32_t number;
    enum wick_tok_wire wire;
    uint64_t value;        /* VARINT, 64, 32 */
    struct wick_str bytes; /* BYTES: borrowed from the message */
};

/* The next field; false: the message ends here, or (message->at NULL) is damaged. */
bool wick_tok_message_next(struct wick_tok_message *message, struct wick_tok_field *field);

#endif
