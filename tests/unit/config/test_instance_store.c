#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/config/instance_store.h"

struct ask {
	struct arena *arena;
	struct facts facts;
	struct dialect_opts opts;
	struct strv warnings;
	struct node node;
	struct tree policy;
	struct instance_store store;
	const char *why;
	struct err e;
};

/* An instance with this many disks, on which the setting says RAID0. */
static void begin(struct ask *t, int64_t disks)
{
	*t = (struct ask){
		.arena = arena_new_empty(),
		.facts = { .instance_store = { true, disks } },
		.policy = { .kind = TREE_SCALAR, .scalar = "RAID0", .pos = { "disks.yaml", 1, 22 } }
	};
	t->opts.warnings = &t->warnings;
	t->store = (struct instance_store){ .arena = t->arena,
					    .policy = &t->policy,
					    .facts = &t->facts,
					    .opts = &t->opts,
					    .err = &t->e };
}

static int add(struct ask *t)
{
	return instance_store_add(&t->store, &t->node, &t->why);
}

/* The one rule: who asks, what the host has, and what becomes of it. */
static void the_rule(void **state)
{
	static const struct {
		bool used, pods, by_unit, was_made;
		enum instance_store_fate fate;
	} rows[] = {
		/* the first boot, and a try of it after one that failed */
		{ false, false, true, false, INSTANCE_STORE_USED },
		/* an image of a node, or one that another program made */
		{ false, true, true, false, INSTANCE_STORE_KEEPS },
		/* a later boot: never by itself */
		{ false, false, true, true, INSTANCE_STORE_KEEPS },
		{ false, true, true, true, INSTANCE_STORE_KEEPS },
		/* by hand: whenever there are no pods */
		{ false, false, false, false, INSTANCE_STORE_USED },
		{ false, false, false, true, INSTANCE_STORE_USED },
		{ false, true, false, false, INSTANCE_STORE_STOPS },
		{ false, true, false, true, INSTANCE_STORE_STOPS },
		/* what was begun goes on, as it does when a stop emptied the disks */
		{ true, false, true, true, INSTANCE_STORE_USED },
		{ true, true, true, true, INSTANCE_STORE_USED },
		{ true, true, false, true, INSTANCE_STORE_USED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int64_t disks = 0; disks <= 8; disks++) {
			struct ask t;

			begin(&t, disks);
			t.facts.instance_store_used = (struct opt_bool){ true, rows[i].used };
			t.facts.pods = rows[i].pods ? "there are pods" : NULL;
			t.store.by_unit = rows[i].by_unit;
			t.store.was_made = rows[i].was_made;
			assert_int_equal(instance_store_fate(&t.store),
					 disks ? rows[i].fate : INSTANCE_STORE_NONE);
			t.facts.instance_store.set = false;
			assert_int_equal(instance_store_fate(&t.store), INSTANCE_STORE_NONE);
			t.facts.instance_store.set = true;
			t.store.policy = NULL;
			assert_int_equal(instance_store_fate(&t.store), INSTANCE_STORE_NONE);
			arena_free(t.arena);
		}
}

static void it_is_one_volume_with_three_directories(void **state)
{
	static const char *const targets[] = { "/var/lib/docker", "/var/lib/containerd",
					       "/var/lib/kubelet", "/var/log/pods" };

	(void)state;
	for (size_t docker = 0; docker < 2; docker++) {
		const struct node_volume *v;
		struct ask t;

		begin(&t, 2);
		t.store.docker = docker;
		t.store.filesystem = docker ? "xfs" : NULL;
		assert_int_equal(add(&t), 0);
		assert_null(t.why);
		assert_int_equal(t.warnings.n, 0);
		assert_int_equal(t.node.volumes.n, 1);
		v = t.node.volumes.v;
		assert_string_equal(v->path, "/mnt/instance-store");
		assert_string_equal(v->filesystem, docker ? "xfs" : "ext4");
		assert_int_equal(v->disks, NODE_DISKS_INSTANCE_STORE);
		assert_int_equal(v->nth, -1);
		assert_false(v->persist);
		assert_null(v->raid);
		assert_int_equal(v->binds.n, 3 + docker);
		for (size_t i = 0; i < v->binds.n; i++)
			assert_string_equal(v->binds.v[i].target, targets[i + !docker]);
		arena_free(t.arena);
	}
}

static void a_second_volume_on_it_is_refused(void **state)
{
	struct ask t;

	(void)state;
	begin(&t, 1);
	arena_push(t.arena, t.node.volumes.v, t.node.volumes.n,
		   (struct node_volume){
			   .name = "/data", .path = "/data", .disks = NODE_DISKS_INSTANCE_STORE });
	assert_true(add(&t) < 0);
	assert_int_equal(t.e.kind, ERR_CONFIG);
	assert_string_equal(t.e.msg,
			    "disks.yaml:1:22: instance store is asked for twice, first for "
			    "/data");
	arena_free(t.arena);
}

static void why_there_is_none_is_told(void **state)
{
	struct ask t;

	(void)state;
	begin(&t, 0);
	assert_int_equal(add(&t), 0);
	assert_null(t.why);
	assert_string_equal(strv_join(t.arena, &t.warnings, "|"),
			    "disks.yaml:1:22: instanceStorePolicy: this instance has no instance "
			    "store: everything stays on the root volume");
	arena_free(t.arena);
	begin(&t, 1);
	t.store.by_unit = true;
	t.facts.pods = "there are pods: x has y";
	assert_int_equal(add(&t), 0);
	assert_string_equal(t.why, "instanceStorePolicy: there are pods: x has y, so the instance "
				   "store is not used: replace the node");
	assert_int_equal(t.warnings.n, 1);
	assert_int_equal(t.node.volumes.n, 0);
	/* by hand: a look is told, and no more */
	t.store.by_unit = false;
	t.store.looks = true;
	assert_int_equal(add(&t), 0);
	assert_null(t.why);
	assert_string_equal(t.warnings.v[1],
			    "disks.yaml:1:22: instanceStorePolicy: there are pods: x has y, so "
			    "the instance store is not used: apply is refused");
	assert_int_equal(t.node.volumes.n, 0);
	t.store.looks = false;
	assert_true(add(&t) < 0);
	assert_int_equal(t.e.kind, ERR_CONFIG);
	assert_int_equal(t.node.volumes.n, 0);
	assert_string_equal(t.e.msg,
			    "disks.yaml:1:22: instanceStorePolicy: there are pods: x has y, "
			    "so the instance store is not used");
	arena_free(t.arena);
	begin(&t, 1);
	t.store.by_unit = t.store.was_made = true;
	assert_int_equal(add(&t), 0);
	assert_string_equal(t.why,
			    "instanceStorePolicy: this is not the instance's first boot, so "
			    "the instance store is not used: replace the node, or run nodeup "
			    "apply by hand");
	arena_free(t.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule),
		cmocka_unit_test(it_is_one_volume_with_three_directories),
		cmocka_unit_test(a_second_volume_on_it_is_refused),
		cmocka_unit_test(why_there_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
