#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/run/window.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"
#include "nodeup/tasks/task.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/unit_world.h"

static void record(struct world *w, enum started_state state, uint64_t us)
{
	struct started s = started_get(w->root.fd, "x.service");

	s.state = state;
	s.us = us;
	assert_int_equal(started_set(w->root.fd, "x.service", &s, &w->e), 0);
}

static void a_unit_nobody_knows_is_enabled_and_started(void **state)
{
	struct world *w = *state;
	struct fake_unit *u;

	expect(w, "unknown to systemd");
	u = fake_bus_add(&w->bus, "x.service", 0);
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	u->is.file_state = "disabled";
	expect(w, "not enabled");
	u->job = BUS_JOB_RUNNING;
	assert_int_equal(apply(w), TASK_WAIT);
	assert_string_equal(w->bus.calls, "enable x.service, start x.service, ");
	assert_int_equal(started_get(w->root.fd, "x.service").state, STARTED_PENDING);
	u->job = BUS_JOB_DONE;
	u->is.active_state = "active";
	u->is.file_state = "enabled";
	u->is.start_us = now_us();
	assert_int_equal(apply(w), TASK_DONE);
	assert_int_equal(started_get(w->root.fd, "x.service").state, STARTED_DONE);
	w->bus.calls[0] = '\0';
	expect(w, "");
}

static void what_runs_as_it_should_is_left_alone(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	expect(w, "");
	u->is.file_state = "static";
	expect(w, "");
	u->is.active_state = "reloading";
	expect(w, "");
}

static void what_does_not_run_is_started(void **state)
{
	static const struct {
		const char *active, *sub, *why, *calls;
	} rows[] = {
		{ "inactive", "dead", "inactive (dead)", "start x.service, " },
		{ "failed", "failed", "failed (failed)",
		  "reset-failed x.service, start x.service, " },
		{ "activating", "auto-restart", "activating (auto-restart)",
		  "restart x.service, " },
	};
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		u->is.active_state = rows[i].active;
		u->is.sub_state = rows[i].sub;
		w->bus.calls[0] = '\0';
		w->run = (struct task_run){ 0 };
		expect(w, rows[i].why);
		assert_int_equal(apply(w), TASK_DONE);
		assert_string_equal(w->bus.calls, rows[i].calls);
	}
}

static void other_inputs_restart_it(void **state)
{
	struct world *w = *state;

	(void)converged(w);
	w->file.file.content = "A=2\n";
	expect(w, "it was started with other inputs");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "restart x.service, ");
	w->bus.calls[0] = '\0';
	expect(w, "");
}

static void an_input_changed_in_this_run_restarts_it(void **state)
{
	struct world *w = *state;

	(void)converged(w);
	w->changed[0] = true;
	expect(w, "/etc/sysconfig/x changes");
	/* another mode is no other content */
	w->kept[0] = true;
	expect(w, "");
}

static void enabling_restarts_nothing(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	u->is.file_state = "disabled";
	expect(w, "not enabled");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "enable x.service, ");
	assert_int_equal(started_get(w->root.fd, "x.service").state, STARTED_DONE);
}

static void a_start_that_was_cut_short_is_made_again(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	record(w, STARTED_PENDING, u->is.start_us + 1);
	expect(w, "its last start was interrupted");
	/* but the job we did not see the end of may have been done */
	record(w, STARTED_PENDING, u->is.start_us);
	expect(w, "");
}

/* It crashed and came back, and then somebody wrote the same bytes again, or set a mode: whatever the
 * file's times say, and wherever the clock was set. */
static void the_same_bytes_written_again_restart_nothing(void **state)
{
	const struct timespec late[] = { { .tv_sec = INT32_MAX }, { .tv_sec = INT32_MAX } };
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	u->is.start_us += 5;
	scratch_write(&w->root, file_path, "A=1\n");
	assert_int_equal(utimensat(w->root.fd, file_path + 1, late, 0), 0);
	expect(w, "");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "");
}

