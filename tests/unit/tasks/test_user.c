#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/task.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/target.h"
#include "tests/unit/lib/scratch.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/bash\n"
			     "admin:x:1000:1000:Debian:/home/admin:/bin/bash\n";
static const char group[] = "root:x:0:\nadmin:x:1000:\n";
static const char shadow[] = "root:*:17000:0:99999:7:::\n";
static const char added[] = "user:x:1001:1001::/var/etcd:/sbin/nologin\n";

static const struct task the_user = {
	.kind = TASK_USER,
	.ops = &task_user_ops,
	.name = "user",
	.user = { "user", "/var/etcd", "/sbin/nologin" },
};

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct task_diff diff;
	struct err e;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .image_mode = true };
	scratch_write(&w->root, "/etc/passwd", passwd);
	scratch_write(&w->root, "/etc/group", group);
	scratch_write(&w->root, "/etc/shadow", shadow);
	assert_int_equal(fchmodat(w->root.fd, "etc/shadow", 0640, 0), 0);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	free(w);
	return 0;
}

static void an_owner_is_found_behind_a_damaged_line(void **state)
{
	struct world *w = *state;
	uid_t uid;
	gid_t gid;

	scratch_write(&w->root, "/etc/passwd",
		      "admin:x:1000:1000\nadmin:x:1000:1001::/home/admin:/bin/bash\n");
	assert_int_equal(target_owner(&w->ctx, "admin", &uid, &gid, &w->e), 0);
	assert_int_equal(uid, 1000);
	assert_int_equal(gid, 1001);
	assert_int_equal(target_owner(&w->ctx, "adm", &uid, &gid, &w->e), -ENOENT);
}

static int check(struct world *w)
{
	return the_user.ops->check(&the_user, &w->ctx, &w->diff, &w->e);
}

static int flushes;

/* In front of the C library's. */
int fsync(int fd)
{
	(void)fd;
	flushes++;
	return 0;
}

static int apply(struct world *w, struct task_run *run)
{
	*run = (struct task_run){ 0 };
	return the_user.ops->apply(&the_user, &w->ctx, run, &w->e);
}

static void must_apply(struct world *w)
{
	struct task_run run;

	if (apply(w, &run) != TASK_DONE)
		fail_msg("%s", w->e.msg);
}

static void assert_text(const struct world *w, const char *path, const char *before,
			const char *line)
{
	autofree char *want = xasprintf("%s%s", before, line), *got = NULL;

	got = scratch_read(&w->root, path);
	assert_string_equal(got, want);
}

static void assert_all(const struct world *w)
{
	assert_text(w, "/etc/passwd", passwd, added);
	assert_text(w, "/etc/group", group, "user:x:1001:\n");
	assert_text(w, "/etc/shadow", shadow, "user:!::0:99999:7:::\n");
}

static void user_four_ways(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "absent");
	must_apply(w);
	assert_all(w);
	assert_true(scratch_stat(&w->root, "/etc/shadow", &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(check(w), TASK_EQUAL);
	must_apply(w);
	assert_all(w);

	scratch_write(&w->root, "/etc/passwd",
		      "user:x:7:8:kept:/home/user:/bin/sh\nlast:x:9:9::/:/bin/sh\n");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "home is /home/user, want /var/etcd");
	must_apply(w);
	assert_text(w, "/etc/passwd", "last:x:9:9::/:/bin/sh\n",
		    "user:x:7:8:kept:/var/etcd:/sbin/nologin\n");
	assert_int_equal(check(w), TASK_EQUAL);
}

/* Each file, and then the three names at once. */
static void names_are_flushed_together(void **state)
{
	struct world *w = *state;

	flushes = 0;
	must_apply(w);
	assert_all(w);
	assert_int_equal(flushes, 4);
}

