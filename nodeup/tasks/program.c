/* program.c - nodeup's own program, at the boot unit's path
 * A record beside the applied state lists the installed bytes: a program that has them is right. Only an install
 * (`replace`) brings other bytes. A run of another program leaves the installed one alone. If the installed program
 * is missing or damaged, the running one takes its place, as any nodeup is better than none.
 * Invariant: at each moment the program has bytes that the record names.
 * Owner: the arena. Errors: SYSTEM, INTEGRITY. Threads: all functions.
 * Tests: test_program.c. */
#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/print.h"
#include "nodeup/base/record.h"
#include "nodeup/tasks/selinux.h"
#include "nodeup/tasks/target.h"
#include "nodeup/tasks/state.h"

/* Holds a line of digest and version for each program that may be the installed one. */
static const char record_path[] = OWN_PROGRAM;

static const char own_program[] = "/proc/self/exe";
/* user data put the nodeup that they fetched here: it may have the very bytes of the record */
static const char user_data_program[] = "/var/cache/kubernetes-install/nodeup";
/* the label that policies give to programs in a folder `bin`, also below /opt: services may execute them */
static const char program_label[] = "system_u:object_r:bin_t:s0";

enum { RECORD_MAX = 4096, PROGRAMS_MAX = 2, VERSION_MAX = 64 };

struct program {
	struct digest digest;
	char version[VERSION_MAX];
};

/* The recorded programs: two while one replaces the other. */
struct programs {
	struct program v[PROGRAMS_MAX];
	size_t n;
};

static const struct program *find(const struct programs *known, const struct digest *d)
{
	for (size_t i = 0; i < known->n; i++)
		if (digest_eq(&known->v[i].digest, d))
			return &known->v[i];
	return NULL;
}

/* A record that cannot be read counts as missing: the installed program is then compared with the running one. */
static struct programs read_record(struct task_ctx *ctx)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct programs known = { 0 };
	struct err ignored;
	char *line, *rest;

	if (!record_read(ctx->root_fd, record_path, &text) || text.len == 0)
		return known;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) && known.n < PROGRAMS_MAX) {
		struct program *p = &known.v[known.n];
		char hex[DIGEST_TEXT_MAX];

		if (sscanf(line, "sha256:%128s %63s", hex, p->version) == 2 &&
		    digest_parse(hex, strlen(hex), &p->digest, &ignored) == 0 &&
		    p->digest.algo == DIGEST_SHA256)
			known.n++;
	}
	return known;
}

static int write_record(struct task_ctx *ctx, const struct programs *known, struct err *e)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	char hex[DIGEST_TEXT_MAX];
	int r;

	for (size_t i = 0; i < known->n; i++)
		(void)buf_addf(&text, "sha256:%s %s\n", digest_hex(&known->v[i].digest, hex),
			       known->v[i].version);
	r = buf_check(&text, record_path, e);
	return r < 0 ? r : record_keep(ctx->root_fd, record_path, 0644, buf_str(&text), e);
}

/* Describes the running program. */
static int own_of(const struct task *t, struct program *ret, struct err *e)
{
	autoclose int fd = io_open_at(AT_FDCWD, own_program, 0);

	if (fd < 0)
		return err_sys(e, "open '%s'", own_program);
	(void)print_to(ret->version, sizeof(ret->version), "%s", t->program.version);
	return digest_of_fd(DIGEST_SHA256, fd, own_program, &ret->digest, e);
}

/* Returns whether the running program is the installed file itself. */
static bool runs_from(const struct stat *installed)
{
	struct stat own;

	return stat(own_program, &own) == 0 && own.st_dev == installed->st_dev &&
	       own.st_ino == installed->st_ino;
}

/* Finds out which of the programs is installed; NULL: none of them. `st`: the file's stat, taken before this call. */
static int installed_of(const struct task *t, struct task_ctx *ctx, const struct programs *wanted,
			const struct stat *st, const struct program **ret, struct err *e)
{
	const char *path = t->name;
	autoclose int fd = -1;
	struct digest now;
	int r;

	*ret = NULL;
	for (size_t i = 0; i < wanted->n && !ctx->verify; i++)
		if (state_is(ctx->state, path, st, &wanted->v[i].digest)) {
			*ret = &wanted->v[i];
			return 0;
		}
	r = io_open_file(ctx->root_fd, path, &fd, e);
	if (r == 0)
		r = digest_of_fd(DIGEST_SHA256, fd, path, &now, e);
	if (r < 0)
		return r;
	*ret = find(wanted, &now);
	if (*ret)
		state_saw(ctx->state, path, &now, t->origin, st);
	return 0;
}

