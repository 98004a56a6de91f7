/* field.h - one table for each spec; a row has the struct's member, the document's key, the flag and the help text
 * The kind of a row comes from the C type of its member, so a row cannot disagree with its struct. Walkers read a
 * tree into a struct, print it as flags, overlay structs, list them; none knows a certain spec.
 * Owner: values live in the arena given to field_parse. Errors: CONFIG with file:line:column.
 * Source: kops upup/pkg/fi/utils (ghodss yaml: keys match without regard to case), pkg/flagbuilder/build_flags.go
 * (flag rules). Tests: test_field.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/errs.h"
#include "nodeup/base/format.h"
#include "nodeup/base/tree.h"

/* An optional value begins with `set`: true if there is a value. The walkers need `set` to be the first member. */
struct opt_bool {
	bool set, v;
};
struct opt_int {
	bool set;
	int64_t v;
};
struct opt_dur {
	bool set;
	int64_t ns;
};

enum field_kind {
	FIELD_STRING,   /* const char * */
	FIELD_BOOL,     /* bool: Go's plain bool */
	FIELD_INT,      /* int64_t: Go's plain int */
	FIELD_OPT_BOOL, /* *bool */
	FIELD_OPT_INT,  /* *int */
	FIELD_OPT_DUR,  /* *metav1.Duration */
	FIELD_STRV,     /* []string */
	FIELD_STRMAP,   /* map[string]string */
	FIELD_OBJECT,   /* struct by value with its own schema */
	FIELD_LIST,     /* struct { T *v; size_t n; } of objects */
	FIELD_TREE,     /* const struct tree *: kept unparsed */
};

/* The flag's value names files of the host: the program reads a FILE; it writes and renames a LOG ("-" means none). */
enum field_file { FIELD_NO_FILE, FIELD_FILE, FIELD_LOG };

struct schema;
struct field_seen;

/* A value of present_offset: no member shows whether the key is given. */
#define FIELD_ALWAYS UINT32_MAX

/* Packed, as each start of the program writes to all pages of these tables, which have a thousand rows. */
struct field {
	const char *key;  /* as kops writes it; matched without regard to case */
	const char *flag; /* NULL: no flag */
	const char *doc;
	const char *config;     /* place in the program's own configuration: "a.b", or NULL */
	const char *flag_empty; /* value that counts as unset: kops' `flag-empty` */
	const char *usual;      /* the value of a string that is missing or empty; NULL: none */
	const char *oneof;      /* "a|b|": allowed strings, or NULL */
	const char *keys;       /* "a|b": allowed keys of a map of strings, or NULL: any */
	/* format of a string, or of each string in a list or map; an empty string passes without it; or NULL */
	const struct field_format *format;
	const struct field_accepts *accepts; /* what the program demands, see accepts.h; or NULL */
	const struct schema *schema;         /* OBJECT, LIST */
	int32_t min, max; /* range of an integer; both 0: any of 32 bits, or of 64 if `wide` */
	uint32_t offset;
	uint32_t present_offset; /* OBJECT: a bool set if the key is given; or FIELD_ALWAYS */
	enum field_kind kind : 8;
	enum tree_kind shape : 8; /* TREE: needed kind, a map or a list; TREE_NULL: any kind */
	enum field_file file : 8;
	/* first and last minor version of Kubernetes 1.x with the flag; 0: not known */
	unsigned since : 8, until : 8;
	bool repeat : 1;        /* a list gives one flag for each element */
	bool include_empty : 1; /* an empty string that is given still makes `--x=` */
	bool pointer : 1;       /* Go's *string: an empty string overrides an earlier value */
	bool filled : 1; /* an empty string does not count as missing, so it too must have the format */
	bool required : 1;
	bool wide : 1;   /* an integer has Go's type int64; if false, int32 */
	bool secret : 1; /* may hold a password: no message shows it, or anything below it */
};

struct schema {
	const char *name; /* "KubeletConfigSpec" */
	size_t size;
	const struct field *fields;
	size_t n;
};

#define FIELD_KIND_OF(m) \
	_Generic((m),                   \
		char *: FIELD_STRING,   \
		const char *: FIELD_STRING, \
		bool: FIELD_BOOL,       \
		int64_t: FIELD_INT,     \
		struct opt_bool: FIELD_OPT_BOOL, \
		struct opt_int: FIELD_OPT_INT,   \
		struct opt_dur: FIELD_OPT_DUR,   \
		struct strv: FIELD_STRV,         \
		struct strmap: FIELD_STRMAP,     \
		const struct tree *: FIELD_TREE)

/* A row for a scalar, list-of-strings, map or raw tree member. */
#define FIELD(S, m, ...)                                                      \
	{                                                                     \
		.kind = FIELD_KIND_OF(((S *)0)->m), .offset = offsetof(S, m), \
		.present_offset = FIELD_ALWAYS, __VA_ARGS__                   \
	}
/* A row for a member whose type has a table of its own. */
#define FIELD_AT(k, at, present, sch, ...)                                                 \
	{                                                                                  \
		.kind = (k), .offset = (at), .present_offset = (present), .schema = (sch), \
		__VA_ARGS__                                                                \
	}
