/* tools/cli/bench_report.c - results of wick bench as a table, JSON or a chart. */
#include "bench.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *rate_json(const struct bench_rate *rate, const char *key)
{
    return json_pack("{s:I,s:f,s:f,s:f}", key, (json_int_t)rate->tokens, "tok_s", rate->median, "tok_s_min", rate->least, "tok_s_max", rate->most);
}

static json_t *operators_json(const struct bench_operators *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const struct bench_operator *o = &all->items[i];
        json_array_append_new(list, json_pack("{s:s,s:I,s:f,s:I,s:I}", "name", o->name, "calls", (json_int_t)o->calls, "ms", (double)o->nanoseconds * 1e-6, "multiply_adds",
                                              (json_int_t)o->multiply_adds, "bytes", (json_int_t)o->bytes));
    }
    return list;
}

static json_t *result_json(const struct bench_result *r)
{
    json_t *prefill = json_array(), *decode = json_array();
    for (size_t i = 0; i < r->prefill_count; i++) json_array_append_new(prefill, rate_json(&r->prefill[i], "tokens"));
    for (size_t i = 0; i < r->decode_count; i++) json_array_append_new(decode, rate_json(&r->decode[i], "context"));
    json_t *root = json_pack("{s:s,s:I,s:s,s:f,s:f,s:o,s:o,s:I}", "model", r->model, "threads", (json_int_t)r->threads, "cpu_level", r->level, "load_ms", r->load_ms,
                             "first_token_ms", r->first_token_ms, "prefill", prefill, "decode", decode, "peak_rss_bytes", (json_int_t)r->peak_rss_bytes);
    json_object_set_new(root, "prefill_operators", operators_json(&r->prefill_operators));
    json_object_set_new(root, "decode_operators", operators_json(&r->decode_operators));
    if (r->prefill_layers.count) json_object_set_new(root, "prefill_layers", operators_json(&r->prefill_layers));
    if (r->decode_layers.count) json_object_set_new(root, "decode_layers", operators_json(&r->decode_layers));
    if (r->read_gb_s > 0)
        json_object_set_new(root, "limits", json_pack("{s:f,s:f,s:f,s:f}", "read_gb_s", r->read_gb_s, "int8_gmac_s", r->int8_gmac_s, "share_decode", r->share_decode,
                                                      "share_prefill", r->share_prefill));
    return root;
}

void bench_print_json(const struct bench_result *results, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, result_json(&results[i]));
    json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(list);
}

/* ---- text ---- */

static void print_rates(const char *what, const struct bench_rate *rates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("  %-8s %6" PRId64 "  %10.1f tok/s  (%.1f .. %.1f)\n", what, rates[i].tokens, rates[i].median, rates[i].least, rates[i].most);
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = ((const struct bench_operator *)a)->nanoseconds, y = ((const struct bench_operator *)b)->nanoseconds;
    return (x < y) - (x > y);
}

static void print_operators(const char *title, const char *head, const struct bench_operators *all)
{
    struct bench_operators sorted = *all;
    if (!all->count) return;
    qsort(sorted.items, sorted.count, sizeof *sorted.items, by_time);
    printf("  %s: %.2f ms\n    %-44s %6s %9s %6s %9s %8s\n", title, (double)all->nanoseconds * 1e-6, head, "calls", "ms", "share", "GMAC/s", "GB/s");
    for (size_t i = 0; i < sorted.count; i++) {
        const struct bench_operator *o = &sorted.items[i];
        double ns = o->nanoseconds ? (double)o->nanoseconds : 1;
        printf("    %-44s %6" PRIu64 " %9.3f %5.1f%%", o->name, o->calls, ns * 1e-6, 100 * ns / (double)(all->nanoseconds ? all->nanoseconds : 1));
        if (o->multiply_adds) printf(" %9.1f %8.1f", (double)o->multiply_adds / ns, (double)o->bytes / ns);
        putchar('\n');
    }
}

