#include "nodeup/run/interrupted.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/str.h"

enum { STAT_MAX = 4096, STATUS_MAX = 8 << 20, STARTED_FIELD = 22, FIRST_FIELD = 3 };

static const char path[] = OWN_STATUS, spare[] = OWN_STATUS_SPARE;

/* Returns when a process began, in ticks since the boot. NULL: unknown; "": the process has ended. */
static const char *start_ticks(struct arena *a, int root_fd, const char *process)
{
	autobuf struct buf text = BUF_INIT(STAT_MAX);
	struct strv fields;
	struct err ignored;
	const char *behind;

	if (io_read(root_fd, arena_printf(a, "/proc/%s/stat", process), &text, &ignored) < 0)
		return NULL;
	/* a name may hold blanks and parentheses */
	behind = strrchr(buf_str(&text), ')');
	if (!behind || behind[1] != ' ')
		return NULL;
	fields = strv_split(a, behind + 2, ' ');
	/* its parent has not reaped it yet */
	if (str_eq(fields.v[0], "Z") || str_eq(fields.v[0], "X"))
		return "";
	return fields.n > STARTED_FIELD - FIRST_FIELD ? fields.v[STARTED_FIELD - FIRST_FIELD]
						      : NULL;
}

const char *interrupted_boot_id(struct arena *a, int root_fd)
{
	autobuf struct buf boot = BUF_INIT(STAT_MAX);
	struct err ignored;

	if (io_read(root_fd, "/proc/sys/kernel/random/boot_id", &boot, &ignored) < 0 || !boot.len)
		return NULL;
	return str_trim(a, buf_str(&boot));
}

void interrupted_identify(struct arena *a, int root_fd, struct tree *map)
{
	const char *ticks = start_ticks(a, root_fd, "self");

	tree_set_int(a, map, "pid", getpid());
	if (ticks)
		(void)tree_set(a, map, "pidStartTicks", tree_plain(a, ticks));
	tree_set_text(a, map, "bootId", interrupted_boot_id(a, root_fd));
}

/* Returns whether the status is of this boot; also true if that cannot be known. */
static bool is_of_this_boot(struct arena *a, int root_fd, const struct tree *status)
{
	const char *boot = tree_text(status, "bootId"), *now = interrupted_boot_id(a, root_fd);

	return !boot || !now || str_eq(boot, now);
}

int interrupted_live_pid(struct arena *a, int root_fd, const struct tree *status)
{
	const char *pid = tree_text(status, "pid"), *began = tree_text(status, "pidStartTicks"),
		   *ticks;
	const long number = pid ? strtol(pid, NULL, 10) : 0;

	if (number <= 0 || number > INT_MAX || !is_of_this_boot(a, root_fd, status))
		return 0;
	ticks = start_ticks(a, root_fd, pid);
	/* /proc may hide other users' processes */
	if (!ticks)
		return kill((pid_t)number, 0) == 0 || errno == EPERM ? (int)number : 0;
	return *ticks && (!began || str_eq(ticks, began)) ? (int)number : 0;
}

int interrupted_put(int root_fd, const struct buf *text, struct err *e)
{
	struct err why;
	int r = record_write(root_fd, path, 0644, buf_str(text), &why);

	if (r < 0 && io_is_full(why.errnum)) {
		*e = why;
		r = record_write(root_fd, spare, 0644, buf_str(text), &why);
		if (r == 0)
			r = io_remove(root_fd, path, &why);
		if (r == 0)
			return 1;
	} else if (r == 0 && io_is_there(root_fd, spare)) {
		(void)!io_remove(root_fd, spare, &why);
	}
	if (r < 0)
		*e = why;
	return r;
}

/* Returns whether the status, which is on a disk, is of an earlier boot. */
static bool is_old(int root_fd, const struct buf *text)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	struct tree *status;

	return json_parse(a, spare, buf_str(text), text->len, &status, &ignored) == 0 &&
	       !is_of_this_boot(a, root_fd, status);
}

/* Returns whether the spare status is the newer file. A killed run, or one with a read-only disk, may leave both
 * files. */
static bool is_spare_newer(int root_fd)
{
	struct stat first, second;
	struct err ignored;

	return io_stat(root_fd, spare, &second, &ignored) == 0 &&
	       (io_stat(root_fd, path, &first, &ignored) < 0 ||
		io_stamp_of(&second).mtime_ns > io_stamp_of(&first).mtime_ns);
}

int interrupted_get(int root_fd, struct buf *text, const char **ret_path, struct err *e)
{
	if (is_spare_newer(root_fd)) {
		const int r = io_read(root_fd, *ret_path = spare, text, e);

		/* the next run with enough room removes the old status */
		if (r != -ENOENT && (r < 0 || !is_old(root_fd, text)))
			return r;
		text->len = 0;
	}
	return io_read(root_fd, *ret_path = path, text, e);
}

static bool is_ours(const struct tree *old, const struct tree *own)
{
	const struct tree *pid = tree_get(old, "pid"), *mine = tree_get(own, "pid");
	const struct tree *boot = tree_get(old, "bootId"), *now = tree_get(own, "bootId");

	return pid && tree_eq(pid, mine) && (!boot || !now || tree_eq(boot, now));
}

int interrupted_note(int root_fd, const char *signal, const char *waiting, struct err *e)
{
	static const char *const stale[] = {
		"state",         "signal",        "waiting", "waitingSinceUnixMs",
		"nextTryUnixMs", "nextRunUnixMs", NULL
	};
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf old = BUF_INIT(STATUS_MAX), text = BUF_INIT(STATUS_MAX);
	struct tree *own = tree_map(a), *t = tree_map(a), *before;
	const char *from;
	int r = interrupted_get(root_fd, &old, &from, e);

	if (r >= 0)
		r = json_parse(a, from, buf_str(&old), old.len, &before, e);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	interrupted_identify(a, root_fd, own);
	if (before->kind != TREE_MAP || !is_ours(before, own))
		return 0;
	tree_set_text(a, t, "state", "interrupted");
	tree_set_text(a, t, "signal", signal);
	if (waiting)
		tree_set_text(a, t, "waiting", waiting);
	for (size_t i = 0; i < before->n; i++) {
		const struct tree_item *item = &before->items[i];

		if (!str_is_one_of(item->key, stale))
			(void)tree_set(a, t, item->key, item->value);
	}
	r = json_render(t, true, &text, e);
	return r < 0 ? r : interrupted_put(root_fd, &text, e);
}