/* Returns whether a package has installed another version than the recorded one, and that version runs now. In this
 * case the installed file is not damaged. */
static bool is_upgraded(const struct task *t, const struct programs *known, const struct stat *st)
{
	return known->n && runs_from(st) && !str_eq(known->v[0].version, t->program.version);
}

static int compare(const struct task *t, struct task_ctx *ctx, const struct programs *known,
		   const struct stat *st, struct task_diff *diff, struct err *e)
{
	struct programs wanted = *known;
	const struct program *installed = NULL;
	int r = 0;

	if (t->program.replace || known->n == 0) {
		wanted.n = 1;
		r = own_of(t, &wanted.v[0], e);
	}
	if (r == 0)
		r = installed_of(t, ctx, &wanted, st, &installed, e);
	if (r < 0)
		return r;
	if (!installed && t->program.replace)
		return task_differs(diff, "another program, want nodeup %s", t->program.version);
	if (!installed && is_upgraded(t, known, st))
		return task_differs(diff, "nodeup %s is not recorded; that was %s",
				    t->program.version, known->v[0].version);
	if (!installed && known->n)
		return task_differs(diff, "damaged: not the nodeup %s that was installed",
				    known->v[0].version);
	if (!installed)
		return task_differs(diff, "another program, and there is no record of it");
	if (known->n != 1 || !find(known, &installed->digest)) {
		(void)task_differs(diff, "'%s' does not name it", record_path);
		diff->kept = true;
		return TASK_DIFFERS;
	}
	return TASK_EQUAL;
}

static int program_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	const struct programs known = read_record(ctx);
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return task_missing(diff, "absent");
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return task_differs(diff, "a %s, not a regular file", io_kind(st.st_mode));
	if (state_is_lost(ctx->state, t->name, &st))
		return task_differs(diff, "a write to the disk failed");
	r = compare(t, ctx, &known, &st, diff, e);
	if (r != TASK_EQUAL)
		return r;
	if ((st.st_mode & 07777) == 0755 && st.st_uid == 0 && st.st_gid == 0)
		return TASK_EQUAL;
	(void)task_differs(diff, "mode %04o owner %u:%u, want 0755 0:0", st.st_mode & 07777,
			   st.st_uid, st.st_gid);
	diff->kept = true;
	return TASK_DIFFERS;
}

/* Opens a file below the root if its bytes are those of a known program. */
static bool open_known(struct task_ctx *ctx, const char *path, const struct programs *known,
		       int *ret_fd, struct program *ret)
{
	const struct program *p;
	autoclose int fd = -1;
	struct err ignored;
	struct digest now;

	if (io_open(ctx->root_fd, path, O_RDONLY | O_NONBLOCK, &fd, &ignored) < 0 ||
	    digest_of_fd(DIGEST_SHA256, fd, path, &now, &ignored) < 0)
		return false;
	p = find(known, &now);
	if (!p)
		return false;
	*ret = *p;
	*ret_fd = TAKE_FD(fd);
	return true;
}

/* Opens a source of the bytes: a file with recorded bytes, or else the running program. */
static int open_source(const struct task *t, struct task_ctx *ctx, const struct programs *known,
		       int *ret_fd, struct program *ret, struct err *e)
{
	struct err ignored;
	struct stat st;
	bool is_installed, keep;
	int r = own_of(t, ret, e);

	if (r < 0)
		return r;
	is_installed = io_stat(ctx->root_fd, t->name, &st, &ignored) == 0 && runs_from(&st);
	keep = !t->program.replace && known->n && !find(known, &ret->digest) &&
	       !(is_installed && is_upgraded(t, known, &st));
	if (keep && (open_known(ctx, t->name, known, ret_fd, ret) ||
		     open_known(ctx, user_data_program, known, ret_fd, ret)))
		return 0;
	if (keep && is_installed)
		return err_fail(e, ERR_INTEGRITY, 0,
				"'%s' is damaged, and is what runs now: fetch nodeup %s and run "
				"its repair",
				t->name, known->v[0].version);
	*ret_fd = io_open_at(AT_FDCWD, own_program, 0);
	return *ret_fd < 0 ? err_sys(e, "open '%s'", own_program) : 0;
}

