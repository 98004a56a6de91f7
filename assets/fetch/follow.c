#include "assets/fetch/follow.h"

#include <stdlib.h>
#include "assets/cache/unpack.h"
#include "assets/fetch/mismatch.h"
#include "nodeup/base/dur.h"

enum { CHUNK = 512 * 1024, SLICE = 8 * 1024 * 1024 };

static void send_errand(struct fetch_job *j, void (*errand)(void *arg), enum fetch_errand kind,
			fetch_follow_fn *done)
{
	j->errand = kind;
	j->followed = done;
	j->errs->follow.kind = ERR_NONE;
	pool_send(j->fetcher->work, errand, j);
}

/* Called on the net thread; when offline, on the worker. */
static void on_reported(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r; /* r belongs to the timer; the errand's result is in errs */
	j->errand = FETCH_NO_ERRAND;
	j->followed(j);
}

/* Ends the errand, on the worker. */
static void end_errand(struct fetch_job *j)
{
	if (j->fetcher->http)
		(void)http_after(j->fetcher->http, 0, on_reported, j);
	else
		on_reported(j, 0);
}

/* Notes an unpacker's error only if the archive's content is at fault: such an error comes in each attempt, unless
 * the bytes are wrong. Errors of the disk and of the child may pass. */
static void note_refusal(struct fetch_job *j, const struct err *e)
{
	if (e->kind == ERR_INTEGRITY)
		j->errs->unpack = *e;
}

/* Keeps the unpacker's refusal for good, as the bytes were right. */
static void keep_refusal(struct fetch_job *j)
{
	struct err *kept;

	if (j->errs->unpack.kind == ERR_NONE)
		return;
	kept = xrealloc(NULL, sizeof(*kept));
	*kept = j->errs->unpack;
	fetch_lock(j->fetcher);
	free(j->refused);
	j->refused = kept;
	fetch_unlock(j->fetcher);
}

/* Returns the archive if it is unpacked on arrival, or NULL. */
static struct asset *archive_of(struct fetch_job *j)
{
	struct asset *archive;

	fetch_lock(j->fetcher);
	archive = j->full || !j->fetcher->sink.open ? NULL : j->archive;
	fetch_unlock(j->fetcher);
	return archive;
}

static void close_sink(struct fetch_job *j, bool complete)
{
	j->fetcher->sink.close(j->fetcher->sink.arg, j->archive, complete);
}

/* Unpacking on arrival only saves time, so an error only ends it: the unpack task tries again, and reports the
 * error. A refusal of the content is kept for the unpack task. */
static void begin_unpack(struct fetch_job *j)
{
	const struct fetch_sink *sink = &j->fetcher->sink;
	struct asset *archive = archive_of(j);
	struct fetch_takes takes;
	struct err e;

	j->errs->unpack.kind = ERR_NONE;
	if (!archive || !sink->open(sink->arg, archive, &takes))
		return;
	if (cache_take_start(takes.arena, archive, takes.v, takes.n, &j->unpack, &e) < 0) {
		j->unpack = NULL;
		close_sink(j, false);
		return;
	}
	fetch_lock(j->fetcher);
	j->unpacks = true;
	fetch_unlock(j->fetcher);
}

static void drop_unpack(struct fetch_job *j)
{
	if (!j->unpack)
		return;
	extract_abort(TAKE(j->unpack));
	close_sink(j, false);
}

static void note_unpacker(struct fetch_job *j, int64_t since_ns)
{
	__atomic_store_n(&j->unpacker_ns, since_ns, __ATOMIC_RELAXED);
}

static void feed_unpack(struct fetch_job *j, const struct extract_piece *piece)
{
	struct err e;

	if (!j->unpack)
		return;
	note_unpacker(j, dur_now());
	if (extract_feed(j->unpack, piece, &e) < 0) {
		note_refusal(j, &e);
		drop_unpack(j);
	}
	note_unpacker(j, 0);
}

static uint64_t read_to(const struct fetch_job *j)
{
	return __atomic_load_n(&j->follow_end, __ATOMIC_ACQUIRE);
}

/* Reads one slice, then lets the errands of other jobs go first. The net thread is not asked for more bytes: it may
 * be busy for long, and the unpacker would wait. */
