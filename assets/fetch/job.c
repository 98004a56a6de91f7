#include "assets/fetch/job.h"

#include <stdlib.h>
#include <string.h>
#include "assets/fetch/mismatch.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

void fetch_lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

void fetch_unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

void fetch_end_pending(struct fetcher *f)
{
	fetch_lock(f);
	f->pending--;
	(void)pthread_cond_broadcast(&f->changed);
	fetch_unlock(f);
}

enum { FRUITLESS_MAX = 3, LONELY_ROUNDS = 16, SHOWN_MIRRORS = 3 };

#define BACKOFF_FIRST (DUR_SEC / 5)
#define BACKOFF_LAST (5 * DUR_SEC)
#define BACKOFF_LONELY (30 * DUR_SEC)
/* how long after boot another program may take to set the clock */
#define CLOCK_PATIENCE (10 * 60 * DUR_SEC)

static bool has_mirror(const struct fetch_job *j, const char *url)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		if (strcmp(j->mirrors[i].url, url) == 0)
			return true;
	return false;
}

/* Messages name the URL that was asked, after rewrites, not the URL in the document. */
static void show_mirror(const struct fetch_job *j, struct fetch_mirror *m)
{
	autoarena struct arena *a = arena_new_empty();
	struct http *http = j->fetcher->http;

	url_public(http ? http_rewritten(http, a, m->url) : m->url, m->public);
}

static void add_mirrors_of(struct fetch_job *j, const struct asset *as)
{
	for (size_t i = 0; i < as->urls.n; i++) {
		struct fetch_mirror *m;

		if (has_mirror(j, as->urls.v[i]))
			continue;
		j->mirrors = xrealloc(j->mirrors, (j->nmirrors + 1) * sizeof(*j->mirrors));
		m = &j->mirrors[j->nmirrors++];
		*m = (struct fetch_mirror){ .url = xstrdup(as->urls.v[i]), .limit = SIZE_MAX };
		show_mirror(j, m);
	}
}

void fetch_job_add_mirrors(struct fetch_job *j, const struct asset *as)
{
	for (const struct asset *twin = as; twin; twin = asset_next(as, twin))
		add_mirrors_of(j, twin);
}

void fetch_job_want_members(struct fetch_job *j, const struct asset *as)
{
	for (const struct asset *twin = as; twin && !j->archive; twin = asset_next(as, twin)) {
		if (!twin->unpack)
			continue;
		j->archive_arena = arena_new_empty();
		j->archive = asset_copy_archive(j->archive_arena, twin);
	}
}

void fetch_job_all_again(struct fetch_job *j)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].tried = j->mirrors[i].failed = false;
}

static void begin_round(struct fetch_job *j)
{
	/* gives each mirror its old limit back, unless a mirror asked for fewer connections in this round */
	for (size_t i = 0; i < j->nmirrors && !(j->met & FETCH_MET_THROTTLE); i++)
		j->mirrors[i].limit = SIZE_MAX;
	fetch_job_all_again(j);
	j->best_before = j->best;
	j->met = 0;
}

void fetch_job_restart(struct fetch_job *j)
{
	j->attempt = j->round = j->fruitless = 0;
	j->last_error[0] = '\0';
	j->best = 0;
	j->bytes = 0;
	j->total = -1;
	j->next_try_ns = j->waited_ns = j->early_ns = 0;
	j->restarts = 0;
	j->other_since_ns = j->other_moved_ns = 0;
	j->beside = false;
	begin_round(j);
}

/* Returns whether the mirror sent useless bytes and would send the same again. */
static bool is_out(const struct fetch_mirror *m)
{
	return m->dropped || m->endless;
}

bool fetch_job_may_ask(const struct fetch_job *j, size_t mirror, int64_t now_ns)
{
	const struct fetch_mirror *m = &j->mirrors[mirror];

	return !is_out(m) && !m->failed && m->not_before_ns <= now_ns;
}

