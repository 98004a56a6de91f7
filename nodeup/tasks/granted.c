#include "nodeup/tasks/granted.h"

#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"

enum { NOTE_MAX = 4096 };

bool granted_is(const struct task_ctx *ctx, const char *name, const char *what)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf have = BUF_INIT(NOTE_MAX);

	return record_read(ctx->root_fd, arena_printf(a, OWN_GRANTED_DIR "/%s", name), &have) &&
	       str_eq(buf_str(&have), arena_printf(a, "%s\n", what));
}

int granted_note(const struct task_ctx *ctx, const char *name, const char *what, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return record_keep(ctx->root_fd, arena_printf(a, OWN_GRANTED_DIR "/%s", name), 0644,
			   arena_printf(a, "%s\n", what), e);
}
