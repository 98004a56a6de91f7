#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/paths.h"
#include "nodeup/cmd/last_good.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

#define UNITS "/etc/systemd/system/"
#define INSTALL "[Install]\nWantedBy=multi-user.target\n"

/* Instance i-0a1b at a boot whose run was refused. What is started does not stay up, so that no test waits for that. */
struct world {
	struct scratch root;
	struct bus bus;
	struct session session;
	struct err e;
};

static int world_new(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->session = (struct session){ .arena = arena_new_empty(),
				       .root_fd = w->root.fd,
				       .own_unit = "kops-configuration.service" };
	w->session.boot.facts.instance_id = "i-0a1b";
	w->session.ctx.bus = &w->bus;
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	workers_free(w->session.workers);
	arena_free(w->session.arena);
	scratch_done(&w->root);
	test_free(w);
	return 0;
}

static struct fake_unit *add(struct world *w, const char *name, const char *file_state,
			     const char *type)
{
	struct fake_unit *u = fake_bus_add(&w->bus, name, 0);

	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	u->is.file_state = file_state;
	u->is.type = type;
	return u;
}

/* What an older nodeup left: a unit file that it wrote. */
static void put_unit(struct world *w, const char *name, const char *origin, const char *text)
{
	const char *path = arena_printf(w->session.arena, UNITS "%s", name);
	struct digest d = { .algo = DIGEST_SHA256 };
	autoclose int fd = -1;
	struct state *s;

	scratch_write(&w->root, path, text);
	assert_int_equal(io_open_file(w->root.fd, path, &fd, &w->e), 0);
	assert_int_equal(state_open(w->root.fd, &s, &w->e), 0);
	state_set(s, path, fd, &d, origin);
	assert_int_equal(state_store(s, &w->e), 0);
	state_close(s);
}

static void put_run(struct world *w, const char *name, const char *state, const char *changed)
{
	scratch_write(&w->root, arena_printf(w->session.arena, OWN_RUNS_DIR "/%s.json", name),
		      arena_printf(w->session.arena,
				   "{\"schema\": 1, \"state\": \"%s\", \"changed\": [%s]}", state,
				   changed));
}

/* A note on what came of it: "label: text", or "". */
static const char *note(const struct world *w, size_t i)
{
	return w->e.nnotes > i ? arena_printf(w->session.arena, "%s: %s", w->e.notes[i].label,
					      w->e.notes[i].text)
			       : "";
}

static bool start(struct world *w)
{
	const struct last_good_req req = { .no_metadata = true };

	(void)err_config(&w->e, "refused");
	w->bus.calls[0] = '\0';
	return last_good_start(&w->session, &req, &w->e);
}

static void what_is_recorded_is_started(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, OWN_LAST_GOOD,
		      "i-0a1b\nkubelet.service\ndocker.service\ntold.service\ndata.mount\n");
	add(w, "kubelet.service", "disabled", "simple");
	fake_bus_add(&w->bus, "docker.service", 1);
	add(w, "told.service", "enabled", "oneshot");
	add(w, "data.mount", "enabled", "");
	assert_false(start(w));
	assert_string_equal(w->bus.calls, "start kubelet.service, ");
	assert_string_equal(
		note(w, 0),
		"started: kubelet.service: as the last run that ended well had it, with what is on the disk");
	assert_string_equal(note(w, 1), "not up: unit kubelet.service does not stay up");
	/* what a later run compares: it knows nothing of this start */
	assert_int_equal(scratch_count(&w->root, OWN_STARTED_DIR), 0);
	assert_int_equal(scratch_count(&w->root, OWN_LIB), 1);
}

static void what_runs_or_is_masked_is_left_alone(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, OWN_LAST_GOOD, "i-0a1b\nkubelet.service\nmasked.service\n");
	fake_bus_add(&w->bus, "kubelet.service", 1);
	add(w, "masked.service", "", "simple")->is.load_state = "masked";
	assert_true(start(w));
	assert_string_equal(w->bus.calls, "");
	assert_non_null(strstr(note(w, 0), "started: nothing anew: as the last run"));
}

static void a_start_job_that_fails_is_told(void **state)
{
	struct world *w = *state;
	struct fake_unit *u;

	scratch_write(&w->root, OWN_LAST_GOOD, "i-0a1b\nkubelet.service\n");
	u = add(w, "kubelet.service", "static", "simple");
	u->job = BUS_JOB_FAILED;
	u->result = "dependency";
	assert_false(start(w));
	assert_non_null(
		strstr(note(w, 1),
		       "not up: unit kubelet.service: it was not started: what it needs failed"));
}

