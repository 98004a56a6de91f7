#include "nodeup/base/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char absent[] = "(none)";

/* One directive of a format, like "%-*.3lld", with its numbers read. */
struct directive {
	char flags[8], conversion;
	const char *length;   /* where the directive's length modifier stands in the format */
	int width, precision; /* < 0 or 0: none */
};

/* The text so far; n counts also bytes that did not fit. */
struct sink {
	char *out;
	size_t size, n;
};

/* a struct, as va_list may be an array, which no parameter can be */
struct args {
	va_list ap;
};

static void put(struct sink *s, const char *text, size_t n)
{
	const size_t room = s->n < s->size ? s->size - s->n : 0;

	if (room)
		memcpy(s->out + s->n, text, n < room ? n : room);
	s->n += n;
}

static void put_text(struct sink *s, const char *text)
{
	put(s, text ? text : absent, strlen(text ? text : absent));
}

/* Writes one argument as the library formats it. */
static void put_one(struct sink *s, const char *spec, ...)
{
	const size_t at = s->n < s->size ? s->n : s->size;
	va_list ap;
	int n;

	va_start(ap, spec);
	n = vsnprintf(s->size ? s->out + at : NULL, s->size - at, spec, ap);
	va_end(ap);
	s->n += n > 0 ? (size_t)n : 0;
}

static int read_number(const char **fmt, struct args *args)
{
	char *end;
	long number;

	if (**fmt == '*') {
		(*fmt)++;
		return va_arg(args->ap, int);
	}
	number = strtol(*fmt, &end, 10);
	*fmt = end;
	return (int)number;
}

static struct directive read_directive(const char **fmt, struct args *args)
{
	struct directive d = { .precision = -1 };
	const char *p = *fmt + 1;
	const size_t flags = strspn(p, "-+ #0");

	memcpy(d.flags, p, flags < sizeof(d.flags) ? flags : sizeof(d.flags) - 1);
	p += flags;
	d.width = *p == '*' || (*p >= '1' && *p <= '9') ? read_number(&p, args) : 0;
	if (*p == '.') {
		p++;
		d.precision = read_number(&p, args);
	}
	d.length = p;
	p += strspn(p, "hljzt");
	d.conversion = *p;
	*fmt = *p ? p + 1 : p;
	return d;
}

static intmax_t take_signed(const char *length, struct args *args)
{
	if (*length == 'z' || *length == 't')
		return va_arg(args->ap, ssize_t);
	if (*length == 'j')
		return va_arg(args->ap, intmax_t);
	if (length[0] == 'l')
		return length[1] == 'l' ? va_arg(args->ap, long long) : va_arg(args->ap, long);
	return va_arg(args->ap, int);
}

static uintmax_t take_unsigned(const char *length, struct args *args)
{
	if (*length == 'z' || *length == 't')
		return va_arg(args->ap, size_t);
	if (*length == 'j')
		return va_arg(args->ap, uintmax_t);
	if (length[0] == 'l')
		return length[1] == 'l' ? va_arg(args->ap, unsigned long long)
					: va_arg(args->ap, unsigned long);
	return va_arg(args->ap, unsigned int);
}

/* Writes the directive at the '%' of a format, and moves *fmt past the directive. */
static void put_directive(struct sink *s, const char **fmt, struct args *args)
{
	const struct directive d = read_directive(fmt, args);
	const bool is_signed = d.conversion == 'd' || d.conversion == 'i';
	const bool is_number = is_signed || strchr("uoxX", d.conversion);
	char spec[sizeof(d.flags) + 8];
	const char *text;

	(void)snprintf(spec, sizeof(spec), "%%%s*.*%s%c", d.flags, is_number ? "j" : "",
		       d.conversion);
	if (is_signed) {
		put_one(s, spec, d.width, d.precision, take_signed(d.length, args));
	} else if (is_number) {
		put_one(s, spec, d.width, d.precision, take_unsigned(d.length, args));
	} else if (d.conversion == 's') {
		text = va_arg(args->ap, const char *);
		put_one(s, spec, d.width, d.precision, text ? text : absent);
	} else if (d.conversion == 'c') {
		put_one(s, spec, d.width, d.precision, va_arg(args->ap, int));
	} else if (d.conversion == 'p') {
		put_one(s, spec, d.width, d.precision, va_arg(args->ap, void *));
	} else if (strchr("aAeEfFgG", d.conversion)) {
		put_one(s, spec, d.width, d.precision, va_arg(args->ap, double));
	} else if (d.conversion == '%') {
		put(s, "%", 1);
	} else {
		abort(); /* formats in this program have no other directive */
	}
}

/* Writes "%2$s", in a format that holds only texts, and returns its length; 0: the format has no such directive
 * here. */
static size_t put_numbered(struct sink *s, const char *fmt, va_list ap)
{
	const size_t digits = strspn(fmt + 1, "0123456789");
	const char *text = absent;
	va_list all;

	if (!digits || fmt[digits + 1] != '$' || fmt[digits + 2] != 's')
		return 0;
	va_copy(all, ap);
	for (long i = strtol(fmt + 1, NULL, 10); i > 0; i--)
		text = va_arg(all, const char *);
	va_end(all);
	put_text(s, text);
	return digits + 3;
}

size_t print_va(char *out, size_t size, const char *fmt, va_list ap)
{
	struct sink s = { out, size, 0 };
	struct args args;

	va_copy(args.ap, ap);
	for (;;) {
		size_t n = strcspn(fmt, "%");

		put(&s, fmt, n);
		fmt += n;
		if (!*fmt)
			break;
		n = put_numbered(&s, fmt, ap);
		fmt += n;
		if (n)
			continue;
		if (fmt[1] == 's') {
			put_text(&s, va_arg(args.ap, const char *));
			fmt += 2;
		} else {
			put_directive(&s, &fmt, &args);
		}
	}
	va_end(args.ap);
	if (size)
		out[s.n < size ? s.n : size - 1] = '\0';
	return s.n;
}

size_t print_to(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = print_va(out, size, fmt, ap);
	va_end(ap);
	return n;
}

void print_words(char *out, size_t size, const char *fmt, va_list ap)
{
	static const char more[] = "...";
	char *blank;

	if (print_va(out, size, fmt, ap) < size)
		return;
	blank = memrchr(out, ' ', size - sizeof(more));
	(void)print_to(blank ? blank + 1 : out, sizeof(more), more);
}
