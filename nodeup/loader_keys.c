#include <ctype.h>
#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/location.h"
#include "nodeup/loader.h"

static const char cert_suffix[] = ".crt";

/* A key pair or secret on its way; cert NULL: not there. */
struct item {
	const struct node_want *want;
	const char *folder;     /* of the certificates */
	const char *cert, *key; /* locations; cert is the secret's own */
};

/* What a node cannot do without and does not have: the first makes the error, the rest a note. */
struct missing {
	struct arena *arena;
	const char *first;
	struct strv more;
};

static void miss(struct missing *m, const struct node_want *want, const char *what,
		 const char *where)
{
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

/* The number before the suffix; NULL for what is no serial, like keyset.yaml. */
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

static const char *newest_serial(struct arena *a, const struct strv *names)
{
	const char *best = NULL;

	for (size_t i = 0; i < names->n; i++) {
		const char *serial = serial_of(a, names->v[i]);

		if (serial && (!best || is_larger(serial, best)))
			best = serial;
	}
	return best;
}

/* The certificate of the largest serial and the key of the same one. */
static int find_pair(struct loader *l, const char *store, struct item *item, struct missing *m,
		     struct err *e)
{
	struct arena *a = l->arena;
	const char *name = item->want->name, *serial;
	struct strv names;
	int r;

	r = store_list(l->b->store, item->folder, &names, e);
	if (r < 0)
		return err_wrap(e, "key pair %s", name);
	serial = newest_serial(a, &names);
	if (!serial) {
		miss(m, item->want, "key pair",
		     arena_printf(a, "no certificate in %s", location_shown(a, item->folder)));
		return 0;
	}
	item->cert = store_join(a, item->folder, arena_printf(a, "%s%s", serial, cert_suffix));
	if (item->want->key)
		item->key =
			store_join(a, store, arena_printf(a, "private/%s/%s.key", name, serial));
	return 0;
}

/* A document, or NULL text when it is not there. */
static int read_optional(struct loader *l, const char *location, const char **ret_text,
			 size_t *ret_n, struct err *e)
{
	int r = store_get(l->b->store, location, ret_text, ret_n, e);

	if (r == -ENOENT) {
		*ret_text = NULL;
		return 0;
	}
	return r;
}

static int add_pair(struct loader *l, const struct item *item, struct missing *m, struct err *e)
{
	struct arena *a = l->arena;
	const char *cert, *key = NULL, *from = location_shown(a, item->cert);
	size_t n;
	int r;

	r = read_optional(l, item->cert, &cert, &n, e);
	if (r >= 0 && item->key)
		r = read_optional(l, item->key, &key, &n, e);
	if (r < 0)
		return err_wrap(e, "key pair %s", item->want->name);
	if (!cert || (item->key && !key)) {
		miss(m, item->want, "key pair",
		     arena_printf(a, "%s is not there",
				  cert ? location_shown(a, item->key) : from));
		return 0;
	}
	return node_add_keypair(
		a, &l->b->node, &(struct node_keypair){ item->want->name, cert, key },
		&(struct node_keypair){ item->want->name, from,
					item->key ? location_shown(a, item->key) : NULL },
		e);
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
		miss(m, item->want, "secret", arena_printf(a, "%s is not there", from));
		return 0;
	}
	/* the reason would quote the secret */
	if (json_parse(a, from, text, n, &json, e) < 0)
		return err_config(e, "%s: secret %s: not JSON", from, item->want->name);
	return node_add_secret(a, &l->b->node, item->want->name, json, from, e);
}

/* Items of the wants; with the first things to read in documents and folders. */
static struct item *make_items(struct loader *l, const struct node_wants *w, const char *key_store,
			       struct strv *documents, struct strv *folders)
{
	struct arena *a = l->arena;
	const char *secret_store = w->secret_store ? w->secret_store : loader_beside(l, "secrets");
	struct item *items = arena_alloc(a, (w->n_keypairs + w->n_secrets) * sizeof(*items));
	struct item *item = items;
	const char *issued = store_join(a, key_store, "issued");

	for (size_t i = 0; i < w->n_keypairs; i++, item++) {
		item->want = &w->keypairs[i];
		item->folder = store_join(a, issued, item->want->name);
		strv_add(a, folders, item->folder);
	}
	for (size_t i = 0; i < w->n_secrets; i++, item++) {
		item->want = &w->secrets[i];
		item->cert = store_join(a, secret_store, item->want->name);
		strv_add(a, documents, item->cert);
	}
	return items;
}

static int add_items(struct loader *l, const struct item *items, const struct node_wants *w,
		     struct missing *m, struct err *e)
{
	size_t n = w->n_keypairs + w->n_secrets;
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		if (!items[i].cert)
			continue;
		r = i < w->n_keypairs ? add_pair(l, &items[i], m, e)
				      : add_secret(l, &items[i], m, e);
	}
	return r;
}

int loader_keys(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	struct node_wants w = kops18_wants(l->arena, &b->node, &b->env, l->cluster);
	const char *key_store = w.key_store ? w.key_store : loader_beside(l, "pki");
	struct strv documents = { 0 }, folders = { 0 };
	struct missing m = { .arena = l->arena };
	struct item *items = make_items(l, &w, key_store, &documents, &folders);
	int r;

	r = store_prefetch(b->store, &documents, &folders, e);
	documents = (struct strv){ 0 };
	for (size_t i = 0; i < w.n_keypairs && r >= 0; i++) {
		r = find_pair(l, key_store, &items[i], &m, e);
		if (r >= 0 && items[i].cert)
			strv_add(l->arena, &documents, items[i].cert);
		if (r >= 0 && items[i].key)
			strv_add(l->arena, &documents, items[i].key);
	}
	if (r >= 0)
		r = store_prefetch(b->store, &documents, NULL, e);
	if (r >= 0)
		r = add_items(l, items, &w, &m, e);
	return r < 0 ? r : fail_missing(&m, e);
}
