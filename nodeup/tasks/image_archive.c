#include "nodeup/tasks/image_archive.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "nodeup/base/json.h"
#include "nodeup/tasks/members.h"

enum { LIST_MAX = 4 << 20, LISTS = 2 };

/* Members that name an archive's images: docker's list, and OCI's. */
static const char *const lists[LISTS] = { "manifest.json", "index.json" };

/* Asks for a small member's text. */
static struct extract_take list_of(const char *member)
{
	return (struct extract_take){ .member = member,
				      .fd = memfd_create(member, MFD_CLOEXEC),
				      .max = LIST_MAX };
}

static int read_list(struct arena *a, struct extract_take *t, const char **ret, size_t *ret_n,
		     struct err *e)
{
	autobuf struct buf text = BUF_INIT(LIST_MAX);
	const int r = io_read_fd(t->fd, t->member, &text, e);

	*ret = arena_strn(a, buf_str(&text), text.len);
	*ret_n = text.len;
	return r;
}

static int no_member(const struct asset *as, const char *member, struct err *e)
{
	return err_fail(e, ERR_CONFIG, ENOENT, "asset %s holds no file '%s'", as->name, member);
}

int image_archive_find(const struct task_image *im, struct task_ctx *ctx, struct arena *a,
		       struct image_entries *ret, struct err *e)
{
	struct extract_take found[] = { { .member = im->member, .fd = -1 },
					{ .member = im->tag, .fd = -1 } };
	const size_t n = im->tag ? 2 : 1;
	bool is_known = true;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		found[i].from = members_tell(ctx, im->asset, found[i].member, false).entry;
		is_known = is_known && found[i].from;
	}
	if (!is_known)
		r = cache_take(ctx->cache, a, im->asset, found, n, e);
	for (size_t i = 0; i < n && r >= 0; i++)
		if (!found[i].from)
			r = no_member(im->asset, found[i].member, e);
	if (r < 0)
		return r;
	ret->v[0] = (struct extract_take){ .member = im->member, .fd = -1 };
	ret->v[1] = im->tag ? list_of(im->tag) : (struct extract_take){ .fd = -1 };
	ret->n = n;
	for (size_t i = 0; i < n; i++)
		ret->v[i].entry = found[i].from;
	return 0;
}

int image_archive_tag(struct image_entries *entries, struct arena *a, const char **ret,
		      struct err *e)
{
	struct extract_take *tag = &entries->v[1];
	size_t n;

	if (lseek(tag->fd, 0, SEEK_SET) < 0)
		return err_sys(e, "read '%s'", tag->member);
	return read_list(a, tag, ret, &n, e);
}

static void add_name(struct arena *a, const struct tree *name, struct strv *ret)
{
	if (name && name->kind == TREE_SCALAR && *name->scalar && !strchr(name->scalar, ' ') &&
	    !strchr(name->scalar, '\n') && !strv_has(ret, name->scalar))
		strv_add(a, ret, name->scalar);
}

/* Adds the names of an item: RepoTags in docker's list, an annotation in OCI's. */
static void add_names(struct arena *a, const struct tree *list, struct strv *ret)
{
	static const char *const keys[] = { "io.containerd.image.name",
					    "org.opencontainers.image.ref.name" };
	const struct tree *items = list->kind == TREE_SEQ ? list : tree_get(list, "manifests");

	for (size_t i = 0; items && items->kind == TREE_SEQ && i < items->n; i++) {
		const struct tree *tags = tree_get(items->items[i].value, "RepoTags");
		const struct tree *notes = tree_get(items->items[i].value, "annotations");

		for (size_t k = 0; tags && tags->kind == TREE_SEQ && k < tags->n; k++)
			add_name(a, tags->items[k].value, ret);
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			add_name(a, tree_get(notes, keys[k]), ret);
	}
}

int image_archive_names(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			struct strv *ret, struct err *e)
{
	struct extract_take takes[LISTS] = { list_of(lists[0]), list_of(lists[1]) };
	autoclose int docker = takes[0].fd, oci = takes[1].fd;
	int r = cache_take(ctx->cache, a, as, takes, LISTS, e);

	(void)docker;
	(void)oci;
	*ret = (struct strv){ 0 };
	for (size_t i = 0; i < LISTS && r >= 0; i++) {
		struct tree *list;
		const char *text;
		size_t n;

		if (!takes[i].path)
			continue;
		r = read_list(a, &takes[i], &text, &n, e);
		if (r >= 0)
			r = json_parse(a, lists[i], text, n, &list, e);
		if (r >= 0)
			add_names(a, list, ret);
	}
	return r;
}
