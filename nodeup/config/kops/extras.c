#include "nodeup/config/kops/model.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/extras.h"
#include "nodeup/config/volume_item.h"

/* Reads what users add to a node. source: kops 1.37 nodeup/pkg/model/{hooks,file_assets,volumes}.go */

enum { FILE_MODE = 0440, MODE_MAX = 07777, VOLUMES_MAX = 100 };

/* How long a disk may take to appear; it was attached when the instance was created. */
#define DEVICE_TIMEOUT_NS (60 * DUR_SEC)

static const char files_dir[] = "/srv/kubernetes/assets";

/* Returns item i of the list at that key, as the document has it. */
static const struct tree *item_of(const struct kops_config *c, const char *key, size_t i)
{
	const struct tree *list = tree_lookup(c->tree, key);

	return list && i < list->n ? list->items[i].value : c->tree;
}

static int check_hook(const struct extras_item *it, const struct kops_hook *h, const char *image,
		      struct err *e)
{
	int r = extras_check_units(it, h->name, &h->requires, &h->before, e);

	/* if a unit is turned off, only its name counts */
	if (r < 0 || (h->enabled.set && !h->enabled.v))
		return r;
	if (h->has_exec_container && !*image)
		return err_config(e, "%s.execContainer: no image", it->where);
	if (str_is_empty(h->manifest) && (!h->has_exec_container || h->use_raw_manifest))
		return err_config(e, "%s: neither execContainer nor manifest", it->where);
	return 0;
}

static int add_hook(const struct extras_item *it, const struct kops_hook *h, const char *usual_name,
		    struct node *ret, struct err *e)
{
	const char *image = str_trim(it->arena, h->image ? h->image : "");
	const bool is_container = h->has_exec_container && !h->use_raw_manifest;
	struct node_hook hook = {
		.name = str_is_empty(h->name) ? usual_name : h->name,
		.requires = h->requires,
		.before = h->before,
		.disabled = h->enabled.set && !h->enabled.v,
		.manifest = is_container ? NULL : h->manifest,
		.is_whole = h->use_raw_manifest,
		.image = is_container ? image : NULL,
		.command = h->command,
		.environment = h->environment,
	};
	int r = check_hook(it, h, image, e);

	if (r == 0)
		extras_add_hook(it, &hook, ret);
	return r;
}

static int add_hooks(const struct reading *in, const struct kops_config *c)
{
	const struct kops_hooks *const both[] = { &c->hooks_of_group, &c->hooks_of_cluster };
	static const char *const endings[] = { "-ig", "" };
	struct map seen = { 0 };
	size_t n = 0;
	int r = 0;

	for (size_t k = 0; k < ARRAY_LEN(both); k++)
		for (size_t i = 0; i < both[k]->n && r == 0; i++) {
			struct extras_item it = { .arena = in->arena, .seen = &seen };

			it.pos = c->hooks_tree->items[k].value->items[i].value->pos;
			it.where = arena_printf(in->arena, "%s: Hooks[%zu][%zu]",
						tree_where(in->arena, &it.pos), k, i);
			if (n++ == EXTRAS_HOOKS_MAX)
				return err_config(in->err, "%s: more than %d", it.where,
						  EXTRAS_HOOKS_MAX);
			r = errs_keep(
				in->opts->errors,
				add_hook(&it, &both[k]->v[i],
					 arena_printf(in->arena, "kops-hook-%zu%s", i, endings[k]),
					 in->node, in->err),
				in->err);
		}
	return r;
}

static int read_mode(const struct extras_item *it, const char *text, unsigned int *ret,
		     struct err *e)
{
	char *end;
	unsigned long mode;

	*ret = FILE_MODE;
	if (str_is_empty(text))
		return 0;
	mode = strtoul(text, &end, 8);
	if (strspn(text, "01234567") != strlen(text) || *end || mode > MODE_MAX)
		return err_config(e, "%s: '%s' is not a mode: expected octal digits, as in 0440",
				  extras_key(it, "mode"), text);
	*ret = (unsigned int)mode;
	return 0;
}