/* Rows for a nested struct, and for a list `struct { T *v; size_t n; } m`. */
#define FIELD_NESTED(S, m, sch, ...) \
	FIELD_AT(FIELD_OBJECT, offsetof(S, m), FIELD_ALWAYS, sch, __VA_ARGS__)
#define FIELD_NESTED_IF(S, m, has, sch, ...) \
	FIELD_AT(FIELD_OBJECT, offsetof(S, m), offsetof(S, has), sch, __VA_ARGS__)
#define FIELD_LIST_OF(S, m, sch, ...) \
	FIELD_AT(FIELD_LIST, offsetof(S, m), FIELD_ALWAYS, sch, __VA_ARGS__)
/* A row for a section of the document whose members are in its parent's struct. */
#define FIELD_INSIDE(sch, ...) FIELD_AT(FIELD_OBJECT, 0, FIELD_ALWAYS, sch, __VA_ARGS__)
#define SCHEMA(type, label, table)                                                              \
	{                                                                                       \
		.name = (label), .size = sizeof(type), .fields = (table), .n = ARRAY_LEN(table) \
	}

/* An unknown key: its place, and the most similar known key, or NULL. */
struct field_unknown {
	const struct tree_pos *pos;
	const char *path; /* "spec.kubelet.foo" */
	const struct tree *value;
	const char *nearest;
	size_t distance; /* edits between key and `nearest`; SIZE_MAX: no key is similar, SIZE_MAX - 1: not compared */
};

/* Called for each unknown key. */
typedef void field_unknown_fn(void *arg, const struct field_unknown *u);

/* Returns "f:2:1: unknown key 'maxPodz'; did you mean 'maxPods'?" */
char *field_unknown_text(struct arena *a, const char *what, const struct field_unknown *u);

/* A list of unknown keys, for messages. */
struct field_unknowns {
	struct arena *arena;
	struct field_stray {
		const char *text; /* "file:line:column: unknown key 'x'" */
		size_t distance;  /* number of edits from a known key, as in struct field_unknown */
	} * v;
	size_t n;
	bool slips_apart; /* top-level keys that are one edit from a known key are added to slips only */
	struct strv slips; /* texts of the keys that are slips */
};

/* Adds an unknown key to the list at arg. Is a field_unknown_fn. */
void field_note_unknown(void *arg, const struct field_unknown *key);
/* Adds an unknown key with its own text. */
void field_add_unknown(struct field_unknowns *u, const char *text, size_t distance);
/* Adds the keys of a finished list of the same arena to this list, without the finished list's slips. */
void field_add_unknowns(struct field_unknowns *u, const struct field_unknowns *more);
/* Returns the texts; keys that are most like a known key come first. */
struct strv field_unknown_texts(struct arena *a, const struct field_unknowns *u);

struct field_opts {
	field_unknown_fn *unknown; /* NULL: ignores them */
	/* Called for each row with a demand. If `look` is set, reading does nothing else: see field_value.h. */
	void (*look)(void *arg, const struct field_seen *row);
	void *arg;
	const char *path; /* prefix for messages, "" at the top */
	bool secret;      /* the whole map is below a secret row */
	/* Keeps errors of values, and such values then count as missing. NULL: reading stops at the first error. */
	struct errs *errors;
	/* The caller refuses top-level keys one edit from a known key. So that known key does not count as missing. */
	bool refuses_slips;
};

/* Reads a map into obj, which is zeroed or has values to override. Writes only given keys; null counts as missing. */
int field_parse(struct arena *a, const struct schema *s, const struct tree *map, void *obj,
		const struct field_opts *opts, struct err *e) must_check;
/* Appends `--flag=value` strings by kops' rules (see the .c file), then sorts all of out. */
void field_flags(struct arena *a, const struct schema *s, const void *obj, struct strv *out);
typedef void field_file_fn(void *arg, const struct field *f, const char *path);
/* Calls fn for each file that a flag names, in the order of the table; path is not empty. */
void field_files(const struct schema *s, const void *obj, field_file_fn *fn, void *arg);
/* Overrides obj by the values set in `over` (both of schema s). */
void field_overlay(struct arena *a, const struct schema *s, void *obj, const void *over);
/* Returns the default in the row of the string at that offset; NULL: the row has no default. */
const char *field_usual(const struct schema *s, size_t offset);
/* Gives each empty string of obj the default of its row. Does not change the members of nested structs. */
void field_fill(const struct schema *s, void *obj);
/* Returns a JSON Schema (draft 2020-12) of a map that this schema describes, for editors. It has exactly the keys of
 * the table, with what their rows say. */
struct tree *field_json_schema(struct arena *a, const struct schema *s);
/* Appends a commented document of this schema: the keys in `values`, each below its explanation, and all other keys
 * as comments. The text reads back as `values`. */
int field_example(struct arena *a, const struct schema *s, const struct tree *values, int depth,
		  struct buf *b, struct err *e) must_check;
/* Appends one line for each field for `nodeup help config`: key, type, flag, doc. Nested fields are indented. */
int field_docs(const struct schema *s, int depth, struct buf *b);
