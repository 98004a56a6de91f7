#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/etcd/claim.h"
#include "nodeup/etcd/volumes.h"

static const char legacy[] = "KubernetesCluster=c.example k8s.io/role/master=1 ";
static const char today[] = "kubernetes.io/cluster/c.example=owned k8s.io/role/control-plane=1 ";

static const struct volume_wish main_wish = { VOLUME_BY_ETCD, "etcd main", "main", NULL };

struct fixture {
	struct arena *arena;
	struct volume_view view;
	struct volume_choice choice;
	struct err e;
};

static void set_tags(struct arena *a, struct strmap *tags, const char *text)
{
	struct strv words = strv_split(a, text, ' ');

	for (size_t i = 0; i < words.n; i++) {
		const char *eq = strchr(words.v[i], '=');

		if (eq)
			strmap_set(a, tags, arena_strn(a, words.v[i], (size_t)(eq - words.v[i])),
				   eq + 1);
	}
}

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	fx->arena = arena_new_empty();
	fx->view.cluster = "c.example";
	fx->view.self = (struct ec2_instance){ .id = "i-1", .zone = "us-west-2a" };
	set_tags(fx->arena, &fx->view.self.tags, "KubernetesCluster=c.example");
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

static struct ec2_volume *add(struct fixture *fx, const char *id, const char *generation,
			      const char *more)
{
	struct ec2_volume v = { .id = id,
				.zone = "us-west-2a",
				.state = "available",
				.instance = "",
				.device = "",
				.attachment = "" };

	set_tags(fx->arena, &v.tags, generation);
	set_tags(fx->arena, &v.tags, more);
	arena_push(fx->arena, fx->view.here.v, fx->view.here.n, v);
	return &fx->view.here.v[fx->view.here.n - 1];
}

static void attach(struct ec2_volume *v, const char *instance, const char *status)
{
	v->state = "in-use";
	v->instance = instance;
	v->device = "/dev/xvdu";
	v->attachment = status;
}

static int choose(struct fixture *fx, const char *like)
{
	fx->e = (struct err){ 0 };
	return volume_choose(fx->arena, &fx->view, &main_wish, like, &fx->choice, &fx->e);
}

static void test_members(void **state)
{
	static const struct {
		const char *text, *wrong;
	} cases[] = {
		{ "a/a", NULL },
		{ "b/a,b,c", NULL },
		{ "us-west-2a.x/us-west-2a.x,z", NULL },
		{ "", "'': wanted <member>/<member>,<member>..." },
		{ "a", "'a': wanted <member>/<member>,<member>..." },
		{ "a/b/c", "'a/b/c': wanted <member>/<member>,<member>..." },
		{ "a/", "'a/': 'a' is not among its members" },
		{ "/a", "'/a': '' is not among its members" },
		{ "a/b,c", "'a/b,c': 'a' is not among its members" },
		{ "a/a,", "'a/a,': '' is not the name of a member" },
		{ "a/a,a", "'a/a,a': member 'a' is there twice" },
		{ "a/a, b", "'a/a, b': ' b' is not the name of a member" },
		{ "a/a;x", "'a/a;x': 'a;x' is not the name of a member" },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct volume_member m = { 0 };
		int r = volume_member_parse(fx->arena, cases[i].text, &m, &fx->e);

		assert_int_equal(r < 0, cases[i].wrong != NULL);
		if (cases[i].wrong)
			assert_string_equal(fx->e.msg, cases[i].wrong);
		else
			assert_true(strv_has(&m.members, m.me));
	}
}

static void test_both_generations(void **state)
{
	static const char *const generations[] = { legacy, today };

	for (size_t i = 0; i < ARRAY_LEN(generations); i++) {
		struct fixture *fx = *state;

		fx->view.here.n = 0;
		(void)add(fx, "vol-1", generations[i], "k8s.io/etcd/main=a/a,b");
		assert_int_equal(choose(fx, NULL), 0);
		assert_int_equal(fx->choice.state, VOLUME_FREE);
		assert_string_equal(fx->choice.volume->id, "vol-1");
		assert_string_equal(fx->choice.member.me, "a");
		assert_int_equal(fx->choice.member.members.n, 2);
	}
}

