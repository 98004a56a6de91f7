#include "nodeup/tasks/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/file_lock.h"
#include "nodeup/tasks/selinux.h"
#include "nodeup/tasks/target.h"

static const char lock_path[] = "/etc/.pwd.lock";
static const char passwd_path[] = "/etc/passwd";
static const char group_path[] = "/etc/group";
static const char shadow_path[] = "/etc/shadow";

#define LOCK_POLL_NS (200 * DUR_MS)

/* The ids that useradd gives to people; source: login.defs(5), UID_MIN and UID_MAX. */
enum { ID_MIN = 1000, ID_MAX = 60000, DB_MAX = 16 << 20, ID_FIELD = 2, FIELDS = 7 };

/* One of the files, as lines of fields. */
struct db {
	const char *path;
	struct strv lines;
	struct stat st;
	bool there;
};

/* Follows a link, and does not take the link's own mode, which lets all users write. */
static int db_read_target(struct task_ctx *ctx, const char *path, struct buf *text, struct stat *st,
			  struct err *e)
{
	autoclose int fd = -1;
	int r = io_open_file(ctx->root_fd, path, &fd, e);

	if (r < 0)
		return r;
	if (fstat(fd, st) < 0)
		return err_sys(e, "look at '%s'", path);
	return io_read_fd(fd, path, text, e);
}

static int db_read(struct task_ctx *ctx, struct arena *a, const char *path, struct db *db,
		   struct err *e)
{
	autobuf struct buf text = BUF_INIT(DB_MAX);
	int r = io_read_itself(ctx->root_fd, path, &text, &db->st, e);

	db->path = path;
	if (r == -ENOENT)
		return 0;
	if (r == -ELOOP)
		r = db_read_target(ctx, path, &text, &db->st, e);
	if (r < 0)
		return r;
	db->there = true;
	db->lines = strv_split(a, buf_str(&text), '\n');
	return 0;
}

static const char *db_line(const struct db *db, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < db->lines.n; i++)
		if (strncmp(db->lines.v[i], name, n) == 0 && db->lines.v[i][n] == ':')
			return db->lines.v[i];
	return NULL;
}

static long id_of(struct arena *a, const char *line)
{
	const struct strv fields = strv_split(a, line, ':');

	return fields.n > ID_FIELD ? strtol(fields.v[ID_FIELD], NULL, 10) : -1;
}

int target_owner(struct task_ctx *ctx, const char *name, uid_t *ret_uid, gid_t *ret_gid,
		 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct db passwd = { 0 };
	int r;

	*ret_uid = *ret_gid = 0;
	if (!name)
		return 0;
	r = db_read(ctx, a, passwd_path, &passwd, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < passwd.lines.n; i++) {
		const struct strv fields = strv_split(a, passwd.lines.v[i], ':');

		/* the C library passes over a damaged line, too */
		if (fields.n != FIELDS || strcmp(fields.v[0], name) != 0)
			continue;
		*ret_uid = (uid_t)strtoul(fields.v[ID_FIELD], NULL, 10);
		*ret_gid = (gid_t)strtoul(fields.v[ID_FIELD + 1], NULL, 10);
		return 0;
	}
	return err_fail(e, ERR_SYSTEM, ENOENT, "there is no user '%s'", name);
}

static bool has_id(struct arena *a, const struct db *db, long id)
{
	for (size_t i = 0; i < db->lines.n; i++)
		if (id_of(a, db->lines.v[i]) == id)
			return true;
	return false;
}

/* Returns the lowest id that neither file has. */
static long free_id(struct arena *a, const struct db *passwd, const struct db *group)
{
	long id = ID_MIN;

	while (id < ID_MAX && (has_id(a, passwd, id) || has_id(a, group, id)))
		id++;
	return id < ID_MAX ? id : -1;
}

