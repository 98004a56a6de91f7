#include "nodeup/documents/dialects.h"

#include <string.h>
#include <strings.h>
#include "assets/unpack/inflate.h"
#include "nodeup/base/buf.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kops18/kops18.h"
#include "nodeup/config/kubeup/kubeup.h"

const struct dialect *const dialects[] = { &kubeup_dialect, &kops_dialect, &kops18_dialect, NULL };

/* A row stands before that of an older format with which it shares keys. What no row recognises is of the
 * most usual dialect: its errors name the key that is missing. */
static const struct dialect *const usual = &kops18_dialect;

static bool has_key(const struct dialect *d, const char *key)
{
	for (size_t i = 0; i < d->document->n; i++)
		if (strcasecmp(d->document->fields[i].key, key) == 0)
			return true;
	return false;
}

/* The first key of a document that only this dialect has, or NULL. Where the document is of another one,
 * the keys of that one say nothing: two that follow each other share some. */
static const struct tree_item *sign_of(const struct dialect *d, const struct dialect *other,
				       const struct tree *conf)
{
	for (size_t i = 0; conf->kind == TREE_MAP && i < conf->n; i++)
		for (const char *const *sign = d->signs; *sign; sign++)
			if (strcasecmp(conf->items[i].key, *sign) == 0 &&
			    !(other && has_key(other, *sign)))
				return &conf->items[i];
	return NULL;
}

/* The one whose keys the document has. */
static int recognise(struct arena *a, const struct tree *conf, const struct dialect **ret,
		     struct err *e)
{
	const struct tree_item *first = NULL;

	*ret = usual;
	for (const struct dialect *const *d = dialects; *d; d++) {
		const struct tree_item *sign = sign_of(*d, first ? *ret : NULL, conf);

		if (sign && first)
			return err_config(e,
					  "%s: '%s' and, at %s, '%s' are keys of two kinds of "
					  "documents: %s and %s",
					  tree_where(a, &first->key_pos), first->key,
					  tree_where(a, &sign->key_pos), sign->key, (*ret)->name,
					  (*d)->name);
		if (!sign)
			continue;
		first = sign;
		*ret = *d;
	}
	return 0;
}

int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e)
{
	const struct dialect *d;
	int r = recognise(a, conf, &d, e);

	return r < 0 ? r : d->read(a, conf, o, ret, e);
}

int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e)
{
	const char *found = NULL;

	for (const struct dialect *const *d = dialects; *d; d++)
		for (const char *const *place = (*d)->places; *place; place++) {
			if (!is_there(*place))
				continue;
			if (found)
				return err_config(
					e,
					"%s and %s are both there, and nothing was applied "
					"yet: say which by --conf",
					found, *place);
			found = *place;
		}
	*ret = found;
	return 0;
}

/* All of the text at once. */
struct piece {
	const char *text;
	size_t n;
};

static ssize_t give(void *arg, const void **ret)
{
	struct piece *p = arg;
	const size_t n = p->n;

	*ret = p->text;
	p->n = 0;
	return (ssize_t)n;
}

static bool is_gzip(const char *text, size_t n)
{
	return n > 2 && (unsigned char)text[0] == 0x1f && (unsigned char)text[1] == 0x8b;
}

static int inflate_all(struct arena *a, const char *file, const char **text, size_t *n,
		       struct err *e)
{
	struct piece piece = { *text, *n };
	autobuf struct buf out = BUF_INIT(DIALECTS_DOCUMENT_MAX);
	struct inflate *z = inflate_new(give, &piece);
	const char *why = NULL;
	const void *bytes;
	ssize_t got;
	int r = 0;

	while (r == 0 && (got = inflate_read(z, &bytes, &why)) > 0)
		r = buf_add(&out, bytes, (size_t)got);
	inflate_free(z);
	if (r == 0 && got < 0)
		return err_config(e, "%s: broken gzip: %s", file, why ? why : "cut off");
	r = buf_check(&out, file, e);
	if (r < 0) {
		e->kind = ERR_CONFIG;
		return r;
	}
	*n = out.len;
	*text = arena_strn(a, buf_str(&out), out.len);
	return 0;
}

/* A boot script that some dialect writes. */
static int take_out(struct arena *a, const char *file, const char **text, size_t *n, struct err *e)
{
	if (strlen(*text) != *n)
		return err_config(e, "%s: a script with a NUL byte in it", file);
	for (const struct dialect *const *d = dialects; *d; d++) {
		int r = (*d)->script ? (*d)->script(a, file, *text, text, e) : -ENOENT;

		if (r == -ENOENT)
			continue;
		*n = strlen(*text);
		return r;
	}
	return err_config(e, "%s: a script that writes no kube_env.yaml in a way that nodeup knows",
			  file);
}

/* A script, or with others in one multipart message, as cloud-init takes it. */
static bool is_script(const char *text)
{
	return str_has_prefix(text, "#!") || str_has_prefix(text, "Content-Type: multipart/");
}

int dialects_unwrap(struct arena *a, const char *file, const char **text, size_t *n, struct err *e)
{
	int r = is_gzip(*text, *n) ? inflate_all(a, file, text, n, e) : 0;

	if (r < 0 || !is_script(*text))
		return r;
	return take_out(a, file, text, n, e);
}
