#include "assets/cache/cache.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "nodeup/base/walk.h"

enum { SIGNATURES_MAX = 64 * 1024, TRIES = 4 };

/* An entry that a caller asks about. */
struct query {
	const struct digest *digest;
	enum cache_effort effort;
	bool remove; /* true: removes a damaged entry; false: moves it to damaged/, as it may be the only copy */
};

static enum cache_state say_absent(const struct cache *c, const struct query *q, struct err *e)
{
	char name[CACHE_NAME_MAX], other[CACHE_NAME_MAX];
	struct stat st;

	cache_entry_name(q->digest, name);
	/* the entry was found damaged, now or in an earlier run, and the cache has no right one yet */
	if (c->dir_fd >= 0 && q->effort == CACHE_BY_BYTES &&
	    fstatat(c->dir_fd, cache_side_name("damaged", q->digest, other), &st,
		    AT_SYMLINK_NOFOLLOW) == 0) {
		(void)err_fail(e, ERR_SYSTEM, ENOENT,
			       "'%s/%s' is damaged; it was moved to the cache's damaged/", c->dir,
			       name);
		return CACHE_DAMAGED;
	}
	(void)err_fail(e, ERR_SYSTEM, ENOENT, "'%s/%s' is not in the cache", c->dir, name);
	return CACHE_ABSENT;
}

/* Removes the name of the wrong entry, and its record, unless another process has replaced the entry meanwhile.
 * Returns the outcome, for the message. */
static const char *take_away(struct cache *c, const struct query *q, const struct stat *wrong)
{
	char name[CACHE_NAME_MAX], other[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);
	struct stat st;

	cache_entry_name(q->digest, name);
	if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != wrong->st_ino)
		return "";
	cache_note_fate(c, q->digest, CACHE_KEPT);
	(void)unlinkat(c->dir_fd, cache_side_name("verified", q->digest, other), 0);
	if (q->remove) {
		/* a failing disk may refuse to remove a file, and still rename it */
		if (walk_remove(c->dir_fd, name) < 0)
			(void)renameat(c->dir_fd, name, c->dir_fd,
				       cache_side_name("tmp", q->digest, other));
		return "; it was thrown away";
	}
	(void)mkdirat(c->dir_fd, "damaged", 0700);
	(void)walk_remove(c->dir_fd, cache_side_name("damaged", q->digest, other));
	return renameat(c->dir_fd, name, c->dir_fd, other) == 0
		       ? "; it was moved to the cache's damaged/"
		       : "";
}

static enum cache_state give_up_entry(struct cache *c, const struct query *q, const struct stat *st,
				      int errnum, struct err *e)
{
	char name[CACHE_NAME_MAX];

	(void)err_fail(e, ERR_SYSTEM, ENOENT, "'%s/%s' is damaged%s%s%s", c->dir,
		       cache_entry_name(q->digest, name), errnum ? ": " : "",
		       errnum ? strerror(errnum) : "", c->writable ? take_away(c, q, st) : "");
	return CACHE_DAMAGED;
}

/* Hashes an entry. A right entry without a record gets a record, unless all entries are hashed anyway. */
static enum cache_state hash_entry(struct cache *c, const struct query *q, int fd,
				   const struct stat *st, struct err *e)
{
	const struct digest *d = q->digest;
	char name[CACHE_NAME_MAX];
	struct digest got;
	struct stat after;

	if (!S_ISREG(st->st_mode))
		return give_up_entry(c, q, st, 0, e);
	if (digest_of_fd(d->algo, fd, cache_entry_name(d, name), &got, e) < 0)
		return cache_is_damage(e->errnum) ? give_up_entry(c, q, st, e->errnum, e)
						  : CACHE_FAILED;
	if (!digest_eq(&got, d))
		return give_up_entry(c, q, st, 0, e);
	if (!c->writable || q->effort == CACHE_BY_BYTES)
		return CACHE_RIGHT;
	/* the right bytes may be only in memory, not on the disk, and the kernel reports a failed write only once */
	if (fsync(fd) < 0)
		return give_up_entry(c, q, st, errno, e);
	/* the record says "and durable", which would be false for a file that changed meanwhile */
	if (fstat(fd, &after) == 0 && after.st_ctim.tv_sec == st->st_ctim.tv_sec &&
	    after.st_ctim.tv_nsec == st->st_ctim.tv_nsec)
		cache_record(c, d, &after);
	return CACHE_RIGHT;
}

