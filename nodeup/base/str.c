#include "nodeup/base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/print.h"

void strv_add(struct arena *a, struct strv *v, const char *s)
{
	arena_push(a, v->v, v->n, s);
}

void strv_add_n(struct arena *a, struct strv *v, const char *const *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_add(a, v, s[i]);
}

void strv_add_all(struct arena *a, struct strv *v, const struct strv *more)
{
	strv_add_n(a, v, more->v, more->n);
}

bool strv_has(const struct strv *v, const char *s)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->v[i], s) == 0)
			return true;
	return false;
}

void strv_add_once(struct arena *a, struct strv *v, const char *s)
{
	if (!strv_has(v, s))
		strv_add(a, v, s);
}

struct strv strv_split(struct arena *a, const char *s, char sep)
{
	struct strv out = { 0 };

	if (*s == '\0')
		return out;
	for (;;) {
		const char *end = strchr(s, sep);

		if (!end) {
			strv_add(a, &out, arena_str(a, s));
			return out;
		}
		strv_add(a, &out, arena_strn(a, s, (size_t)(end - s)));
		s = end + 1;
	}
}

char *strv_join(struct arena *a, const struct strv *v, const char *sep)
{
	size_t len = 0, seplen = strlen(sep);
	char *out, *p;

	for (size_t i = 0; i < v->n; i++)
		len += strlen(v->v[i]) + seplen;
	p = out = arena_alloc(a, len + 1);
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			p = mempcpy(p, sep, seplen);
		p = mempcpy(p, v->v[i], strlen(v->v[i]));
	}
	return out;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct strv strv_abridge(struct arena *a, const struct strv *v, size_t most)
{
	struct strv some = { 0 };

	for (size_t i = 0; i < v->n && i < most; i++)
		strv_add(a, &some, v->v[i]);
	if (v->n > most)
		strv_addf(a, &some, "and %zu more", v->n - most);
	return some;
}

void strv_sort(struct strv *v)
{
	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), compare_strings);
}

void strmap_set(struct arena *a, struct strmap *m, const char *key, const char *value)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].key, key) == 0) {
			m->v[i].value = value;
			return;
		}
	arena_push(a, m->v, m->n, (struct strmap_item){ key, value });
}

const char *strmap_get(const struct strmap *m, const char *key)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].key, key) == 0)
			return m->v[i].value;
	return NULL;
}

void strmap_sort(struct strmap *m)
{
	/* an item begins with its key */
	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), compare_strings);
}

bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && strcmp(s + n - k, suffix) == 0;
}

bool str_is_empty(const char *s)
{
	return !s || *s == '\0';
}

bool str_has_only(const char *s, const char *signs)
{
	static const char usual[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	while (*s && (strchr(usual, *s) || strchr(signs, *s)))
		s++;
	return *s == '\0';
}

bool str_is_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

bool str_is_path(const char *s)
{
	if (*s != '/')
		return false;
	while (s[0] && s[1]) {
		const size_t n = strcspn(++s, "/");

		if (n == 0 || (n <= 2 && strspn(s, ".") >= n))
			return false;
		s += n;
	}
	return true;
}

const char *str_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool str_is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n > 0 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool str_is_one_of(const char *s, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(s, *words) == 0)
			return true;
	return false;
}

bool str_is_exponent(const char *s)
{
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '-' || *s == '+')
			s++;
		if (!*s)
			return false;
		s += strspn(s, "0123456789");
	}
	return *s == '\0';
}

int str_hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return p ? (int)(p - digits) : -1;
}

bool str_is_word(const char *s)
{
	for (const char *p = s; p && *p; p++)
		if (!isgraph((unsigned char)*p))
			return false;
	return !str_is_empty(s);
}

char *str_trim(struct arena *a, const char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return arena_strn(a, s, n);
}

const char *str_amount(char out[static STR_AMOUNT_MAX], int64_t bytes, int64_t total)
{
	if (total < 0)
		(void)print_to(out, STR_AMOUNT_MAX, "%lld bytes so far, length unknown",
			       (long long)bytes);
	else
		(void)print_to(out, STR_AMOUNT_MAX, "%lld of %lld bytes", (long long)bytes,
			       (long long)total);
	return out;
}

const char *str_size(char out[static STR_SIZE_MAX], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;
	uint64_t tenths = bytes * 10;

	while (tenths >= 10240 && unit + 1 < ARRAY_LEN(units)) {
		tenths = (tenths + 512) / 1024;
		unit++;
	}
	if (tenths % 10 == 0)
		(void)print_to(out, STR_SIZE_MAX, "%" PRIu64 " %s", tenths / 10, units[unit]);
	else
		(void)print_to(out, STR_SIZE_MAX, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
			       tenths % 10, units[unit]);
	return out;
}
