#include "nodeup/documents/loader.h"

#include <string.h>
#include "nodeup/base/near.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"
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

/* Notes a file of this machine that does not parse: kept documents may replace it. */
static int not_parsed(struct loader *l, const char *location, int r)
{
	if (!location_is_remote(location))
		l->unparsed = location;
	return r;
}

/* Reads a document's bytes. If the document is missing, that is a configuration error; with `warn` it is only a
 * warning, and there is no text. If only documents are checked, this warning is left out, and each document that is
 * read is reported. */
static int read_bytes(struct loader *l, const char *what, const char *location, bool warn,
		      struct user_data_file *ret, struct err *e)
{
	const char *shown = location_shown(l->arena, location);
	const struct user_data_file *other = loader_brought(l, location);
	int r = other ? 0 : loader_mend(l, location, e);

	*ret = (struct user_data_file){ 0 };
	if (r < 0)
		return r;
	if (other)
		*ret = *other;
	else
		r = store_get(l->b->store, location, &ret->text, &ret->n, e);
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
	/* --conf may be user data with the document in them */
	if (location == l->b->conf) {
		r = user_data_read(l->arena, shown, ret, location_is_imds(location), &l->user_data,
				   e);
		if (r < 0)
			return not_parsed(l, location, kinds_explain(shown, ret->text, e));
		*ret = l->user_data.conf;
	}
	ret->name = other || location == l->b->conf ? l->user_data.file : shown;
	arena_push(l->arena, l->b->texts, l->b->n_texts, *ret);
	/* no line of an instance's own user data may be shown */
	if (location_is_imds(location))
		l->b->texts[l->b->n_texts - 1].name = NULL;
	return 0;
}

/* Parses a document. A missing document becomes TREE_NULL. */
static int parse_bytes(struct loader *l, const char *location, const struct user_data_file *text,
		       struct tree **ret, struct err *e)
{
	int r;

	*ret = tree_null(l->arena);
	if (!text->text)
		return 0;
	/* people give anything to --conf */
	if (location == l->b->conf)
		r = kinds_parse(l->arena, text->name, text->text, text->n, ret, e);
	else
		r = yaml_parse(l->arena, text->name, text->text, text->n, ret, e);
	if (r < 0 ? location == l->b->conf && yaml_is_hollow(text->text, text->n)
		  : tree_is_hollow(*ret))
		r = loader_hollow(l, location, e);
	return r < 0 ? not_parsed(l, location, r) : 0;
}

/* Reads and parses a document; what: its name for people. If the document is missing, that is a configuration error;
 * with `warn` a warning and TREE_NULL. An empty document is an error. */
static int read_document(struct loader *l, const char *what, const char *location, bool warn,
			 struct tree **ret, struct err *e)
{
	struct user_data_file text;
	int r = read_bytes(l, what, location, warn, &text, e);

	return r < 0 ? r : parse_bytes(l, location, &text, ret, e);
}

/* Fails if the bytes do not have the hash that the document of --conf names. Called before the bytes are parsed. */
static int check_bytes(struct loader *l, const char *location, const struct user_data_file *text,
		       struct err *e)
{
	const struct documents *d = &l->b->documents;

	if (!text->text || !d->dialect->check_cluster ||
	    d->dialect->check_cluster(l->arena, d, text->name, text->text + text->padding,
				      text->n - text->padding, e) == 0)
		return 0;
	if (yaml_is_hollow(text->text, text->n))
		return loader_hollow(l, location, e);
	return errs_keep_apart(l->req->errors, err_code(e), e);
}

/* Reads documents.cluster, and compares its bytes with the hash in the document of --conf before it parses them. */
static int read_cluster(struct loader *l, const char *what, const char *location, bool warn,
			struct err *e)
{
	struct documents *d = &l->b->documents;
	struct user_data_file text;
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
		d->cluster_text = (struct documents_file){ location, text.text + text.padding,
							   text.n - text.padding };
	}
	return 0;
}

