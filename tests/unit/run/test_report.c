#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/json.h"
#include "nodeup/base/log.h"
#include "nodeup/run/explain.h"
#include "nodeup/run/report.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

static const char secret[] = "PRIVATE KEY of nobody";

/* What was logged since the last look; the writer has no argument of its own. */
static struct {
	char text[16 << 10];
	enum log_level worst;
} logged;

static int keep_line(enum log_level level, const char *message, const struct log_field *fields,
		     size_t n)
{
	size_t len = strlen(logged.text);

	(void)snprintf(logged.text + len, sizeof(logged.text) - len, "%s\n", message);
	for (size_t i = 0; i < n; i++) {
		len = strlen(logged.text);
		(void)snprintf(logged.text + len, sizeof(logged.text) - len, "%s=%s\n",
			       fields[i].key, fields[i].value);
	}
	if (level < logged.worst)
		logged.worst = level;
	return 0;
}

static void forget(void)
{
	logged.text[0] = '\0';
	logged.worst = LOG_DEBUG;
}

static int set_up(void **state)
{
	*state = waits_new();
	log_set_writer(keep_line);
	log_set_level(LOG_DEBUG);
	forget();
	return 0;
}

static int tear_down(void **state)
{
	waits_free(*state);
	log_set_writer(NULL);
	log_set_level(LOG_INFO);
	return 0;
}

static void says(const char *text)
{
	if (!strstr(logged.text, text))
		fail_msg("'%s' does not say '%s'", logged.text, text);
}

/* A run of four: changed, right, failed and waiting, of which the first puts a secret. */
struct sample {
	struct task tasks[4];
	struct run_outcome outcomes[4];
	struct err errors[4];
	struct run_report rep;
};

static void sample(struct sample *s)
{
	static const char *const names[] = { "/srv/key", "/etc/a", "/etc/b", "/etc/c" };
	const int64_t now = dur_now();

	*s = (struct sample){ .rep = { .outcomes = s->outcomes, .n = 4, .first_failed = 2 } };
	for (size_t i = 0; i < 4; i++) {
		s->tasks[i] = (struct task){
			.kind = TASK_FILE,
			.ops = &task_file_ops,
			.name = names[i],
			.origin = "test",
			.index = i,
			.file = { .content = secret, .len = sizeof(secret) - 1, .secret = true }
		};
		s->outcomes[i].task = &s->tasks[i];
		s->outcomes[i].error = &s->errors[i];
		s->outcomes[i].start_ns = s->outcomes[i].work_ns = now - 20 * DUR_SEC;
		s->outcomes[i].end_ns = now - 18 * DUR_SEC;
	}
	s->outcomes[0].state = RUN_CHANGED;
	(void)task_differs(&s->outcomes[0].diff, "content differs");
	s->outcomes[1].state = RUN_EQUAL;
	s->outcomes[2].state = RUN_FAILED;
	s->outcomes[2].attempts = 3;
	(void)err_fail(s->outcomes[2].error, ERR_NET, ETIMEDOUT, "no answer");
	s->outcomes[3].state = RUN_WAITING;
	s->outcomes[3].end_ns = 0;
	s->outcomes[3].run.since_ns = now - 15 * DUR_SEC;
	(void)task_wait(&s->outcomes[3].run, 0, "the moon");
	for (size_t i = 0; i < 4; i++)
		s->rep.counts[s->outcomes[i].state]++;
	s->rep.start_ns = now - 20 * DUR_SEC;
	s->rep.end_ns = s->rep.start_ns + 2900 * DUR_MS;
}

