/* ukernel/ukernels.c - choosing levels for this processor; see ukernels.h. */
#include "ukernel/ukernels.h"

#include "ukernel/levels.h" /* made by the build: WICK_LEVELS(X), the levels of this architecture */

#include <string.h>

extern const struct wick_isa wick_isa_ref;
#define WICK_LEVEL_DECLARE(level) extern const struct wick_isa wick_isa_##level;
WICK_LEVELS(WICK_LEVEL_DECLARE)
#undef WICK_LEVEL_DECLARE

static const struct wick_isa *const levels[] = {
    &wick_isa_ref,
#define WICK_LEVEL_ENTRY(level) &wick_isa_##level,
    WICK_LEVELS(WICK_LEVEL_ENTRY)
#undef WICK_LEVEL_ENTRY
};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

size_t wick_ukernels_level_count(void) { return LEVEL_COUNT; }
const char *wick_ukernels_level_name(size_t i) { return i < LEVEL_COUNT ? levels[i]->name : NULL; }
bool wick_ukernels_level_found(size_t i) { return i < LEVEL_COUNT && levels[i]->supported(); }

/* Whether cap (",-vnni,-bf16" after the level's name) takes away a feature that a level's name holds. */
static bool taken_away(const char *cap, const char *level)
{
    for (const char *at = strchr(cap, ','); at; at = strchr(at + 1, ',')) {
        size_t size = strcspn(at + 1, ",");
        if (at[1] != '-' || size < 2) continue;
        for (const char *in = level; *in; in++)
            if (strncmp(in, at + 2, size - 1) == 0) return true;
    }
    return false;
}

static wick_status unknown_level(const char *cap, wick_error *err)
{
    char names[160] = "";
    size_t used = 0;
    for (int i = 0; i < LEVEL_COUNT && used + 24 < sizeof names; i++) {
        size_t size = strlen(levels[i]->name);
        memcpy(names + used, levels[i]->name, size);
        names[used + size] = ' ';
        names[used += size + 1] = 0;
    }
    return wick_fail(err, WICK_INVALID_ARGUMENT, "cpu level '%s': unknown; this build has: %s", cap, names);
}

wick_status wick_ukernels_init(struct wick_ukernels *table, const char *cap, wick_error *err)
{
    int last = LEVEL_COUNT - 1;
    size_t size = cap ? strcspn(cap, ",") : 0;
    if (size > 0)
        for (; last >= 0 && strncmp(levels[last]->name, cap, size) != 0;) last--;
    if (last < 0) return unknown_level(cap, err);
    for (int i = 0; i <= last; i++) {
        if (!levels[i]->supported() || (cap && taken_away(cap, levels[i]->name))) continue;
        levels[i]->fill(table);
        table->level = levels[i]->name;
    }
    return WICK_OK;
}