int loader_read_conf(struct loader *l, struct dialect_opts *opts, struct err *e)
{
	struct tree *t;
	int r = read_document(l, "configuration", l->b->conf, false, &t, e);

	opts->script = l->user_data.script;
	opts->script_pos = (struct tree_pos){ l->user_data.file, 1, 1 };
	if (r == 0)
		r = dialects_read(l->arena, t, opts, &l->b->documents, e);
	if (r == 0 && l->b->documents.dialect->dual_stack)
		store_use_dual_stack(l->b->store);
	return r;
}

/* Words the error of a missing group. In most cases the group's name is wrong, so the error lists the existing
 * groups, and the nearest name. */
static int no_such_group(struct loader *l, struct err *e)
{
	const struct documents *d = &l->b->documents;
	const char *slash = strrchr(d->group_at, '/');
	struct strv names = { 0 };
	const char *nearest;
	struct err ignored;

	if (d->group_from)
		(void)err_wrap(e, "%s", d->group_from);
	if (store_list(l->b->store,
		       arena_strn(l->arena, d->group_at, (size_t)(slash - d->group_at)), &names,
		       &ignored) < 0 ||
	    names.n == 0)
		return err_code(e);
	nearest = near_name(slash + 1, names.v, names.n);
	err_note(e, "there is", "%s", strv_join(l->arena, &names, ", "));
	if (nearest)
		err_note(e, "do", "did you mean InstanceGroupName: %s?", nearest);
	return err_code(e);
}

/* Fails for a named group whose document is missing beside --conf. Without the document the node would lack its
 * taints and volumes. */
static int no_group_beside(struct loader *l, struct err *e)
{
	err_note(e, "do", "write it, as nodeup example ROLE instancegroup shows, or name no group");
	return err_wrap(e, "%s", l->b->documents.group_from);
}

static int read_joined(struct loader *l, struct err *e)
{
	const char *location;
	int r = loader_join(l, &location, e);

	return r < 0 ? r : read_cluster(l, "NodeupConfig", location, false, e);
}

static int read_group(struct loader *l, const struct loader_specs *at, bool is_lost, struct err *e)
{
	struct documents *d = &l->b->documents;
	const bool in_store = at->from == LOADER_STORE;
	struct tree *t = tree_null(l->arena);
	int r = read_document(l, "instance group", at->group, !in_store && !d->group_from, &t, e);

	d->group = t;
	/* if the base has neither cluster nor group, one error is enough */
	if (r < 0 && is_lost && e->errnum == ENOENT)
		return 0;
	if (r < 0 && e->errnum == ENOENT)
		r = in_store ? no_such_group(l, e) : no_group_beside(l, e);
	return errs_keep_vital(l->req->errors, r, e);
}

static int read_both(struct loader *l, const struct loader_specs *at, struct err *e)
{
	const char *what = l->b->documents.of_instance ? "NodeupConfig" : "cluster spec";
	const bool in_store = at->from == LOADER_STORE;
	struct strv both = { 0 };
	bool is_lost;
	int r;

	if (!loader_brought(l, at->cluster))
		strv_add(l->arena, &both, at->cluster);
	if (at->group && !loader_brought(l, at->group))
		strv_add(l->arena, &both, at->group);
	r = store_prefetch(l->b->store, &both, NULL, e);
	if (r < 0)
		return err_wrap(e, "%s", at->group ? "cluster spec and instance group" : what);
	r = read_cluster(l, what, at->cluster, !in_store, e);
	is_lost = in_store && r < 0 && e->errnum == ENOENT;
	r = errs_keep_vital(l->req->errors, r, e);
	return r < 0 || !at->group ? r : read_group(l, at, is_lost, e);
}

int loader_read_specs(struct loader *l, struct err *e)
{
	const struct loader_specs at = loader_find_specs(l);
	struct documents *d = &l->b->documents;

	d->cluster = d->group = tree_null(l->arena);
	if (at.from == LOADER_SERVER)
		return read_joined(l, e);
	if (at.from == LOADER_UNREAD)
		strv_addf(l->arena, &l->b->warnings,
			  "%s is not read, we are offline: what it names beside the assets of %s "
			  "is not looked for",
			  d->cluster_at, location_shown(l->arena, l->b->conf));
	return at.cluster ? read_both(l, &at, e) : 0;
}
