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
#include "assets/cache_entry.h"
#include "tests/unit/fetch_box.h"

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

	assert_int_equal(cache_resume(x->cache, &x->right, &other.entry, &e), 0);
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

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)
	const struct CMUnitTest tests[] = {
		T(test_published_between_open_and_lock),
		T(test_published_after_the_lock_was_refused),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
