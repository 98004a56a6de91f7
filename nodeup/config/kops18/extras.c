#include "nodeup/config/distro.h"
#include "nodeup/config/kops18/spec.h"

#include <string.h>
#include "nodeup/config/extras.h"

/* Hooks and fileAssets that users add to a node, of the instance group and of the cluster.
 * source: kops 1.8.1 pkg/apis/kops/v1alpha2/{cluster,instancegroup}.go HookSpec, FileAssetSpec;
 * nodeup/pkg/model/{hooks,file_assets}.go. */

enum { FILE_MODE = 0440 };

/* In user data kops' CLI writes the content's hash and this word instead of the content. */
static const char fingerprint[] = " (fingerprint)";

/* clang-format off */
#define ACTION(X) \
	X(const char *, image, "image", .doc = "image to run") \
	X(struct strv, command, "command", .secret = true, .doc = "what to run in it") \
	X(struct strmap, environment, "environment", .secret = true, .doc = "environment of the container")

#define HOOK(X) \
	X(const char *, name, "name", .doc = "name of the unit, .service unless it is a timer") \
	X(struct opt_bool, disabled, "disabled", .doc = "stop the unit and disable it") \
	X(struct strv, roles, "roles", .doc = "Master, Node; none: all") \
	X(struct strv, requires, "requires", .doc = "units it cannot do without") \
	X(struct strv, before, "before", .doc = "units that start after it") \
	X##_IF(struct action, action, has_action, &action_schema, "execContainer", .secret = true, \
	  .doc = "a container to run once a boot") \
	X(const char *, manifest, "manifest", .secret = true, .doc = "the [Service] section as it stands")

#define FILE_ASSET(X) \
	X(const char *, name, "name", .doc = "file name, where there is no path") \
	X(const char *, path, "path", .doc = "where to put it; /srv/kubernetes/assets/<name>") \
	X(struct strv, roles, "roles", .doc = "Master, Node; none: all") \
	X(const char *, content, "content", .secret = true, .doc = "what is in it") \
	X(struct opt_bool, is_base64, "isBase64", .doc = "the content is base64")
/* clang-format on */

struct action {
	ACTION(FIELD_MEMBER)
};

struct hook {
	HOOK(FIELD_MEMBER)
};

struct file_asset {
	FILE_ASSET(FIELD_MEMBER)
};

static const struct schema action_schema =
	SCHEMA_OF_LIST(struct action, "ExecContainerAction", ACTION);
const struct schema kops18_hook_schema = SCHEMA_OF_LIST(struct hook, "HookSpec", HOOK);
const struct schema kops18_file_asset_schema =
	SCHEMA_OF_LIST(struct file_asset, "FileAssetSpec", FILE_ASSET);

/* An item of one of the lists. */
struct item {
	struct extras_item at;
	const struct tree *tree;
	const char *path; /* "hooks[2]" */
	size_t index;
	bool of_group; /* the item is in the instance group's list, not in the cluster's */
};

/* Returns 1 if the item is for this node, 0 if it is for others. */
static int is_for_us(struct kops18_build *b, const struct item *it, const struct strv *roles)
{
	for (size_t i = 0; i < roles->n; i++)
		if (strcmp(roles->v[i], "Master") != 0 && strcmp(roles->v[i], "Node") != 0 &&
		    strcmp(roles->v[i], "Bastion") != 0)
			return err_config(b->in->err,
					  "%s.roles: no role is '%s': Master, Node, Bastion",
					  it->at.where, roles->v[i]);
	return roles->n == 0 || strv_has(roles, b->in->node->is_master ? "Master" : "Node");
}

static int check_text(struct kops18_build *b, const struct item *it, const char *key,
		      const char *text)
{
	int r;

	if (!text || !str_has_suffix(text, fingerprint))
		return 0;
	r = err_config(b->in->err, "%s.%s: only a fingerprint of the content", it->at.where, key);
	err_note(b->in->err, "do",
		 "kops leaves the content out of user data: name ConfigBase in kube_env.yaml, "
		 "where the whole document is");
	return r;
}

static int check_hook(struct kops18_build *b, const struct item *it, const struct hook *h)
{
	int r = extras_check_units(&it->at, h->name, &h->requires, &h->before, b->in->err);

	/* if a unit is turned off, only its name counts */
	if (r < 0 || (h->disabled.set && h->disabled.v))
		return r;
	r = check_text(b, it, "manifest", h->manifest);
	for (size_t i = 0; i < h->action.command.n && r == 0; i++)
		r = check_text(b, it, "execContainer.command", h->action.command.v[i]);
	if (r < 0)
		return r;
	if (h->has_action &&
	    str_is_empty(str_trim(b->in->arena, h->action.image ? h->action.image : "")))
		return err_config(b->in->err, "%s.execContainer: no image", it->at.where);
	if (!h->has_action && str_is_empty(h->manifest))
		return err_config(b->in->err, "%s: neither execContainer nor manifest",
				  it->at.where);
	return 0;
}