void bench_print_table(const struct bench_result *r, bool operators)
{
    char threads[32] = "all threads";
    if (r->threads) snprintf(threads, sizeof threads, "%" PRId64 " thread%s", r->threads, r->threads == 1 ? "" : "s");
    printf("%s (%s, %s)\n", r->model, r->level, threads);
    printf("  load %.1f ms, start to first token %.1f ms, peak memory %.1f MB\n", r->load_ms, r->first_token_ms, (double)r->peak_rss_bytes * 1e-6);
    print_rates("prefill", r->prefill, r->prefill_count);
    print_rates("decode @", r->decode, r->decode_count);
    if (r->read_gb_s > 0) {
        printf("  limits   reading %.1f GB/s, int8 %.0f GMAC/s", r->read_gb_s, r->int8_gmac_s);
        if (r->decode_count) printf("; decoding at %" PRId64 " reads %.0f %% of that", r->decode[0].tokens, 100 * r->share_decode);
        if (r->prefill_count) printf("; prefill of %" PRId64 " multiplies %.0f %%", r->prefill[r->prefill_count - 1].tokens, 100 * r->share_prefill);
        putchar('\n');
    }
    if (operators) {
        print_operators("operators of the last call of the longest prompt", "operator", &r->prefill_operators);
        print_operators("operators of one decoded token", "operator", &r->decode_operators);
    }
    print_operators("layers in the last call of the longest prompt", "layer", &r->prefill_layers);
    print_operators("layers in one decoded token", "layer", &r->decode_layers);
}

static void print_ratios(const char *what, const struct bench_rate *a, const struct bench_rate *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (b[i].median > 0) printf("  %-8s %6" PRId64 "  %10.3f x\n", what, a[i].tokens, a[i].median / b[i].median);
}

void bench_print_ratio(const struct bench_result *first, const struct bench_result *second)
{
    printf("%s against %s\n", first->model, second->model);
    print_ratios("prefill", first->prefill, second->prefill, first->prefill_count);
    print_ratios("decode @", first->decode, second->decode, first->decode_count);
    if (second->first_token_ms > 0) printf("  first token      %10.3f x the time\n", first->first_token_ms / second->first_token_ms);
    if (second->peak_rss_bytes > 0) printf("  peak memory      %10.3f x\n", (double)first->peak_rss_bytes / (double)second->peak_rss_bytes);
}

/* ---- chart ---- */

enum { ROW = 22, LEFT = 330, WIDTH = 420 };

/* A file's name goes into the chart as text. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", out);
        else if (*text == '&') fputs("&amp;", out);
        else if ((unsigned char)*text >= ' ') fputc(*text, out);
    }
}

static int put_bars(FILE *out, const struct bench_result *r, const char *what, const struct bench_rate *rates, size_t count, double most, int y)
{
    const char *slash = strrchr(r->model, '/');
    for (size_t i = 0; i < count; i++, y += ROW) {
        double length = most > 0 ? rates[i].median / most * WIDTH : 0;
        fprintf(out, "<text x='%d' y='%d' text-anchor='end'>", LEFT - 8, y + 15);
        put_text(out, slash ? slash + 1 : r->model);
        fprintf(out, ", %" PRId64 " thr., %s %" PRId64 "</text><rect x='%d' y='%d' width='%.1f' height='%d' fill='%s'/>", r->threads, what, rates[i].tokens, LEFT, y + 3, length, ROW - 6,
                *what == 'p' ? "#3b7dd8" : "#d8823b");
        fprintf(out, "<text x='%.1f' y='%d'>%.1f tok/s</text>\n", LEFT + length + 6, y + 15, rates[i].median);
    }
    return y;
}

static double most_of(const struct bench_rate *rates, size_t count, double most)
{
    for (size_t i = 0; i < count; i++)
        if (rates[i].median > most) most = rates[i].median;
    return most;
}

bool bench_write_svg(const char *path, const struct bench_result *results, size_t count, wick_error *err)
{
    struct cli_output out;
    double prefill = 0, decode = 0;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += results[i].prefill_count + results[i].decode_count;
        prefill = most_of(results[i].prefill, results[i].prefill_count, prefill);
        decode = most_of(results[i].decode, results[i].decode_count, decode);
    }
    if (!cli_output_open(&out, path, err)) return false;
    fprintf(out.file, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%zu' font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
            LEFT + WIDTH + 130, rows * ROW + 20);
    int y = 10;
    for (size_t i = 0; i < count; i++) y = put_bars(out.file, &results[i], "prefill", results[i].prefill, results[i].prefill_count, prefill, y);
    for (size_t i = 0; i < count; i++) y = put_bars(out.file, &results[i], "decode at", results[i].decode, results[i].decode_count, decode, y);
    bool whole = fprintf(out.file, "</svg>\n") > 0;
    return cli_output_close(&out, whole, err);
}
