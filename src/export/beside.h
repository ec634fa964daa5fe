/* export/beside.h - the files that people keep beside a checkpoint. */
#ifndef WICK_EXPORT_BESIDE_H
#define WICK_EXPORT_BESIDE_H

#include <stdbool.h>

enum { WICK_BESIDE_MAX = 1024 };

/* The path of "<folder of the checkpoint>/<name>"; the checkpoint may be that folder itself. False: there is no such file. */
bool wick_beside(const char *checkpoint, const char *name, char out[WICK_BESIDE_MAX]);

#endif
