#include "nodeup/tasks/members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/tasks/installed.h"
#include "nodeup/tasks/target.h"

struct told {
	struct told *next;
	const char *member;
	struct members_told what;
};

enum reading { READ_NEVER, READ_WELL, READ_FAILED };

struct archive {
	const struct task *unpack;
	struct arena *arena; /* arena of the findings, for the thread that works on the archive */
	struct told *told;
	const char *noted; /* the archive's record, once it was read; NULL: there is no record */
	/* stages of the tasks that the archive serves, in their order; fd -1: none */
	struct io_stage *stages;
	bool *given; /* for each stage: the task has taken it */
	enum reading reading;
	bool is_read; /* a pass over the entry is under way */
	bool arrives; /* the archive is being fetched, and unpacked on arrival */
	bool proven;  /* this process has seen that the archive's bytes have the right hash */
	struct extract_take *takes;
	size_t *of, n_takes; /* the stage of each take; SIZE_MAX: none */
};

struct members {
	struct task_ctx *ctx;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct archive *v;
	size_t n;
};

struct members *members_new(struct task_ctx *ctx, const struct task *const *tasks, size_t n)
{
	struct members *m = xcalloc(1, sizeof(*m));

	m->ctx = ctx;
	m->v = xcalloc(n + 1, sizeof(*m->v));
	(void)pthread_mutex_init(&m->lock, NULL);
	(void)pthread_cond_init(&m->ended, NULL);
	for (size_t i = 0; i < n; i++) {
		const struct task *t = tasks[i];
		struct archive *ar = &m->v[m->n];

		if (t->kind != TASK_UNPACK)
			continue;
		m->n++;
		ar->unpack = t;
		ar->arena = arena_new_empty();
		ar->stages = arena_alloc(ar->arena, (t->n_serves + 1) * sizeof(*ar->stages));
		ar->given = arena_alloc(ar->arena, (t->n_serves + 1) * sizeof(*ar->given));
		for (size_t k = 0; k < t->n_serves; k++) {
			ar->stages[k] = IO_STAGE_INIT;
			ar->given[k] = false;
		}
	}
	return m;
}

void members_free(struct members *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < m->v[i].unpack->n_serves; k++)
			io_stage_done(&m->v[i].stages[k]);
		arena_free(m->v[i].arena);
	}
	(void)pthread_cond_destroy(&m->ended);
	(void)pthread_mutex_destroy(&m->lock);
	free(m->v);
	free(m);
}

static struct archive *find(const struct members *m, const struct asset *as)
{
	for (size_t i = 0; m && i < m->n; i++)
		if (digest_eq(&m->v[i].unpack->unpack.asset->digest, &as->digest))
			return &m->v[i];
	return NULL;
}

static bool is_proven(const struct archive *ar)
{
	return __atomic_load_n(&ar->proven, __ATOMIC_RELAXED);
}

static void note_proven(struct archive *ar)
{
	__atomic_store_n(&ar->proven, true, __ATOMIC_RELAXED);
}

static struct told *find_told(const struct archive *ar, const char *member)
{
	struct told *t = ar->told;

	while (t && !str_eq(t->member, member))
		t = t->next;
	return t;
}

/* Reads the record: "sha256:HEX NAME" for a file, "- NAME" for a missing file. Links are not recorded. */
static struct members_told find_noted(const char *text, const char *member)
{
	struct members_told told = { .found = MEMBERS_NOT_READ };
	struct err ignored;

	for (const char *line = text, *end; line && *line; line = end + (*end == '\n')) {
		const char *space = strchr(line, ' ');

		end = line + strcspn(line, "\n");
		if (!space || space >= end || strlen(member) != (size_t)(end - space - 1) ||
		    memcmp(space + 1, member, strlen(member)) != 0)
			continue;
		if (*line == '-')
			told.found = MEMBERS_NONE;
		else if (digest_parse(line, (size_t)(space - line), &told.digest, &ignored) == 0)
			told.found = MEMBERS_FILE;
	}
	return told;
}

static struct members_told recall_noted(struct archive *ar, struct task_ctx *ctx,
					const char *member)
{
	if (!ar->noted)
		ar->noted = cache_members_read(ctx->cache, ar->arena,
					       &ar->unpack->unpack.asset->digest);
	return find_noted(ar->noted, member);
}

