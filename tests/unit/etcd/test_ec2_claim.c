#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/etcd/claim.h"
#include "nodeup/base/dur.h"

enum { DONE = 1000, VOLUMES_MAX = 8, LOG_MAX = 4096, RACES = 200 };

static const struct volume_wish both[] = {
	{ VOLUME_BY_ETCD, "etcd main", "main", NULL },
	{ VOLUME_BY_ETCD, "etcd events", "events", NULL },
};

/* What EC2 holds: attaching is atomic, looking may be late. */
struct cloud {
	pthread_mutex_t lock;
	struct {
		const char *id, *etcd, *tag, *device;
		char instance[16];
	} v[VOLUMES_MAX];
	size_t n, twice;
};

/* A master, its own clock, and what it is to be told. */
struct master {
	struct cloud *cloud;
	const char *id;
	struct arena *arena;
	int64_t now, deadline;
	unsigned int dice;
	bool cut_off;  /* from the deadline on nothing is answered */
	bool stale;    /* EC2 tells it of a while ago, at times */
	int looks_old; /* so many lists are of before anything was attached */
	/* faults: these errors, once each, before the real answer; + DONE: it was done all the same */
	const int *attach_faults;
	const char *unfit; /* this volume's disk is not fit */
	int absent;        /* so many looks until a disk is there */
	const char *user;  /* of every disk */
	bool grows;        /* a third member has its volume made while it waits */
	char log[LOG_MAX];
	struct claim_own own;
	struct volume_choice choices[2];
	struct err e;
	int r;
};

static void add(struct cloud *c, const char *id, const char *etcd, const char *tag)
{
	c->v[c->n].id = id;
	c->v[c->n].etcd = etcd;
	c->v[c->n].tag = tag;
	c->v[c->n].instance[0] = '\0';
	c->n++;
}

static void note(struct master *m, const char *what, const char *of)
{
	size_t n = strlen(m->log);

	(void)snprintf(m->log + n, sizeof(m->log) - n, "%s %s\n", what, of);
}

static int on_instance(void *arg, struct arena *a, struct ec2_instance *ret, struct err *e)
{
	struct master *m = arg;

	if (m->cut_off && m->now >= m->deadline)
		return err_fail(e, ERR_NET, ETIMEDOUT, "timed out");
	*ret = (struct ec2_instance){ .id = m->id, .zone = "z" };
	strmap_set(a, &ret->tags, "KubernetesCluster", "c");
	(void)pthread_mutex_lock(&m->cloud->lock);
	for (size_t i = 0; i < m->cloud->n; i++)
		if (strcmp(m->cloud->v[i].instance, m->id) == 0)
			strv_add(a, &ret->devices, m->cloud->v[i].device);
	(void)pthread_mutex_unlock(&m->cloud->lock);
	return 0;
}

static int on_volumes(void *arg, struct arena *a, const struct ec2_filters *filters,
		      struct ec2_volumes *ret, struct err *e)
{
	struct master *m = arg;
	bool late = m->stale && rand_r(&m->dice) % 3 == 0;

	if (m->looks_old > 0 && m->looks_old--)
		late = true;
	(void)filters;
	(void)e;
	(void)pthread_mutex_lock(&m->cloud->lock);
	for (size_t i = 0; i < m->cloud->n; i++) {
		bool in_use = *m->cloud->v[i].instance && !late;
		struct ec2_volume v = {
			.id = m->cloud->v[i].id,
			.zone = "z",
			.state = in_use ? "in-use" : "available",
			.instance = in_use ? arena_str(a, m->cloud->v[i].instance) : "",
			.device = in_use ? m->cloud->v[i].device : "",
			.attachment = in_use ? "attached" : "",
		};

		strmap_set(a, &v.tags, "KubernetesCluster", "c");
		strmap_set(a, &v.tags, "k8s.io/role/master", "1");
		strmap_set(a, &v.tags, arena_printf(a, "k8s.io/etcd/%s", m->cloud->v[i].etcd),
			   m->cloud->v[i].tag);
		arena_push(a, ret->v, ret->n, v);
	}
	(void)pthread_mutex_unlock(&m->cloud->lock);
	(void)sched_yield();
	return 0;
}

