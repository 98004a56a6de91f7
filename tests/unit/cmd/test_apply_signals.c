/* Asks the emulators which services hear of a run's end: tests/fake/autoscaling.py, cloudformation.py, ec2.py and cloud.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/paths.h"
#include "nodeup/cmd/apply.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/config/signals.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/ec2_fake.h"
#include "tests/unit/lib/scratch.h"

#define INSTANCE "i-0123456789abcdef0"
#define STATE "/__set?path=autoscaling/target-lifecycle-state&value="

struct world {
	struct cloud *cloud;
	struct ec2_fake *groups, *stacks, *tags;
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	w->cloud = cloud_start(NULL);
	w->groups = ec2_fake_start_groups("\"groups\": {\"g\": {\"hooks\": {\"h\": [\"" INSTANCE
					  "\"]}}}, \"health\": {\"" INSTANCE "\": \"Healthy\"}");
	w->stacks = ec2_fake_start_stacks(
		"\"stacks\": {\"s\": {\"state\": \"CREATE_IN_PROGRESS\", \"resources\": {\"r\": {}}}}");
	w->tags = ec2_fake_start("\"tags\": {\"" INSTANCE "\": {}}");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	ec2_fake_stop(w->tags);
	ec2_fake_stop(w->stacks);
	ec2_fake_stop(w->groups);
	cloud_stop(w->cloud);
	test_free(w);
	return 0;
}

/* The end of one process. sent: the first letters of lifecycleHook, instanceHealth, stackSignal and tag. */
struct end {
	const char *boot; /* NULL: no further process */
	enum { SUCCEEDS, FAILS, RETRIES } how;
	const char *sent;
	bool by_hand, offline, is_damaged, was_good;
	const char *target; /* what the group wants of the instance; NULL: to be in service */
};

/* A machine: what an earlier process noted, and its ends. */
struct life {
	const char *name, *identity, *record;
	bool kubelet_ran;
	struct end ends[5];
};

static void count(struct world *w, int n[4])
{
	n[0] = ec2_fake_count(w->groups, "CompleteLifecycleAction");
	n[1] = ec2_fake_count(w->groups, "SetInstanceHealth");
	n[2] = ec2_fake_count(w->stacks, "SignalResource");
	n[3] = ec2_fake_count(w->tags, "CreateTags");
}

/* Ends a process; ret gets what it sent. */
static void end(struct world *w, struct scratch *root, const struct life *life,
		const struct end *now, char ret[5])
{
	static const char *const all[] = { "lifecycleHook=g:h", "instanceHealth", "stackSignal=s:r",
					   "tag=k" };
	autoarena struct arena *a = arena_new_empty();
	struct err why = { .msg = "x" };
	struct cli cli = { .offline = now->offline };
	struct apply ap = { .cli = &cli,
			    .live_fd = root->fd,
			    .identity = now == life->ends ? life->identity ?: "" : INSTANCE,
			    .kubelet_ran = life->kubelet_ran || now != life->ends,
			    .status = { .unit = now->by_hand ? NULL : boot_unit,
					.error = now->how ? &why : NULL } };
	int before[4], after[4];

	scratch_write(root, "/proc/sys/kernel/random/boot_id", arena_printf(a, "%s\n", now->boot));
	if (now->is_damaged)
		scratch_write(root, OWN_SIGNALS, "i-0123");
	if (now->was_good)
		scratch_write(root, OWN_LAST_GOOD, INSTANCE "\nkubelet.service\n");
	cloud_tell(w->cloud, CLOUD_IMDS, arena_printf(a, STATE "%s", now->target ?: "InService"));
	ap.session.boot.facts.instance_id = INSTANCE;
	ap.session.boot.facts.target_lifecycle_state = now->target;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		strv_add(a, &ap.session.settings.signals, all[i]);
	count(w, before);
	apply_tell_outside(&ap, now->how == RETRIES ? ROUND_FIRST : ROUND_NONE);
	count(w, after);
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (after[i] != before[i])
			*ret++ = *all[i];
	*ret = '\0';
}

