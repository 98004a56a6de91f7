#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "tests/unit/lib/scratch.h"

/* The program that runs is this test. */
#define PLACE "/opt/nodeup/bin/nodeup"
#define FETCHED "/var/cache/kubernetes-install/nodeup"
#define RECORD "/var/lib/nodeup/program"

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct task_diff diff;
	struct task_run run;
	struct err e;
	struct arena *arena;
	struct task keep, install;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->arena = arena_new_empty();
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd };
	w->keep = (struct task){
		.kind = TASK_PROGRAM,
		.ops = &task_program_ops,
		.name = PLACE,
		.origin = "bootstrap",
		.program = { .version = "2.0" },
	};
	w->install = w->keep;
	w->install.program.replace = true;
	if (state_open(w->root.fd, &w->ctx.state, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	state_close(w->ctx.state);
	scratch_done(&w->root);
	arena_free(w->arena);
	free(w);
	return 0;
}

static int check(struct world *w, const struct task *t)
{
	w->diff.why[0] = '\0';
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static void assert_differs(struct world *w, const struct task *t, const char *why)
{
	assert_int_equal(check(w, t), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, why));
}

static int apply(struct world *w, const struct task *t)
{
	w->run = (struct task_run){ 0 };
	return t->ops->apply(t, &w->ctx, &w->run, &w->e);
}

static void apply_well(struct world *w, const struct task *t)
{
	if (apply(w, t) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	assert_int_equal(check(w, t), TASK_EQUAL);
}

static const char *sha256(struct world *w, const char *path)
{
	char hex[DIGEST_TEXT_MAX];
	autoclose int fd = -1;
	struct digest d;

	if (io_open(w->root.fd, path, O_RDONLY, &fd, &w->e) < 0 ||
	    digest_of_fd(DIGEST_SHA256, fd, path, &d, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	return arena_str(w->arena, digest_hex(&d, hex));
}

static const char *own_sha256(struct world *w)
{
	char hex[DIGEST_TEXT_MAX];
	autoclose int fd = open("/proc/self/exe", O_RDONLY);
	struct digest d;

	assert_int_equal(digest_of_fd(DIGEST_SHA256, fd, "self", &d, &w->e), 0);
	return arena_str(w->arena, digest_hex(&d, hex));
}

static void write_program(struct world *w, const char *path, const char *text)
{
	scratch_write(&w->root, path, text);
	assert_int_equal(fchmodat(w->root.fd, path + 1, 0755, 0), 0);
}

static void assert_record(struct world *w, const char *hash, const char *version)
{
	autofree char *text = scratch_read(&w->root, RECORD);

	assert_string_equal(text, arena_printf(w->arena, "sha256:%s %s\n", hash, version));
}

/* Another nodeup was installed: these are its bytes. */
static const char *install_other(struct world *w)
{
	const char *hash;

	write_program(w, PLACE, "nodeup one");
	hash = sha256(w, PLACE);
	scratch_write(&w->root, RECORD, arena_printf(w->arena, "sha256:%s 1.0\n", hash));
	return hash;
}

static void four_ways(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_differs(w, &w->install, "absent");
	apply_well(w, &w->install);
	assert_true(scratch_stat(&w->root, PLACE, &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_string_equal(sha256(w, PLACE), own_sha256(w));
	assert_record(w, own_sha256(w), "2.0");
	assert_int_equal(check(w, &w->keep), TASK_EQUAL);

	assert_int_equal(fchmodat(w->root.fd, &PLACE[1], 0644, 0), 0);
	assert_differs(w, &w->keep, "mode 0644");
	apply_well(w, &w->keep);
	write_program(w, PLACE, "garbage");
	assert_differs(w, &w->keep, "damaged: not the nodeup 2.0");
	apply_well(w, &w->keep);
	apply_well(w, &w->keep);
	assert_string_equal(sha256(w, PLACE), own_sha256(w));
	assert_int_equal(scratch_count(&w->root, "/opt/nodeup/bin"), 1);
}

static void only_an_install_replaces_what_is_intact(void **state)
{
	struct world *w = *state;
	const char *hash = install_other(w), *told;

	assert_int_equal(check(w, &w->keep), TASK_EQUAL);
	w->ctx.verify = true;
	assert_int_equal(check(w, &w->keep), TASK_EQUAL);
	told = task_program_ops.remark(&w->keep, &w->ctx, w->arena);
	assert_non_null(told);
	assert_non_null(strstr(told, "this is nodeup 2.0"));
	assert_non_null(strstr(told, arena_printf(w->arena, "nodeup 1.0 (sha256 %.12s)", hash)));
	assert_differs(w, &w->install, "another program");
	assert_null(task_program_ops.remark(&w->install, &w->ctx, w->arena));
	apply_well(w, &w->install);
	assert_record(w, own_sha256(w), "2.0");
	assert_null(task_program_ops.remark(&w->keep, &w->ctx, w->arena));
}

/* Only its mode is wrong: it is what it was, and not what runs. */
static void a_mode_is_mended_with_the_same_bytes(void **state)
{
	struct world *w = *state;
	const char *hash = install_other(w);

	assert_int_equal(fchmodat(w->root.fd, &PLACE[1], 0600, 0), 0);
	assert_differs(w, &w->keep, "mode 0600");
	apply_well(w, &w->keep);
	assert_string_equal(sha256(w, PLACE), hash);
	assert_record(w, hash, "1.0");
}

static void damage_is_mended_with_the_bytes_of_the_record(void **state)
{
	struct world *w = *state;
	const char *hash = install_other(w);

	write_program(w, FETCHED, "nodeup one");
	write_program(w, PLACE, "nodeup 0ne");
	assert_differs(w, &w->keep, "damaged: not the nodeup 1.0");
	apply_well(w, &w->keep);
	assert_string_equal(sha256(w, PLACE), hash);
	assert_record(w, hash, "1.0");
}

/* The one that user data fetched is another by now. */
static void what_runs_is_better_than_none(void **state)
{
	struct world *w = *state;

	(void)install_other(w);
	write_program(w, FETCHED, "nodeup three");
	assert_int_equal(unlinkat(w->root.fd, &PLACE[1], 0), 0);
	assert_differs(w, &w->keep, "absent");
	apply_well(w, &w->keep);
	assert_string_equal(sha256(w, PLACE), own_sha256(w));
	assert_record(w, own_sha256(w), "2.0");
	assert_non_null(strstr(w->run.remark, "nodeup 2.0"));
}

/* A kill between the two leaves a record of both, which is not damage and is told. */
static void a_kill_while_it_is_replaced_is_no_damage(void **state)
{
	struct world *w = *state;
	const char *hash = install_other(w);

	scratch_write(&w->root, RECORD,
		      arena_printf(w->arena, "sha256:%s 2.0\nsha256:%s 1.0\n", own_sha256(w),
				   hash));
	assert_differs(w, &w->keep, "'/var/lib/nodeup/program' does not name it");
	apply_well(w, &w->keep);
	assert_int_equal(check(w, &w->install), TASK_EQUAL);
}

static void without_a_record_it_is_compared_with_what_runs(void **state)
{
	static const char *const broken[] = { "", "sha256:12 1.0\n", "nonsense", "sha1:a 1\n" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		apply_well(w, &w->install);
		scratch_write(&w->root, RECORD, broken[i]);
		assert_differs(w, &w->keep, "does not name it");
		apply_well(w, &w->keep);
		assert_record(w, own_sha256(w), "2.0");
	}
}

/* What is not a file gets out of the way. */
static void what_is_in_its_place(void **state)
{
	struct world *w = *state;

	assert_int_equal(io_mkdirs(w->root.fd, PLACE, 0755, &w->e), 0);
	assert_differs(w, &w->keep, "a directory, not a regular file");
	apply_well(w, &w->keep);
	assert_int_equal(unlinkat(w->root.fd, &PLACE[1], 0), 0);
	scratch_write(&w->root, PLACE "/mine", "x");
	assert_differs(w, &w->keep, "a directory, not a regular file");
	apply_well(w, &w->keep);
	assert_true(io_is_there(w->root.fd, PLACE ".nodeup-old/mine"));
}

static void it_gets_the_label_of_programs(void **state)
{
	static const char want[] = "system_u:object_r:bin_t:s0";
	struct world *w = *state;
	char label[64] = "", *path = arena_printf(w->arena, "%s" PLACE, w->root.path);

	scratch_write(&w->root, "/probe", "");
	if (setxattr(arena_printf(w->arena, "%s/probe", w->root.path), "security.selinux", want,
		     sizeof(want), 0) < 0)
		skip();
	apply_well(w, &w->install);
	assert_int_equal(getxattr(path, "security.selinux", label, sizeof(label)), -1);
	w->ctx.has_labels = true;
	assert_int_equal(unlinkat(w->root.fd, &PLACE[1], 0), 0);
	apply_well(w, &w->install);
	assert_int_equal(getxattr(path, "security.selinux", label, sizeof(label)), sizeof(want));
	assert_string_equal(label, want);
}

static void a_link_takes_nobodys_place(void **state)
{
	static const struct task t = {
		.kind = TASK_LINK,
		.ops = &task_link_ops,
		.name = "/usr/local/bin/nodeup",
		.link = { PLACE },
	};
	struct world *w = *state;
	autofree char *text = NULL;
	char target[64] = "";

	assert_differs(w, &t, "absent");
	apply_well(w, &t);
	apply_well(w, &t);
	assert_true(readlinkat(w->root.fd, "usr/local/bin/nodeup", target, sizeof(target)) > 0);
	assert_string_equal(target, PLACE);
	assert_int_equal(unlinkat(w->root.fd, "usr/local/bin/nodeup", 0), 0);
	scratch_write(&w->root, "/usr/local/bin/nodeup", "mine");
	apply_well(w, &t);
	text = scratch_read(&w->root, "/usr/local/bin/nodeup");
	assert_string_equal(text, "mine");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_new, world_done)
	const struct CMUnitTest tests[] = {
		T(four_ways),
		T(only_an_install_replaces_what_is_intact),
		T(a_mode_is_mended_with_the_same_bytes),
		T(damage_is_mended_with_the_bytes_of_the_record),
		T(what_runs_is_better_than_none),
		T(a_kill_while_it_is_replaced_is_no_damage),
		T(without_a_record_it_is_compared_with_what_runs),
		T(what_is_in_its_place),
		T(it_gets_the_label_of_programs),
		T(a_link_takes_nobodys_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