/* Another user may still have the file open for writing and change it after it is hashed. So a copy of the file
 * becomes the entry, hashed on the way. */
static enum cache_state take_over(struct cache *c, const struct query *q, const struct stat *st,
				  int *fd, struct err *e)
{
	char name[CACHE_NAME_MAX];

	cache_entry_name(q->digest, name);
	if (cache_copy_in(c, q->digest, *fd, name, e) < 0)
		return e->kind == ERR_INTEGRITY ? give_up_entry(c, q, st, 0, e) : CACHE_FAILED;
	(void)close(*fd);
	*fd = io_open_at(c->dir_fd, name, O_NOFOLLOW);
	if (*fd >= 0)
		return CACHE_RIGHT;
	(void)err_sys(e, "open '%s/%s'", c->dir, name);
	return CACHE_FAILED;
}

/* Judges an entry that cannot be opened. */
static enum cache_state judge_unopened(struct cache *c, const struct query *q, int errnum,
				       struct err *e)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	cache_entry_name(q->digest, name);
	if (errnum == ENOENT)
		return say_absent(c, q, e);
	if (errnum == ELOOP && q->effort != CACHE_BY_BYTES) {
		/* removes a link in an entry's place */
		if (c->writable)
			(void)unlinkat(c->dir_fd, name, 0);
		return say_absent(c, q, e);
	}
	/* the directory can be read, but not the file itself */
	if ((errnum == ELOOP || cache_is_damage(errnum)) &&
	    fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return give_up_entry(c, q, &st, errnum == ELOOP ? 0 : EIO, e);
	errno = errnum;
	(void)err_sys(e, "open '%s/%s'", c->dir, name);
	return CACHE_FAILED;
}

/* Opens the entry of this name, and asks that it not be given away. Another process may have turned the entry into
 * an installed file meanwhile, to which others may write. So the opened file must still have the entry's name.
 * Returns -errno on failure; -EBUSY: another process is giving the entry away right now. */