/* Answers from memory, or else from the record. A run that verifies answers only from what this process has read. */
static struct members_told recall(struct archive *ar, struct task_ctx *ctx, const char *member)
{
	const struct told *t = ctx->verify && !is_proven(ar) ? NULL : find_told(ar, member);

	if (t)
		return t->what;
	return ctx->verify ? (struct members_told){ .found = MEMBERS_NOT_READ }
			   : recall_noted(ar, ctx, member);
}

/* Adds this process's findings to the record. */
static void write_record(struct task_ctx *ctx, struct archive *ar)
{
	autoarena struct arena *a = arena_new_empty();
	const struct digest *d = &ar->unpack->unpack.asset->digest;
	const char *had = cache_members_read(ctx->cache, a, d), *text = had ? had : "";
	char hex[DIGEST_TEXT_MAX];

	for (const struct told *t = ar->told; t; t = t->next) {
		if (t->what.found == MEMBERS_LINK || strchr(t->member, '\n') ||
		    find_noted(text, t->member).found != MEMBERS_NOT_READ)
			continue;
		if (t->what.found == MEMBERS_NONE)
			text = arena_printf(a, "%s- %s\n", text, t->member);
		else
			text = arena_printf(a, "%ssha256:%s %s\n", text,
					    digest_hex(&t->what.digest, hex), t->member);
	}
	if (!str_eq(had, text))
		cache_members_write(ctx->cache, d, text);
	ar->noted = NULL;
}

/* Returns whether a member can be staged now: the install's directory exists, or no task makes it. Below a mount the
 * install itself stages the file. */
static bool has_place(const struct task *install, struct task_ctx *ctx, bool *ret_comes)
{
	const char *name;
	autoclose int dir = -1;
	bool is_made = false;
	struct err ignored;

	*ret_comes = false;
	for (size_t i = 0; i < install->n_needs; i++) {
		if (install->needs[i]->kind != TASK_DIR && install->needs[i]->kind != TASK_ASSET)
			return false;
		is_made = is_made || install->needs[i]->kind == TASK_DIR;
	}
	*ret_comes = is_made &&
		     io_open_parent(ctx->root_fd, install->name, &dir, &name, &ignored) < 0;
	return !*ret_comes;
}

static bool is_wanted(const struct archive *ar, size_t at, struct task_ctx *ctx)
{
	const struct told *t = find_told(ar, ar->unpack->serves[at]->install.member);

	return ar->stages[at].fd < 0 && !ar->given[at] && (!t || t->what.found == MEMBERS_FILE) &&
	       !installed_is_right(ar->unpack->serves[at], ctx);
}

static void add_take(struct archive *ar, const char *member, int fd, size_t of)
{
	ar->takes[ar->n_takes] = (struct extract_take){ .member = member, .fd = fd };
	ar->of[ar->n_takes++] = of;
}

static bool is_taken(const struct archive *ar, const char *member)
{
	for (size_t i = 0; i < ar->n_takes; i++)
		if (str_eq(ar->takes[i].member, member))
			return true;
	return false;
}

static void drop_stage(struct io_stage *s)
{
	io_stage_done(s);
	*s = IO_STAGE_INIT;
}

/* Stages wanted members, up to `max`, and asks about the other members. `must` is staged even if it is not wanted. */
static int add_takes(struct archive *ar, struct task_ctx *ctx, const struct task *must, bool stages,
		     size_t max, struct err *e)
{
	const struct task *unpack = ar->unpack;
	const struct strv *names = unpack->unpack.asset->members;
	const size_t most = unpack->n_serves + (names ? names->n : 0) + 1;

	ar->takes = arena_alloc(ar->arena, most * sizeof(*ar->takes));
	ar->of = arena_alloc(ar->arena, most * sizeof(*ar->of));
	ar->n_takes = 0;
	for (size_t i = 0; stages && i < unpack->n_serves && ar->n_takes < max; i++) {
		const struct task *t = unpack->serves[i];
		struct err why;
		bool comes;

		if (t == must ? ar->stages[i].fd >= 0
			      : !is_wanted(ar, i, ctx) || !has_place(t, ctx, &comes))
			continue;
		if (target_stage(ctx, t->name, &ar->stages[i], &why) >= 0) {
			add_take(ar, t->install.member, ar->stages[i].fd, i);
		} else {
			drop_stage(&ar->stages[i]);
			/* the install reports this error itself */
			if (t == must) {
				*e = why;
				return err_code(e);
			}
		}
	}
	for (size_t i = 0; names && i < names->n && ar->n_takes < max; i++)
		if (!is_taken(ar, names->v[i]) &&
		    recall(ar, ctx, names->v[i]).found == MEMBERS_NOT_READ)
			add_take(ar, names->v[i], -1, SIZE_MAX);
	return 0;
}