bool fetch_job_has_other(const struct fetch_job *j, size_t mirror, int64_t now_ns)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		if (i != mirror && fetch_job_may_ask(j, i, now_ns) &&
		    j->mirrors[i].rank != FETCH_HOST_BAD)
			return true;
	return false;
}

void fetch_job_asked(struct fetch_job *j, size_t mirror)
{
	j->attempt += !j->mirrors[mirror].tried;
	j->mirrors[mirror].tried = true;
	j->current = mirror;
	j->next_try_ns = 0;
}

/* Returns the time until the first mirror that is not out (see is_out) may be asked again; -1: all mirrors are out. */
static int64_t earliest_wait(const struct fetch_job *j, int64_t now_ns)
{
	int64_t wait = -1;

	for (size_t i = 0; i < j->nmirrors; i++) {
		const struct fetch_mirror *m = &j->mirrors[i];
		int64_t mine = m->not_before_ns > now_ns ? m->not_before_ns - now_ns : 0;

		if (!is_out(m) && (wait < 0 || mine < wait))
			wait = mine;
	}
	return wait;
}

static bool has_skipped(const struct fetch_job *j)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		if (!is_out(&j->mirrors[i]) && !j->mirrors[i].tried)
			return true;
	return false;
}

static bool waits_for_clock(struct fetch_job *j, int64_t now_ns)
{
	const bool is_early = j->met & FETCH_MET_EARLY;

	if (!is_early)
		j->early_ns = 0;
	else if (j->early_ns == 0)
		j->early_ns = now_ns;
	return is_early && now_ns - j->early_ns < CLOCK_PATIENCE;
}

/* Returns the longest possible wait. The caller then waits for a random part of this time. */
static int64_t longest_wait(const struct fetch_job *j, bool skipped)
{
	int64_t limit = BACKOFF_FIRST;

	/* while one mirror asks for a long pause, the other mirrors are asked less often */
	if (skipped && j->round >= LONELY_ROUNDS)
		return BACKOFF_LONELY;
	/* the mirror has too many clients, so asking again soon does not help */
	if (j->met & FETCH_MET_THROTTLE)
		return BACKOFF_LAST;
	for (unsigned int i = 0; i < j->round && limit < BACKOFF_LAST; i++)
		limit *= 2;
	return limit < BACKOFF_LAST ? limit : BACKOFF_LAST;
}

int64_t fetch_job_end_round(struct fetch_job *j, int64_t now_ns, uint32_t random)
{
	int64_t wait = earliest_wait(j, now_ns), delay;
	bool skipped = has_skipped(j);

	if (wait < 0)
		return -1;
	/* a round without progress does not count if a mirror asked for a pause, or if the clock was not set yet */
	if (j->best > j->best_before)
		j->fruitless = 0;
	else if (!skipped && !waits_for_clock(j, now_ns))
		j->fruitless++;
	if (j->fruitless >= FRUITLESS_MAX)
		return -1;
	delay = (int64_t)((double)longest_wait(j, skipped) * random / UINT32_MAX);
	if (delay < wait)
		delay = wait;
	j->round++;
	j->waited_ns += delay;
	j->next_try_ns = now_ns + delay;
	begin_round(j);
	return delay;
}

const struct err_note *fetch_job_note(const struct err *e, const char *label)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, label) == 0)
			return &e->notes[i];
	return NULL;
}

void fetch_job_failed(struct fetch_job *j, size_t mirror, const struct err *e, int64_t retry_at_ns)
{
	struct fetch_mirror *m = &j->mirrors[mirror];
	const struct err_note *got = fetch_job_note(e, "got");

	j->errs->last = *e;
	m->failed = true;
	m->endless = m->endless || (e->kind == ERR_NET && e->errnum == FETCH_ENDLESS);
	if (e->errnum == ETIME)
		j->met |= FETCH_MET_EARLY;
	/* one connection may be told to pause while another is not; the longer pause counts */
	if (retry_at_ns > m->not_before_ns)
		m->not_before_ns = retry_at_ns;
	(void)print_to(m->last_error, sizeof(m->last_error), "%.*s", ERR_NOTE_MAX - 1, e->msg);
	(void)print_to(j->last_error, sizeof(j->last_error), "%s", m->last_error);
	if (e->kind != ERR_INTEGRITY)
		return;
	m->dropped = true;
	m->unchanged = e->errnum == FETCH_MISMATCH;
	if (got)
		m->got = *got;
}

