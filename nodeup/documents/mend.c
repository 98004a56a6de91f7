#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/op.h"

/* the beginning of a compressed document */
static const char packed[] = "\x1f\x8b";

/* The kept copy of one document. */
struct copy {
	struct store_text document;
	struct store_origin of;
};

static bool find_copy(struct loader *l, const char *name, struct copy *ret)
{
	struct store_texts all;

	if (!loader_kept(l, &ret->of, &all))
		return false;
	for (size_t i = 0; i < all.n; i++)
		if (str_eq(all.v[i].location, name)) {
			ret->document = all.v[i];
			return true;
		}
	return false;
}

/* Returns the damage that a crash or a full disk did to a document. NULL: the document has no such damage, so
 * somebody wrote its content on purpose. */
static const char *damage_of(const char *text, size_t n, const struct store_text *kept)
{
	if (n == 0)
		return "is empty";
	/* compressed bytes may be anything */
	if (memchr(text, '\0', n) && !str_has_prefix(text, packed))
		return "holds NUL bytes";
	return n < kept->n && memcmp(text, kept->text, n) == 0 ? "is cut short" : NULL;
}

int loader_know_instance(struct loader *l, struct err *e)
{
	struct err ignored;
	int r;

	(void)!probe_host(l->arena, l->req->root_fd, !l->policy->image_mode, &l->b->facts,
			  &ignored);
	r = loader_instance(l, e);
	return r < 0 && l->policy->at_boot && l->b->imds && !l->is_imds_silent
		       ? loader_ask_fact(l, "instanceID", e)
		       : r;
}

/* Returns whether the configuration that was applied last has gone. */
static bool is_gone(struct loader *l, const char *location, const char *name)
{
	const char *last;
	struct err ignored;

	return location == l->b->conf && access(location_path(location), F_OK) < 0 &&
	       loader_last_applied(l, &last, &ignored) == 0 && str_eq(last, name);
}

/* Returns whether these bytes differ from those of the last run that ended well. */
static bool is_new(struct loader *l, const char *text, size_t n)
{
	autobuf struct buf applied = BUF_INIT(LOADER_APPLIED_MAX);
	char hex[DIGEST_TEXT_MAX];

	return !record_read(l->req->root_fd, OWN_APPLIED, &applied) ||
	       !strstr(buf_str(&applied), digest_sha256_hex(text, n, hex));
}

/* Returns the damage of a document, and gives its kept copy. NULL: there is no damage, and the document is read as
 * it is. */
static const char *find_damage(struct loader *l, const char *location, const char *name,
			       struct copy *ret)
{
	struct err ignored;
	const char *text, *damage;
	size_t n;

	if (!l->policy->may_mend || store_get(l->b->store, location, &text, &n, &ignored) < 0 ||
	    !is_new(l, text, n) || !find_copy(l, name, ret))
		return NULL;
	damage = damage_of(text, n, &ret->document);
	return damage && loader_know_instance(l, &ignored) >= 0 &&
			       str_eq(ret->of.instance, l->b->facts.instance_id)
		       ? damage
		       : NULL;
}

/* Returns a document that the last run read beside the configuration, if both are missing now; NULL: there is none. */
static const char *find_gone_beside(struct loader *l, const char *name)
{
	const size_t n = (size_t)(str_basename(name) - name);
	struct store_origin of;
	struct store_texts all;

	if (!loader_kept(l, &of, &all))
		return NULL;
	for (size_t i = 0; i < all.n; i++) {
		const char *location = all.v[i].location;

		if (!all.v[i].issued && strncmp(location, name, n) == 0 &&
		    !str_eq(location, name) && access(location_path(location), F_OK) < 0)
			return location;
	}
	return NULL;
}

static int find_lost(struct loader *l, const char *name, struct copy *ret, struct err *e)
{
	if (!find_copy(l, name, ret))
		return err_config(
			e, "%s, which was applied last, is gone, and no copy of it is kept", name);
	if (loader_know_instance(l, e) < 0)
		return err_wrap(e, "%s is gone, and a copy of %s is kept", name, ret->of.instance);
	if (!str_eq(ret->of.instance, l->b->facts.instance_id))
		return err_config(e, "%s is gone, the kept documents are of %s, and this is %s",
				  name, ret->of.instance, l->b->facts.instance_id);
	return 0;
}

/* Returns whether the path is listed already: documents may be loaded more than once in a run. */
static bool is_listed(const struct bootstrap *b, const char *path)
{
	for (size_t i = 0; i < b->n_lost; i++)
		if (str_eq(b->lost[i].path, path))
			return true;
	return false;
}

int loader_mend(struct loader *l, const char *location, struct err *e)
{
	struct bootstrap *b = l->b;
	struct node_lost lost = { 0 };
	const char *name, *beside, *damage = "is gone";
	struct copy copy = { 0 };
	int r = 0;

	if (!policy_is_of_node(l->policy) || l->policy->image_mode || b->set ||
	    location_is_remote(location))
		return 0;
	name = loader_kept_name(l, location);
	lost.damaged = !is_gone(l, location, name);
	if (lost.damaged) {
		damage = find_damage(l, location, name, &copy);
	} else if ((beside = find_gone_beside(l, name))) {
		/* if only one document were put back, the others would count as unwanted */
		l->unparsed = location;
		r = err_config(e, "%s, which was applied last, is gone, and so is %s", name,
			       beside);
	} else {
		r = find_lost(l, name, &copy, e);
	}
	if (r < 0 || !damage)
		return r;
	/* if the configuration is a link, its neighbours are beside the link, not beside the file that it points to */
	lost.path =
		location_path(location == b->conf ? name : location_absolute(l->arena, location));
	lost.text = copy.document.text;
	lost.n = copy.document.n;
	store_forget(b->store, location);
	store_remember(b->store, &(struct store_entry){
					 .location = location, .text = lost.text, .n = lost.n });
	if (is_listed(b, lost.path))
		return 0;
	lost.why = arena_printf(l->arena, "%s %s; its copy of %s, of %s, is used and put back%s",
				lost.path, damage, copy.of.date, copy.of.instance,
				lost.damaged ? ", and what is there is set aside beside it" : "");
	arena_push(l->arena, b->lost, b->n_lost, lost);
	strv_add(l->arena, &b->warnings, lost.why);
	return 0;
}

/* Returns the damage of a document's file; NULL: it has none. */
static const char *damage_at(int root_fd, const char *path, const struct store_text *kept)
{
	autobuf struct buf text = BUF_INIT(STORE_DOCUMENT_MAX);
	struct err why;
	int r = io_read(root_fd, path, &text, &why);

	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? "is gone" : "cannot be read";
	return damage_of(buf_str(&text), text.len, kept);
}

struct strv bootstrap_damages(struct arena *a, const struct bootstrap *b, int root_fd)
{
	const char *last = io_text(a, root_fd, OWN_CONF, LOADER_RECORD_MAX);
	struct strv lines = { 0 };
	struct store_texts all;
	struct err ignored;

	if (!b->set || !last || !str_eq(str_trim(a, last), b->conf) ||
	    store_kept_texts(a, root_fd, b->set_path, NULL, &all, &ignored) < 0)
		return lines;
	for (size_t i = 0; i < all.n; i++) {
		const char *location = all.v[i].location, *path = location_path(location);
		const char *damage = path && !all.v[i].issued ? damage_at(root_fd, path, &all.v[i])
							      : NULL;

		if (damage)
			strv_addf(a, &lines, "%s %s", path, damage);
	}
	return lines;
}
