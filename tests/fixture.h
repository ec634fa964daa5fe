/* tests/fixture.h - where tests find data, and how a missing fixture becomes a counted skip.
 *
 * Data that the repository carries is under tests/data. The whole golden set (programs, checkpoints and logits made by
 * the original) is found through WICK_GOLDEN, default ../shared/golden beside the repository. */
#ifndef WICK_TESTS_FIXTURE_H
#define WICK_TESTS_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* Path of a file of the repository; static storage, valid for the next 7 calls. */
const char *wick_test_repo(const char *relative);
/* Path of a golden file: tests/data/golden/<relative> if the repository carries it, else under WICK_GOLDEN; NULL if neither exists. */
const char *wick_test_golden(const char *relative);
/* A fresh path in a temporary folder of this process, which is removed at exit. Same storage rule. */
const char *wick_test_temp(const char *name);

/* In a cmocka test: skip (counted) when the fixture is missing. */
#define WICK_NEED(path)                                                                            \
    do {                                                                                           \
        if (!(path)) {                                                                             \
            print_message("SKIP: fixture missing: %s\n", #path);                                   \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* Asserts success and shows the error text. */
#define WICK_ASSERT_OK(call, err)                                                                  \
    do {                                                                                           \
        wick_status assert_status_ = (call);                                                       \
        if (assert_status_ != WICK_OK) fail_msg("%s: %s (%s)", #call, (err)->message, wick_status_text(assert_status_)); \
    } while (0)

/* Deterministic random numbers: xorshift64*. State must not be 0. */
uint64_t wick_test_random(uint64_t *state);
/* Uniform in [-1, 1). */
float wick_test_uniform(uint64_t *state);

/* How many mutations a fuzz test makes: WICK_FUZZ_COUNT, else `usual`. */
int wick_test_mutations(int usual);
/* Time bounds are for plain builds: sanitizers and emulators slow everything by about this. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
enum { WICK_TEST_SLOWNESS = 20 };
#else
enum { WICK_TEST_SLOWNESS = 1 };
#endif

/* Runs a group; exit status 77 (skip) when every test of it was skipped. Use as main's return value. */
#define WICK_TEST_MAIN(tests) wick_test_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]))
int wick_test_run(const char *name, const struct CMUnitTest *tests, size_t count);

/* A block of `bytes` that ends right before an inaccessible page (and, rounded to `alignment`, begins after one). */
void *wick_test_guarded(size_t bytes);
void wick_test_guarded_free(void *block, size_t bytes);

#endif
