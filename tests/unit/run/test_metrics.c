#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/drift.h"
#include "nodeup/run/metrics.h"
#include "tests/unit/lib/scratch.h"

static const char file[] = "/textfile/nodeup.prom";

/* A status of this state, of a run that began 2030 and took 12.345 s; more: further keys. */
static void write_status(const struct scratch *root, const char *state, const char *more)
{
	autofree char *text = xasprintf("{\"schema\": 1, \"state\": \"%s\", \"metrics\": "
					"\"/textfile\", \"startedUnix\": 1893456000, "
					"\"elapsedMs\": 12345%s}",
					state, more);

	scratch_write(root, OWN_STATUS, text);
}

static const char counts[] =
	", \"counts\": {\"right\": 50, \"changed\": 3, \"failed\": 2, \"skipped\": 4, \"not needed\": "
	"1}, \"assets\": [{\"name\": \"a\", \"bytes\": 1000}, {\"name\": \"b\"}, {\"bytes\": 24}]";

static void check_line(const char *text, const char *line)
{
	autofree char *whole = xasprintf("\n%s\n", line);

	if (!strstr(text, whole))
		fail_msg("no line '%s' in\n%s", line, text);
}

static void begin(struct scratch *root)
{
	scratch_new(root);
	scratch_write(root, "/textfile/other.prom", "other 1\n");
}

static void all_that_a_run_was_is_there(void **state)
{
	static const char *const lines[] = {
		"nodeup_node_state{state=\"ready\"} 0",
		"nodeup_node_state{state=\"failed\"} 1",
		"# TYPE nodeup_run_end_timestamp_seconds gauge",
		"nodeup_run_end_timestamp_seconds 1893456012.345",
		"nodeup_run_duration_seconds 12.345",
		"nodeup_run_changed_tasks 3",
		"nodeup_run_failed_tasks 2",
		"nodeup_run_received_bytes 1024",
		"nodeup_drift_tasks 6",
		"nodeup_certificate_expiry_timestamp_seconds 1900000000.000",
		"nodeup_guard_held 0",
	};
	struct scratch root;
	autofree char *more =
		xasprintf("%s, \"expiring\": \"kubelet\", \"expiresUnix\": 1900000000", counts);
	autofree char *text = NULL;
	struct stat st;

	(void)state;
	begin(&root);
	write_status(&root, "failed", more);
	metrics_write(root.fd);
	text = scratch_read(&root, file);
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		check_line(text, lines[i]);
	assert_null(strstr(text, "nodeup_guard_look"));
	assert_true(scratch_stat(&root, file, &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(scratch_count(&root, "/textfile"), 2);
	scratch_done(&root);
}

static void one_state_is_the_present_one(void **state)
{
	static const char *const names[] = { "ready", "failed", "degraded" };
	struct scratch root;

	(void)state;
	begin(&root);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *text = NULL;

		write_status(&root, names[i], "");
		metrics_write(root.fd);
		text = scratch_read(&root, file);
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			autofree char *line =
				xasprintf("nodeup_node_state{state=\"%s\"} %d", names[k], i == k);

			check_line(text, line);
		}
	}
	scratch_done(&root);
}

/* A run that was refused has no tasks, and a node of kops 1.8 no certificate that ends. */
static void what_is_not_known_is_left_out(void **state)
{
	struct scratch root;
	autofree char *text = NULL;

	(void)state;
	begin(&root);
	write_status(&root, "failed", "");
	metrics_write(root.fd);
	text = scratch_read(&root, file);
	check_line(text, "nodeup_run_duration_seconds 12.345");
	assert_null(strstr(text, "_tasks"));
	assert_null(strstr(text, "_bytes"));
	assert_null(strstr(text, "certificate"));
	assert_null(strstr(text, "-1"));
	scratch_done(&root);
}

static void a_later_look_of_the_guard_counts(void **state)
{
	struct drift late = { .at_ns = INT64_C(1893456600500) * DUR_MS, .n = 7 };
	struct drift early = { .at_ns = INT64_C(1893456000000) * DUR_MS, .n = 7 };
	struct scratch root;
	autofree char *text = NULL, *before = NULL;
	struct err e;

	(void)state;
	begin(&root);
	write_status(&root, "ready", counts);
	assert_int_equal(drift_keep(root.fd, &early, &e), 0);
	metrics_write(root.fd);
	before = scratch_read(&root, file);
	check_line(before, "nodeup_drift_tasks 6");
	assert_int_equal(drift_keep(root.fd, &late, &e), 0);
	assert_int_equal(drift_hold(root.fd, dur_wall() + 60 * DUR_SEC, &e), 0);
	metrics_write(root.fd);
	text = scratch_read(&root, file);
	check_line(text, "nodeup_drift_tasks 7");
	check_line(text, "nodeup_guard_look_timestamp_seconds 1893456600.500");
	check_line(text, "nodeup_guard_held 1");
	scratch_done(&root);
}

static void a_run_that_names_no_folder_writes_nothing(void **state)
{
	struct scratch root;

	(void)state;
	begin(&root);
	metrics_write(root.fd);
	scratch_write(&root, OWN_STATUS, "{\"schema\": 1, \"state\": \"ready\"}");
	metrics_write(root.fd);
	assert_int_equal(scratch_count(&root, "/textfile"), 1);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_a_run_was_is_there),
		cmocka_unit_test(one_state_is_the_present_one),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(a_later_look_of_the_guard_counts),
		cmocka_unit_test(a_run_that_names_no_folder_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