/* EC2 was asked for all of this, but what it says is looked at once more. */
static void test_what_is_not_meant(void **state)
{
	struct fixture *fx = *state;

	(void)add(fx, "vol-1", "KubernetesCluster=other k8s.io/role/master=1",
		  "k8s.io/etcd/main=a/a");
	(void)add(fx, "vol-2", "KubernetesCluster=c.example", "k8s.io/etcd/main=a/a");
	(void)add(fx, "vol-3", legacy, "k8s.io/etcd/events=a/a");
	add(fx, "vol-4", legacy, "k8s.io/etcd/main=a/a")->zone = "us-west-2b";
	add(fx, "vol-5", legacy, "k8s.io/etcd/main=a/a")->state = "deleting";
	(void)add(fx, "vol-6", "kubernetes.io/cluster/c.example.org=owned k8s.io/role/master=1",
		  "k8s.io/etcd/main=a/a");
	assert_int_equal(choose(fx, NULL), 0);
	assert_int_equal(fx->choice.state, VOLUME_ABSENT);
	assert_null(fx->choice.volume);
	assert_string_equal(fx->choice.why,
			    "no volume of cluster c.example with tags k8s.io/role/master (or "
			    "control-plane) and k8s.io/etcd/main in us-west-2a");
	fx->view.elsewhere = fx->view.here;
	assert_int_equal(choose(fx, NULL), 0);
	assert_string_equal(fx->choice.why,
			    "no volume of cluster c.example with tags k8s.io/role/master (or "
			    "control-plane) and k8s.io/etcd/main in us-west-2a; vol-4 is in "
			    "us-west-2b, out of reach");
}

static void test_what_is_here_comes_first(void **state)
{
	struct fixture *fx = *state;

	(void)add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a,b");
	attach(add(fx, "vol-2", legacy, "k8s.io/etcd/main=b/a,b"), "i-1", "attaching");
	assert_int_equal(choose(fx, "a"), 0);
	assert_int_equal(fx->choice.state, VOLUME_HERE);
	assert_string_equal(fx->choice.volume->id, "vol-2");
	assert_string_equal(fx->choice.why, "attaching as /dev/xvdu");
}

static void test_the_same_member_is_preferred(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	struct fixture *fx = *state;

	(void)add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a,b,c");
	(void)add(fx, "vol-2", legacy, "k8s.io/etcd/main=b/a,b,c");
	(void)add(fx, "vol-3", legacy, "k8s.io/etcd/main=c/a,b,c");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(choose(fx, names[i]), 0);
		assert_string_equal(fx->choice.member.me, names[i]);
	}
}

static void test_why_not(void **state)
{
	static const struct {
		const char *state, *instance, *attachment, *why;
	} cases[] = {
		{ "in-use", "i-9", "attached", "vol-1 is attached to i-9" },
		{ "in-use", "i-9", "detaching", "vol-1 is being detached from i-9" },
		{ "in-use", "i-9", "busy", "vol-1 is attached to i-9, which keeps it busy" },
		{ "in-use", "i-1", "detaching", "vol-1 is being detached from this instance" },
		{ "creating", "", "", "vol-1: creating" },
	};
	struct fixture *fx = *state;
	struct ec2_volume *v = add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		v->state = cases[i].state;
		v->instance = cases[i].instance;
		v->attachment = cases[i].attachment;
		assert_int_equal(choose(fx, NULL), 0);
		assert_int_equal(fx->choice.state, VOLUME_PENDING);
		assert_string_equal(fx->choice.why, cases[i].why);
	}
}

