/* Tests: test_sysctl.c, test_tasks.c. */
#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/map.h"
#include "nodeup/base/walk.h"

enum { VALUE_MAX = 4096, FILE_MAX = 1 << 20 };

/* Without these keys pods have no network. */
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

/* In the order of sysctl.d(5): if several folders have a file of one name, the first file counts. If that file is
 * empty or a link to /dev/null, it hides the others. */
static const char *const folders[] = {
	"/etc/sysctl.d",     "/run/sysctl.d", "/usr/local/lib/sysctl.d",
	"/usr/lib/sysctl.d", "/lib/sysctl.d",
};

/* The kernel has one value under both names. source: Linux Documentation/networking/ip-sysctl.rst */
static const char forward[] = "/proc/sys/net/ipv4/ip_forward";
static const char forward_of_all[] = "/proc/sys/net/ipv4/conf/all/forwarding";

/* the file that `sysctl --system` reads last */
static const char last[] = "/etc/sysctl.conf";

struct sysctl_line {
	const char *file;
	size_t number;
	const char *value;
};

/* In a key whose first separator is a dot, a slash stands for a dot in a name (net.ipv4.conf.eth0/100). A key whose
 * first separator is a slash is a path. Two names for one value always have the same path. source: sysctl.d(5) */
static char *sysctl_path(struct arena *a, const char *key)
{
	static const char root[] = "/proc/sys/";
	char *path = arena_printf(a, "%s%s", root, key);
	const bool has_dots = key[strcspn(key, "./")] == '.';

	for (char *p = path + strlen(root); *p && has_dots; p++)
		if (*p == '.' || *p == '/')
			*p = *p == '.' ? '/' : '.';
	return strcmp(path, forward_of_all) == 0 ? arena_str(a, forward) : path;
}

static void read_line(struct arena *a, const char *file, size_t number, const char *text,
		      struct map *found)
{
	const char *eq = strchr(text, '='), *key;
	struct sysctl_line *line;

	if (!eq || strchr("#;", *text))
		return;
	key = str_trim(a, arena_strn(a, text, (size_t)(eq - text)));
	/* a "-" before the key: the line may fail */
	key += *key == '-';
	if (!*key || strpbrk(key, "*?["))
		return;
	line = arena_new(a, struct sysctl_line);
	*line = (struct sysctl_line){ file, number, str_trim(a, eq + 1) };
	(void)map_put(a, found, sysctl_path(a, key), line);
}

static void read_file(struct arena *a, int root_fd, const char *file, struct map *found)
{
	const char *text = io_text(a, root_fd, file, FILE_MAX);
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = lines.n; i > 0; i--)
		read_line(a, file, i, str_trim(a, lines.v[i - 1]), found);
}

/* Returns the settings in files that come after this one: a map from sysctl_path() to struct sysctl_line. The last
 * line about a key counts. Patterns are left out: they do not apply to a key that a file names. */
static struct map sysctl_behind(struct arena *a, int root_fd, const char *file)
{
	struct strmap paths = { 0 };
	struct map found = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const struct strv names = walk_list(a, root_fd, folders[i], ".conf");

		for (size_t k = 0; k < names.n; k++)
			if (!strmap_get(&paths, names.v[k]))
				strmap_set(a, &paths, names.v[k],
					   arena_printf(a, "%s/%s", folders[i], names.v[k]));
	}
	strmap_sort(&paths);
	/* from the last file to the first: the line found first counts */
	read_file(a, root_fd, last, &found);
	for (size_t i = paths.n; i > 0; i--)
		if (strcmp(paths.v[i - 1].key, str_basename(file)) > 0)
			read_file(a, root_fd, paths.v[i - 1].value, &found);
	return found;
}

static bool has_key(struct arena *a, const char *const *keys, const char *path)
{
	for (; *keys; keys++)
		if (strcmp(sysctl_path(a, *keys), path) == 0)
			return true;
	return false;
}

