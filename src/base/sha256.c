/* base/sha256.c - SHA-256, with the x86 SHA instructions where the processor has them. */
#include "base/sha256.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define SHA_X86 1
#endif

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress_c(uint32_t state[8], const uint8_t *block, size_t blocks)
{
    for (; blocks; blocks--, block += 64) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t a = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t b = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + a + w[i - 7] + b;
        }
        memcpy(s, state, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t e1 = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
            uint32_t t1 = s[7] + e1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
            uint32_t a0 = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
            uint32_t t2 = a0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 7 * sizeof s[0]);
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) state[i] += s[i];
    }
}

#ifdef SHA_X86
__attribute__((target("sha,sse4.1,ssse3"))) static void compress_sha(uint32_t state[8], const uint8_t *block, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
    __m128i lo = _mm_loadu_si128((const __m128i *)state), hi = _mm_loadu_si128((const __m128i *)(state + 4));
    /* The instructions keep the state as (A B E F) and (C D G H). */
    __m128i t = _mm_shuffle_epi32(lo, 0xb1);
    hi = _mm_shuffle_epi32(hi, 0x1b);
    __m128i abef = _mm_alignr_epi8(t, hi, 8), cdgh = _mm_blend_epi16(hi, t, 0xf0);
    for (; blocks; blocks--, block += 64) {
        __m128i save0 = abef, save1 = cdgh, w[4];
        for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
        for (int i = 0; i < 16; i++) {
            __m128i k = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(round_constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
            if (i < 12) {
                __m128i x = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
                x = _mm_add_epi32(x, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(x, w[(i + 3) & 3]);
            }
        }
        abef = _mm_add_epi32(abef, save0);
        cdgh = _mm_add_epi32(cdgh, save1);
    }
    t = _mm_shuffle_epi32(abef, 0x1b);
    cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(t, cdgh, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(cdgh, t, 8));
}

static int has_sha(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#endif

static void compress(uint32_t state[8], const uint8_t *block, size_t blocks)
{
#ifdef SHA_X86
    if (has_sha()) {
        compress_sha(state, block, blocks);
        return;
    }
#endif
    compress_c(state, block, blocks);
}

void wick_sha256_init(struct wick_sha256 *sha)
{
    /* Square roots of the first 8 primes (5.3.3). */
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, initial, sizeof initial);
    sha->bytes = 0;
}

void wick_sha256_update(struct wick_sha256 *sha, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    size_t held = sha->bytes % 64;
    sha->bytes += size;
    if (held) {
        size_t take = size < 64 - held ? size : 64 - held;
        memcpy(sha->block + held, bytes, take);
        bytes += take;
        size -= take;
        if (held + take < 64) return;
        compress(sha->state, sha->block, 1);
    }
    compress(sha->state, bytes, size / 64);
    if (size % 64) memcpy(sha->block, bytes + size / 64 * 64, size % 64);
}

void wick_sha256_hex(struct wick_sha256 *sha, char hex[65])
{
    uint64_t bits = sha->bytes * 8;
    uint8_t pad[72] = {0x80};
    size_t held = sha->bytes % 64, padding = (held < 56 ? 56 : 120) - held;
    for (int i = 0; i < 8; i++) pad[padding + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    wick_sha256_update(sha, pad, padding + 8);
    for (int i = 0; i < 64; i++) hex[i] = "0123456789abcdef"[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}