static int fault(int errnum, struct err *e)
{
	bool final = errnum == EINVAL;

	return err_fail(e,
			final             ? ERR_CONFIG
			: errnum == EBUSY ? ERR_BUSY
					  : ERR_NET,
			errnum, "fault %s", strerror(errnum));
}

static int on_attach(void *arg, const char *volume, const char *device, struct err *e)
{
	struct master *m = arg;
	int r = 0, bad = m->attach_faults && *m->attach_faults ? *m->attach_faults++ : 0;

	note(m, "attach", arena_printf(m->arena, "%s %s", volume, device));
	if (bad && bad < DONE)
		return fault(bad, e);
	(void)pthread_mutex_lock(&m->cloud->lock);
	for (size_t i = 0; i < m->cloud->n; i++) {
		if (strcmp(m->cloud->v[i].id, volume) != 0)
			continue;
		if (*m->cloud->v[i].instance) {
			r = err_fail(e, ERR_BUSY, EBUSY, "VolumeInUse");
			break;
		}
		(void)snprintf(m->cloud->v[i].instance, sizeof(m->cloud->v[i].instance), "%s",
			       m->id);
		m->cloud->v[i].device = device;
	}
	(void)pthread_mutex_unlock(&m->cloud->lock);
	return bad && r >= 0 ? fault(bad - DONE, e) : r;
}

static int on_detach(void *arg, const char *volume, struct err *e)
{
	struct master *m = arg;

	(void)e;
	note(m, "detach", volume);
	for (size_t i = 0; i < m->cloud->n; i++)
		if (strcmp(m->cloud->v[i].id, volume) == 0)
			m->cloud->v[i].instance[0] = '\0';
	return 0;
}

static bool on_is_used(void *arg, const char *device)
{
	(void)arg;
	(void)device;
	return false;
}

static const char *on_user(void *arg, const char *volume, const char *device)
{
	struct master *m = arg;

	note(m, "user", arena_printf(m->arena, "%s %s", volume, device));
	return m->user;
}

static int on_fit(void *arg, const struct volume_choice *c, struct err *e)
{
	struct master *m = arg;

	note(m, "fit", c->volume->id);
	if (m->absent > 0 && m->absent--)
		return err_fail(e, ERR_BUSY, EAGAIN, "no disk has it as its serial yet");
	if (str_eq(m->unfit, c->volume->id))
		return err_fail(e, ERR_REFUSED, 0, "not blank");
	return 0;
}

static void on_wait(void *arg, int64_t until_ns, const char *why, const struct err *last)
{
	struct master *m = arg;

	(void)last;
	if (!m->stale)
		note(m, "wait", why);
	if (m->grows)
		add(m->cloud, "vol-9", "main", "c/a,b,c");
	m->grows = false;
	m->now = until_ns > m->now ? until_ns : m->now + 1;
	(void)sched_yield();
}

static int64_t on_now(void *arg)
{
	struct master *m = arg;

	return m->now;
}

/* As another try of the same process: what it owns it has kept. */
static void take_again(struct master *m)
{
	const struct claim_host host = {
		.arg = m,
		.instance = on_instance,
		.volumes = on_volumes,
		.attach = on_attach,
		.detach = on_detach,
		.is_used = on_is_used,
		.user = on_user,
		.fit = on_fit,
		.wait = on_wait,
		.now = on_now,
	};
	struct claim_req req = {
		.cluster = "c", .wishes = both, .n = 2, .deadline_ns = m->deadline, .own = &m->own
	};

	m->r = claim_take(m->arena, &req, &host, m->choices, &m->e);
}

static void *take(void *arg)
{
	struct master *m = arg;

	m->own = (struct claim_own){ .arena = m->arena };
	take_again(m);
	return NULL;
}

static const char *owner(struct cloud *c, const char *id)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].id, id) == 0)
			return c->v[i].instance;
	fail_msg("there is no %s", id);
	return NULL;
}

struct fixture {
	struct cloud cloud;
	struct master m;
};

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	(void)pthread_mutex_init(&fx->cloud.lock, NULL);
	add(&fx->cloud, "vol-m", "main", "a/a");
	add(&fx->cloud, "vol-e", "events", "a/a");
	fx->m = (struct master){ .cloud = &fx->cloud, .id = "i-1", .now = 1 };
	fx->m.arena = arena_new_empty();
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	arena_free(fx->m.arena);
	(void)pthread_mutex_destroy(&fx->cloud.lock);
	free(fx);
	return 0;
}

