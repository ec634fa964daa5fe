/* ops/llama/attention.c - tiled attention: tasks of a few query rows that share a key head.
 *
 * A task is (batch, key head, block of query positions). When there is one block only (decoding), every chunk of
 * keys is an item of its own, and a second pass merges the chunks in the same order. Within a task a tile of keys is used by all its rows
 * while it is in the first-level cache. */
#include "ops/llama/attention.h"

#include "base/checked.h"
#include "ops/copy/cast.h"
#include "ops/llama/rows.h"
#include "ukernel/ukernels.h"

#include <math.h>

enum {
    TILE = 64,      /* keys; divides WICK_ATTENTION_CHUNK */
    TASK_ROWS = 32, /* query rows that share a tile */
};

/* What a row has gathered over some chunks: sum of p * v [head_dim], sum of p, and the maximum that the p are relative
 * to; max -inf: nothing yet. */
struct part {
    float max, sum;
    float *values;
};

struct job {
    const struct wick_attention *attention;
    const struct wick_ukernels *ukernels;
    size_t group;         /* query heads a key head */
    size_t block, blocks; /* query positions a task; tasks along the queries */
    size_t tasks, chunks; /* chunks: of the row that sees the most keys */
    char *scratch;        /* one a thread */
    size_t scratch_bytes;
    float *parts; /* chunks as items: [task, chunk, row, head_dim + 2]; else NULL */
};

/* Scratch of one thread, carved from its block. */
struct room {
    float *query;     /* [rows, D] */
    float *scores;    /* [rows, CHUNK] */
    float *sums;      /* [rows, D]: of a chunk */
    float *total;     /* [rows, D]: of all chunks so far */
    float *max, *sum; /* [rows]: of a chunk */
    float *total_max, *total_sum;
    float *tile; /* [TILE, D]: keys or values as f32; a row on its way out */
};

static size_t room_floats(size_t rows, size_t dim) { return rows * (3 * dim + WICK_ATTENTION_CHUNK + 4) + TILE * dim; }

static struct room room_of(const struct job *job, unsigned thread)
{
    size_t dim = job->attention->head_dim, rows = job->block * job->group;
    struct room room = {.query = (float *)(void *)(job->scratch + thread * job->scratch_bytes)};
    room.scores = room.query + rows * dim;
    room.sums = room.scores + rows * WICK_ATTENTION_CHUNK;
    room.total = room.sums + rows * dim;
    room.max = room.total + rows * dim;
    room.sum = room.max + rows;
    room.total_max = room.sum + rows;
    room.total_sum = room.total_max + rows;
    room.tile = room.total_sum + rows;
    return room;
}

/* One of the (batch, key head, query block) tasks. Row r of it is query position first + r / group, head r % group. */
struct task {
    size_t batch, kv_head, first, count, rows;
    size_t seen; /* keys that its last position sees */
};

static struct task task_of(const struct job *job, size_t index)
{
    const struct wick_attention *a = job->attention;
    struct task task;
    /* Late query blocks see the most keys: they are handed out first. */
    size_t block = job->blocks - 1 - index / (a->batch * a->kv_heads), rest = index % (a->batch * a->kv_heads);
    task.batch = rest / a->kv_heads;
    task.kv_head = rest % a->kv_heads;
    task.first = block * job->block;
    task.count = WICK_MIN(job->block, a->queries - task.first);
    task.rows = task.count * job->group;
    task.seen = a->causal ? WICK_MIN(a->keys, a->start + task.first + task.count) : a->keys;
    return task;
}

/* Keys that row r sees. */
static size_t keys_of(const struct wick_attention *a, const struct job *job, const struct task *task, size_t r)
{
    return a->causal ? WICK_MIN(a->keys, a->start + task->first + r / job->group + 1) : a->keys;
}

static const void *row_at(const struct wick_attention_rows *rows, size_t batch, size_t position, size_t head)
{
    return (const char *)rows->data + (batch * rows->batch + position * rows->position + head * rows->head) * wick_dtype_size(rows->dtype);
}