static void test_two_for_one_member(void **state)
{
	struct fixture *fx = *state;
	struct ec2_volume *one, *two;

	(void)add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a");
	(void)add(fx, "vol-2", legacy, "k8s.io/etcd/main=a/a");
	one = &fx->view.here.v[0];
	two = &fx->view.here.v[1];
	assert_true(choose(fx, NULL) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg, "etcd main: two volumes for member a: vol-1 and vol-2");
	assert_string_equal(fx->e.notes[0].text,
			    "take the tags off the one that is not to be used");
	/* a second member a beside the one of another master */
	attach(two, "i-9", "attached");
	assert_true(choose(fx, NULL) < 0);
	/* both are another's affair */
	attach(one, "i-9", "attached");
	assert_int_equal(choose(fx, NULL), 0);
	assert_int_equal(fx->choice.state, VOLUME_PENDING);
	/* one was chosen before */
	attach(one, "i-1", "attached");
	assert_int_equal(choose(fx, NULL), 0);
	assert_string_equal(fx->choice.volume->id, "vol-1");
}

/* Which of them has the data is not to be guessed, whoever attached them. */
static void test_two_that_are_here(void **state)
{
	static const char *const tags[] = { "k8s.io/etcd/main=a/a,b", "k8s.io/etcd/main=b/a,b" };

	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		struct fixture *fx = *state;
		autofree char *text = xasprintf("etcd main: two volumes are attached to this "
						"instance: vol-1, member a and vol-2, member %c",
						"ab"[i]);

		fx->view.here.n = fx->view.begun.n = 0;
		attach(add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a,b"), "i-1", "attached");
		attach(add(fx, "vol-2", legacy, tags[i]), "i-1", "attached");
		assert_true(choose(fx, "b") < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		assert_string_equal(fx->e.msg, text);
		assert_string_equal(fx->e.notes[0].text,
				    "detach the one that is not to be used, or take its tags off");
		/* one of which EC2 does not say so yet */
		fx->view.here.v[1].instance = fx->view.here.v[1].attachment = "";
		strv_add(fx->arena, &fx->view.begun, "vol-2");
		assert_true(choose(fx, NULL) < 0);
		assert_string_equal(fx->e.msg, text);
		/* one that goes */
		attach(&fx->view.here.v[1], "i-1", "detaching");
		assert_int_equal(choose(fx, NULL), 0);
		assert_string_equal(fx->choice.volume->id, "vol-1");
	}
}

static void test_multi_attach(void **state)
{
	struct fixture *fx = *state;
	struct ec2_volume *v = add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/a");

	v->multi_attach = true;
	assert_true(choose(fx, NULL) < 0);
	assert_int_equal(fx->e.kind, ERR_REFUSED);
	assert_string_equal(fx->e.msg, "etcd main: volume vol-1 can be attached to several "
				       "instances at once");
	attach(v, "i-1", "attached");
	assert_true(choose(fx, NULL) < 0);
	/* whatever else EC2 says */
	v->multi_attach = false;
	v->other = "i-2";
	assert_true(choose(fx, NULL) < 0);
	assert_string_equal(fx->e.msg, "etcd main: volume vol-1 is attached to two instances");
	assert_string_equal(fx->e.notes[0].text,
			    "i-1 and i-2; wanted a volume that one instance has alone");
	/* of another zone: nobody asks */
	v->zone = "us-west-2b";
	assert_int_equal(choose(fx, NULL), 0);
}

/* As long as it may be ours it is the only one, unless it is seen to be another's. */
static void test_doubt(void **state)
{
	static const char *const ids[] = { "vol-1", "vol-2", "vol-3" };
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		(void)add(fx, ids[i], legacy,
			  arena_printf(fx->arena, "k8s.io/etcd/main=%c/a,b,c", "abc"[i]));
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		fx->view.doubt.n = 0;
		strv_add(fx->arena, &fx->view.doubt, ids[i]);
		assert_int_equal(choose(fx, "a"), 0);
		assert_int_equal(fx->choice.state, VOLUME_FREE);
		assert_string_equal(fx->choice.volume->id, ids[i]);
	}
	attach(&fx->view.here.v[2], "i-9", "attached");
	assert_int_equal(choose(fx, "a"), 0);
	assert_string_equal(fx->choice.volume->id, "vol-1");
}

