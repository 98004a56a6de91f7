#include "nodeup/base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/print.h"

/* jansson gives no positions below the top value, so a node's place has only the file. */
struct reader {
	struct arena *arena;
	const char *file;
};

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

#define autojson __attribute__((cleanup(cleanup_json)))

static struct tree *number(struct arena *a, double v)
{
	char text[32];

	/* the shortest text that reads back as the same number */
	for (int digits = 15; digits <= 17; digits++) {
		(void)print_to(text, sizeof(text), "%.*g", digits, v);
		if (fabs(strtod(text, NULL) - v) <= 0.0)
			break;
	}
	return tree_plain(a, text);
}

static struct tree *convert(const struct reader *r, json_t *j);

static struct tree *convert_items(const struct reader *r, json_t *j)
{
	struct tree *t = json_is_array(j) ? tree_seq(r->arena) : tree_map(r->arena);
	void *it;

	for (size_t i = 0; i < json_array_size(j); i++)
		(void)tree_add(r->arena, t, convert(r, json_array_get(j, i)));
	for (it = json_object_iter(j); it; it = json_object_iter_next(j, it)) {
		struct tree_item item = {
			.key = arena_str(r->arena, json_object_iter_key(it)),
			.key_pos.file = r->file,
			.value = convert(r, json_object_iter_value(it)),
		};

		arena_push(r->arena, t->items, t->n, item);
	}
	return t;
}

static struct tree *convert(const struct reader *r, json_t *j)
{
	struct tree *t;

	switch (json_typeof(j)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		t = convert_items(r, j);
		break;
	case JSON_STRING:
		t = tree_string(r->arena, json_string_value(j));
		break;
	case JSON_INTEGER:
		t = tree_plain(r->arena, arena_printf(r->arena, "%" JSON_INTEGER_FORMAT,
						      json_integer_value(j)));
		break;
	case JSON_REAL:
		t = number(r->arena, json_real_value(j));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		t = tree_plain(r->arena, json_is_true(j) ? "true" : "false");
		break;
	default:
		t = tree_null(r->arena);
	}
	t->pos.file = r->file;
	return t;
}

static size_t before(const char *text, const char *part)
{
	const char *found = strstr(text, part);

	return found ? (size_t)(found - text) : strlen(text);
}

int json_parse(struct arena *a, const char *file, const char *text, size_t n,
	       struct tree **ret_tree, struct err *e)
{
	struct reader r = { .arena = a, .file = arena_str(a, file) };
	json_error_t problem;
	autojson json_t *j =
		json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);

	/* text near the fault may be a secret */
	if (!j)
		return err_config(e, "%s:%d:%d: %.*s", file, problem.line > 0 ? problem.line : 1,
				  problem.column > 0 ? problem.column : 1,
				  (int)before(problem.text, " near '"), problem.text);
	*ret_tree = convert(&r, j);
	return 0;
}

/* Returns an upper bound for the number of values: each value but the first follows one of these characters. */
static size_t count_values(const char *text, size_t n)
{
	bool inside = false;
	size_t values = 1;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			inside = !inside;
		else if (inside)
			i += text[i] == '\\';
		else
			values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	}
	return values;
}

int json_parse_few(struct arena *a, const char *file, const char *text, size_t n,
		   struct tree **ret_tree, struct err *e)
{
	if (count_values(text, n) > JSON_VALUES_MAX)
		return err_config(e, "%s:1:1: more than %d values", file, JSON_VALUES_MAX);
	return json_parse(a, file, text, n, ret_tree, e);
}

/* Returns whether JSON allows the scalar without quotes: a number of RFC 8259, true or false. */
static bool is_json_plain(const char *s)
{
	if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
		return true;
	if (*s == '-')
		s++;
	if (*s == '0')
		s++;
	else if (*s >= '1' && *s <= '9')
		s += strspn(s, "0123456789");
	else
		return false;
	if (*s == '.') {
		size_t fraction = strspn(++s, "0123456789");

		if (!fraction)
			return false;
		s += fraction;
	}
	return str_is_exponent(s);
}

/* Lets the library escape every character that a terminal might obey; false for text that is not UTF-8. */
static bool add_string(struct buf *b, const char *text)
{
	autojson json_t *j = json_string(text);
	autofree char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

	if (!quoted)
		return false;
	(void)buf_adds(b, quoted);
	return true;
}

static void add_break(struct buf *b, int depth)
{
	if (depth < 0)
		return;
	(void)buf_addc(b, '\n');
	for (int i = 0; i < depth; i++)
		(void)buf_adds(b, "  ");
}

/* depth is -1 for text on one line */
static bool add_tree(struct buf *b, const struct tree *t, int depth)
{
	const int inner = depth < 0 ? depth : depth + 1;

	if (t->kind == TREE_NULL)
		return buf_adds(b, "null") == 0;
	if (t->kind == TREE_SCALAR) {
		if (t->quoted || !is_json_plain(t->scalar))
			return add_string(b, t->scalar);
		return buf_adds(b, t->scalar) == 0;
	}
	(void)buf_addc(b, t->kind == TREE_MAP ? '{' : '[');
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			(void)buf_addc(b, ',');
		add_break(b, inner);
		if (t->kind == TREE_MAP) {
			if (!add_string(b, t->items[i].key))
				return false;
			(void)buf_adds(b, depth < 0 ? ":" : ": ");
		}
		if (!add_tree(b, t->items[i].value, inner))
			return false;
	}
	if (t->n)
		add_break(b, depth);
	return buf_addc(b, t->kind == TREE_MAP ? '}' : ']') == 0;
}

int json_render(const struct tree *t, bool pretty, struct buf *b, struct err *e)
{
	if (add_tree(b, t, pretty ? 0 : -1))
		return 0;
	if (b->overflow)
		return buf_check(b, "JSON text", e);
	return err_config(e, "JSON text: a string is not UTF-8");
}
