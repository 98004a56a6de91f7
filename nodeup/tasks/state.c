#include "nodeup/tasks/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/str.h"

static const char state_path[] = OWN_STATE;
static const char header[] = "nodeup state 1\n";
/* begins the line of a lost file's record */
static const char lost_mark[] = "!";
static const char written_mark[] = "+";

enum { STATE_MAX = 4 << 20 };

struct record {
	const char *path, *origin;
	struct digest digest;
	struct io_stamp stamp;
	bool durable;
	bool written; /* true: we wrote the file; false: we found it right */
	bool lost; /* the file's fsync failed: bytes that look right when read may not be on the disk */
};

struct state {
	int root_fd;
	bool dirty;
	struct arena *arena;
	struct record *records;
	size_t n;
	pthread_mutex_t lock;
};

static struct record *find(struct state *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->records[i].path, path) == 0)
			return &s->records[i];
	return NULL;
}

/* Reads one line; a line that does not parse is no record. */
static bool parse_record(struct arena *a, const char *line, struct record *r)
{
	char algo_hex[DIGEST_TEXT_MAX + 16], origin[64];
	struct io_stamp *st = &r->stamp;
	struct err ignored;
	int used = 0;

	r->lost = str_has_prefix(line, lost_mark);
	r->written = str_has_prefix(line, written_mark);
	line += r->lost || r->written;
	if (sscanf(line,
		   "%143s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %o %" SCNu32
		   " %" SCNu32 " %63s %n",
		   algo_hex, &st->dev, &st->ino, &st->size, &st->mtime_ns, &st->ctime_ns, &st->mode,
		   &st->uid, &st->gid, origin, &used) != 10 ||
	    line[used] != '/')
		return false;
	if (digest_parse(algo_hex, strlen(algo_hex), &r->digest, &ignored) < 0)
		return false;
	r->path = arena_str(a, line + used);
	r->origin = arena_str(a, origin);
	r->durable = true;
	return true;
}

bool state_is_whole(const char *text, size_t n)
{
	return str_has_prefix(text, header) && text[n - 1] == '\n' && !memchr(text, '\0', n);
}

static void parse_state(struct state *s, char *text)
{
	char *line = text, *end;

	if (!str_has_prefix(text, header))
		return;
	for (line += strlen(header); (end = strchr(line, '\n')); line = end + 1) {
		struct record r;

		*end = '\0';
		if (parse_record(s->arena, line, &r) && !find(s, r.path))
			arena_push(s->arena, s->records, s->n, r);
	}
}

int state_open(int root_fd, struct state **ret, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATE_MAX);
	struct state *s;
	int r = io_read(root_fd, state_path, &text, e);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EFBIG)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->root_fd = root_fd;
	s->arena = arena_new_empty();
	(void)pthread_mutex_init(&s->lock, NULL);
	if (r == 0 && text.len)
		parse_state(s, text.data);
	*ret = s;
	return 0;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	(void)pthread_mutex_destroy(&s->lock);
	arena_free(s->arena);
	free(s);
}

/* Finds the record of a path; false: none. */
static bool look_up(struct state *s, const char *path, struct record *ret)
{
	const struct record *r;

	(void)pthread_mutex_lock(&s->lock);
	r = find(s, path);
	if (r)
		*ret = *r;
	(void)pthread_mutex_unlock(&s->lock);
	return r;
}

bool state_is(struct state *s, const char *path, const struct stat *st, const struct digest *d)
{
	const struct io_stamp now = io_stamp_of(st);
	struct record r;

	return look_up(s, path, &r) && !r.lost && digest_eq(&r.digest, d) &&
	       io_stamp_eq(&r.stamp, &now);
}

uint64_t state_size_of(struct state *s, const char *path, const struct digest *d)
{
	struct record r;

	return look_up(s, path, &r) && digest_eq(&r.digest, d) ? r.stamp.size : 0;
}

int state_open_copy(struct state *s, const struct digest *d)
{
	int found = -1;

	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n && found < 0; i++) {
		const struct record *r = &s->records[i];
		autoclose int fd = -1;
		struct io_stamp now;
		struct err ignored;
		struct stat st;

		if (r->lost || !digest_eq(&r->digest, d) ||
		    io_open_file(s->root_fd, r->path, &fd, &ignored) < 0 || fstat(fd, &st) < 0)
			continue;
		now = io_stamp_of(&st);
		if (io_stamp_eq(&r->stamp, &now))
			found = TAKE_FD(fd);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return found;
}

bool state_is_lost(struct state *s, const char *path, const struct stat *st)
{
	const struct io_stamp now = io_stamp_of(st);
	struct record r;

	return look_up(s, path, &r) && r.lost && io_stamp_eq(&r.stamp, &now);
}

/* Returns whether the record equals the new one, and is about the very file that was flushed. */
static bool says(const struct record *r, const struct record *new)
{
	return r && r->durable && !r->lost && digest_eq(&r->digest, &new->digest) &&
	       io_stamp_eq(&r->stamp, &new->stamp) && str_eq(r->origin, new->origin) &&
	       (r->written || !new->written);
}

/* The lock is held. */
static void put(struct state *s, struct record *r, const struct record *new)
{
	bool written;

	if (!r) {
		arena_push(s->arena, s->records, s->n, (struct record){ 0 });
		r = &s->records[s->n - 1];
	}
	written = new->written || (r->written && digest_eq(&r->digest, &new->digest));
	*r = *new;
	r->written = written;
	r->path = arena_str(s->arena, new->path);
	r->origin = arena_str(s->arena, new->origin);
	s->dirty = true;
}