static int add_hook(struct kops18_build *b, const struct item *it)
{
	struct hook h = { 0 };
	struct node_hook hook;
	int r = kops18_read(b->in->arena, &kops18_hook_schema, it->tree, it->path, b->in->opts, &h,
			    b->in->err);

	if (r == 0)
		r = check_hook(b, it, &h);
	if (r == 0)
		r = is_for_us(b, it, &h.roles);
	if (r <= 0)
		return r;
	hook = (struct node_hook){
		.name = !str_is_empty(h.name) ? h.name
					      : arena_printf(b->in->arena, "kops-hook-%zu%s",
							     it->index, it->of_group ? "-ig" : ""),
		.requires = h.requires,
		.before = h.before,
		.disabled = h.disabled.set && h.disabled.v,
		.manifest = h.has_action ? NULL : h.manifest,
		.image = h.has_action ? str_trim(b->in->arena, h.action.image ? h.action.image : "")
				      : NULL,
		.command = h.action.command,
		.environment = h.action.environment,
	};
	extras_add_hook(&it->at, &hook, b->in->node);
	return 0;
}

static int add_file(struct kops18_build *b, const struct item *it)
{
	struct file_asset fa = { 0 };
	struct node_file f = { .mode = FILE_MODE, .pos = it->tree->pos };
	int r = kops18_read(b->in->arena, &kops18_file_asset_schema, it->tree, it->path,
			    b->in->opts, &fa, b->in->err);

	if (r == 0)
		r = extras_path(&it->at, fa.path, fa.name,
				distro_of(b->in->facts->distribution)->assets_dir, &f.path,
				b->in->err);
	if (r == 0)
		r = check_text(b, it, "content", fa.content);
	if (r == 0)
		r = is_for_us(b, it, &fa.roles);
	if (r <= 0)
		return r;
	f.content = fa.content ? fa.content : "";
	f.len = strlen(f.content);
	if (fa.is_base64.set && fa.is_base64.v) {
		r = extras_decode(b->in->arena, extras_key(&it->at, "content"), f.content,
				  &f.content, &f.len, b->in->err);
		if (r < 0)
			return r;
	}
	extras_add_file(&it->at, &f, b->in->node);
	return 0;
}

/* One kind of items: hooks or files. All lists of a kind share its limit, since each item costs memory. */
struct list {
	const char *key;
	size_t most;
	int (*add)(struct kops18_build *b, const struct item *it);
	struct map seen;
	size_t n;
};

static int read_list(struct kops18_build *b, struct list *l, const struct tree *list, bool of_group)
{
	int r = 0;

	if (!list || list->kind == TREE_NULL)
		return 0;
	if (list->kind != TREE_SEQ)
		return err_config(b->in->err, "%s: %s: expected a list",
				  tree_where(b->in->arena, &list->pos), l->key);
	for (size_t i = 0; i < list->n && r == 0; i++) {
		struct item it = {
			.at = { .arena = b->in->arena,
				.pos = list->items[i].value->pos,
				.seen = &l->seen },
			.tree = list->items[i].value,
			.path = arena_printf(b->in->arena, "%s[%zu]", l->key, i),
			.index = i,
			.of_group = of_group,
		};

		it.at.where = arena_printf(b->in->arena, "%s: %s",
					   tree_where(b->in->arena, &it.at.pos), it.path);
		if (l->n++ == l->most)
			return err_config(b->in->err, "%s: more than %zu", it.at.where, l->most);
		r = kops18_go_on(b, l->add(b, &it));
	}
	return r;
}

int kops18_extras(struct kops18_build *b)
{
	struct list hooks = { .key = "hooks", .most = EXTRAS_HOOKS_MAX, .add = add_hook };
	struct list files = { .key = "fileAssets", .most = EXTRAS_FILES_MAX, .add = add_file };
	int r = kops18_go_on(b, read_list(b, &hooks, b->ig.hooks, true));

	if (r == 0)
		r = kops18_go_on(b, read_list(b, &hooks, b->cluster.hooks, false));
	if (r == 0)
		r = kops18_go_on(b, read_list(b, &files, b->ig.file_assets, true));
	if (r == 0)
		r = kops18_go_on(b, read_list(b, &files, b->cluster.file_assets, false));
	return r;
}
