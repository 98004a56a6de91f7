#include "nodeup/plan/plan.h"

#include <string.h>
#include "nodeup/base/show.h"
#include "nodeup/plan/assets.h"
#include "nodeup/plan/era.h"
#include "nodeup/plan/static_pod.h"
#include "nodeup/tasks/kinds.h"

static bool has_file(const struct plan_req *req, const char *path)
{
	return !req->has_file || req->has_file(req->has_file_arg, path);
}

/* Adds a task for each file that an earlier run wrote and this plan does not. A unit that the plan still names is
 * not stopped. */
static void add_leftovers(struct plan *p)
{
	p->builder = "leftovers";
	p->asked = NULL;
	/* an adopted node has no documents that tell what the files were written for */
	if (p->req->node->is_adopted)
		return;
	for (size_t i = 0; i < p->req->written.n; i++) {
		const char *path = p->req->written.v[i], *name = str_basename(path);
		struct task *t;

		if (plan_at(p, path) || !has_file(p->req, path))
			continue;
		t = plan_no_file(p, path, "");
		t->ops = &task_leftover_ops;
		/* if the removal fails, everything else is still done */
		t->advisory = true;
		if (str_has_prefix(path, plan_unit_dir) &&
		    !strchr(path + strlen(plan_unit_dir), '/') && !plan_unit_of(p, name))
			t->file.unit = name;
	}
}

/* Gives a service the drop-ins that were planned after it, such as files of users. A mount is not restarted for a
 * drop-in. */
static void add_late_dropins(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct task *t = p->tasks[i];
		const char *folder = arena_printf(p->arena, "%s%s.d", plan_unit_dir, t->name);

		if (t->kind != TASK_UNIT || !str_has_suffix(t->name, ".service"))
			continue;
		for (size_t k = 0; k < p->n; k++)
			if (p->tasks[k]->kind == TASK_FILE &&
			    str_is_within(p->tasks[k]->name, folder))
				strv_add_once(p->arena, &t->unit.inputs, p->tasks[k]->name);
	}
}

static void add_reload(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_FILE &&
		    str_has_prefix(p->tasks[i]->name, plan_unit_dir)) {
			p->builder = p->tasks[i]->origin;
			/* if a unit file cannot be written, only its own units do not start */
			plan_new_task(p, TASK_RELOAD, "systemd")->always = true;
			return;
		}
}

static bool is_wanted(const struct builder *b, const struct plan_req *req)
{
	if (req->only)
		return strcmp(b->name, req->only) == 0;
	return !b->explicit_only && (!b->master_only || req->node->is_master);
}

/* Joins the packages of all builders in one call of the package manager. */
static void collect_packages(struct plan *p)
{
	for (size_t i = 0; plan_distro(p)->family && i < p->era->n_builders; i++) {
		const struct builder *b = &p->era->builders[i];
		const char *names = b->packages ? b->packages(p) : NULL;

		if (names)
			strv_add(p->arena, &p->packages, names);
	}
}

static void run_builders(struct plan *p)
{
	bool found = false;

	collect_packages(p);
	for (size_t i = 0; i < p->era->n_builders; i++) {
		const struct builder *b = &p->era->builders[i];

		if (!is_wanted(b, p->req))
			continue;
		found = true;
		p->builder = b->name;
		p->asked = NULL;
		p->n_wrong_before = p->n_wrong;
		b->build(p);
	}
	if (!found)
		plan_refuse(p, "there is no builder '%s'", p->req->only);
}

/* Refuses paths that cannot be written. The dialects check keys that they know as paths, and name their place; this
 * check finds all others. */
static void check_paths(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *path = task_path(p->tasks[i]), *origin = p->tasks[i]->origin;

		if (path && !show_is_clean(path))
			plan_refuse(p, "a control character in '%s', which %s asks for", path,
				    origin);
		else if (path && (!str_is_path(path) || str_has_suffix(path, "/")))
			plan_refuse(p, "'%s', which %s asks for, is not an absolute path", path,
				    origin);
	}
}

/* Checks the host, but not for a machine image, which has no host yet, nor for a single builder. */
static void check_host(struct plan *p)
{
	const struct settings *s = p->req->settings;
	struct err e;

	if (!p->req->only && plan_check_machine(p, &e) < 0)
		plan_fail(p, &e);
	if (!p->req->image_mode && !p->req->only)
		(void)!plan_check_host(p, p->era->checks, s && s->ignore_host_checks, &e);
}

/* Fails with the first error, and adds the other errors as notes. */
static int verdict(const struct plan *p, struct err *e)
{
	struct errs own = { .arena = p->arena };
	struct errs *all = p->req->errors ? p->req->errors : &own;

	if (!p->n_wrong)
		return 0;
	*e = *p->wrong[0];
	(void)!errs_keep(all, err_code(e), e);
	for (size_t i = 1; i < p->n_wrong; i++)
		errs_keep_any(all, p->wrong[i]);
	if (all == &own)
		errs_note_others(all, e);
	return err_code(e);
}

bool plan_may_run(struct arena *a, const struct plan_req *req)
{
	struct plan p = { .arena = a, .req = req, .era = plan_era(req->node) };

	check_host(&p);
	return !p.n_wrong;
}

int plan_build(struct arena *a, const struct plan_req *req, struct plan *ret, struct err *e)
{
	struct plan p = {
		.arena = a, .req = req, .era = plan_era(req->node), .is_partial = req->is_partial
	};
	int r;

	check_host(&p);
	plan_parse_assets(&p);
	run_builders(&p);
	r = verdict(&p, e);
	if (r < 0)
		return r;
	plan_warn_pod_files(&p);
	if (!p.keep_unused)
		deps_drop_unused(&p);
	/* dropping tasks has moved the tasks behind them */
	plan_index_again(&p);
	add_leftovers(&p);
	add_late_dropins(&p);
	add_reload(&p);
	check_paths(&p);
	r = verdict(&p, e);
	if (r == 0)
		r = deps_link(&p, e);
	if (r == 0)
		*ret = p;
	return r;
}
