#include <stdlib.h>
#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/pem.h"
#include "nodeup/documents/location.h"
#include "nodeup/config/keys.h"
#include "nodeup/config/parsed_files.h"
#include "nodeup/config/values.h"
#include "nodeup/documents/loader.h"

static const char cert_suffix[] = ".crt";

/* A key pair or secret that is being read. If cert is NULL, the item is missing. */
struct item {
	const struct node_want *want;
	const char *folder;     /* folder of the certificates; NULL: this is a secret or a keyset */
	const char *cert, *key; /* locations; for a secret or keyset, `cert` is its location */
	const char *older;      /* location of the keyset under its older name; or NULL */
	struct strv others;     /* the older certificates of a pool */
};

struct items {
	struct item *v;
	size_t n;
};

/* Wanted keys and secrets that are missing: the first makes the error, all others become a note. */
struct missing {
	struct arena *arena;
	struct strv *warnings;
	const char *first;
	struct strv more;
};

static void note_missing(struct missing *m, const struct node_want *want, const char *what,
			 const char *where)
{
	if (want->told)
		strv_addf(m->arena, m->warnings, "%s %s is left out, as kops does: %s", what,
			  want->name, where);
	if (want->optional)
		return;
	if (!m->first)
		m->first = arena_printf(m->arena, "missing %s %s: %s", what, want->name, where);
	else
		strv_add(m->arena, &m->more, want->name);
}

static int fail_missing(const struct missing *m, struct err *e)
{
	int r;

	if (!m->first)
		return 0;
	r = err_fail(e, ERR_CONFIG, ENOENT, "%s", m->first);
	if (m->more.n)
		err_note(e, "also missing", "%s", strv_join(m->arena, &m->more, ", "));
	return r;
}

/* Returns the number before the suffix; NULL for a name without a serial, like keyset.yaml. */
static const char *serial_of(struct arena *a, const char *name)
{
	size_t n = strspn(name, "0123456789");

	if (n == 0 || !str_eq(name + n, cert_suffix))
		return NULL;
	return arena_strn(a, name, n);
}

/* Serials are larger than any integer type. */
static bool is_larger(const char *x, const char *y)
{
	size_t xn, yn;

	x += strspn(x, "0");
	y += strspn(y, "0");
	xn = strlen(x);
	yn = strlen(y);
	return xn != yn ? xn > yn : strcmp(x, y) > 0;
}

static int compare_serials(const void *x, const void *y)
{
	const char *a = *(const char *const *)x, *b = *(const char *const *)y;

	return is_larger(a, b) ? -1 : is_larger(b, a);
}

/* Lists serials, the largest first. Warns of a name that has no serial: a person put it there and expects nodeup to
 * use it. */
static struct strv serials_of(struct loader *l, const char *folder, const struct strv *names)
{
	struct strv serials = { 0 };

	for (size_t i = 0; i < names->n; i++) {
		const char *serial = serial_of(l->arena, names->v[i]);

		if (serial)
			strv_add(l->arena, &serials, serial);
		else if (!str_has_suffix(names->v[i], ".yaml"))
			strv_addf(l->arena, &l->b->warnings,
				  "%s/%s: ignored, its name is not a serial",
				  location_shown(l->arena, folder), names->v[i]);
	}
	if (serials.n)
		qsort(serials.v, serials.n, sizeof(*serials.v), compare_serials);
	return serials;
}

static const char *certificate(struct arena *a, const struct item *item, const char *serial)
{
	return location_join(a, item->folder, arena_printf(a, "%s%s", serial, cert_suffix));
}

/* Finds the certificate with the largest serial, and the key with the same serial. */
static int find_pair(struct loader *l, const char *store, struct item *item, struct missing *m,
		     struct err *e)
{
	struct arena *a = l->arena;
	const char *name = item->want->name;
	struct strv names, serials;
	int r;