static void which_and_when(void **state)
{
	static const struct life lives[] = {
		{ "ready at once", .ends = { { "b1", SUCCEEDS, "lst" },
					     { "b1", SUCCEEDS, "" },
					     { "b2", FAILS, "t" },
					     { "b3", SUCCEEDS, "t" } } },
		{ "failed at once", .ends = { { "b1", FAILS, "list" },
					      { "b1", FAILS, "t" },
					      { "b2", FAILS, "t" },
					      { "b2", SUCCEEDS, "lst" } } },
		{ "failed for good in a second process of the first boot",
		  .ends = { { "b1", RETRIES, "" }, { "b1", FAILS, "list" } } },
		{ "failed for good after a reboot",
		  .ends = { { "b1", RETRIES, "" }, { "b2", FAILS, "t" } } },
		{ "failed by hand, and then by the unit",
		  .ends = { { "b1", FAILS, "t", .by_hand = true }, { "b1", FAILS, "list" } } },
		{ "ready by hand",
		  .ends = { { "b1", SUCCEEDS, "lst", .by_hand = true }, { "b1", FAILS, "t" } } },
		{ "ready, and offline", .ends = { { "b1", RETRIES, "" },
						  { "b1", SUCCEEDS, "", .offline = true },
						  { "b1", FAILS, "t", .was_good = true } } },
		{ "its record is damaged",
		  .ends = { { "b1", RETRIES, "" }, { "b1", FAILS, "t", .is_damaged = true } } },
		{ "nodeup ran before, without the setting", .identity = INSTANCE,
		  .ends = { { "b1", FAILS, "t" } } },
		{ "another program made this node", .kubelet_ran = true,
		  .ends = { { "b1", FAILS, "t" }, { "b1", FAILS, "t" } } },
		{ "made of an image of another node", .identity = "i-0a1b",
		  .record = "i-0a1b b0 ready\n", .ends = { { "b1", FAILS, "list" } } },
		{ "in a warm pool, and then in service",
		  .ends = { { "b1", SUCCEEDS, "", .target = "Warmed:Stopped" },
			    { "b2", SUCCEEDS, "lst" } } },
		{ "failed in a warm pool",
		  .ends = { { "b1", FAILS, "", .target = "Warmed:Stopped" } } },
		{ "its group wants its end",
		  .ends = { { "b1", FAILS, "ist", .target = "Terminated" } } },
		{ "offline", .ends = { { "b1", SUCCEEDS, "", .offline = true } } },
	};

	for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
		struct scratch root;

		scratch_new(&root);
		if (lives[i].record)
			scratch_write(&root, OWN_SIGNALS, lives[i].record);
		for (const struct end *now = lives[i].ends; now->boot; now++) {
			char sent[5];

			end(*state, &root, &lives[i], now, sent);
			if (strcmp(sent, now->sent) != 0)
				fail_msg("%s, end %zu: sent %s", lives[i].name,
					 (size_t)(now - lives[i].ends), sent);
		}
		scratch_done(&root);
	}
}

/* It costs two seconds. A success is told again until all have heard it. */
static void a_service_that_is_down(void **state)
{
	static const struct life life = { .ends = { { "b1", SUCCEEDS, "lst" },
						    { "b1", SUCCEEDS, "lst" },
						    { "b1", SUCCEEDS, "" } } };
	struct world *w = *state;
	struct scratch root;

	scratch_new(&root);
	for (const struct end *now = life.ends; now->boot; now++) {
		const int64_t begun = dur_now();
		const bool hangs = now == life.ends;
		char sent[5];

		if (hangs)
			ec2_fake_fault(w->stacks, "SignalResource&code=Unavailable&hang=1");
		end(w, &root, &life, now, sent);
		assert_string_equal(sent, now->sent);
		if (hangs)
			assert_in_range(dur_now() - begun, 2 * DUR_SEC - DUR_MS, 4 * DUR_SEC);
	}
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(which_and_when, setup, teardown),
		cmocka_unit_test_setup_teardown(a_service_that_is_down, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
