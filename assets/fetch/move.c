#include "assets/fetch/move.h"

#include <stdlib.h>
#include "assets/fetch/mismatch.h"
#include "assets/fetch/parts.h"
#include "nodeup/base/dur.h"

enum { CHECK_END_BYTES = 4 * 1024 * 1024, HTTP_NOT_MODIFIED = 304 };

static const uint64_t asset_bytes_max = UINT64_C(32) << 30;

static struct fetch_mirror *mirror_of(const struct fetch_part *p)
{
	return &p->job->mirrors[p->mirror];
}

static struct range_asked asked_of(const struct fetch_part *p)
{
	return (struct range_asked){ mirror_of(p)->url, p->ranged, p->pos, p->end };
}

static bool wants_nothing(const struct fetch_job *j)
{
	struct digest nothing;

	digest_of(j->digest.algo, "", 0, &nothing);
	return digest_eq(&nothing, &j->digest);
}

/* Returns whether the whole object may come instead of the wanted part. The whole object may not come while other
 * mirrors send parts. */
static bool takes_whole(const struct fetch_part *p)
{
	return !p->ranged || p->hedge || (p->job->parts == p && !p->next);
}

/* Notes the mirror as the source. is_first: the entry has no bytes of another answer. */
static void note_source(const struct fetch_part *p, bool is_first)
{
	struct fetch_job *j = p->job;

	j->source = is_first && j->source != FETCH_SEVERAL ? p->mirror : FETCH_SEVERAL;
}

/* Accepts the answer: its bytes will be stored. */
static void accept_answer(struct fetch_part *p, const struct cache_origin *now)
{
	struct fetch_job *j = p->job;
	bool is_first = cache_spans(j->entry)->sum == 0;

	for (const struct fetch_part *other = j->parts; other; other = other->next)
		is_first = is_first && (other == p || !other->headed);
	note_source(p, is_first);
	mirror_of(p)->gave = true;
	if (p->answer == RANGE_WHOLE) {
		mirror_of(p)->whole_only |= p->ranged;
		p->ranged = false;
		p->pos = 0;
		p->end = UINT64_MAX;
	}
	if (now->total >= 0 && p->end > (uint64_t)now->total)
		p->end = (uint64_t)now->total;
	cache_set_origin(j->entry, now);
	fetch_lock(j->fetcher);
	j->total = now->total;
	j->bytes = (int64_t)cache_spans(j->entry)->sum;
	p->began_ns = dur_now();
	fetch_pace_begin(&p->pace, p->began_ns, 0);
	fetch_unlock(j->fetcher);
}

static int take_answer(struct fetch_part *p, const struct http_result *res, struct err *e)
{
	struct fetch_job *j = p->job;
	const struct range_asked what = asked_of(p);
	struct cache_origin now;

	p->headed = true;
	p->answer = range_judge(cache_origin_of(j->entry), &what, res, &now);
	if (p->answer == RANGE_CHANGED)
		return err_fail(e, ERR_NET, ESTALE, "GET '%s': the object changed",
				mirror_of(p)->public);
	p->same = p->answer != RANGE_REFUSED && fetch_mismatch_is_same(j, p->mirror, &now);
	if (p->same)
		return fetch_mismatch_fail(j, p->mirror, e);
	/* refuses a range of an empty object: only an answer with the whole object shows that it is empty */
	if ((p->answer == RANGE_WHOLE && !takes_whole(p)) ||
	    (p->answer == RANGE_COMPLETE && p->pos == 0 && !wants_nothing(j)))
		p->answer = RANGE_REFUSED;
	/* refuses a range that could not be resumed: after an interruption the transfer would begin again, perhaps
	 * for ever */
	if (p->answer == RANGE_REST && !range_can_resume(&now, mirror_of(p)->url))
		p->answer = RANGE_REFUSED;
	if (p->answer == RANGE_REFUSED)
		return err_fail(e, ERR_NET, EPROTO, "GET '%s': not the range that was asked for",
				mirror_of(p)->public);
	accept_answer(p, &now);
	return p->answer == RANGE_COMPLETE ? 0 : cache_check_room(j->entry, e);
}

/* Returns whether the part is so slow that another mirror should take over. The lock is held. */
static bool is_slow(struct fetch_part *p, double *ret_rate)
{
	struct fetch_job *j = p->job;
	struct fetcher *f = j->fetcher;
	int64_t now = dur_now(), left = -1;

	if (!fetch_pace_is_due(&p->pace, now))
		return false;
	if (p->end != UINT64_MAX)
		left = (int64_t)(p->end - p->pos + p->came);
	return fetch_pace_is_slow(&p->pace, now, (int64_t)p->came, left, f->connections, &f->hosts,
				  ret_rate) &&
	       fetch_job_has_other(j, p->mirror, now);
}