	r = store_list(l->b->store, item->folder, &names, e);
	if (r < 0)
		return err_wrap(e, "key pair %s", name);
	serials = serials_of(l, item->folder, &names);
	if (serials.n == 0) {
		note_missing(m, item->want, "key pair",
			     arena_printf(a, "no certificate in %s",
					  location_shown(a, item->folder)));
		return 0;
	}
	item->cert = certificate(a, item, serials.v[0]);
	if (item->want->key)
		item->key = location_join(a, store,
					  arena_printf(a, "private/%s/%s.key", name, serials.v[0]));
	for (size_t i = 1; item->want->pool && i < serials.n; i++)
		strv_add(a, &item->others, certificate(a, item, serials.v[i]));
	return 0;
}

static int read_whole(struct loader *l, const char *location, const char **ret_text, size_t *ret_n,
		      struct err *e)
{
	int r = store_get(l->b->store, location, ret_text, ret_n, e);

	return r == 0 && yaml_is_hollow(*ret_text, *ret_n) ? loader_hollow(l, location, e) : r;
}

/* Reads a document; the text is NULL if the document is missing. */
static int read_optional(struct loader *l, const char *location, const char **ret_text,
			 size_t *ret_n, struct err *e)
{
	int r = read_whole(l, location, ret_text, ret_n, e);

	if (r == -ENOENT) {
		*ret_text = NULL;
		return 0;
	}
	return r;
}

/* Reads a pool. All certificates of a pool are trusted as long as the store has them. */
static int read_pool(struct loader *l, const struct item *item, const char *cert, const char **ret,
		     struct err *e)
{
	struct strv texts = { 0 };

	strv_add(l->arena, &texts, pem_lines(l->arena, cert));
	for (size_t i = 0; i < item->others.n; i++) {
		const char *text, *from = location_shown(l->arena, item->others.v[i]);
		size_t n;
		int r = read_optional(l, item->others.v[i], &text, &n, e);

		if (r >= 0 && text)
			r = node_check_certificate(item->want->name, text, from, e);
		if (r < 0)
			return err_wrap(e, "key pair %s", item->want->name);
		if (text)
			strv_add(l->arena, &texts, pem_lines(l->arena, text));
	}
	*ret = texts.n > 1 ? strv_join(l->arena, &texts, "") : NULL;
	return 0;
}

static int add_pair(struct loader *l, const struct item *item, struct missing *m, struct err *e)
{
	struct arena *a = l->arena;
	const char *cert, *key = NULL, *pool = NULL, *from = location_shown(a, item->cert);
	size_t n;
	int r;

	r = read_optional(l, item->cert, &cert, &n, e);
	if (r >= 0 && item->key)
		r = read_optional(l, item->key, &key, &n, e);
	if (r < 0)
		return err_wrap(e, "key pair %s", item->want->name);
	if (!cert || (item->key && !key)) {
		note_missing(m, item->want, "key pair",
			     arena_printf(a, "%s is not there",
					  cert ? location_shown(a, item->key) : from));
		return 0;
	}
	if (item->others.n) {
		r = read_pool(l, item, cert, &pool, e);
		if (r < 0)
			return r;
	}
	return node_add_keypair(
		a, &l->b->node,
		&(struct node_keypair){
			.name = item->want->name, .cert = cert, .key = key, .pool = pool },
		&(struct node_keypair){ .cert = from,
					.key = item->key ? location_shown(a, item->key) : NULL },
		e);
}

/* A secret that becomes a file, as the store has it. */
struct stored {
	struct loader *loader;
	const char *location, *text;
};

/* Returns whether a run with the same documents and the same secret ended well on this instance. */
static bool was_applied(void *records, const struct vintage *v)
{
	const struct stored *s = records;
	const struct dialect_opts *o = s->loader->opts;
	const char *kept = loader_kept_text(s->loader, s->location);

	return kept && str_eq(kept, s->text) && o->was_applied && o->was_applied(o->records, v);
}