static void a_node_of_an_older_nodeup_is_known_by_its_records(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, OWN_IDENTITY, "i-0a1b");
	put_run(w, "1", "ready",
		"{\"task\": \"unit warm.service\", \"why\": \"not enabled\"},"
		"{\"task\": \"unit kubelet.service\", \"why\": \"inactive (dead)\"}");
	put_run(w, "2", "ready",
		"{\"task\": \"unit warm.service\", \"why\": \"active, but the documents disable it\"}");
	put_run(w, "3", "failed", "");
	put_unit(w, "hook.service", "hooks", "[Service]\nExecStart=/hook\n");
	put_unit(w, "kubelet.service", "states", INSTALL);
	put_unit(w, "warm.service", "kops-kubelet", INSTALL);
	put_unit(w, "enabled.service", "docker", INSTALL);
	put_unit(w, "logrotate.service", "logrotate", "");
	put_unit(w, "logrotate.timer", "logrotate", "[Timer]\n");
	put_unit(w, "kube.slice", "kops-kubelet", "");
	put_unit(w, "x.service.d/1.conf", "docker", "");
	put_unit(w, "kops-configuration.service", "bootstrap", "");
	put_unit(w, "own.service", "file-assets", "");
	add(w, "hook.service", "static", "simple");
	add(w, "kubelet.service", "disabled", "simple");
	add(w, "logrotate.timer", "static", "");
	assert_false(start(w));
	assert_string_equal(w->bus.calls,
			    "start hook.service, start kubelet.service, start logrotate.timer, ");
}

static void without_a_run_that_ended_well_there_is_nothing(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, OWN_IDENTITY, "i-0a1b");
	put_unit(w, "kubelet.service", "kubelet", "");
	add(w, "kubelet.service", "static", "simple");
	assert_false(start(w));
	put_run(w, "1", "failed", "");
	assert_false(start(w));
	assert_string_equal(w->bus.calls, "");
	assert_string_equal(note(w, 0), "");
	put_run(w, "2", "degraded", "");
	assert_false(start(w));
	assert_string_equal(w->bus.calls, "start kubelet.service, ");
}

static void another_instance_starts_nothing(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, OWN_LAST_GOOD, "i-0f00\nkubelet.service\n");
	add(w, "kubelet.service", "static", "simple");
	assert_false(start(w));
	assert_string_equal(
		note(w, 0),
		"ruled out: to start what ran before: that was on i-0f00, and this is i-0a1b");
	scratch_write(&w->root, OWN_LAST_GOOD, "-\nkubelet.service\n");
	assert_false(start(w));
	assert_non_null(strstr(note(w, 0), "that was on an instance that was not known"));
	/* the id of this instance is not known */
	w->session.boot.facts.instance_id = NULL;
	scratch_write(&w->root, OWN_LAST_GOOD, "i-0a1b\nkubelet.service\n");
	assert_false(start(w));
	assert_non_null(strstr(note(w, 0), "the id of this instance is not known"));
	assert_string_equal(w->bus.calls, "");
	/* nor could it be then: no metadata says that it is another one */
	scratch_write(&w->root, OWN_LAST_GOOD, "-\nkubelet.service\n");
	assert_false(start(w));
	assert_string_equal(w->bus.calls, "start kubelet.service, ");
}

static void a_run_that_ended_well_is_remembered(void **state)
{
	struct world *w = *state;
	struct task kubelet = { .kind = TASK_UNIT,
				.ops = &task_unit_ops,
				.name = "kubelet.service" },
		    off = { .kind = TASK_UNIT, .ops = &task_unit_off_ops, .name = "off.service" },
		    us = { .kind = TASK_UNIT, .ops = &task_unit_ops, .name = "us.service" },
		    file = { .kind = TASK_FILE, .ops = &task_file_ops, .name = "/a" };
	struct task *tasks[] = { &file, &kubelet, &off, &us };
	struct stat before, after;
	char *text;

	us.unit.at_boot = true;
	w->session.plan.tasks = tasks;
	w->session.plan.n = ARRAY_LEN(tasks);
	assert_int_equal(last_good_keep(&w->session, &w->e), 0);
	text = scratch_read(&w->root, OWN_LAST_GOOD);
	assert_string_equal(text, "i-0a1b\nkubelet.service\n");
	free(text);
	/* a second run changes nothing */
	assert_true(scratch_stat(&w->root, OWN_LAST_GOOD, &before));
	assert_int_equal(last_good_keep(&w->session, &w->e), 0);
	assert_true(scratch_stat(&w->root, OWN_LAST_GOOD, &after));
	assert_int_equal(before.st_ino, after.st_ino);
	add(w, "kubelet.service", "static", "simple");
	assert_false(start(w));
	assert_string_equal(w->bus.calls, "start kubelet.service, ");
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(what_is_recorded_is_started),
		WORLD_TEST(what_runs_or_is_masked_is_left_alone),
		WORLD_TEST(a_start_job_that_fails_is_told),
		WORLD_TEST(a_node_of_an_older_nodeup_is_known_by_its_records),
		WORLD_TEST(without_a_run_that_ended_well_there_is_nothing),
		WORLD_TEST(another_instance_starts_nothing),
		WORLD_TEST(a_run_that_ended_well_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
