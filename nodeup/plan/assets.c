#include "nodeup/plan/assets.h"

#include <string.h>
#include "nodeup/plan/builders.h"

/* Parses the text of an asset, and adds the mirrors and keys of this machine's own settings. */
static int parse_asset(struct plan *p, const char *text, struct asset *ret, struct err *e)
{
	static const struct settings none;
	const struct settings *s = p->req->settings ? p->req->settings : &none;
	int r = asset_parse(p->arena, text, ret, e);

	/* a mirror that cannot be used is wrong for every asset, so only the first asset reports it */
	if (r < 0 || p->no_mirrors)
		return r;
	r = asset_add_mirrors(p->arena, ret, &s->mirrors, e);
	p->no_mirrors = r < 0;
	return r;
}

static void warn_sha1(struct plan *p, const struct asset *as, const char *where)
{
	if (as->digest.algo == DIGEST_SHA1 && !p->sha1)
		p->sha1 = arena_printf(
			p->arena,
			"%s: asset %s: sha1 is broken; name this and other assets by sha256", where,
			as->name);
}

/* Returns the digest in hex, by which maps know an asset's bytes. */
static const char *digest_text(const struct plan *p, const struct asset *as)
{
	char hex[DIGEST_TEXT_MAX];

	return arena_str(p->arena, digest_hex(&as->digest, hex));
}

static bool is_known(const struct plan *p, const struct asset *as)
{
	return map_get(&p->known_by, digest_text(p, as)) != NULL;
}

/* Remembers the asset by its bytes. If the documents name the same bytes more than once, joins their entries. */
static void know_asset(struct plan *p, struct asset *as)
{
	struct asset *known = map_put(p->arena, &p->known_by, digest_text(p, as), as);

	if (known != as)
		asset_join(known, as);
}

void plan_parse_assets(struct plan *p)
{
	const struct node_texts *texts = &p->req->node->assets;
	struct err e;

	if (trust_begin(p, &e) < 0)
		plan_fail(p, &e);
	for (size_t i = 0; i < texts->n; i++) {
		const char *where = tree_where(p->arena, &texts->v[i].pos);
		struct asset *as = arena_new(p->arena, struct asset);

		int r = parse_asset(p, texts->v[i].text, as, &e);

		r = r < 0 ? err_wrap(&e, "%s", where)
			  : trust_asset(p, as, texts->v[i].signature, true, where, &e);
		if (r < 0) {
			/* a builder may look for the entry that could not be read */
			p->is_partial = true;
			plan_fail(p, &e);
			continue;
		}
		as->listed = where;
		warn_sha1(p, as, where);
		know_asset(p, as);
		arena_push(p->arena, p->assets, p->n_assets, as);
	}
}

/* Returns the task of that kind for these bytes, and makes it if there is none. Two archives may share a file name,
 * so the digest decides. */
static struct task *asset_task(struct plan *p, enum task_kind kind, const struct asset *as)
{
	const char *by_bytes = arena_printf(p->arena, "%d %s", kind, digest_text(p, as));
	const char *name = as->name, *by_name = arena_printf(p->arena, "%d/%s", kind, name);
	struct task *t = map_get(&p->asset_by, by_bytes);

	if (t)
		return t;
	if (map_get(&p->asset_by, by_name))
		name = asset_url_public(p->arena, as->urls.v[0]);
	t = plan_new_task(p, kind, name);
	t->asked = as->listed;
	t->asset.asset = as;
	(void)map_put(p->arena, &p->asset_by, by_bytes, t);
	(void)map_put(p->arena, &p->asset_by, by_name, t);
	return t;
}

static size_t count_archives(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_assets; i++)
		n += asset_is_archive(p->assets[i]);
	return n;
}

/* Asks the archive for this member; NULL asks only for the archive. Archives with the same bytes are read only once,
 * so they share one list. */
static void want_member(struct plan *p, struct asset *as, const char *member)
{
	struct asset *known = map_get(&p->known_by, digest_text(p, as));

	if (!known->members) {
		known->members = arena_new(p->arena, struct strv);
		*known->members = (struct strv){ 0 };
	}
	as->unpack = true;
	as->members = known->members;
	if (member && !strv_has(as->members, member))
		strv_add(p->arena, as->members, member);
}

void build_assets(struct plan *p)
{
	/* if there are several archives, a broken archive may hold nothing that is needed */
	const bool optional = count_archives(p) > 1;

	for (size_t i = 0; i < p->n_assets; i++) {
		struct task *t = asset_task(p, TASK_ASSET, p->assets[i]);

		if (!asset_is_archive(p->assets[i]))
			continue;
		t->optional = optional;
		want_member(p, p->assets[i], NULL);
		asset_task(p, TASK_UNPACK, p->assets[i])->optional = optional;
	}
}

