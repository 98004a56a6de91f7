#include "nodeup/run/interrupted.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/str.h"

enum { STAT_MAX = 4096, STATUS_MAX = 8 << 20, STARTED_FIELD = 22, FIRST_FIELD = 3 };

static const char path[] = OWN_STATUS;

/* In ticks since the boot; NULL: unknown. */
static const char *start_ticks(struct arena *a, int root_fd)
{
	autobuf struct buf text = BUF_INIT(STAT_MAX);
	struct strv fields;
	struct err ignored;
	const char *behind;

	if (io_read(root_fd, "/proc/self/stat", &text, &ignored) < 0)
		return NULL;
	/* a name may hold blanks and parentheses */
	behind = strrchr(buf_str(&text), ')');
	if (!behind || behind[1] != ' ')
		return NULL;
	fields = strv_split(a, behind + 2, ' ');
	return fields.n > STARTED_FIELD - FIRST_FIELD ? fields.v[STARTED_FIELD - FIRST_FIELD]
						      : NULL;
}

void interrupted_identify(struct arena *a, int root_fd, struct tree *map)
{
	autobuf struct buf boot = BUF_INIT(STAT_MAX);
	const char *ticks = start_ticks(a, root_fd);
	struct err ignored;

	tree_set_int(a, map, "pid", getpid());
	if (ticks)
		(void)tree_set(a, map, "pidStartTicks", tree_plain(a, ticks));
	if (io_read(root_fd, "/proc/sys/kernel/random/boot_id", &boot, &ignored) == 0 && boot.len)
		tree_set_text(a, map, "bootId", str_trim(a, buf_str(&boot)));
}

int interrupted_put(int root_fd, const struct buf *text, struct err *e)
{
	return record_write(root_fd, path, 0644, buf_str(text), e);
}

static bool is_ours(const struct tree *old, const struct tree *own)
{
	const struct tree *pid = tree_get(old, "pid"), *mine = tree_get(own, "pid");
	const struct tree *boot = tree_get(old, "bootId"), *now = tree_get(own, "bootId");

	return pid && tree_eq(pid, mine) && (!boot || !now || tree_eq(boot, now));
}

int interrupted_note(int root_fd, const char *signal, const char *waiting, struct err *e)
{
	static const char *const stale[] = { "state", "waiting", "waitingSinceUnixMs",
					     "nextTryUnixMs", "nextRunUnixMs" };
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf old = BUF_INIT(STATUS_MAX), text = BUF_INIT(STATUS_MAX);
	struct tree *own = tree_map(a), *t = tree_map(a), *before;
	int r = io_read(root_fd, path, &old, e);

	if (r >= 0)
		r = json_parse(a, path, buf_str(&old), old.len, &before, e);
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
		bool keep = !str_eq(item->key, "signal");

		for (size_t k = 0; k < ARRAY_LEN(stale); k++)
			keep = keep && !str_eq(item->key, stale[k]);
		if (keep)
			(void)tree_set(a, t, item->key, item->value);
	}
	r = json_render(t, true, &text, e);
	return r < 0 ? r : interrupted_put(root_fd, &text, e);
}
