/* Tests: test_packages.c. */

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/walk.h"
#include "nodeup/host/kernel.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/file_lock.h"
#include "nodeup/tasks/kinds.h"

#define INSTALL_NS (1800 * DUR_SEC)
#define ASK_NS (60 * DUR_SEC)
#define LOCK_POLL_NS (500 * DUR_MS)

enum { OUTPUT_MAX = 1 << 20, ARGS_MAX = 10, STATUS_MAX = 64 << 20, ANSWER_MAX = 256 << 10 };

/* The package manager of a family: its program, its arguments for names and for a file, and its locks. */
struct manager {
	enum package_family family;
	const char *program; /* the first row whose program exists is used */
	const char *refresh[ARGS_MAX], *install[ARGS_MAX], *install_file[ARGS_MAX];
	const char *locks[5];
};

/* clang-format off */
static const struct manager managers[] = {
	{ PACKAGE_DEB, "/usr/bin/apt-get",
	  { "apt-get", "-q", "update" },
	  { "apt-get", "-q", "-y", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", "install", "--" },
	  { "dpkg", "--force-confold", "-i" },
	  { "/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock",
	    "/var/cache/apt/archives/lock" } },
	{ PACKAGE_RPM, "/usr/bin/dnf",
	  { NULL }, { "dnf", "-q", "-y", "--setopt=install_weak_deps=False", "install", "--" }, { "rpm", "-i" },
	  { "/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock",
	    "/var/cache/dnf/metadata_lock.pid", "/var/lib/dnf/rpmdb_lock.pid" } },
	{ PACKAGE_RPM, "/usr/bin/yum",
	  { NULL }, { "yum", "-q", "-y", "install" }, { "rpm", "-i" },
	  { "/var/lib/rpm/.rpm.lock", "/run/yum.pid" } },
};
/* clang-format on */

static const char *const quiet_env[] = { "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C" };

static const char dpkg_status[] = "/var/lib/dpkg/status";
static const char dpkg_updates[] = "/var/lib/dpkg/updates";

/* What the package manager has installed. source: deb-control(5), dpkg-query(1), rpm(8) */
struct package_state {
	struct strv missing; /* wanted packages that are missing */
	bool interrupted; /* dpkg was killed half way, and must finish this work before it takes more */
};

/* Returns the value if the line is this field, else NULL. */
static const char *field_value(const char *line, const char *name)
{
	const size_t n = strlen(name);

	if (strncmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, " \t");
}

static bool is_word(const char *text, const char *word)
{
	const size_t n = strcspn(text, " \t\n");

	return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* Returns the state, which is the third word of "install ok installed". */
static const char *third_word(const char *status)
{
	for (int i = 0; i < 2; i++) {
		status += strcspn(status, " \t\n");
		status += strspn(status, " \t");
	}
	return status;
}

static void strike(struct strv *missing, const char *package)
{
	const size_t n = strcspn(package, " \t\n,(:");
	size_t kept = 0;

	for (size_t i = 0; i < missing->n; i++)
		if (strlen(missing->v[i]) != n || strncmp(package, missing->v[i], n) != 0)
			missing->v[kept++] = missing->v[i];
	missing->n = kept;
}

/* Strikes the packages of a list such as "mail-transport-agent, libssl3 (= 3.0.13-1)". */
static void strike_provided(struct strv *missing, const char *names)
{
	while (*names && *names != '\n') {
		names += strspn(names, ", \t");
		strike(missing, names);
		names += strcspn(names, ",\n");
	}
}

/* Removes installed packages from `missing`, by their own names or, if any provider will do, by names that they
 * provide. In dpkg's database the field Provides comes after Status. */
static void strike_installed(const char *text, bool provided, struct package_state *s)
{
	static const char *const half[] = { "unpacked", "half-configured", "half-installed" };
	const char *package = "";
	bool installed = false;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value = field_value(line, "Package"), *state;

		if (value) {
			package = value;
			installed = false;
		}
		value = field_value(line, "Provides");
		if (value && installed && provided)
			strike_provided(&s->missing, value);
		value = field_value(line, "Status");
		if (!value)
			continue;
		state = third_word(value);
		for (size_t i = 0; i < ARRAY_LEN(half); i++)
			s->interrupted |= is_word(state, half[i]);
		installed = is_word(state, "installed");
		if (installed)
			strike(&s->missing, package);
	}
}

static bool has_entries(int root_fd, const char *path)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv names = walk_list(a, root_fd, path, "");

	for (size_t i = 0; i < names.n; i++)
		if (names.v[i][0] != '.' && strcmp(names.v[i], "tmp.i") != 0)
			return true;
	return false;
}

static int look_dpkg(struct task_ctx *ctx, bool provided, struct package_state *s, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATUS_MAX);
	int r = io_read(ctx->root_fd, dpkg_status, &text, e);

	if (r < 0)
		return err_wrap(e, "dpkg's database");
	strike_installed(buf_str(&text), provided, s);
	s->interrupted |= has_entries(ctx->root_fd, dpkg_updates);
	return 0;
}

