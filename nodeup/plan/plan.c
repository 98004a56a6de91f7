#include "nodeup/plan/plan.h"

#include <string.h>
#include "nodeup/base/show.h"
#include "nodeup/plan/builders.h"
#include "nodeup/plan/deps.h"
#include "nodeup/plan/host_checks.h"
#include "nodeup/plan/volumes.h"

static const char unit_dir[] = "/etc/systemd/system/";

/* What a node is made of, in the order a person would tell it. */
const struct plan_builder plan_builders[] = {
	{ .name = "claims", .build = build_claims },
	{ .name = "volumes", .build = build_volumes },
	{ .name = "documents", .build = build_documents },
	{ .name = "directories", .build = build_directories },
	{ .name = "assets", .build = build_assets },
	{ .name = "containeros", .build = build_containeros },
	{ .name = "users", .build = build_users, .master_only = true },
	{ .name = "egress-proxy", .build = build_egress_proxy },
	{ .name = "packages", .build = build_packages },
	{ .name = "upgrades", .build = build_upgrades },
	{ .name = "ntp", .build = build_ntp },
	{ .name = "logrotate", .build = build_logrotate },
	{ .name = "firewall", .build = build_firewall },
	{ .name = "pki", .build = build_pki },
	{ .name = "sysctl", .build = build_sysctl },
	{ .name = "cloud-config", .build = build_cloud_config },
	{ .name = "docker", .build = build_docker },
	{ .name = "cni", .build = build_cni },
	{ .name = "kube-proxy", .build = build_kube_proxy },
	{ .name = "control-plane", .build = build_control_plane, .master_only = true },
	{ .name = "etcd", .build = build_etcd, .master_only = true },
	{ .name = "kubelet", .build = build_kubelet },
	{ .name = "protokube", .build = build_protokube },
	{ .name = "bootstrap", .build = build_bootstrap },
	/* what users add comes last: it must not take the place of what a node is made of */
	{ .name = "hooks", .build = build_hooks },
	{ .name = "file-assets", .build = build_file_assets },
	{ .name = "bake", .build = build_bake, .explicit_only = true },
};
const size_t plan_n_builders = ARRAY_LEN(plan_builders);

/* By path, and units by name: of those that the builders have made so far the first `n`. A builder fills
 * a task in after it has made it, so a task is taken up when the next one is looked for. */
struct plan_index {
	struct map paths, units;
	size_t n;
};

static const struct plan_index *indexed(const struct plan *p)
{
	static const struct plan_index none;
	struct plan_index *index = p->index;

	if (!index)
		return &none;
	for (; index->n < p->n; index->n++) {
		struct task *t = p->tasks[index->n];

		if (task_path(t))
			(void)map_put(p->arena, &index->paths, task_path(t), t);
		if (t->kind == TASK_UNIT)
			(void)map_put(p->arena, &index->units, t->name, t);
	}
	return index;
}

struct task *plan_unit_of(const struct plan *p, const char *name)
{
	return map_get(&indexed(p)->units, name);
}

struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name)
{
	struct task *t = arena_new(p->arena, struct task);

	if (!p->index)
		p->index = arena_new(p->arena, struct plan_index);
	t->kind = kind;
	t->name = name;
	t->origin = p->builder;
	t->index = p->n;
	arena_push(p->arena, p->tasks, p->n, t);
	return t;
}

/* Two builders that want different things at one place: a mistake that must not become a race. */
static struct task *conflict(const struct plan *p, const struct task *t, struct err *e)
{
	(void)err_config(e, "%s: asked for differently by %s and by %s", t->name, t->origin,
			 p->builder);
	return NULL;
}

struct task *plan_at(const struct plan *p, const char *path)
{
	return map_get(&indexed(p)->paths, path);
}

struct task *plan_dir(struct plan *p, const char *path, mode_t mode, struct err *e)
{
	struct task *t = plan_at(p, path);

	if (t && (t->kind != TASK_DIR || t->dir.mode != mode))
		return conflict(p, t, e);
	if (t)
		return t;
	t = plan_new_task(p, TASK_DIR, path);
	t->dir = (struct task_dir){ .path = path, .mode = mode };
	return t;
}

static struct task *add_file(struct plan *p, const struct task_file *file, struct err *e)
{
	struct task *t = plan_at(p, file->path);

	if (t &&
	    (t->kind != TASK_FILE || !str_eq(t->file.unwanted, file->unwanted) ||
	     t->file.attr.mode != file->attr.mode || t->file.secret != file->secret ||
	     t->file.len != file->len || memcmp(t->file.content, file->content, file->len) != 0))
		return conflict(p, t, e);
	if (t)
		return t;
	t = plan_new_task(p, TASK_FILE, file->path);
	t->file = *file;
	return t;
}

struct task *plan_file(struct plan *p, const char *path, mode_t mode, const char *content,
		       struct err *e)
{
	const struct task_file file = {
		.path = path,
		.content = content,
		.len = strlen(content),
		.attr = { .mode = mode },
	};