/* passwd is written last: its flush covers the names of the other files too, which are in the same folder. */
static int db_replace(struct task_ctx *ctx, const struct db *db, const struct buf *text,
		      const struct io_attr *attr, struct err *e)
{
	autostage struct io_stage s = IO_STAGE_INIT;
	int r = io_stage_open(ctx->root_fd, db->path, &s, e);

	if (r >= 0)
		r = io_write_fd(s.fd, db->path, buf_str(text), text->len, e);
	if (r < 0)
		return r;
	selinux_set(ctx, db->path, s.fd);
	if (str_eq(db->path, passwd_path))
		return io_stage_commit(&s, db->path, attr, e);
	if (fsync(s.fd) < 0)
		return err_sys(e, "sync '%s'", db->path);
	return io_stage_publish(&s, db->path, attr, e);
}

/* Replaces the file in one step, with a line added. A new file gets `mode`. */
static int db_append(struct task_ctx *ctx, const struct db *db, const char *line, mode_t mode,
		     struct err *e)
{
	const struct io_attr attr = {
		.mode = db->there ? db->st.st_mode & 07777 : mode,
		.uid = db->there ? db->st.st_uid : 0,
		.gid = db->there ? db->st.st_gid : 0,
	};
	autobuf struct buf text = BUF_INIT(DB_MAX);
	const size_t n = db->lines.n;

	for (size_t i = 0; i < n; i++)
		if (i + 1 < n || *db->lines.v[i])
			(void)buf_addf(&text, "%s\n", db->lines.v[i]);
	(void)buf_addf(&text, "%s\n", line);
	if (buf_check(&text, db->path, e) < 0)
		return -EFBIG;
	return db_replace(ctx, db, &text, &attr, e);
}

struct user_files {
	struct db passwd, group, shadow;
};

static int read_all(struct task_ctx *ctx, struct arena *a, struct user_files *f, struct err *e)
{
	int r = db_read(ctx, a, passwd_path, &f->passwd, e);

	if (r >= 0)
		r = db_read(ctx, a, group_path, &f->group, e);
	if (r >= 0)
		r = db_read(ctx, a, shadow_path, &f->shadow, e);
	return r;
}

/* Compares name:password:uid:gid:gecos:home:shell. */
static const char *field_differs(struct arena *a, const struct task_user *u, const char *line)
{
	const struct strv fields = strv_split(a, line, ':');

	if (fields.n != FIELDS)
		return arena_printf(a, "its line has %zu fields", fields.n);
	if (u->uid && strtoul(fields.v[ID_FIELD], NULL, 10) != u->uid)
		return arena_printf(a, "its id is %s, want %u", fields.v[ID_FIELD], u->uid);
	if (!str_eq(fields.v[5], u->home))
		return arena_printf(a, "home is %s, want %s", fields.v[5], u->home);
	if (!str_eq(fields.v[6], u->shell))
		return arena_printf(a, "shell is %s, want %s", fields.v[6], u->shell);
	return NULL;
}

static int user_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct user_files f = { 0 };
	const char *line, *why;
	int r = read_all(ctx, a, &f, e);

	if (r < 0)
		return r;
	line = db_line(&f.passwd, t->user.name);
	if (!line)
		return task_missing(diff, "absent");
	why = field_differs(a, &t->user, line);
	return why ? task_differs(diff, "%s", why) : TASK_EQUAL;
}

/* Fails if the id is taken: programs in containers own files by this id, and another user would get these files. */
static int check_free(const struct task_user *u, struct arena *a, const struct user_files *f,
		      struct err *e)
{
	const struct db *const both[] = { &f->passwd, &f->group };

	for (size_t i = 0; u->uid && i < ARRAY_LEN(both); i++)
		for (size_t k = 0; k < both[i]->lines.n; k++) {
			const char *line = both[i]->lines.v[k];

			if (id_of(a, line) == (long)u->uid && line != db_line(both[i], u->name))
				return err_fail(e, ERR_SYSTEM, EEXIST,
						"'%s': the id %u of '%s' is taken by '%.*s'",
						both[i]->path, u->uid, u->name,
						(int)strcspn(line, ":"), line);
		}
	return 0;
}