/* Asks rpm, but never about an image: rpm would change its root to the image, and make a database there. rpm prints
 * a line for each name, and exits with the number of missing ones. */
static int ask_rpm(struct task_ctx *ctx, struct arena *a, const char *question, const char *refusal,
		   struct strv *names, struct err *e)
{
	static const char *const english[] = { "LC_ALL=C", NULL };
	autobuf struct buf out = BUF_INIT(ANSWER_MAX);
	struct strv argv = { 0 }, lines, missing = { 0 };
	int r;

	strv_add(a, &argv, "rpm");
	strv_add(a, &argv, "-q");
	if (question)
		strv_add(a, &argv, question);
	strv_add_all(a, &argv, names);
	strv_add(a, &argv, NULL);
	const struct proc_req req = {
		.argv = argv.v,
		.extra_env = english,
		.stdin_fd = -1,
		.timeout_ns = task_time_left(ctx, ASK_NS),
	};
	r = proc_run(&req, &out, e);
	lines = strv_split(a, buf_str(&out), '\n');
	for (size_t i = 0; i < names->n; i++)
		if (strv_has(&lines, arena_printf(a, "%s%s%s", refusal, names->v[i],
						  question ? "" : " is not installed")))
			strv_add(a, &missing, names->v[i]);
	/* rpm failed for another reason than missing packages */
	if (r < 0 && missing.n == 0)
		return err_wrap(e, "rpm's database");
	*names = missing;
	return 0;
}

static int look_rpm(struct task_ctx *ctx, struct arena *a, bool provided, struct package_state *s,
		    struct err *e)
{
	int r = ask_rpm(ctx, a, NULL, "package ", &s->missing, e);

	if (r == 0 && provided && s->missing.n)
		r = ask_rpm(ctx, a, "--whatprovides", "no package provides ", &s->missing, e);
	return r;
}

/* Looks for all packages of a task: in dpkg's database, below any root, or by a call of rpm, whose database has many
 * formats. */
static int look_for_packages(const struct task_package *p, struct task_ctx *ctx, struct arena *a,
			     struct package_state *ret, struct err *e)
{
	/* a package file must be installed itself: no other package that provides its name will do */
	const bool provided = !p->source;
	struct package_state s = { 0 };
	int r;

	strv_add_all(a, &s.missing, &p->names);
	r = p->family == PACKAGE_DEB ? look_dpkg(ctx, provided, &s, e)
				     : look_rpm(ctx, a, provided, &s, e);
	if (r == 0)
		*ret = s;
	return r;
}

static const struct manager *find_manager(enum package_family family, int root_fd)
{
	for (size_t i = 0; i < ARRAY_LEN(managers); i++)
		if (managers[i].family == family && io_is_there(root_fd, managers[i].program))
			return &managers[i];
	return NULL;
}

static bool is_held(const struct manager *m, int root_fd, char holder[static FILE_LOCK_NAME_MAX],
		    const char **ret_lock)
{
	for (const char *const *lock = m->locks; *lock; lock++)
		if (file_lock_is_taken(root_fd, *lock, holder)) {
			*ret_lock = *lock;
			return true;
		}
	return false;
}

/* Returns whether the package's modules or program exist already, wherever they came from. */
static bool is_needless(const struct task_package *p, const struct task_ctx *ctx)
{
	for (size_t i = 0; i < p->modules.n; i++)
		if (kernel_lacks(ctx->root_fd, p->modules.v[i]))
			return false;
	return p->modules.n || (p->program && program_is_there(ctx->root_fd, p->program));
}

/* Looks for packages of the running kernel's release: modules of a newer kernel would be of no use to it. */
static int look(const struct task *t, struct task_ctx *ctx, struct arena *a,
		struct package_state *ret, struct err *e)
{
	struct task_package p = t->package;
	struct strv names = { 0 };
	struct utsname host;

	if (p.modules.n && uname(&host) == 0) {
		for (size_t i = 0; i < p.names.n; i++)
			strv_addf(a, &names, "%s-%s", p.names.v[i], host.release);
		p.names = names;
	}
	return look_for_packages(&p, ctx, a, ret, e);
}

static int package_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	int r;

	/* package_remark() reports it */
	if (ctx->image_mode || is_needless(&t->package, ctx))
		return TASK_EQUAL;
	r = look(t, ctx, a, &s, e);
	if (r < 0)
		return r;
	if (s.missing.n == 0)
		return TASK_EQUAL;
	return task_missing(diff, "not installed: %s", strv_join(a, &s.missing, " "));
}

/* Returns whether the line gives a reason: apt-get's and dpkg's, dnf's and yum's, rpm's. dnf puts its reason below a
 * line that is only "Error: ". */
static bool is_reason(const char *line)
{
	static const char *const starts[] = { "E: ", "dpkg: ", "Error: ", " Problem: ", "error: " };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (str_has_prefix(line, starts[i]))
			return line[strlen(starts[i])] != '\0';
	return false;
}