static void an_error_is_shown_with_its_notes_and_exit_status(void **state)
{
	struct err e;

	(void)state;
	(void)err_fail(&e, ERR_INTEGRITY, 0, "asset kubelet: wrong content");
	err_note(&e, "want", "sha1 0f");
	err_note(&e, "got", "sha1 9c");
	report_error(&e);
	assert_string_equal(logged.text, "FAILED asset kubelet: wrong content (65)\n"
					 "MESSAGE_ID=fe20c34d87d34f06bdbbb0ea0bd23c88\n"
					 "KIND=integrity\n"
					 "  want      sha1 0f\n  got       sha1 9c\n");
	assert_int_equal(logged.worst, LOG_ERROR);
	forget();
	(void)err_fail(&e, ERR_REFUSED, 0, "disk: not blank");
	report_error(&e);
	assert_string_equal(logged.text, "REFUSED disk: not blank (73)\n"
					 "MESSAGE_ID=2594a17717ac4aea82b867141dc514b0\n"
					 "KIND=refused\n");
}

static void each_kind_of_error_is_explained(void **state)
{
	(void)state;
	for (enum err_kind kind = ERR_NONE + 1; kind < ERR_KIND_MAX; kind++) {
		const struct err e = { .kind = kind };

		assert_non_null(explain_status(err_exit_status(&e)));
	}
}

static void each_outcome_has_its_line(void **state)
{
	struct sample s;

	(void)state;
	sample(&s);
	report_outcome(&s.rep, &s.outcomes[0], *state);
	says("changed file /srv/key: content differs (2.0 s)");
	says("TASK=file /srv/key\nSTATE=changed\nORIGIN=test\nKIND=file\nDURATION_MS=2000\nCHANGED=yes\n");
	assert_int_equal(logged.worst, LOG_INFO);
	forget();
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("failed file /etc/b: no answer");
	assert_int_equal(logged.worst, LOG_ERROR);
	forget();
	s.tasks[2].optional = true;
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("failed file /etc/b (perhaps not needed): no answer");
	assert_int_equal(logged.worst, LOG_WARNING);
	forget();
	s.outcomes[2].state = RUN_RETRYING;
	s.outcomes[2].run.next_ns = dur_now() + 4 * DUR_SEC;
	err_note(s.outcomes[2].error, "ruled out", "clock");
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("WAITING file /etc/b: attempt 3 failed, next in ");
	says("  ruled out clock");
	forget();
	s.outcomes[2].attempts = 4;
	report_outcome(&s.rep, &s.outcomes[2], *state);
	assert_string_equal(logged.text, "");
	/* another task says it of the same cause */
	err_cause(s.outcomes[2].error, "no answer from example.com");
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("WAITING file /etc/b: attempt 4 failed");
	forget();
	*s.outcomes[1].error = *s.outcomes[2].error;
	s.outcomes[1].state = RUN_RETRYING;
	report_outcome(&s.rep, &s.outcomes[1], *state);
	assert_string_equal(logged.text, "");
	s.outcomes[1].state = s.outcomes[2].state = RUN_FAILED;
	s.outcomes[1].end_ns--;
	s.tasks[2].optional = false;
	report_outcome(&s.rep, &s.outcomes[1], *state);
	says("failed file /etc/a: no answer\n");
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("failed file /etc/b: no answer from example.com, as file /etc/a\n");
	s.outcomes[2].because = &s.tasks[3];
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("failed file /etc/b: file /etc/c failed\n");
	s.outcomes[2].state = RUN_SKIPPED;
	report_outcome(&s.rep, &s.outcomes[2], *state);
	says("skipped file /etc/b: file /etc/c failed");
}

static void nothing_waits_or_works_in_silence(void **state)
{
	struct sample s;

	(void)state;
	sample(&s);
	report_waiting(&s.rep, *state);
	says("WAITING file /etc/c: for 15.");
	says(" s: the moon");
	assert_null(strstr(logged.text, "/etc/a"));
	forget();
	report_waiting(&s.rep, *state);
	assert_string_equal(logged.text, "");
	(void)task_wait(&s.outcomes[3].run, 0, "the sun");
	report_waiting(&s.rep, *state);
	says(" s: the sun");
	forget();
	s.outcomes[1].state = RUN_WORKING;
	report_waiting(&s.rep, *state);
	says("WORKING file /etc/a: for 20.");
	forget();
	waits_over(*state);
	s.outcomes[3].run.since_ns = s.outcomes[1].work_ns = dur_now() - DUR_SEC;
	report_waiting(&s.rep, *state);
	assert_string_equal(logged.text, "");
}

