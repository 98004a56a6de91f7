#include "nodeup/tasks/task.h"

#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/base/proc.h"
#include "nodeup/tasks/selinux.h"
#include "nodeup/tasks/state.h"

const char *task_path(const struct task *t)
{
	switch (t->kind) {
	case TASK_DIR:
	case TASK_FILE:
	case TASK_INSTALL:
	case TASK_PROGRAM:
	case TASK_LINK:
	case TASK_KEYRING:
		return t->name;
	default:
		return NULL;
	}
}

static void set_why(struct task_diff *d, const char *fmt, va_list ap)
{
	print_words(d->why, sizeof(d->why), fmt, ap);
	d->missing = d->restarts = false;
}

int task_differs(struct task_diff *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_why(d, fmt, ap);
	va_end(ap);
	d->kept = d->lost = d->spare = false;
	return TASK_DIFFERS;
}

int task_missing(struct task_diff *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_why(d, fmt, ap);
	va_end(ap);
	d->kept = d->lost = d->spare = false;
	d->missing = true;
	return TASK_DIFFERS;
}

int task_left(struct task_diff *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_why(d, fmt, ap);
	va_end(ap);
	d->left = true;
	return TASK_EQUAL;
}

int64_t task_time_left(const struct task_ctx *ctx, int64_t most_ns)
{
	int64_t left = ctx->deadline_ns - dur_now();

	if (!ctx->deadline_ns || left > most_ns)
		return most_ns;
	/* 0 would mean "no limit" to the caller */
	return left > DUR_MS ? left : DUR_MS;
}

int task_run_program(const struct task_ctx *ctx, const char *const *argv, int stdin_fd,
		     int64_t most_ns, struct buf *out, struct err *e)
{
	const struct proc_req req = {
		.argv = argv,
		.stdin_fd = stdin_fd,
		.timeout_ns = task_time_left(ctx, most_ns),
	};

	return proc_run(&req, out, e);
}

void task_wake(const struct task_ctx *ctx, struct task_run *run)
{
	__atomic_store_n(&run->woken, true, __ATOMIC_RELEASE);
	ctx->wake(ctx->wake_arg);
}

int task_wait(struct task_run *run, int64_t next_ns, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_words(run->waiting, sizeof(run->waiting), fmt, ap);
	va_end(ap);
	run->next_ns = next_ns;
	return TASK_WAIT;
}

/* Stages of a task whose file is flushed with others. */
enum { STAGE_NONE, STAGE_GROUPED, STAGE_ENDED };

struct commit {
	const struct task *task;
	struct task_ctx *ctx;
	struct task_run *run;
	struct digest content;
};

static void commit_ended(void *arg, int fd, const struct err *e)
{
	autofree struct commit *c = arg;

	c->run->result = e ? err_code(e) : TASK_DONE;
	if (e)
		*c->run->error = *e;
	else
		state_set(c->ctx->state, task_path(c->task), fd, &c->content, c->task->origin);
	__atomic_store_n(&c->run->stage, STAGE_ENDED, __ATOMIC_RELEASE);
	task_wake(c->ctx, c->run);
}

static int wait_for_flush(struct task_run *run)
{
	return task_wait(run, 0, "what is flushed to the disk with it");
}

int task_commit(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		struct io_stage *s, const struct io_attr *attr, const struct digest *content,
		struct err *e)
{
	struct commit *c;
	int r;

	selinux_set(ctx, task_path(t), s->fd);
	if (!ctx->flush) {
		r = io_stage_commit(s, task_path(t), attr, e);
		if (r == 0)
			state_set(ctx->state, task_path(t), s->fd, content, t->origin);
		return r;
	}
	c = xcalloc(1, sizeof(*c));
	*c = (struct commit){ t, ctx, run, *content };
	run->stage = STAGE_GROUPED;
	r = flush_add(ctx->flush, s, task_path(t), attr, commit_ended, c, e);
	if (r == 0)
		return wait_for_flush(run);
	free(c);
	run->stage = STAGE_NONE;
	return r;
}

bool task_is_committed(struct task_run *run, int *ret, struct err *e)
{
	const int stage = __atomic_load_n(&run->stage, __ATOMIC_ACQUIRE);

	if (stage == STAGE_NONE)
		return false;
	*ret = stage == STAGE_GROUPED ? wait_for_flush(run) : run->result;
	if (*ret < 0)
		*e = *run->error;
	return true;
}

bool task_serves(const struct task *t, const struct task *other)
{
	for (size_t i = 0; i < t->n_serves; i++)
		if (t->serves[i] == other)
			return true;
	return false;
}

bool task_is_unneeded(const struct task *t, struct task_ctx *ctx)
{
	if (t->unused || t->n_serves == 0)
		return t->unused;
	for (size_t i = 0; i < t->n_serves; i++) {
		const struct task *user = t->serves[i];
		struct task_diff diff = { .spare = false };
		struct err e;

		if (user->ops->check(user, ctx, &diff, &e) != TASK_EQUAL && !diff.spare)
			return false;
	}
	return true;
}

char *task_title(struct arena *a, const struct task *t)
{
	return arena_printf(a, "%s %s", t->ops->kind, t->name);
}
