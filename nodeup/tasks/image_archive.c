#include "nodeup/tasks/image_archive.h"

#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/tasks/member.h"

enum { LIST_MAX = 4 << 20 };

const char *const image_lists[IMAGE_LISTS] = { "manifest.json", "index.json" };

int image_archive_member(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			 const char *member, const char **ret, struct err *e)
{
	const char *link;
	int r;

	if (!cache_has_tree(ctx->cache, as) || !cache_is_signed(ctx->cache, as))
		return err_fail(e, ERR_SYSTEM, EAGAIN, "asset %s is not unpacked", as->name);
	r = member_find(ctx->cache_root_fd, a, cache_unpacked_path(ctx->cache, a, &as->digest),
			member, ret, &link, e);
	if (r < 0 || *ret)
		return r;
	return err_fail(e, ERR_CONFIG, ENOENT, "asset %s holds no file '%s'", as->name, member);
}

static void add_name(struct arena *a, const struct tree *name, struct strv *ret)
{
	if (name && name->kind == TREE_SCALAR && *name->scalar && !strchr(name->scalar, ' ') &&
	    !strchr(name->scalar, '\n') && !strv_has(ret, name->scalar))
		strv_add(a, ret, name->scalar);
}

/* Of docker's list an item has its names as RepoTags, of OCI's one as an annotation. */
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
	*ret = (struct strv){ 0 };
	for (size_t i = 0; i < IMAGE_LISTS; i++) {
		autobuf struct buf text = BUF_INIT(LIST_MAX);
		const char *path;
		struct tree *list;
		int r = image_archive_member(as, ctx, a, image_lists[i], &path, e);

		if (r == -ENOENT)
			continue;
		if (r == 0)
			r = io_read(ctx->cache_root_fd, path, &text, e);
		if (r >= 0)
			r = json_parse(a, image_lists[i], arena_str(a, buf_str(&text)), text.len,
				       &list, e);
		if (r < 0)
			return r;
		add_names(a, list, ret);
	}
	return 0;
}
