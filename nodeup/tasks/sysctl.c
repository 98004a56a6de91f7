#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_MAX = 4096 };

/* In a key whose first separator is a dot, a slash stands for a dot in a name (net.ipv4.conf.eth0/100). A key whose first
 * separator is a slash is a path. source: sysctl.d(5) */
static char *proc_path(struct arena *a, const char *key)
{
	static const char root[] = "/proc/sys/";
	char *path = arena_printf(a, "%s%s", root, key);
	const bool has_dots = key[strcspn(key, "./")] == '.';

	for (char *p = path + strlen(root); *p && has_dots; p++)
		if (*p == '.' || *p == '/')
			*p = *p == '.' ? '/' : '.';
	return path;
}

/* A key this kernel lacks, or that a container may not set, is not ours to change. */
static bool is_settable(struct task_ctx *ctx, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;

	return io_open(ctx->root_fd, path, O_RDWR | O_NONBLOCK, &fd, &ignored) == 0;
}

/* The kernel separates several numbers by tabs, people by blanks. */
static bool same_value(const char *a, const char *b)
{
	static const char blank[] = " \t\n";

	for (;;) {
		size_t n, m;

		a += strspn(a, blank);
		b += strspn(b, blank);
		n = strcspn(a, blank);
		m = strcspn(b, blank);
		if (n != m || strncmp(a, b, n) != 0)
			return false;
		if (n == 0)
			return true;
		a += n;
		b += m;
	}
}

static int value_differs(struct task_ctx *ctx, const struct strmap_item *item, const char *path,
			 struct err *e)
{
	autobuf struct buf now = BUF_INIT(VALUE_MAX);
	int r;

	if (!is_settable(ctx, path))
		return 0;
	r = io_read(ctx->root_fd, path, &now, e);
	if (r < 0)
		return r;
	return !same_value(buf_str(&now), item->value);
}

static int sysctl_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	if (ctx->image_mode)
		return TASK_EQUAL;
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		int r = value_differs(ctx, item, proc_path(a, item->key), e);

		if (r < 0)
			return r;
		if (r > 0)
			return task_differs(diff, "%s is not '%s' in the kernel", item->key,
					    item->value);
	}
	return TASK_EQUAL;
}

static int sysctl_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	(void)run;
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		const char *path = proc_path(a, item->key);
		autoclose int fd = -1;
		int r = value_differs(ctx, item, path, e);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		r = io_open(ctx->root_fd, path, O_WRONLY | O_NONBLOCK, &fd, e);
		if (r < 0)
			return r;
		if (write(fd, item->value, strlen(item->value)) < 0)
			return err_sys(e, "set %s to '%s'", item->key, item->value);
	}
	return TASK_DONE;
}

static int sysctl_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			  struct task_diff *diff)
{
	for (size_t i = 0; i < t->sysctl.values.n && !ctx->image_mode; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		const char *had = was ? strmap_get(&was->sysctl.values, item->key) : NULL;

		if (!had || !same_value(had, item->value))
			return task_differs(diff, "%s is not '%s' in the kernel", item->key,
					    item->value);
	}
	return TASK_EQUAL;
}

const struct task_ops task_sysctl_ops = {
	.kind = "sysctl",
	.check = sysctl_check,
	.apply = sysctl_apply,
	.compare = sysctl_compare,
};
