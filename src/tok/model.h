/* tok/model.h - what a tokenizer is made of, and the functions its files share. Loaders fill a wick_tok by the functions
 * of build.c in this order: wick_tok_reserve, wick_tok_set_piece for every entry of the model's vocabulary, options and steps,
 * wick_tok_finish_vocab, the merges (tok->pairs or wick_tok_merges_from_ranks), wick_tok_add_added, wick_tok_finish. */
#ifndef WICK_TOK_MODEL_H
#define WICK_TOK_MODEL_H

#include "tok/charsmap.h"
#include "tok/match.h"
#include "tok/regex.h"
#include "tok/table.h"
#include "tok/tok.h"
#include "tok/trie.h"
#include "tok/unicode.h"

#include <stdatomic.h>

enum {
    WICK_TOK_ID_LIMIT = 10 * 1000 * 1000, /* ids are below */
    WICK_TOK_STEP_LIMIT = 64,             /* steps of one pipeline */
    WICK_TOK_TRIE_PIECE_LIMIT = 4096,     /* bytes of one piece of Unigram and WordPiece, which bound the time a character takes */
};
#define WICK_TOK_TEXT_LIMIT ((size_t)1 << 30) /* bytes of one text to encode */

/* ---- steps ---- */

/* What a step looks for. */
struct wick_tok_pattern {
    enum { WICK_TOK_BY_STRING, WICK_TOK_BY_REGEX, WICK_TOK_BY_CLASS } kind;
    struct wick_str string;
    struct wick_tok_regex *regex; /* owned by the tokenizer */
    enum wick_tok_class class;
};

/* What becomes of a match when text is split. */
enum wick_tok_behavior { WICK_TOK_REMOVED, WICK_TOK_ISOLATED, WICK_TOK_MERGED_WITH_PREVIOUS, WICK_TOK_MERGED_WITH_NEXT, WICK_TOK_CONTIGUOUS };

enum wick_tok_prepend { WICK_TOK_PREPEND_ALWAYS, WICK_TOK_PREPEND_FIRST, WICK_TOK_PREPEND_NEVER };

struct wick_tok_step {
    enum {
        /* normalizers */
        WICK_TOK_FORM,
        WICK_TOK_LOWERCASE,
        WICK_TOK_STRIP,   /* white space; left, right */
        WICK_TOK_PREPEND, /* content */
        WICK_TOK_REPLACE, /* pattern by content */
        WICK_TOK_TRIM,    /* up to start / stop times content at the ends; of decoders */
        WICK_TOK_CLEAN,        /* no control characters, white space becomes blanks */
        WICK_TOK_SPACE_HAN,    /* blanks around ideographs */
        WICK_TOK_DROP_MARKS,   /* combining marks go: all, or with `left` only those without width */
        WICK_TOK_NMT,          /* as CLEAN, by the rules of neural translation */
        WICK_TOK_PRECOMPILED,  /* tok->sentence.map, as Hugging Face applies it */
        WICK_TOK_BYTES,        /* the byte-level alphabet */
        WICK_TOK_SENTENCE, /* all that SentencePiece does to a text: tok->sentence */
        /* splitters */
        WICK_TOK_SPLIT,      /* pattern, behavior, invert */
        WICK_TOK_BYTE_LEVEL, /* prefix_space; pattern.regex or NULL */
        WICK_TOK_LENGTH,     /* pieces of `start` characters */
        WICK_TOK_METASPACE,  /* content is the replacement of blanks; prepend, split */
    } kind;
    enum wick_tok_form form;
    uint32_t start, stop;
    bool left, right, invert, prefix_space, split;
    enum wick_tok_behavior behavior;
    enum wick_tok_prepend prepend;
    struct wick_tok_pattern pattern;
    struct wick_str content;
};

struct wick_tok_steps {
    struct wick_tok_step *items;
    size_t count;
};

/* ---- decoding ---- */

