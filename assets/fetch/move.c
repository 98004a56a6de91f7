#include "assets/fetch/move.h"

#include <stdlib.h>
#include "assets/fetch/known.h"
#include "nodeup/base/dur.h"

static const uint64_t asset_bytes_max = UINT64_C(32) << 30;

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

void fetch_move_over(struct fetcher *f)
{
	lock(f);
	f->pending--;
	(void)pthread_cond_broadcast(&f->changed);
	unlock(f);
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

/* A part that waits for a connection may have this one. */
static void wake_starved(struct fetcher *f)
{
	struct fetch_job *j;

	lock(f);
	j = f->jobs;
	unlock(f);
	for (; j; j = j->next)
		if (j->starved)
			f->ops->look(j);
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct fetch_part *p = arg;
	struct fetch_job *j = p->job;
	enum fetch_outcome outcome;
	struct err why = { .kind = ERR_NONE };

	remove_part(p);
	outcome = fetch_answer_done(p, r, res, e, &why);
	j->fetcher->ops->ended(j, p->mirror, outcome, res, &why);
	free(p);
	j->fetcher->ops->look(j);
	wake_starved(j->fetcher);
}

static void on_head(void *arg, const struct http_result *res)
{
	struct fetch_part *p = arg;

	fetch_answer_head(p, res);
	/* now that its size is known, others may help */
	if (p->err.kind == ERR_NONE)
		p->job->fetcher->ops->look(p->job);
}

static int on_data(void *arg, const void *bytes, size_t n, struct err *e)
{
	struct fetch_part *p = arg;
	int r = fetch_answer_data(p, bytes, n, e);

	p->job->fetcher->ops->came(p->job);
	return r;
}

static void on_tick(void *arg, int r);

/* A mirror that goes silent causes no callback, so look at the moving parts from time to time. */
static void keep_ticking(struct fetcher *f)
{
	if (f->ticking)
		return;
	lock(f);
	if (!f->closing) {
		f->ticking = true;
		f->pending++;
		f->tick_id = http_after(f->http, f->opts.patience_ns / 3, on_tick, f);
	}
	unlock(f);
}

static void on_tick(void *arg, int r)
{
	struct fetcher *f = arg;
	struct fetch_job *j;

	f->ticking = false;
	lock(f);
	j = f->jobs;
	unlock(f);
	for (; j && r >= 0; j = j->next)
		if (j->parts) {
			keep_ticking(f);
			j->fetcher->ops->look(j);
		}
	fetch_move_over(f);
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
	/* a stream that cannot be cut does on its way what the other does, if it is there first */
	if (want->slow && want->slow->answer == RANGE_REST && want->slow->headed)
		want->slow->end = want->first;
	range_ask(cache_origin_of(j->entry), &asked, a, &req.headers);
	fetch_known_ask(j, want->mirror, a, &req.headers);
	p->next = j->parts;
	j->parts = p;
	m->active++;
	j->fetcher->connections++;
	lock(j->fetcher);
	fetch_job_asked(j, want->mirror);
	unlock(j->fetcher);
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

	lock(j->fetcher);
	for (const struct fetch_job *o = j->fetcher->jobs; o; o = o->next)
		any = any || (o != j && o->starved);
	unlock(j->fetcher);
	return any;
}

bool fetch_move_may_start(struct fetch_job *j)
{
	bool may = j->fetcher->connections < j->fetcher->opts.connections &&
		   !(j->parts && others_starve(j));

	j->starved = !may && !j->parts;
	return may;
}
