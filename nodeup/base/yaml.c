#include "nodeup/base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 64, NODES_MAX = 20000, ANCHORS_MAX = 1000 };

static const char tag_prefix[] = "tag:yaml.org,2002:";

/* A complete anchored node, and the size that each alias adds. */
struct anchor {
	const char *name;
	struct tree *node;
	size_t nodes;
	unsigned int height;
};

struct reader {
	struct arena *arena;
	const char *file, *text;
	size_t len;
	struct err *err;
	yaml_parser_t parser;
	struct anchor *anchors;
	size_t n_anchors;
	struct strv open; /* anchors whose node is still being read */
	size_t nodes;     /* nodes so far, with aliases expanded */
};

#define autoevent __attribute__((cleanup(yaml_event_delete)))

static int refuse(struct reader *r, const yaml_mark_t *mark, const char *what)
{
	return err_config(r->err, "%s:%zu:%zu: %s", r->file, mark->line + 1, mark->column + 1,
			  what);
}

/* Returns the place where libyaml stopped. For text that is not UTF-8, takes the byte offset; otherwise libyaml's
 * mark. */
static yaml_mark_t stop_of(const struct reader *r)
{
	size_t end = r->parser.problem_offset < r->len ? r->parser.problem_offset : r->len;
	yaml_mark_t at = { 0 };

	if (r->parser.error != YAML_READER_ERROR)
		return r->parser.problem_mark;
	for (size_t i = 0; i < end; i++) {
		if (r->text[i] == '\n') {
			at.line++;
			at.column = 0;
		} else if (((unsigned char)r->text[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

static int refuse_bytes(struct reader *r)
{
	const yaml_mark_t at = stop_of(r);

	return err_config(r->err, "%s:%zu:%zu: %s (byte 0x%02x)", r->file, at.line + 1,
			  at.column + 1, r->parser.problem, (unsigned int)r->parser.problem_value);
}

static bool is_tab_at(const struct reader *r, const yaml_mark_t *mark)
{
	const char *p = r->text, *end = r->text + r->len;

	for (size_t line = 0; line < mark->line; line++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	/* columns count characters, but indentation is ASCII: after other text the hint would be wrong */
	return (size_t)(end - p) > mark->column && p[mark->column] == '\t';
}

static int refuse_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *hint = "";

	if (p->error == YAML_MEMORY_ERROR)
		abort();
	if (p->error == YAML_READER_ERROR)
		return refuse_bytes(r);
	if (is_tab_at(r, &p->problem_mark))
		hint = "; a tab: YAML is indented with spaces";
	if (!p->context)
		return err_config(r->err, "%s:%zu:%zu: %s%s", r->file, p->problem_mark.line + 1,
				  p->problem_mark.column + 1, p->problem, hint);
	return err_config(r->err, "%s:%zu:%zu: %s (%s from line %zu)%s", r->file,
			  p->problem_mark.line + 1, p->problem_mark.column + 1, p->problem,
			  p->context, p->context_mark.line + 1, hint);
}

static int next(struct reader *r, yaml_event_t *ret_event)
{
	return yaml_parser_parse(&r->parser, ret_event) ? 0 : refuse_syntax(r);
}

static struct tree_pos pos_of(const struct reader *r, const yaml_mark_t *mark)
{
	return (struct tree_pos){ r->file, (unsigned int)mark->line + 1,
				  (unsigned int)mark->column + 1 };
}

static int count(struct reader *r, size_t nodes, unsigned int depth, const yaml_mark_t *mark)
{
	if (depth > DEPTH_MAX)
		return refuse(r, mark, "nested deeper than 64 levels");
	r->nodes += nodes;
	if (r->nodes > NODES_MAX)
		return refuse(r, mark, "more than 20000 values, aliases expanded");
	return 0;
}

/* Refuses a tag that is not in `known`, the tags that this reader understands for a scalar, a map or a sequence: it
 * would read the value wrongly. */
static int check_tag(struct reader *r, const yaml_event_t *ev, const char *tag,
		     const char *const *known)
{
	if (!tag || strcmp(tag, "!") == 0 ||
	    (str_has_prefix(tag, tag_prefix) && str_is_one_of(tag + sizeof(tag_prefix) - 1, known)))
		return 0;
	/* quotes neither the tag nor an alias: a password may begin with ! or * */
	return refuse(r, &ev->start_mark, "unknown tag: text that begins with ! needs quotes");
}

static int read_scalar(struct reader *r, const yaml_event_t *ev, struct tree **ret)
{
	static const char *const known[] = { "str", "int", "bool", "float", "null", NULL };
	const char *tag = (const char *)ev->data.scalar.tag;
	const char *text = (const char *)ev->data.scalar.value;
	struct tree *t;
	int e;

	e = check_tag(r, ev, tag, known);
	if (e < 0)
		return e;
	if (strlen(text) != ev->data.scalar.length)
		return refuse(r, &ev->start_mark, "a NUL character in a string");
	t = tree_plain(r->arena, text);
	t->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (tag)
		t->quoted = strcmp(tag, "!") == 0 || str_has_suffix(tag, ":str");
	if (!t->quoted && tree_type_of(t->scalar) == TREE_IS_NULL)
		t->kind = TREE_NULL;
	*ret = t;
	return 0;
}

static int read_alias(struct reader *r, const yaml_event_t *ev, unsigned int depth,
		      unsigned int *height, struct tree **ret)
{
	const char *name = (const char *)ev->data.alias.anchor;

	if (strv_has(&r->open, name))
		return refuse(r, &ev->start_mark, "an alias inside the value it stands for");
	for (size_t i = r->n_anchors; i-- > 0;) {
		const struct anchor *anchor = &r->anchors[i];
		int e;

		if (strcmp(anchor->name, name) != 0)
			continue;
		e = count(r, anchor->nodes, depth + anchor->height, &ev->start_mark);
		if (e < 0)
			return e;
		*height = anchor->height;
		*ret = anchor->node;
		return 0;
	}
	return refuse(r, &ev->start_mark, "unknown alias: text that begins with * needs quotes");
}

static int compare_items(const void *a, const void *b)
{
	const struct tree_item *x = *(const struct tree_item *const *)a;
	const struct tree_item *y = *(const struct tree_item *const *)b;
	int c = strcmp(x->key, y->key);

	return c ? c : (x > y) - (x < y);
}

/* Finds duplicates in a sorted copy, so that not every two keys of a large map must be compared. */
static int check_duplicates(struct reader *r, const struct tree *map)
{
	autofree const struct tree_item **sorted = xcalloc(map->n, sizeof(*sorted));
	const struct tree_item *first = NULL, *second = NULL;

	for (size_t i = 0; i < map->n; i++)
		sorted[i] = &map->items[i];
	qsort(sorted, map->n, sizeof(*sorted), compare_items);
	for (size_t i = 1; i < map->n; i++)
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 &&
		    (!second || sorted[i] < second)) {
			first = sorted[i - 1];
			second = sorted[i];
		}
	if (!second)
		return 0;
	return err_config(r->err, "%s:%u:%u: duplicate key '%s', first on line %u", r->file,
			  second->key_pos.line, second->key_pos.column, second->key,
			  first->key_pos.line);
}

static int read_key(struct reader *r, const yaml_event_t *ev, const char **ret_key)
{
	struct tree *key;
	int e;

	if (ev->type != YAML_SCALAR_EVENT)
		return refuse(r, &ev->start_mark, "a key that is not plain text");
	e = read_scalar(r, ev, &key);
	if (e < 0)
		return e;
	if (key->kind == TREE_NULL)
		return refuse(r, &ev->start_mark, "an empty key");
	if (!key->quoted && strcmp(key->scalar, "<<") == 0)
		return refuse(r, &ev->start_mark, "merge keys ('<<') are not supported");
	*ret_key = key->scalar;
	return 0;
}

static int read_node(struct reader *r, const yaml_event_t *ev, unsigned int depth,
		     unsigned int *height, struct tree **ret);

/* Reads the items of a sequence or map up to its end event. */
static int read_items(struct reader *r, struct tree *t, unsigned int depth, unsigned int *height)
{
	const bool map = t->kind == TREE_MAP;

	for (;;) {
		struct tree_item item = { 0 };
		unsigned int h = 0;
		int e;

		{
			autoevent yaml_event_t ev = { 0 };

			e = next(r, &ev);
			if (e < 0)
				return e;
			if (ev.type == YAML_MAPPING_END_EVENT || ev.type == YAML_SEQUENCE_END_EVENT)
				return map ? check_duplicates(r, t) : 0;
			item.key_pos = pos_of(r, &ev.start_mark);
			if (map)
				e = read_key(r, &ev, &item.key);
			else
				e = read_node(r, &ev, depth + 1, &h, &item.value);
			if (e < 0)
				return e;
		}
		if (map) {
			autoevent yaml_event_t ev = { 0 };

			e = next(r, &ev);
			if (e < 0)
				return e;
			e = read_node(r, &ev, depth + 1, &h, &item.value);
			if (e < 0)
				return e;
		}
		if (h + 1 > *height)
			*height = h + 1;
		arena_push(r->arena, t->items, t->n, item);
	}
}

static int read_container(struct reader *r, const yaml_event_t *ev, unsigned int depth,
			  unsigned int *height, struct tree **ret)
{
	static const char *const known_map[] = { "map", NULL };
	static const char *const known_seq[] = { "seq", NULL };
	const bool map = ev->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *tag = map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;
	int e;

	e = check_tag(r, ev, (const char *)tag, map ? known_map : known_seq);
	if (e < 0)
		return e;
	*ret = map ? tree_map(r->arena) : tree_seq(r->arena);
	return read_items(r, *ret, depth, height);
}

static const char *anchor_of(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)ev->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)ev->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return (const char *)ev->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static int read_node(struct reader *r, const yaml_event_t *ev, unsigned int depth,
		     unsigned int *height, struct tree **ret)
{
	const char *anchor = anchor_of(ev);
	size_t before = r->nodes;
	struct tree *t = NULL;
	int e;

	if (ev->type == YAML_ALIAS_EVENT)
		return read_alias(r, ev, depth, height, ret);
	e = count(r, 1, depth, &ev->start_mark);
	if (e < 0)
		return e;
	if (anchor && r->n_anchors == ANCHORS_MAX)
		return refuse(r, &ev->start_mark, "more than 1000 anchors");
	if (anchor)
		strv_add(r->arena, &r->open, arena_str(r->arena, anchor));
	if (ev->type == YAML_SCALAR_EVENT)
		e = read_scalar(r, ev, &t);
	else
		e = read_container(r, ev, depth, height, &t);
	if (e < 0)
		return e;
	t->pos = pos_of(r, &ev->start_mark);
	if (anchor) {
		const char *name = r->open.v[--r->open.n];

		arena_push(r->arena, r->anchors, r->n_anchors,
			   (struct anchor){ name, t, r->nodes - before, *height });
	}
	*ret = t;
	return 0;
}

static int expect_end(struct reader *r)
{
	for (;;) {
		autoevent yaml_event_t ev = { 0 };
		int e = next(r, &ev);

		if (e < 0)
			return e;
		if (ev.type == YAML_DOCUMENT_START_EVENT)
			return refuse(r, &ev.start_mark, "a second document; only one is expected");
		if (ev.type == YAML_STREAM_END_EVENT)
			return 0;
	}
}

static int read_document(struct reader *r, struct tree **ret_tree)
{
	for (;;) {
		autoevent yaml_event_t ev = { 0 };
		unsigned int height = 0;
		int e = next(r, &ev);

		if (e < 0)
			return e;
		if (ev.type == YAML_STREAM_START_EVENT || ev.type == YAML_DOCUMENT_START_EVENT)
			continue;
		if (ev.type == YAML_STREAM_END_EVENT) {
			*ret_tree = tree_null(r->arena);
			(*ret_tree)->pos = (struct tree_pos){ r->file, 1, 1 };
			return 0;
		}
		e = read_node(r, &ev, 1, &height, ret_tree);
		return e < 0 ? e : expect_end(r);
	}
}

static void open_text(struct reader *r, const char *text, size_t n)
{
	/* libyaml would count the byte order mark as a column */
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		n -= 3;
	}
	r->text = text;
	r->len = n;
	if (!yaml_parser_initialize(&r->parser))
		abort();
	yaml_parser_set_input_string(&r->parser, (const yaml_char_t *)text, n);
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
}

int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
	       struct tree **ret_tree, struct err *e)
{
	struct reader r = { .arena = a, .file = arena_str(a, file), .err = e };
	struct tree *t = NULL;
	int ret;

	open_text(&r, text, n);
	ret = read_document(&r, &t);
	yaml_parser_delete(&r.parser);
	if (ret == 0)
		*ret_tree = t;
	return ret;
}

bool yaml_is_well_formed(const char *text, size_t n, struct tree_pos *ret_stop)
{
	struct reader r = { 0 };
	bool is_fine, ended = false;

	open_text(&r, text, n);
	do {
		autoevent yaml_event_t ev = { 0 };

		is_fine = yaml_parser_parse(&r.parser, &ev) != 0;
		ended = ev.type == YAML_DOCUMENT_END_EVENT || ev.type == YAML_STREAM_END_EVENT;
	} while (is_fine && !ended);
	if (!is_fine) {
		const yaml_mark_t at = stop_of(&r);

		*ret_stop = pos_of(&r, &at);
	}
	yaml_parser_delete(&r.parser);
	return is_fine;
}

bool yaml_is_hollow(const char *text, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	struct tree *t;

	return yaml_parse(a, "", text, n, &t, &ignored) == 0 && tree_is_hollow(t);
}

struct writer {
	yaml_emitter_t emitter;
	struct buf *out;
	bool bad_text; /* a string that is not UTF-8 */
};

static int write_bytes(void *arg, unsigned char *bytes, size_t n)
{
	struct writer *w = arg;

	return buf_add(w->out, bytes, n) == 0;
}

/* Passes an initialised event on; libyaml refuses only text that is not UTF-8. */
static bool emit(struct writer *w, yaml_event_t *ev, int initialised)
{
	if (!initialised)
		w->bad_text = true;
	return initialised && yaml_emitter_emit(&w->emitter, ev);
}

/* Returns whether the text is a date (2006-1-2, with or without a time) or a number of base 60 (12:30:45). Go's yaml
 * reads both as texts, but quotes them for readers of older YAML. */
static bool is_time(const char *text)
{
	static const char digits[] = "0123456789";
	const char *s = text + strspn(text, "+-");
	size_t n = strspn(s, digits), parts = 0;

	if (n == 4 && s == text && s[4] == '-') {
		for (s += 4; *s == '-' && strspn(s + 1, digits) - 1 < 2; parts++)
			s += 1 + strspn(s + 1, digits);
		return parts == 2 && (!*s || strchr("Tt ", *s));
	}
	if (n == 0 || s - text > 1)
		return false;
	for (s += n; *s == ':' && strspn(s + 1, digits) - 1 < 2; parts++) {
		n = strspn(s + 1, digits);
		if (n == 2 && s[1] > '5')
			return false;
		s += 1 + n;
	}
	if (*s == '.')
		s += 1 + strspn(s + 1, digits);
	return parts && !*s;
}

/* Writes as Go's yaml does: a literal block for several lines, double quotes for text that would read back as
 * another value, libyaml's choice for the rest. */
static bool emit_text(struct writer *w, const char *text, bool quoted)
{
	yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
	yaml_event_t ev;

	if (quoted && strchr(text, '\n'))
		style = YAML_LITERAL_SCALAR_STYLE;
	else if (quoted &&
		 (tree_type_of(text) != TREE_IS_STRING || strcmp(text, "<<") == 0 || is_time(text)))
		style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	return emit(w, &ev,
		    yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)text,
						 (int)strlen(text), 1, 1, style));
}

