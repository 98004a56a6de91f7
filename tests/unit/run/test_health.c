#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/report.h"
#include "nodeup/run/interrupted.h"
#include "nodeup/run/health.h"
#include "tests/unit/lib/scratch.h"

static struct health health_of(struct arena *a, const struct scratch *root)
{
	struct health t;
	struct err e;

	if (health_read(a, root->fd, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

static void no_status_is_a_node_that_never_ran(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct health t;

	(void)state;
	scratch_new(&root);
	t = health_of(a, &root);
	assert_int_equal(t.state, HEALTH_NEVER);
	assert_null(t.status);
	scratch_done(&root);
}

static void each_written_state_has_its_meaning(void **state)
{
	static const struct {
		const char *written;
		enum health_state state;
		bool died;
	} rows[] = {
		{ "ready", HEALTH_READY, false },    { "degraded", HEALTH_DEGRADED, false },
		{ "failed", HEALTH_FAILED, false },  { "interrupted", HEALTH_FAILED, false },
		{ "running", HEALTH_FAILED, true }, /* it names no process */
		{ "retrying", HEALTH_FAILED, true },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct health t;

		scratch_write(&root, OWN_STATUS,
			      arena_printf(a, "{\"schema\": 1, \"state\": \"%s\"}",
					   rows[i].written));
		t = health_of(a, &root);
		assert_int_equal(t.state, rows[i].state);
		assert_int_equal(t.died, rows[i].died);
	}
	scratch_done(&root);
}

/* While /run is full a run puts it elsewhere, where it outlives the boot. */
static void a_status_that_had_no_room_is_of_its_own_boot_alone(void **state)
{
	static const char boot_id[] = "/proc/sys/kernel/random/boot_id";
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_STATUS_SPARE,
		      "{\"schema\": 1, \"state\": \"degraded\", \"bootId\": \"boot-1\"}");
	scratch_write(&root, boot_id, "boot-1\n");
	assert_int_equal(health_of(a, &root).state, HEALTH_DEGRADED);
	scratch_write(&root, boot_id, "boot-2\n");
	assert_int_equal(health_of(a, &root).state, HEALTH_NEVER);
	scratch_write(&root, OWN_STATUS, "{\"schema\": 1, \"state\": \"ready\"}");
	assert_int_equal(health_of(a, &root).state, HEALTH_READY);
	scratch_done(&root);
}

static void put(const struct scratch *root, const char *state)
{
	autobuf struct buf text = BUF_INIT(256);
	struct err e;

	assert_int_equal(buf_addf(&text, "{\"schema\": 1, \"state\": \"%s\"}", state), 0);
	assert_int_equal(interrupted_put(root->fd, &text, &e), 0);
}

/* Of both the newer counts, whichever a kill or a read-only disk has left; the next one that has room is the only one. */
static void the_newer_of_two_statuses_counts(void **state)
{
	static const struct timespec early[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct stat st;
	struct health t;
	struct err e;

	(void)state;
	scratch_new(&root);
	put(&root, "ready");
	scratch_write(&root, OWN_STATUS_SPARE, "{\"schema\": 1, \"state\": \"degraded\"}");
	assert_int_equal(utimensat(root.fd, &OWN_STATUS[1], early, 0), 0);
	assert_int_equal(health_of(a, &root).state, HEALTH_DEGRADED);
	assert_int_equal(utimensat(root.fd, &OWN_STATUS_SPARE[1], early, 0), 0);
	assert_int_equal(health_of(a, &root).state, HEALTH_READY);
	/* what cannot be read is named by where it was read */
	scratch_write(&root, OWN_STATUS_SPARE, "{");
	assert_true(health_read(a, root.fd, &t, &e) < 0);
	assert_non_null(strstr(e.msg, OWN_STATUS_SPARE));
	put(&root, "ready");
	assert_false(scratch_stat(&root, OWN_STATUS_SPARE, &st));
	assert_int_equal(health_of(a, &root).state, HEALTH_READY);
	scratch_done(&root);
}

/* What was wrong with the documents of the servers, and what a boot does not replace. */
static void the_reason_of_a_run_that_ended_well_is_told(void **state)
{
	static const char kept[] = "s3://b/c/nodeupconfig.yaml: the document is empty";
	static const char guess[] =
		"documents are of kops 1.36.1, and this node was made as of 1.36";
	static const char store[] = "instanceStorePolicy: there are pods: replace the node";
	static const struct {
		struct status_documents documents;
		const char *why;
	} rows[] = {
		{ { .kept_why = kept },
		  "documents are the kept ones: s3://b/c/nodeupconfig.yaml: the document is empty" },
		{ { .guess_why = guess }, guess },
		{ { .lacks_store = store }, store },
		{ { 0 }, "the state store was not reached: documents are the kept ones" },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct status st = { .state = "degraded",
					   .version = "1",
					   .attempt = 1,
					   .documents = rows[i].documents };

		assert_int_equal(status_write(root.fd, &st, &e), 0);
		assert_string_equal(health_of(a, &root).why, rows[i].why);
	}
	scratch_done(&root);
}

/* Days from now until the certificate ends. */
static struct health health_with_certificate(struct arena *a, const struct scratch *root,
					     const char *state, int days, bool renews)
{
	const struct status st = { .state = state,
				   .version = "1",
				   .attempt = 1,
				   .documents.expiring = "kubelet",
				   .documents.renews = renews,
				   .documents.expiry =
					   dur_wall() / DUR_SEC + (int64_t)days * 24 * 3600 };
	struct err late;

	if (status_write(root->fd, &st, &late) < 0)
		fail_msg("%s", late.msg);
	return health_of(a, root);
}

static void a_certificate_that_ends_soon_is_told_in_time(void **state)
{
	static const struct {
		const char *state;
		int days;
		enum health_state told;
		const char *says; /* NULL: nothing of it */
	} rows[] = {
		{ "ready", 61, HEALTH_READY, NULL },
		{ "ready", 59, HEALTH_DEGRADED, "certificate kubelet expires on 2" },
		{ "ready", -1, HEALTH_DEGRADED, "certificate kubelet expired on 2" },
		{ "degraded", 61, HEALTH_DEGRADED, NULL },
		{ "degraded", 1, HEALTH_DEGRADED, "certificate kubelet expires on 2" },
		{ "failed", 1, HEALTH_FAILED, NULL },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct health t =
			health_with_certificate(a, &root, rows[i].state, rows[i].days, false);

		assert_int_equal(t.state, rows[i].told);
		assert_true(t.expires_ns > 0);
		assert_int_equal(t.remedy != NULL, rows[i].says != NULL);
		if (rows[i].says)
			assert_non_null(strstr(t.why, rows[i].says));
		else
			assert_true(!t.why || !strstr(t.why, "certificate"));
	}
	scratch_done(&root);
}

static void what_a_node_issues_itself_takes_a_run(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct health t;

	(void)state;
	scratch_new(&root);
	t = health_with_certificate(a, &root, "ready", 59, true);
	assert_int_equal(t.state, HEALTH_DEGRADED);
	assert_string_equal(t.remedy, "nodeup apply");
	assert_non_null(strstr(t.why, "and no run has issued it anew"));
	t = health_with_certificate(a, &root, "ready", 61, true);
	assert_int_equal(t.state, HEALTH_READY);
	scratch_done(&root);
}

static void what_is_not_ours_is_refused(void **state)
{
	static const char *const texts[] = {
		"{\"schema\": 2, \"state\": \"ready\"}",
		"{\"schema\": 1, \"state\": \"fine\"}",
		"{\"schema\": 1}",
		"[]",
		"",
		"{",
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct health t;
		struct err e = { 0 };

		scratch_write(&root, OWN_STATUS, texts[i]);
		assert_true(health_read(a, root.fd, &t, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, OWN_STATUS));
	}
	scratch_done(&root);
}

/* What the writer says of an error, as the reader understands it. */
static bool stays(const struct scratch *root, const struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct status st = { .state = "failed", .version = "1", .error = e, .attempt = 1 };
	struct err late;

	if (status_write(root->fd, &st, &late) < 0)
		fail_msg("%s", late.msg);
	return health_of(a, root).stays;
}

static void a_reader_knows_what_no_retry_mends(void **state)
{
	static const struct {
		enum err_kind kind;
		bool lasts, stays;
	} rows[] = {
		{ ERR_USAGE, false, true },      { ERR_REFUSED, false, true },
		{ ERR_CONFIG, false, true },     { ERR_NET, false, false },
		{ ERR_BUSY, false, false },      { ERR_SYSTEM, false, false },
		{ ERR_INTEGRITY, false, false }, { ERR_INTEGRITY, true, true },
	};
	struct scratch root;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };

		(void)err_fail(&e, rows[i].kind, 0, "boom");
		if (rows[i].lasts)
			e.lasts = true;
		(void)err_wrap(&e, "asset x");
		assert_int_equal(stays(&root, &e), rows[i].stays);
	}
	scratch_done(&root);
}

static void the_error_of_a_run_is_read_back(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	for (enum err_kind kind = ERR_USAGE; kind < ERR_KIND_MAX; kind++) {
		const struct status st = {
			.state = "failed", .version = "1", .attempt = 1, .error = &e
		};
		struct err failed, read = { 0 };

		(void)err_fail(&e, kind, 0, "asset x: boom");
		assert_int_equal(status_write(root.fd, &st, &failed), 0);
		assert_true(health_error(health_of(a, &root).status, &read));
		assert_int_equal(read.kind, kind);
		assert_string_equal(read.msg, e.msg);
	}
	scratch_write(&root, OWN_STATUS, "{\"schema\": 1, \"state\": \"ready\"}");
	assert_false(health_error(health_of(a, &root).status, &e));
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_status_is_a_node_that_never_ran),
		cmocka_unit_test(each_written_state_has_its_meaning),
		cmocka_unit_test(a_status_that_had_no_room_is_of_its_own_boot_alone),
		cmocka_unit_test(the_newer_of_two_statuses_counts),
		cmocka_unit_test(the_reason_of_a_run_that_ended_well_is_told),
		cmocka_unit_test(a_certificate_that_ends_soon_is_told_in_time),
		cmocka_unit_test(what_a_node_issues_itself_takes_a_run),
		cmocka_unit_test(what_is_not_ours_is_refused),
		cmocka_unit_test(a_reader_knows_what_no_retry_mends),
		cmocka_unit_test(the_error_of_a_run_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