static void must_take(struct fixture *fx)
{
	(void)take(&fx->m);
	if (fx->m.r < 0)
		fail_msg("%s", fx->m.e.msg);
}

static void test_main_before_events(void **state)
{
	struct fixture *fx = *state;

	must_take(fx);
	assert_string_equal(fx->m.log, "attach vol-m /dev/xvdu\nattach vol-e /dev/xvdv\n"
				       "fit vol-m\nfit vol-e\n");
	assert_string_equal(fx->m.choices[0].volume->id, "vol-m");
	assert_string_equal(fx->m.choices[1].member.me, "a");
}

static void test_what_is_here_costs_nothing(void **state)
{
	struct fixture *fx = *state;

	must_take(fx);
	fx->m.log[0] = '\0';
	must_take(fx);
	assert_string_equal(fx->m.log, "fit vol-m\nfit vol-e\n");
}

/* Each error that may pass is met by another try; a name that is taken by another name. */
static void test_faults_that_pass(void **state)
{
	static const struct {
		int faults[3];
		const char *log;
	} cases[] = {
		{ { EADDRINUSE },
		  "attach vol-m /dev/xvdu\nattach vol-m /dev/xvdv\nattach vol-e /dev/xvdw\n"
		  "fit vol-m\nfit vol-e\n" },
		{ { EAGAIN },
		  "attach vol-m /dev/xvdu\n"
		  "wait volume vol-m for etcd main: fault Resource temporarily unavailable\n"
		  "attach vol-m /dev/xvdu\nattach vol-e /dev/xvdv\nfit vol-m\nfit vol-e\n" },
		{ { ENOENT },
		  "attach vol-m /dev/xvdu\n"
		  "wait volume vol-m for etcd main: fault No such file or directory\n"
		  "attach vol-m /dev/xvdu\nattach vol-e /dev/xvdv\nfit vol-m\nfit vol-e\n" },
		{ { EACCES },
		  "attach vol-m /dev/xvdu\n"
		  "wait volume vol-m for etcd main: fault Permission denied\n"
		  "attach vol-m /dev/xvdu\nattach vol-e /dev/xvdv\nfit vol-m\nfit vol-e\n" },
		{ { EBUSY },
		  "attach vol-m /dev/xvdu\n"
		  "wait volume vol-m for etcd main: fault Device or resource busy\n"
		  "attach vol-m /dev/xvdu\nattach vol-e /dev/xvdv\nfit vol-m\nfit vol-e\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture *fx = *state;

		fx->cloud.v[0].instance[0] = fx->cloud.v[1].instance[0] = '\0';
		fx->m.log[0] = '\0';
		fx->m.attach_faults = cases[i].faults;
		must_take(fx);
		assert_string_equal(fx->m.log, cases[i].log);
	}
}

static void count(struct fixture *fx, const char *id, size_t want)
{
	size_t n = 0;

	for (size_t i = 0; i < fx->cloud.n; i++)
		n += strcmp(fx->cloud.v[i].instance, id) == 0;
	assert_int_equal(n, want);
}

/* It was attached though the answer got lost, and EC2 is late to say so: no second member is taken. */
static void test_an_unclear_answer(void **state)
{
	static const int faults[][2] = {
		{ ETIMEDOUT + DONE }, { EAGAIN + DONE },      { ECONNRESET + DONE },
		{ EPROTO + DONE },    { EKEYEXPIRED + DONE },
	};
	static const char *const ids[] = { "i-1", "i-2", "i-3", "i-4", "i-5", "i-6" };
	struct fixture *fx = *state;

	add(&fx->cloud, "vol-2", "main", "b/a,b");
	add(&fx->cloud, "vol-3", "events", "b/a,b");
	for (size_t i = 0; i < ARRAY_LEN(faults) * ARRAY_LEN(ids); i++)
		for (int old = 0; old < 8; old++) {
			/* what would be begun with depends on how many there are */
			fx->cloud.n = 4;
			for (size_t k = 0; k < fx->cloud.n; k++)
				fx->cloud.v[k].instance[0] = '\0';
			fx->m.log[0] = '\0';
			fx->m.id = ids[i % ARRAY_LEN(ids)];
			fx->m.attach_faults = faults[i / ARRAY_LEN(ids)];
			fx->m.looks_old = old;
			fx->m.grows = true;
			must_take(fx);
			count(fx, fx->m.id, 2);
			assert_null(strstr(fx->m.log, "detach"));
		}
}

/* A run before this one attached both and was killed; EC2 is late to say so. */
static void test_what_a_killed_run_attached(void **state)
{
	struct fixture *fx = *state;

	add(&fx->cloud, "vol-2", "main", "b/a,b");
	add(&fx->cloud, "vol-3", "events", "b/a,b");
	for (int old = 0; old < 8; old++) {
		must_take(fx);
		fx->m.log[0] = '\0';
		fx->m.looks_old = old;
		must_take(fx);
		count(fx, "i-1", 2);
	}
}

/* Who holds what EC2 says is free does not keep us from all others for ever. */
static void test_a_volume_that_stays_busy(void **state)
{
	static const int faults[] = { [0 ... 12] = EBUSY, 0 };
	struct fixture *fx = *state;

	fx->m.attach_faults = faults;
	fx->m.deadline = 600 * DUR_SEC;
	must_take(fx);
	assert_non_null(strstr(fx->m.log, "wait etcd main: vol-m: another master was faster\n"));
	count(fx, "i-1", 2);
}

/* It was ours all the while, and the lists were old for longer than anybody believes: no volume that we
 * have is forgotten, and with two members of one cluster none is kept. */
static void test_a_volume_that_was_ours(void **state)
{
	static const int faults[] = { EBUSY + DONE, 0 };
	struct fixture *fx = *state;
	bool refused = false;

	add(&fx->cloud, "vol-2", "main", "b/a,b");
	for (int old = 0; old < 80; old++) {
		for (size_t i = 0; i < fx->cloud.n; i++)
			fx->cloud.v[i].instance[0] = '\0';
		fx->m.log[0] = '\0';
		fx->m.attach_faults = faults;
		fx->m.looks_old = old;
		fx->m.deadline = fx->m.now + 600 * DUR_SEC;
		fx->m.e = (struct err){ 0 };
		(void)take(&fx->m);
		for (size_t i = 0; i < fx->cloud.n; i++)
			if (*fx->cloud.v[i].instance)
				assert_true(strv_has(&fx->m.own.ids, fx->cloud.v[i].id));
		if (fx->m.r >= 0)
			continue;
		refused = true;
		assert_int_equal(fx->m.e.kind, ERR_CONFIG);
		count(fx, "i-1", 0);
	}
	assert_true(refused);
}

/* Nothing is attached for a master that cannot have all of them. */
static void test_none_there(void **state)
{
	struct fixture *fx = *state;

	fx->cloud.n = 1;
	fx->m.deadline = 3 * DUR_SEC;
	(void)take(&fx->m);
	assert_int_equal(fx->m.e.kind, ERR_BUSY);
	assert_int_equal(fx->m.e.errnum, ENODEV);
	assert_null(strstr(fx->m.log, "attach"));
	count(fx, "i-1", 0);
}

/* What only people can mend, found when main is here already: main is given back. */
static void test_a_fault_after_main(void **state)
{
	static const int faults[] = { EAGAIN + DONE, EINVAL, 0 };
	struct fixture *fx = *state;

	fx->m.attach_faults = faults;
	(void)take(&fx->m);
	assert_int_equal(fx->m.e.kind, ERR_CONFIG);
	count(fx, "i-1", 0);
	assert_string_equal(fx->m.e.notes[0].label, "detached");
	assert_string_equal(fx->m.e.notes[0].text, "vol-m, which this run had attached");
	assert_int_equal(fx->m.own.ids.n, 0);
}

/* Tries that ended early or well, then one that finds a disk unfit: it gives back what any has attached. */
static void test_given_back_after_retries(void **state)
{
	static const int no_answer[] = { ETIMEDOUT + DONE, 0 };
	struct fixture *fx = *state;
	struct master *m = &fx->m;

	for (int i = 0; i < 8; i++) {
		const bool kept = i & 2; /* what was here before any of them */
		(void)strcpy(fx->cloud.v[0].instance, kept ? "i-1" : "");
		fx->cloud.v[0].device = "/dev/xvdf";
		m->log[0] = '\0';
		m->attach_faults = i & 4 ? no_answer : NULL;
		m->own = (struct claim_own){ .arena = m->arena };
		for (int k = 0; k < 3; k++) {
			m->absent = k < 2 && (i & 1) ? 1000 : 0;
			m->unfit = k < 2 ? NULL : "vol-e";
			m->deadline = m->now + 5 * DUR_SEC;
			take_again(m);
			assert_int_equal(m->r < 0, m->absent || m->unfit);
			count(fx, "i-1", k < 2 ? 2 : kept);
		}
		assert_int_equal(m->e.kind, ERR_REFUSED);
		assert_int_equal(!strstr(m->log, "detach vol-m\n"), kept);
		assert_int_equal(m->own.ids.n, 0);
	}
}

/* A unit of before has mounted it as soon as it was there. */
static void test_what_is_used_stays(void **state)
{
	struct fixture *fx = *state;

	fx->m.unfit = "vol-e";
	fx->m.user = "mounted on /x";
	(void)take(&fx->m);
	assert_int_equal(fx->m.e.kind, ERR_REFUSED);
	count(fx, "i-1", 2);
	assert_string_equal(fx->m.e.notes[0].text, "vol-m stays: mounted on /x");
	assert_non_null(strstr(fx->m.log, "user vol-m /dev/xvdu\nuser vol-e /dev/xvdv\n"));
	assert_null(strstr(fx->m.log, "detach"));
}

static void test_a_fault_that_stays(void **state)
{
	static const int faults[] = { EINVAL, 0 };
	struct fixture *fx = *state;

	fx->m.attach_faults = faults;
	(void)take(&fx->m);
	assert_true(fx->m.r < 0);
	assert_int_equal(fx->m.e.kind, ERR_CONFIG);
	assert_string_equal(fx->m.log, "attach vol-m /dev/xvdu\n");
	assert_string_equal(fx->m.e.notes[0].text, "no volume was attached, nothing was written");
}

/* At the deadline the last error counts; without one it is a matter of time. */
static void test_deadline(void **state)
{
	static const int faults[64] = { [0 ... 62] = EACCES };
	struct fixture *fx = *state;

	fx->m.deadline = 3 * DUR_SEC;
	fx->m.attach_faults = faults;
	(void)take(&fx->m);
	assert_true(fx->m.r < 0);
	assert_int_equal(fx->m.e.kind, ERR_NET);
	assert_int_equal(fx->m.e.errnum, EACCES);
	fx->m.attach_faults = NULL;
	fx->m.now = 1;
	(void)snprintf(fx->cloud.v[0].instance, 16, "i-9");
	(void)take(&fx->m);
	assert_true(fx->m.r < 0);
	assert_int_equal(fx->m.e.kind, ERR_BUSY);
	assert_string_equal(fx->m.e.msg, "etcd main: vol-m is attached to i-9");
	/* the last question is cut off by the deadline itself */
	fx->m.now = 1;
	fx->m.cut_off = true;
	(void)take(&fx->m);
	assert_int_equal(fx->m.e.kind, ERR_BUSY);
	assert_string_equal(fx->m.e.msg, "etcd main: vol-m is attached to i-9");
	/* who has no main holds no events */
	assert_string_equal(owner(&fx->cloud, "vol-e"), "");
}

static void test_a_disk_that_comes_late(void **state)
{
	struct fixture *fx = *state;

	fx->m.absent = 1;
	must_take(fx);
	assert_non_null(strstr(fx->m.log,
			       "fit vol-m\nfit vol-e\nwait etcd main: vol-m: no disk has "
			       "it as its serial yet\nfit vol-m\nfit vol-e\n"));
}

static void test_all_or_none(void **state)
{
	struct fixture *fx = *state;

	fx->m.unfit = "vol-e";
	(void)take(&fx->m);
	assert_true(fx->m.r < 0);
	assert_int_equal(fx->m.e.kind, ERR_REFUSED);
	assert_string_equal(fx->m.e.msg, "not blank");
	assert_string_equal(owner(&fx->cloud, "vol-m"), "");
	assert_string_equal(owner(&fx->cloud, "vol-e"), "");
	assert_string_equal(fx->m.e.notes[0].text, "vol-m, which this run had attached");
	assert_string_equal(fx->m.e.notes[1].text, "vol-e, which this run had attached");
	assert_string_equal(fx->m.e.notes[2].text, "nothing was written to any volume");
}

static void test_only_own_ones_are_detached(void **state)
{
	struct fixture *fx = *state;

	(void)snprintf(fx->cloud.v[0].instance, 16, "i-1");
	fx->cloud.v[0].device = "/dev/xvdu";
	fx->m.unfit = "vol-e";
	(void)take(&fx->m);
	assert_true(fx->m.r < 0);
	assert_string_equal(owner(&fx->cloud, "vol-m"), "i-1");
	assert_string_equal(owner(&fx->cloud, "vol-e"), "");
	assert_null(strstr(fx->m.log, "detach vol-m"));
}

/* Two masters at once, each with a thread. */
static void race(struct cloud *c, struct master m[static 2], unsigned int round)
{
	pthread_t threads[2];

	for (size_t i = 0; i < 2; i++) {
		m[i] = (struct master){ .cloud = c,
					.id = i ? "i-2" : "i-1",
					.arena = arena_new_empty(),
					.now = 1,
					.deadline = 600 * DUR_SEC,
					.dice = round * 2 + (unsigned int)i,
					.stale = true };
		assert_int_equal(pthread_create(&threads[i], NULL, take, &m[i]), 0);
	}
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Members a, b, c of main and of events: each of two masters gets one of each, the same one. */
static void test_races(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < RACES; round++) {
		struct cloud c = { .lock = PTHREAD_MUTEX_INITIALIZER };
		struct master m[2];
		size_t attached = 0;

		add(&c, "vol-1", "main", "a/a,b,c");
		add(&c, "vol-2", "main", "b/a,b,c");
		add(&c, "vol-3", "main", "c/a,b,c");
		add(&c, "vol-4", "events", "a/a,b,c");
		add(&c, "vol-5", "events", "b/a,b,c");
		add(&c, "vol-6", "events", "c/a,b,c");
		race(&c, m, round);
		for (size_t i = 0; i < 2; i++) {
			if (m[i].r < 0)
				fail_msg("round %u: %s", round, m[i].e.msg);
			for (size_t k = 0; k < 2; k++)
				assert_string_equal(owner(&c, m[i].choices[k].volume->id), m[i].id);
			assert_null(strstr(m[i].log, "detach"));
			arena_free(m[i].arena);
		}
		for (size_t i = 0; i < c.n; i++)
			attached += *c.v[i].instance != '\0';
		assert_int_equal(attached, 4);
	}
}

/* Three volumes: whoever has no main volume does not keep an events volume from the other. */
static void test_races_for_too_few(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < RACES; round++) {
		struct cloud c = { .lock = PTHREAD_MUTEX_INITIALIZER };
		struct master m[2];
		size_t winner;

		add(&c, "vol-1", "main", "a/a,b");
		add(&c, "vol-4", "events", "a/a,b");
		add(&c, "vol-5", "events", "b/a,b");
		race(&c, m, round);
		winner = m[0].r == 0 ? 0 : 1;
		assert_int_equal(m[winner].r, 0);
		assert_int_equal(m[!winner].e.kind, ERR_BUSY);
		assert_string_equal(owner(&c, "vol-1"), m[winner].id);
		assert_string_equal(owner(&c, m[winner].choices[1].volume->id), m[winner].id);
		for (size_t i = 0; i < c.n; i++)
			assert_string_not_equal(c.v[i].instance, m[!winner].id);
		arena_free(m[0].arena);
		arena_free(m[1].arena);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_main_before_events),
		T(test_what_is_here_costs_nothing),
		T(test_faults_that_pass),
		T(test_an_unclear_answer),
		T(test_what_a_killed_run_attached),
		T(test_a_volume_that_stays_busy),
		T(test_a_volume_that_was_ours),
		T(test_none_there),
		T(test_a_fault_after_main),
		T(test_given_back_after_retries),
		T(test_what_is_used_stays),
		T(test_a_fault_that_stays),
		T(test_deadline),
		T(test_a_disk_that_comes_late),
		T(test_all_or_none),
		T(test_only_own_ones_are_detached),
		T(test_races),
		T(test_races_for_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