/* Adds the user. If a run that was killed here left the group, the user gets the group's id, as in that run. */
static int add(const struct task_user *u, struct task_ctx *ctx, struct arena *a,
	       const struct user_files *f, struct err *e)
{
	const char *group = db_line(&f->group, u->name);
	long any = u->uid ? (long)u->uid : free_id(a, &f->passwd, &f->group);
	long gid = group ? id_of(a, group) : any;
	long uid = !u->uid && gid >= ID_MIN && !has_id(a, &f->passwd, gid) ? gid : any;
	int r = 0; /* an id that the documents give was checked to be free before */

	if (uid < 0 || gid < 0)
		return err_fail(e, ERR_SYSTEM, ENOSPC, "no id is free between %d and %d", ID_MIN,
				ID_MAX);
	if (!group)
		r = db_append(ctx, &f->group, arena_printf(a, "%s:x:%ld:", u->name, gid), 0644, e);
	/* without a date of the password, so that two images of one document are the same bytes */
	if (r >= 0 && !db_line(&f->shadow, u->name))
		r = db_append(ctx, &f->shadow, arena_printf(a, "%s:!::0:99999:7:::", u->name), 0640,
			      e);
	if (r < 0)
		return r;
	return db_append(ctx, &f->passwd,
			 arena_printf(a, "%s:x:%ld:%ld::%s:%s", u->name, uid, gid, u->home,
				      u->shell),
			 0644, e);
}

/* Sets home and shell of an existing user. Password and groups stay; the id stays too if the documents do not give
 * one. */
static int change(const struct task_user *u, struct task_ctx *ctx, struct arena *a,
		  struct user_files *f, const char *line, struct err *e)
{
	struct strv fields = strv_split(a, line, ':');
	struct db *db = &f->passwd, others = *db;

	if (fields.n != FIELDS)
		return err_fail(e, ERR_SYSTEM, EINVAL, "'%s': the line of '%s' has %zu fields",
				passwd_path, u->name, fields.n);
	if (u->uid)
		fields.v[ID_FIELD] = arena_printf(a, "%u", u->uid);
	fields.v[5] = u->home;
	fields.v[6] = u->shell;
	others.lines = (struct strv){ 0 };
	for (size_t i = 0; i < db->lines.n; i++)
		if (db->lines.v[i] != line)
			strv_add(a, &others.lines, db->lines.v[i]);
	return db_append(ctx, &others, strv_join(a, &fields, ":"), 0644, e);
}

static int user_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct user_files f = { 0 };
	char holder[FILE_LOCK_NAME_MAX];
	autoclose int lock = -1;
	const char *line;
	int r = io_mkdirs(ctx->root_fd, "/etc", 0755, e);

	if (r >= 0)
		r = file_lock_take(ctx->root_fd, lock_path, &lock, holder, e);
	if (r == -EBUSY)
		return task_wait(run, dur_now() + LOCK_POLL_NS, "%s, which %s holds", lock_path,
				 holder);
	if (r >= 0)
		r = read_all(ctx, a, &f, e);
	if (r >= 0)
		r = check_free(&t->user, a, &f, e);
	if (r < 0)
		return r;
	line = db_line(&f.passwd, t->user.name);
	r = line ? change(&t->user, ctx, a, &f, line, e) : add(&t->user, ctx, a, &f, e);
	return r < 0 ? r : TASK_DONE;
}

static int user_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			struct task_diff *diff)
{
	(void)ctx;
	if (!was)
		return task_missing(diff, "absent");
	if (was->user.uid != t->user.uid)
		return task_differs(diff, "its id is %u, want %u", was->user.uid, t->user.uid);
	if (!str_eq(was->user.home, t->user.home))
		return task_differs(diff, "home is %s, want %s", was->user.home, t->user.home);
	return str_eq(was->user.shell, t->user.shell)
		       ? TASK_EQUAL
		       : task_differs(diff, "shell is %s, want %s", was->user.shell, t->user.shell);
}

static void user_inputs(const struct task *t, struct digest_ctx *c)
{
	digest_update(c, t->user.name, strlen(t->user.name) + 1);
}

const struct task_ops task_user_ops = {
	.kind = "user",
	.brief = true,
	.stays = true,
	.check = user_check,
	.apply = user_apply,
	.compare = user_compare,
	.inputs = user_inputs,
};