/* How single tokens become text; the per-token part is applied once, at load (wick_tok.text). */
struct wick_tok_decoder {
    bool byte_level;    /* a token's text is the bytes its characters stand for */
    bool byte_fallback; /* tokens <0xHH> are single bytes */
    struct wick_str word_inner; /* WordPiece: a token that begins so goes on without a blank; data NULL: not WordPiece */
    bool word_cleanup;  /* no blanks before punctuation and contractions */
    bool join_blank;    /* a blank between tokens: no decoder was given */
    struct wick_tok_steps replaces; /* per token: WICK_TOK_REPLACE and WICK_TOK_TRIM */
    struct wick_str metaspace; /* this character is a blank, and nothing in the first token if metaspace_first */
    bool metaspace_first;
    /* Of the whole text: how many `strip` characters may go at each end. */
    struct wick_str strip;
    uint32_t strip_start, strip_stop;
    bool strip_past_special; /* a special token in front does not end the stripping */
    /* Until something is printed, a token loses one `strip` in front: the first token that has one, or every token. */
    enum { WICK_TOK_LEAD_KEPT, WICK_TOK_LEAD_ONCE, WICK_TOK_LEAD_EACH } lead;
};

/* How SentencePiece prepares a text. */
struct wick_tok_sentence {
    struct wick_tok_charsmap map;
    bool prefix;       /* a blank in front (behind, with `suffix`) */
    bool suffix;
    bool trim;         /* no blanks at the ends, single ones within */
    bool escape;       /* blanks become U+2581 */
};

/* ---- the tokenizer ---- */

enum wick_tok_flag {
    WICK_TOK_IN_MODEL = 1,
    WICK_TOK_IS_ADDED = 2,
    WICK_TOK_IS_SPECIAL = 4,
    WICK_TOK_IS_BYTE = 8, /* text is one raw byte */
    WICK_TOK_IS_USER = 16,   /* defined by the user: taken as it stands */
    WICK_TOK_IS_UNUSED = 32, /* formed on the way, but never given: merging it is undone */
};

struct wick_tok_id_list {
    int32_t *ids;
    size_t count;
};

struct wick_tok {
    struct wick_arena arena; /* everything below, but for the compiled patterns */
    const char *format;
    uint64_t seed;

    /* The vocabulary. [limit] each: */
    int32_t limit;
    struct wick_str *piece; /* the file's spelling; data NULL: a hole */
    struct wick_str *key;   /* what the model matches: the bytes a byte-level piece stands for, else the piece */
    struct wick_str *text;  /* what the id prints, but for what depends on its neighbours */
    struct wick_str *first; /* what the id prints as the first of a text, where that differs (decoder.metaspace_first); else NULL */
    uint8_t *flags;
    struct wick_tok_map by_piece; /* all */
    struct wick_tok_map by_key;   /* the model's */
    size_t key_limit;             /* bytes of the longest key */

    /* The model. */
    enum { WICK_TOK_BPE, WICK_TOK_UNIGRAM, WICK_TOK_WORD_PIECE, WICK_TOK_WORD_LEVEL } model;
    struct wick_tok_trie trie; /* of the keys; Unigram and WordPiece */
    double *scores;            /* [limit]; Unigram */
    double unk_score;          /* of an unknown character */
    bool narrow;               /* sums are rounded to single precision, as SentencePiece's */
    uint32_t word_chars_max;   /* WordPiece: longer words are unknown */
    uint32_t inner_node;       /* where the trie goes on within a word */
    struct wick_str inner, last; /* BPE: what precedes the characters within a word and follows the last one; mostly empty */
    bool has_unused;
    bool byte_level;    /* symbols are bytes, else characters */
    bool byte_fallback; /* unknown characters become tokens <0xHH> */
    bool fuse_unk, ignore_merges;
    int32_t unk;          /* -1: unknown characters vanish */
    int32_t byte_ids[256]; /* of a byte as the first symbols; with characters, of <0xHH>; -1: none */
    int32_t char_ids[128]; /* with characters: of the ASCII ones */
    struct wick_tok_pairs pairs;
    atomic_uchar *alone;  /* [limit] whether merging a key's symbols gives just its id: 0 not known yet, 1 yes, 2 no */
    struct wick_str cut;  /* text may be cut before this character, if another one precedes it whose last byte is not in cut_joins: */
    bool cut_joins[256];  /* some merge joins a left side that ends with this byte with a right side that begins with `cut` */

    struct wick_tok_steps normalizers, splitters;
    struct wick_tok_added *added;
    size_t added_count, added_capacity;
    struct wick_tok_matcher raw, normalized;
    struct wick_tok_matcher trusted; /* raw, and the special ones of normalized by their spelling: for text in parts */
    struct wick_tok_matcher kept; /* SentencePiece: passes the preparation as it stands */
    struct wick_tok_sentence sentence;
    bool patterns_as_given; /* added tokens are looked for in normalized text by their own spelling */
    struct wick_tok_decoder decoder;