/* Checks a secret that becomes a file which the API server parses. */
static int check_parsed(struct loader *l, const struct item *item, const char *text,
			const char *from, struct err *e)
{
	const struct node *n = &l->b->node;
	const char *name = item->want->name, *data = strmap_get(&n->secrets, name);
	struct stored stored = { l, item->cert, text };
	struct dialect_opts opts = *l->opts;
	struct values v = { .arena = l->arena,
			    .opts = &opts,
			    .minor = n->kubernetes.minor,
			    .accept = l->b->documents.settings.accept };
	const struct parsed_text parsed = {
		.flag = item->want->flag,
		.key = name,
		.from = arena_printf(l->arena, "%s: secret %s", from, name),
		.text = data,
		.n = strlen(data),
	};

	opts.errors = NULL;
	opts.was_applied = was_applied;
	opts.records = &stored;
	parsed_text_check(l->arena, &parsed, v.minor, &v.found);
	return values_judge(&v, e);
}

static int add_secret(struct loader *l, const struct item *item, struct missing *m, struct err *e)
{
	struct arena *a = l->arena;
	const char *text, *from = location_shown(a, item->cert);
	struct tree *json;
	size_t n;
	int r;

	r = read_optional(l, item->cert, &text, &n, e);
	if (r < 0)
		return err_wrap(e, "secret %s", item->want->name);
	if (!text) {
		note_missing(m, item->want, "secret", arena_printf(a, "%s is not there", from));
		return 0;
	}
	/* the reason would quote the secret, so it is left out */
	if (json_parse(a, from, text, n, &json, e) < 0)
		return err_config(e, "%s: secret %s: not JSON", from, item->want->name);
	r = node_add_secret(a, &l->b->node, item->want->name, json, from, e);
	return r < 0 || !item->want->flag ? r : check_parsed(l, item, text, from, e);
}

/* Adds the key that the documents name, out of its keyset. */
static int add_keyset(struct loader *l, const struct item *item, struct missing *m, struct err *e)
{
	const struct node_want *want = item->want;
	struct arena *a = l->arena;
	const char *text, *from = location_shown(a, item->cert);
	struct node_keypair pair;
	struct tree *t;
	size_t n;
	int r = read_optional(l, item->cert, &text, &n, e);

	if (r >= 0 && !text && item->older) {
		from = location_shown(a, item->older);
		r = read_optional(l, item->older, &text, &n, e);
	}
	if (r < 0)
		return err_wrap(e, "keyset %s", want->name);
	if (!text) {
		note_missing(m, want, "keyset",
			     arena_printf(a, "%s is not there", location_shown(a, item->cert)));
		return 0;
	}
	/* the reason would quote a key, so it is left out */
	if (yaml_parse(a, from, text, n, &t, e) < 0)
		return err_config(e, "%s: keyset %s: not YAML", from, want->name);
	/* an error of the documents has reported the missing id */
	if (l->finds_errors && !*want->id)
		return 0;
	r = l->b->documents.dialect->keyset(a, t, want->name, want->id, &pair, e);
	if (r < 0)
		return r;
	pair.cert = pem_lines(a, pair.cert);
	pair.key = pem_lines(a, pair.key);
	arena_push(a, l->b->node.keypairs.v, l->b->node.keypairs.n, pair);
	return 0;
}

/* Keeps the error of a key and goes on. During the search for all errors, unreachable keys are not reported. */
static int go_on(const struct loader *l, int r, const struct err *e)
{
	r = errs_keep(l->req->errors, r, e);
	return l->finds_errors ? 0 : r;
}

static int add_manifest(struct loader *l, const char *location, struct err *e)
{
	const char *text;
	size_t n;
	int r = loader_mend(l, location, e);

	if (r >= 0)
		r = read_whole(l, location, &text, &n, e);
	if (r == -ENOENT)
		e->kind = ERR_CONFIG;
	if (r >= 0 && strlen(text) != n)
		r = err_config(e, "%s: a NUL byte in it", location_shown(l->arena, location));
	if (r >= 0)
		strmap_set(l->arena, &l->b->node.manifests, location, text);
	return r < 0 ? err_wrap(e, "manifest") : 0;
}