/* Fails, and tells a person which documents to look at: "kube_env.yaml:2:3 lists kubelet, cni.tar.gz". */
static void fail_missing(struct plan *p, const char *what)
{
	const struct node_texts *texts = &p->req->node->assets;
	struct strv names = { 0 };
	struct err *e;

	if (p->is_partial || p->lists_none)
		return;
	e = plan_error(p);
	for (size_t i = 0; i < p->n_assets; i++)
		strv_add(p->arena, &names, p->assets[i]->name);
	if (names.n == 0) {
		(void)err_config(e, "%s: needed for %s, but the documents list no assets", what,
				 p->builder);
		p->lists_none = true; /* reports an empty list only once */
		return;
	}
	(void)err_config(e, "%s: Assets: no %s, which %s needs",
			 tree_where(p->arena, &texts->v[0].pos), what, p->builder);
	err_note(e, "got", "%s", strv_join(p->arena, &names, ", "));
}

static bool is_equal_install(const struct task *t, const struct task_install *install)
{
	const struct task_install *have = &t->install;

	return t->kind == TASK_INSTALL && have->mode == install->mode &&
	       str_eq(have->member, install->member) &&
	       digest_eq(&have->sources[0]->digest, &install->sources[0]->digest);
}

static struct task *add_install(struct plan *p, const char *path,
				const struct task_install *install)
{
	struct task *t = plan_at(p, path);

	if (!t) {
		t = plan_new_task(p, TASK_INSTALL, path);
		t->install = *install;
	}
	return is_equal_install(t, install) ? t : plan_conflict(p, t);
}

static void install_plain(struct plan *p, const struct asset *as, const char *path, mode_t mode)
{
	struct task_install install = { .mode = mode };

	(void)asset_task(p, TASK_ASSET, as);
	arena_push(p->arena, install.sources, install.n_sources, as);
	(void)add_install(p, path, &install);
}

/* Returns the asset of that name. If the list has several, all must have the same bytes, and the last one is
 * returned. */
static const struct asset *find_plain(struct plan *p, const char *name)
{
	const struct asset *found = NULL;

	for (size_t i = 0; i < p->n_assets; i++) {
		const struct asset *as = p->assets[i];

		if (strcmp(as->name, name) != 0)
			continue;
		if (found && !digest_eq(&found->digest, &as->digest))
			plan_refuse(p, "%s: Assets: a second, different %s",
				    tree_where(p->arena, &p->req->node->assets.v[i].pos), name);
		found = as;
	}
	return found;
}

void plan_install(struct plan *p, const char *asset_name, const char *path)
{
	const struct asset *as = find_plain(p, asset_name);

	if (as)
		install_plain(p, as, path, 0755);
	else
		fail_missing(p, arena_printf(p->arena, "asset %s", asset_name));
}

void plan_install_known(struct plan *p, const char *name, const char *text, const char *path,
			mode_t mode)
{
	const struct asset *listed = find_plain(p, name);
	struct asset *as = arena_new(p->arena, struct asset);
	struct err e;

	if (listed) {
		install_plain(p, listed, path, mode);
		return;
	}
	if (parse_asset(p, text, as, &e) < 0 ||
	    (!is_known(p, as) && trust_built_in(p, as, text, &e) < 0)) {
		plan_fail(p, &e);
		return;
	}
	know_asset(p, as);
	install_plain(p, as, path, mode);
}

static bool is_archive_of(const struct asset *as, const char *start)
{
	return asset_is_archive(as) && str_has_prefix(as->name, start);
}

bool plan_has_archive(const struct plan *p, const char *start)
{
	for (size_t i = 0; i < p->n_assets; i++)
		if (is_archive_of(p->assets[i], start))
			return true;
	return false;
}

struct task *plan_install_member_of(struct plan *p, const char *archives, const char *member,
				    const char *path, mode_t mode)
{
	struct task_install install = { .mode = mode, .member = member };

	for (size_t i = 0; i < p->n_assets; i++) {
		struct task *fetch, *unpack;

		if (!is_archive_of(p->assets[i], archives))
			continue;
		fetch = asset_task(p, TASK_ASSET, p->assets[i]);
		unpack = asset_task(p, TASK_UNPACK, p->assets[i]);
		/* a caller that names its archives knows that the member is in them */
		if (*archives)
			fetch->optional = unpack->optional = false;
		want_member(p, p->assets[i], member);
		arena_push(p->arena, install.sources, install.n_sources, p->assets[i]);
	}
	if (install.n_sources)
		return add_install(p, path, &install);
	fail_missing(p, arena_printf(p->arena, "archive %s%sthat could hold %s", archives,
				     *archives ? "* " : "", member));
	return arena_new(p->arena, struct task);
}