/* Without the label no service may execute the program on an enforcing host. Without SELinux nothing is set; a
 * kernel that refuses labels has no use for them. */
static void set_label(struct task_ctx *ctx, const char *path, int fd)
{
	if (!ctx->has_labels)
		return;
	(void)!fsetxattr(fd, "security.selinux", program_label, sizeof(program_label), 0);
	selinux_set(ctx, path, fd);
}

static int publish(const struct task *t, struct task_ctx *ctx, int source,
		   const struct program *want, struct err *e)
{
	static const struct io_attr attr = { .mode = 0755 };
	autostage struct io_stage stage = IO_STAGE_INIT;
	const char *path = t->name;
	struct digest got;
	int r = target_stage(ctx, path, &stage, e);

	if (r == 0)
		r = target_copy(source, stage.fd, path, e);
	if (r == 0)
		r = digest_of_fd(DIGEST_SHA256, stage.fd, path, &got, e);
	if (r < 0)
		return r;
	if (!digest_eq(&got, &want->digest))
		return err_fail(e, ERR_SYSTEM, EIO, "'%s': its copy has other bytes", path);
	set_label(ctx, path, stage.fd);
	r = io_stage_commit(&stage, path, &attr, e);
	if (r == 0)
		state_set(ctx->state, path, stage.fd, &want->digest, t->origin);
	return r;
}

static int program_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			 struct err *e)
{
	const struct programs known = read_record(ctx);
	struct programs both = { .n = 1 };
	char hex[DIGEST_TEXT_MAX];
	autoclose int source = -1;
	struct program *want = &both.v[0];
	int r = open_source(t, ctx, &known, &source, want, e);

	if (r < 0)
		return r;
	/* the record names old and new bytes, so it has the installed ones whenever this run is killed */
	for (size_t i = 0; i < known.n && both.n < PROGRAMS_MAX; i++)
		if (!digest_eq(&known.v[i].digest, &want->digest))
			both.v[both.n++] = known.v[i];
	r = write_record(ctx, &both, e);
	if (r == 0)
		r = publish(t, ctx, source, want, e);
	both.n = 1;
	if (r == 0)
		r = write_record(ctx, &both, e);
	if (r < 0)
		return r;
	(void)print_to(run->remark, sizeof(run->remark), "nodeup %.20s, sha256 %.12s",
		       want->version, digest_hex(&want->digest, hex));
	return TASK_DONE;
}

/* Returns how the running program differs from an intact installed one. */
static const char *program_remark(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	const struct programs known = read_record(ctx);
	char path[PATH_MAX], hex[DIGEST_TEXT_MAX], own_hex[DIGEST_TEXT_MAX];
	const ssize_t n = readlink(own_program, path, sizeof(path) - 1);
	const struct program *was = &known.v[0];
	struct stat st, own_st;
	struct program own;
	struct err ignored;

	if (ctx->image_mode || t->program.replace || known.n != 1 || n <= 0 ||
	    io_stat(ctx->root_fd, t->name, &st, &ignored) < 0 || runs_from(&st))
		return NULL;
	path[n] = '\0';
	if (stat(own_program, &own_st) < 0 || state_is(ctx->state, path, &own_st, &was->digest) ||
	    own_of(t, &own, &ignored) < 0)
		return NULL;
	if (digest_eq(&own.digest, &was->digest)) {
		state_saw(ctx->state, path, &own.digest, t->origin, &own_st);
		return NULL;
	}
	return arena_printf(a,
			    "this is nodeup %s (sha256 %.12s) and does not install itself: %s is "
			    "nodeup %s (sha256 %.12s); apply --install-systemd-unit replaces it",
			    own.version, digest_hex(&own.digest, own_hex), t->name, was->version,
			    digest_hex(&was->digest, hex));
}

const struct task_ops task_program_ops = {
	.kind = "program",
	.stays = true,
	.check = program_check,
	.apply = program_apply,
	.remark = program_remark,
};
