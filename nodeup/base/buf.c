#include "nodeup/base/buf.h"

#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->overflow = false;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	if (b->overflow || n > b->max - b->len) {
		b->overflow = true;
		return -EFBIG;
	}
	if (b->len + n + 1 > b->cap) {
		size_t cap = b->cap ? b->cap : 256;

		while (cap < b->len + n + 1)
			cap *= 2;
		b->data = xrealloc(b->data, cap);
		b->cap = cap;
	}
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	autofree char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return buf_adds(b, s);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	b->data = NULL;
	buf_done(b);
	return s;
}

int buf_check(const struct buf *b, const char *what, struct err *e)
{
	if (!b->overflow)
		return 0;
	return err_fail(e, ERR_CONFIG, EFBIG, "%s: larger than %zu bytes", what, b->max);
}