/* Positions [first, first + count) of a head as the row kernels take them. */
static struct wick_rows rows_at(const struct wick_attention_rows *rows, size_t batch, size_t first, size_t head, size_t dim)
{
    size_t param = batch * rows->param_batch + first * rows->param_position + head * rows->param_head;
    return (struct wick_rows){.data = row_at(rows, batch, first, head),
                              .dtype = rows->dtype,
                              .dim = dim,
                              .stride = rows->position,
                              .scales = rows->scales ? rows->scales + param : NULL,
                              .zero_points = rows->zero_points ? rows->zero_points + param : NULL,
                              .param_stride = rows->param_position};
}

static void load_queries(const struct job *job, const struct task *task, const struct room *room)
{
    const struct wick_attention *a = job->attention;
    for (size_t r = 0; r < task->rows; r++) {
        size_t head = task->kv_head * job->group + r % job->group, position = task->first + r / job->group;
        struct wick_rows query = rows_at(&a->query, task->batch, position, head, a->head_dim);
        wick_rows_load(job->ukernels, room->query + r * a->head_dim, &query, 1);
    }
}

/* Scores of keys [from, to) for all rows. Those of keys that a row does not see are there, but never looked at. */
static void score_chunk(const struct job *job, const struct task *task, const struct room *room, size_t from, size_t to)
{
    const struct wick_attention *a = job->attention;
    for (size_t tile = from; tile < to; tile += TILE) {
        size_t count = WICK_MIN(to - tile, (size_t)TILE);
        struct wick_rows keys = rows_at(&a->key, task->batch, tile, task->kv_head, a->head_dim);
        wick_rows_stage(job->ukernels, &keys, count, room->tile);
        job->ukernels->qk_rows(task->rows, count, a->head_dim, room->query, a->head_dim, keys.data, keys.stride, a->scale,
                               room->scores + (tile - from), WICK_ATTENTION_CHUNK);
    }
    for (size_t r = 0; a->mask && r < task->rows; r++) {
        float *scores = room->scores + r * WICK_ATTENTION_CHUNK;
        const float *mask = a->mask + (task->first + r / job->group) * a->mask_stride + from;
        job->ukernels->add(to - from, scores, mask, scores);
    }
}

/* A maximum passes over NaNs, but they must not vanish with the chunk. */
static bool has_nan(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) return true;
    }
    return false;
}

/* Turns scores into probabilities relative to the chunk's maximum. room->max[r] -inf: the row has no part in the chunk. */
static void weigh_chunk(const struct job *job, const struct task *task, const struct room *room, size_t from, size_t to)
{
    const struct wick_attention *a = job->attention;
    for (size_t r = 0; r < task->rows; r++) {
        size_t seen = keys_of(a, job, task, r);
        float *scores = room->scores + r * WICK_ATTENTION_CHUNK;
        room->max[r] = -INFINITY;
        if (seen <= from) continue;
        size_t n = WICK_MIN(seen, to) - from;
        float max = job->ukernels->reduce_max(n, scores);
        if (max == -INFINITY && !has_nan(scores, n)) continue;
        room->max[r] = max == -INFINITY ? 0.0f : max;
        room->sum[r] = job->ukernels->exp_sub_sum(n, scores, max);
        if (a->value.dtype == WICK_DTYPE_F16 || a->value.dtype == WICK_DTYPE_BF16) wick_rows_round(job->ukernels, scores, n, a->value.dtype);
    }
}

/* Keys of a tile that row r sees; none if it has no part in the chunk. */
static size_t tile_keys(const struct job *job, const struct task *task, const struct room *room, size_t r, size_t tile, size_t count)
{
    size_t seen = keys_of(job->attention, job, task, r);
    return room->max[r] == -INFINITY || seen <= tile ? 0 : WICK_MIN(seen - tile, count);
}