static void what_is_waited_for_together_is_one_line(void **state)
{
	struct sample s;

	(void)state;
	sample(&s);
	for (size_t i = 0; i < 3; i++)
		s.outcomes[i].state = RUN_WORKING;
	s.outcomes[1].work_ns -= 10 * DUR_SEC;
	s.outcomes[2].work_ns = dur_now();
	report_waiting(&s.rep, *state);
	says("WORKING file /srv/key and 1 more: for 30.");
	says("WAITING file /etc/c: for 15.");
	assert_null(strstr(logged.text, "/etc/a"));
	forget();
	/* which of them is the first, and how many they are, is no news */
	s.outcomes[0].state = RUN_CHANGED;
	s.outcomes[2].work_ns -= 12 * DUR_SEC;
	report_waiting(&s.rep, *state);
	assert_string_equal(logged.text, "");
	waits_over(*state);
	s.outcomes[1].state = RUN_WAITING;
	(void)task_wait(&s.outcomes[1].run, 0, "the moon in 5 s");
	(void)task_wait(&s.outcomes[3].run, 0, "the moon in 12 ms");
	s.outcomes[1].run.since_ns = dur_now() - 40 * DUR_SEC;
	report_waiting(&s.rep, *state);
	says("WAITING file /etc/a and 1 more: for 40.");
	says("s: the moon in 5 s");
	says("WORKING file /etc/b: for 12.");
}

/* What no task says is the run's own error. */
static void a_recap_has_the_error_of_the_run(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv recap;
	struct sample s;
	struct err e;

	(void)state;
	sample(&s);
	s.rep.n = s.rep.first_failed = 1;
	s.outcomes[0].state = RUN_EQUAL;
	memset(s.rep.counts, 0, sizeof(s.rep.counts));
	s.rep.counts[RUN_EQUAL] = 1;
	(void)err_fail(&e, ERR_SYSTEM, 0, "kubelet does not answer");
	recap = report_recap(a, &s.rep, &e);
	assert_int_equal(recap.n, 2);
	assert_string_equal(recap.v[0], "ok 1 / changed 0 / failed 1");
	assert_string_equal(recap.v[1], "failed kubelet does not answer");
	s.rep.n = s.rep.first_failed = 2;
	s.outcomes[1].state = RUN_FAILED;
	s.outcomes[1].task = &s.tasks[2];
	s.tasks[2].optional = true;
	s.rep.counts[RUN_FAILED] = 1;
	recap = report_recap(a, &s.rep, &e);
	assert_int_equal(recap.n, 3);
	assert_string_equal(recap.v[0], "ok 1 / changed 0 / failed 2");
	assert_non_null(strstr(recap.v[1], " (perhaps not needed): "));
	assert_string_equal(recap.v[2], "failed kubelet does not answer");
	/* what was not done when the time was up says so itself */
	s.outcomes[1].state = RUN_WAITING;
	s.rep.counts[RUN_WAITING] = 1;
	s.rep.counts[RUN_FAILED] = 0;
	recap = report_recap(a, &s.rep, &e);
	assert_int_equal(recap.n, 2);
	assert_string_equal(recap.v[0], "ok 1 / changed 0 / failed 1");
	/* a loss that the node misses is not excused */
	s.rep.n = 3;
	s.outcomes[1].state = RUN_FAILED;
	s.outcomes[2].state = RUN_SKIPPED;
	s.outcomes[2].task = &s.tasks[0];
	s.outcomes[2].because = &s.tasks[2];
	recap = report_recap(a, &s.rep, NULL);
	assert_null(strstr(recap.v[1], "perhaps not needed"));
}

