#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/etcd/claims.h"

struct fixture {
	struct arena *arena;
	struct claims_req req;
	struct claims_result ret;
	struct ec2_volume volumes[2];
	struct volume_choice choices[2];
	struct claims c;
};

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	fx->arena = fx->req.arena = arena_new_empty();
	fx->volumes[0].id = "vol-m";
	fx->volumes[1].id = "vol-e";
	for (size_t i = 0; i < 2; i++)
		fx->choices[i].volume = &fx->volumes[i];
	fx->c = (struct claims){ .req = &fx->req, .ret = &fx->ret, .choices = fx->choices, .n = 2 };
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	arena_free(fx->arena);
	free(fx);
	return 0;
}

/* Members a, b, c of main and of events: for each, whether somebody has its volume. */
static struct members_known known(struct fixture *fx, const char *have)
{
	static const char *const names[] = { "etcd-a",        "etcd-b",        "etcd-c",
					     "etcd-events-a", "etcd-events-b", "etcd-events-c" };
	struct members_known ret = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		claims_note_peer(&fx->c, &ret, i / 3, names[i], have[i] == '+' ? "10.0.0.1" : NULL,
				 have[i] == '~' ? "10.9.9.9" : NULL);
	return ret;
}

/* A new etcd needs most of its own members; those of the other cluster help it nothing. */
static void test_most_of_each_cluster(void **state)
{
	static const struct {
		const char *fresh[3], *have;
		bool early, soon, later;
	} cases[] = {
		{ { "vol-m", "vol-e" }, "++++++", true, true, true },
		{ { "vol-m", "vol-e" }, "++-++-", false, true, true },
		{ { "vol-m", "vol-e" }, "+--+++", false, false, false },
		{ { "vol-m", "vol-e" }, "++++--", false, false, false },
		{ { "vol-m", "vol-e" }, "+~~+++", false, false, false },
		{ { "vol-m" }, "+--+++", false, false, false },
		{ { "vol-m" }, "++++--", false, true, true },
		{ { NULL }, "+--+--", false, false, true },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct members_known k = known(fx, cases[i].have);

		fx->c.fresh.n = 0;
		for (size_t n = 0; cases[i].fresh[n]; n++)
			strv_add(fx->arena, &fx->c.fresh, cases[i].fresh[n]);
		assert_int_equal(claims_may_begin(&fx->c, &k, 0), cases[i].early);
		assert_int_equal(claims_may_begin(&fx->c, &k, 2 * DUR_SEC), cases[i].soon);
		assert_int_equal(claims_may_begin(&fx->c, &k, 5 * DUR_SEC), cases[i].later);
	}
}

static void test_addresses_of_before(void **state)
{
	struct members_known k = known(*state, "+~-+++");

	assert_int_equal(k.hosts.n, 5);
	assert_string_equal(k.hosts.v[1].key, "etcd-b");
	assert_string_equal(k.hosts.v[1].value, "10.9.9.9");
	assert_null(strmap_get(&k.hosts, "etcd-c"));
	assert_int_equal(k.missing.n, 2);
	assert_string_equal(k.missing.v[0], "etcd-b");
	assert_string_equal(k.missing.v[1], "etcd-c");
}

/* A new etcd began with most of its members: who never had an address is waited for when all is started,
 * by the run that made it and by those that follow it in this process. */
static void test_who_is_waited_for(void **state)
{
	static const struct {
		const char *have;
		bool fresh, before, plan, late;
		size_t n;
	} cases[] = {
		{ "++-++-", true, false, false, true, 2 },
		{ "++-++-", false, true, false, true, 2 },
		{ "++-+++", true, false, false, true, 1 },
		{ "++-++-", false, false, false, false, 2 },
		{ "++~++~", true, false, false, false, 0 },
		{ "++++++", true, false, false, false, 0 },
		{ "++-++-", true, false, true, false, 2 },
		{ "++~++-", true, false, false, true, 1 },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct members_known k = known(fx, cases[i].have);

		fx->req.for_apply = !cases[i].plan;
		fx->req.was_new = cases[i].before;
		fx->c.fresh.n = 0;
		fx->ret.late = NULL;
		if (cases[i].fresh)
			strv_add(fx->arena, &fx->c.fresh, "vol-m");
		claims_note_late(&fx->c, &k);
		assert_int_equal(fx->ret.late != NULL, cases[i].late);
		assert_int_equal(fx->ret.is_new, cases[i].fresh || cases[i].before);
		assert_int_equal(claims_unmet(&fx->c, &k).n, cases[i].n);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_most_of_each_cluster),
		T(test_addresses_of_before),
		T(test_who_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
