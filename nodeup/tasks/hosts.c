#include "nodeup/tasks/task.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HOSTS_MAX = 1 << 20 };

static const char path[] = "/etc/hosts";
static const char first_line[] = "# etcd members, written by nodeup: lines of yours go elsewhere\n";
static const char last_line[] = "# end of etcd members\n";

/* Everything that is not ours, then ours. */
static int want(const struct task *t, const char *now, struct buf *out, struct err *e)
{
	const struct strmap *names = &t->hosts.names;
	const char *begin = strstr(now, first_line);
	const char *end = begin ? strstr(begin, last_line) : NULL;

	/* our beginning without our end: the rest may be somebody's */
	if (begin && !end)
		end = begin + strlen(first_line) - strlen(last_line);
	(void)buf_add(out, now, begin ? (size_t)(begin - now) : strlen(now));
	if (begin)
		(void)buf_adds(out, end + strlen(last_line));
	if (out->len && out->data[out->len - 1] != '\n')
		(void)buf_addc(out, '\n');
	(void)buf_adds(out, first_line);
	for (size_t i = 0; i < names->n; i++)
		(void)buf_addf(out, "%s\t%s\n", names->v[i].value, names->v[i].key);
	(void)buf_adds(out, last_line);
	return buf_check(out, path, e);
}

static int read_now(struct task_ctx *ctx, struct buf *now, struct err *e)
{
	int r = io_read(ctx->root_fd, path, now, e);

	return r == -ENOENT ? 0 : r;
}

static int hosts_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		       struct err *e)
{
	autobuf struct buf now = BUF_INIT(HOSTS_MAX), then = BUF_INIT(2 * HOSTS_MAX);
	int r = read_now(ctx, &now, e);

	if (r == 0)
		r = want(t, buf_str(&now), &then, e);
	if (r < 0)
		return r;
	if (strcmp(buf_str(&now), buf_str(&then)) == 0)
		return TASK_EQUAL;
	return task_differs(diff, strstr(buf_str(&now), first_line)
					  ? "members have other addresses"
					  : "members of etcd are not in it");
}

/* Containers have the file itself mounted, and one that is renamed over it they would never see. So it
 * is written where it is, from the first byte that differs, in one call: lines before ours stay, and
 * what a power cut may leave is a block without its end, which the next run mends. */
static int write_in_place(struct task_ctx *ctx, const struct buf *now, const struct buf *then,
			  struct err *e)
{
	autoclose int fd = -1;
	size_t same = 0;
	ssize_t n;
	int r = io_open(ctx->root_fd, path, O_WRONLY, &fd, e);

	if (r < 0)
		return r;
	while (same < now->len && same < then->len && now->data[same] == then->data[same])
		same++;
	n = pwrite(fd, then->data + same, then->len - same, (off_t)same);
	if (n < 0 || (size_t)n != then->len - same)
		return io_write_failed(fd, path, then->len - same, e);
	if (ftruncate(fd, (off_t)then->len) < 0 || fsync(fd) < 0)
		return err_sys(e, "write '%s'", path);
	return 0;
}

static int hosts_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		       struct err *e)
{
	autobuf struct buf now = BUF_INIT(HOSTS_MAX), then = BUF_INIT(2 * HOSTS_MAX);
	static const struct io_attr attr = { .mode = 0644 };
	struct stat st;
	int r = read_now(ctx, &now, e);

	(void)run;
	if (r == 0)
		r = want(t, buf_str(&now), &then, e);
	if (r == 0)
		r = task_make_room(ctx, path, e);
	if (r < 0)
		return r;
	r = io_stat(ctx->root_fd, path, &st, e);
	if (r == 0 && S_ISREG(st.st_mode))
		return write_in_place(ctx, &now, &then, e);
	return io_replace(ctx->root_fd, path, then.data, then.len, &attr, e);
}

const struct task_ops task_hosts_ops = {
	.kind = "hosts",
	.check = hosts_check,
	.apply = hosts_apply,
};