/* Refuses a body of unknown length that takes too much of the disk. Checks every few megabytes. */
static int check_end(const struct fetch_part *p, size_t n, struct err *e)
{
	const struct cache_entry *en = p->job->entry;
	uint64_t left;
	int r;

	if (p->came / CHECK_END_BYTES == (p->came - n) / CHECK_END_BYTES ||
	    !cache_is_greedy(en, &left))
		return 0;
	r = err_fail(e, ERR_NET, FETCH_ENDLESS,
		     "GET '%s': sends %llu bytes without an end; nothing more of it is taken",
		     mirror_of(p)->public, (unsigned long long)cache_spans(en)->sum);
	err_note(e, "want", "a body with Content-Length, or one that leaves room on the disk");
	err_note(e, "got", "no length, and %llu bytes are free", (unsigned long long)left);
	return r;
}

static int take_data(struct fetch_part *p, const void *bytes, size_t n, struct err *e)
{
	struct fetch_job *j = p->job;
	uint64_t size, room = p->end > p->pos ? p->end - p->pos : 0;
	double rate = 0;
	bool slow, more, last = n >= room;
	int r;

	if (p->err.kind != ERR_NONE) {
		*e = p->err;
		return err_code(e);
	}
	more = n > room;
	if (more)
		n = (size_t)room;
	r = cache_write_at(j->entry, p->pos, bytes, n, e);
	if (r < 0)
		return r;
	p->enough = p->enough || last;
	fetch_lock(j->fetcher);
	p->pos += n;
	p->came += n;
	j->bytes = (int64_t)cache_spans(j->entry)->sum;
	slow = is_slow(p, &rate);
	fetch_unlock(j->fetcher);
	if (n < room && fetch_parts_complete(j, &size))
		more = p->enough = true; /* other parts have brought the rest */
	if (more)
		return err_fail(e, ERR_NET, ECANCELED, "enough");
	if (slow)
		return err_fail(e, ERR_NET, ETIMEDOUT,
				"GET '%s': slow: %.3g kB/s, and the best of this run was %.3g kB/s",
				mirror_of(p)->public, rate / 1000, j->fetcher->hosts.best / 1000);
	return check_end(p, n, e);
}

/* Judges an answer that ended without an error of its transfer. */
static enum fetch_outcome judge_end(struct fetch_part *p, struct err *ret_e)
{
	struct fetch_job *j = p->job;
	int64_t total = cache_origin_of(j->entry)->total;

	if (!p->headed && !wants_nothing(j)) {
		(void)err_fail(ret_e, ERR_NET, ENODATA, "GET '%s': empty body",
			       mirror_of(p)->public);
		return FETCH_FAILED;
	}
	if (!p->headed) {
		j->eof = 0;
		note_source(p, true);
	} else if (p->answer == RANGE_WHOLE && total >= 0 && p->pos < (uint64_t)total) {
		(void)err_fail(ret_e, ERR_NET, EPIPE,
			       "GET '%s': short body: %llu of %lld bytes came",
			       mirror_of(p)->public, (unsigned long long)p->pos, (long long)total);
		return FETCH_FAILED;
	} else if (p->answer == RANGE_WHOLE && total < 0) {
		j->eof = (int64_t)p->pos;
	}
	return FETCH_CAME;
}

/* Measures how fast the part is. */
static void measure_part(struct fetch_part *p)
{
	struct fetcher *f = p->job->fetcher;
	int64_t now = dur_now();

	if (!p->came)
		return;
	fetch_lock(f);
	fetch_pace_end(&p->pace, now, (int64_t)p->came, &f->hosts);
	mirror_of(p)->rate = (double)p->came * DUR_SEC / (double)(now - p->began_ns + DUR_MS);
	fetch_unlock(f);
}

static enum fetch_outcome take_end(struct fetch_part *p, int r, const struct http_result *res,
				   const struct err *e, struct err *ret_e)
{
	measure_part(p);
	/* a mirror sends 304 only if the request had conditions; only a mirror with a known wrong file gets
	 * conditions */
	if (res->status == HTTP_NOT_MODIFIED && fetch_mismatch_is(p->job, p->mirror))
		p->same = true;
	if (p->same) {
		(void)fetch_mismatch_fail(p->job, p->mirror, ret_e);
		return FETCH_SAME;
	}
	if (p->enough || r == -ECANCELED)
		return FETCH_CAME;
	if (r >= 0)
		return judge_end(p, ret_e);
	if (res->status == 416 && p->ranged && !p->headed)
		(void)take_answer(p, res, &p->err);
	*ret_e = p->err.kind != ERR_NONE ? p->err : *e;
	if (ret_e->kind != ERR_NET)
		return FETCH_FATAL;
	if (!p->headed)
		return FETCH_FAILED;
	if (p->answer == RANGE_COMPLETE)
		return FETCH_CAME;
	if (p->answer == RANGE_CHANGED)
		return FETCH_CHANGED;
	return p->answer == RANGE_REFUSED && p->ranged ? FETCH_NO_RANGES : FETCH_FAILED;
}