/* Returns whether the status is a refusal of this object, not a fault of the mirror. */
static bool is_no(int status)
{
	return status / 100 == 4 && status != 408 && status != 429;
}

/* Returns whether a failure only costs the mirror connections: others are open, and it says that it is overloaded or
 * it is the last mirror. Such a mirror gets a new connection only after one of its connections ended well. */
static bool only_wants_fewer(const struct fetch_job *j, size_t mirror,
			     const struct http_result *res, bool throttles)
{
	const struct fetch_mirror *m = &j->mirrors[mirror];

	if (!res || m->active == 0 || m->dropped)
		return false;
	return throttles || (!is_no(res->status) && !fetch_job_has_other(j, mirror, dur_now()));
}

void fetch_mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			 const struct http_result *res)
{
	struct fetch_mirror *m = &j->mirrors[mirror];
	int64_t after = res ? res->retry_after_ns : -1;
	bool throttles = res && (res->status == 429 || res->status == 503);

	fetch_lock(j->fetcher);
	if (j->bytes > j->best)
		j->best = j->bytes;
	fetch_job_failed(j, mirror, e, after > 0 ? dur_now() + after : 0);
	if (throttles)
		j->met |= FETCH_MET_THROTTLE;
	if (only_wants_fewer(j, mirror, res, throttles)) {
		m->limit = m->active;
		m->came_well = 0;
		m->failed = false;
	}
	fetch_unlock(j->fetcher);
}

void fetch_mirror_came(struct fetch_job *j, size_t mirror)
{
	struct fetch_mirror *m = &j->mirrors[mirror];

	fetch_lock(j->fetcher);
	if (m->limit < SIZE_MAX && ++m->came_well >= m->limit) {
		m->limit++;
		m->came_well = 0;
	}
	fetch_unlock(j->fetcher);
}

void fetch_mirror_failed_host(struct fetch_job *j, size_t mirror, int status)
{
	const char *url = j->mirrors[mirror].url;
	struct url u = url_split(url);

	if (url_has_scheme(&u, "file") || is_no(status))
		return;
	fetch_lock(j->fetcher);
	fetch_hosts_note(&j->fetcher->hosts, url, FETCH_HOST_BAD);
	fetch_unlock(j->fetcher);
}

void fetch_job_explain(const struct fetch_job *j, struct err *e)
{
	/* the bytes are left from an earlier run; no mirror of this run sent them */
	if (e->kind != ERR_INTEGRITY || j->source >= j->nmirrors)
		return;
	(void)err_wrap(e, "GET '%s'", j->mirrors[j->source].public);
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, "size") == 0)
			(void)print_to(e->notes[i].text, sizeof(e->notes[i].text), "%lld bytes%s",
				       (long long)j->bytes,
				       j->total == j->bytes
					       ? " = Content-Length, not truncated"
					       : ", no Content-Length, maybe truncated");
}

static size_t count_liars(const struct fetch_job *j, const struct fetch_mirror **ret_first,
			  bool *ret_same)
{
	const struct fetch_mirror *first = NULL;
	bool same = true;
	size_t n = 0;

	for (size_t i = 0; i < j->nmirrors; i++) {
		const struct fetch_mirror *m = &j->mirrors[i];

		if (!m->dropped)
			continue;
		n++;
		if (!first)
			first = m;
		else if (strcmp(first->got.text, m->got.text) != 0)
			same = false;
	}
	*ret_first = first;
	*ret_same = same;
	return n;
}

