/* pte/schemas.c - the descriptors of the three formats, expanded from their lists. Read by verifier, builder and printers. */
#include "pte/bundled_schema.h"
#include "pte/program_schema.h"
#include "pte/ptd_schema.h"

PTE_TABLES(FLAT_FIELDS, PTE)
PTE_UNIONS(FLAT_FIELDS, PTE)
PTE_ENUMS(FLAT_FIELDS, PTE)
static const struct wick_flat_table pte_tables[] = {PTE_TABLES(FLAT_LIST, PTE)};
static const struct wick_flat_union pte_unions[] = {PTE_UNIONS(FLAT_LIST, PTE)};
static const struct wick_flat_enum pte_enums[] = {PTE_ENUMS(FLAT_LIST, PTE)};

const struct wick_flat_schema wick_pte_schema = {
    .name = "program", .idents = {"ET12", NULL}, .tables = pte_tables, .unions = pte_unions, .enums = pte_enums,
    .table_count = PTE_TABLE_COUNT, .union_count = PTE_UNION_COUNT, .enum_count = PTE_ENUM_COUNT, .root = PTE_TABLE_PROGRAM,
};

PTD_TABLES(FLAT_FIELDS, PTD)
PTD_ENUMS(FLAT_FIELDS, PTD)
static const struct wick_flat_table ptd_tables[] = {PTD_TABLES(FLAT_LIST, PTD)};
static const struct wick_flat_enum ptd_enums[] = {PTD_ENUMS(FLAT_LIST, PTD)};

const struct wick_flat_schema wick_ptd_schema = {
    .name = "tensor data file", .idents = {"FT01", NULL}, .tables = ptd_tables, .unions = NULL, .enums = ptd_enums,
    .table_count = PTD_TABLE_COUNT, .union_count = 0, .enum_count = PTD_ENUM_COUNT, .root = PTD_TABLE_ROOT,
};

BPTE_TABLES(FLAT_FIELDS, BPTE)
BPTE_UNIONS(FLAT_FIELDS, BPTE)
BPTE_ENUMS(FLAT_FIELDS, BPTE)
static const struct wick_flat_table bpte_tables[] = {BPTE_TABLES(FLAT_LIST, BPTE)};
static const struct wick_flat_union bpte_unions[] = {BPTE_UNIONS(FLAT_LIST, BPTE)};
static const struct wick_flat_enum bpte_enums[] = {BPTE_ENUMS(FLAT_LIST, BPTE)};

const struct wick_flat_schema wick_bundled_schema = {
    .name = "bundled program", .idents = {"BP08", NULL}, .tables = bpte_tables, .unions = bpte_unions, .enums = bpte_enums,
    .table_count = BPTE_TABLE_COUNT, .union_count = BPTE_UNION_COUNT, .enum_count = BPTE_ENUM_COUNT, .root = BPTE_TABLE_ROOT,
};