static bool emit_tree(struct writer *w, const struct tree *t)
{
	const bool map = t->kind == TREE_MAP;
	yaml_event_t ev;
	int ok;

	if (t->kind == TREE_NULL)
		return emit_text(w, "null", false);
	if (t->kind == TREE_SCALAR)
		return emit_text(w, t->scalar, t->quoted);
	if (map)
		ok = yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1,
							 YAML_BLOCK_MAPPING_STYLE);
	else
		ok = yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1,
							  YAML_BLOCK_SEQUENCE_STYLE);
	if (!emit(w, &ev, ok))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if ((map && !emit_text(w, t->items[i].key, true)) ||
		    !emit_tree(w, t->items[i].value))
			return false;
	ok = map ? yaml_mapping_end_event_initialize(&ev) : yaml_sequence_end_event_initialize(&ev);
	return emit(w, &ev, ok);
}

static bool emit_stream(struct writer *w, const struct tree *t)
{
	yaml_event_t ev;

	return emit(w, &ev, yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING)) &&
	       emit(w, &ev, yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1)) &&
	       emit_tree(w, t) && emit(w, &ev, yaml_document_end_event_initialize(&ev, 1)) &&
	       emit(w, &ev, yaml_stream_end_event_initialize(&ev)) &&
	       yaml_emitter_flush(&w->emitter);
}

int yaml_render(const struct tree *t, struct buf *b, struct err *e)
{
	struct writer w = { .out = b };
	bool ok;

	if (!yaml_emitter_initialize(&w.emitter))
		abort();
	yaml_emitter_set_output(&w.emitter, write_bytes, &w);
	yaml_emitter_set_width(&w.emitter, -1);
	yaml_emitter_set_unicode(&w.emitter, 1);
	ok = emit_stream(&w, t);
	yaml_emitter_delete(&w.emitter);
	if (ok)
		return 0;
	if (b->overflow)
		return buf_check(b, "YAML text", e);
	return err_config(e, "YAML text: %s",
			  w.bad_text ? "a string is not UTF-8" : "cannot be written");
}