void plan_install_member(struct plan *p, const char *member, const char *path, mode_t mode)
{
	(void)plan_install_member_of(p, "", member, path, mode);
}

/* Returns the asset of an image that is an archive. If the asset's text cannot be parsed, the plan fails and NULL is
 * returned. */
static struct asset *parse_image(struct plan *p, const struct node_image *image)
{
	const char *where = tree_where(p->arena, &image->pos);
	struct asset *as = arena_new(p->arena, struct asset);
	struct err e;
	int r;

	if (str_is_empty(image->hash) || str_is_empty(image->source)) {
		plan_lacks(p, "%s: image %s: no %s", where, image->name,
			   str_is_empty(image->hash) ? "hash" : "source");
		return NULL;
	}
	r = parse_asset(p, arena_printf(p->arena, "%s@%s", image->hash, image->source), as, &e);
	if (r < 0)
		(void)err_wrap(&e, "%s: image %s", where, image->name);
	else
		r = trust_asset(p, as, image->signature, false, where, &e);
	if (r < 0) {
		plan_fail(p, &e);
		return NULL;
	}
	as->listed = where;
	know_asset(p, as);
	return as;
}

void plan_image(struct plan *p, const struct node_image *image)
{
	struct asset *as = parse_image(p, image);
	const char *where = tree_where(p->arena, &image->pos);

	if (!as)
		return;
	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];

		if (t->kind != TASK_IMAGE || strcmp(t->name, image->name) != 0)
			continue;
		if (!digest_eq(&t->image.asset->digest, &as->digest))
			plan_refuse(p, "%s: a second, different image %s", where, image->name);
		return;
	}
	p->asked = where;
	warn_sha1(p, as, where);
	asset_task(p, TASK_ASSET, as)->optional = false;
	plan_new_task(p, TASK_IMAGE, image->name)->image = (struct task_image){
		.name = image->name,
		.asset = as,
		.in_containerd = plan_uses_containerd(p),
		.is_unnamed = image->is_unnamed,
	};
}

void plan_image_member(struct plan *p, const struct node_member_image *image)
{
	struct asset *as = arena_new(p->arena, struct asset);
	struct err e;

	if (parse_asset(p, image->archive.text, as, &e) < 0) {
		plan_fail(p, &e);
		return;
	}
	as = map_get(&p->known_by, digest_text(p, as));
	if (!as) {
		plan_refuse(p, "%s: the archive of image %s is not an asset",
			    tree_where(p->arena, &image->archive.pos), image->name);
		return;
	}
	asset_task(p, TASK_ASSET, as)->optional = false;
	/* the unpack task reports where the members are in the archive */
	want_member(p, as, image->member);
	if (image->tag)
		want_member(p, as, image->tag);
	plan_new_task(p, TASK_IMAGE, image->name)->image = (struct task_image){
		.name = image->name,
		.asset = as,
		.member = image->member,
		.tag = image->tag,
		.loaded_as = image->loaded_as,
	};
}

void plan_package_file(struct plan *p, const char *what, const char *name, const char *text)
{
	struct asset *as = arena_new(p->arena, struct asset);
	struct task *t = plan_new_task(p, TASK_PACKAGE, name);
	struct err e;
	int r = parse_asset(p, text, as, &e);

	t->package.family = plan_distro(p)->family;
	strv_add(p->arena, &t->package.names, name);
	/* a machine image is built without this package: the report names it as missing */
	if (r == 0 && p->req->image_mode)
		return;
	if (r == 0 && !is_known(p, as)) {
		r = trust_built_in(p, as, text, &e);
		if (r < 0)
			err_note(&e, "or",
				 "start from an image that has it from elsewhere: that is used");
	}
	if (r < 0) {
		(void)err_wrap(&e, "%s", what);
		plan_fail(p, &e);
		return;
	}
	know_asset(p, as);
	t->package.source = as;
	asset_task(p, TASK_ASSET, as)->optional = false;
}

static void bake_image(struct plan *p, const struct node_image *image)
{
	const struct asset *as = parse_image(p, image);

	if (!as)
		return;
	warn_sha1(p, as, tree_where(p->arena, &image->pos));
	(void)asset_task(p, TASK_ASSET, as);
}

void build_bake(struct plan *p)
{
	const struct node *n = p->req->node;

	build_assets(p);
	for (size_t i = 0; i < n->images.n; i++)
		bake_image(p, &n->images.v[i]);
	/* protokube's source may be no URL: then the runtime pulls the image */
	if (n->protokube.source && strstr(n->protokube.source, "://"))
		bake_image(p, &n->protokube);
	/* an asset that a machine image lacks would be missing on every machine that boots from the image */
	for (size_t i = 0; i < p->n; i++)
		p->tasks[i]->optional = false;
	p->keep_unused = true;
}
