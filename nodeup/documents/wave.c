#include "nodeup/documents/op.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

enum { RUNNING_MAX = 12, PAGE_MAX = 4 * 1024, CLOCK_TOLERANCE_S = 300 };

/* how long an answer that has begun may take before a report */
#define SLOW_NS (5 * DUR_SEC)

struct store_wave {
	struct store *store;
	struct store_op *ops;
	size_t n, running;
	bool unprepared; /* preparation failed in this pass, so the next operation does not try it again */
	struct err unprepared_err;
	pthread_mutex_t lock; /* guards every operation's `heard` and `answered` */
	pthread_cond_t changed;
};

static void on_head(void *arg, const struct http_result *res)
{
	struct store_op *op = arg;

	(void)res;
	(void)pthread_mutex_lock(&op->wave->lock);
	op->heard = true;
	(void)pthread_mutex_unlock(&op->wave->lock);
}

static int on_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct store_op *op = arg;

	if (buf_add(&op->answer.body, p, n) < 0)
		return buf_check(&op->answer.body, op->shown, e);
	return 0;
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct store_op *op = arg;
	struct store_answer *answer = &op->answer;
	struct store_wave *w = op->wave;

	answer->r = r;
	answer->status = res->status;
	answer->retry_after_ns = res->retry_after_ns;
	(void)print_to(answer->region, sizeof(answer->region), "%s",
		       http_header(res->headers, "x-amz-bucket-region"));
	(void)print_to(answer->request_id, sizeof(answer->request_id), "%s",
		       http_header(res->headers, "x-amz-request-id"));
	(void)print_to(answer->date, sizeof(answer->date), "%s", http_header(res->headers, "date"));
	(void)buf_add(&answer->page, res->error_page, res->error_page_n);
	if (r < 0)
		answer->err = *e;
	(void)pthread_mutex_lock(&w->lock);
	op->heard = op->answered = true;
	(void)pthread_cond_signal(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

static void clear_answer(struct store_op *op)
{
	struct store_answer *answer = &op->answer;

	buf_done(&answer->body);
	buf_done(&answer->page);
	*answer = (struct store_answer){ .retry_after_ns = -1 };
	answer->body = BUF_INIT(STORE_DOCUMENT_MAX);
	answer->page = BUF_INIT(PAGE_MAX);
	op->heard = op->answered = op->is_slow = false;
}

/* Finds the region (given, environment, IMDS) and the credentials for S3. A failure is the operation's answer. */
static bool is_prepared(struct store_wave *w, struct store_op *op)
{
	if (!op->s3.loc.bucket)
		return true;
	if (!w->unprepared && s3_session_ready(w->store->s3, &w->unprepared_err) >= 0)
		return true;
	w->unprepared = true;
	op->answer.err = w->unprepared_err;
	op->answer.r = -1;
	op->answered = true;
	return false;
}

static void begin_op(struct store_wave *w, struct store_op *op, int64_t now)
{
	/* the engine copies the request; the signing secrets are freed with this arena */
	autoarena struct arena *scratch = arena_new_empty();
	struct http_req req;

	clear_answer(op);
	if (op->attempt++ == 0)
		op->since_ns = now;
	op->state = OP_RUNNING;
	op->silent_ns = INT64_MAX;
	w->running++;
	if (!is_prepared(w, op))
		return;
	store_request(w->store, scratch, op, &req);
	req.head = on_head;
	req.data = on_data;
	req.done = on_done;
	req.arg = op;
	op->silent_ns = now + WAIT_SILENCE_NS;
	op->id = http_start(w->store->http, &req);
}

/* Returns whether waiting may help. After 401 and 403 it may: a role's rights arrive seconds after the instance. */
static bool may_pass(struct store *s, const struct store_op *op)
{
	const struct store_answer *answer = &op->answer;
	int status = answer->status;

	if (str_eq(op->s3.code, "ExpiredToken"))
		return creds_refused(s3_session_creds(s->s3), op->s3.serial);

	if (answer->err.kind != ERR_NET || answer->err.errnum == EFBIG)
		return false;
	return status < 300 || status >= 500 || status == 401 || status == 403 || status == 408 ||
	       status == 425 || status == 429;
}

/* Returns the pause that the server asks for, otherwise our own. Our own also counts if the server asks for 0, as
 * the server's date may be past by our clock. */
static int64_t delay_of(const struct store_op *op)
{
	int64_t asked = op->answer.retry_after_ns;

	return asked > 0 ? asked : wait_delay(op->attempt);
}

static int give_up(const struct store_op *op, int64_t now, struct err *e)
{
	if (op->attempt > 1)
		err_note(e, "tried", "%u times in %.1f s", op->attempt,
			 (double)(now - op->since_ns) / DUR_SEC);
	return e->errnum > 0 ? -e->errnum : -EINVAL;
}

/* Settles an answer that is no success: a missing document, another try, or the end (< 0). */
static int settle_failure(struct store_wave *w, struct store_op *op, struct err *e)
{
	struct store *s = w->store;
	int status = op->answer.status;
	int64_t now = dur_now(), left = s->patience.ns - (now - op->since_ns), delay;

	if (store_learn(s, op)) {
		op->state = OP_DUE;
		op->next_ns = now;
		return 0;
	}
	store_word_error(s, op, e);
	/* S3 has no folders: if a listing gets 404, the bucket is missing */
	if ((status == 404 || status == 410) && !(op->entry.listing && op->s3.loc.bucket)) {
		op->entry.missing = true;
		op->entry.why = arena_str(s->arena, e->msg);
		op->state = OP_FINISHED;
		return 0;
	}
	if (!may_pass(s, op) || (s->patience.ns >= 0 && left <= 0))
		return give_up(op, now, e);
	delay = delay_of(op);
	if (s->patience.ns >= 0 && delay > left)
		delay = left;
	op->state = OP_DUE;
	op->next_ns = now + delay;
	return 0;
}

static int settle_listing(struct store_wave *w, struct store_op *op)
{
	struct arena *a = w->store->arena;
	struct store_answer *answer = &op->answer;
	struct strv names = { 0 };
	int r;

	if (op->s3.loc.bucket) {
		r = s3_list_parse(a, buf_str(&answer->body), answer->body.len, &names,
				  &op->s3.token, &answer->err);
		if (r < 0)
			return r;
	} else {
		store_index_names(a, op->target, buf_str(&answer->body), &names);
	}
	strv_add_all(a, &op->entry.names, &names);
	/* the next page has its own tries */
	op->attempt = 0;
	op->state = op->s3.token ? OP_DUE : OP_FINISHED;
	strv_sort(&op->entry.names);
	return 0;
}

static void note_clock(struct store *s, const struct store_answer *answer)
{
	const int64_t date = dur_of_http_date(answer->date);

	if (date >= 0)
		s->clock_agrees = llabs(date - dur_wall() / DUR_SEC) <= CLOCK_TOLERANCE_S;
}

static int settle_op(struct store_wave *w, struct store_op *op, struct err *e)
{
	struct store_answer *answer = &op->answer;
	int r = answer->r;

	w->running--;
	note_clock(w->store, answer);
	if (r >= 0 && op->entry.listing)
		r = answer->r = settle_listing(w, op);
	if (r < 0)
		return settle_failure(w, op, e);
	if (op->entry.listing)
		return 0;
	op->entry.text = arena_strn(w->store->arena, buf_str(&answer->body), answer->body.len);
	op->entry.n = answer->body.len;
	op->state = OP_FINISHED;
	return 0;
}

/* Returns whether a running operation's `heard` or `answered` is set. */
static bool has_come(struct store_wave *w, const struct store_op *op, const bool *what)
{
	bool come;

	if (op->state != OP_RUNNING)
		return false;
	(void)pthread_mutex_lock(&w->lock);
	come = *what;
	(void)pthread_mutex_unlock(&w->lock);
	return come;
}

/* Settles the answers that came. Of the operations that wait after a failure, reports only the first, and only if it
 * has just failed. */
static int settle_answered(struct store_wave *w, struct err *e)
{
	const struct store *s = w->store;
	bool spoken = false;

	for (size_t i = 0; i < w->n; i++) {
		struct store_op *op = &w->ops[i];
		struct err why = { 0 };
		int r;

		if (has_come(w, op, &op->answered)) {
			r = settle_op(w, op, &why);
			if (r < 0) {
				*e = why;
				return r;
			}
		}
		if (spoken || op->state != OP_DUE || op->answer.r >= 0)
			continue;
		spoken = true;
		if (why.kind != ERR_NONE)
			wait_tell(s->patience.fn, s->patience.arg, op->shown, op->since_ns,
				  op->attempt, &why, op->next_ns);
	}
	return 0;
}

/* Starts operations that are due. Returns when the next one is due; 0: all are finished. */
static int64_t begin_due(struct store_wave *w)
{
	int64_t now = dur_now(), next = INT64_MAX;
	bool finished = true;

	w->unprepared = false;
	for (size_t i = 0; i < w->n; i++) {
		struct store_op *op = &w->ops[i];

		finished = finished && op->state == OP_FINISHED;
		if (op->state != OP_DUE || w->running == RUNNING_MAX)
			continue;
		if (op->next_ns <= now)
			begin_op(w, op, now);
		else if (op->next_ns < next)
			next = op->next_ns;
	}
	return finished ? 0 : next;
}

/* Reports servers that were silent for a second, with one report for all. Returns when to look again. */
static int64_t report_silence(struct store_wave *w)
{
	const struct store *s = w->store;
	const int64_t now = dur_now();
	int64_t next = INT64_MAX;
	bool spoken = false;

	for (size_t i = 0; i < w->n; i++) {
		struct store_op *op = &w->ops[i];

		if (op->state != OP_RUNNING)
			continue;
		if (op->silent_ns <= now && !op->is_slow && has_come(w, op, &op->heard)) {
			op->is_slow = true;
			op->silent_ns = now + SLOW_NS;
		} else if (op->silent_ns <= now) {
			if (!spoken)
				wait_tell_silence(s->patience.fn, s->patience.arg, op->shown,
						  op->shown, op->is_slow, op->since_ns,
						  op->attempt);
			spoken = true;
			op->silent_ns = INT64_MAX;
		}
		if (op->silent_ns < next)
			next = op->silent_ns;
	}
	return next;
}

static bool any_answered(const struct store_wave *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->ops[i].state == OP_RUNNING && w->ops[i].answered)
			return true;
	return false;
}