static void test_look_only(void **state)
{
	static const struct volume_wish wish = { VOLUME_BY_TAG, "/data", "name", "scratch",
						 .look_only = true };
	struct fixture *fx = *state;
	struct ec2_volume *v = add(fx, "vol-1", legacy, "name=scratch");

	assert_int_equal(volume_choose(fx->arena, &fx->view, &wish, NULL, &fx->choice, &fx->e), 0);
	assert_int_equal(fx->choice.state, VOLUME_PENDING);
	assert_string_equal(fx->choice.why, "vol-1 is available: the program that attaches this "
					    "master's volumes has not done so yet");
	attach(v, "i-1", "attached");
	assert_int_equal(volume_choose(fx->arena, &fx->view, &wish, NULL, &fx->choice, &fx->e), 0);
	assert_int_equal(fx->choice.state, VOLUME_HERE);
}

static void test_a_malformed_tag(void **state)
{
	struct fixture *fx = *state;
	struct ec2_volume *v = add(fx, "vol-1", legacy, "k8s.io/etcd/main=a/b,c");

	assert_true(choose(fx, NULL) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg, "volume vol-1: tag k8s.io/etcd/main: 'a/b,c': 'a' is not "
				       "among its members");
	attach(v, "i-9", "attached");
	assert_int_equal(choose(fx, NULL), 0);
	assert_int_equal(fx->choice.state, VOLUME_ABSENT);
}

static void test_by_id_and_by_tag(void **state)
{
	static const struct volume_wish by_id = { VOLUME_BY_ID, "/mnt/x", NULL, "vol-2" };
	static const struct volume_wish by_tag = { VOLUME_BY_TAG, "/mnt/x", "Name", "m-pd" };
	struct fixture *fx = *state;

	(void)add(fx, "vol-1", "Name=m-pd", "");
	(void)add(fx, "vol-2", "Name=other", "");
	assert_int_equal(volume_choose(fx->arena, &fx->view, &by_id, NULL, &fx->choice, &fx->e), 0);
	assert_string_equal(fx->choice.volume->id, "vol-2");
	assert_int_equal(volume_choose(fx->arena, &fx->view, &by_tag, NULL, &fx->choice, &fx->e),
			 0);
	assert_string_equal(fx->choice.volume->id, "vol-1");
	(void)add(fx, "vol-3", "Name=m-pd", "");
	assert_true(volume_choose(fx->arena, &fx->view, &by_tag, NULL, &fx->choice, &fx->e) < 0);
	assert_string_equal(fx->e.msg, "/mnt/x: two volumes: vol-1 and vol-3");
}

static void test_the_cluster_of_the_instance(void **state)
{
	static const struct {
		const char *tags, *wrong;
	} cases[] = {
		{ "KubernetesCluster=c.example", NULL },
		{ "kubernetes.io/cluster/c.example=owned", NULL },
		{ "KubernetesCluster=c.example kubernetes.io/cluster/x=shared", NULL },
		{ "Name=x", "instance i-1 has no tag that says which cluster it is of" },
		{ "KubernetesCluster=d.example",
		  "instance i-1 is tagged for cluster 'd.example', the documents are of "
		  "'c.example'" },
		{ "kubernetes.io/cluster/d.example=owned",
		  "instance i-1 is tagged for cluster 'd.example', the documents are of "
		  "'c.example'" },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ec2_instance self = { .id = "i-1" };
		struct err e = { 0 };

		set_tags(fx->arena, &self.tags, cases[i].tags);
		assert_int_equal(volume_check_cluster(&self, "c.example", &e) < 0,
				 cases[i].wrong != NULL);
		if (!cases[i].wrong)
			continue;
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, cases[i].wrong);
		assert_string_equal(e.notes[0].text, "KubernetesCluster=c.example or "
						     "kubernetes.io/cluster/c.example=owned");
	}
}