static int add_file(const struct extras_item *it, const struct kops_file_asset *f, struct node *ret,
		    struct err *e)
{
	struct node_file file = { .content = f->content ? f->content : "", .pos = it->pos };
	int r = extras_path(it, f->path, f->name, files_dir, &file.path, e);

	file.len = strlen(file.content);
	if (r == 0)
		r = read_mode(it, f->mode, &file.mode, e);
	if (r == 0 && f->is_base64)
		r = extras_decode(it->arena, extras_key(it, "content"), file.content, &file.content,
				  &file.len, e);
	if (r == 0)
		extras_add_file(it, &file, ret);
	return r;
}

static int add_files(const struct reading *in, const struct kops_config *c)
{
	struct map seen = { 0 };
	int r = 0;

	for (size_t i = 0; i < c->file_assets.n && r == 0; i++) {
		struct extras_item it = { .arena = in->arena, .seen = &seen };

		it.pos = item_of(c, "FileAssets", i)->pos;
		it.where = arena_printf(in->arena, "%s: FileAssets[%zu]",
					tree_where(in->arena, &it.pos), i);
		if (i == EXTRAS_FILES_MAX)
			return err_config(in->err, "%s: more than %d", it.where, EXTRAS_FILES_MAX);
		r = errs_keep(in->opts->errors,
			      add_file(&it, &c->file_assets.v[i], in->node, in->err), in->err);
	}
	return r;
}

/* Returns the file system that the name means. kops accepts no other names, and it accepts btrfs only in its own
 * misspelling. */
static const char *file_system(const char *name)
{
	static const struct {
		const char *name, *means;
	} known[] = {
		{ "", "ext4" },      { "ext4", "ext4" },   { "xfs", "xfs" },
		{ "btfs", "btrfs" }, { "btrfs", "btrfs" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].means;
	return NULL;
}

static int read_volume(struct volume_item *it, const struct kops_volume_mount *m)
{
	struct node_volume *v = &it->v;
	int r;

	v->pos = it->tree->pos;
	v->filesystem = file_system(m->filesystem ? m->filesystem : "");
	v->persist = true;
	v->device_timeout_ns = DEVICE_TIMEOUT_NS;
	if (!v->filesystem)
		return volume_item_fail(it, "filesystem", "expected ext4, xfs or btfs, found '%s'",
					m->filesystem);
	if (!str_is_empty(m->device))
		strv_add(it->arena, &v->devices, m->device);
	r = volume_item_devices(it, "device");
	if (r == 0)
		r = volume_item_path(it, m->path);
	if (r == 0)
		r = volume_item_options(it, &m->format_options, &m->mount_options);
	if (r == 0)
		volume_item_bind(it);
	return r;
}

static int add_volumes(const struct reading *in, const struct kops_config *c)
{
	int r = 0;

	for (size_t i = 0; i < c->volume_mounts.n && r == 0; i++) {
		struct volume_item it = {
			.arena = in->arena,
			.tree = item_of(c, "VolumeMounts", i),
			.path = arena_printf(in->arena, "VolumeMounts[%zu]", i),
			.facts = in->facts,
			.opts = in->opts,
			.err = in->err,
		};
		int wrong;

		if (i == VOLUMES_MAX)
			return err_config(in->err, "%s: more than %d", it.path, VOLUMES_MAX);
		wrong = read_volume(&it, &c->volume_mounts.v[i]);
		r = errs_keep(in->opts->errors, wrong, in->err);
		if (wrong == 0)
			arena_push(in->arena, in->node->volumes.v, in->node->volumes.n, it.v);
	}
	return r < 0 ? r : volumes_check(in->arena, &in->node->volumes, in->err);
}

int kops_extras(const struct reading *in, const struct kops_config *c)
{
	int r = add_hooks(in, c);

	if (r == 0)
		r = add_files(in, c);
	return r < 0 ? r : add_volumes(in, c);
}
