#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/unpack/extract.h"
#include "assets/unpack/watch.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/tar.h"

/* more than the pipe to the child holds */
enum { FILE_BYTES = 3 * 1024 * 1024, QUICK_MS = 10 };

static const struct extract_limits limits = { 10, 1 << 24, NULL };

struct place {
	struct arena *a;
	int fd; /* of the member that is taken */
	struct extract_take take;
	struct buf archive;
	struct extract *x;
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));
	autofree char *data = xcalloc(1, FILE_BYTES + 1);
	struct err e;

	p->a = arena_new_empty();
	p->fd = memfd_create("member", MFD_CLOEXEC);
	p->take = (struct extract_take){ .member = "a", .fd = p->fd };
	p->archive = (struct buf)TAR_BUF;
	memset(data, 'x', FILE_BYTES);
	tar_add(&p->archive, &(struct tar_entry){ .name = "a", .type = '0', .data = data });
	tar_end(&p->archive);
	if (extract_take_start(p->a, -1, "a.tar", &limits, &p->take, 1, &p->x, &e) < 0)
		fail_msg("%s", e.msg);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	extract_abort(p->x);
	buf_done(&p->archive);
	(void)close(p->fd);
	arena_free(p->a);
	free(p);
	return 0;
}

static void stop(const struct place *p)
{
	int status;

	assert_int_equal(kill(extract_pid(p->x), SIGSTOP), 0);
	assert_int_equal(waitpid(extract_pid(p->x), &status, WUNTRACED), extract_pid(p->x));
	assert_true(WIFSTOPPED(status));
}

static void must_be_given_up(int r, const struct err *e, pid_t pid)
{
	autofree char *says = xasprintf("archive 'a.tar': the unpacker, process %d in state T, did "
					"nothing for 60 s: killed",
					(int)pid);

	assert_true(r < 0);
	assert_int_equal(e->kind, ERR_SYSTEM);
	assert_int_equal(e->errnum, ETIMEDOUT);
	assert_string_equal(e->msg, says);
	assert_true(err_is_transient(e));
	/* it is no more, or on a slow machine not any longer than until it is run */
	assert_true(waitpid(pid, NULL, 0) == pid || errno == ECHILD);
}

static void test_stopped_while_it_is_fed(void **state)
{
	struct place *p = *state;
	const pid_t pid = extract_pid(p->x);
	struct err e;
	int r;

	stop(p);
	extract_set_sample_ms(p->x, QUICK_MS);
	r = extract_feed(
		p->x, &(struct extract_piece){ buf_str(&p->archive), p->archive.len, -1, 0 }, &e);
	must_be_given_up(r, &e, pid);
	/* whoever goes on all the same is told */
	assert_true(extract_feed(p->x, &(struct extract_piece){ "x", 1, -1, 0 }, &e) < 0);
	assert_non_null(strstr(e.msg, "ended before its archive"));
}

/* Give all of it at once, and see it unpacked. */
static void must_unpack(struct place *p, const void *bytes, int fd)
{
	const struct extract_piece piece = { bytes, p->archive.len, fd, 0 };
	struct stat st;
	struct err e;

	if (extract_feed(p->x, &piece, &e) < 0 || extract_finish(TAKE(p->x), &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(fstat(p->fd, &st), 0);
	assert_int_equal(st.st_size, FILE_BYTES);
}

/* The bytes beside are garbage: only the file has the archive. */
static void test_pages_of_a_file(void **state)
{
	struct place *p = *state;
	autoclose int fd = memfd_create("archive", MFD_CLOEXEC);
	autofree char *garbage = xcalloc(1, p->archive.len);

	memset(garbage, '?', p->archive.len);
	assert_int_equal(write(fd, p->archive.data, p->archive.len), p->archive.len);
	must_unpack(p, garbage, fd);
}

/* What cannot give its pages has the bytes themselves given. */
static void test_file_without_pages(void **state)
{
	struct place *p = *state;
	autoclose int fd = eventfd(0, EFD_CLOEXEC);

	must_unpack(p, p->archive.data, fd);
}

static void test_stopped_at_the_end(void **state)
{
	struct place *p = *state;
	const pid_t pid = extract_pid(p->x);
	struct err e;
	int r;

	stop(p);
	extract_set_sample_ms(p->x, QUICK_MS);
	r = extract_finish(TAKE(p->x), &e);
	must_be_given_up(r, &e, pid);
}

/* However long it may take otherwise. */
static void test_stopped_past_the_deadline(void **state)
{
	struct place *p = *state;
	const pid_t pid = extract_pid(p->x);
	const int64_t begun = dur_now();
	struct err e;

	stop(p);
	extract_watch_until(begun + 300 * DUR_MS);
	extract_set_sample_ms(p->x, 100);
	assert_true(extract_finish(TAKE(p->x), &e) < 0);
	extract_watch_until(0);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, "deadline passed: the unpacker, process "));
	assert_true(dur_now() - begun >= 300 * DUR_MS && dur_now() - begun < 5 * DUR_SEC);
	assert_true(waitpid(pid, NULL, 0) == pid || errno == ECHILD);
}

static void test_stopped_and_given_up(void **state)
{
	struct place *p = *state;
	const pid_t pid = extract_pid(p->x);

	stop(p);
	extract_abort(TAKE(p->x));
	assert_true(waitpid(pid, NULL, 0) == pid || errno == ECHILD);
}

static void *let_it_go_on(void *arg)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000 * 1000 };

	(void)nanosleep(&nap, NULL);
	(void)kill(*(pid_t *)arg, SIGCONT);
	return NULL;
}

/* Who goes on in time has lost nothing. */
static void test_stopped_for_a_while(void **state)
{
	struct place *p = *state;
	pid_t pid = extract_pid(p->x);
	pthread_t thread;
	struct stat st;
	struct err e;

	stop(p);
	assert_int_equal(pthread_create(&thread, NULL, let_it_go_on, &pid), 0);
	if (extract_feed(p->x,
			 &(struct extract_piece){ buf_str(&p->archive), p->archive.len, -1, 0 },
			 &e) < 0 ||
	    extract_finish(TAKE(p->x), &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(fstat(p->fd, &st), 0);
	assert_int_equal(st.st_size, FILE_BYTES);
}

/* It is not asked for bytes, but whether it does anything at all: this one is busy for more looks than an
 * idle one gets. */
static void test_work_is_enough(void **state)
{
	struct extract_watch w;
	int child, status;

	(void)state;
	assert_int_equal(extract_watch_make(&w, &child), 0);
	w.sample_ms = 40;
	w.child.pid = fork();
	if (w.child.pid == 0) {
		struct timespec used = { 0 };

		while (used.tv_sec < 3)
			(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		_exit(7);
	}
	(void)close(child);
	assert_true(extract_watch_reap(&w, &status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(w.child.pid, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stopped_while_it_is_fed),   TEST(test_stopped_at_the_end),
		TEST(test_stopped_past_the_deadline), TEST(test_stopped_and_given_up),
		TEST(test_stopped_for_a_while),       TEST(test_pages_of_a_file),
		TEST(test_file_without_pages),        cmocka_unit_test(test_work_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