static void remove_part(struct fetch_part *part)
{
	struct fetch_job *j = part->job;
	struct fetch_part **p = &j->parts;

	while (*p != part)
		p = &(*p)->next;
	*p = part->next;
	j->mirrors[part->mirror].active--;
	j->fetcher->connections--;
}

/* Gives this connection to a part that waits for a connection. */
static void wake_starved(struct fetcher *f)
{
	fetch_lock(f);
	for (struct fetch_job *j = f->jobs; j; j = j->next) {
		const bool starves = j->state == FETCH_STARVED;

		fetch_unlock(f);
		if (starves)
			f->ops->step(j);
		fetch_lock(f);
	}
	fetch_unlock(f);
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct fetch_part *p = arg;
	struct fetch_job *j = p->job;
	enum fetch_outcome outcome;
	struct err why = { .kind = ERR_NONE };

	remove_part(p);
	outcome = take_end(p, r, res, e, &why);
	j->fetcher->ops->ended(j, p->mirror, outcome, res, &why);
	free(p);
	j->fetcher->ops->step(j);
	wake_starved(j->fetcher);
}

static void on_head(void *arg, const struct http_result *res)
{
	struct fetch_part *p = arg;

	/* now that the size is known, other mirrors may help */
	if (take_answer(p, res, &p->err) >= 0)
		p->job->fetcher->ops->step(p->job);
}

static int on_data(void *arg, const void *bytes, size_t n, struct err *e)
{
	struct fetch_part *p = arg;
	int r = take_data(p, bytes, n, e);

	p->job->fetcher->ops->came(p->job);
	return r;
}

static void on_tick(void *arg, int r);

/* A silent mirror causes no callback, so the moving parts are checked from time to time. */
static void keep_ticking(struct fetcher *f)
{
	if (f->ticking)
		return;
	fetch_lock(f);
	if (!f->closing) {
		f->ticking = true;
		f->pending++;
		f->tick_id = http_after(f->http, f->opts.patience_ns / 3, on_tick, f);
	}
	fetch_unlock(f);
}

static void on_tick(void *arg, int r)
{
	struct fetcher *f = arg;
	struct fetch_job *j;

	f->ticking = false;
	fetch_lock(f);
	j = f->jobs;
	fetch_unlock(f);
	for (; j && r >= 0; j = j->next)
		if (j->parts) {
			keep_ticking(f);
			j->fetcher->ops->step(j);
		}
	fetch_end_pending(f);
}

void fetch_move_start(struct fetch_job *j, const struct fetch_want *want)
{
	autoarena struct arena *a = arena_new_empty();
	struct fetch_mirror *m = &j->mirrors[want->mirror];
	struct fetch_part *p = xcalloc(1, sizeof(*p));
	struct range_asked asked = { m->url, want->ranged, want->first, want->end };
	struct http_req req = {
		.url = m->url,
		.max_bytes = asset_bytes_max,
		.has_mirrors = true,
		.head = on_head,
		.data = on_data,
		.done = on_done,
		.arg = p,
	};

	p->job = j;
	p->mirror = want->mirror;
	p->ranged = want->ranged;
	p->pos = want->ranged ? want->first : 0;
	p->end = want->end;
	p->hedge = want->slow;
	p->began_ns = dur_now();
	/* the slow answer was asked for without an end, so it ends where the helper's bytes begin */
	if (want->slow && want->slow->answer == RANGE_REST && want->slow->headed)
		want->slow->end = want->first;
	range_ask(cache_origin_of(j->entry), &asked, a, &req.headers);
	fetch_mismatch_ask(j, want->mirror, a, &req.headers);
	p->next = j->parts;
	j->parts = p;
	m->active++;
	j->fetcher->connections++;
	fetch_lock(j->fetcher);
	fetch_job_asked(j, want->mirror);
	fetch_unlock(j->fetcher);
	p->http_id = http_start(j->fetcher->http, &req);
	keep_ticking(j->fetcher);
}

void fetch_move_stop(struct fetch_job *j)
{
	for (struct fetch_part *p = j->parts; p; p = p->next) {
		p->enough = true;
		http_cancel(j->fetcher->http, p->http_id);
	}
}

static bool others_starve(const struct fetch_job *j)
{
	bool any = false;

	fetch_lock(j->fetcher);
	for (const struct fetch_job *o = j->fetcher->jobs; o; o = o->next)
		any = any || (o != j && o->state == FETCH_STARVED);
	fetch_unlock(j->fetcher);
	return any;
}

bool fetch_move_may_start(struct fetch_job *j)
{
	bool may = j->fetcher->connections < j->fetcher->opts.connections &&
		   !(j->parts && others_starve(j));

	if (!may && !j->parts) {
		fetch_lock(j->fetcher);
		j->state = FETCH_STARVED;
		fetch_unlock(j->fetcher);
	}
	return may;
}
