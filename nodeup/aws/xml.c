#include "nodeup/aws/xml.h"

#include <expat.h>
#include <stdint.h>
#include <stdlib.h>
#include "nodeup/base/buf.h"

enum { DEPTH_MAX = 16, TEXT_MAX = 8 * 1024 };

struct reader {
	XML_Parser parser;
	struct arena *arena;
	struct xml *root, *open[DEPTH_MAX];
	size_t depth;
	struct buf text;
};

static void stop_parser(struct reader *r)
{
	(void)XML_StopParser(r->parser, XML_FALSE);
}

static void on_start(void *arg, const char *name, const char **attributes)
{
	struct reader *r = arg;
	struct xml *x, *parent;

	(void)attributes;
	if (r->depth == DEPTH_MAX) {
		stop_parser(r);
		return;
	}
	x = arena_new(r->arena, struct xml);
	*x = (struct xml){ .name = arena_str(r->arena, name), .text = "" };
	parent = r->depth ? r->open[r->depth - 1] : NULL;
	if (!parent)
		r->root = x;
	else if (parent->last)
		parent->last->next = x;
	else
		parent->first = x;
	if (parent)
		parent->last = x;
	r->open[r->depth++] = x;
	buf_done(&r->text);
}

static void on_text(void *arg, const char *p, int n)
{
	struct reader *r = arg;

	if (buf_add(&r->text, p, (size_t)n) < 0)
		stop_parser(r);
}

static void on_end(void *arg, const char *name)
{
	struct reader *r = arg;
	struct xml *x = r->open[--r->depth];

	(void)name;
	if (!x->first)
		x->text = arena_str(r->arena, buf_str(&r->text));
	buf_done(&r->text);
}

static void on_doctype(void *arg, const char *name, const char *system_id, const char *public_id,
		       int has_internal)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal;
	stop_parser(arg);
}

const struct xml *xml_parse(struct arena *a, const char *text, size_t n, bool *ret_whole)
{
	struct reader r = { .parser = XML_ParserCreate(NULL), .arena = a };
	bool whole;

	if (!r.parser)
		abort();
	r.text = BUF_INIT(TEXT_MAX);
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_start, on_end);
	XML_SetCharacterDataHandler(r.parser, on_text);
	XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
	whole = n <= INT32_MAX && XML_Parse(r.parser, text, (int)n, 1) == XML_STATUS_OK;
	XML_ParserFree(r.parser);
	buf_done(&r.text);
	if (ret_whole)
		*ret_whole = whole;
	return r.root;
}

const struct xml *xml_get(const struct xml *x, const char *name)
{
	for (const struct xml *c = x ? x->first : NULL; c; c = c->next)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

const struct xml *xml_items(const struct xml *x, const char *name)
{
	const struct xml *list = xml_get(x, name);

	return list ? list->first : NULL;
}

const char *xml_text(const struct xml *x, const char *name)
{
	const struct xml *c = xml_get(x, name);

	return c ? c->text : "";
}
