/* Tests: test_cases.py. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/selinux.h"
#include "nodeup/tasks/target.h"

enum { HOSTS_MAX = 1 << 20 };

static const char path[] = "/etc/hosts";

/* source: kops 1.37 pkg/dns/hosts/hosts.go */
static const char first_line[] = "# Begin host entries managed by kops - do not edit\n";
static const char last_line[] = "# End host entries managed by kops\n";

/* Returns the part of a line of n bytes that is a host name. */
static const char *name_in(const char *line, size_t n)
{
	const char *tab = memrchr(line, '\t', n);

	return tab ? tab + 1 : line;
}

static bool starts_with(const char *whole, const char *part, size_t n)
{
	return n <= strlen(whole) && strncmp(whole, part, n) == 0;
}

static bool ends_with(const char *whole, const char *part, size_t n)
{
	return n <= strlen(whole) && strncmp(whole + strlen(whole) - n, part, n) == 0;
}

/* Returns whether this line may be left from our block after a power cut tore it: a whole line of ours, the end of a
 * line of a longer block, or the beginning of a line at the file's end. */
static bool is_torn(const struct task_hosts *h, const char *line, size_t n)
{
	bool has_end = line[n] == '\n';
	const char *name = name_in(line, n);
	size_t len = (size_t)(line + n - name);

	if (n == 0)
		return true;
	if (has_end ? ends_with(last_line, line, n + 1) : starts_with(last_line, line, n))
		return true;
	for (size_t i = 0; i < h->lines.n; i++) {
		const char *ours = name_in(h->lines.v[i], strlen(h->lines.v[i]));

		if (name == line ? has_end && ends_with(ours, name, len)
				 : starts_with(ours, name, len) && (!has_end || !ours[len]))
			return true;
	}
	/* the beginning of an address: no other program writes such a line */
	return !has_end && strspn(line, "0123456789abcdef.:") == n;
}

/* Returns the text after our block, whose end may be missing. Lines that may belong to another program stay. */
static const char *after_ours(const struct task_hosts *h, const char *begin)
{
	const char *rest = begin + strlen(first_line), *end = strstr(rest, last_line);

	if (end)
		rest = end + strlen(last_line);
	while (*rest) {
		size_t n = strcspn(rest, "\n");

		if (!is_torn(h, rest, n))
			break;
		rest += n + (rest[n] == '\n');
	}
	return rest;
}

/* Writes all foreign lines, then ours. */
static int want(const struct task *t, const char *now, struct buf *out, struct err *e)
{
	const struct task_hosts *h = &t->hosts;
	const char *begin = strstr(now, first_line);

	(void)buf_add(out, now, begin ? (size_t)(begin - now) : strlen(now));
	if (begin)
		(void)buf_adds(out, after_ours(h, begin));
	while (out->len && out->data[out->len - 1] == '\n')
		out->len--;
	if (out->len)
		(void)buf_addc(out, '\n');
	(void)buf_addc(out, '\n');
	(void)buf_adds(out, first_line);
	for (size_t i = 0; i < h->lines.n; i++)
		(void)buf_addf(out, "%s\n", h->lines.v[i]);
	(void)buf_adds(out, last_line);
	return buf_check(out, path, e);
}

/* Reads the present text, and makes the wanted one. */
static int read_both(const struct task *t, struct task_ctx *ctx, struct buf *now, struct buf *then,
		     struct err *e)
{
	int r = io_read(ctx->root_fd, path, now, e);

	return r < 0 && r != -ENOENT ? r : want(t, buf_str(now), then, e);
}

static int hosts_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		       struct err *e)
{
	autobuf struct buf now = BUF_INIT(HOSTS_MAX), then = BUF_INIT(2 * HOSTS_MAX);
	int r = read_both(t, ctx, &now, &then, e);

	if (r < 0)
		return r;
	if (strcmp(buf_str(&now), buf_str(&then)) == 0)
		return TASK_EQUAL;
	return task_differs(diff, strstr(buf_str(&now), first_line)
					  ? "names have other addresses"
					  : "lines of ours are not in it");
}

/* Containers have the file itself mounted, and would never see a new file that is renamed over it. So it is written
 * in place, from the first byte that differs, in one call. Lines before ours stay. A power cut may leave a block
 * without its end, or followed by the end of the old block; the next run mends both. */
static int write_in_place(struct task_ctx *ctx, const struct buf *now, const struct buf *then,
			  struct err *e)
{
	autoclose int fd = -1;
	size_t same = 0;
	ssize_t n;
	int r = io_open(ctx->root_fd, path, O_WRONLY | O_NONBLOCK, &fd, e);

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
	autostage struct io_stage stage = IO_STAGE_INIT;
	struct stat st;
	int r = read_both(t, ctx, &now, &then, e);

	(void)run;
	if (r < 0)
		return r;
	r = io_stat(ctx->root_fd, path, &st, e);
	if (r == 0 && S_ISREG(st.st_mode))
		return write_in_place(ctx, &now, &then, e);
	r = target_stage(ctx, path, &stage, e);
	if (r >= 0)
		r = io_write_fd(stage.fd, path, then.data, then.len, e);
	if (r < 0)
		return r;
	selinux_set(ctx, path, stage.fd);
	return io_stage_commit(&stage, path, &attr, e);
}

static int hosts_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			 struct task_diff *diff)
{
	(void)ctx;
	if (!was)
		return task_missing(diff, "no lines of ours");
	for (size_t i = 0; i < t->hosts.lines.n; i++)
		if (!strv_has(&was->hosts.lines, t->hosts.lines.v[i]))
			return task_differs(diff, "other lines of ours");
	return was->hosts.lines.n == t->hosts.lines.n ? TASK_EQUAL
						      : task_differs(diff, "other lines of ours");
}

const struct task_ops task_hosts_ops = {
	.kind = "hosts",
	.check = hosts_check,
	.apply = hosts_apply,
	.compare = hosts_compare,
};
