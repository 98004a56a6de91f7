#include "nodeup/documents/loader.h"

#include <string.h>
#include "nodeup/documents/location.h"

/* How long a document is without the empty lines that end it: a here-document has one more. */
static size_t length_of(const struct user_data_file *f)
{
	size_t n = f->n;

	while (n > f->before && f->text[n - 1] == '\n')
		n--;
	return n - f->before;
}

static bool is_same(const struct user_data_file *x, const struct user_data_file *y)
{
	const size_t n = length_of(x);

	return n == length_of(y) && memcmp(x->text + x->before, y->text + y->before, n) == 0;
}

/* Whether the metadata service is that of the machine which the documents are for, and has answered. */
static bool may_ask(const struct loader *l)
{
	return l->b->imds && !l->req->facts_file && !l->is_imds_silent &&
	       !location_is_imds(l->b->conf) && imds_has_answered(l->b->imds);
}

/* The script of this instance that brings the document of --conf; NULL: none is known. */
static const char *own_script(struct loader *l)
{
	struct user_data_file raw = { .name = LOCATION_IMDS };
	struct user_data own;
	struct err ignored;

	if (!may_ask(l) || imds_user_data(l->b->imds, l->arena, &raw.text, &raw.n, &ignored) < 0 ||
	    user_data_read(l->arena, LOCATION_IMDS, &raw, true, &own, &ignored) < 0 ||
	    !own.script || !is_same(&own.conf, &l->user_data.conf))
		return NULL;
	return own.script;
}

int loader_vintage(struct loader *l, const struct dialect_opts *o, struct err *e)
{
	struct documents *d = &l->b->documents;
	const char *script = d->vintage.newest ? NULL : own_script(l);
	const struct vintage_sources sources = { .script = script,
						 .script_pos = { LOCATION_IMDS, 1, 1 },
						 .document = tree_null(l->arena) };
	struct vintage found;
	struct err ignored;
	int r;

	if (!script || vintage_find(l->arena, &sources, &found, &ignored) < 0)
		return 0;
	r = vintage_check(l->arena, &found, o, e);
	if (r == 0)
		d->vintage = found;
	return r;
}