static void note_liars(const struct fetch_job *j, struct err *e)
{
	size_t shown = 0;

	for (size_t i = 0; i < j->nmirrors && shown < SHOWN_MIRRORS; i++)
		if (j->mirrors[i].dropped) {
			err_note(e, "url", "%s", j->mirrors[i].public);
			shown++;
		}
}

/* If each mirror with a wrong file still has the same file as before, says that nothing was downloaded. If all
 * mirrors have a wrong file, no retry helps. */
static void say_known(const struct fetch_job *j, size_t liars, struct err *e)
{
	char mark[ERR_NOTE_MAX];
	size_t unchanged = 0, n = strlen(e->msg);

	for (size_t i = 0; i < j->nmirrors; i++)
		unchanged += j->mirrors[i].unchanged;
	if (unchanged < liars)
		return;
	e->lasts |= liars == j->nmirrors;
	(void)print_to(e->msg + n, sizeof(e->msg) - n, "; the mirror%s the same wrong file%s, %s",
		       liars == 1 ? " still has" : "s still have", liars == 1 ? "" : "s",
		       fetch_mismatch_mark(j, 0, mark));
	err_note(e, "next",
		 "it is downloaded when the mirror has another file, or the document another hash");
}

static void note_digests(const struct fetch_job *j, const struct fetch_mirror *liar, struct err *e)
{
	char hex[DIGEST_TEXT_MAX];

	err_note(e, "want", "%s %s", digest_algo_name(j->digest.algo), digest_hex(&j->digest, hex));
	err_note(e, "got", "%s", liar->got.text);
}

static int wrong_content(const struct fetch_job *j, size_t liars, const struct fetch_mirror *first,
			 bool same, struct err *e)
{
	const struct err_note *size = fetch_job_note(&j->errs->last, "size");
	int r = err_fail(e, ERR_INTEGRITY, EBADMSG,
			 "wrong content, %zu of %zu mirror%s, attempt %u", liars, j->nmirrors,
			 j->nmirrors == 1 ? "" : "s", j->attempt);

	note_digests(j, first, e);
	if (size)
		err_note(e, "size", "%s", size->text);
	note_liars(j, e);
	e->lasts = liars > 1 && same;
	if (e->lasts)
		err_note(e, "why",
			 "%s mirrors send the same bytes: the document's hash is probably stale",
			 liars == 2 ? "both" : "all");
	say_known(j, liars, e);
	return r;
}

int fetch_job_verdict(const struct fetch_job *j, struct err *e)
{
	const struct err_note *next = fetch_job_note(&j->errs->last, "do");
	const struct fetch_mirror *first;
	char wrong[64] = "";
	bool same;
	size_t liars = count_liars(j, &first, &same);
	int r;

	if (liars)
		(void)print_to(wrong, sizeof(wrong), "%zu sent wrong content; ", liars);
	/* a mirror that did not answer may have the right bytes */
	if (liars == j->nmirrors && first)
		return wrong_content(j, liars, first, same, e);
	r = err_fail(e, ERR_NET, j->errs->last.errnum, "attempt %u, round %u, %zu mirror%s: %s%s",
		     j->attempt, j->round + 1, j->nmirrors, j->nmirrors == 1 ? "" : "s", wrong,
		     j->errs->last.msg);
	err_cause(e, "%s", j->errs->last.cause);
	if (liars) {
		note_digests(j, first, e);
		err_note(
			e, "do",
			"compare the document's hash with the publisher's: nodeup help asset-hash");
	}
	for (size_t i = 0; i < j->nmirrors && e->nnotes < ERR_NOTES - 1; i++)
		err_note(e, "mirror", "%s", j->mirrors[i].last_error);
	if (next)
		err_note(e, next->label, "%s", next->text);
	return r;
}

void fetch_job_free(struct fetch_job *j)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		free(j->mirrors[i].url);
	free(j->mirrors);
	free(j->errs);
	free(j->mismatches);
	cleanup_closep(&j->asks);
	arena_free(j->archive_arena);
	free(j->refused);
	free(j);
}
