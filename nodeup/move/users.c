#include "nodeup/move/move.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/volumes/users.h"

/* how long a stopping program may keep its files open */
#define PATIENCE_NS (60 * DUR_SEC)
#define LOOK_AGAIN_NS (500 * DUR_MS)

enum { PID_MAX_BYTES = 64 };

/* Remembers the process until the next boot. If it cannot be remembered, the services are stopped once more. */
static void leave_word(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		       const struct user *user)
{
	const char *text = arena_printf(a, "%s\n", user->pid);
	struct err ignored;

	(void)!record_write(ctx->root_fd, move_record(a, OWN_USERS_DIR, m), 0644, text, &ignored);
}

static bool is_out_of_patience(const struct task_run *run)
{
	return run->since_ns && dur_now() - run->since_ns >= PATIENCE_NS;
}

static int give_up(const struct task_move *m, const struct user *user, struct task_run *run,
		   struct err *e)
{
	run->final = true;
	return err_fail(e, ERR_BUSY, EBUSY, "%s: %s is in use and was not moved", user->what,
			m->source);
}

int move_users_wait(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    struct task_run *run, struct err *e)
{
	const bool is_last = is_out_of_patience(run);
	struct err ignored;
	struct user user;
	int r = users_of(ctx->root_fd, a, m->source, NULL, &user, e);

	if (r < 0)
		return r;
	if (!user.what) {
		(void)!io_remove(ctx->root_fd, move_record(a, OWN_USERS_DIR, m), &ignored);
		return 0;
	}
	if (!run->since_ns || is_last)
		leave_word(ctx, a, m, &user);
	return is_last ? give_up(m, &user, run, e)
		       : task_wait(run, dur_now() + LOOK_AGAIN_NS, "%s", user.what);
}

int move_users_wait_again(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			  struct task_run *run, struct err *e)
{
	autobuf struct buf pid = BUF_INIT(PID_MAX_BYTES);
	struct user user;
	int r;

	if (!record_read(ctx->root_fd, move_record(a, OWN_USERS_DIR, m), &pid))
		return 0;
	r = users_of(ctx->root_fd, a, m->source, str_trim(a, buf_str(&pid)), &user, e);
	if (r < 0 || !user.what)
		return r;
	return is_out_of_patience(run) ? give_up(m, &user, run, e)
				       : task_wait(run, dur_now() + LOOK_AGAIN_NS, "%s", user.what);
}
