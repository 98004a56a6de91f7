#include "nodeup/cmd/behind.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeup/base/log.h"
#include "nodeup/base/pool.h"

enum { NICEST = 19, THIS_THREAD = 0 };

/* Of an asset whose note stays, a person may want to know: the disk is full, or fails. */
static void take_back(struct cache *c, int root_fd, const struct cache_loan *loan)
{
	struct err e;

	if (cache_take_back(c, root_fd, loan, &e) < 0 && cache_is_lent(c, &loan->digest))
		log_warning("the cache has no copy of '%s' yet: %s; the next run makes it",
			    loan->path, e.msg);
}

static void unspool(struct cache *c, const struct digest *d)
{
	char hex[DIGEST_TEXT_MAX];
	struct err e;

	if (cache_unspool(c, d, &e) < 0)
		log_warning(
			"the cache has no copy of the archive %s: %s; it is fetched again when it is "
			"needed",
			digest_hex(d, hex), e.msg);
}

/* A cache of several nodes lends nothing to this one: its notes are of others. */
static struct cache_loans loans_of(const struct session *s, struct arena *a)
{
	return task_has_own_cache(&s->ctx) ? cache_loans(s->ctx.cache, a)
					   : (struct cache_loans){ 0 };
}

void behind_catch_up(struct session *s)
{
	const struct cache_loans loans = loans_of(s, s->arena);

	for (size_t i = 0; i < loans.n; i++)
		take_back(s->ctx.cache, s->root_fd, &loans.v[i]);
}

/* As little in the way of what was just started as may be. Both are of the thread alone. */
static void step_back(void)
{
	(void)setpriority(PRIO_PROCESS, THIS_THREAD, NICEST);
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, THIS_THREAD,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static void count_one(struct behind *b)
{
	(void)__atomic_add_fetch(&b->done, 1, __ATOMIC_RELAXED);
}

/* The archives first: they take memory that others may want. */
static void *copy_all(void *arg)
{
	struct behind *b = arg;

	step_back();
	for (size_t i = 0; i < b->spooled.n; i++) {
		unspool(b->cache, &b->spooled.v[i]);
		count_one(b);
	}
	for (size_t i = 0; i < b->loans.n; i++) {
		take_back(b->cache, b->root_fd, &b->loans.v[i]);
		count_one(b);
	}
	for (size_t i = 0; i < b->shared.n; i++)
		cache_tree_seal(b->cache, &b->shared.v[i]);
	return NULL;
}

static int start(struct behind *b, const struct session *s, const struct session_req *req,
		 struct err *e)
{
	int r;

	b->root_fd = fcntl(s->root_fd, F_DUPFD_CLOEXEC, 0);
	if (b->root_fd < 0)
		return err_sys(e, "open the root again");
	r = session_new_cache(s, req, &b->cache, e);
	return r < 0 ? r : pool_thread(&b->thread, copy_all, b, e);
}

static void release(struct behind *b)
{
	cache_free(b->cache);
	cleanup_closep(&b->root_fd);
	arena_free(b->arena);
	*b = (struct behind){ .root_fd = -1 };
}

static size_t copies_of(const struct behind *b)
{
	return b->spooled.n + b->loans.n;
}

void behind_begin(struct behind *b, const struct session *s, const struct session_req *req)
{
	struct err e;

	*b = (struct behind){ .root_fd = -1, .arena = arena_new_empty() };
	b->spooled = cache_spooled(s->ctx.cache, b->arena);
	b->loans = loans_of(s, b->arena);
	b->shared = cache_trees_shared(s->ctx.cache, b->arena);
	if (copies_of(b) + b->shared.n == 0 && !cache_has_spool(s->ctx.cache)) {
		release(b);
		return;
	}
	if (start(b, s, req, &e) < 0) {
		log_warning("%s; the next run copies %zu assets into the cache", e.msg,
			    copies_of(b));
		release(b);
		return;
	}
	b->runs = true;
}

size_t behind_pending(const struct behind *b)
{
	return b->runs ? copies_of(b) - __atomic_load_n(&b->done, __ATOMIC_RELAXED) : 0;
}

void behind_end(struct behind *b, bool made)
{
	if (!b->runs)
		return;
	(void)pthread_join(b->thread, NULL);
	cache_spool_end(b->cache, made);
	release(b);
}
