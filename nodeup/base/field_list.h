/* field_list.h - one list of keys that makes a struct and its table
 * A list is a macro of X(type, member, key, ...). X##_NESTED, _IF and _LIST make rows for structs that have a table
 * of their own; its name stands before the key. X##_INSIDE and _INSIDE_IF make rows for sections whose members lie
 * in the surrounding struct.
 * Owner: constants. Errors: none. Threads: all. */
#pragma once

#include "nodeup/base/field.h"

/* Members of the struct. */
#define FIELD_MEMBER(type, m, ...) type m;
#define FIELD_MEMBER_NESTED(type, m, ...) type m;
#define FIELD_MEMBER_IF(type, m, has, ...) \
	type m;                            \
	bool has;
#define FIELD_MEMBER_LIST(type, m, ...) \
	struct {                        \
		type *v;                \
		size_t n;               \
	} m;
#define FIELD_MEMBER_INSIDE(...)
#define FIELD_MEMBER_INSIDE_IF(has, ...) bool has;
/* Names a struct by the line number. Each line that makes a table declares such a struct around the table's struct,
 * and the rows of the line use it. */
#define FIELD_CONCAT(a, b) a##b
#define FIELD_NAME(a, b) FIELD_CONCAT(a, b)
#define FIELD_SPEC struct FIELD_NAME(field_spec_of_line_, __LINE__)
/* Rows of the struct's table. */
#define FIELD_ROW(type, m, k, ...) FIELD(FIELD_SPEC, spec.m, .key = (k), __VA_ARGS__),
#define FIELD_ROW_NESTED(type, m, sch, k, ...) \
	FIELD_NESTED(FIELD_SPEC, spec.m, sch, .key = (k), __VA_ARGS__),
#define FIELD_ROW_IF(type, m, has, sch, k, ...) \
	FIELD_NESTED_IF(FIELD_SPEC, spec.m, spec.has, sch, .key = (k), __VA_ARGS__),
#define FIELD_ROW_LIST(type, m, sch, k, ...) \
	FIELD_LIST_OF(FIELD_SPEC, spec.m, sch, .key = (k), __VA_ARGS__),
#define FIELD_ROW_INSIDE(sch, k, ...) FIELD_INSIDE(sch, .key = (k), __VA_ARGS__),
#define FIELD_ROW_INSIDE_IF(has, sch, k, ...) \
	FIELD_AT(FIELD_OBJECT, 0, offsetof(FIELD_SPEC, spec.has), sch, .key = (k), __VA_ARGS__),
/* The schema of a struct whose table has no name of its own. Must stand on one line. */
#define SCHEMA_OF_LIST(type, label, list)                                   \
	{                                                                   \
		.name = (label), .size = sizeof(FIELD_SPEC { type spec; }), \
		.fields = (const struct field[]){ list(FIELD_ROW) },        \
		.n = ARRAY_LEN(((const struct field[]){ list(FIELD_ROW) })) \
	}
