#include "nodeup/plan/tasklist.h"

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/plan/environment.h"
#include "nodeup/plan/volumes.h"
#include "nodeup/tasks/kinds.h"

const char plan_unit_dir[] = "/etc/systemd/system/";

/* Finds tasks by path and units by name, among the first `n` tasks. A builder fills a task in only after it has made
 * it, so new tasks are added when the next one is looked up. */
struct plan_index {
	struct map paths, units;
	size_t n;
};

/* Keeps at most this many errors; further errors are not even counted. */
enum { WRONG_MAX = 1000 };

struct err *plan_error(struct plan *p)
{
	struct err *e = arena_new(p->arena, struct err);

	if (p->n_wrong < WRONG_MAX)
		arena_push(p->arena, p->wrong, p->n_wrong, e);
	return e;
}

void plan_fail(struct plan *p, const struct err *e)
{
	*plan_error(p) = *e;
}

static const struct plan_index *fill_index(const struct plan *p)
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

void plan_index_again(struct plan *p)
{
	p->index = arena_new(p->arena, struct plan_index);
}

struct task *plan_unit_of(const struct plan *p, const char *name)
{
	return map_get(&fill_index(p)->units, name);
}

struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name)
{
	struct task *t = arena_new(p->arena, struct task);

	if (!p->index)
		plan_index_again(p);
	t->kind = kind;
	t->ops = task_kinds[kind].ops;
	t->name = name;
	t->origin = p->builder;
	t->asked = p->asked;
	t->index = p->n;
	arena_push(p->arena, p->tasks, p->n, t);
	return t;
}

/* Refuses two builders that want different things at one place, because otherwise the later builder would win. */
struct task *plan_conflict(struct plan *p, const struct task *t)
{
	/* if the builder has failed already, this error is most often only a result of the earlier error */
	if (p->n_wrong == p->n_wrong_before)
		plan_refuse(p, "%s: asked for differently by %s and by %s", t->name, t->origin,
			    p->builder);
	return arena_new(p->arena, struct task);
}

struct task *plan_at(const struct plan *p, const char *path)
{
	return map_get(&fill_index(p)->paths, path);
}

/* Removes a slash at the end, so that a directory has one name. */
static const char *without_slash(const struct plan *p, const char *path)
{
	const size_t n = strlen(path);

	return n > 1 && path[n - 1] == '/' ? arena_strn(p->arena, path, n - 1) : path;
}

struct task *plan_dir(struct plan *p, const char *path, mode_t mode)
{
	struct task *t = plan_at(p, path = without_slash(p, path));

	if (t && (t->kind != TASK_DIR || t->dir.mode != mode))
		return plan_conflict(p, t);
	if (t)
		return t;
	t = plan_new_task(p, TASK_DIR, path);
	t->dir.mode = mode;
	return t;
}

static struct task *add_file(struct plan *p, const char *path, const struct task_file *file)
{
	struct task *t = plan_at(p, path);

	if (t &&
	    (t->kind != TASK_FILE || !str_eq(t->file.unwanted, file->unwanted) ||
	     t->file.attr.mode != file->attr.mode || t->file.secret != file->secret ||
	     t->file.len != file->len || memcmp(t->file.content, file->content, file->len) != 0))
		return plan_conflict(p, t);
	if (t)
		return t;
	t = plan_new_task(p, TASK_FILE, path);
	t->file = *file;
	return t;
}

struct task *plan_bytes(struct plan *p, const char *path, mode_t mode, const void *content,
			size_t len, bool secret)
{
	const struct task_file file = {
		.content = content,
		.len = len,
		.attr = { .mode = mode },
		.secret = secret,
	};

	return add_file(p, path, &file);
}

struct task *plan_file(struct plan *p, const char *path, mode_t mode, const char *content)
{
	return plan_bytes(p, path, mode, content, strlen(content), false);
}

struct task *plan_no_file(struct plan *p, const char *path, const char *marker)
{
	const struct task_file file = {
		.content = "",
		.secret = true,
		.unwanted = marker,
	};

	return add_file(p, path, &file);
}

struct task *plan_secret(struct plan *p, const char *path, mode_t mode, const char *content)
{
	return plan_bytes(p, path, mode, content, strlen(content), true);
}

struct task *plan_unit_file(struct plan *p, const char *name, const char *text)
{
	return plan_file(p, arena_printf(p->arena, "%s%s", plan_unit_dir, name), 0644, text);
}

