#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "assets/unpack/confine.h"
#include "assets/unpack/extract.h"
#include "nodeup/base/mem.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/tar.h"

enum { NONE = -1 };

/* A directory that a confined process has open. */
struct place {
	char dir[64];
	int fd;
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));
	autofree char *tree = NULL;

	tmp_make(p->dir);
	tmp_write(p->dir, "tree/there", "x", 1);
	tree = xasprintf("%s/tree", p->dir);
	p->fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	(void)close(p->fd);
	tmp_remove(p->dir);
	free(p);
	return 0;
}

/* What `act` ends with in a child, which does nothing else. */
static int in_child(struct place *p, int (*act)(const struct place *p))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(act(p));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

/* A line of a status file that was opened before we were confined; its value, or NONE. */
static long long status_of(int fd, const char *key, int base)
{
	char text[4096] = { 0 };
	const char *at;

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return NONE;
	at = strstr(text, key);
	return at ? (long long)strtoull(at + strlen(key), NULL, base) : NONE;
}

static int check_privileges(const struct place *p)
{
	static const char *const sets[] = { "CapInh:\t", "CapPrm:\t", "CapEff:\t", "CapBnd:\t",
					    "CapAmb:\t" };
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	bool root = geteuid() == 0;
	struct err e;

	if (fd < 0 || confine_privileges(1 << 20, &e) < 0)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		if ((root || i != 3) && status_of(fd, sets[i], 16) != 0)
			return 10 + (int)i;
	if (status_of(fd, "NoNewPrivs:\t", 10) != 1)
		return 2;
	/* nobody else's, whatever runs here */
	if (root && (getuid() != CONFINE_UIDS + (uid_t)getpid() || geteuid() != getuid() ||
		     getgid() != getuid() || getgroups(0, NULL) != 0))
		return 3;
	/* nothing is to be seen, and nothing can be made */
	if (root && (access("/etc/passwd", F_OK) == 0 || mkdir("/dir", 0700) == 0 ||
		     mkdirat(p->fd, "dir", 0700) == 0))
		return 4;
	if (setuid(0) == 0 && root)
		return 5;
	return fork() < 0 || !root ? 0 : 6;
}

static void test_privileges(void **state)
{
	assert_int_equal(in_child(*state, check_privileges), 0);
}

static int check_files(const struct place *p)
{
	struct err e;

	if (syscall(444, NULL, 0, 1) < 1)
		return 77;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || confine_files(&e) < 0)
		return 1;
	if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return 2;
	if (openat(p->fd, "there", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return 3;
	if (mkdirat(p->fd, "dir", 0700) == 0 || errno != EACCES)
		return 4;
	return openat(p->fd, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EACCES
		       ? 0
		       : 5;
}

static void test_files(void **state)
{
	int r = in_child(*state, check_files);

	if (r == 77)
		skip();
	assert_int_equal(r, 0);
}

#define MUST_BE_EPERM(call)                        \
	do {                                       \
		errno = 0;                         \
		if ((call) >= 0 || errno != EPERM) \
			return __LINE__ % 200 + 1; \
	} while (0)

static int check_calls(const struct place *p)
{
	char *const none[] = { NULL };
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct err e;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || confine_calls(&e) < 0)
		return 1;
	MUST_BE_EPERM(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	MUST_BE_EPERM(open("/etc/passwd", O_WRONLY | O_CLOEXEC));
	MUST_BE_EPERM(openat(p->fd, "there", O_RDWR | O_CLOEXEC));
	MUST_BE_EPERM(openat(p->fd, "there", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
	MUST_BE_EPERM(openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	MUST_BE_EPERM(openat(p->fd, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	MUST_BE_EPERM(socket(AF_INET, SOCK_STREAM, 0));
	MUST_BE_EPERM(socket(AF_UNIX, SOCK_STREAM, 0));
	MUST_BE_EPERM(symlinkat("x", p->fd, "link"));
	MUST_BE_EPERM(mknodat(p->fd, "node", S_IFIFO | 0600, 0));
	MUST_BE_EPERM(fchmodat(p->fd, "there", 04755, 0));
	MUST_BE_EPERM(fchownat(p->fd, "there", 0, 0, 0));
	MUST_BE_EPERM(renameat(p->fd, "there", p->fd, "here"));
	MUST_BE_EPERM(execve("/bin/true", none, none));
	MUST_BE_EPERM(syscall(SYS_clone, 0, 0, 0, 0, 0));
	MUST_BE_EPERM(mprotect(page, 4096, PROT_READ | PROT_EXEC));
	MUST_BE_EPERM(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	MUST_BE_EPERM(kill(getppid(), 0));
	MUST_BE_EPERM(
		openat(p->fd, "new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0200));
	MUST_BE_EPERM(openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	MUST_BE_EPERM(mkdirat(p->fd, "dir", 0700));
	MUST_BE_EPERM(unlinkat(p->fd, "there", 0));
	MUST_BE_EPERM(linkat(p->fd, "there", p->fd, "here", 0));
	/* what it has open may be written to the disk early */
	return sync_file_range(p->fd, 0, 0, SYNC_FILE_RANGE_WRITE) < 0 && errno == EPERM ? 1 : 0;
}

static void test_calls(void **state)
{
	assert_int_equal(in_child(*state, check_calls), 0);
}

/* All of it, as the child of an unpacking process really is when it reads its first byte. */
static void test_real_child(void **state)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };
	autoarena struct arena *a = arena_new_empty();
	struct extract *x;
	struct err e;
	autofree char *path = NULL;
	autoclose int fd = -1;

	(void)state;
	assert_int_equal(extract_take_start(a, -1, "a.tar", &(struct extract_limits){ 9, 9, NULL },
					    NULL, 0, &x, &e),
			 0);
	path = xasprintf("/proc/%d/status", (int)extract_pid(x));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	/* it confines itself, then waits for us */
	for (int i = 0; i < 12000 && status_of(fd, "Seccomp:\t", 10) != 2; i++)
		(void)nanosleep(&nap, NULL);
	assert_int_equal(status_of(fd, "Seccomp:\t", 10), 2);
	assert_int_equal(status_of(fd, "NoNewPrivs:\t", 10), 1);
	assert_int_equal(status_of(fd, "CapEff:\t", 16), 0);
	assert_int_equal(status_of(fd, "CapPrm:\t", 16), 0);
	if (geteuid() == 0) {
		assert_int_equal(status_of(fd, "CapBnd:\t", 16), 0);
		assert_int_equal(status_of(fd, "Uid:\t", 10), CONFINE_UIDS + extract_pid(x));
	}
	extract_abort(x);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_privileges),
		TEST(test_files),
		TEST(test_calls),
		TEST(test_real_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
