#include "assets/asset.h"
#include "assets/unpack/extract.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/loader.h"

/* Ten times the content of the largest salt tarball of kube-up. */
static const struct extract_limits limits = { .entries = 5000, .bytes = 16 << 20 };

/* Fetches the archive from one mirror; keeps its bytes only if they are right. */
static int fetch(struct loader *l, const struct asset *as, const char *url,
		 struct extract_bytes *ret, struct err *e)
{
	const char *shown = location_shown(l->arena, url), *text;
	char want[DIGEST_TEXT_MAX], got[DIGEST_TEXT_MAX];
	struct digest d;
	size_t n;
	int r = store_get(l->b->store, url, &text, &n, e);

	if (r < 0)
		return r;
	digest_of(as->digest.algo, text, n, &d);
	*ret = (struct extract_bytes){ text, n };
	if (digest_eq(&d, &as->digest))
		return 0;
	store_forget(l->b->store, url);
	r = err_fail(e, ERR_INTEGRITY, EBADMSG, "%s: wrong content", shown);
	err_note(e, "want", "%s %s", digest_algo_name(as->digest.algo),
		 digest_hex(&as->digest, want));
	err_note(e, "got", "%s %s, %zu bytes", digest_algo_name(d.algo), digest_hex(&d, got), n);
	return r;
}

/* Fetches from the first mirror with the right bytes. Reports wrong bytes rather than a mirror that does not answer. */
static int fetch_any(struct loader *l, const struct asset *as, struct extract_bytes *ret,
		     struct err *e)
{
	struct err first = { 0 };

	for (size_t i = 0; i < as->urls.n; i++) {
		struct err why = { 0 };

		if (fetch(l, as, as->urls.v[i], ret, &why) >= 0)
			return 0;
		if (i == 0 || (why.kind == ERR_INTEGRITY && first.kind != ERR_INTEGRITY))
			first = why;
	}
	if (as->urls.n > 1)
		err_note(&first, "ruled out", "%zu mirrors", as->urls.n - 1);
	*e = first;
	return err_code(e);
}

static int take(struct loader *l, const char *name, const struct extract_bytes *bytes,
		struct err *e)
{
	struct documents *d = &l->b->documents;
	struct extract_files files;
	int r = extract_read(l->arena, name, bytes, &limits, &files, e);

	for (size_t i = 0; r >= 0 && i < files.n; i++)
		arena_push(l->arena, d->files.v, d->files.n,
			   (struct documents_file){ files.v[i].path, files.v[i].text,
						    files.v[i].n });
	return r;
}

/* Adds the machine's and the document's mirrors before the archive's own URLs. */
static int add_mirrors(struct loader *l, struct asset *as, struct err *e)
{
	struct settings s = { 0 };
	int r;

	if (l->req->settings)
		s = *l->req->settings;
	r = settings_add(l->arena, &l->b->documents.settings, false, &s, l->req->errors, e);
	return r < 0 ? r : asset_add_mirrors(l->arena, as, &s.mirrors, e);
}

static int read_archive(struct loader *l, const char *where, struct err *e)
{
	struct documents *d = &l->b->documents;
	struct extract_bytes bytes;
	struct asset as;
	int r = asset_parse(l->arena, d->archive.text, &as, e);

	if (r == 0)
		r = add_mirrors(l, &as, e);
	if (r == 0)
		r = fetch_any(l, &as, &bytes, e);
	/* a node may reach mirrors that this machine cannot, so this is no error if only documents are checked */
	if (r < 0 && !policy_makes_node(l->policy) && e->kind == ERR_NET && e->errnum != ENOENT) {
		if (!l->req->errors || !errs_count(l->req->errors))
			strv_addf(l->arena, &l->b->warnings,
				  "%s: not checked: what the templates of %s make of this "
				  "document: %s",
				  where, as.name, e->msg);
		return 0;
	}
	if (r >= 0)
		r = take(l, as.name, &bytes, e);
	return r < 0 ? err_wrap(e, "%s", where) : r;
}

int loader_archive(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	int r;

	b->archive_why = (struct err){ 0 };
	if (!b->documents.archive.text)
		return 0;
	r = errs_keep(l->req->errors,
		      read_archive(l, tree_where(l->arena, &b->documents.archive.pos), e), e);
	if (r >= 0 || !l->req->errors)
		return r;
	/* the other documents are read without the archive; if the run ends anyway, a silent mirror is not reported */
	if (!l->finds_errors || e->kind != ERR_NET)
		b->archive_why = *e;
	return 0;
}
