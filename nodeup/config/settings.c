#include "nodeup/config/settings.h"

#include <string.h>
#include <strings.h>
#include "nodeup/base/show.h"
#include "nodeup/base/str.h"
#include "nodeup/config/signals.h"
#include "nodeup/config/vintage.h"

const struct schema settings_schema = SCHEMA_OF_LIST(struct settings_doc, "Settings", SETTINGS);

/* Reads a list of texts. */
static int texts_of(struct arena *a, const struct tree *list, const char *key,
		    struct settings_texts *ret, struct errs *errors, struct err *e)
{
	int r = 0;

	for (size_t i = 0; list && i < list->n && r == 0; i++) {
		const struct tree *item = list->items[i].value;

		if (item->kind == TREE_SCALAR && !str_is_empty(item->scalar))
			arena_push(a, ret->v, ret->n,
				   (struct settings_text){ item->scalar, item->pos });
		else
			r = errs_keep(errors,
				      err_config(e, "%s: %s[%zu]: expected a text",
						 tree_where(a, &item->pos), key, i),
				      e);
	}
	return r;
}

/* Reads a list of FROM=TO. */
static int add_prefixes(struct arena *a, const struct tree *list, const char *key, struct strv *ret,
			struct errs *errors, struct err *e)
{
	struct settings_texts texts = { 0 };
	int r = texts_of(a, list, key, &texts, errors, e);

	for (size_t i = 0; r == 0 && i < texts.n; i++) {
		const char *text = texts.v[i].text, *to = strchr(text, '=');

		if (to && to != text && to[1])
			strv_add(a, ret, text);
		else
			r = errs_keep(errors,
				      err_config(e, "%s: %s[%zu]: wanted FROM=TO",
						 tree_where(a, &texts.v[i].pos), key, i),
				      e);
	}
	return r;
}

/* Reads a list of signals. */
static int add_signals(struct arena *a, const struct tree *list, struct strv *ret,
		       struct errs *errors, struct err *e)
{
	struct settings_texts texts = { 0 };
	int r = texts_of(a, list, "signals", &texts, errors, e);

	for (size_t i = 0; r == 0 && i < texts.n; i++) {
		struct signal ignored;

		if (signal_parse(a, texts.v[i].text, &ignored))
			strv_add_once(a, ret, texts.v[i].text);
		else
			r = errs_keep(errors,
				      err_config(e, "%s: signals[%zu]: wanted one of %s",
						 tree_where(a, &texts.v[i].pos), i,
						 signal_forms(a)),
				      e);
	}
	return r;
}

/* Returns whether the URL is an s3:// location without query and login, since messages show the location. */
static bool is_bucket(const char *url)
{
	return str_has_prefix(url, "s3://") && url[strlen("s3://")] &&
	       url[strlen("s3://")] != '/' && !strpbrk(url, "?#@%") && show_is_clean(url);
}

/* Checks the settings that are plain texts. */
static int check_texts(struct arena *a, const struct settings_doc *doc, struct errs *errors,
		       struct err *e)
{
	const struct {
		const char *key, *path;
	} paths[] = { { "caBundle", doc->ca_bundle }, { "metricsDir", doc->metrics_dir } };
	int r = 0;

	if (doc->vintage && !vintage_is_version(a, doc->vintage->scalar))
		r = errs_keep(errors,
			      err_config(e, "%s: kopsVersion: '%s' is no version of kops",
					 tree_where(a, &doc->vintage->pos), doc->vintage->scalar),
			      e);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const char *key = paths[i].key, *path = paths[i].path;