/* A run was killed between writing and the restart, and systemd started it again before or after the
 * writing: nobody knows with what. */
static void what_was_written_and_not_started_with_is_made_good(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	assert_int_equal(started_doubt(&w->file, &w->ctx, &w->e), 0);
	expect(w, "what it is started with was written anew since");
	u->is.start_us = now_us() + 5;
	expect(w, "what it is started with was written anew since");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "restart x.service, ");
	w->bus.calls[0] = '\0';
	expect(w, "");
}

/* The job of a oneshot is done, but not with this. */
static void a_oneshot_is_run_again_with_what_was_written(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	u->is.type = "oneshot";
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	assert_int_equal(started_doubt(&w->file, &w->ctx, &w->e), 0);
	expect(w, "what it is started with was written anew since");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "start x.service, ");
}

static void only_records_of_what_is_started_with_it_are_doubted(void **state)
{
	struct world *w = *state;
	struct stat st;

	/* it never was started */
	assert_int_equal(started_doubt(&w->file, &w->ctx, &w->e), 0);
	assert_false(scratch_stat(&w->root, record_path, &st));
	(void)converged(w);
	w->ctx.image_mode = true;
	assert_int_equal(started_doubt(&w->file, &w->ctx, &w->e), 0);
	w->ctx.image_mode = false;
	w->file.name = "/etc/other";
	assert_int_equal(started_doubt(&w->file, &w->ctx, &w->e), 0);
	assert_int_equal(started_get(w->root.fd, "x.service").state, STARTED_DONE);
}

static void without_a_record_age_decides(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	scratch_write(&w->root, record_path, "");
	expect(w, "");
	u->is.start_us = 1;
	expect(w, "/etc/sysconfig/x is newer than the running process");
}

/* Drop-ins of an admin, and what others put where the unit has a place for them. */
static void files_of_others_restart_it(void **state)
{
	static const char *const paths[] = {
		"/etc/systemd/system/x.service.d/50-mine.conf",
		"/run/systemd/system/x.service.d/a.conf",
		"/usr/lib/systemd/system/x.service.d/a.conf",
		"/etc/x/conf.d/99-theirs.toml",
	};
	static const char *const other[] = {
		"/etc/systemd/system/x.service.d/README",
		"/etc/systemd/system/y.service.d/50-mine.conf",
		"/run/systemd/system.control/x.service.d/50-CPUQuota.conf",
		"/etc/x/conf.d/theirs.toml.bak",
	};
	autoarena struct arena *a = arena_new_empty();
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->unit.unit.shared = "/etc/x/conf.d";
	w->unit.unit.shared_ending = ".toml";
	expect(w, "");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		for (size_t k = 0; k < 3; k++) {
			if (k < 2)
				scratch_write(&w->root, paths[i], k ? "changed" : "made");
			else
				assert_int_equal(unlinkat(w->root.fd, paths[i] + 1, 0), 0);
			/* it is older than they are */
			u->is.start_us = 1;
			expect(w, k < 2 ? arena_printf(a, "%s is newer than the running process",
						       paths[i])
					: "files of others that it was started with are gone");
			/* an admin has restarted it since */
			u->is.start_us = now_us() + 1;
			expect(w, "");
			u->is.start_us = 1;
			w->run = (struct task_run){ 0 };
			assert_int_equal(apply(w), TASK_DONE);
			assert_string_equal(w->bus.calls, "restart x.service, ");
			w->bus.calls[0] = '\0';
			expect(w, "");
		}
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		scratch_write(&w->root, other[i], "");
	expect(w, "");
}

static void what_is_mounted_stays_whatever_others_write(void **state)
{
	struct world *w = *state;
	struct fake_unit *u;

	w->unit.name = "data.mount";
	u = fake_bus_add(&w->bus, "data.mount", now_us() + 1);
	(void)w->unit.ops->apply(&w->unit, &w->ctx, &w->run, &w->e);
	w->bus.calls[0] = '\0';
	scratch_write(&w->root, "/etc/systemd/system/data.mount.d/50-mine.conf", "changed");
	u->is.start_us = 1;
	expect(w, "");
}

