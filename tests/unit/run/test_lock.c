#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/lock.h"
#include "tests/unit/lib/scratch.h"

static void the_second_one_hears_who_is_first(void **state)
{
	struct scratch root;
	struct err e = { 0 };
	autofree char *pid = xasprintf("pid %d,", (int)getpid());
	int first, second;

	(void)state;
	scratch_new(&root);
	assert_int_equal(lock_take(root.fd, "kops-configuration.service", &first, &e), 0);
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), -EWOULDBLOCK);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, pid));
	assert_non_null(strstr(e.msg, "unit kops-configuration.service"));
	assert_int_equal(close(first), 0);
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), 0);
	assert_int_equal(close(second), 0);
	scratch_done(&root);
}

static void put_status(const struct scratch *root, int pid)
{
	static const struct io_attr attr = { .mode = 0644 };
	autofree char *text =
		xasprintf("{\"schema\": 1, \"state\": \"running\", \"waiting\": \"GET x: 503\", "
			  "\"waitingSinceUnixMs\": 1500000000000, "
			  "\"nextTryUnixMs\": 1500000030000, \"pid\": %d, "
			  "\"error\": {\"message\": \"boom\"}}\n",
			  pid);
	struct err e;

	if (io_replace(root->fd, OWN_STATUS, text, strlen(text), &attr, &e) < 0)
		fail_msg("%s", e.msg);
}

static const char *note_of(const struct err *e, const char *label)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, label) == 0)
			return e->notes[i].text;
	return "none";
}

static void it_hears_what_that_one_waits_for(void **state)
{
	struct scratch root;
	struct err e = { 0 };
	int first, second;

	(void)state;
	scratch_new(&root);
	assert_int_equal(lock_take(root.fd, "kops-configuration.service", &first, &e), 0);
	put_status(&root, (int)getpid());
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), -EWOULDBLOCK);
	assert_string_equal(note_of(&e, "waits"), "GET x: 503");
	assert_int_equal(strncmp(note_of(&e, "since"), "02:40:00, for ", 14), 0);
	assert_string_equal(note_of(&e, "until"), "02:40:30, its next try");
	assert_string_equal(note_of(&e, "error"), "boom");
	assert_string_equal(note_of(&e, "do"), "wait until it ends, or end it: systemctl stop "
					       "kops-configuration.service; what it did stays");
	/* a status that another process left says nothing of the holder */
	put_status(&root, (int)getpid() + 1);
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), -EWOULDBLOCK);
	assert_int_equal(e.nnotes, 1);
	assert_string_not_equal(note_of(&e, "do"), "none");
	assert_int_equal(close(first), 0);
	scratch_done(&root);
}

/* A look, as the guard and the command check take, is over at once. */
static void one_that_only_looks_is_waited_for(void **state)
{
	struct scratch root;
	struct err e = { 0 };
	int fd, ready[2], status;
	pid_t looker;
	char c;

	(void)state;
	scratch_new(&root);
	assert_int_equal(lock_take(root.fd, NULL, &fd, &e), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	looker = fork();
	if (looker == 0) {
		_exit(write(ready[1], "x", 1) == 1 && usleep(20000) == 0 ? 0 : 1);
	}
	/* now the child alone has the lock */
	assert_int_equal(close(fd), 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(lock_take(root.fd, NULL, &fd, &e), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(waitpid(looker, &status, 0), looker);
	assert_int_equal(status, 0);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_one_hears_who_is_first),
		cmocka_unit_test(it_hears_what_that_one_waits_for),
		cmocka_unit_test(one_that_only_looks_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