static void progress_and_summary(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv recap;
	struct sample s;

	(void)state;
	sample(&s);
	assert_string_equal(report_progress(a, &s.rep),
			    "3 of 4 tasks; waiting for file /etc/c: the moon");
	assert_string_equal(report_summary(a, &s.rep),
			    "4 tasks: 1 changed, 1 right, 1 failed, in 2.9 s");
	recap = report_recap(a, &s.rep, NULL);
	assert_string_equal(recap.v[0], "ok 1 / changed 1 / failed 2");
	assert_int_equal(recap.n, 4);
	s.outcomes[3].state = RUN_RETRYING;
	(void)err_fail(s.outcomes[3].error, ERR_NET, 0, "refused");
	assert_string_equal(report_progress(a, &s.rep),
			    "3 of 4 tasks; retrying file /etc/c: refused");
}

static const char *text_of(const struct tree *t, const char *key)
{
	const struct tree *v = tree_get(t, key);

	return v && v->kind == TREE_SCALAR ? v->scalar : "none";
}

static void the_status_file_says_it_all_but_no_secret(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autofree char *text = NULL;
	const struct tree *tasks;
	struct scratch root;
	struct sample s;
	struct status status;
	struct stat st;
	struct tree *t;
	struct err e;

	(void)state;
	scratch_new(&root);
	sample(&s);
	status = (struct status){ .state = "failed", .rep = &s.rep, .error = s.outcomes[2].error };
	assert_int_equal(status_write(root.fd, &status, &e), 0);
	assert_true(scratch_stat(&root, "/run/nodeup/status.json", &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	text = scratch_read(&root, "/run/nodeup/status.json");
	assert_null(strstr(text, secret));
	assert_int_equal(json_parse(a, "status", text, strlen(text), &t, &e), 0);
	assert_string_equal(text_of(t, "state"), "failed");
	assert_string_equal(text_of(t, "conf"), "none");
	assert_string_equal(text_of(tree_get(t, "error"), "kind"), "NET");
	assert_string_equal(text_of(tree_get(t, "error"), "exitStatus"), "69");
	assert_string_equal(text_of(tree_get(t, "counts"), "failed"), "1");
	tasks = tree_get(t, "tasks");
	assert_non_null(tasks);
	assert_int_equal(tasks->kind, TREE_SEQ);
	assert_non_null(strstr(text, "\"content differs\""));
	assert_non_null(strstr(text, "\"the moon\""));
	assert_string_equal(text_of(t, "nextRunUnixMs"), "none");
	/* till the next run has a plan it is said what was of the one before */
	status = (struct status){ .state = "running",
				  .assets = tree_add(a, tree_seq(a), tree_string(a, "of before")),
				  .next_run_wall_ns = 7 * DUR_SEC };
	assert_int_equal(status_write(root.fd, &status, &e), 0);
	free(text);
	text = scratch_read(&root, "/run/nodeup/status.json");
	assert_int_equal(json_parse(a, "status", text, strlen(text), &t, &e), 0);
	assert_string_equal(text_of(t, "nextRunUnixMs"), "7000");
	assert_string_equal(tree_get(t, "assets")->items[0].value->scalar, "of before");
	scratch_done(&root);
}

#define LOGGED_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOGGED_TEST(an_error_is_shown_with_its_notes_and_exit_status),
		cmocka_unit_test(each_kind_of_error_is_explained),
		LOGGED_TEST(each_outcome_has_its_line),
		LOGGED_TEST(nothing_waits_or_works_in_silence),
		LOGGED_TEST(what_is_waited_for_together_is_one_line),
		LOGGED_TEST(progress_and_summary),
		LOGGED_TEST(a_recap_has_the_error_of_the_run),
		LOGGED_TEST(the_status_file_says_it_all_but_no_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