	return add_file(p, &file, e);
}

struct task *plan_no_file(struct plan *p, const char *path, const char *marker, struct err *e)
{
	const struct task_file file = {
		.path = path,
		.content = "",
		.secret = true,
		.unwanted = marker,
	};

	return add_file(p, &file, e);
}

struct task *plan_secret(struct plan *p, const char *path, mode_t mode, const char *content,
			 struct err *e)
{
	return plan_secret_bytes(p, path, mode, content, strlen(content), e);
}

struct task *plan_secret_bytes(struct plan *p, const char *path, mode_t mode, const void *content,
			       size_t len, struct err *e)
{
	const struct task_file file = {
		.path = path,
		.content = content,
		.len = len,
		.attr = { .mode = mode },
		.secret = true,
	};

	return add_file(p, &file, e);
}

struct task *plan_unit_file(struct plan *p, const char *name, const struct unit *u, struct err *e)
{
	return plan_file(p, arena_printf(p->arena, "%s%s", unit_dir, name), 0644,
			 unit_render(p->arena, u), e);
}

struct task *plan_secret_unit(struct plan *p, const char *name, const char *text, struct err *e)
{
	return plan_secret(p, arena_printf(p->arena, "%s%s", unit_dir, name), 0644, text, e);
}

bool plan_is_text_of(const struct task *t, const char *unit)
{
	const size_t n = strlen(unit);
	const char *name;

	if (t->kind != TASK_FILE || !str_has_prefix(t->file.path, unit_dir))
		return false;
	name = t->file.path + strlen(unit_dir);
	return strncmp(name, unit, n) == 0 && (name[n] == '\0' || str_has_prefix(name + n, ".d/"));
}

struct task *plan_unit(struct plan *p, const char *name, bool enable, struct err *e)
{
	struct task *t = plan_unit_of(p, name);

	if (t && t->unit.enable != enable)
		return conflict(p, t, e);
	if (t)
		return t;
	t = plan_new_task(p, TASK_UNIT, name);
	t->unit = (struct task_unit){
		.name = name,
		.enable = enable,
		.needs_mounts = volumes_of_service(p, name),
	};
	for (size_t i = 0; i < p->n; i++)
		if (plan_is_text_of(p->tasks[i], name))
			strv_add(p->arena, &t->unit.inputs, p->tasks[i]->file.path);
	if (p->req->node->proxy.is_secret && plan_is_proxied(p, name))
		strv_add(p->arena, &t->unit.inputs, plan_proxy_env_file);
	return t;
}

static void add_reload(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_FILE &&
		    str_has_prefix(p->tasks[i]->file.path, unit_dir)) {
			p->builder = p->tasks[i]->origin;
			/* a file that cannot be written keeps only its own units from starting */
			plan_new_task(p, TASK_RELOAD, "systemd")->always = true;
			return;
		}
}

static bool is_wanted(const struct plan_builder *b, const struct plan_req *req)
{
	if (req->only)
		return strcmp(b->name, req->only) == 0;
	return !b->explicit_only && (!b->master_only || req->node->is_master);
}

static int run_builders(struct plan *p, struct err *e)
{
	bool found = false;

	for (size_t i = 0; i < plan_n_builders; i++) {
		const struct plan_builder *b = &plan_builders[i];
		int r;

		if (!is_wanted(b, p->req))
			continue;
		found = true;
		p->builder = b->name;
		r = b->build(p, e);
		if (r < 0)
			return r;
	}
	if (!found)
		return err_config(e, "there is no builder '%s'", p->req->only);
	return 0;
}

/* The dialects say where a path stands that cannot be; this sees to those that they do not know as one. */
static int check_paths(const struct plan *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *path = task_path(p->tasks[i]);

		if (path && !show_is_clean(path))
			return err_config(e, "a control character in '%s', which %s asks for", path,
					  p->tasks[i]->origin);
	}
	return 0;
}

/* An image has no host yet, and a request for one builder is not for a node. */
static int may_run(struct plan *p, struct err *e)
{
	const struct settings *s = p->req->settings;

	if (p->req->image_mode || p->req->only)
		return 0;
	return plan_check_host(p, s && s->ignore_host_checks, e);
}

int plan_may_run(struct arena *a, const struct plan_req *req, struct err *e)
{
	struct plan p = { .arena = a, .req = req };

	return may_run(&p, e);
}

int plan_build(struct arena *a, const struct plan_req *req, struct plan *ret, struct err *e)
{
	struct plan p = { .arena = a, .req = req };
	int r;

	r = may_run(&p, e);
	if (r == 0)
		r = plan_parse_assets(&p, e);
	if (r == 0)
		r = run_builders(&p, e);
	if (r < 0)
		return r;
	if (!p.keep_unused)
		deps_drop_unused(&p);
	/* what was taken out stands no more where it was */
	p.index = arena_new(a, struct plan_index);
	add_reload(&p);
	r = check_paths(&p, e);
	if (r < 0)
		return r;
	r = deps_link(&p, e);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}
