/* str.h - string lists, string maps and the few text helpers that all rooms need
 * Lists and maps live in an arena and are values: copying the struct shares the elements.
 * Owner: the arena. Errors: none. Threads: none of its own.
 * Tests: test_str.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

enum { STR_AMOUNT_MAX = 64, STR_SIZE_MAX = 32 };

struct strv {
	const char **v;
	size_t n;
};

struct strmap_item {
	const char *key, *value;
};

/* Keys are unique; order is insertion order until strmap_sort. */
struct strmap {
	struct strmap_item *v;
	size_t n;
};

/* Makes a map of an array of items. */
#define STRMAP_OF(items) (&(struct strmap){ (items), ARRAY_LEN(items) })

/* Appends a string that lives long enough. */
void strv_add(struct arena *a, struct strv *v, const char *s);
/* Appends a formatted string. The arena is named twice, so it must not be a call. */
#define strv_addf(a, v, ...) strv_add((a), (v), arena_printf((a), __VA_ARGS__))
/* Appends all strings of another list, which must live long enough. */
void strv_add_all(struct arena *a, struct strv *v, const struct strv *more);
/* Appends a string that lives long enough, unless the list has it. */
void strv_add_once(struct arena *a, struct strv *v, const char *s);
/* Append n strings, or a whole array of them, that live long enough. */
void strv_add_n(struct arena *a, struct strv *v, const char *const *s, size_t n);
#define strv_add_array(a, v, array) strv_add_n((a), (v), (array), ARRAY_LEN(array))
/* Returns whether s is an element. */
bool strv_has(const struct strv *v, const char *s);
/* Splits at a separator character, and copies; keeps empty pieces, but "" gives none. */
struct strv strv_split(struct arena *a, const char *s, char sep);
/* Joins with a separator string. */
char *strv_join(struct arena *a, const struct strv *v, const char *sep);
/* Returns the first `most` strings. If there are more, a last line tells how many. */
struct strv strv_abridge(struct arena *a, const struct strv *v, size_t most);
/* Sorts by bytes, like Go's sort.Strings. */
void strv_sort(struct strv *v);

/* Sets key to value; replaces an earlier value. */
void strmap_set(struct arena *a, struct strmap *m, const char *key, const char *value);
/* Returns the value, or NULL. */
const char *strmap_get(const struct strmap *m, const char *key);
/* Sorts by the keys' bytes. */
void strmap_sort(struct strmap *m);

/* Returns whether two strings, either of which may be NULL, are equal. */
bool str_eq(const char *a, const char *b);
/* Returns whether s begins or ends with the given text. */
bool str_has_prefix(const char *s, const char *prefix);
bool str_has_suffix(const char *s, const char *suffix);
/* Writes "5 of 9 bytes", or only the known part if the total is not known (< 0). Returns out. */
const char *str_amount(char out[static STR_AMOUNT_MAX], int64_t bytes, int64_t total);
/* Writes a size for people: "512 bytes", "1.5 GiB". Returns out. */
const char *str_size(char out[static STR_SIZE_MAX], uint64_t bytes);
/* Returns whether s is NULL or "". */
bool str_is_empty(const char *s);
/* Returns whether s has only ASCII letters and digits, and characters of `signs`. */
bool str_has_only(const char *s, const char *signs);
/* Returns whether s has no line break and no other ASCII control character. */
bool str_is_line(const char *s);
/* Returns whether s is an absolute path without empty, "." or ".." components. A '/' may stand at its end. */
bool str_is_path(const char *s);
/* Returns the part after the last '/', which is s itself if there is none. */
const char *str_basename(const char *path);
/* Returns whether a path is the directory `dir` (whose name may end with '/') or a path below it. */
bool str_is_within(const char *path, const char *dir);
/* Returns whether s is one of these words. The last word must be NULL. */
bool str_is_one_of(const char *s, const char *const *words);
/* Returns whether s, the rest after a number's digits, is empty or an exponent such as "e-5". */
bool str_is_exponent(const char *s);
/* Returns the value of a hexadecimal digit, or -1. */
int str_hex_value(char c);
/* Returns whether s is one word of visible ASCII. Only such a text of another program may go into a header. */
bool str_is_word(const char *s);
/* Returns a copy without leading and trailing white space. */
char *str_trim(struct arena *a, const char *s);
