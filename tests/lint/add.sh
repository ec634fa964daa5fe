#!/bin/sh
# tests/lint/add.sh SOURCE BUILD - adds one dummy of everything to a copy of the tree, each a folder or file and one line of a
# .def list, builds the command and asks it for them.
set -eu
source=$1 copy=$2
rm -rf "$copy"
mkdir -p "$copy"
(cd "$source" && tar cf - CMakeLists.txt cmake include src tools tests/lint) | tar xf - -C "$copy"
cd "$copy"

# an operator
mkdir src/ops/dummy
cat > src/ops/dummy/meta.c <<'C'
#include "ops/rules.h"
extern const struct wick_opmeta wick_opmeta_dummy_seven;
WICK_META(dummy_seven, "dummy::seven", ">V", NONE, NULL)
C
cat > src/ops/dummy/seven.c <<'C'
#include "ops/ops.h"
static wick_status run(const struct wick_args *args, const void *state, struct wick_run *r)
{
    (void)state;
    (void)r;
    wick_arg(args, 0)->as.i = 7;
    return WICK_OK;
}
const struct wick_op wick_op_dummy_seven = {.meta = &wick_opmeta_dummy_seven, .run = run};
C
echo 'WICK_OP(all, dummy_seven, "dummy::seven")' >> src/ops/ops.def

# a model family
mkdir src/models/dummy
cat > src/models/dummy/family.c <<'C'
#include "export/decoder.h"
#include "export/family.h"
static const char *const classes[] = {"dummy_family", NULL}, *const none[] = {NULL};
static void keep(const char *model_class, struct wick_hparams *h) { (void)model_class, (void)h; }
const struct wick_family wick_family_dummy = {"dummy", classes, none, none, keep, keep, wick_decoder_build};
C
echo 'WICK_FAMILY(dummy)' >> src/models/models.def

# a backend
mkdir src/backends/dummy
cat > src/backends/dummy/CMakeLists.txt <<'C'
wick_library(wick_dummy_rt SOURCES run.c LINKS wick_tensor)
wick_library(wick_dummy_aot SOURCES lower.c LINKS wick_graph)
C
cat > src/backends/dummy/run.c <<'C'
#include "runtime/backend.h"
static wick_status init(const struct wick_payload *payload, struct wick_bind *bind, void **handle)
{
    (void)payload, (void)bind;
    *handle = NULL;
    return WICK_OK;
}
static wick_status execute(void *handle, const struct wick_args *args, struct wick_run *run)
{
    (void)handle, (void)args, (void)run;
    return WICK_OK;
}
static void destroy(void *handle) { (void)handle; }
extern const struct wick_backend wick_backend_dummy;
const struct wick_backend wick_backend_dummy = {WICK_BACKEND_ABI, "DummyBackend", NULL, init, execute, destroy};
C
cat > src/backends/dummy/lower.c <<'C'
#include "graph/lower.h"
#include "pte/payload_printer.h"
static bool claims(const struct wick_graph *g, const struct wick_graph_node *node, const struct wick_lowering_options *options)
{
    (void)g, (void)node, (void)options;
    return false;
}
static wick_status print(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    (void)data, (void)size, (void)out, (void)err;
    return WICK_OK;
}
extern const struct wick_lowering wick_lowering_dummy;
extern const struct wick_payload_printer wick_payload_printer_dummy;
const struct wick_lowering wick_lowering_dummy = {.id = "DummyBackend", .section = "dummy", .claims = claims};
const struct wick_payload_printer wick_payload_printer_dummy = {"DummyBackend", print, print};
C
echo 'WICK_BACKEND(dummy, "DummyBackend")' >> src/backends/backends.def

# a level of instructions, of the architecture that this machine has
case $(uname -m) in x86_64) arch=x86 ;; aarch64) arch=arm ;; *) echo "SKIP: no levels on this machine"; exit 77 ;; esac
mkdir src/ukernel/$arch/dummy
cat > src/ukernel/$arch/dummy/level.c <<'C'
#include "ukernel/ukernels.h"
static bool supported(void) { return true; }
static void fill(struct wick_ukernels *t) { (void)t; }
extern const struct wick_isa wick_isa_dummy;
const struct wick_isa wick_isa_dummy = {"dummy", supported, fill};
C
echo "WICK_ISA($arch, dummy, \"-O1\")" >> src/ukernel/isa.def