static void a_record_of_before_tells_nothing_of_others(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);
	struct started s = started_get(w->root.fd, "x.service");

	scratch_write(&w->root, "/etc/systemd/system/x.service.d/a.conf", "");
	s.has_foreign = false;
	assert_int_equal(started_set(w->root.fd, "x.service", &s, &w->e), 0);
	u->is.start_us = (uint64_t)dur_now() / 1000 + 1;
	expect(w, "");
	u->is.start_us = 1;
	expect(w, "/etc/systemd/system/x.service.d/a.conf is newer than the running process");
}

static void a_masked_unit_is_its_admins(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	u->is.load_state = "masked";
	assert_int_equal(w->unit.ops->check(&w->unit, &w->ctx, &w->diff, &w->e), -EPERM);
	assert_non_null(strstr(w->e.msg, "unmask"));
}

static void a_failed_job_tells_what_the_unit_said(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->changed[0] = true;
	u->job = BUS_JOB_FAILED;
	u->result = "failed";
	u->is.active_state = u->is.sub_state = "failed";
	u->is.result = "exit-code";
	u->is.exec_code = CLD_EXITED;
	u->is.exec_status = 203;
	assert_int_equal(apply(w), -EIO);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_string_equal(w->e.notes[0].text,
			    "failed (failed), result exit-code, exit status 203, restarts 0");
	assert_string_equal(w->e.notes[1].text, "last words of x.service");
	assert_int_equal(started_get(w->root.fd, "x.service").state, STARTED_PENDING);
}

/* "dependency" is all that systemd says of a mount whose check of the file system failed. */
static void what_it_needed_is_named(void **state)
{
	static const char *const after[] = { "fine.target", "fsck.service", NULL };
	struct world *w = *state;
	struct fake_unit *u = converged(w), *check;

	(void)fake_bus_add(&w->bus, "fine.target", 5);
	check = fake_bus_add(&w->bus, "fsck.service", 5);
	w->changed[0] = true;
	u->job = BUS_JOB_FAILED;
	u->result = "dependency";
	u->is.active_state = "inactive";
	u->is.after = after;
	assert_int_equal(apply(w), -EIO);
	assert_string_equal(w->e.msg, "it was not started: what it needs failed");
	check->is.active_state = check->is.sub_state = "failed";
	w->run = (struct task_run){ 0 };
	assert_int_equal(apply(w), -EIO);
	assert_string_equal(w->e.msg, "it was not started: fsck.service failed, which it needs");
	assert_string_equal(w->e.notes[1].text, "last words of fsck.service");
}

static void a_oneshot_that_ended_well_is_right(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	u->is.type = "oneshot";
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	expect(w, "");
	/* systemd has forgotten when that was */
	u->is.start_us = u->is.active_enter_us = 0;
	expect(w, "");
	u->is.result = "exit-code";
	expect(w, "inactive (dead)");
	u->is.result = "success";
	assert_int_equal(unlinkat(w->root.fd, record_path + 1, 0), 0);
	expect(w, "inactive (dead)");
}

static void an_enabled_oneshot_runs_once_a_boot(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	assert_int_equal(unlinkat(w->root.fd, record_path + 1, 0), 0);
	w->unit.unit.enable = true;
	u->is.type = "oneshot";
	u->is.active_state = "activating";
	u->is.sub_state = "start";
	u->is.start_us = (uint64_t)dur_now() / 1000 + 1000000;
	/* systemd began with it before we came: its job is joined, not restarted */
	expect(w, "activating (start)");
	u->job = BUS_JOB_DONE;
	(void)apply(w);
	assert_string_equal(w->bus.calls, "start x.service, ");
	w->bus.calls[0] = '\0';
	assert_int_equal(unlinkat(w->root.fd, record_path + 1, 0), 0);
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	expect(w, "");
	w->unit.unit.enable = false;
	expect(w, "inactive (dead)");
}