static int open_asked(const struct cache *c, const char *name, struct stat *ret_st)
{
	for (int i = 0; i < TRIES; i++) {
		autoclose int fd = io_open_at(c->dir_fd, name, O_NOFOLLOW);
		struct stat named;

		if (fd < 0 || fstat(fd, ret_st) < 0)
			return -errno;
		if (!cache_ask(fd))
			return -EBUSY;
		if (fstatat(c->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    named.st_ino == ret_st->st_ino)
			return TAKE_FD(fd);
	}
	return -EBUSY;
}

static enum cache_state open_entry(struct cache *c, const struct query *q, int *ret_fd,
				   struct err *e)
{
	const bool by_need = q->effort == CACHE_BY_NEED;
	char name[CACHE_NAME_MAX];
	enum cache_state state;
	autoclose int fd = -1;
	struct stat st;

	if (c->dir_fd < 0)
		return say_absent(c, q, e);
	fd = open_asked(c, cache_entry_name(q->digest, name), &st);
	if (fd == -EBUSY) {
		(void)err_fail(e, ERR_BUSY, EBUSY, "another process installs '%s/%s'", c->dir,
			       name);
		return CACHE_ABSENT;
	}
	if (fd < 0)
		return judge_unopened(c, q, -fd, e);
	if (by_need && c->writable && S_ISREG(st.st_mode) && !cache_is_closed(&st))
		state = take_over(c, q, &st, &fd, e);
	else if (by_need && S_ISREG(st.st_mode) && cache_is_recorded(c, q->digest, &st))
		state = CACHE_RIGHT;
	else
		state = hash_entry(c, q, fd, &st, e);
	if (state == CACHE_RIGHT)
		*ret_fd = TAKE_FD(fd);
	return state;
}

static struct cache_answer look_at_record(const struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (c->dir_fd < 0 ||
	    fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return (struct cache_answer){ .state = CACHE_ABSENT };
	return (struct cache_answer){
		.state = cache_is_recorded(c, d, &st) ? CACHE_RIGHT : CACHE_UNREAD,
		.bytes = (uint64_t)st.st_size,
	};
}

struct cache_answer cache_inspect(struct cache *c, const struct digest *d, enum cache_effort effort,
				  struct err *e)
{
	const struct query q = { .digest = d, .effort = effort };
	autoclose int fd = -1;

	if (effort == CACHE_BY_RECORD)
		return look_at_record(c, d);
	return (struct cache_answer){ .state = open_entry(c, &q, &fd, e) };
}

size_t cache_list(const struct cache *c, struct arena *a, bool unread_alone, struct digest **ret)
{
	size_t n = 0;

	*ret = NULL;
	/* entries of a folder that cannot be listed are checked when they are used */
	for (enum digest_algo algo = 0; algo < DIGEST_ALGO_MAX; algo++) {
		struct digest *in;
		const size_t n_in = cache_digests_in(c, a, digest_algo_name(algo), false, &in);

		for (size_t i = 0; i < n_in; i++)
			if (!unread_alone || look_at_record(c, &in[i]).state == CACHE_UNREAD)
				arena_push(a, *ret, n, in[i]);
	}
	return n;
}

bool cache_has(const struct cache *c, const struct digest *d)
{
	return look_at_record(c, d).state == CACHE_RIGHT;
}

int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e)
{
	const struct query q = { .digest = d, .effort = CACHE_BY_NEED, .remove = true };

	return open_entry(c, &q, ret_fd, e) == CACHE_RIGHT ? 0 : err_code(e);
}

/* Signatures: a record DIR/signed/<algo>-<hex> has a line for each signature that the documents give for these
 * bytes; the line stands for the signature and its key. An entry's bytes never change, so the record holds while
 * signature and key are the same. */

/* Returns a digest of everything that decides whether a signature is right, except the signed bytes. */
static const char *record_of(const struct asset *as, char hex[static DIGEST_TEXT_MAX])
{
	const struct signature *s = as->signature;
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	struct digest d;

	digest_update(c, &s->prehashed, sizeof(s->prehashed));
	digest_update(c, s->bytes, sizeof(s->bytes));
	digest_update(c, s->global, sizeof(s->global));
	digest_update(c, s->comment ? s->comment : "", s->comment ? strlen(s->comment) : 0);
	for (size_t i = 0; i < as->keys->n; i++)
		if (memcmp(as->keys->v[i].id, s->id, SIGNATURE_ID) == 0)
			digest_update(c, as->keys->v[i].bytes, SIGNATURE_KEY);
	digest_final(c, &d);
	return digest_hex(&d, hex);
}

static bool wants_signature(const struct asset *as)
{
	for (const struct asset *twin = as; twin; twin = asset_next(as, twin))
		if (twin->signature)
			return true;
	return false;
}

/* Returns whether the record has a line for each signature. */
static bool has_records(const struct asset *as, const char *records)
{
	char hex[DIGEST_TEXT_MAX];

	for (const struct asset *twin = as; twin; twin = asset_next(as, twin))
		if (twin->signature && !strstr(records, record_of(twin, hex)))
			return false;
	return true;
}

bool cache_is_signed(const struct cache *c, const struct asset *as)
{
	char name[CACHE_NAME_MAX];
	autobuf struct buf records = BUF_INIT(SIGNATURES_MAX);

	return !wants_signature(as) ||
	       (cache_read(c, cache_side_name("signed", &as->digest, name), &records) &&
		has_records(as, buf_str(&records)));
}

int cache_check_signature(struct cache *c, const struct asset *as, struct err *e)
{
	char name[CACHE_NAME_MAX], hex[DIGEST_TEXT_MAX];
	autobuf struct buf records = BUF_INIT(SIGNATURES_MAX);
	autoclose int fd = -1;
	int r;

	if (!wants_signature(as))
		return 0;
	r = cache_open(c, &as->digest, &fd, e);
	if (r < 0)
		return r;
	for (const struct asset *twin = as; twin; twin = asset_next(as, twin)) {
		if (!twin->signature)
			continue;
		r = signature_check_fd(twin->signature, twin->keys, fd, twin->name, e);
		if (r < 0)
			return err_wrap(e, "%s", twin->where);
		(void)buf_addf(&records, "%s\n", record_of(twin, hex));
	}
	/* without a record the signature is checked again */
	if (c->writable)
		(void)cache_put(c, cache_side_name("signed", &as->digest, name), buf_str(&records),
				records.len, NULL);
	return 0;
}

bool cache_heal(struct cache *c, const struct asset *as, struct err *e)
{
	struct err why;

	if (!cache_is_damage(e->errnum) || !c->writable ||
	    cache_inspect(c, &as->digest, CACHE_BY_BYTES, &why).state != CACHE_DAMAGED)
		return false;
	err_note(e, "next",
		 "what the cache had of %s is damaged and was thrown away: it is fetched again",
		 as->name);
	return true;
}
