/* export/emit.c - see emit.h. The last stage. */
#include "export/emit.h"

#include "base/sha256.h"
#include "pte/write.h"

#include <stdio.h>

struct emitter {
    struct wick_description *d;
    struct wick_writer *writer;
    const struct wick_emission *how;
    uint64_t base; /* of the segments */
    uint64_t left; /* bytes the present source may still write */
    uint64_t done, total;
    struct wick_sha256 *sha; /* NULL: not hashed */
};

static wick_status sink(void *user, const void *data, size_t size, wick_error *err)
{
    struct emitter *e = user;
    if (size > e->left) return wick_fail(err, WICK_INTERNAL, "a source writes more bytes than its shape has");
    e->left -= size;
    if (e->sha) wick_sha256_update(e->sha, data, size);
    WICK_TRY(wick_writer_write(e->writer, data, size, err));
    e->done += size;
    if (e->how->progress && !e->how->progress(e->how->progress_user, "write", e->done, e->total))
        return wick_fail(err, WICK_CANCELLED, "export cancelled");
    return WICK_OK;
}

static wick_status write_source(struct emitter *e, struct wick_source *source, uint64_t offset, wick_error *err)
{
    const struct wick_production to = {e->how->pool, sink, e, e->how->ukernels};
    wick_writer_seek(e->writer, e->base + offset);
    e->left = wick_shape_nbytes(&source->shape);
    WICK_TRY(source->produce(source, &to, err));
    return e->left ? wick_fail(err, WICK_INTERNAL, "a source writes fewer bytes than its shape has") : WICK_OK;
}

/* Its key follows from its bytes. */
static wick_status write_blob(struct emitter *e, struct wick_named_constant *blob, uint64_t offset, wick_error *err)
{
    struct wick_sha256 sha;
    char hex[65];
    wick_sha256_init(&sha);
    e->sha = &sha;
    wick_status status = write_source(e, blob->source, offset, err);
    e->sha = NULL;
    WICK_TRY(status);
    wick_sha256_hex(&sha, hex);
    snprintf(blob->key, sizeof blob->key, "%s%s", blob->prefix, hex);
    return WICK_OK;
}

static wick_status write_named(struct emitter *e, wick_error *err)
{
    for (uint32_t i = 0; i < e->d->blob_count; i++) WICK_TRY(write_blob(e, e->d->blobs[i], e->d->segments[e->d->named_first + i].offset, err));
    return WICK_OK;
}

/* A data file: as a program, its tables are rendered once for their size and again when the hashes are known. */
static wick_status write_external(struct emitter *e, const struct wick_external_file *file, wick_error *err)
{
    const struct wick_ptd_program program = {file->segments, file->count, file->named, file->count};
    uint8_t *tables;
    size_t size, again;
    WICK_TRY(wick_ptd_render(&program, WICK_PTE_SEGMENT_ALIGNMENT, &tables, &size, err));
    wick_pte_render_free(tables);
    e->base = wick_pte_segment_base(size, WICK_PTE_SEGMENT_ALIGNMENT);
    for (uint32_t i = 0; i < file->count; i++) {
        const struct wick_external_entry *entry = &file->entries[i];
        if (entry->blob) WICK_TRY(write_blob(e, entry->blob, file->segments[i].offset, err));
        else WICK_TRY(write_source(e, entry->source, file->segments[i].offset, err));
    }
    WICK_TRY(wick_ptd_render(&program, WICK_PTE_SEGMENT_ALIGNMENT, &tables, &again, err));
    wick_status status =
        again == size ? wick_writer_write_at(e->writer, 0, tables, size, err) : wick_fail(err, WICK_INTERNAL, "the tables changed their size");
    wick_pte_render_free(tables);
    return status;
}

/* first: the segment of the first payload. */
static wick_status write_payloads(struct emitter *e, const struct wick_graph *g, uint32_t first, wick_error *err)
{
    for (uint32_t i = 0; i < g->delegate_count; i++) {
        const struct wick_pte_segment *segment = &e->d->segments[first + i];
        for (uint32_t k = 0; k < g->delegates[i].constant_count; k++) {
            struct wick_named_constant *blob = &g->delegates[i].constants[k];
            if (blob->same) memcpy(blob->key, blob->same->key, sizeof blob->key);
        }
        struct wick_buf payload = {0};
        wick_status status = g->delegates[i].render(g->delegates[i].data, &payload, err);
        if (status == WICK_OK && payload.size != segment->size)
            status = wick_fail(err, WICK_INTERNAL, "delegate %u: its payload changed its size", i);
        wick_writer_seek(e->writer, e->base + segment->offset);
        e->left = segment->size;
        if (status == WICK_OK) status = sink(e, payload.data, payload.size, err);
        wick_buf_free(&payload);
        WICK_TRY(status);
    }
    return WICK_OK;
}

static wick_status write_all(struct emitter *e, wick_error *err)
{
    struct wick_description *d = e->d;
    uint8_t *tables;
    size_t size, again;
    WICK_TRY(wick_pte_render(&d->program, WICK_PTE_SEGMENT_ALIGNMENT, &tables, &size, err));
    wick_pte_render_free(tables);
    e->base = wick_pte_segment_base(size, WICK_PTE_SEGMENT_ALIGNMENT);
    WICK_TRY(write_named(e, err));
    uint32_t payload = d->payload_first;
    for (uint32_t m = 0; m < d->methods->count; m++) {
        const struct wick_graph *g = &d->methods->list[m].graph;
        WICK_TRY(write_payloads(e, g, payload, err));
        payload += g->delegate_count;
    }
    for (uint32_t i = 0; i < d->constant_count; i++) WICK_TRY(write_source(e, d->constants[i], d->constant_offsets[i + 1], err));
    WICK_TRY(wick_pte_render(&d->program, WICK_PTE_SEGMENT_ALIGNMENT, &tables, &again, err));
    wick_status status =
        again == size ? wick_writer_write_at(e->writer, 0, tables, size, err) : wick_fail(err, WICK_INTERNAL, "the tables changed their size");
    wick_pte_render_free(tables);
    return status;
}

wick_status wick_emit(struct wick_description *d, const char *path, const struct wick_emission *how, uint64_t *file_bytes, wick_error *err)
{
    enum { PROGRAM = WICK_EXTERNAL_FILES, FILES };
    struct emitter e = {.d = d, .how = how, .total = d->segment_bytes};
    struct wick_writer *writers[FILES] = {0};
    wick_status status = WICK_OK;
    for (int i = 0; i < WICK_EXTERNAL_FILES; i++) e.total += d->external->files[i].bytes;
    /* Nothing gets its name before all is written: first the data, which the program needs. */
    for (int i = 0; i < FILES && status == WICK_OK; i++) {
        const struct wick_external_file *file = i == PROGRAM ? NULL : &d->external->files[i];
        if (file && file->count == 0) continue;
        status = wick_writer_open(&writers[i], file ? file->path : path, err);
        e.writer = writers[i];
        if (status == WICK_OK) status = file ? write_external(&e, file, err) : write_all(&e, err);
    }
    *file_bytes = e.base + d->segment_bytes;
    for (int i = 0; i < FILES && status == WICK_OK; i++) {
        if (!writers[i]) continue;
        status = wick_writer_commit(writers[i], err);
        writers[i] = NULL;
    }
    for (int i = 0; i < FILES; i++) wick_writer_discard(writers[i]);
    return status;
}
