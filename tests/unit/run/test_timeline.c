#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/run/timeline.h"

/* A boot: kubelet's bytes were late, and the services were watched for ten seconds. */
static const char boot[] =
	"{\"number\": 12, \"state\": \"ready\", \"unit\": \"kops-configuration.service\", \"pid\": 7,"
	" \"startedUnix\": 1700000000, \"pidStartTicks\": 450, \"beganMs\": 5000, \"endedMs\": 20200,"
	" \"bootMs\": {\"userspace\": 1800, \"network\": 4100, \"runtime\": 7300, \"kubelet\": 9900},"
	" \"times\": [[\"asset kubelet\", \"net\", 10, 2110, 2000, -1, \"changed\", \"0 of 9 bytes\"],"
	" [\"install /usr/bin/kubelet\", \"disk\", 2110, 2230, 0, 0, \"changed\"],"
	" [\"unit kubelet.service\", \"services\", 2230, 5200, 2900, 1, \"changed\"],"
	" [\"file /etc/<a>&\", \"disk\", 12, 14, 0, -1, \"right\"]], \"timesLeftOut\": 3}";
static const char before[] =
	"{\"number\": 11, \"state\": \"ready\", \"pid\": 6, \"startedUnix\": 1600000000,"
	" \"pidStartTicks\": 900000, \"beganMs\": 9000500, \"endedMs\": 9004000,"
	" \"bootMs\": {\"userspace\": 1800, \"kubelet\": 9900},"
	" \"times\": [[\"asset kubelet\", \"processor\", 10, 110, 0, -1, \"right\"],"
	" [\"unit kubelet.service\", \"services\", 110, 2900, 0, 0, \"changed\"]]}";

static struct timeline timeline(struct arena *a, const char *text)
{
	struct tree *run;
	struct err e;

	if (json_parse(a, "record", text, strlen(text), &run, &e) < 0)
		fail_msg("%s", e.msg);
	return timeline_of(a, run);
}

static void says(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("'%s' does not say '%s'", text, wanted);
}

static void a_boot_as_text(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(a, boot), then = timeline(a, before);
	const struct strv lines = timeline_text(a, &now, &then);

	(void)state;
	assert_string_equal(
		strv_join(a, &lines, "\n"),
		"run 12, 2023-11-14 22:13:20, by unit kops-configuration.service, process 7: ready\n"
		"        0 ms  kernel\n"
		"       1.8 s  userspace\n"
		"       4.1 s  network is online\n"
		"       4.5 s  nodeup's first instruction\n"
		"       5.0 s  first task\n"
		"       7.3 s  runtime is active\n"
		"       9.9 s  kubelet's exec\n"
		"      20.2 s  end of the run\n"
		"   not known  node is registered\n"
		"   not known  node is Ready\n"
		"\n"
		"critical chain, from its end: @begin +how long it took\n"
		"  services are watched @10.2 s +10.0 s  boot\n"
		"  \342\224\224\342\224\200unit kubelet.service @7.2 s +3.0 s  services\n"
		"   \342\224\224\342\224\200install /usr/bin/kubelet @7.1 s +120 ms  disk\n"
		"    \342\224\224\342\224\200asset kubelet @5.0 s +2.1 s  net\n"
		"     \342\224\224\342\224\200documents and plan @4.5 s +500 ms  boot\n"
		"      \342\224\224\342\224\200start of nodeup @4.1 s +400 ms  boot\n"
		"       \342\224\224\342\224\200userspace to network @1.8 s +2.3 s  boot\n"
		"        \342\224\224\342\224\200kernel @0 ms +1.8 s  boot\n"
		"\n"
		"longest\n"
		"      10.0 s  boot       services are watched\n"
		"       3.0 s  services   unit kubelet.service\n"
		"       2.3 s  boot       userspace to network\n"
		"       2.1 s  net        asset kubelet: 0 of 9 bytes\n"
		"       1.8 s  boot       kernel\n"
		"      500 ms  boot       documents and plan\n"
		"      400 ms  boot       start of nodeup\n"
		"      120 ms  disk       install /usr/bin/kubelet\n"
		"              and 1 more, of 2 ms and less\n"
		"\n"
		"slower than in run 11\n"
		"  services are watched took 10.0 s, 600 ms in run 11: no task of the run\n"
		"  asset kubelet took 2.1 s, 100 ms in run 11: 0 of 9 bytes\n"
		"times of 3 tasks are not recorded");
}