static void await_change(struct store_wave *w, int64_t due_ns)
{
	struct timespec due = { .tv_sec = due_ns / DUR_SEC, .tv_nsec = due_ns % DUR_SEC };
	int r = 0;

	(void)pthread_mutex_lock(&w->lock);
	while (r == 0 && !any_answered(w))
		r = due_ns == INT64_MAX ? pthread_cond_wait(&w->changed, &w->lock)
					: pthread_cond_timedwait(&w->changed, &w->lock, &due);
	(void)pthread_mutex_unlock(&w->lock);
}

/* Waits until the net thread is done with every operation. */
static void stop_wave(struct store_wave *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->ops[i].state == OP_RUNNING && w->ops[i].id)
			http_cancel(w->store->http, w->ops[i].id);
	(void)pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->n; i++)
		while (w->ops[i].state == OP_RUNNING && !w->ops[i].answered)
			(void)pthread_cond_wait(&w->changed, &w->lock);
	(void)pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->n; i++)
		clear_answer(&w->ops[i]);
	(void)pthread_cond_destroy(&w->changed);
	(void)pthread_mutex_destroy(&w->lock);
}

int store_run(struct store *s, struct store_op *ops, size_t n, struct err *e)
{
	struct store_wave w = { .store = s, .ops = ops, .n = n };
	pthread_condattr_t monotonic;
	int r = 0;

	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w.changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	(void)pthread_mutex_init(&w.lock, NULL);
	for (size_t i = 0; i < n; i++)
		ops[i].wave = &w;
	while (r >= 0) {
		const int64_t due = begin_due(&w);
		int64_t look;

		if (due == 0)
			break;
		look = report_silence(&w);
		await_change(&w, look < due ? look : due);
		r = settle_answered(&w, e);
	}
	stop_wave(&w);
	return r;
}
