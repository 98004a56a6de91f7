/* mem.h - three lifetimes: the run (arena), the scope (cleanup attributes), an engine (x_new/x_free)
 * Out of memory aborts: every input has a limit, so running out is a bug.
 * Owner: arena_* memory belongs to the arena; the rest to the caller. Errors: none. Units: bytes. Threads: an arena
 * has one user at a time.
 * Tests: test_str.c. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include "nodeup/base/err.h"

/* Zeroed memory; never NULL. */
void *xcalloc(size_t n, size_t size) must_check;
/* As realloc, never NULL. */
void *xrealloc(void *p, size_t n) must_check;
/* As strdup, never NULL. */
char *xstrdup(const char *s) must_check;
/* Like asprintf, but returns the string; never NULL. */
char *xasprintf(const char *fmt, ...) printf_like(1, 2) must_check;
/* Like xasprintf, with a va_list. */
char *xvasprintf(const char *fmt, va_list ap) printf_like(1, 0) must_check;

struct arena;

/* An empty arena. */
struct arena *arena_new_empty(void) must_check;
/* Releases all memory of the arena; NULL is fine. */
void arena_free(struct arena *a);
/* Returns zeroed memory that lives as long as the arena. */
void *arena_alloc(struct arena *a, size_t size) must_check;
/* Return a copy of s (NULL for NULL), of its first n bytes, or a formatted string. */
char *arena_str(struct arena *a, const char *s);
char *arena_strn(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) printf_like(2, 3);
/* Makes room for one more element in an array of n elements. The capacity doubles at powers of two. */
void *arena_grow(struct arena *a, void *array, size_t n, size_t size) must_check;

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
/* Appends value to (array, n), both in the arena. */
#define arena_push(a, array, n, ...)                                       \
	do {                                                               \
		(array) = arena_grow((a), (array), (n), sizeof(*(array))); \
		(array)[(n)++] = (__VA_ARGS__);                            \
	} while (0)

/* Cleanup functions for the attributes below. A closed descriptor becomes -1. */
void cleanup_freep(void *p);
void cleanup_closep(int *fd);
void cleanup_filep(FILE **f);
void cleanup_arenap(struct arena **a);

/* `unused`: a variable may exist only for its cleanup. */
#define autofree __attribute__((cleanup(cleanup_freep), unused))
#define autoclose __attribute__((cleanup(cleanup_closep), unused))
#define autofile __attribute__((cleanup(cleanup_filep), unused))
#define autoarena __attribute__((cleanup(cleanup_arenap), unused))

/* Takes a pointer or fd out of a scope that would release it. */
#define TAKE(p)                               \
	({                                    \
		__typeof__(p) *taken_ = &(p); \
		__typeof__(p) v_ = *taken_;   \
		*taken_ = NULL;               \
		v_;                           \
	})
#define TAKE_FD(fd)                  \
	({                           \
		int *taken_ = &(fd); \
		int v_ = *taken_;    \
		*taken_ = -1;        \
		v_;                  \
	})

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
