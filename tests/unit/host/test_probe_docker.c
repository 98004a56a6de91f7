#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "nodeup/host/docker.h"
#include "tests/unit/lib/scratch.h"

#define UNIT "/lib/systemd/system/docker.service"
#define DROPINS "/etc/systemd/system/docker.service.d/"

static const char debians[] = "[Service]\nEnvironmentFile=-/etc/default/docker\n"
			      "ExecStart=/usr/sbin/dockerd -H fd:// $DOCKER_OPTS\n";
static const char dockers_own[] = "[Unit]\nExecStart=no\n[Service]\nType=notify\n"
				  "# ExecStart=no\n"
				  "ExecStart=/usr/bin/dockerd -H fd:// \\\n"
				  "  --containerd=/run/containerd/containerd.sock\n";

static struct runtime look(struct arena *a, const struct scratch *s)
{
	struct runtime r = { .unit = "docker.service" };

	probe_docker(a, s->fd, &r);
	return r;
}

static int setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	scratch_new(s);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	scratch_done(*state);
	free(*state);
	return 0;
}

static void a_unit_that_reads_the_options_is_left_alone(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;
	struct runtime r;

	scratch_write(s, UNIT, debians);
	r = look(a, s);
	assert_null(r.exec_start);
	assert_false(r.is_late);
	assert_false(r.is_ours);
}

static void a_unit_that_does_not_gets_a_command_that_does(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;

	scratch_write(s, UNIT, dockers_own);
	assert_string_equal(
		look(a, s).exec_start,
		"/usr/bin/dockerd -H fd://  --containerd=/run/containerd/containerd.sock "
		"$DOCKER_OPTS");
	/* in braces it is one word, whatever is in it; a longer name is another variable */
	scratch_write(s, UNIT, "[Service]\nExecStart=/usr/bin/dockerd ${DOCKER_OPTS} -D\n");
	assert_string_equal(look(a, s).exec_start, "/usr/bin/dockerd $DOCKER_OPTS -D");
	scratch_write(s, UNIT, "[Service]\nExecStart=/usr/bin/dockerd $DOCKER_OPTS_MORE\n");
	assert_string_equal(look(a, s).exec_start,
			    "/usr/bin/dockerd $DOCKER_OPTS_MORE $DOCKER_OPTS");
}

static void dropins_count_in_their_order(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;
	struct runtime r;

	scratch_write(s, UNIT, debians);
	scratch_write(s, DROPINS "05-x.conf",
		      "[Service]\nExecStart=\nExecStart=/usr/bin/dockerd -D\n");
	r = look(a, s);
	assert_string_equal(r.exec_start, "/usr/bin/dockerd -D $DOCKER_OPTS");
	assert_false(r.is_late);
	/* the one in /etc hides its namesake of the vendor */
	scratch_write(s, "/lib/systemd/system/docker.service.d/50-y.conf",
		      "[Service]\nExecStart=\nExecStart=/bin/false\n");
	r = look(a, s);
	assert_string_equal(r.exec_start, "/bin/false $DOCKER_OPTS");
	assert_true(r.is_late);
	scratch_write(s, DROPINS "50-y.conf", "[Service]\nTasksMax=infinity\n");
	r = look(a, s);
	assert_string_equal(r.exec_start, "/usr/bin/dockerd -D $DOCKER_OPTS");
	assert_false(r.is_late);
}

static void a_later_file_that_sets_the_options_is_seen(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;

	scratch_write(s, UNIT, debians);
	scratch_write(s, DROPINS "20-z.conf", "[Service]\nEnvironmentFile=-/etc/z\n");
	assert_false(look(a, s).is_late);
	scratch_write(s, "/etc/z", "A=1\nDOCKER_OPTS=--debug\n");
	assert_true(look(a, s).is_late);
	assert_null(look(a, s).exec_start);
}

static void what_we_wrote_does_not_change_what_we_see(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;
	struct runtime before, after;

	scratch_write(s, UNIT, dockers_own);
	before = look(a, s);
	scratch_write(s, DROPINS "10-kops.conf",
		      "[Service]\nExecStart=\nExecStart=/usr/bin/dockerd $DOCKER_OPTS\n");
	scratch_write(s, DROPINS "zz-kops.conf",
		      "[Service]\nExecStart=\nExecStart=/usr/bin/dockerd $DOCKER_OPTS\n");
	after = look(a, s);
	assert_string_equal(before.exec_start, after.exec_start);
	assert_int_equal(before.is_late, after.is_late);
}

static void the_unit_of_kops_is_known_wherever_it_stands(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct scratch *s = *state;

	scratch_write(s, UNIT,
		      "[Service]\nEnvironmentFile=/etc/sysconfig/docker\n"
		      "ExecStart=/usr/bin/dockerd -H fd:// \"$DOCKER_OPTS\"\n");
	assert_true(look(a, s).is_ours);
	assert_null(look(a, s).exec_start);
	scratch_write(s, UNIT,
		      "[Service]\nEnvironmentFile=-/etc/sysconfig/docker\n"
		      "ExecStart=/usr/bin/dockerd $OPTIONS\n");
	assert_false(look(a, s).is_ours);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_unit_that_reads_the_options_is_left_alone),
		T(a_unit_that_does_not_gets_a_command_that_does),
		T(dropins_count_in_their_order),
		T(a_later_file_that_sets_the_options_is_seen),
		T(what_we_wrote_does_not_change_what_we_see),
		T(the_unit_of_kops_is_known_wherever_it_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
