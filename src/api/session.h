/* api/session.h - what sessions are made of. */
#ifndef WICK_API_SESSION_H
#define WICK_API_SESSION_H

#include "api/handles.h"
#include "llm/session.h"

struct wick_session {
    struct wick_timeline timeline;
    struct wick_llm_session llm;
    struct wick_arena temp;
    struct wick_watcher watcher;
};

#endif