static int run(const struct task *t, struct task_ctx *ctx, const char *const *argv, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);
	struct proc_req req = {
		.argv = argv,
		.stdin_fd = -1,
		.timeout_ns = task_time_left(ctx, INSTALL_NS),
		.let_end = true,
	};
	struct strv env = { 0 }, lines;
	int r;

	strv_add_array(a, &env, quiet_env);
	strv_add_all(a, &env, &t->package.env);
	strv_add(a, &env, NULL);
	req.extra_env = env.v;
	r = proc_run(&req, &out, e);
	lines = strv_split(a, buf_str(&out), '\n');
	for (size_t i = 0; r < 0 && i < lines.n; i++)
		if (is_reason(lines.v[i]))
			err_note(e, "said", "%s", lines.v[i]);
	return r;
}

static int run_with(const struct task *t, struct task_ctx *ctx, const char *const *args,
		    const struct strv *rest, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv argv = { 0 };

	for (; *args; args++)
		strv_add(a, &argv, *args);
	strv_add_all(a, &argv, rest);
	strv_add(a, &argv, NULL);
	return run(t, ctx, argv.v, e);
}

/* Gives the manager the verified file by descriptor: another file may be at its path by then. */
static int install_file(const struct task *t, struct task_ctx *ctx, const struct manager *m,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1;
	struct strv path = { 0 };
	int r = cache_open(ctx->cache, &t->package.source->digest, &fd, e);

	if (r < 0)
		return r;
	strv_addf(a, &path, "/proc/%d/fd/%d", getpid(), fd);
	return run_with(t, ctx, m->install_file, &path, e);
}

static int install(const struct task *t, struct task_ctx *ctx, const struct manager *m,
		   struct err *e)
{
	/* nobody can be asked which of two settings to keep */
	static const char *const finish[] = {
		"dpkg", "--force-confdef", "--force-confold", "--configure", "-a", NULL
	};
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	struct err stale = { 0 };
	int r;

	r = look(t, ctx, a, &s, e);
	if (r >= 0 && s.interrupted)
		r = run(t, ctx, finish, e);
	if (r < 0)
		return r;
	if (t->package.source)
		return install_file(t, ctx, m, e);
	/* old lists may still be good enough */
	if (m->refresh[0] && run(t, ctx, m->refresh, &stale) < 0)
		stale.kind = ERR_SYSTEM;
	r = run_with(t, ctx, m->install, &s.missing, e);
	if (r < 0 && stale.kind)
		err_note(e, "before", "%s", stale.msg);
	return r;
}

/* Looks whether the package is there now: a manager may succeed without having installed it. */
static int look_again(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	int r;

	if (is_needless(&t->package, ctx))
		return 0;
	r = look(t, ctx, a, &s, e);
	if (r < 0 || s.missing.n == 0)
		return r;
	return err_fail(e, ERR_SYSTEM, ENOENT,
			"the package manager reports success, yet these are not installed: %s",
			strv_join(a, &s.missing, " "));
}

static int package_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run_state,
			 struct err *e)
{
	const struct manager *m = find_manager(t->package.family, ctx->root_fd);
	char holder[FILE_LOCK_NAME_MAX];
	const char *lock;
	int r;

	if (!m) {
		run_state->final = true;
		return err_fail(e, ERR_SYSTEM, ENOENT, "no package manager on this host (%s)",
				t->package.family == PACKAGE_DEB ? "apt-get" : "dnf, yum");
	}
	if (!is_held(m, ctx->root_fd, holder, &lock)) {
		r = install(t, ctx, m, e);
		if (r >= 0)
			return look_again(t, ctx, e);
		/* another process may have taken the lock a moment before */
		if (!is_held(m, ctx->root_fd, holder, &lock))
			return r;
	}
	return task_wait(run_state, dur_now() + LOCK_POLL_NS, "%s, which %s holds", lock, holder);
}

static void package_inputs(const struct task *t, struct digest_ctx *c)
{
	for (size_t i = 0; i < t->package.names.n; i++)
		digest_update(c, t->package.names.v[i], strlen(t->package.names.v[i]) + 1);
	if (t->package.source)
		digest_update(c, t->package.source->digest.bytes,
			      sizeof(t->package.source->digest.bytes));
}

/* Below a root no package manager runs, so whoever builds the image must be told what is missing. */
static const char *package_remark(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	struct package_state s;
	struct err e;

	if (!ctx->image_mode || is_needless(&t->package, ctx))
		return NULL;
	if (t->package.family == PACKAGE_RPM)
		return arena_printf(
			a,
			"packages %s: whether they are there was not asked, rpm is not run "
			"below a root",
			strv_join(a, &t->package.names, " "));
	if (look(t, ctx, a, &s, &e) < 0)
		return arena_printf(a, "packages %s: %s", strv_join(a, &t->package.names, " "),
				    e.msg);
	if (s.missing.n == 0)
		return NULL;
	return arena_printf(a,
			    "packages %s are not installed: no package manager is run below a root",
			    strv_join(a, &s.missing, " "));
}

const struct task_ops task_package_ops = {
	.kind = "package",
	.stays = true,
	.check = package_check,
	.apply = package_apply,
	.compare = baseline_once,
	.inputs = package_inputs,
	.remark = package_remark,
};