    int32_t bos;
    struct wick_tok_id_list eos, prefix, suffix;
};

/* ---- building (build.c, build_end.c) ---- */

struct wick_tok *wick_tok_new(void); /* NULL: out of memory */
/* Room for ids below `limit`, of which `count` pieces and `added` added tokens will exist. */
wick_status wick_tok_reserve(struct wick_tok *tok, int32_t limit, size_t count, size_t added, wick_error *err) WICK_MUST_CHECK;
/* A borrowed string copied into the tokenizer; data NULL: out of memory. */
struct wick_str wick_tok_intern(struct wick_tok *tok, struct wick_str string);
/* Enters a piece of the model's vocabulary (copied). Refuses an id or a piece that is taken. */
wick_status wick_tok_set_piece(struct wick_tok *tok, int32_t id, struct wick_str piece, wick_error *err) WICK_MUST_CHECK;
/* The same for formats whose lists may repeat a piece: the first has it, the others only print. `in_model`: the model uses it. */
wick_status wick_tok_set_listed(struct wick_tok *tok, int32_t id, struct wick_str piece, bool in_model, wick_error *err) WICK_MUST_CHECK;
/* Ends the vocabulary: byte_level and byte_fallback are set by now. Derives keys and the first symbols. */
wick_status wick_tok_finish_vocab(struct wick_tok *tok, wick_error *err) WICK_MUST_CHECK;
/* Merges from the vocabulary itself: two pieces merge if their join is a piece; ranks[id] is its order, UINT32_MAX: never. */
wick_status wick_tok_merges_from_ranks(struct wick_tok *tok, const uint32_t *ranks, wick_error *err) WICK_MUST_CHECK;
/* A zeroed step at the end of a pipeline. */
wick_status wick_tok_add_step(struct wick_tok *tok, struct wick_tok_steps *steps, struct wick_tok_step **step, wick_error *err) WICK_MUST_CHECK;
/* A splitter that isolates what a pattern matches. */
wick_status wick_tok_add_split(struct wick_tok *tok, struct wick_str pattern, enum wick_tok_dialect dialect, wick_error *err) WICK_MUST_CHECK;
/* The byte-level splitter; use_regex: splits by GPT-2's pattern. Sets tok->byte_level. */
wick_status wick_tok_add_byte_level(struct wick_tok *tok, bool prefix_space, bool use_regex, wick_error *err) WICK_MUST_CHECK;
/* An added token (content is copied); the model's own id for this content wins over token->id. */
wick_status wick_tok_add_added(struct wick_tok *tok, const struct wick_tok_added *token, wick_error *err) WICK_MUST_CHECK;
/* Derives matchers, texts of ids, cut, BOS and EOS; the last call of a loader. */
wick_status wick_tok_finish(struct wick_tok *tok, wick_error *err) WICK_MUST_CHECK;
/* Appends an id; once: not if the list has it. */
wick_status wick_tok_list_add(struct wick_tok *tok, struct wick_tok_id_list *list, int32_t id, bool once, wick_error *err) WICK_MUST_CHECK;
/* Ends a vocabulary of Unigram or WordPiece: the trie of the ids that `flags` of the vocabulary mark as of the model but not as bytes or unused. */
wick_status wick_tok_make_trie(struct wick_tok *tok, wick_error *err) WICK_MUST_CHECK;
/* The value of a byte token "<0xHH>", or -1. */
int wick_tok_byte_of(struct wick_str piece);
/* Ranks of scores, best first, equal scores equal: for wick_tok_merges_from_ranks. ranks[count]. */
wick_status wick_tok_ranks_of_scores(const float *scores, size_t count, uint32_t *ranks, wick_error *err) WICK_MUST_CHECK;

/* ---- working space of one encode call (encode.c) ---- */

struct wick_tok_span {
    uint32_t begin, end;
};
struct wick_tok_spans {
    struct wick_tok_span *items;
    size_t count, capacity;
};
bool wick_tok_spans_push(struct wick_tok_spans *spans, size_t begin, size_t end);

/* A symbol while a piece is merged: a doubly linked list in an array. */
struct wick_tok_symbol {
    int32_t id;
    uint32_t prev, next; /* UINT32_MAX: none */
    uint32_t rank;       /* of merging with next; UINT32_MAX: does not, or this symbol is gone */
    int32_t merged;      /* what that gives */
};

