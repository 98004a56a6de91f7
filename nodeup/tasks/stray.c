/* Tests: test_module.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"
#include "nodeup/tasks/baseline.h"

#define PATIENCE_NS (60 * DUR_SEC)

enum { LIST_MAX = 1 << 20 };

/* Lists the running units whose names match the patterns. */
static int list_units(const struct task_stray *s, struct task_ctx *ctx, struct arena *a,
		      struct strv *ret, struct err *e)
{
	static const char *const words[] = { "systemctl", "list-units", "--plain", "--no-legend",
					     "--state=active,activating,reloading" };
	autobuf struct buf out = BUF_INIT(LIST_MAX);
	struct strv argv = { 0 }, lines;
	int r;

	strv_add_array(a, &argv, words);
	for (const char *const *unit = s->units; *unit; unit++)
		strv_add(a, &argv, *unit);
	strv_add(a, &argv, NULL);
	r = task_run_program(ctx, argv.v, -1, PATIENCE_NS, &out, e);
	if (r < 0)
		return r;
	lines = strv_split(a, buf_str(&out), '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (lines.v[i][strcspn(lines.v[i], " ")])
			strv_add(a, ret, arena_strn(a, lines.v[i], strcspn(lines.v[i], " ")));
	return 0;
}

/* Lists the files with the name `file` in any directory of the folder: the units wrote them. */
static int list_files(const struct task_stray *s, struct task_ctx *ctx, struct arena *a,
		      struct strv *ret, struct err *e)
{
	struct strv names = { 0 };
	int r = s->folder ? walk_names_at(a, ctx->root_fd, s->folder, &names, e) : 0;

	if (r == -ENOENT)
		return 0;
	for (size_t i = 0; i < names.n && r >= 0; i++) {
		const char *path = arena_printf(a, "%s/%s/%s", s->folder, names.v[i], s->file);

		if (io_is_there(ctx->root_fd, path))
			strv_add(a, ret, path);
	}
	return r;
}

static int stray_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv found = { 0 };
	int r = 0;

	if (ctx->image_mode)
		return TASK_EQUAL;
	r = list_units(&t->stray, ctx, a, &found, e);
	if (r >= 0 && found.n)
		return task_differs(diff, "%s runs", found.v[0]);
	if (r >= 0)
		r = list_files(&t->stray, ctx, a, &found, e);
	if (r >= 0 && found.n)
		return task_differs(diff, "%s is there", found.v[0]);
	return r < 0 ? r : TASK_EQUAL;
}

static int stray_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		       struct err *e)
{
	static const char *const disable[] = { "systemctl", "disable", "--now" };
	static const char *const reload[] = { "udevadm", "control", "--reload-rules", NULL };
	autoarena struct arena *a = arena_new_empty();
	struct strv units = { 0 }, files = { 0 }, argv = { 0 };
	int r = 0;

	(void)run;
	/* before all else: otherwise the next interface starts the units again */
	if (t->stray.folder)
		r = task_run_program(ctx, reload, -1, PATIENCE_NS, NULL, e);
	if (r >= 0)
		r = list_units(&t->stray, ctx, a, &units, e);
	/* first, as a unit that still runs is the only sign that this must be done */
	if (r >= 0 && units.n && t->stray.undo)
		r = task_run_program(ctx, t->stray.undo, -1, PATIENCE_NS, NULL, e);
	if (r >= 0 && units.n) {
		strv_add_array(a, &argv, disable);
		strv_add_all(a, &argv, &units);
		strv_add(a, &argv, NULL);
		r = task_run_program(ctx, argv.v, -1, PATIENCE_NS, NULL, e);
	}
	if (r >= 0)
		r = list_files(&t->stray, ctx, a, &files, e);
	for (size_t i = 0; i < files.n && r >= 0; i++)
		r = io_remove(ctx->root_fd, files.v[i], e);
	return r < 0 ? r : TASK_DONE;
}

const struct task_ops task_stray_ops = {
	.kind = "stray",
	.stays = true,
	.check = stray_check,
	.apply = stray_apply,
	.compare = baseline_once,
};