static int add_manifests(struct loader *l, const struct node_wants *w, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < w->manifests.n && r >= 0; i++)
		r = go_on(l, add_manifest(l, w->manifests.v[i], e), e);
	return r;
}

static void add_secret_item(struct loader *l, const struct node_want *want, const char *store,
			    struct items *items)
{
	const struct item item = { .want = want,
				   .cert = location_join(l->arena, store, want->name) };

	arena_push(l->arena, items->v, items->n, item);
}

static const char *keyset_of(struct loader *l, const char *store, const char *name)
{
	return location_join(l->arena, store,
			     arena_printf(l->arena, "private/%s/keyset.yaml", name));
}

static void make_items(struct loader *l, const struct node_wants *w, const char *key_store,
		       const char *secret_store, struct items *items)
{
	const char *issued = location_join(l->arena, key_store, "issued");

	for (size_t i = 0; i < w->n_keypairs; i++) {
		const struct node_want *want = &w->keypairs[i];
		struct item item = { .want = want };

		if (want->id)
			item.cert = keyset_of(l, key_store, want->name);
		if (want->id && want->older)
			item.older = keyset_of(l, key_store, want->older);
		if (!want->id)
			item.folder = location_join(l->arena, issued, want->name);
		arena_push(l->arena, items->v, items->n, item);
	}
	for (size_t i = 0; i < w->n_secrets; i++)
		add_secret_item(l, &w->secrets[i], secret_store, items);
}

static bool is_wanted(const struct node_wants *w, const char *id)
{
	for (size_t i = 0; i < w->n_secrets; i++)
		if (str_eq(w->secrets[i].name, id))
			return true;
	return false;
}

/* Adds every token in the store, as a master does, and not only the tokens that kops makes. */
static int add_every_secret(struct loader *l, const struct node_wants *w, const char *folder,
			    struct items *items, struct err *e)
{
	struct strv names = { 0 };
	int r = w->every_secret ? store_list(l->b->store, folder, &names, e) : 0;

	if (r < 0)
		return err_wrap(e, "secrets");
	for (size_t i = 0; i < names.n; i++) {
		struct node_want *want;

		if (is_wanted(w, names.v[i]))
			continue;
		/* known_tokens.csv cannot hold such a name */
		if (strpbrk(names.v[i], ",\"\r\n")) {
			strv_addf(l->arena, &l->b->warnings,
				  "%s: ignored, no such name can be a user's",
				  location_shown(l->arena,
						 location_join(l->arena, folder, names.v[i])));
			continue;
		}
		want = arena_new(l->arena, struct node_want);
		*want = (struct node_want){ .name = names.v[i], .optional = true };
		add_secret_item(l, want, folder, items);
	}
	return 0;
}

static int add_item(struct loader *l, const struct item *item, struct missing *m, struct err *e)
{
	if (item->folder)
		return add_pair(l, item, m, e);
	return item->want->id ? add_keyset(l, item, m, e) : add_secret(l, item, m, e);
}

/* Looks for damage in the item's files. Returns whether a file is damaged; from now on its kept copy is read. */
static bool mend(struct loader *l, const struct item *item)
{
	const size_t before = l->b->n_lost;
	struct strv files = item->others;
	struct err ignored;

	strv_add(l->arena, &files, item->cert);
	if (item->key)
		strv_add(l->arena, &files, item->key);
	if (item->older)
		strv_add(l->arena, &files, item->older);
	for (size_t i = 0; i < files.n; i++)
		(void)!loader_mend(l, files.v[i], &ignored);
	return l->b->n_lost > before;
}

static int add_items(struct loader *l, const struct items *items, struct missing *m, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < items->n && r >= 0; i++) {
		if (!items->v[i].cert)
			continue;
		r = add_item(l, &items->v[i], m, e);
		if (r < 0 && mend(l, &items->v[i]))
			r = add_item(l, &items->v[i], m, e);
		if (r < 0 && !location_is_remote(items->v[i].cert))
			l->unparsed = items->v[i].cert;
		r = go_on(l, r, e);
	}
	return r;
}

