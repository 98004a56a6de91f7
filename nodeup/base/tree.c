#include "nodeup/base/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct tree *node(struct arena *a, enum tree_kind kind)
{
	struct tree *t = arena_new(a, struct tree);

	t->kind = kind;
	return t;
}

struct tree *tree_null(struct arena *a)
{
	return node(a, TREE_NULL);
}

struct tree *tree_plain(struct arena *a, const char *s)
{
	struct tree *t = node(a, TREE_SCALAR);

	t->scalar = arena_str(a, s);
	return t;
}

struct tree *tree_string(struct arena *a, const char *s)
{
	struct tree *t = tree_plain(a, s);

	t->quoted = true;
	return t;
}

struct tree *tree_seq(struct arena *a)
{
	return node(a, TREE_SEQ);
}

struct tree *tree_map(struct arena *a)
{
	return node(a, TREE_MAP);
}

struct tree *tree_add(struct arena *a, struct tree *seq, struct tree *value)
{
	arena_push(a, seq->items, seq->n, (struct tree_item){ .value = value });
	return seq;
}

struct tree *tree_set(struct arena *a, struct tree *map, const char *key, struct tree *value)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i].key, key) == 0) {
			map->items[i].value = value;
			return map;
		}
	arena_push(a, map->items, map->n,
		   (struct tree_item){ .key = arena_str(a, key), .value = value });
	return map;
}

static int compare_keys(const void *x, const void *y)
{
	const struct tree_item *a = x, *b = y;

	return strcmp(a->key, b->key);
}

void tree_sort(struct tree *t)
{
	if (t->kind == TREE_MAP && t->n)
		qsort(t->items, t->n, sizeof(*t->items), compare_keys);
	for (size_t i = 0; i < t->n; i++)
		tree_sort(t->items[i].value);
}

struct tree *tree_get(const struct tree *map, const char *key)
{
	if (!map || map->kind != TREE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i].key, key) == 0)
			return map->items[i].value;
	return NULL;
}

const struct tree *tree_lookup(const struct tree *map, const char *key)
{
	const struct tree *exact = tree_get(map, key);

	for (size_t i = 0; !exact && map && map->kind == TREE_MAP && i < map->n; i++)
		if (strcasecmp(map->items[i].key, key) == 0)
			return map->items[i].value;
	return exact;
}

const char *tree_text(const struct tree *map, const char *key)
{
	const struct tree *t = tree_get(map, key);

	return t && t->kind == TREE_SCALAR ? t->scalar : NULL;
}

const char *tree_says(const struct tree *map, const char *key)
{
	const char *text = tree_text(map, key);

	return text ? text : "";
}

void tree_set_text(struct arena *a, struct tree *map, const char *key, const char *text)
{
	if (text)
		(void)tree_set(a, map, key, tree_string(a, text));
}

void tree_set_word(struct arena *a, struct tree *map, const char *key, const char *text)
{
	if (!str_is_empty(text))
		tree_set_text(a, map, key, text);
}

void tree_set_int(struct arena *a, struct tree *map, const char *key, int64_t n)
{
	(void)tree_set(a, map, key, tree_plain(a, arena_printf(a, "%" PRId64, n)));
}

void tree_set_true(struct arena *a, struct tree *map, const char *key, bool value)
{
	if (value)
		(void)tree_set(a, map, key, tree_plain(a, "true"));
}

void tree_set_some(struct arena *a, struct tree *map, const char *key, struct tree *container)
{
	if (container->n)
		(void)tree_set(a, map, key, container);
}

struct tree *tree_of_strv(struct arena *a, const struct strv *v)
{
	struct tree *t = tree_seq(a);

	for (size_t i = 0; i < v->n; i++)
		(void)tree_add(a, t, tree_string(a, v->v[i]));
	return t;
}

struct tree *tree_of_strmap(struct arena *a, const struct strmap *m)
{
	struct tree *t = tree_map(a);