/* A key that this kernel lacks, or that a container may not set, is left alone. */
static bool is_settable(struct task_ctx *ctx, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;

	return io_open(ctx->root_fd, path, O_RDWR | O_NONBLOCK, &fd, &ignored) == 0;
}

/* The kernel separates several numbers by tabs, people use blanks. */
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

/* One pass over the settings of a task. */
struct pass {
	const struct task *t;
	struct task_ctx *ctx;
	struct arena *arena;
	struct map behind;
	struct strv notes; /* what the admin should know */
};

static struct pass pass_new(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	return (struct pass){
		.t = t,
		.ctx = ctx,
		.arena = a,
		.behind = sysctl_behind(a, ctx->root_fd, t->name),
	};
}

static bool is_lacking(const struct pass *p, const char *path)
{
	struct err ignored;
	struct stat st;

	return !strpbrk(path, "*?[") && io_stat(p->ctx->root_fd, path, &st, &ignored) == -ENOENT;
}

static bool is_needed(const struct pass *p, const char *path)
{
	return has_key(p->arena, network_keys, path) ||
	       (p->t->sysctl.keeps_defaults && has_key(p->arena, kubelet_keys, path));
}

/* Returns whether a file that comes after ours sets the key, such as an admin's. kops' `sysctl --system` keeps the
 * same order. */
static bool is_others(struct pass *p, const struct strmap_item *item, const char *path)
{
	const struct sysctl_line *line = map_get(&p->behind, path);

	if (!line || same_value(line->value, item->value))
		return false;
	if (is_needed(p, path)) {
		strv_addf(p->arena, &p->notes, "%s:%zu would undo %s = %s", line->file,
			  line->number, item->key, item->value);
		return false;
	}
	strv_addf(p->arena, &p->notes, "%s is %s:%zu's, which comes later", item->key, line->file,
		  line->number);
	return true;
}

/* Returns 1 if we must change the kernel's value, else 0. */
static int is_to_set(struct pass *p, const struct strmap_item *item, const char *path,
		     struct err *e)
{
	if (is_others(p, item, path))
		return 0;
	if (strv_has(&p->t->sysctl.asked, item->key) && is_lacking(p, path))
		strv_addf(p->arena, &p->notes,
			  "the kernel has no %s, and systemd-sysctl fails on it", item->key);
	return value_differs(p->ctx, item, path, e);
}

/* Joins the notes that fit, and counts the others. */
static const char *notes_text(const struct pass *p)
{
	enum { ROOM = ERR_NOTE_MAX - sizeof("; and 1000 more") };
	const char *text = p->notes.n ? p->notes.v[0] : "";

	for (size_t i = 1; i < p->notes.n; i++) {
		if (strlen(text) + strlen(p->notes.v[i]) > ROOM)
			return arena_printf(p->arena, "%s; and %zu more", text, p->notes.n - i);
		text = arena_printf(p->arena, "%s; %s", text, p->notes.v[i]);
	}
	return text;
}

static int sysctl_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strmap_item *first = NULL;
	struct pass p;

	if (ctx->image_mode)
		return TASK_EQUAL;
	p = pass_new(t, ctx, a);
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		int r = is_to_set(&p, item, sysctl_path(a, item->key), e);

		if (r < 0)
			return r;
		if (r > 0 && !first)
			first = item;
	}
	diff->left = p.notes.n > 0;
	if (first)
		return task_differs(diff, "%s is not '%s' in the kernel%s%s", first->key,
				    first->value, p.notes.n ? "; " : "", notes_text(&p));
	return p.notes.n ? task_left(diff, "%s", notes_text(&p)) : TASK_EQUAL;
}

static int sysctl_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct pass p = pass_new(t, ctx, a);

	(void)run;
	for (size_t i = 0; i < t->sysctl.values.n; i++) {
		const struct strmap_item *item = &t->sysctl.values.v[i];
		const char *path = sysctl_path(a, item->key);
		autoclose int fd = -1;
		int r = is_to_set(&p, item, path, e);

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
