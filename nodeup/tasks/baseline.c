#include "nodeup/tasks/baseline.h"

const struct task *baseline_of(const struct task *t, const struct task_ctx *ctx)
{
	autoarena struct arena *a = arena_new_empty();

	return ctx->baseline ? map_get(ctx->baseline, task_title(a, t)) : NULL;
}

int baseline_once(const struct task *t, const struct task *was, struct task_ctx *ctx,
		  struct task_diff *diff)
{
	(void)t;
	return was || ctx->image_mode ? TASK_EQUAL : task_missing(diff, "not done yet");
}

int baseline_of_user(const char *user, struct task_diff *diff)
{
	(void)task_missing(diff, "absent, if there is a user %s", user);
	diff->unsure = true;
	return TASK_DIFFERS;
}

/* The check of every task of a diff. */
static int check_baseline(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			  struct err *e)
{
	const struct task *was = baseline_of(t, ctx);

	(void)e;
	if (t->ops->compare)
		return t->ops->compare(t, was, ctx, diff);
	return was ? TASK_EQUAL : task_missing(diff, "absent");
}

static struct map map_by_title(struct arena *a, struct task *const *tasks, size_t n)
{
	struct map m = { 0 };

	for (size_t i = 0; i < n; i++)
		(void)map_put(a, &m, task_title(a, tasks[i]), tasks[i]);
	return m;
}

/* Returns whether one of the tasks removes the object of `was`: a file, or a unit with its file. */
static bool is_removed(const struct task *was, struct task *const *tasks, size_t n)
{
	const char *path = task_path(was);

	for (size_t i = 0; i < n; i++) {
		const struct task_file *f = &tasks[i]->file;

		if (tasks[i]->kind == TASK_FILE && f->unwanted &&
		    (str_eq(f->unit, was->name) || str_eq(tasks[i]->name, path)))
			return true;
	}
	return false;
}

struct strv baseline_left(struct arena *a, struct task *const *was, size_t n_was,
			  struct task *const *tasks, size_t n)
{
	const struct map now = map_by_title(a, tasks, n);
	struct strv left = { 0 };

	for (size_t i = 0; i < n_was; i++) {
		const struct task *t = was[i];

		if (t->ops->stays && !(t->kind == TASK_FILE && t->file.unwanted) &&
		    !map_get(&now, task_title(a, t)) && !is_removed(t, tasks, n))
			strv_add(a, &left, task_title(a, t));
	}
	return left;
}

void baseline_set(struct arena *a, struct task *const *was, size_t n_was, struct task **tasks,
		  size_t n, struct task_ctx *ctx)
{
	struct map *baseline = arena_new(a, struct map);

	*baseline = map_by_title(a, was, n_was);
	for (size_t i = 0; i < n; i++) {
		struct task_ops *ops = arena_new(a, struct task_ops);

		*ops = *tasks[i]->ops;
		ops->check = check_baseline;
		tasks[i]->ops = ops;
	}
	ctx->baseline = baseline;
}