static void a_unit_that_is_not_to_run_is_stopped_and_disabled(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->unit.ops = &task_unit_off_ops;
	u->is.file_state = "enabled";
	expect(w, "active, but the documents disable it");
	u->job = BUS_JOB_DONE;
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "disable x.service, reload all, stop x.service, ");
	w->bus.calls[0] = '\0';
	u->is.active_state = "inactive";
	u->is.file_state = "enabled";
	expect(w, "enabled, but the documents disable it");
	u->is.file_state = "disabled";
	expect(w, "");
	/* nobody knows it: as good as stopped */
	u->is.file_state = "";
	expect(w, "");
}

/* A timer runs it again and again: what counts is that it began once since we asked. */
static void a_oneshot_for_once_a_boot_is_not_asked_for_again(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	assert_int_equal(unlinkat(w->root.fd, record_path + 1, 0), 0);
	w->unit.unit.no_wait = w->unit.unit.once = true;
	u->is.type = "oneshot";
	u->is.start_us = u->is.active_enter_us = 0;
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	expect(w, "inactive (dead)");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "start x.service, ");
	w->bus.calls[0] = '\0';
	u->is.start_us = (uint64_t)dur_now() / 1000 + 1000000;
	expect(w, "");
	w->unit.unit.once = false;
	expect(w, "inactive (dead)");
}

static void a_job_behind_our_own_unit_is_not_awaited(void **state)
{
	static const char *const after[] = { "a.target", NULL };
	static const char *const target_after[] = { "ours.service", NULL };
	struct world *w = *state;
	struct fake_unit *u = converged(w), *target, *ours;

	target = fake_bus_add(&w->bus, "a.target", 0);
	ours = fake_bus_add(&w->bus, "ours.service", 0);
	u->is.after = after;
	target->is.after = target_after;
	ours->is.active_state = "activating";
	w->ctx.own_unit = "ours.service";
	w->changed[0] = true;
	u->job = BUS_JOB_WAITING;
	w->run.since_ns = dur_now();
	assert_int_equal(apply(w), TASK_WAIT);
	assert_false(w->run.detached);
	w->run.since_ns -= 3 * DUR_SEC;
	/* one that is up already holds nobody back */
	ours->is.active_state = "active";
	assert_int_equal(apply(w), TASK_WAIT);
	ours->is.active_state = "activating";
	assert_int_equal(apply(w), TASK_DONE);
	assert_true(w->run.detached);
	/* it started when we had ended: that is what the pending record was for */
	w->changed[0] = false;
	u->is.start_us = now_us() + 1;
	w->bus.calls[0] = '\0';
	expect(w, "");
}

static void our_own_unit_is_neither_awaited_nor_restarted(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->unit.unit.no_wait = true;
	record(w, STARTED_PENDING, now_us());
	u->is.active_state = "inactive";
	expect(w, "inactive (running)");
	u->job = BUS_JOB_RUNNING;
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "start x.service, ");
	w->bus.calls[0] = '\0';
	u->is.active_state = "activating";
	expect(w, "");
	/* it is at work and only not enabled */
	u->is.file_state = "disabled";
	expect(w, "not enabled");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "enable x.service, ");
	w->bus.calls[0] = '\0';
	u->is.file_state = "enabled";
	/* between two tries it is active, and goes on with what it was started with */
	u->is.active_state = "active";
	w->changed[0] = true;
	expect(w, "");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "");
}

/* Of another type than a oneshot, it is over all the same when its run is. */
static void our_own_unit_runs_once_a_boot(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	assert_int_equal(unlinkat(w->root.fd, record_path + 1, 0), 0);
	u->is.type = "notify";
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	u->is.start_us = now_us() + 1000000;
	expect(w, "inactive (dead)");
	w->unit.unit.no_wait = true;
	expect(w, "");
	u->is.result = "exit-code";
	expect(w, "inactive (dead)");
}

