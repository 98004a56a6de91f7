/* race_probe - masters that ask EC2 for etcd's volumes at the same time, again and again
 *
 *   race_probe CLUSTER ROUNDS ETCD,ETCD... INSTANCE...
 *
 * ETCD: "main" or "events", each wants one volume of each. Each has a thread and a client of its own, with
 * the key and the endpoint of the environment. Says "ROUND INSTANCE VOLUME VOLUME..." or "ROUND INSTANCE
 * KIND message"; what was attached is detached after each round. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/etcd/claim.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"

/* a master does not sleep longer than this between two looks, whatever it would do otherwise */
#define PAUSE_NS (20 * DUR_MS)
#define ROUND_NS (120 * DUR_SEC)

struct race {
	const char *cluster;
	struct volume_wish *wishes;
	size_t n;
	long rounds;
	pthread_barrier_t together;
};

struct master {
	struct race *race;
	const char *id;
	struct query *ec2;
	pthread_t thread;
};

static int on_instance(void *arg, struct arena *a, struct ec2_instance *ret, struct err *e)
{
	struct master *m = arg;

	return ec2_describe_instance(m->ec2, a, m->id, ret, e);
}

static int on_volumes(void *arg, struct arena *a, const struct ec2_filters *filters,
		      struct ec2_volumes *ret, struct err *e)
{
	struct master *m = arg;

	return ec2_describe_volumes(m->ec2, a, filters, ret, e);
}

static int on_attach(void *arg, const char *volume, const char *device, struct err *e)
{
	struct master *m = arg;

	return ec2_attach(m->ec2, volume, m->id, device, e);
}

static int on_detach(void *arg, const char *volume, struct err *e)
{
	struct master *m = arg;

	return ec2_detach(m->ec2, volume, m->id, e);
}

static bool on_is_used(void *arg, const char *device)
{
	(void)arg;
	(void)device;
	return false;
}

static const char *on_user(void *arg, const char *volume, const char *device)
{
	(void)arg;
	(void)volume;
	(void)device;
	return NULL;
}

static int on_fit(void *arg, const struct volume_choice *c, struct err *e)
{
	(void)arg;
	(void)c;
	(void)e;
	return 0;
}

static void on_wait(void *arg, int64_t until_ns, const char *why, const struct err *last)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	(void)arg;
	(void)until_ns;
	(void)why;
	(void)last;
	(void)nanosleep(&pause, NULL);
}

static int64_t on_now(void *arg)
{
	(void)arg;
	return dur_now();
}

static void one_round(struct master *m, long round)
{
	autoarena struct arena *a = arena_new_empty();
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
	struct claim_own own = { .arena = a };
	const struct claim_req req = {
		.cluster = m->race->cluster,
		.wishes = m->race->wishes,
		.n = m->race->n,
		.deadline_ns = dur_now() + ROUND_NS,
		.own = &own,
	};
	struct volume_choice *choices = arena_alloc(a, req.n * sizeof(*choices));
	const char *got = "";
	struct err e = { 0 };
	int r;

	(void)pthread_barrier_wait(&m->race->together);
	r = claim_take(a, &req, &host, choices, &e);
	for (size_t i = 0; i < req.n && r >= 0; i++)
		got = arena_printf(a, "%s %s", got, choices[i].volume->id);
	if (r < 0)
		printf("%ld %s %s %s\n", round, m->id, err_kind_name(e.kind), e.msg);
	else
		printf("%ld %s%s\n", round, m->id, got);
	(void)pthread_barrier_wait(&m->race->together);
	for (size_t i = 0; i < own.ids.n; i++)
		if (ec2_detach(m->ec2, own.ids.v[i], m->id, &e) < 0)
			printf("%ld %s not detached %s\n", round, m->id, e.msg);
}

static void *run(void *arg)
{
	struct master *m = arg;

	for (long i = 0; i < m->race->rounds; i++)
		one_round(m, i);
	return NULL;
}

static int start(struct master *m, int root_fd, struct err *e)
{
	const struct http_opts opts = { .root_fd = root_fd };
	struct http *http;
	int r = http_new(&opts, &http, e);

	if (r < 0)
		return r;
	m->ec2 = ec2_new(&(struct query_req){ .http = http });
	return pthread_create(&m->thread, NULL, run, m) == 0
		       ? 0
		       : err_fail(e, ERR_SYSTEM, EAGAIN, "no thread");
}

static void wish(struct race *race, struct arena *a, char *names)
{
	for (char *name = strsep(&names, ","); name; name = strsep(&names, ","))
		arena_push(a, race->wishes, race->n,
			   (struct volume_wish){ .by = VOLUME_BY_ETCD,
						 .what = arena_printf(a, "etcd %s", name),
						 .key = name });
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct race race = { .cluster = argc > 1 ? argv[1] : "" };
	struct master *masters;
	size_t n = argc > 4 ? (size_t)argc - 4 : 0;
	struct err e = { 0 };
	int root_fd, r;

	if (n == 0)
		return 64;
	race.rounds = strtol(argv[2], NULL, 10);
	wish(&race, a, argv[3]);
	masters = xcalloc(n, sizeof(*masters));
	(void)pthread_barrier_init(&race.together, NULL, (unsigned int)n);
	r = io_open_root("/", &root_fd, &e);
	for (size_t i = 0; i < n && r >= 0; i++) {
		masters[i] = (struct master){ .race = &race, .id = argv[i + 4] };
		r = start(&masters[i], root_fd, &e);
	}
	if (r < 0) {
		printf("%s\n", e.msg);
		return 71;
	}
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(masters[i].thread, NULL);
	return 0;
}
