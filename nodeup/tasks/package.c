/* Tests: test_packages.c. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/program.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/file_lock.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/package_db.h"

#define INSTALL_NS (1800 * DUR_SEC)
#define LOCK_POLL_NS (500 * DUR_MS)

enum { OUTPUT_MAX = 1 << 20, ARGS_MAX = 10 };

/* A family's program: how it takes names and a file, and what locks it. */
struct manager {
	enum package_family family;
	const char *program; /* the first row whose program is there is used */
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

/* However it came to be there. */
static bool has_program(const struct task_package *p, const struct task_ctx *ctx)
{
	return p->program && program_is_there(ctx->root_fd, p->program);
}

static int package_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	int r;

	/* told of by package_remark() */
	if (ctx->image_mode || has_program(&t->package, ctx))
		return TASK_EQUAL;
	r = package_db_look(&t->package, ctx, a, &s, e);
	if (r < 0)
		return r;
	if (s.missing.n == 0)
		return TASK_EQUAL;
	return task_missing(diff, "not installed: %s", strv_join(a, &s.missing, " "));
}

/* apt-get's and dpkg's, dnf's and yum's, rpm's; dnf puts its own below a bare "Error: ". */
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

/* The manager is given what was verified, not what stands at its path by then. */
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
	/* no person is there to be asked which of two settings is to stay */
	static const char *const finish[] = {
		"dpkg", "--force-confdef", "--force-confold", "--configure", "-a", NULL
	};
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	struct err stale = { 0 };
	int r;

	r = package_db_look(&t->package, ctx, a, &s, e);
	if (r >= 0 && s.interrupted)
		r = run(t, ctx, finish, e);
	if (r < 0)
		return r;
	if (t->package.source)
		return install_file(t, ctx, m, e);
	/* lists that cannot be had anew may still be good enough */
	if (m->refresh[0] && run(t, ctx, m->refresh, &stale) < 0)
		stale.kind = ERR_SYSTEM;
	r = run_with(t, ctx, m->install, &s.missing, e);
	if (r < 0 && stale.kind)
		err_note(e, "before", "%s", stale.msg);
	return r;
}

/* A manager may come to a good end without what was asked for. */
static int look_again(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct package_state s;
	int r;

	if (has_program(&t->package, ctx))
		return 0;
	r = package_db_look(&t->package, ctx, a, &s, e);
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
		/* another process may have been quicker by a moment */
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

/* Below a root no package manager is run, so the builder of the image has to be told what is lacking. */
static const char *package_remark(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	struct package_state s;
	struct err e;

	if (!ctx->image_mode || has_program(&t->package, ctx))
		return NULL;
	if (t->package.family == PACKAGE_RPM)
		return arena_printf(
			a,
			"packages %s: whether they are there was not asked, rpm is not run "
			"below a root",
			strv_join(a, &t->package.names, " "));
	if (package_db_look(&t->package, ctx, a, &s, &e) < 0)
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
