#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "assets/cache/entry.h"
#include "assets/fetch/job.h"
#include "nodeup/base/dur.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/fetch_box.h"

/* Another who writes the part of the same object, and who publishes it just when the fetcher, which
 * found no entry and has opened the part, asks for its lock. */
static struct other {
	struct cache_entry *entry;
	const char
		*_Atomic publishes; /* "before" or "after" the lock is asked for; NULL: is done */
} other;

static bool publishes(const char *when)
{
	const char *now = other.publishes;

	return now && strcmp(now, when) == 0;
}

static void publish(void)
{
	struct err e;

	other.publishes = NULL; /* publishing takes a lock, too */
	assert_int_equal(cache_commit(TAKE(other.entry), &e), 0);
}

/* In front of the C library's. */
int flock(int fd, int operation)
{
	const bool part = operation == (LOCK_EX | LOCK_NB);
	int r;

	if (part && publishes("before"))
		publish();
	r = (int)syscall(SYS_flock, fd, operation);
	if (part && publishes("after")) {
		const int errnum = errno;

		assert_int_equal(r, -1);
		publish();
		errno = errnum;
	}
	return r;
}

/* All of the object is in the part, and its writer is alive. */
static void begin_other(struct box *x)
{
	autofree unsigned char *body = origin_body(SIZE);
	struct err e;

	assert_int_equal(cache_resume(x->cache, &x->right, NULL, &other.entry, &e), 0);
	assert_int_equal(cache_write(other.entry, body, SIZE, &e), 0);
	assert_false(cache_has(x->cache, &x->right));
}