static void read_on(void *arg)
{
	struct fetch_job *j = arg;
	autofree char *chunk = xrealloc(NULL, CHUNK);
	uint64_t at = cache_followed(j->entry), end;
	const uint64_t slice = at + SLICE;
	struct extract_piece piece;
	int r = 0;

	if (at == 0)
		begin_unpack(j);
	while (at < (end = read_to(j)) && at < slice && r >= 0) {
		size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;

		r = cache_follow(j->entry, chunk, n, &piece, &j->errs->follow);
		if (r >= 0)
			feed_unpack(j, &piece);
		at = cache_followed(j->entry);
	}
	if (at < end && r >= 0)
		pool_send(j->fetcher->work, read_on, j);
	else
		end_errand(j);
}

void fetch_follow(struct fetch_job *j, uint64_t end, fetch_follow_fn *done)
{
	__atomic_store_n(&j->follow_end, end, __ATOMIC_RELEASE);
	if (j->errand == FETCH_NO_ERRAND)
		send_errand(j, read_on, FETCH_READS, done);
}

static void finish_unpack(struct fetch_job *j)
{
	struct err e;
	int r;

	if (j->unpack) {
		note_unpacker(j, dur_now());
		r = extract_finish(TAKE(j->unpack), &e);
		if (r < 0)
			note_refusal(j, &e);
		close_sink(j, r >= 0);
		note_unpacker(j, 0);
	}
	keep_refusal(j);
}

static void commit_entry(void *arg)
{
	struct fetch_job *j = arg;
	const struct cache_mismatch name = fetch_mismatch_name(j);
	struct err e = { .kind = ERR_NONE };

	if (cache_commit(j->entry, &e) < 0) {
		if (e.kind == ERR_INTEGRITY)
			fetch_mismatch_note(j, &name, fetch_job_note(&e, "got"));
		fetch_job_explain(j, &e);
	} else {
		finish_unpack(j);
	}
	drop_unpack(j);
	j->entry = NULL;
	j->errs->follow = e;
	end_errand(j);
}

void fetch_follow_commit(struct fetch_job *j, fetch_follow_fn *done)
{
	send_errand(j, commit_entry, FETCH_OWNS, done);
}

static void settle_entry(void *arg)
{
	struct fetch_job *j = arg;
	struct err e = { .kind = ERR_NONE };

	drop_unpack(j);
	if (j->settle == FETCH_EMPTY && j->entry && cache_restart(j->entry, &e) >= 0) {
		end_errand(j);
		return;
	}
	if (j->settle == FETCH_KEEP)
		cache_suspend(j->entry);
	else
		cache_abort(j->entry);
	j->entry = NULL;
	j->errs->follow = e;
	end_errand(j);
}

void fetch_follow_settle(struct fetch_job *j, fetch_follow_fn *done)
{
	send_errand(j, settle_entry, FETCH_OWNS, done);
}

/* Opens the entry's part. *e, which says that there is no entry, stays; if the part cannot be opened, *e gets the
 * reason. */
static void look_for_part(struct fetch_job *j, struct err *e)
{
	struct cache *c = j->fetcher->cache;
	struct err failure;

	j->found_other = (struct cache_writer){ .asks = -1 };
	if (cache_resume(c, &j->digest, j->beside ? NULL : &j->found_other, &j->entry, &failure) <
	    0) {
		*e = failure;
		if (e->kind == ERR_BUSY && cache_has(c, &j->digest))
			e->kind = ERR_NONE;
	} else if (cache_has(c, &j->digest)) {
		/* the process that had the part has completed the entry meanwhile */
		cache_abort(j->entry);
		j->entry = NULL;
		e->kind = ERR_NONE;
	}
}

/* Asks the cache. The cache reads all of an entry that has no record. */
static void look_up(void *arg)
{
	struct fetch_job *j = arg;
	struct err e = { .kind = ERR_NONE };
	autoclose int fd = -1, asked = j->asks;

	j->asks = -1;
	if (cache_open(j->fetcher->cache, &j->digest, &fd, &e) >= 0)
		e.kind = ERR_NONE;
	else if (e.errnum == ENOENT && j->fetcher->http && !j->whole)
		look_for_part(j, &e);
	j->asks = TAKE_FD(j->found_other.asks);
	if (e.kind != ERR_NONE)
		fetch_mismatch_load(j);
	j->errs->follow = e;
	end_errand(j);
}

void fetch_follow_look_up(struct fetch_job *j, fetch_follow_fn *done)
{
	send_errand(j, look_up, FETCH_OWNS, done);
}