struct wick_tok_work {
    const struct wick_tok *tok;
    struct wick_ids *out;
    wick_error *err;
    bool special, escaped;
    const struct wick_tok_trusted *trusted; /* where special tokens are seen; NULL: everywhere */
    bool at_start; /* what is normalized stands at the begin of the whole text */
    struct wick_buf text[2];  /* normalizers write them in turn */
    struct wick_buf cut[2];   /* splitters do */
    struct wick_buf raw;      /* a piece as bytes */
    struct wick_buf spelled;  /* a character with its affixes */
    struct wick_tok_spans spans[2];
    struct wick_tok_matching *matching;
    struct wick_tok_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    uint64_t *heap;
    size_t heap_count, heap_capacity;
    struct wick_tok_best *best; /* Unigram's table */
    size_t best_capacity;
    struct wick_tok_split_back *undo; /* [limit]: what unused pieces were merged from */
    struct wick_ids undone;
    size_t unknown_until; /* WordLevel: out's count when the last unknown word was given */
};

/* Bytes that are not UTF-8 travel through the pipeline as U+10FF00 + byte; then characters U+10FF00 to U+10FFFF of the text
 * itself travel as their four bytes. */
enum { WICK_TOK_ESCAPE_BASE = 0x10ff00 };

/* Runs the normalizers on *text, which then may borrow work->text. (normalize.c) */
wick_status wick_tok_normalize(struct wick_tok_work *work, struct wick_str *text) WICK_MUST_CHECK;
/* One normalizer step. */
wick_status wick_tok_normalize_step(const struct wick_tok_step *step, struct wick_tok_matching **matching, struct wick_str text, struct wick_buf *out,
                                    wick_error *err) WICK_MUST_CHECK;
/* Runs the splitters: *spans are the pieces of *text in order. *mapped: text is in the byte-level alphabet. (split.c) */
wick_status wick_tok_split(struct wick_tok_work *work, struct wick_str *text, bool at_start, struct wick_tok_spans **spans,
                           bool *mapped) WICK_MUST_CHECK;
/* Goes through the matches of a pattern in a text. An empty match right behind a match does not count. (split.c) */
struct wick_tok_finder {
    const struct wick_tok_pattern *pattern;
    struct wick_str text;
    size_t begin, end; /* of the match found; end 0 before the first */
    size_t from;       /* where to look next */
    bool any;
};
wick_status wick_tok_finder_next(struct wick_tok_finder *finder, struct wick_tok_matching **matching, bool *found, wick_error *err) WICK_MUST_CHECK;
/* Normalizers of the whole tokenizer: WICK_TOK_SENTENCE (sentence.c), WICK_TOK_PRECOMPILED and WICK_TOK_BYTES (clean.c). */
wick_status wick_tok_sentence_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out) WICK_MUST_CHECK;
wick_status wick_tok_precompiled_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out) WICK_MUST_CHECK;
wick_status wick_tok_bytes_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out) WICK_MUST_CHECK;
/* WICK_TOK_CLEAN to WICK_TOK_NMT, and whether it drops the first character. (clean.c) */
wick_status wick_tok_clean(const struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text, struct wick_buf *out) WICK_MUST_CHECK;
bool wick_tok_cleans_first(const struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text);
/* Each appends the ids of one piece by a model. (merge.c, unigram.c, word.c) */
wick_status wick_tok_merge_piece(struct wick_tok_work *work, struct wick_str piece) WICK_MUST_CHECK;
wick_status wick_tok_unigram_piece(struct wick_tok_work *work, struct wick_str piece) WICK_MUST_CHECK;
wick_status wick_tok_word_piece(struct wick_tok_work *work, struct wick_str piece) WICK_MUST_CHECK;
wick_status wick_tok_word_level_piece(struct wick_tok_work *work, struct wick_str piece) WICK_MUST_CHECK;

/* ---- formats (formats.def) ---- */

struct wick_tok_format {
    const char *name;
    bool (*probe)(struct wick_str data); /* by content; may be generous where a later format would be too */
    /* Fills tok. `path` is the file's, for files beside it; NULL: from memory. */
    wick_status (*load)(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err);
};

#define WICK_TOK_FORMAT(name)                                                                      \
    bool wick_tok_##name##_probe(struct wick_str data);                                            \
    wick_status wick_tok_##name##_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err) WICK_MUST_CHECK;
#include "tok/formats.def"
#undef WICK_TOK_FORMAT

#endif