static bool is_empty(struct box *x, const char *folder)
{
	autodir DIR *dir =
		fdopendir(openat(x->root_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int n = -2; /* . and .. */

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	return n == 0;
}

static void nothing_is_fetched(struct box *x, const char *publishes, const char *path)
{
	struct asset as = box_asset_at(x, path, NULL);
	char name[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct stat st;
	struct err e;

	begin_other(x);
	other.publishes = publishes;
	box_must_succeed(x, &as);
	assert_null(other.publishes);
	assert_int_equal(box_count_of(x, path), 0);
	/* not cut, and the right bytes */
	assert_int_equal(fstatat(x->root_fd,
				 arena_printf(x->a, "cache/%s", cache_entry_name(&x->right, name)),
				 &st, 0),
			 0);
	assert_int_equal(st.st_size, SIZE);
	assert_int_equal(cache_open(x->cache, &x->right, &fd, &e), 0);
	assert_true(is_empty(x, "cache/partial"));
	assert_true(is_empty(x, "cache/tmp"));
}

/* The lock is had, but of what has become the entry. */
static void test_published_between_open_and_lock(void **state)
{
	nothing_is_fetched(*state, "before", "/before/kubelet");
}

/* The lock is not had, and there is an entry by the time that something else is begun. */
static void test_published_after_the_lock_was_refused(void **state)
{
	nothing_is_fetched(*state, "after", "/after/kubelet");
}

static struct fetch_status until_held(struct box *x, const struct asset *as)
{
	const struct timespec nap = { .tv_nsec = 1000 * 1000 };
	const int64_t end = dur_now() + 60 * DUR_SEC;
	struct fetch_status st = { .other = "" };

	while (!st.other[0]) {
		assert_true(fetch_status(x->f, as, &st));
		assert_true(dur_now() < end);
		(void)nanosleep(&nap, NULL);
	}
	return st;
}

/* Who has the part gets no byte any more: that is not waited for without an end. */
static void test_the_other_stands_still(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/beside/kubelet", NULL);
	struct fetch_opts opts = { .stuck_ns = 2 * DUR_SEC };
	struct fetch_status st;
	struct verdict v = VERDICT_INIT;
	struct err e;

	fetch_tune(x->f, &opts);
	assert_int_equal(cache_resume(x->cache, &x->right, NULL, &other.entry, &e), 0);
	assert_int_equal(cache_write(other.entry, "123", 3, &e), 0);
	fetch_start(x->f, &as, box_on_done, &v);
	st = until_held(x, &as);
	assert_string_equal(st.other, arena_printf(x->a, "process %d (%.15s)", (int)getpid(),
						   program_invocation_short_name));
	assert_int_equal(st.bytes, 3);
	assert_true(st.since_ns > 0);
	assert_int_equal(st.attempt, 0);
	box_wait_calls(&v, 1);
	assert_int_equal(v.r, 0);
	assert_int_equal(box_sent_of(x, "/beside/kubelet"), SIZE);
	cache_abort(TAKE(other.entry));
	assert_true(cache_has(x->cache, &as.digest));
}

/* Or hardly any. */
static void test_the_other_trickles(void **state)
{
	const struct timespec nap = { .tv_nsec = 20 * 1000 * 1000 };
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/trickle/kubelet", NULL);
	struct fetch_opts opts = { .stuck_ns = 2 * DUR_SEC };
	struct verdict v = VERDICT_INIT;
	bool done = false;
	struct err e;

	fetch_tune(x->f, &opts);
	assert_int_equal(cache_resume(x->cache, &x->right, NULL, &other.entry, &e), 0);
	fetch_start(x->f, &as, box_on_done, &v);
	while (!done) {
		assert_int_equal(cache_write(other.entry, "x", 1, &e), 0);
		(void)nanosleep(&nap, NULL);
		(void)pthread_mutex_lock(&v.lock);
		done = v.calls > 0;
		(void)pthread_mutex_unlock(&v.lock);
	}
	assert_int_equal(v.r, 0);
	assert_int_equal(box_sent_of(x, "/trickle/kubelet"), SIZE);
	cache_abort(TAKE(other.entry));
}

/* Nobody wants it any more while another has it. */
static void test_cancelled_while_another_has_it(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/waits/kubelet", NULL);
	struct verdict v = VERDICT_INIT;
	struct err e;

	assert_int_equal(cache_resume(x->cache, &x->right, NULL, &other.entry, &e), 0);
	fetch_start(x->f, &as, box_on_done, &v);
	(void)until_held(x, &as);
	fetch_cancel(x->f, &as);
	box_wait_calls(&v, 1);
	assert_int_equal(v.r, -ECANCELED);
	fetch_free(TAKE(x->f));
	assert_int_equal(box_count_of(x, "/waits/kubelet"), 0);
	cache_abort(TAKE(other.entry));
}

/* Somebody comes with mirrors of its own while a commit, which has found wrong bytes, is about to read
 * what the mirrors are called. */
static struct {
	struct box *x;
	struct asset late, gone;
	struct verdict v_late, v_gone;
	_Atomic bool armed;
	bool exclusive;
	size_t before, after; /* mirrors */
} late = { .v_late = VERDICT_INIT, .v_gone = VERDICT_INIT };

/* On a worker's thread, where nothing can be asserted. */
static void come_late(void)
{
	struct box *x = late.x;
	struct fetch_job *j = x->f->jobs;

	late.exclusive = j->errand == FETCH_OWNS;
	late.before = j->nmirrors;
	fetch_start(x->f, &late.late, box_on_done, &late.v_late);
	fetch_start(x->f, &late.gone, box_on_done, &late.v_gone);
	/* has the net thread look at the job */
	fetch_cancel(x->f, &late.gone);
	box_wait_calls(&late.v_gone, 1);
	(void)pthread_mutex_lock(&x->f->lock);
	while (x->f->pending > 1)
		(void)pthread_cond_wait(&x->f->changed, &x->f->lock);
	late.after = j->nmirrors;
	(void)pthread_mutex_unlock(&x->f->lock);
}

/* In front of the C library's: the wrong bytes are removed. */
int unlinkat(int dir, const char *name, int flags)
{
	if (late.armed && strncmp(name, "partial/", 8) == 0 && !strstr(name, ".from")) {
		late.armed = false;
		come_late();
	}
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

static void test_mirrors_that_come_with_a_verdict(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/liar/kubelet?wrong", NULL);
	struct verdict v = VERDICT_INIT;

	late.x = x;
	late.late = box_asset_at(x, "/late/kubelet", NULL);
	late.gone = box_asset_at(x, "/gone/kubelet", NULL);
	late.armed = true;
	fetch_start(x->f, &as, box_on_done, &v);
	box_wait_calls(&v, 1);
	box_wait_calls(&late.v_late, 1);
	assert_false(late.armed);
	assert_true(late.exclusive);
	assert_int_equal(late.before, 1);
	assert_int_equal(late.after, 1);
	assert_int_equal(late.v_gone.r, -ECANCELED);
	/* what came late is not lost */
	assert_int_equal(v.r, 0);
	assert_int_equal(late.v_late.r, 0);
	assert_int_equal(box_count_of(x, "/liar/kubelet"), 1);
	assert_int_equal(box_count_of(x, "/late/kubelet"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)
	const struct CMUnitTest tests[] = {
		T(test_published_between_open_and_lock),
		T(test_published_after_the_lock_was_refused),
		T(test_the_other_stands_still),
		T(test_the_other_trickles),
		T(test_cancelled_while_another_has_it),
		T(test_mirrors_that_come_with_a_verdict),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