static void keep(struct state *s, const struct record *new)
{
	struct record *r;

	(void)pthread_mutex_lock(&s->lock);
	r = find(s, new->path);
	if (!says(r, new))
		put(s, r, new);
	(void)pthread_mutex_unlock(&s->lock);
}

void state_set(struct state *s, const char *path, int fd, const struct digest *d,
	       const char *origin)
{
	struct record r = {
		.path = path, .origin = origin, .digest = *d, .durable = true, .written = true
	};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	r.stamp = io_stamp_of(&st);
	keep(s, &r);
}

void state_saw(struct state *s, const char *path, const struct digest *d, const char *origin,
	       const struct stat *st)
{
	const struct record r = {
		.path = path, .origin = origin, .digest = *d, .stamp = io_stamp_of(st)
	};

	keep(s, &r);
}

struct strv state_written(struct state *s, struct arena *a, const char *const *origins,
			  bool found_too)
{
	struct strv paths = { 0 };

	for (size_t i = 0; i < s->n; i++)
		if ((s->records[i].written || found_too) &&
		    !str_is_one_of(s->records[i].origin, origins))
			strv_add(a, &paths, arena_str(a, s->records[i].path));
	return paths;
}

struct strv state_names(struct state *s, struct arena *a, const char *dir,
			const char *const *origins)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct record *r = &s->records[i];

		if (str_has_prefix(r->path, dir) && !strchr(r->path + strlen(dir), '/') &&
		    !str_is_one_of(r->origin, origins))
			strv_add(a, &names, arena_str(a, str_basename(r->path)));
	}
	return names;
}

/* Returns whether the link is the one that we made. A link can only be made anew, so its age tells it from one that
 * an admin made since. A copy of the disk may keep no more than the seconds. */
static bool is_same_link(const struct io_stamp *x, const struct io_stamp *y)
{
	return x->mode == y->mode && x->size == y->size &&
	       x->mtime_ns / DUR_SEC == y->mtime_ns / DUR_SEC;
}

/* Compares the stamp. If it differs, compares the bytes: a disk may have another number after a reboot. */
bool state_wrote(struct state *s, const char *path, const struct stat *st, bool found_too)
{
	const struct io_stamp now = io_stamp_of(st);
	struct record rec;
	autoclose int fd = -1;
	struct digest found;
	struct err ignored;

	if (!look_up(s, path, &rec) || !(rec.written || found_too) || rec.lost)
		return false;
	if (!S_ISREG(st->st_mode))
		return S_ISLNK(st->st_mode) && is_same_link(&rec.stamp, &now);
	return io_stamp_eq(&rec.stamp, &now) ||
	       (io_open(s->root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, &fd, &ignored) == 0 &&
		digest_of_fd(rec.digest.algo, fd, path, &found, &ignored) == 0 &&
		digest_eq(&found, &rec.digest));
}

void state_forget(struct state *s, const char *path)
{
	struct record *r;

	(void)pthread_mutex_lock(&s->lock);
	r = find(s, path);
	if (r) {
		*r = s->records[--s->n];
		s->dirty = true;
	}
	(void)pthread_mutex_unlock(&s->lock);
}

/* Returns whether the recorded file is gone from the path, so that the record says nothing about what is there. */
static bool is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == ENXIO;
}

/* A record counts only if its bytes are on the disk. The kernel reports a lost write once, and then reads the file
 * from memory as before, so a failed fsync is never tried again. */
static int make_durable(struct state *s, struct record *r, struct err *e)
{
	autoclose int fd = -1;
	int rc = io_open(s->root_fd, r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, &fd, e);

	if (rc == 0 && fsync(fd) < 0)
		rc = err_sys(e, "sync '%s'", r->path);
	if (rc < 0 && is_gone(e->errnum))
		return 0;
	r->durable = rc == 0;
	r->lost = rc < 0;
	return rc;
}

int state_sync(struct state *s, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *paths = NULL;
	struct err why;
	int errnum = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct record *r = &s->records[i];

		if (r->durable || r->lost || make_durable(s, r, &why) == 0)
			continue;
		errnum = why.errnum;
		paths = arena_printf(a, "%s%s'%s'", paths ? paths : "", paths ? ", " : "", r->path);
	}
	return paths ? err_fail(e, ERR_SYSTEM, errnum, "%s may not be on the disk: sync: %s", paths,
				strerror(errnum))
		     : 0;
}

static void render_record(const struct record *r, struct buf *b)
{
	char hex[DIGEST_TEXT_MAX];
	const struct io_stamp *st = &r->stamp;

	(void)buf_addf(b,
		       "%s%s:%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64
		       " %o %" PRIu32 " %" PRIu32 " %s %s\n",
		       r->lost      ? lost_mark
		       : r->written ? written_mark
				    : "",
		       digest_algo_name(r->digest.algo), digest_hex(&r->digest, hex), st->dev,
		       st->ino, st->size, st->mtime_ns, st->ctime_ns, st->mode, st->uid, st->gid,
		       r->origin, r->path);
}

int state_store(struct state *s, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATE_MAX);
	int r;

	if (!s->dirty)
		return 0;
	(void)buf_adds(&text, header);
	for (size_t i = 0; i < s->n; i++) {
		const struct record *rec = &s->records[i];

		if (rec->durable || rec->lost)
			render_record(rec, &text);
	}
	r = buf_check(&text, state_path, e);
	if (r == 0)
		r = record_write(s->root_fd, state_path, 0600, buf_str(&text), e);
	if (r == 0)
		s->dirty = false;
	return r;
}