/* Returns whether all bytes of a member came. A hard link gets its bytes only in a further pass. */
static bool is_whole(const struct extract_take *take)
{
	return !take->path || take->digest.algo != DIGEST_ALGO_MAX;
}

static void note_take(struct archive *ar, const struct extract_take *take)
{
	struct told *t = find_told(ar, take->member);

	if (!t) {
		t = arena_new(ar->arena, struct told);
		*t = (struct told){ .next = ar->told, .member = take->member };
		ar->told = t;
	}
	t->what = (struct members_told){ .found = take->path   ? MEMBERS_FILE
						  : take->link ? MEMBERS_LINK
							       : MEMBERS_NONE,
					 .digest = take->digest,
					 .entry = take->from,
					 .link = take->link,
					 .target = take->target };
}

/* The lock is held. */
static void note_takes(struct archive *ar, enum reading result)
{
	const bool complete = result == READ_WELL;

	for (size_t i = 0; i < ar->n_takes; i++) {
		const bool is_told = complete && is_whole(&ar->takes[i]);

		if (is_told)
			note_take(ar, &ar->takes[i]);
		if (ar->of[i] != SIZE_MAX && !(is_told && ar->takes[i].path))
			drop_stage(&ar->stages[ar->of[i]]);
	}
	ar->n_takes = 0;
	if (ar->reading != READ_WELL)
		__atomic_store_n(&ar->reading, result, __ATOMIC_RELAXED);
}

/* Names the full file system in the error: the unpacker, a child process, cannot know it. */
static int explain_room(const struct archive *ar, struct err *e)
{
	for (size_t i = 0; i < ar->n_takes && io_is_full(e->errnum); i++)
		if (ar->takes[i].fd >= 0)
			return io_say_room(ar->takes[i].fd, e->room.wanted, e);
	return err_code(e);
}

/* Notes the end of a pass or of an arrival. */
static void end_reading(struct members *m, struct archive *ar, struct task_ctx *ctx,
			enum reading result)
{
	(void)pthread_mutex_lock(&m->lock);
	note_takes(ar, result);
	if (result == READ_WELL)
		write_record(ctx, ar);
	ar->is_read = ar->arrives = false;
	(void)pthread_cond_broadcast(&m->ended);
	(void)pthread_mutex_unlock(&m->lock);
}

/* A run that verifies hashes the entry before it reads it. */
static int prove(struct archive *ar, struct task_ctx *ctx, struct err *e)
{
	const struct asset *as = ar->unpack->unpack.asset;
	struct err why;

	if (ctx->verify && !is_proven(ar) &&
	    cache_inspect(ctx->cache, &as->digest, CACHE_BY_BYTES, &why).state == CACHE_RIGHT)
		note_proven(ar);
	return !ctx->verify || is_proven(ar)
		       ? 0
		       : err_fail(e, ERR_SYSTEM, ENOENT, "asset %s: the cache does not have it",
				  as->name);
}

/* Reads the entry once; called with the lock, which it releases meanwhile. */
static int read_entry(struct members *m, struct archive *ar, struct task_ctx *ctx,
		      const struct task *must, bool stages, struct err *e)
{
	enum reading result = ar->reading;
	int r;

	ar->is_read = true;
	(void)pthread_mutex_unlock(&m->lock);
	r = prove(ar, ctx, e);
	if (r >= 0)
		r = add_takes(ar, ctx, must, stages, SIZE_MAX, e);
	if (r >= 0 && (ar->n_takes || result != READ_WELL)) {
		r = cache_take(ctx->cache, ar->arena, ar->unpack->unpack.asset, ar->takes,
			       ar->n_takes, e);
		result = r < 0 ? READ_FAILED : READ_WELL;
	}
	if (r < 0)
		r = explain_room(ar, e);
	end_reading(m, ar, ctx, result);
	(void)pthread_mutex_lock(&m->lock);
	return r;
}

