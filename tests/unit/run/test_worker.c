/* When the owner of a pool is told of what is done. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/run/worker.h"

enum { BRIEF = 100, FOR_EVER_MS = 60 * 1000 };

static struct workers *workers;
static sem_t gate;
static atomic_size_t n_begun;

/* glibc's own */
extern long __sysconf(int name);

/* The machine has one processor, so that a pool has no more threads than it must. A sanitizer asks before it is
 * ready itself. */
__attribute__((no_sanitize("thread", "address"))) long sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN ? 1 : __sysconf(name);
}

static int set_up(void **state)
{
	struct err e;

	(void)state;
	atomic_store(&n_begun, 0);
	return sem_init(&gate, 0, 0) < 0 || workers_new(&workers, &e) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	workers_free(workers);
	return sem_destroy(&gate);
}

static void wait_at_gate(struct worker_job *job)
{
	(void)job;
	atomic_fetch_add(&n_begun, 1);
	(void)sem_wait(&gate);
}

static void do_nothing(struct worker_job *job)
{
	(void)job;
}

static bool is_told(int wait_ms)
{
	struct pollfd fd = { .fd = workers_fd(workers), .events = POLLIN };

	return poll(&fd, 1, wait_ms) == 1;
}

/* All threads are at work. */
static size_t fill(struct worker_job *jobs, size_t n)
{
	size_t begun = 0;

	for (size_t i = 0; i < n; i++) {
		jobs[i] = (struct worker_job){ .run = wait_at_gate };
		workers_push(workers, &jobs[i]);
	}
	/* until no more of them begin */
	do {
		begun = atomic_load(&n_begun);
		assert_false(is_told(100));
	} while (begun != atomic_load(&n_begun));
	return begun;
}

/* What is done is told before a job begins that may take long, and not only when that is done. */
static void brief_jobs_do_not_wait_for_long_ones(void **state)
{
	/* a thread still writes in a job that it let pass when this function is left, until the pool is freed */
	static struct worker_job long_jobs[32], brief[BRIEF], last;
	size_t n_long = ARRAY_LEN(long_jobs), n = 0;
	const struct worker_job *job;
	size_t begun;

	(void)state;
	begun = fill(long_jobs, n_long);
	assert_true(begun < n_long);
	for (size_t i = 0; i < BRIEF; i++) {
		brief[i] = (struct worker_job){ .run = do_nothing, .brief = true };
		workers_push(workers, &brief[i]);
	}
	last = (struct worker_job){ .run = wait_at_gate };
	workers_push(workers, &last);
	/* one thread comes to the brief ones, and to the last, which nobody lets pass */
	for (size_t i = 0; i < n_long - begun + 1; i++)
		(void)sem_post(&gate);
	while (n < BRIEF) {
		assert_true(is_told(FOR_EVER_MS));
		workers_drain(workers);
		while ((job = workers_take(workers)))
			n += job->run == do_nothing;
	}
	for (size_t i = 0; i < begun; i++)
		(void)sem_post(&gate);
}

/* Nor for one that takes longer than it said. */
static void brief_jobs_do_not_wait_for_the_last_one(void **state)
{
	static struct worker_job long_jobs[32], brief, last;
	const size_t begun = fill(long_jobs, ARRAY_LEN(long_jobs));
	bool told;

	(void)state;
	/* each thread has one job, and no other waits */
	for (size_t i = begun; i < ARRAY_LEN(long_jobs); i++)
		(void)sem_post(&gate);
	while (atomic_load(&n_begun) < ARRAY_LEN(long_jobs) || is_told(100)) {
		workers_drain(workers);
		while (workers_take(workers))
			continue;
	}
	brief = (struct worker_job){ .run = do_nothing, .brief = true };
	workers_push(workers, &brief);
	last = (struct worker_job){ .run = wait_at_gate, .brief = true };
	workers_push(workers, &last);
	/* one thread ends its job, does the brief one, and stays in the last */
	(void)sem_post(&gate);
	told = is_told(FOR_EVER_MS);
	for (size_t i = 0; i < begun; i++)
		(void)sem_post(&gate);
	assert_true(told);
}

/* The last of them tells of all, whoever has it. */
static void the_last_of_brief_jobs_tells(void **state)
{
	struct worker_job brief[BRIEF];
	size_t n = 0;

	(void)state;
	for (int round = 0; round < BRIEF; round++) {
		for (size_t i = 0; i < BRIEF; i++) {
			brief[i] = (struct worker_job){ .run = do_nothing, .brief = true };
			workers_push(workers, &brief[i]);
		}
		for (n = 0; n < BRIEF;) {
			assert_true(is_told(FOR_EVER_MS));
			workers_drain(workers);
			while (workers_take(workers))
				n++;
		}
	}
}

/* A node has two archives in its cache, and files that are not to wait for them. */
static void two_long_jobs_leave_a_thread(void **state)
{
	static struct worker_job long_jobs[2], brief;
	bool told;

	(void)state;
	(void)fill(long_jobs, ARRAY_LEN(long_jobs));
	brief = (struct worker_job){ .run = do_nothing, .brief = true };
	workers_push(workers, &brief);
	told = is_told(1000);
	for (size_t i = 0; i < ARRAY_LEN(long_jobs); i++)
		(void)sem_post(&gate);
	assert_true(told);
	assert_ptr_equal(workers_take(workers), &brief);
}

#define working(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		working(brief_jobs_do_not_wait_for_long_ones),
		working(brief_jobs_do_not_wait_for_the_last_one),
		working(the_last_of_brief_jobs_tells),
		working(two_long_jobs_leave_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
