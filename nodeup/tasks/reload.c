/* Tests: test_unit_start.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include <unistd.h>

static const char unit_dir[] = "/etc/systemd/system/";

/* Returns the unit of a file below the unit directory: the file itself, or its drop-in folder's. */
static char *unit_of(struct arena *a, const char *path)
{
	const char *name = path + strlen(unit_dir);
	const char *dropin = strstr(name, ".d/");

	return dropin ? arena_strn(a, name, (size_t)(dropin - name)) : arena_str(a, name);
}

/* Returns whether systemd can tell if a reload is needed for this file. systemd cannot tell that for its own
 * settings, nor for a file that is not written yet. systemd reads a new unit at the first request, so a new unit
 * needs no reload. */
static bool can_be_asked(const struct task_ctx *ctx, const struct task *file)
{
	return ctx->bus && !file->file.unwanted && str_has_prefix(task_path(file), unit_dir) &&
	       !(ctx->only_looks && ctx->changed && ctx->changed[file->index]);
}

/* Folders that come after ours in systemd's search order. source: systemd.unit(5) */
static const char *const later_dirs[] = {
	"/lib/",
	"/usr/",
	"/run/systemd/system/",
	"/run/systemd/generator/",
	"/run/systemd/generator.late/",
};

/* Returns whether systemd has the unit from one of the later folders, or from no file, like a mount that systemd
 * found. Then systemd itself sees no need for a reload after we wrote our file. */
static bool is_read_elsewhere(const struct bus_unit *u)
{
	if (str_eq(u->load_state, "loaded") && str_is_empty(u->fragment_path))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(later_dirs); i++)
		if (str_has_prefix(u->fragment_path, later_dirs[i]))
			return true;
	return false;
}

/* Returns whether systemd reads the object of this need: a unit's file, or the link that masks a unit. */
static bool is_read(const struct task *need)
{
	return need->kind == TASK_FILE || need->kind == TASK_LINK;
}

/* Returns whether the link masks its unit: an admin may keep another file in its place. */
static bool is_mask(const struct task_ctx *ctx, const struct task *link)
{
	static const char null[] = "/dev/null";
	char to[sizeof(null)];
	const ssize_t n = readlinkat(ctx->root_fd, task_path(link) + 1, to, sizeof(to));

	return n == (ssize_t)strlen(null) && memcmp(to, null, strlen(null)) == 0;
}

static int reload_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	/* an image has no manager to reload */
	for (size_t i = 0; i < t->n_needs && !ctx->image_mode; i++) {
		const struct task *need = t->needs[i];
		const char *path = task_path(need);
		struct bus_unit u;
		int r;

		if (!is_read(need))
			continue;
		/* a kill may have come between the link and the reload */
		if (need->kind == TASK_LINK && ctx->bus && is_mask(ctx, need)) {
			r = bus_get(ctx->bus, a, unit_of(a, path), &u, e);
			if (r < 0)
				return r;
			if (!str_eq(u.load_state, "masked"))
				return task_differs(diff, "%s: systemd has not read the mask",
						    path);
			continue;
		}
		if (need->kind == TASK_LINK || !can_be_asked(ctx, need)) {
			if (ctx->changed && ctx->changed[need->index])
				return task_differs(diff, "%s changes", path);
			continue;
		}
		r = bus_get(ctx->bus, a, unit_of(a, path), &u, e);
		if (r < 0)
			return r;
		/* at the manager's last reload the unit was missing or wrong, and an old manager does not look again */
		if (!str_eq(u.load_state, "loaded") && !strstr(path, ".d/"))
			return task_differs(diff, "%s: systemd has not loaded it (%s)", path,
					    u.load_state);
		if (is_read_elsewhere(&u) && !strstr(path, ".d/"))
			return task_differs(diff, "%s: systemd has read %s", path,
					    str_is_empty(u.fragment_path) ? "no file of it"
									  : u.fragment_path);
		if (u.need_reload)
			return task_differs(diff, "%s is newer than what systemd has read", path);
	}
	return TASK_EQUAL;
}

static int reload_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	(void)t;
	(void)run;
	if (!ctx->bus)
		return err_fail(e, ERR_SYSTEM, ENOTCONN, "no systemd on this host");
	return bus_reload(ctx->bus, e);
}

static int reload_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			  struct task_diff *diff)
{
	(void)was;
	for (size_t i = 0; i < t->n_needs && !ctx->image_mode; i++)
		if (is_read(t->needs[i]) && ctx->changed[t->needs[i]->index])
			return task_differs(diff, "%s changes", task_path(t->needs[i]));
	return TASK_EQUAL;
}

const struct task_ops task_reload_ops = {
	.kind = "reload",
	.on_main = true,
	.check = reload_check,
	.apply = reload_apply,
	.compare = reload_compare,
};