/* What systemd started days before is no part of it. */
static void a_run_by_hand_begins_with_itself(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(a, before);
	const struct strv lines = timeline_text(a, &now, NULL);
	const char *text = strv_join(a, &lines, "\n");

	(void)state;
	assert_int_equal(now.marks[MARK_NODEUP], 0);
	assert_int_equal(now.marks[MARK_TASKS], 500);
	assert_int_equal(now.marks[MARK_USERSPACE], TIMELINE_EARLIER);
	assert_int_equal(now.marks[MARK_KUBELET], TIMELINE_EARLIER);
	assert_string_equal(now.v[0].task, "documents and plan");
	assert_null(strstr(text, "userspace"));
	assert_null(strstr(text, "slower"));
	says(text, "   not known  network is online");
}

static void a_container_begins_with_its_userspace(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(
		a, "{\"inContainer\": true, \"bootMs\": {\"userspace\": 9000000}, "
		   "\"pidStartTicks\": 900100, \"beganMs\": 9001500, \"endedMs\": 9001500}");

	(void)state;
	assert_int_equal(now.marks[MARK_KERNEL], TIMELINE_EARLIER);
	assert_int_equal(now.marks[MARK_USERSPACE], 0);
	assert_int_equal(now.marks[MARK_NODEUP], 1000);
	assert_int_equal(now.n, 2);
}

static const char *parts_of(struct arena *a, const char *text)
{
	const struct timeline now = timeline(a, text);
	struct strv names = { 0 };

	for (size_t i = 0; i < now.n; i++)
		strv_add(a, &names, now.v[i].task);
	return strv_join(a, &names, "; ");
}

static void each_part_has_its_name(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(
		parts_of(a, "{\"bootMs\": {\"initrd\": 700, \"userspace\": 1800}, \"attempt\": 1, "
			    "\"pidStartTicks\": 300, \"beganMs\": 4000}"),
		"kernel; initrd; start of nodeup; documents and plan");
	assert_string_equal(parts_of(a, "{\"bootMs\": {\"userspace\": 1800}, \"attempt\": 2, "
					"\"pidStartTicks\": 300, \"beganMs\": 64000}"),
			    "kernel; start of nodeup; earlier tries, documents and plan");
}

static void the_critical_path_follows_what_was_waited_for(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(a, boot);

	(void)state;
	for (size_t i = 0; i < now.n; i++)
		assert_int_equal(now.v[i].critical, strcmp(now.v[i].task, "file /etc/<a>&") != 0);
}

/* A record of a full disk, or of another program: nothing of it leads out of the array or into a circle. */
static void a_damaged_record_is_a_timeline_too(void **state)
{
	static const char *const records[] = {
		"{}",
		"{\"beganMs\": 1, \"times\": 7}",
		"{\"beganMs\": -5, \"endedMs\": \"x\", \"bootMs\": [], \"times\": [[]]}",
		"{\"beganMs\": 1, \"times\": [[\"a\", \"net\", 0, 5, 0, 1, \"x\"], "
		"[\"b\", \"z\", 0, 9, 9223372036854775807, 0, \"x\"]]}",
		"{\"beganMs\": 1, \"times\": [[\"a\", \"net\", 9, 5, 0, 99, \"x\"], {}, 5, null]}",
		"{\"beganMs\": 9223372036854775807, \"pidStartTicks\": 9223372036854775807, "
		"\"times\": [[\"a\", \"net\", 9223372036854775807, 9223372036854775807, 0, 0, \"x\"]]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		autoarena struct arena *a = arena_new_empty();
		autobuf struct buf b = BUF_INIT(1 << 20);
		const struct timeline now = timeline(a, records[i]);

		for (size_t k = 0; k < now.n; k++) {
			assert_true(now.v[k].start_ms >= 0 && now.v[k].end_ms >= now.v[k].start_ms);
			assert_true(now.v[k].waited_ms <= now.v[k].end_ms - now.v[k].start_ms);
			assert_true(now.v[k].after == TIMELINE_NONE || now.v[k].after < now.n);
		}
		assert_true(timeline_text(a, &now, &now).n > MARK_MAX / 2);
		timeline_svg(a, &now, &b);
		says(buf_str(&b), "</svg>\n");
	}
}