/* Finds the objects to read: key pairs by the listings of their folders, all others by their locations. */
static int find_all(struct loader *l, const char *key_store, struct items *items, struct missing *m,
		    struct strv *documents, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < items->n && r >= 0; i++) {
		struct item *it = &items->v[i];

		if (it->folder)
			r = find_pair(l, key_store, it, m, e);
		if (r >= 0 && it->cert)
			strv_add(l->arena, documents, it->cert);
		if (r >= 0 && it->key)
			strv_add(l->arena, documents, it->key);
		for (size_t k = 0; r >= 0 && k < it->others.n; k++)
			strv_add(l->arena, documents, it->others.v[k]);
	}
	return r;
}

/* Returns whether the store is not asked: documents on this machine can be checked without the keys in the store. */
static bool has_no_store(const struct loader *l)
{
	return l->b->documents.beside_will_do && !policy_may_change(l->policy) &&
	       l->policy->offline && !l->b->replayed;
}

static int read_store(struct loader *l, const struct node_wants *w, struct err *e)
{
	struct bootstrap *b = l->b;
	const char *key_store = w->key_store ? w->key_store
					     : location_beside(l->arena, l->b->conf, "pki");
	const char *secret_store = w->secret_store
					   ? w->secret_store
					   : location_beside(l->arena, l->b->conf, "secrets");
	struct strv documents = w->manifests, folders = { 0 };
	struct missing m = { .arena = l->arena, .warnings = &b->warnings };
	struct items items = { 0 };
	int r;

	make_items(l, w, key_store, secret_store, &items);
	for (size_t i = 0; i < items.n; i++)
		strv_add(l->arena, items.v[i].folder ? &folders : &documents,
			 items.v[i].folder ? items.v[i].folder : items.v[i].cert);
	if (w->every_secret)
		strv_add(l->arena, &folders, secret_store);
	r = store_prefetch(b->store, &documents, &folders, e);
	documents = (struct strv){ 0 };
	if (r >= 0)
		r = add_every_secret(l, w, secret_store, &items, e);
	if (r >= 0)
		r = find_all(l, key_store, &items, &m, &documents, e);
	if (r >= 0)
		r = store_prefetch(b->store, &documents, NULL, e);
	if (r >= 0)
		r = add_items(l, &items, &m, e);
	if (r >= 0)
		r = add_manifests(l, w, e);
	return r < 0 ? r : errs_keep(l->req->errors, fail_missing(&m, e), e);
}

/* Finds errors of the keys that can be read. Issues nothing. If the documents' value for the keys' location is
 * wrong, reads no key. */
static void read_for_errors(struct loader *l, const struct node_wants *w)
{
	struct err ignored;

	if (!l->b->documents.join && !w->is_unsure && !has_no_store(l))
		(void)!read_store(l, w, &ignored);
}

int loader_keys(struct loader *l, struct err *e)
{
	const struct documents *d = &l->b->documents;
	struct node_wants w = { 0 };
	int r;

	if (d->dialect->wants)
		w = d->dialect->wants(l->arena, d, &l->b->node);
	if (l->finds_errors) {
		read_for_errors(l, &w);
		return 0;
	}
	if (d->join && policy_has_machine(l->policy))
		return loader_issues(l, &w, e);
	if (has_no_store(l)) {
		l->b->no_keys = true;
		return 0;
	}
	r = policy_has_machine(l->policy) ? loader_begin_issues(l, &w, e) : 0;
	if (r == 0 && !d->join)
		r = read_store(l, &w, e);
	if (r == 0 && !policy_has_machine(l->policy) && w.n_issues)
		loader_leave_issues(l, &w);
	else if (r == 0)
		r = loader_self_issue(l, &w, e);
	return r;
}
