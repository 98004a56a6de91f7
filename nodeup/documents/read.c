#include "nodeup/documents/loader.h"

#include "nodeup/base/yaml.h"
#include "nodeup/documents/kinds.h"
#include "nodeup/documents/location.h"

int loader_hollow(struct loader *l, const char *location, struct err *e)
{
	const char *shown = location_shown(l->arena, location);
	const bool was_asked = location_is_remote(location) && !l->b->replayed;

	if (was_asked)
		store_forget(l->b->store, location);
	return err_fail(e, was_asked ? ERR_NET : ERR_CONFIG, was_asked ? LOADER_HOLLOW : 0,
			"%s: the document is empty, or its spec is", shown);
}

const struct user_data_file *loader_brought(struct loader *l, const char *location)
{
	const struct user_data *u = &l->user_data;

	for (size_t i = 0; i < u->n_others; i++)
		if (str_eq(location_beside(l->arena, l->b->conf, u->others[i].name), location))
			return &u->others[i];
	return NULL;
}

/* Of what a server sends nobody here can say how it was. */
static int not_parsed(struct loader *l, const char *location, int r)
{
	if (!location_is_remote(location))
		l->unparsed = location;
	return r;
}

/* The bytes of a document. One that is not there is a configuration error, or with `warn` a warning and no text; no
 * warning where documents are checked alone, and what was read is told. */
static int read_bytes(struct loader *l, const char *what, const char *location, bool warn,
		      struct bootstrap_text *ret, struct err *e)
{
	const char *shown = location_shown(l->arena, location);
	const struct user_data_file *other = loader_brought(l, location);
	struct user_data_file f = { 0 };
	int r = other ? 0 : loader_mend(l, location, e);

	*ret = (struct bootstrap_text){ 0 };
	if (r < 0)
		return r;
	if (other)
		f = *other;
	else
		r = store_get(l->b->store, location, &f.text, &f.n, e);
	if (r == -ENOENT && warn) {
		if (!l->b->documents.checked)
			strv_addf(l->arena, &l->b->warnings,
				  "%s: there is no %s, defaults are used", shown, what);
		return 0;
	}
	if (r == -ENOENT)
		e->kind = ERR_CONFIG;
	if (r < 0)
		return err_wrap(e, "%s", what);
	/* it may be the user data that brings it */
	if (location == l->b->conf) {
		r = user_data_read(l->arena, shown, &f, location_is_imds(location), &l->user_data,
				   e);
		if (r < 0)
			return not_parsed(l, location, kinds_explain(shown, f.text, e));
		f = l->user_data.conf;
	}
	if (other || location == l->b->conf)
		shown = l->user_data.file;
	*ret = (struct bootstrap_text){ shown, f.text, f.n, f.before };
	arena_push(l->arena, l->b->texts, l->b->n_texts, *ret);
	/* of an instance's own user data no line is shown */
	if (location_is_imds(location))
		l->b->texts[l->b->n_texts - 1].name = NULL;
	return 0;
}

/* TREE_NULL is what is not there. */
static int parse_bytes(struct loader *l, const char *location, const struct bootstrap_text *text,
		       struct tree **ret, struct err *e)
{
	int r;

	*ret = tree_null(l->arena);
	if (!text->text)
		return 0;
	/* what people hand to --conf may be anything */
	if (location == l->b->conf)
		r = kinds_parse(l->arena, text->name, text->text, text->n, ret, e);
	else
		r = yaml_parse(l->arena, text->name, text->text, text->n, ret, e);
	if (r < 0 ? location == l->b->conf && yaml_is_hollow(text->text, text->n)
		  : tree_is_hollow(*ret))
		r = loader_hollow(l, location, e);
	return r < 0 ? not_parsed(l, location, r) : 0;
}

int loader_read(struct loader *l, const char *what, const char *location, bool warn,
		struct tree **ret, struct err *e)
{
	struct bootstrap_text text;
	int r = read_bytes(l, what, location, warn, &text, e);

	return r < 0 ? r : parse_bytes(l, location, &text, ret, e);
}

/* Whether these bytes are those that the document of --conf means, which is known before they are parsed. */
static int check_bytes(struct loader *l, const char *location, const struct bootstrap_text *text,
		       struct err *e)
{
	const struct documents *d = &l->b->documents;

	if (!text->text || !d->dialect->check_cluster ||
	    d->dialect->check_cluster(l->arena, d, text->name, text->text + text->before,
				      text->n - text->before, e) == 0)
		return 0;
	if (yaml_is_hollow(text->text, text->n))
		return loader_hollow(l, location, e);
	return errs_keep_apart(l->req->errors, err_code(e), e);
}

int loader_read_cluster(struct loader *l, const char *what, const char *location, bool warn,
			struct err *e)
{
	struct documents *d = &l->b->documents;
	struct bootstrap_text text;
	struct tree *t;
	int r = read_bytes(l, what, location, warn, &text, e);

	if (r >= 0)
		r = check_bytes(l, location, &text, e);
	if (r >= 0)
		r = parse_bytes(l, location, &text, &t, e);
	if (r < 0)
		return r;
	d->cluster = t;
	if (text.text) {
		d->checked = NULL;
		d->cluster_text = (struct documents_file){ location, text.text + text.before,
							   text.n - text.before };
	}
	return 0;
}
