/* tests/size/bare_main.c - a host of the `bare` profile: no operating system's services, no heap, one thread; program and
 * memory are the host's. It runs a language model's prefill and compares with the original's logits. The test's script also
 * checks that the libraries ask for nothing beyond strings, mathematics and snprintf (bare.sh). */
#include "api/tables.h"
#include "exec/instance.h"
#include "ukernel/ukernels.h"

/* The script defines MODEL and LOGITS: files put into the image, as a board's flash would hold them. */
__asm__(".section .rodata\n.balign 64\nbare_model: .incbin \"" MODEL "\"\nbare_model_end:\n.balign 64\nbare_logits: .incbin \"" LOGITS "\"\n.text\n");
extern const uint8_t bare_model[], bare_model_end[];
extern const float bare_logits[];

enum { VOCAB = 512, PROMPT = 9 };
static _Alignas(64) char load_block[1 << 20], planned_block[1 << 22], temp_block[1 << 22];

static wick_status run(float *worst, wick_error *err)
{
    static int64_t prompt[PROMPT] = {1, 17, 300, 42, 5, 99, 511, 256, 7};
    static struct wick_ukernels ukernels;
    struct wick_arena load, planned, temp;
    struct wick_program *program;
    struct wick_method *method;
    struct wick_exec_graph *graph;
    struct wick_instance *instance;
    uint32_t index;
    wick_arena_init_fixed(&load, load_block, sizeof load_block);
    wick_arena_init_fixed(&planned, planned_block, sizeof planned_block);
    wick_arena_init_fixed(&temp, temp_block, sizeof temp_block);
    WICK_TRY(wick_ukernels_init(&ukernels, "ref", err));
    struct wick_bytes file = {bare_model, (size_t)(bare_model_end - bare_model)};
    WICK_TRY(wick_program_open_memory(&program, file, NULL, 0, &load, err));
    WICK_TRY(wick_program_method_find(program, wick_str_of("forward"), &index, err));
    WICK_TRY(wick_method_load(&method, program, index, &wick_default_ops, &load, err));
    struct wick_exec_graph_options bind = {.ukernels = &ukernels};
    WICK_TRY(wick_exec_graph_bind(&graph, method, &bind, &load, &temp, err));
    struct wick_instance_options options = {&load, &planned, &temp, NULL};
    WICK_TRY(wick_instance_open(&instance, graph, &options, err));
    const int32_t sizes[2] = {1, PROMPT};
    const struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 2, sizes);
    WICK_TRY(wick_instance_set_tensor(instance, 0, &shape, prompt, err));
    WICK_TRY(wick_instance_run(instance, NULL, err));
    const float *logits = wick_instance_output(instance, 0)->as.tensor->data;
    *worst = 0;
    for (int i = 0; i < VOCAB; i++) {
        float off = logits[i] - bare_logits[i];
        if (!(off < 0 ? -off <= *worst : off <= *worst)) *worst = off < 0 ? -off : off;
    }
    wick_exec_graph_close(graph);
    wick_program_close(program);
    return WICK_OK;
}

/* 0: within 2e-4 of the original's logits, as the parity tests allow for float32. */
int main(void)
{
    float worst;
    wick_error err;
    if (run(&worst, &err) != WICK_OK) return 2;
    return worst <= 2e-4f ? 0 : 1;
}
