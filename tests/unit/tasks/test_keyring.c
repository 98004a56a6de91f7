#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/scratch.h"

static const char path[] = "/etc/apt/keyrings/x.asc";
static const char key[] = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nbytes\n"
			  "-----END PGP PUBLIC KEY BLOCK-----\n";

struct world {
	struct scratch root;
	struct cloud *cloud;
	struct task_ctx ctx;
	struct task task;
	struct task_diff diff;
	struct err e;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->cloud = cloud_start(NULL);
	scratch_new(&w->root);
	tmp_write(w->cloud->dir, "bucket/key", key, strlen(key));
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .http = w->cloud->http };
	assert_int_equal(state_open(w->root.fd, &w->ctx.state, &w->e), 0);
	w->task = (struct task){ .kind = TASK_KEYRING,
				 .ops = &task_keyring_ops,
				 .name = path,
				 .keyring = { cloud_url(w->cloud, CLOUD_S3, "/bucket/key") } };
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	state_close(w->ctx.state);
	cloud_stop(w->cloud);
	scratch_done(&w->root);
	free(w);
	return 0;
}

static int check(struct world *w)
{
	w->diff = (struct task_diff){ 0 };
	return w->task.ops->check(&w->task, &w->ctx, &w->diff, &w->e);
}

static int apply(struct world *w)
{
	struct task_run run = { 0 };

	return w->task.ops->apply(&w->task, &w->ctx, &run, &w->e);
}

static void a_key_is_asked_for_once(void **state)
{
	struct world *w = *state;
	struct stat st;
	autofree char *text = NULL;

	assert_int_equal(check(w), TASK_DIFFERS);
	assert_true(w->diff.missing);
	if (apply(w) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	assert_int_equal(check(w), TASK_EQUAL);
	text = scratch_read(&w->root, path);
	assert_string_equal(text, key);
	assert_true(scratch_stat(&w->root, path, &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(cloud_count(w->cloud, CLOUD_S3, "/bucket/key"), 1);
}

static void what_lies_there_is_mended_if_it_is_no_key(void **state)
{
	struct world *w = *state;

	assert_int_equal(apply(w), TASK_DONE);
	scratch_write(&w->root, path, "<html>\n");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not a public key");
	assert_int_equal(apply(w), TASK_DONE);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_int_equal(fchmodat(w->root.fd, path + 1, 0600, 0), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_int_equal(apply(w), TASK_DONE);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* An image that brings the key asks no server for it. */
static void a_key_that_is_there_already_stays(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, path,
		      "-----BEGIN PGP PUBLIC KEY BLOCK-----\nanother\n"
		      "-----END PGP PUBLIC KEY BLOCK-----\n");
	assert_int_equal(fchmodat(w->root.fd, path + 1, 0644, 0), 0);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void what_is_no_key_is_not_written(void **state)
{
	struct world *w = *state;

	tmp_write(w->cloud->dir, "bucket/key", "<html>", 6);
	assert_int_equal(apply(w), -EPROTO);
	assert_int_equal(w->e.kind, ERR_NET);
	assert_non_null(strstr(w->e.msg, "/bucket/key: the answer is not a public key"));
	w->task.keyring.url = cloud_url(w->cloud, CLOUD_S3, "/bucket/none");
	assert_true(apply(w) < 0);
	w->ctx.is_offline = true;
	assert_int_equal(apply(w), -ENETDOWN);
	assert_int_equal(scratch_count(&w->root, "/etc"), 0);
	w->ctx.image_mode = true;
	assert_int_equal(check(w), TASK_EQUAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_key_is_asked_for_once),
		TEST(what_lies_there_is_mended_if_it_is_no_key),
		TEST(a_key_that_is_there_already_stays),
		TEST(what_is_no_key_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