		if (r == 0 && !str_is_empty(path) && *path != '/')
			r = errs_keep(errors,
				      err_config(e, "%s: '%s' is not an absolute path", key, path),
				      e);
		if (r == 0 && !str_is_empty(path) && !show_is_clean(path))
			r = errs_keep(errors,
				      err_config(e, "%s: a control character in '%s'", key, path),
				      e);
	}
	if (r == 0 && !str_is_empty(doc->status_url) && !is_bucket(doc->status_url))
		r = errs_keep(errors,
			      err_config(e, "statusURL: '%s' is not s3://BUCKET/PREFIX",
					 doc->status_url),
			      e);
	if (r == 0 && doc->store_policy && strcasecmp(doc->store_policy->scalar, "RAID0") != 0)
		r = errs_keep(errors,
			      err_config(e, "%s: instanceStorePolicy: expected RAID0, found '%s'",
					 tree_where(a, &doc->store_policy->pos),
					 doc->store_policy->scalar),
			      e);
	return r;
}

const struct tree *settings_store_policy(const struct settings *own, const struct settings_doc *doc)
{
	return own && own->store_policy ? own->store_policy : doc->store_policy;
}

const char *settings_store_filesystem(const struct settings *own, const struct settings_doc *doc)
{
	return own && own->store_filesystem ? own->store_filesystem : doc->store_filesystem;
}

bool settings_has(const struct strv *own, const struct tree *list, const char *key)
{
	for (size_t i = 0; own && i < own->n; i++)
		if (strcasecmp(own->v[i], key) == 0)
			return true;
	for (size_t i = 0; list && list->kind == TREE_SEQ && i < list->n; i++)
		if (list->items[i].value->kind == TREE_SCALAR &&
		    strcasecmp(list->items[i].value->scalar, key) == 0)
			return true;
	return false;
}

int settings_add(struct arena *a, const struct settings_doc *doc, bool own, struct settings *s,
		 struct errs *errors, struct err *e)
{
	struct settings_texts keys = { 0 }, accepted = { 0 }, values = { 0 };
	int r = add_prefixes(a, doc->url_rewrites, "urlRewrites", &s->url_rewrites, errors, e);

	if (r == 0)
		r = add_prefixes(a, doc->mirrors, "mirrors", &s->mirrors, errors, e);
	if (r == 0)
		r = texts_of(a, doc->public_keys, "publicKeys", &keys, errors, e);
	if (r == 0)
		r = texts_of(a, doc->accept_keys, "acceptKeys", &accepted, errors, e);
	if (r == 0)
		r = texts_of(a, doc->accept, "accept", &values, errors, e);
	if (r == 0)
		r = add_signals(a, doc->signals, &s->signals, errors, e);
	if (r == 0)
		r = check_texts(a, doc, errors, e);
	if (r < 0)
		return r;
	if (!s->vintage)
		s->vintage = doc->vintage;
	for (size_t i = 0; i < accepted.n; i++)
		strv_add(a, &s->accept_keys, accepted.v[i].text);
	for (size_t i = 0; i < values.n; i++)
		strv_add(a, &s->accept, values.v[i].text);
	if (str_is_empty(s->ca_bundle) && !str_is_empty(doc->ca_bundle))
		s->ca_bundle = doc->ca_bundle;
	if (str_is_empty(s->status_url) && !str_is_empty(doc->status_url))
		s->status_url = doc->status_url;
	if (str_is_empty(s->metrics_dir) && !str_is_empty(doc->metrics_dir))
		s->metrics_dir = doc->metrics_dir;
	if (!s->reserved)
		s->reserved = doc->reserved;
	if (!s->store_policy)
		s->store_policy = doc->store_policy;
	if (!s->store_filesystem)
		s->store_filesystem = doc->store_filesystem;
	s->require_signatures |= doc->require_signatures.v;
	s->keep_assets |= doc->keep_assets.v;
	s->ignore_host_checks |= doc->ignore_host_checks.v;
	s->quiet_console |= doc->quiet_console.v;
	s->guard |= doc->guard.v;
	if (!s->console_after_ns)
		s->console_after_ns = doc->console_after.ns;
	/* if the machine has its own keys, a document may not add keys: with its own key it could sign anything */
	for (size_t i = 0; i < keys.n && (own || !s->keys_are_own); i++)
		arena_push(a, s->public_keys.v, s->public_keys.n, keys.v[i]);
	s->keys_are_own |= own && keys.n > 0;
	return 0;
}