static void without_a_manager_it_says_so(void **state)
{
	struct world *w = *state;

	w->ctx.bus = NULL;
	assert_int_equal(w->unit.ops->check(&w->unit, &w->ctx, &w->diff, &w->e), -ENOTCONN);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
}

static void reload_when_systemd_knows_less_than_the_disk(void **state)
{
	struct world *w = *state;
	struct task file = { .kind = TASK_FILE,
			     .ops = &task_file_ops,
			     .name = "/etc/systemd/system/x.service" };
	struct task dropin = { .kind = TASK_FILE,
			       .ops = &task_file_ops,
			       .name = "/etc/systemd/system/y.service.d/a.conf" };
	const struct task *needs[] = { &file, &dropin };
	const struct task t = {
		.kind = TASK_RELOAD, .ops = &task_reload_ops, .needs = needs, .n_needs = 2
	};
	const struct task_ops *ops = t.ops;
	static const char *const not_loaded[] = { "error", "bad-setting", "masked" };
	struct fake_unit *x, *y;

	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "has not loaded it (not-found)"));
	x = fake_bus_add(&w->bus, "x.service", 1);
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_EQUAL);
	/* its file was gone when systemd read all units again, and it ran on; what was read is not what is there now */
	for (size_t i = 0; i < ARRAY_LEN(not_loaded); i++) {
		x->is.load_state = not_loaded[i];
		assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
		assert_non_null(strstr(w->diff.why, "systemd has not loaded it"));
	}
	x->is.load_state = "loaded";
	/* a package brought one, which was read before ours was there */
	x->is.fragment_path = "/lib/systemd/system/x.service";
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "systemd has read /lib/systemd/system/x.service"));
	/* it goes before ours, whatever is read again */
	x->is.fragment_path = "/run/systemd/transient/x.service";
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_EQUAL);
	x->is.fragment_path = "/etc/systemd/system/x.service";
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_EQUAL);
	y = fake_bus_add(&w->bus, "y.service", 1);
	y->is.need_reload = true;
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "a.conf is newer"));
	y->is.need_reload = false;
	w->changed[0] = true;
	/* systemd has read what was written since */
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_EQUAL);
	w->ctx.only_looks = true;
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "changes"));
	w->ctx.only_looks = false;
	file.file.unwanted = "not wanted";
	assert_int_equal(ops->check(&t, &w->ctx, &w->diff, &w->e), TASK_DIFFERS);
	assert_int_equal(ops->apply(&t, &w->ctx, &w->run, &w->e), TASK_DONE);
	assert_string_equal(w->bus.calls, "reload all, ");
}

/* What happens to x.service while the window is open. */
struct mishap {
	struct fake_unit *unit;
	struct bus_unit then;
};

static void strike(void *arg, const char *what)
{
	struct mishap *m = arg;

	(void)what;
	m->unit->is = m->then;
}

static void the_window_sees_a_service_that_does_not_stay_up(void **state)
{
	static const struct {
		const char *type, *active, *result, *says;
		uint32_t pid, restarts;
	} rows[] = {
		{ "simple", "active", "success", "its process was replaced", 101, 0 },
		{ "simple", "active", "success", "its process was replaced", 100, 1 },
		{ "simple", "failed", "exit-code", "does not stay up", 100, 0 },
		{ "", "inactive", "", "does not stay up", 100, 0 },
		{ "oneshot", "inactive", "exit-code", "x.service failed", 100, 0 },
	};
	struct world *w = *state;
	struct fake_unit *u = converged(w);
	const struct bus_unit fine = u->is;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct run_outcome o = { .task = &w->unit,
					 .state = RUN_CHANGED,
					 .end_ns = dur_now() };
		const struct run_report rep = { .outcomes = &o, .n = 1 };
		const struct run_req req = { .ctx = &w->ctx };
		struct mishap m = { u, fine };

		u->is = fine;
		u->is.type = m.then.type = rows[i].type;
		m.then.active_state = rows[i].active;
		m.then.result = rows[i].result;
		m.then.main_pid = rows[i].pid;
		m.then.n_restarts = rows[i].restarts;
		assert_int_equal(window_watch(&req, &rep, strike, &m, &w->e), -EIO);
		assert_non_null(strstr(w->e.msg, rows[i].says));
		assert_string_equal(w->e.notes[1].text, "last words of x.service");
	}
}

