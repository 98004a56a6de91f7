#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include "tests/unit/lib/unit_world.h"

static const char checkpoint[] = "/var/lib/x/cpu_manager_state";

static bool is_put_aside(struct world *w)
{
	struct stat st;
	const bool is_there = scratch_stat(&w->root, checkpoint, &st),
		   has_other = scratch_stat(&w->root, "/var/lib/x/cpu_manager_state.old", &st);

	assert_true(is_there != has_other);
	return has_other;
}

static void a_checkpoint_of_another_policy_is_put_aside_while_it_is_stopped(void **state)
{
	struct task_checkpoint wanted = { checkpoint, "static", "cpu-manager-policy",
					  "cpuManagerPolicy" };
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->unit.unit.checkpoints = &wanted;
	w->unit.unit.n_checkpoints = 1;
	scratch_write(&w->root, checkpoint, "{\"policyName\": \"none\"}");
	/* it runs as it should: its own */
	expect(w, "");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "");
	w->changed[0] = true;
	expect(w,
	       "/etc/sysconfig/x changes; /var/lib/x/cpu_manager_state is of policy none, and kubelet has "
	       "static: it is put aside");
	assert_int_equal(apply(w), TASK_WAIT);
	assert_string_equal(w->bus.calls, "stop x.service, ");
	assert_false(is_put_aside(w));
	/* a process of ours that was killed here begins anew */
	u->is.active_state = "inactive";
	u->is.sub_state = "dead";
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "stop x.service, start x.service, ");
	assert_true(is_put_aside(w));
}

static void a_checkpoint_of_this_policy_is_left(void **state)
{
	struct task_checkpoint wanted = { checkpoint, "static", "cpu-manager-policy",
					  "cpuManagerPolicy" };
	struct world *w = *state;

	(void)converged(w);
	w->unit.unit.checkpoints = &wanted;
	w->unit.unit.n_checkpoints = 1;
	scratch_write(&w->root, checkpoint, "{\"policyName\": \"static\"}");
	w->changed[0] = true;
	expect(w, "/etc/sysconfig/x changes");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "restart x.service, ");
	assert_false(is_put_aside(w));
}

/* An admin's drop-in gives kubelet a policy that no document speaks of. */
static void a_checkpoint_of_a_policy_that_others_set_is_left(void **state)
{
	static const char dropin[] = "/etc/systemd/system/x.service.d/9-mine.conf";
	struct task_checkpoint wanted = { checkpoint, "none", "cpu-manager-policy",
					  "cpuManagerPolicy" };
	struct world *w = *state;
	struct fake_unit *u = converged(w);

	w->unit.unit.checkpoints = &wanted;
	w->unit.unit.n_checkpoints = 1;
	scratch_write(&w->root, checkpoint, "{\"policyName\": \"static\"}");
	scratch_write(&w->root, "/etc/default/x", "ARGS=--cpu-manager-policy=static");
	scratch_write(&w->root, dropin, "[Service]\nEnvironmentFile=/etc/default/x\n");
	u->is.start_us = now_us() + 1;
	expect(w, "");
	w->changed[0] = true;
	expect(w, "/etc/sysconfig/x changes; /var/lib/x/cpu_manager_state is of policy static, and "
		  "kubelet has none: it is left, as /etc/default/x has cpu-manager-policy");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "restart x.service, ");
	assert_false(is_put_aside(w));
	w->bus.calls[0] = '\0';
	/* that one ends kubelet of any policy */
	scratch_write(&w->root, checkpoint, "{");
	expect(w,
	       "/etc/sysconfig/x changes; /var/lib/x/cpu_manager_state cannot be read: it is put aside");
	/* this drop-in says nothing of it */
	scratch_write(&w->root, checkpoint, "{\"policyName\": \"static\"}");
	scratch_write(&w->root, dropin, "[Service]\nNice=1\n");
	w->run = (struct task_run){ 0 };
	assert_int_equal(apply(w), TASK_WAIT);
	assert_string_equal(w->bus.calls, "stop x.service, ");
}

static void a_checkpoint_is_put_aside_before_a_first_start(void **state)
{
	struct task_checkpoint wanted = { checkpoint, "none", "cpu-manager-policy",
					  "cpuManagerPolicy" };
	struct world *w = *state;
	struct fake_unit *u = fake_bus_add(&w->bus, "x.service", 0);

	u->is.active_state = "failed";
	w->unit.unit.checkpoints = &wanted;
	w->unit.unit.n_checkpoints = 1;
	scratch_write(&w->root, checkpoint, "{\"policyName\": \"static\"}");
	assert_int_equal(apply(w), TASK_DONE);
	assert_string_equal(w->bus.calls, "reset-failed x.service, start x.service, ");
	assert_true(is_put_aside(w));
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_checkpoint_of_another_policy_is_put_aside_while_it_is_stopped),
		WORLD_TEST(a_checkpoint_of_this_policy_is_left),
		WORLD_TEST(a_checkpoint_of_a_policy_that_others_set_is_left),
		WORLD_TEST(a_checkpoint_is_put_aside_before_a_first_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