static void the_picture_has_a_bar_for_each_task_and_no_script(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(1 << 20);
	const struct timeline now = timeline(a, boot);
	const char *text;
	size_t bars = 0;

	(void)state;
	timeline_svg(a, &now, &b);
	text = buf_str(&b);
	for (const char *at = text; (at = strstr(at, "<title>")); at++)
		bars++;
	assert_int_equal(bars, now.n);
	says(text, ">net (1)</text>");
	says(text, ">disk (2)</text>");
	says(text, ">file /etc/&lt;a&gt;&amp; (2 ms)</text>");
	says(text,
	     " class=\"critical\"><title>asset kubelet: changed, from 5.0 s on, for 2.1 s; 0 of 9 bytes</title>");
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "class=\"critical\"><title>file"));
}

static void what_a_span_lost_has_a_reason(void **state)
{
	static const char was[] =
		"{\"beganMs\": 1, \"times\": [[\"a\", \"disk\", 0, 5, 0, -1, \"right\"], "
		"[\"b\", \"net\", 0, 5, 0, -1, \"changed\"], [\"c\", \"disk\", 0, 5, 0, -1, \"changed\"],"
		"[\"e\", \"disk\", 0, 5, 0, -1, \"changed\"]]}";
	static const char is[] =
		"{\"beganMs\": 1, \"times\": [[\"a\", \"disk\", 0, 2005, 0, -1, \"changed\"], "
		"[\"b\", \"net\", 0, 1905, 1900, -1, \"changed\"], "
		"[\"c\", \"disk\", 0, 1805, 5, -1, \"changed\"], "
		"[\"d\", \"disk\", 0, 1705, 0, -1, \"changed\"], "
		"[\"e\", \"disk\", 0, 504, 0, -1, \"changed\"]]}";
	static const char *const reasons[] = {
		"it is changed in this run, and was right then",
		"it waited for net for 1.9 s",
		"it worked, and waited for nothing",
		"it is changed in this run, and had nothing to do then",
	};
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(a, is), then = timeline(a, was);
	struct timeline_slower *v;
	size_t n;

	(void)state;
	v = timeline_slower(a, &now, &then, &n);
	assert_int_equal(n, ARRAY_LEN(reasons));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(v[i].why, reasons[i]);
	assert_int_equal(v[0].before_ms, 5);
	assert_int_equal(v[0].also.n, 0);
	assert_int_equal(v[3].before_ms, -1);
	(void)timeline_slower(a, &then, &now, &n);
	assert_int_equal(n, 0);
}

/* One flush holds all that it writes, and is one line. */
static void spans_that_lost_together_are_one(void **state)
{
	static const char is[] =
		"{\"beganMs\": 1, \"times\": [[\"a\", \"disk\", 0, 2005, 0, -1, \"changed\", \"a flush\"], "
		"[\"b\", \"disk\", 5, 2105, 0, -1, \"changed\", \"a flush\"], "
		"[\"c\", \"disk\", 2105, 3105, 0, -1, \"changed\", \"a flush\"], "
		"[\"d\", \"net\", 5, 2005, 0, -1, \"changed\", \"a flush\"]]}";
	autoarena struct arena *a = arena_new_empty();
	const struct timeline now = timeline(a, is), then = timeline(a, "{\"number\": 1}");
	const struct strv lines = timeline_text(a, &now, &then);
	struct timeline_slower *v;
	size_t n;

	(void)state;
	v = timeline_slower(a, &now, &then, &n);
	assert_int_equal(n, 3);
	assert_string_equal(v[0].span->task, "b");
	assert_int_equal(v[0].also.n, 1);
	assert_string_equal(v[0].also.v[0], "a");
	says(strv_join(a, &lines, "\n"), "  b and 1 more took 2.1 s, none in run 1: a flush\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_as_text),
		cmocka_unit_test(a_run_by_hand_begins_with_itself),
		cmocka_unit_test(a_container_begins_with_its_userspace),
		cmocka_unit_test(each_part_has_its_name),
		cmocka_unit_test(the_critical_path_follows_what_was_waited_for),
		cmocka_unit_test(a_damaged_record_is_a_timeline_too),
		cmocka_unit_test(the_picture_has_a_bar_for_each_task_and_no_script),
		cmocka_unit_test(what_a_span_lost_has_a_reason),
		cmocka_unit_test(spans_that_lost_together_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