static void the_window_is_over_at_the_deadline(void **state)
{
	struct world *w = *state;
	struct fake_unit *u = converged(w);
	struct run_outcome o = { .task = &w->unit, .state = RUN_CHANGED, .end_ns = dur_now() };
	const struct run_report rep = { .outcomes = &o, .n = 1 };
	const struct run_req req = { .ctx = &w->ctx, .deadline_ns = dur_now() };
	struct mishap m = { u, u->is };

	assert_int_equal(window_watch(&req, &rep, strike, &m, &w->e), -ETIMEDOUT);
	assert_int_equal(w->e.kind, ERR_BUSY);
	/* one whose window has passed while others were at work needs no time */
	o.end_ns -= 11 * DUR_SEC;
	u->is.active_enter_us = (uint64_t)o.end_ns / 1000;
	assert_int_equal(window_watch(&req, &rep, strike, &m, &w->e), 0);
	/* unless systemd had to start it again meanwhile */
	u->is.active_enter_us = (uint64_t)dur_now() / 1000;
	assert_int_equal(window_watch(&req, &rep, strike, &m, &w->e), -ETIMEDOUT);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_unit_nobody_knows_is_enabled_and_started),
		WORLD_TEST(what_runs_as_it_should_is_left_alone),
		WORLD_TEST(what_does_not_run_is_started),
		WORLD_TEST(other_inputs_restart_it),
		WORLD_TEST(an_input_changed_in_this_run_restarts_it),
		WORLD_TEST(enabling_restarts_nothing),
		WORLD_TEST(a_start_that_was_cut_short_is_made_again),
		WORLD_TEST(the_same_bytes_written_again_restart_nothing),
		WORLD_TEST(what_was_written_and_not_started_with_is_made_good),
		WORLD_TEST(a_oneshot_is_run_again_with_what_was_written),
		WORLD_TEST(only_records_of_what_is_started_with_it_are_doubted),
		WORLD_TEST(without_a_record_age_decides),
		WORLD_TEST(files_of_others_restart_it),
		WORLD_TEST(what_is_mounted_stays_whatever_others_write),
		WORLD_TEST(a_record_of_before_tells_nothing_of_others),
		WORLD_TEST(a_masked_unit_is_its_admins),
		WORLD_TEST(a_failed_job_tells_what_the_unit_said),
		WORLD_TEST(what_it_needed_is_named),
		WORLD_TEST(a_oneshot_that_ended_well_is_right),
		WORLD_TEST(a_oneshot_for_once_a_boot_is_not_asked_for_again),
		WORLD_TEST(an_enabled_oneshot_runs_once_a_boot),
		WORLD_TEST(a_unit_that_is_not_to_run_is_stopped_and_disabled),
		WORLD_TEST(a_job_behind_our_own_unit_is_not_awaited),
		WORLD_TEST(our_own_unit_is_neither_awaited_nor_restarted),
		WORLD_TEST(our_own_unit_runs_once_a_boot),
		WORLD_TEST(without_a_manager_it_says_so),
		WORLD_TEST(reload_when_systemd_knows_less_than_the_disk),
		WORLD_TEST(the_window_sees_a_service_that_does_not_stay_up),
		WORLD_TEST(the_window_is_over_at_the_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