static void test_filters(void **state)
{
	struct fixture *fx = *state;
	struct ec2_filters *all;
	size_t n;

	set_tags(fx->arena, &fx->view.self.tags, "kubernetes.io/cluster/c.example=owned");
	volume_filters(fx->arena, &main_wish, &fx->view.self, "c.example", "us-west-2a", &all, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i].n, 3);
		assert_string_equal(all[i].v[1].name, "tag-key");
		assert_string_equal(all[i].v[1].values.v[0], "k8s.io/role/*");
		assert_string_equal(all[i].v[2].name, "availability-zone");
		assert_string_equal(all[i].v[2].values.v[0], "us-west-2a");
	}
	assert_string_equal(all[0].v[0].name, "tag:KubernetesCluster");
	assert_string_equal(all[0].v[0].values.v[0], "c.example");
	assert_string_equal(all[1].v[0].name, "tag:kubernetes.io/cluster/c.example");
}

/* A volume that is attached between two questions. */
static int attached_meanwhile(void *arg, struct arena *a, const struct ec2_filters *filters,
			      struct ec2_volumes *ret, struct err *e)
{
	int *asked = arg;
	const struct ec2_volume v = { .id = "vol-1",
				      .zone = "z",
				      .instance = (*asked)++ ? "i-2" : "" };

	(void)filters;
	(void)e;
	arena_push(a, ret->v, ret->n, v);
	return 0;
}

static void the_later_answer_of_a_volume_counts(void **state)
{
	struct fixture *fx = *state;
	int asked = 0;
	const struct claim_host host = { .arg = &asked, .volumes = attached_meanwhile };
	struct ec2_volumes all = { 0 };

	set_tags(fx->arena, &fx->view.self.tags, "kubernetes.io/cluster/c.example=owned");
	assert_int_equal(claim_ask(fx->arena, &host, &main_wish, &fx->view.self, "c.example", "z",
				   &all, &fx->e),
			 0);
	assert_int_equal(asked, 2);
	assert_int_equal(all.n, 1);
	assert_string_equal(all.v[0].instance, "i-2");
}

static bool is_used(void *arg, const char *name)
{
	return str_eq(arg, name);
}

static void test_device_names(void **state)
{
	struct fixture *fx = *state;
	struct strv refused = { 0 };
	char used[] = "/dev/xvdv";
	const char *name;
	size_t n = 0;

	strv_add(fx->arena, &fx->view.self.devices, "/dev/sda1");
	strv_add(fx->arena, &fx->view.self.devices, "/dev/sdu");
	assert_string_equal(volume_device_name(&fx->view.self, &refused, is_used, used),
			    "/dev/xvdw");
	while ((name = volume_device_name(&fx->view.self, &refused, is_used, used))) {
		assert_false(strv_has(&refused, name));
		assert_string_not_equal(name, "/dev/xvdu");
		strv_add(fx->arena, &refused, name);
		n++;
	}
	assert_true(n > 10);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_members),
		T(test_both_generations),
		T(test_what_is_not_meant),
		T(test_what_is_here_comes_first),
		T(test_the_same_member_is_preferred),
		T(test_why_not),
		T(test_two_for_one_member),
		T(test_two_that_are_here),
		T(test_multi_attach),
		T(test_doubt),
		T(test_look_only),
		T(test_a_malformed_tag),
		T(test_by_id_and_by_tag),
		T(test_the_cluster_of_the_instance),
		T(test_filters),
		T(the_later_answer_of_a_volume_counts),
		T(test_device_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