	for (size_t i = 0; i < m->n; i++)
		tree_set_text(a, t, m->v[i].key, m->v[i].value);
	return t;
}

/* YAML 1.1 knows each word in lower case, capitalised and in upper case. Other mixtures of case are texts. */
static const char *const true_words[] = { "y",    "Y",    "yes", "Yes", "YES", "true",
					  "True", "TRUE", "on",  "On",  "ON",  NULL };
static const char *const false_words[] = { "n",     "N",     "no",  "No",  "NO",  "false",
					   "False", "FALSE", "off", "Off", "OFF", NULL };
static const char *const null_words[] = { "", "~", "null", "Null", "NULL", NULL };
static const char *const float_words[] = { ".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
					   ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf",
					   "-.Inf", "-.INF", NULL };

/* Digits of a number in base 2, 8, 10 or 16, with YAML's underscores between them. */
static bool is_int(const char *s)
{
	const char *digits = "0123456789_";

	if (*s == '-' || *s == '+')
		s++;
	if (strncasecmp(s, "0x", 2) == 0) {
		s += 2;
		digits = "0123456789abcdefABCDEF_";
	} else if (strncmp(s, "0b", 2) == 0) {
		s += 2;
		digits = "01_";
	} else if (*s == '0') {
		digits = "01234567_";
	}
	return *s && *s != '_' && s[strspn(s, digits)] == '\0';
}

static bool is_float(const char *s)
{
	size_t whole, fraction = 0;

	if (*s == '-' || *s == '+')
		s++;
	whole = strspn(s, "0123456789_");
	if (*s == '_')
		return false;
	s += whole;
	if (*s == '.') {
		fraction = strspn(++s, "0123456789_");
		s += fraction;
	}
	if (whole + fraction == 0)
		return false;
	return str_is_exponent(s);
}

enum tree_type tree_type_of(const char *plain)
{
	if (str_is_one_of(plain, null_words))
		return TREE_IS_NULL;
	if (str_is_one_of(plain, true_words) || str_is_one_of(plain, false_words))
		return TREE_IS_BOOL;
	if (is_int(plain))
		return TREE_IS_INT;
	if (str_is_one_of(plain, float_words) || is_float(plain))
		return TREE_IS_FLOAT;
	return TREE_IS_STRING;
}

bool tree_is_true(const char *plain)
{
	return str_is_one_of(plain, true_words);
}

bool tree_is_hollow(const struct tree *t)
{
	const struct tree *spec = tree_lookup(t, "spec");

	if (t->kind == TREE_SCALAR)
		return *t->scalar == '\0';
	if (spec)
		return tree_is_hollow(spec);
	return t->n == 0 || tree_lookup(t, "metadata");
}

static bool scalar_eq(const struct tree *a, const struct tree *b)
{
	if (strcmp(a->scalar, b->scalar) != 0)
		return false;
	/* 'x' and x are the same text; '1' and 1 are not the same value */
	return a->quoted == b->quoted || tree_type_of(a->scalar) == TREE_IS_STRING;
}

bool tree_eq(const struct tree *a, const struct tree *b)
{
	if (a->kind != b->kind || a->n != b->n)
		return false;
	if (a->kind == TREE_SCALAR)
		return scalar_eq(a, b);
	for (size_t i = 0; i < a->n; i++) {
		const struct tree *other = a->kind == TREE_MAP ? tree_get(b, a->items[i].key)
							       : b->items[i].value;

		if (!other || !tree_eq(a->items[i].value, other))
			return false;
	}
	return true;
}

const char *tree_where(struct arena *a, const struct tree_pos *pos)
{
	if (!pos->file)
		return "";
	if (!pos->line)
		return pos->file;
	return arena_printf(a, "%s:%u:%u", pos->file, pos->line, pos->column);
}

const char *tree_place(struct arena *a, const struct tree *map, const char *key)
{
	const struct tree *value = tree_lookup(map, key);
	const char *where = tree_where(a, value ? &value->pos : &map->pos);

	return *where ? arena_printf(a, "%s: ", where) : "";
}