static bool is_here(struct task_ctx *ctx, const struct archive *ar)
{
	return cache_is_signed(ctx->cache, ar->unpack->unpack.asset) &&
	       cache_has(ctx->cache, &ar->unpack->unpack.asset->digest);
}

static void wait_for_pass(struct members *m, const struct archive *ar)
{
	while (ar->is_read)
		(void)pthread_cond_wait(&m->ended, &m->lock);
}

/* Returns whether one of the installed files is first looked for in this archive. */
static bool is_asked_first(const struct archive *ar, struct task_ctx *ctx)
{
	struct err ignored;
	struct stat st;

	for (size_t i = 0; i < ar->unpack->n_serves; i++) {
		const struct task *t = ar->unpack->serves[i];

		if (digest_eq(&t->install.sources[0]->digest, &ar->unpack->unpack.asset->digest) &&
		    io_stat(ctx->root_fd, t->name, &st, &ignored) >= 0 && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

enum cache_state members_recheck(struct task_ctx *ctx, const struct asset *as, struct err *e)
{
	struct members *m = ctx->members;
	struct archive *ar = find(m, as);
	enum cache_state state;
	struct err ignored;

	if (!ar)
		return cache_inspect(ctx->cache, &as->digest, CACHE_BY_BYTES, e).state;
	(void)pthread_mutex_lock(&m->lock);
	wait_for_pass(m, ar);
	ar->is_read = true;
	(void)pthread_mutex_unlock(&m->lock);
	state = cache_inspect(ctx->cache, &as->digest, CACHE_BY_BYTES, e).state;
	if (state == CACHE_RIGHT)
		note_proven(ar);
	(void)pthread_mutex_lock(&m->lock);
	ar->is_read = false;
	if (state == CACHE_RIGHT && cache_is_signed(ctx->cache, as) && is_asked_first(ar, ctx))
		(void)!read_entry(m, ar, ctx, NULL, false, &ignored);
	(void)pthread_cond_broadcast(&m->ended);
	(void)pthread_mutex_unlock(&m->lock);
	return state;
}

int members_read(struct task_ctx *ctx, const struct task *unpack, struct err *e)
{
	struct members *m = ctx->members;
	struct archive *ar = find(m, unpack->unpack.asset);
	int r;

	(void)pthread_mutex_lock(&m->lock);
	wait_for_pass(m, ar);
	/* content that was refused on arrival would only be refused again */
	if (ctx->fetcher && fetch_has_refused(ctx->fetcher, unpack->unpack.asset, e)) {
		note_takes(ar, READ_FAILED);
		r = err_code(e);
	} else {
		r = read_entry(m, ar, ctx, NULL, true, e);
	}
	(void)pthread_mutex_unlock(&m->lock);
	return r;
}

bool members_are_read(struct task_ctx *ctx, const struct asset *as)
{
	autoarena struct arena *a = arena_new_empty();
	const struct archive *ar = find(ctx->members, as);

	return (ar && __atomic_load_n(&ar->reading, __ATOMIC_RELAXED) == READ_WELL) ||
	       cache_members_read(ctx->cache, a, &as->digest);
}

bool members_lack_folder(struct task_ctx *ctx, const struct task *unpack)
{
	for (size_t i = 0; i < unpack->n_serves; i++) {
		bool comes;

		if (!has_place(unpack->serves[i], ctx, &comes) && comes &&
		    !installed_is_right(unpack->serves[i], ctx))
			return true;
	}
	return false;
}

/* Returns the install's stage in this archive; NULL: the install uses another archive. Compares names, as the plan
 * may have been made anew. */
static struct io_stage *stage_of(const struct archive *ar, const struct task *install)
{
	for (size_t i = 0; i < ar->unpack->n_serves; i++)
		if (str_eq(ar->unpack->serves[i]->name, install->name))
			return &ar->stages[i];
	return NULL;
}

static int take(struct members *m, struct archive *ar, struct task_ctx *ctx,
		const struct task *install, bool waits, struct io_stage *stage,
		struct members_told *ret, struct err *e)
{
	struct io_stage *staged = stage_of(ar, install);
	const struct told *t;
	int r = 0;

	if (ar->arrives || !staged || (ar->is_read && ar->reading == READ_NEVER && waits))
		return 0;
	wait_for_pass(m, ar);
	/* a refused archive is not asked again */
	if (ar->reading == READ_FAILED || (ar->reading == READ_NEVER && waits) || !is_here(ctx, ar))
		return 0;
	t = find_told(ar, install->install.member);
	if (ar->reading == READ_NEVER || !t || (t->what.found == MEMBERS_FILE && staged->fd < 0)) {
		r = read_entry(m, ar, ctx, install, true, e);
		t = find_told(ar, install->install.member);
	}
	if (r < 0 || !t)
		return r;
	*ret = t->what;
	if (ret->found != MEMBERS_FILE)
		return 0;
	*stage = *staged;
	*staged = IO_STAGE_INIT;
	ar->given[staged - ar->stages] = true;
	return 0;
}

int members_take(struct task_ctx *ctx, const struct task *install, const struct asset *as,
		 bool waits, struct io_stage *stage, struct members_told *ret, struct err *e)
{
	struct members *m = ctx->members;
	struct archive *ar = find(m, as);
	int r;

	*ret = (struct members_told){ .found = MEMBERS_NOT_READ };
	if (!ar || !cache_is_signed(ctx->cache, as))
		return 0;
	(void)pthread_mutex_lock(&m->lock);
	r = take(m, ar, ctx, install, waits, stage, ret, e);
	(void)pthread_mutex_unlock(&m->lock);
	return r;
}

void members_drop(struct task_ctx *ctx, const struct task *install)
{
	struct members *m = ctx->members;

	if (!m)
		return;
	(void)pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n; i++) {
		struct io_stage *s = stage_of(&m->v[i], install);

		if (s && !m->v[i].is_read && !m->v[i].arrives)
			drop_stage(s);
	}
	(void)pthread_mutex_unlock(&m->lock);
}

struct members_told members_tell(struct task_ctx *ctx, const struct asset *as, const char *member,
				 bool may_read)
{
	struct members_told told = { .found = MEMBERS_NOT_READ };
	struct members *m = ctx->members;
	struct archive *ar = find(m, as);
	struct err ignored;

	if (!ar || !cache_is_signed(ctx->cache, as))
		return told;
	(void)pthread_mutex_lock(&m->lock);
	wait_for_pass(m, ar);
	if (!ar->arrives)
		told = recall(ar, ctx, member);
	if (told.found == MEMBERS_NOT_READ && may_read && !ar->arrives &&
	    ar->reading != READ_FAILED && is_here(ctx, ar)) {
		(void)!read_entry(m, ar, ctx, NULL, false, &ignored);
		told = recall(ar, ctx, member);
	}
	/* if the archive is lost, only its record can tell */
	if (told.found == MEMBERS_NOT_READ && !ar->arrives)
		told = recall_noted(ar, ctx, member);
	(void)pthread_mutex_unlock(&m->lock);
	return told;
}

/* Functions of the fetcher's sink, for an archive that arrives. */

static bool open_sink(void *arg, const struct asset *as, struct fetch_takes *ret)
{
	struct members *m = arg;
	struct archive *ar = find(m, as);
	bool begins;
	struct err e;

	if (!ar)
		return false;
	(void)pthread_mutex_lock(&m->lock);
	wait_for_pass(m, ar);
	ar->arrives = true;
	(void)pthread_mutex_unlock(&m->lock);
	begins = add_takes(ar, m->ctx, NULL, true, EXTRACT_TAKES_MAX, &e) >= 0 &&
		 (ar->n_takes || !members_are_read(m->ctx, as));
	*ret = (struct fetch_takes){ ar->arena, ar->takes, ar->n_takes };
	if (begins)
		return true;
	(void)pthread_mutex_lock(&m->lock);
	ar->arrives = false;
	(void)pthread_mutex_unlock(&m->lock);
	return false;
}

static void close_sink(void *arg, const struct asset *as, bool complete)
{
	struct members *m = arg;
	struct archive *ar = find(m, as);

	if (complete)
		note_proven(ar);
	/* another attempt, or a pass over the entry, may succeed */
	end_reading(m, ar, m->ctx, complete ? READ_WELL : READ_NEVER);
}

struct fetch_sink members_sink(struct members *m)
{
	return (struct fetch_sink){ open_sink, close_sink, m };
}
