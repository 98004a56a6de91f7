#include "nodeup/documents/loader.h"

#include <string.h>
#include "assets/digest.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/location.h"
#include "nodeup/host/probe.h"

/* Returns a document's length without the line breaks at its end: a here-document adds one. */
static size_t length_of(const struct user_data_file *f)
{
	size_t n = f->n;

	while (n > f->padding && f->text[n - 1] == '\n')
		n--;
	return n - f->padding;
}

static bool is_same(const struct user_data_file *x, const struct user_data_file *y)
{
	const size_t n = length_of(x);

	return n == length_of(y) && memcmp(x->text + x->padding, y->text + y->padding, n) == 0;
}

/* Returns whether IMDS may be asked: it has answered, and the documents are for this machine. */
static bool may_ask(const struct loader *l)
{
	return l->b->imds && !l->req->facts_file && !l->is_imds_silent &&
	       !location_is_imds(l->b->conf) && imds_has_answered(l->b->imds);
}

/* Returns this instance's script that holds the document of --conf; NULL: not known. */
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

static int find_in(struct loader *l, const struct vintage_sources *sources,
		   const struct dialect_opts *o, struct vintage *v, struct err *e)
{
	struct vintage found, both;
	struct err ignored;
	int r;

	if (vintage_find(l->arena, sources, &found, &ignored) < 0 || !found.newest)
		return 0;
	r = vintage_join(l->arena, v, &found, &both, e);
	r = vintage_settle(l->arena, o, r, &both, e);
	if (r == 0)
		r = vintage_check(l->arena, &both, o, e);
	if (r == 0)
		*v = both;
	return r;
}

/* Returns the version in the store, if the store still has the configuration that the documents name. Without that
 * configuration returns NULL, as a newer kops may have written the store. */
static const char *stored_version(struct loader *l, const char *location)
{
	const struct documents *d = &l->b->documents;
	const char *text;
	struct err ignored;
	size_t n;

	if (!d->in_store || !d->dialect->cluster_tells || l->b->replayed || !d->cluster_at ||
	    !str_eq(d->cluster_text.path, d->cluster_at) ||
	    d->dialect->check_cluster(l->arena, d, d->cluster_at, d->cluster_text.text,
				      d->cluster_text.n, &ignored) < 0 ||
	    store_get(l->b->store, location, &text, &n, &ignored) < 0)
		return NULL;
	return arena_strn(l->arena, text, n);
}

static int ask(struct loader *l, const struct dialect_opts *o, struct vintage *v, struct err *e)
{
	struct vintage_sources sources = { .script = own_script(l),
					   .script_pos = { LOCATION_IMDS, 1, 1 },
					   .document = tree_null(l->arena) };
	const char *stored_at = arena_printf(l->arena, "%s/kops-version.txt", l->b->documents.base);
	int r = sources.script ? find_in(l, &sources, o, v, e) : 0;

	if (r < 0 || vintage_is_exact(v))
		return r;
	sources.script = NULL;
	sources.stored = stored_version(l, stored_at);
	sources.stored_pos.file = location_shown(l->arena, stored_at);
	return sources.stored ? find_in(l, &sources, o, v, e) : 0;
}

static const char *digest_of_conf(struct loader *l, char hex[static DIGEST_TEXT_MAX])
{
	const struct user_data_file *conf = &l->user_data.conf;

	return digest_sha256_hex(conf->text + conf->padding, length_of(conf), hex);
}

bool loader_read_vintage(struct loader *l, struct vintage *ret)
{
	autobuf struct buf record = BUF_INIT(LOADER_RECORD_MAX);
	char hex[DIGEST_TEXT_MAX];
	struct strv lines;

	if (!l->user_data.conf.text || !record_read(l->req->root_fd, OWN_VINTAGE, &record))
		return false;
	lines = strv_split(l->arena, str_trim(l->arena, buf_str(&record)), '\n');
	/* an earlier nodeup, which knew only the newest kops, wrote this record */
	if (lines.n == 1 && *lines.v[0] && l->b->documents.dialect &&
	    l->b->documents.dialect->cluster_tells) {
		*ret = vintage_newest();
		return true;
	}
	if (lines.n < 2 || !strchr(lines.v[1], ' ') ||
	    !vintage_of_record(l->arena, strchr(lines.v[1], ' ') + 1, ret))
		return false;
	if (!str_has_prefix(lines.v[1], digest_of_conf(l, hex)))
		vintage_set_former(ret);
	return true;
}

/* Returns whether both versions make the same node: they are equal, or kops changed nothing between them. */
static bool is_as(const struct loader *l, const struct vintage *kept, const struct vintage *v)
{
	const struct version now = vintage_version(l->arena, v);
	const struct version before = vintage_version(l->arena, kept);
	const struct dialect *d = l->b->documents.dialect;

	return (now.minor == before.minor && now.patch == before.patch) ||
	       (d->is_same_kops && d->is_same_kops(&now, &before));
}

/* Keeps an earlier guess: a boot may not remake the node as another kops would make it. */
static void keep_guess(struct loader *l, const struct vintage *kept, struct vintage *v)
{
	const int minor = vintage_version(l->arena, kept).minor;
	const bool leaves_open = !v->text &&
				 (!v->newest || (v->oldest <= minor && minor <= v->newest));

	/* another document's version helps only if this document's keys leave several versions possible */
	if (kept->is_former && (!leaves_open || v->oldest == v->newest))
		return;
	if (!leaves_open && (is_as(l, kept, v) || !l->policy->at_boot))
		return;
	if (!leaves_open) {
		l->b->guess_why = arena_printf(
			l->arena,
			"documents are of %s, and this node was made as of %s; it stays so until "
			"nodeup apply is run by hand",
			vintage_title(l->arena, v), vintage_title(l->arena, kept));
		strv_add(l->arena, &l->b->warnings, l->b->guess_why);
	}
	*v = *kept;
}

/* Guesses the version by the files of the host, unless nodeup made the node: then the files tell no more than the
 * record. If facts are given, they are another machine's, and only files below a root may be of that machine. */
static void guess(struct loader *l, bool is_ours, struct vintage *v)
{
	struct facts *f = is_ours ? NULL : &l->b->facts;

	if (f && policy_is_of_node(l->policy) && (l->policy->image_mode || !l->req->facts_file))
		probe_left(l->arena, l->req->root_fd, f);
	vintage_guess(l->arena, l->b->documents.cluster, f, v);
}

int loader_vintage(struct loader *l, const struct dialect_opts *o, struct err *e)
{
	struct documents *d = &l->b->documents;
	struct vintage kept = { 0 }, v = d->vintage;
	char hex[DIGEST_TEXT_MAX];
	int r = 0;

	l->b->guess_why = NULL;
	l->b->vintage = NULL;
	if (o->recorded && o->recorded(o->records, &kept) && vintage_is_exact(&kept))
		r = vintage_settle(l->arena, o, vintage_join(l->arena, &kept, &v, &v, e), &v, e);
	else if (!vintage_is_exact(&v))
		r = ask(l, o, &v, e);
	if (r < 0)
		return r;
	if (d->dialect->cluster_tells && !v.text)
		guess(l, kept.newest != 0, &v);
	if (kept.newest && !vintage_is_exact(&kept))
		keep_guess(l, &kept, &v);
	d->vintage = v;
	if (v.newest && l->user_data.conf.text)
		l->b->vintage = arena_printf(l->arena, "%s %s", digest_of_conf(l, hex),
					     vintage_record(l->arena, &v));
	return 0;
}
