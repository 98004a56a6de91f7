#include "nodeup/move/move.h"

#include <string.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "units/unit.h"

enum { RECORD_MAX = 16 * 1024 };

char *move_record(struct arena *a, const char *dir, const struct task_move *m)
{
	return arena_printf(a, "%s/%s", dir, unit_escape_path(a, m->source));
}

static char *record_path(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s@%s", move_record(a, OWN_MOVED_DIR, m), m->machine);
}

char *move_mark_dir(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s/" MOVE_MARK_NAME, m->mount_point);
}

char *move_mark(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s@%s", move_record(a, move_mark_dir(a, m), m),
			    m->machine ? m->machine : "unknown");
}

char *move_staging(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s.copy", move_mark(a, m));
}

/* Returns "" if there is no file. */
static const char *text_of(const struct task_ctx *ctx, struct arena *a, const char *path)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);

	return record_read(ctx->root_fd, path, &text) ? arena_str(a, buf_str(&text)) : "";
}

bool move_is_recorded(const struct task_ctx *ctx, const struct task_move *m,
		      const struct tree_stamp *now)
{
	autoarena struct arena *a = arena_new_empty();

	return m->machine && now->files > 0 &&
	       strstr(text_of(ctx, a, record_path(a, m)),
		      arena_printf(a, "\n%s\n", tree_stamp_text(a, now)));
}

/* Returns the mark's text; "" if there is no mark to be recorded. */
static const char *mark_text(const struct task_ctx *ctx, struct arena *a, const struct task_move *m)
{
	const char *mark = m->machine ? text_of(ctx, a, move_mark(a, m)) : "";

	return strstr(mark, "\nfiles 0 ") ? "" : mark;
}

bool move_is_forgotten(const struct task_ctx *ctx, const struct task_move *m)
{
	autoarena struct arena *a = arena_new_empty();
	const char *mark = mark_text(ctx, a, m);

	return *mark && strcmp(mark, text_of(ctx, a, record_path(a, m))) != 0;
}

int move_remember(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *mark = mark_text(ctx, a, m);

	return *mark ? record_write(ctx->root_fd, record_path(a, m), 0600, mark, e) : 0;
}
