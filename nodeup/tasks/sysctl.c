/* Tests: test_tasks.c. */
#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/sysctl_files.h"

enum { VALUE_MAX = 4096 };

/* Without these pods have no network. */
static const char *const network_keys[] = {
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv6.conf.default.forwarding",
	"net.bridge.bridge-nf-call-iptables",
	"net.bridge.bridge-nf-call-ip6tables",
	"net.bridge.bridge-nf-call-arptables",
	NULL,
};

/* Keys that kubelet compares with --protect-kernel-defaults. source: kubernetes pkg/kubelet/cm, pkg/util/sysctl */
static const char *const kubelet_keys[] = {
	"vm.overcommit_memory",
	"vm.panic_on_oom",
	"kernel.panic",
	"kernel.panic_on_oops",
	"kernel.keys.root_maxkeys",
	"kernel.keys.root_maxbytes",
	NULL,
};

static bool has_key(struct arena *a, const char *const *keys, const char *path)
{
	for (; *keys; keys++)
		if (strcmp(sysctl_path(a, *keys), path) == 0)
			return true;
	return false;
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

/* One walk over the settings of a task. */
struct walk {
	const struct task *t;
	struct task_ctx *ctx;
	struct arena *arena;
	struct map behind;
	struct strv notes; /* what the admin should know */
};

static struct walk walk_new(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	return (struct walk){
		.t = t,
		.ctx = ctx,
		.arena = a,
		.behind = sysctl_behind(a, ctx->root_fd, t->name),
	};
}

static bool is_lacking(const struct walk *w, const char *path)
{
	struct err ignored;
	struct stat st;

	return !strpbrk(path, "*?[") && io_stat(w->ctx->root_fd, path, &st, &ignored) == -ENOENT;
}

static bool is_needed(const struct walk *w, const char *path)
{
	return has_key(w->arena, network_keys, path) ||
	       (w->t->sysctl.keeps_defaults && has_key(w->arena, kubelet_keys, path));
}

/* Returns whether another file has the last word on a setting, as an admin's does for whom kops' `sysctl --system` keeps the order. */
static bool is_others(struct walk *w, const struct strmap_item *item, const char *path)
{
	const struct sysctl_line *line = map_get(&w->behind, path);

	if (!line || same_value(line->value, item->value))
		return false;
	if (is_needed(w, path)) {
		strv_addf(w->arena, &w->notes, "%s:%zu would undo %s = %s", line->file,
			  line->number, item->key, item->value);
		return false;
	}
	strv_addf(w->arena, &w->notes, "%s is %s:%zu's, which comes later", item->key, line->file,
		  line->number);
	return true;
}

/* Returns whether the kernel has another value that is ours to set: 0 or 1. */
static int is_to_set(struct walk *w, const struct strmap_item *item, const char *path,
		     struct err *e)
{
	if (is_others(w, item, path))
		return 0;
	if (strv_has(&w->t->sysctl.asked, item->key) && is_lacking(w, path))
		strv_addf(w->arena, &w->notes,
			  "the kernel has no %s, and systemd-sysctl fails on it", item->key);
	return value_differs(w->ctx, item, path, e);
}

/* Joins what there is room for; the rest is counted. */
static const char *notes_text(const struct walk *w)
{
	enum { ROOM = ERR_NOTE_MAX - sizeof("; and 1000 more") };
	const char *text = w->notes.n ? w->notes.v[0] : "";

	for (size_t i = 1; i < w->notes.n; i++) {
		if (strlen(text) + strlen(w->notes.v[i]) > ROOM)
			return arena_printf(w->arena, "%s; and %zu more", text, w->notes.n - i);
		text = arena_printf(w->arena, "%s; %s", text, w->notes.v[i]);
	}
	return text;
}

static int sysctl_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strmap_item *first = NULL;
	struct walk w;

	if (ctx->image_mode)
		return TASK_EQUAL;
	w = walk_new(t, ctx, a);
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		int r = is_to_set(&w, item, sysctl_path(a, item->key), e);

		if (r < 0)
			return r;
		if (r > 0 && !first)
			first = item;
	}
	diff->left = w.notes.n > 0;
	if (first)
		return task_differs(diff, "%s is not '%s' in the kernel%s%s", first->key,
				    first->value, w.notes.n ? "; " : "", notes_text(&w));
	return w.notes.n ? task_left(diff, "%s", notes_text(&w)) : TASK_EQUAL;
}

static int sysctl_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct walk w = walk_new(t, ctx, a);

	(void)run;
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		const char *path = sysctl_path(a, item->key);
		autoclose int fd = -1;
		int r = is_to_set(&w, item, path, e);

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