# a checkpoint format, a tokenizer format, a fusion, a command
cat > src/checkpoint/dummy.c <<'C'
#include "checkpoint/format.h"
bool wick_ckpt_dummy_probe(const uint8_t *data, size_t size) { return size >= 8 && memcmp(data, "DUMMYCKP", 8) == 0; }
wick_status wick_ckpt_dummy_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    (void)ckpt, (void)file;
    return wick_fail(err, WICK_NOT_SUPPORTED, "the dummy checkpoint format was asked");
}
C
echo 'WICK_CKPT_FORMAT(dummy, "dummy")' >> src/checkpoint/formats.def
cat > src/tok/dummy.c <<'C'
#include "tok/model.h"
bool wick_tok_dummy_probe(struct wick_str data) { return data.size >= 8 && memcmp(data.data, "DUMMYTOK", 8) == 0; }
wick_status wick_tok_dummy_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err)
{
    (void)tok, (void)data;
    return wick_fail(err, WICK_NOT_SUPPORTED, "%s: the dummy tokenizer format was asked", path);
}
C
{ echo 'WICK_TOK_FORMAT(dummy)'; cat src/tok/formats.def; } > formats.new && mv formats.new src/tok/formats.def
cat > src/exec/fuse/dummy.c <<'C'
/* exec/fuse/dummy.c - refuses every program. */
#include "exec/fuse.h"
static wick_status apply(struct wick_fuse *fuse) { return wick_fail(fuse->err, WICK_NOT_SUPPORTED, "the dummy fusion was asked"); }
const struct wick_fusion wick_fusion_dummy = {"dummy", apply};
C
echo 'WICK_FUSION(dummy)' >> src/exec/fuse/fuse.def
cat > tools/cli/dummy.c <<'C'
#include "cli.h"
#include <stdio.h>
int wick_command_dummy(int argc, char **argv)
{
    (void)argc, (void)argv;
    printf("the dummy command was asked\n");
    return 0;
}
C
echo 'WICK_COMMAND(dummy, "a dummy", "wick dummy")' >> tools/cli/commands.def

# no list of the rules knows what may be added
python3 tests/lint/lint.py . layers

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 -DWICK_BUILD_TESTS=OFF > configure.log || { cat configure.log; exit 1; }
cmake --build build --target wick_cli > build.log 2>&1 || { tail -40 build.log; exit 1; }

failed=0
expect() {
    if echo "$3" | grep -q -- "$2"; then echo "added: $1"; else echo "missing: $1 ($2) in: $3" | cut -c1-400; failed=1; fi
}
about=$(build/wick --version --json)
expect "operator" "dummy::seven" "$about"
expect "backend" "DummyBackend" "$about"
expect "level" '"dummy"' "$about"
expect "command" "the dummy command was asked" "$(build/wick dummy)"
printf 'DUMMYTOK' > t.tok
expect "tokenizer format" "the dummy tokenizer format was asked" "$(build/wick tokenize --tokenizer t.tok x 2>&1 || true)"
printf 'DUMMYCKP00000000' > c.ckpt
expect "checkpoint format and family" "the dummy checkpoint format was asked" \
    "$(build/wick export base.model_class=dummy_family base.checkpoint=c.ckpt export.output_name=out.pte 2>&1 || true)"
expect "family" "did you mean dummy_family" "$(build/wick export base.model_class=dummy_famili "base.checkpoint=$source/tests/data/torch_views.pt" 2>&1 || true)"
expect "fusion" "the dummy fusion was asked" \
    "$(build/wick exec "$source/tests/data/golden/llm/llama32_fp32_nokv/model.pte" --input i64:1x3:=1,2,3 2>&1 || true)"
exit $failed