/* The mode is that of the file which a link leads to: that of the link itself would let all users write. */
static void a_linked_file_keeps_its_mode(void **state)
{
	struct world *w = *state;
	struct stat st;

	scratch_write(&w->root, "/usr/etc/shadow", shadow);
	assert_int_equal(fchmodat(w->root.fd, "usr/etc/shadow", 0640, 0), 0);
	assert_int_equal(unlinkat(w->root.fd, "etc/shadow", 0), 0);
	assert_int_equal(symlinkat("../usr/etc/shadow", w->root.fd, "etc/shadow"), 0);
	must_apply(w);
	assert_all(w);
	assert_true(scratch_stat(&w->root, "/etc/shadow", &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* Killed after each of the files: the next run ends with the same bytes. */
static void a_killed_run_converges_to_the_same_ids(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/etc/group", "root:x:0:\nadmin:x:1000:\nuser:x:1001:\n");
	must_apply(w);
	assert_all(w);
	scratch_write(&w->root, "/etc/passwd", passwd);
	must_apply(w);
	assert_all(w);
}

static void ids_of_others_are_not_taken(void **state)
{
	struct world *w = *state;
	autofree char *text = NULL;

	scratch_write(&w->root, "/etc/group", "x:x:1001:\ny:x:1000:\n");
	must_apply(w);
	text = scratch_read(&w->root, "/etc/passwd");
	assert_non_null(strstr(text, "user:x:1002:1002:"));
}

/* A group of that name and of the system's range does not give the user a system's id. */
static void a_group_that_is_there_is_used(void **state)
{
	struct world *w = *state;
	autofree char *text = NULL;

	scratch_write(&w->root, "/etc/group", "user:x:100:\n");
	must_apply(w);
	text = scratch_read(&w->root, "/etc/passwd");
	assert_non_null(strstr(text, "user:x:1001:100:"));
	assert_text(w, "/etc/group", "user:x:100:\n", "");
}

static void a_root_without_files_gets_them(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(unlinkat(w->root.fd, "etc/passwd", 0), 0);
	assert_int_equal(unlinkat(w->root.fd, "etc/group", 0), 0);
	assert_int_equal(unlinkat(w->root.fd, "etc/shadow", 0), 0);
	must_apply(w);
	assert_text(w, "/etc/passwd", "", "user:x:1000:1000::/var/etcd:/sbin/nologin\n");
	assert_true(scratch_stat(&w->root, "/etc/shadow", &st));
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void the_lock_of_passwd_is_waited_for(void **state)
{
	struct flock lock = { .l_type = F_WRLCK };
	struct world *w = *state;
	struct task_run run;
	int fd;

	scratch_write(&w->root, "/etc/.pwd.lock", "");
	fd = openat(w->root.fd, "etc/.pwd.lock", O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	assert_int_equal(apply(w, &run), TASK_WAIT);
	assert_string_equal(run.waiting, "/etc/.pwd.lock, which another process holds");
	assert_int_equal(check(w), TASK_DIFFERS);
	close(fd);
	must_apply(w);
	assert_all(w);
}

static int check_of(struct world *w, const struct task *t)
{
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static int apply_of(struct world *w, const struct task *t)
{
	struct task_run run = { 0 };

	return t->ops->apply(t, &w->ctx, &run, &w->e);
}

/* Programs in containers have it, and files are theirs by it. */
static void an_id_that_is_asked_for_is_given_or_it_fails(void **state)
{
	struct world *w = *state;
	struct task t = the_user;

	t.user.uid = 10011;
	assert_int_equal(apply_of(w, &t), TASK_DONE);
	assert_text(w, "/etc/passwd", passwd, "user:x:10011:10011::/var/etcd:/sbin/nologin\n");
	assert_text(w, "/etc/group", group, "user:x:10011:\n");
	assert_int_equal(check_of(w, &t), TASK_EQUAL);
	t.user.uid = 10012;
	assert_int_equal(check_of(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "its id is 10011, want 10012");
	assert_int_equal(apply_of(w, &t), TASK_DONE);
	assert_text(w, "/etc/passwd", passwd, "user:x:10012:10011::/var/etcd:/sbin/nologin\n");

	scratch_write(&w->root, "/etc/passwd", "other:x:10012:1::/:/bin/sh\n");
	assert_true(apply_of(w, &t) < 0);
	assert_non_null(strstr(w->e.msg, "the id 10012 of 'user' is taken by 'other'"));
	assert_text(w, "/etc/passwd", "", "other:x:10012:1::/:/bin/sh\n");
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(user_four_ways),
		WORLD_TEST(names_are_flushed_together),
		WORLD_TEST(an_owner_is_found_behind_a_damaged_line),
		WORLD_TEST(a_killed_run_converges_to_the_same_ids),
		WORLD_TEST(a_linked_file_keeps_its_mode),
		WORLD_TEST(ids_of_others_are_not_taken),
		WORLD_TEST(a_group_that_is_there_is_used),
		WORLD_TEST(a_root_without_files_gets_them),
		WORLD_TEST(the_lock_of_passwd_is_waited_for),
		WORLD_TEST(an_id_that_is_asked_for_is_given_or_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
