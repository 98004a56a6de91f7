#include "assets/asset.h"

#include <ctype.h>
#include <string.h>
#include "assets/url.h"
#include "nodeup/base/show.h"

static const struct {
	const char *suffix;
	enum asset_form form;
} forms[] = {
	{ ".tar.gz", ASSET_TAR_GZ }, { ".tgz", ASSET_TAR_GZ },      { ".tar.xz", ASSET_TAR_XZ },
	{ ".txz", ASSET_TAR_XZ },    { ".tar.zst", ASSET_TAR_ZST }, { ".tzst", ASSET_TAR_ZST },
};

static const char *const schemes[] = { "http", "https", "s3", "file" };

/* Returns the '@' that ends the hash, or NULL; a '@' after "://" belongs to a URL. */
static const char *find_hash_end(const char *text)
{
	const char *at = strchr(text, '@'), *url = strstr(text, "://");

	return at && (!url || at < url) ? at : NULL;
}

/* S3 puts the bucket into a host name; old buckets have capitals and underscores. */
static bool is_bucket(const struct url *u)
{
	for (size_t i = 0; i < u->authority_n; i++)
		if (!isalnum((unsigned char)u->authority[i]) && !strchr("-._", u->authority[i]))
			return false;
	return u->authority_n >= 3 && u->authority == u->scheme + strlen("s3://");
}

static int check_url(struct arena *a, const char *url, struct err *e)
{
	struct url u = url_split(url);
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		known = known || url_has_scheme(&u, schemes[i]);
	if (!known)
		return err_config(e, "asset '%s': wanted an http, https, s3 or file URL",
				  asset_url_public(a, url));
	if (!url_has_scheme(&u, "file") && u.host_n == 0)
		return err_config(e, "asset '%s': the URL names no host", asset_url_public(a, url));
	if (url_has_scheme(&u, "s3") && !is_bucket(&u))
		return err_config(e, "asset '%s': wanted s3://bucket/key",
				  asset_url_public(a, url));
	if (!show_is_clean(url))
		return err_config(e, "asset '%s': a control character", asset_url_public(a, url));
	if (!url_host_is_ascii(&u))
		return err_config(e, "asset '%s': its host is not ASCII: write such a name as xn--",
				  asset_url_public(a, url));
	/* a link-local address, such as that of the metadata service, is no mirror; only the client of that service
	 * may use it */
	if (url_is_link_local(&u))
		return err_config(e, "asset '%s': a link-local address", asset_url_public(a, url));
	return 0;
}

static int take_name(struct arena *a, struct asset *as, struct err *e)
{
	struct url u = url_split(as->urls.v[0]);

	as->name = str_basename(arena_strn(a, u.path, u.path_n));
	if (str_is_empty(as->name) || str_eq(as->name, ".") || str_eq(as->name, ".."))
		return err_config(e, "asset '%s': the URL ends in no file name",
				  asset_url_public(a, as->urls.v[0]));
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (str_has_suffix(as->name, forms[i].suffix))
			as->form = forms[i].form;
	return 0;
}

/* Returns the first URL of a list in a form for people. The other URLs may hold secrets too, so they are left out. */
static char *first_public(struct arena *a, const char *urls)
{
	return asset_url_public(a, arena_strn(a, urls, strcspn(urls, ",")));
}

int asset_parse(struct arena *a, const char *text, struct asset *ret, struct err *e)
{
	struct asset as = { .form = ASSET_PLAIN };
	const char *trimmed = str_trim(a, text);
	const char *at = find_hash_end(trimmed);
	struct strv urls;
	int r;

	if (!at)
		return err_config(e, "asset '%s': no hash, wanted hash@url",
				  first_public(a, trimmed));
	r = digest_parse(trimmed, (size_t)(at - trimmed), &as.digest, e);
	if (r < 0)
		return err_wrap(e, "asset '%s'", first_public(a, at + 1));
	urls = strv_split(a, at + 1, ',');
	for (size_t i = 0; i < urls.n; i++) {
		const char *url = str_trim(a, urls.v[i]);

		r = check_url(a, url, e);
		if (r < 0)
			return r;
		strv_add_once(a, &as.urls, url);
	}
	if (as.urls.n == 0)
		return err_config(e, "asset '%s': a hash without a URL", trimmed);
	r = take_name(a, &as, e);
	if (r < 0)
		return r;
	*ret = as;
	return 0;
}

/* Adds one URL of the mirror for each URL that begins with the mirror's FROM. */
static int add_mirror(struct arena *a, const char *mirror, const struct strv *urls,
		      struct strv *ret, struct err *e)
{
	const size_t n = strcspn(mirror, "=");

	for (size_t i = 0; i < urls->n; i++) {
		const char *url;
		int r;

		if (strncmp(urls->v[i], mirror, n) != 0 || mirror[n] == '\0')
			continue;
		url = arena_printf(a, "%s%s", mirror + n + 1, urls->v[i] + n);
		r = check_url(a, url, e);
		if (r < 0)
			return err_wrap(e, "mirrors");
		strv_add_once(a, ret, url);
	}
	return 0;
}

int asset_add_mirrors(struct arena *a, struct asset *as, const struct strv *mirrors, struct err *e)
{
	struct strv urls = { 0 };

	for (size_t i = 0; i < mirrors->n; i++) {
		int r = add_mirror(a, mirrors->v[i], &as->urls, &urls, e);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < as->urls.n; i++)
		strv_add_once(a, &urls, as->urls.v[i]);
	as->urls = urls;
	return 0;
}

static bool is_in_ring(const struct asset *first, const struct asset *as)
{
	for (const struct asset *t = first; t; t = asset_next(first, t))
		if (t == as)
			return true;
	return false;
}

void asset_join(struct asset *as, struct asset *other)
{
	struct asset *last = as;

	if (is_in_ring(as, other))
		return;
	while (last->twin && last->twin != as)
		last = last->twin;
	/* puts the twins of `other` after the twins of `as`, to keep the order of the documents */
	last->twin = other;
	for (last = other; last->twin && last->twin != other;)
		last = last->twin;
	last->twin = as;
}

const struct asset *asset_next(const struct asset *first, const struct asset *at)
{
	return at->twin == first ? NULL : at->twin;
}

struct asset *asset_copy_archive(struct arena *a, const struct asset *as)
{
	struct asset *copy = arena_new(a, struct asset);
	struct strv *members = as->members ? arena_new(a, struct strv) : NULL;

	*copy = (struct asset){ .name = arena_str(a, as->name),
				.digest = as->digest,
				.form = as->form,
				.unpack = as->unpack,
				.members = members };
	if (members)
		*members = (struct strv){ 0 };
	for (size_t i = 0; members && i < as->members->n; i++)
		strv_add(a, members, arena_str(a, as->members->v[i]));
	return copy;
}

bool asset_has_members(const struct asset *as, const struct asset *other)
{
	if (!as->members || !other->members)
		return !as->members;
	for (size_t i = 0; i < other->members->n; i++)
		if (!strv_has(as->members, other->members->v[i]))
			return false;
	return true;
}

bool asset_is_archive(const struct asset *as)
{
	return as->form != ASSET_PLAIN;
}

char *asset_url_public(struct arena *a, const char *url)
{
	char out[URL_PUBLIC_MAX];

	return arena_str(a, url_public(url, out));
}
