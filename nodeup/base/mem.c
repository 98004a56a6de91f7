#include "nodeup/base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/print.h"

/* ARENA_FIRST: size of the first chunk, since many arenas hold only a name. Each further chunk is twice as large, up
 * to ARENA_CHUNK. */
enum { ARENA_FIRST = 512, ARENA_CHUNK = 16 * 1024 };

/* Most printed texts are shorter. */
enum { PRINTED_USUAL = 256 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	max_align_t data[];
};

struct arena {
	struct chunk *head;
};

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		abort();
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		abort();
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char text[PRINTED_USUAL], *s;
	const size_t n = print_va(text, sizeof(text), fmt, ap);

	if (n < sizeof(text))
		return xstrdup(text);
	s = xrealloc(NULL, n + 1);
	(void)print_va(s, n + 1, fmt, ap);
	return s;
}

struct arena *arena_new_empty(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->head; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static size_t next_room(const struct chunk *last)
{
	if (!last)
		return ARENA_FIRST;
	return last->size < ARENA_CHUNK / 2 ? 2 * last->size : ARENA_CHUNK;
}

/* `align` must be a power of two. */
static void *alloc_aligned(struct arena *a, size_t size, size_t align)
{
	struct chunk *c = a->head;
	void *p;

	if (size > SIZE_MAX / 2)
		abort();
	if (c)
		c->used = (c->used + align - 1) & ~(align - 1);
	if (!c || c->used > c->size || c->size - c->used < size) {
		size_t room = next_room(c);

		if (room < size)
			room = size;
		c = xcalloc(1, sizeof(*c) + room);
		c->size = room;
		c->next = a->head;
		a->head = c;
	}
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return alloc_aligned(a, size, alignof(max_align_t));
}

/* Most allocations are texts, so they are packed without alignment. */
char *arena_strn(struct arena *a, const char *s, size_t n)
{
	char *p = alloc_aligned(a, n + 1, 1);

	memcpy(p, s, n);
	return p;
}

char *arena_str(struct arena *a, const char *s)
{
	return s ? arena_strn(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	autofree char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return arena_str(a, s);
}

void *arena_grow(struct arena *a, void *array, size_t n, size_t size)
{
	void *bigger;

	/* the array is full only if n is 0 or a power of two of at least four */
	if (n != 0 && (n < 4 || (n & (n - 1)) != 0))
		return array;
	bigger = arena_alloc(a, (n ? 2 * n : 4) * size);
	if (n)
		memcpy(bigger, array, n * size);
	return bigger;
}

void cleanup_freep(void *p)
{
	free(*(void **)p);
}

void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void cleanup_filep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

void cleanup_arenap(struct arena **a)
{
	arena_free(*a);
}