/* room->sums of every row = sum of probability * value over keys [from, to). */
static void gather_chunk(const struct job *job, const struct task *task, const struct room *room, size_t from, size_t to)
{
    const struct wick_attention *a = job->attention;
    memset(room->sums, 0, task->rows * a->head_dim * sizeof *room->sums);
    for (size_t tile = from; tile < to; tile += TILE) {
        size_t count = WICK_MIN(to - tile, (size_t)TILE), rows;
        struct wick_rows values = rows_at(&a->value, task->batch, tile, task->kv_head, a->head_dim);
        wick_rows_stage(job->ukernels, &values, count, room->tile);
        for (size_t r = 0; r < task->rows; r += rows) {
            /* Rows that see equally much of the tile go together. */
            size_t seen = tile_keys(job, task, room, r, tile, count);
            for (rows = 1; r + rows < task->rows && tile_keys(job, task, room, r + rows, tile, count) == seen;) rows++;
            if (seen == 0) continue;
            job->ukernels->pv_rows(rows, seen, a->head_dim, room->scores + r * WICK_ATTENTION_CHUNK + (tile - from), WICK_ATTENTION_CHUNK,
                                   values.data, values.stride, room->sums + r * a->head_dim, a->head_dim);
        }
    }
}

/* One chunk of a task: room->sums, max and sum of its rows. */
static void run_chunk(const struct job *job, const struct task *task, const struct room *room, size_t chunk)
{
    size_t from = chunk * WICK_ATTENTION_CHUNK, to = WICK_MIN(from + WICK_ATTENTION_CHUNK, task->seen);
    score_chunk(job, task, room, from, to);
    weigh_chunk(job, task, room, from, to);
    gather_chunk(job, task, room, from, to);
}

/* The only place where chunks meet, always in ascending order. */
static void merge(struct part *into, float max, float sum, const float *values, size_t dim)
{
    if (max == -INFINITY) return;
    if (into->max == -INFINITY) {
        into->max = max;
        into->sum = sum;
        memcpy(into->values, values, dim * sizeof *values);
        return;
    }
    float top = WICK_MAX(into->max, max), keep = expf(into->max - top), add = expf(max - top);
    into->max = top;
    into->sum = into->sum * keep + sum * add;
    for (size_t d = 0; d < dim; d++) into->values[d] = into->values[d] * keep + values[d] * add;
}

static void write_row(const struct job *job, const struct task *task, size_t r, const struct part *part, float *scratch)
{
    const struct wick_attention *a = job->attention;
    size_t head = task->kv_head * job->group + r % job->group, position = task->first + r / job->group;
    size_t at = task->batch * a->out_batch + position * a->out_position + head * a->out_head;
    char *out = (char *)a->out + at * wick_dtype_size(a->out_dtype);
    float *to = a->out_dtype == WICK_DTYPE_F32 ? (float *)(void *)out : scratch;
    float inverse = part->max == -INFINITY ? NAN : 1.0f / part->sum;
    for (size_t d = 0; d < a->head_dim; d++) to[d] = part->values[d] * inverse;
    if (to == scratch) wick_cast(out, a->out_dtype, scratch, WICK_DTYPE_F32, a->head_dim);
}

/* Item: a task with all its chunks. */
static void run_task(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    struct task task = task_of(job, index);
    struct room room = room_of(job, thread);
    size_t dim = job->attention->head_dim;
    load_queries(job, &task, &room);
    for (size_t r = 0; r < task.rows; r++) room.total_max[r] = -INFINITY;
    for (size_t chunk = 0; chunk * WICK_ATTENTION_CHUNK < task.seen; chunk++) {
        run_chunk(job, &task, &room, chunk);
        for (size_t r = 0; r < task.rows; r++) {
            struct part total = {room.total_max[r], room.total_sum[r], room.total + r * dim};
            merge(&total, room.max[r], room.sum[r], room.sums + r * dim, dim);
            room.total_max[r] = total.max;
            room.total_sum[r] = total.sum;
        }
    }
    for (size_t r = 0; r < task.rows; r++) {
        struct part total = {room.total_max[r], room.total_sum[r], room.total + r * dim};
        write_row(job, &task, r, &total, room.tile);
    }
}

