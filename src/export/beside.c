/* export/beside.c - see beside.h. */
#include "export/beside.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>

bool wick_beside(const char *checkpoint, const char *name, char out[WICK_BESIDE_MAX])
{
    const char *slash = strrchr(checkpoint, '/');
    int size = wick_path_is_folder(checkpoint) ? snprintf(out, WICK_BESIDE_MAX, "%s/%s", checkpoint, name)
                                               : snprintf(out, WICK_BESIDE_MAX, "%.*s%s", slash ? (int)(slash - checkpoint) + 1 : 0, checkpoint, name);
    return size > 0 && size < WICK_BESIDE_MAX && wick_path_exists(out);
}
