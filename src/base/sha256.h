/* base/sha256.h - SHA-256 (FIPS 180-4), for the content keys of named data. */
#ifndef WICK_BASE_SHA256_H
#define WICK_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct wick_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void wick_sha256_init(struct wick_sha256 *sha);
void wick_sha256_update(struct wick_sha256 *sha, const void *data, size_t size);
/* Writes 64 lower-case hex digits and a NUL. */
void wick_sha256_hex(struct wick_sha256 *sha, char hex[65]);

#endif