static float *part_at(const struct job *job, size_t task, size_t chunk, size_t row)
{
    return job->parts + ((task * job->chunks + chunk) * job->block * job->group + row) * (job->attention->head_dim + 2);
}

/* Item: one chunk of a task. */
static void run_part(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    /* Heads of a chunk follow each other: their rows lie side by side in memory. */
    size_t dim = job->attention->head_dim, chunk = index / job->tasks, at = index % job->tasks;
    struct task task = task_of(job, at);
    struct room room = room_of(job, thread);
    bool seen = chunk * WICK_ATTENTION_CHUNK < task.seen;
    if (seen) {
        load_queries(job, &task, &room);
        run_chunk(job, &task, &room, chunk);
    }
    for (size_t r = 0; r < task.rows; r++) {
        float *part = part_at(job, at, chunk, r);
        part[0] = seen ? room.max[r] : -INFINITY;
        if (part[0] == -INFINITY) continue;
        part[1] = room.sum[r];
        memcpy(part + 2, room.sums + r * dim, dim * sizeof *part);
    }
}

/* Item: the rows of a task, whose chunks are done. */
static void merge_parts(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    struct task task = task_of(job, index);
    struct room room = room_of(job, thread);
    for (size_t r = 0; r < task.rows; r++) {
        struct part total = {-INFINITY, 0, room.total};
        for (size_t chunk = 0; chunk < job->chunks; chunk++) {
            const float *part = part_at(job, index, chunk, r);
            merge(&total, part[0], part[1], part + 2, job->attention->head_dim);
        }
        write_row(job, &task, r, &total, room.tile);
    }
}

wick_status wick_attention_run(const struct wick_attention *attention, struct wick_run *run)
{
    const struct wick_attention *a = attention;
    if (a->queries == 0 || a->batch == 0 || a->heads == 0 || a->head_dim == 0) return WICK_OK;
    unsigned threads = wick_pool_threads(run->pool);
    struct job job = {.attention = a, .ukernels = run->ukernels, .group = a->heads / a->kv_heads};
    job.block = WICK_MIN(WICK_MAX(TASK_ROWS / job.group, (size_t)1), a->queries);
    job.blocks = (a->queries - 1) / job.block + 1;
    job.tasks = job.blocks * a->batch * a->kv_heads;
    size_t seen = a->causal ? WICK_MIN(a->keys, a->start + a->queries) : a->keys;
    job.chunks = (seen + WICK_ATTENTION_CHUNK - 1) / WICK_ATTENTION_CHUNK;
    size_t rows = job.block * job.group, bytes;
    if (wick_mul_size(rows, 3 * a->head_dim + WICK_ATTENTION_CHUNK + 4, &bytes) || wick_mul_size(bytes, sizeof(float), &bytes))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "heads of %zu elements", a->head_dim);
    job.scratch_bytes = (size_t)wick_align_up(room_floats(rows, a->head_dim) * sizeof(float), 64);
    job.scratch = wick_arena_array(run->temp, threads, job.scratch_bytes, 64);
    if (!job.scratch) return wick_fail_oom(run->err, threads * job.scratch_bytes, "attention scratch");
    /* What one token of a short context needs is less than waking the others costs. */
    struct wick_pool *pool = a->queries * a->heads * seen * a->head_dim < 32768 ? NULL : run->pool;
    if (job.blocks == 1 && job.chunks > 1) {
        size_t count = job.tasks * job.chunks;
        job.parts = wick_arena_array(run->temp, count, rows * (a->head_dim + 2) * sizeof(float), 64);
        if (!job.parts) return wick_fail_oom(run->err, count * rows * (a->head_dim + 2) * sizeof(float), "attention parts");
        wick_pool_run(pool, count, run_part, &job);
        wick_pool_run(pool, job.tasks, merge_parts, &job);
        return WICK_OK;
    }
    wick_pool_run(pool, job.tasks, run_task, &job);
    return WICK_OK;
}