struct task *plan_secret_unit(struct plan *p, const char *name, const char *text)
{
	return plan_secret(p, arena_printf(p->arena, "%s%s", plan_unit_dir, name), 0644, text);
}

bool plan_is_text_of(const struct task *t, const char *unit)
{
	const size_t n = strlen(unit);
	const char *name;

	if (t->kind != TASK_FILE || !str_has_prefix(t->name, plan_unit_dir))
		return false;
	name = t->name + strlen(plan_unit_dir);
	return strncmp(name, unit, n) == 0 && (name[n] == '\0' || str_has_prefix(name + n, ".d/"));
}

const char *plan_yaml(struct plan *p, const char *path, const struct tree *t, size_t max)
{
	autobuf struct buf b = BUF_INIT(max);
	struct err e;

	if (yaml_render(t, &b, &e) == 0)
		return arena_strn(p->arena, buf_str(&b), b.len);
	(void)err_wrap(&e, "%s", path);
	plan_fail(p, &e);
	return "";
}

struct task *plan_unit(struct plan *p, const char *name, bool enable)
{
	struct task *t = plan_unit_of(p, name);

	if (t && t->unit.enable != enable)
		return plan_conflict(p, t);
	if (t)
		return t;
	t = plan_new_task(p, TASK_UNIT, name);
	t->unit = (struct task_unit){
		.enable = enable,
		.needs_mounts = volumes_of_service(p, name),
	};
	for (size_t i = 0; i < p->n; i++)
		if (plan_is_text_of(p->tasks[i], name))
			strv_add(p->arena, &t->unit.inputs, p->tasks[i]->name);
	if (p->req->node->proxy.is_secret && plan_is_proxied(p, name))
		strv_add(p->arena, &t->unit.inputs, plan_proxy_env_file);
	return t;
}

struct task *plan_unit_off(struct plan *p, const char *name)
{
	struct task *t = plan_unit_of(p, name);

	if (t)
		return plan_conflict(p, t);
	t = plan_new_task(p, TASK_UNIT, name);
	t->unit = (struct task_unit){ .no_wait = true };
	t->ops = &task_unit_off_ops;
	return t;
}

void plan_unit_mask(struct plan *p, const char *name)
{
	struct task *t =
		plan_new_task(p, TASK_LINK, arena_printf(p->arena, "%s%s", plan_unit_dir, name));

	t->link.target = "/dev/null";
	t->ops = &task_mask_ops;
}

bool plan_is_mask(const struct task *t)
{
	return t->kind == TASK_LINK && str_eq(t->link.target, "/dev/null");
}

struct task *plan_service(struct plan *p, const char *name, const char *text, bool enable)
{
	(void)plan_unit_file(p, name, text);
	return plan_unit(p, name, enable);
}

/* kubelet's memory policy is always the default here, since no document has a key for it. source: Kubernetes
 * pkg/kubelet/cm/cpumanager, memorymanager: since 1.8 and 1.21 */
void plan_checkpoints(struct plan *p, struct task *kubelet, const char *root, const char *cpus)
{
	static const struct {
		const char *name, *policy, *flag, *key;
		int since;
	} rows[] = {
		{ "cpu_manager_state", "none", "cpu-manager-policy", "cpuManagerPolicy", 8 },
		{ "memory_manager_state", "None", "memory-manager-policy", "memoryManagerPolicy",
		  21 },
	};
	struct task_unit *u = &kubelet->unit;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const bool is_set = i == 0 && !str_is_empty(cpus);
		const struct task_checkpoint c = {
			.path = arena_printf(p->arena, "%s/%s",
					     str_is_empty(root) ? "/var/lib/kubelet" : root,
					     rows[i].name),
			.policy = is_set ? cpus : rows[i].policy,
			.flag = rows[i].flag,
			.key = rows[i].key,
		};

		if (node_k8s_at_least(p->req->node, 1, rows[i].since))
			arena_push(p->arena, u->checkpoints, u->n_checkpoints, c);
	}
}

void plan_env_file(struct plan *p, const char *path, const char *whose, const struct strmap *env)
{
	const char *marker = arena_printf(p->arena, "# Written by nodeup for %s\n", whose);
	struct strv lines = { 0 };

	strv_add(p->arena, &lines, marker);
	for (size_t i = 0; i < env->n; i++)
		strv_addf(p->arena, &lines, "%s=%s\n", env->v[i].key, env->v[i].value);
	if (env->n)
		plan_secret(p, path, 0600, strv_join(p->arena, &lines, ""));
	else
		plan_no_file(p, path, marker);
}
