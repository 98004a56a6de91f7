#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/bootstrap.h"
#include "nodeup/documents/store.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/scratch.h"

#define STATE "tests/data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net"

static const char key_file[] = "/pki/private/kubelet/7710425790609754113396402942.key";
static const char conf[] =
	"ClusterName: abc.joshdurbin.net\n"
	"Assets:\n"
	"- 0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e@https://x.example/v1.8.7/kubelet\n"
	"Tags: [_aws]\n";
static const char spec[] = "kubelet:\n  hostnameOverride: fixed\n"
			   "kubeProxy:\n  hostnameOverride: fixed\n";

/* A node whose documents all lie on it, and its root. */
struct fixture {
	struct scratch docs, root;
	struct arena *a;
	struct policy policy;
	struct bootstrap_req req;
	struct bootstrap b;
	struct err e;
	int64_t runs;
};

static char *at(struct fixture *fx, const char *name)
{
	return arena_printf(fx->a, "%s/%s", fx->docs.path, name);
}

static void be(struct fixture *fx, const char *instance)
{
	scratch_write(&fx->docs, "/facts.yaml",
		      arena_printf(fx->a, "instanceID: %s\nlocalHostname: ip-1\n", instance));
}

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));
	struct err e;

	fx->a = arena_new_empty();
	scratch_new(&fx->docs);
	scratch_new(&fx->root);
	scratch_write(&fx->root, "/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
	scratch_write(&fx->root, "/usr/lib/systemd/system/docker.service", "");
	scratch_write(&fx->docs, "/kube_env.yaml", conf);
	scratch_write(&fx->docs, "/cluster_spec.yaml", spec);
	scratch_write(&fx->docs, "/ig_spec.yaml", "{spec: {role: Node}}\n");
	if (proc_run(&(struct proc_req){ .argv = (const char *const[]){ "cp", "-r", STATE "/pki",
									at(fx, "pki"), NULL },
					 .stdin_fd = -1 },
		     NULL, &e) < 0)
		fail_msg("%s", e.msg);
	be(fx, "i-1");
	fx->policy = (struct policy){ .mode = MODE_APPLY, .may_mend = true };
	fx->req = (struct bootstrap_req){
		.policy = &fx->policy,
		.conf = at(fx, "kube_env.yaml"),
		.facts_file = at(fx, "facts.yaml"),
		.root_fd = fx->root.fd,
	};
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	bootstrap_done(&fx->b);
	scratch_done(&fx->docs);
	scratch_done(&fx->root);
	arena_free(fx->a);
	free(fx);
	return 0;
}

/* As the next run would. */
static int load(struct fixture *fx)
{
	struct bootstrap b = { 0 };
	int r;

	bootstrap_done(&fx->b);
	fx->e = (struct err){ 0 };
	r = bootstrap_load(fx->a, &fx->req, &b, &fx->e);
	fx->b = b;
	return r;
}

static void must_load(struct fixture *fx)
{
	if (load(fx) < 0)
		fail_msg("%s", fx->e.msg);
}

/* A run that ends well. */
static void run(struct fixture *fx)
{
	must_load(fx);
	if (bootstrap_is_current(&fx->b) &&
	    bootstrap_persist(&fx->b, fx->root.fd, ++fx->runs, &fx->e) < 0)
		fail_msg("%s", fx->e.msg);
}

/* One with another kube_env.yaml. */
static void run_with(struct fixture *fx, const char *tail)
{
	scratch_write(&fx->docs, "/kube_env.yaml", arena_printf(fx->a, "%s%s", conf, tail));
	run(fx);
}

static const char *sets(struct fixture *fx)
{
	const struct kept_sets all = kept_of(fx->a, fx->root.fd, "i-1");
	struct strv numbers = { 0 };

	for (size_t i = 0; i < all.n; i++)
		strv_addf(fx->a, &numbers, "%lld", (long long)all.v[i].number);
	return strv_join(fx->a, &numbers, " ");
}

static const char *note(const struct fixture *fx, const char *part)
{
	for (size_t i = 0; i < fx->e.nnotes; i++)
		if (strstr(fx->e.notes[i].text, part))
			return fx->e.notes[i].text;
	return NULL;
}

static const char *warned(struct fixture *fx, const char *part)
{
	return strstr(strv_join(fx->a, &fx->b.warnings, "\n"), part);
}

static void the_last_three_sets_stay(void **state)
{
	struct fixture *fx = *state;
	struct stat st;

	assert_int_equal(kept_last(fx->root.fd), 0);
	assert_string_equal(sets(fx), "");
	run(fx);
	assert_true(scratch_stat(&fx->root, OWN_KEPT_DIR "/1.json", &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	/* the same again */
	run(fx);
	assert_string_equal(sets(fx), "1");
	fx->runs = 8;
	run_with(fx, "packages: [a]\n");
	run_with(fx, "packages: [b]\n");
	assert_string_equal(sets(fx), "10 9 1");
	run_with(fx, "packages: [c]\n");
	assert_string_equal(sets(fx), "11 10 9");
	assert_int_equal(kept_last(fx->root.fd), 11);
	/* what is damaged is none, and what is another's */
	scratch_write(&fx->root, OWN_KEPT_DIR "/10.json", "{");
	scratch_write(&fx->root, OWN_KEPT_DIR "/x.json", "{}");
	assert_string_equal(sets(fx), "11 9");
	assert_int_equal(kept_of(fx->a, fx->root.fd, "i-2").n, 0);
	assert_int_equal(kept_forget(fx->root.fd, &fx->e), 0);
	assert_string_equal(sets(fx), "");
}

static void a_damaged_document_is_put_back(void **state)
{
	static const char *const damages[][2] = {
		{ "", " is empty; its copy of " },
		{ "ClusterName: abc", " is cut short; its copy of " },
		{ NULL, " is gone; its copy of " },
	};
	static const char nul[512];
	static const char *const names[] = { "kube_env.yaml", "cluster_spec.yaml" };
	struct fixture *fx = *state;

	run(fx);
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		scratch_write(&fx->docs, "/kube_env.yaml", damages[i][0] ? damages[i][0] : "");
		if (!damages[i][0])
			assert_int_equal(unlink(fx->req.conf), 0);
		must_load(fx);
		assert_int_equal(fx->b.n_lost, 1);
		assert_string_equal(fx->b.lost[0].path, fx->req.conf);
		assert_string_equal(fx->b.lost[0].text, conf);
		assert_int_equal(fx->b.lost[0].n, strlen(conf));
		assert_int_equal(fx->b.lost[0].damaged, damages[i][0] != NULL);
		assert_non_null(
			warned(fx, arena_printf(fx->a, "%s%s", fx->req.conf, damages[i][1])));
		assert_string_equal(fx->b.node.cluster_name, "abc.joshdurbin.net");
		/* it is kept as before */
		run(fx);
		assert_string_equal(sets(fx), "1");
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		scratch_write(&fx->docs, "/kube_env.yaml", conf);
		scratch_write(&fx->docs, "/cluster_spec.yaml", spec);
		assert_int_equal(truncate(at(fx, names[i]), 0), 0);
		assert_int_equal(truncate(at(fx, names[i]), sizeof(nul)), 0);
		must_load(fx);
		assert_int_equal(fx->b.n_lost, 1);
		assert_string_equal(fx->b.lost[0].path, at(fx, names[i]));
		assert_non_null(warned(fx, " holds NUL bytes; "));
		assert_string_equal(world_host_name(&fx->b.node), "fixed");
	}
}

static void what_is_beside_a_link_is_put_back_beside_it(void **state)
{
	struct fixture *fx = *state;

	scratch_write(&fx->docs, "/there/real.yaml", conf);
	assert_int_equal(unlink(fx->req.conf), 0);
	assert_int_equal(symlink("there/real.yaml", fx->req.conf), 0);
	run(fx);
	assert_int_equal(truncate(at(fx, "cluster_spec.yaml"), 0), 0);
	must_load(fx);
	assert_int_equal(fx->b.n_lost, 1);
	assert_string_equal(fx->b.lost[0].path, at(fx, "cluster_spec.yaml"));
	scratch_write(&fx->docs, "/cluster_spec.yaml", spec);
	scratch_write(&fx->docs, "/there/real.yaml", "");
	must_load(fx);
	assert_int_equal(fx->b.n_lost, 1);
	assert_string_equal(fx->b.lost[0].path, at(fx, "there/real.yaml"));
}

static void a_damaged_key_is_put_back(void **state)
{
	struct fixture *fx = *state;
	autofree char *file = scratch_read(&fx->docs, key_file);
	const char *text = arena_str(fx->a, file);

	run(fx);
	for (size_t i = 0; i < 2; i++) {
		const size_t left = i * strlen(text) / 2;

		assert_int_equal(truncate(at(fx, key_file + 1), (off_t)left), 0);
		must_load(fx);
		assert_int_equal(fx->b.n_lost, 1);
		assert_string_equal(fx->b.lost[0].path, at(fx, key_file + 1));
		assert_string_equal(fx->b.lost[0].text, text);
		assert_true(fx->b.lost[0].damaged);
		assert_non_null(warned(fx, i ? " is cut short; " : " is empty; "));
		scratch_write(&fx->docs, key_file, text);
	}
	/* somebody's edit is served at boot, and stays */
	scratch_write(&fx->docs, key_file, "somebody's\n");
	assert_true(load(fx) < 0);
	assert_non_null(note(fx, "nodeup apply --conf=kept:1"));
	fx->policy.at_boot = true;
	must_load(fx);
	assert_string_equal(fx->b.set, "kept:1");
	assert_int_equal(fx->b.n_lost, 0);
}

/* What somebody wrote is read; so is what --conf names, and nothing of another instance goes before it. */
static void what_is_no_damage_stays(void **state)
{
	struct fixture *fx = *state;

	run(fx);
	scratch_write(&fx->docs, "/kube_env.yaml",
		      arena_printf(fx->a, "%s\npackages: [a]\n", conf));
	must_load(fx);
	assert_int_equal(fx->b.n_lost, 0);
	assert_int_equal(fx->b.node.packages.n, 1);
	assert_int_equal(unlink(at(fx, "ig_spec.yaml")), 0);
	must_load(fx);
	assert_int_equal(fx->b.n_lost, 0);
	scratch_write(&fx->docs, "/kube_env.yaml", "");
	be(fx, "i-2");
	assert_true(load(fx) < 0);
	assert_null(note(fx, "kept:"));
	be(fx, "i-1");
	fx->policy.may_mend = false;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(note(fx, "nodeup apply --conf=kept:1"));
	/* packed, it may hold any byte */
	fx->policy.may_mend = true;
	scratch_write(&fx->docs, "/kube_env.yaml", "\x1f\x8b---");
	assert_int_equal(truncate(fx->req.conf, 9), 0);
	assert_true(load(fx) < 0);
	assert_non_null(note(fx, "nodeup apply --conf=kept:1"));
}

static void an_edit_that_does_not_parse_is_served_at_boot(void **state)
{
	struct fixture *fx = *state;
	struct stat before, now;

	run(fx);
	run_with(fx, "packages: [a]\n");
	scratch_write(&fx->docs, "/kube_env.yaml", "ClusterName: x\nTags: [\n");
	assert_int_equal(stat(fx->req.conf, &before), 0);
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, arena_printf(fx->a, "%s:3:1", fx->req.conf)));
	assert_non_null(note(fx, "nodeup apply --conf=kept:2"));
	fx->policy.at_boot = true;
	run(fx);
	assert_string_equal(fx->b.set, "kept:2");
	assert_int_equal(fx->b.node.packages.n, 1);
	assert_int_equal(fx->b.n_lost, 0);
	assert_false(bootstrap_is_current(&fx->b));
	assert_non_null(strstr(fx->b.replay_why, ":3:1"));
	assert_non_null(warned(fx, "documents of kept:2 are used"));
	assert_int_equal(stat(fx->req.conf, &now), 0);
	assert_int_equal(before.st_mtim.tv_nsec, now.st_mtim.tv_nsec);
	/* so is one beside it */
	scratch_write(&fx->docs, "/kube_env.yaml", conf);
	scratch_write(&fx->docs, "/cluster_spec.yaml", "a: [\n");
	must_load(fx);
	assert_string_equal(fx->b.set, "kept:2");
	assert_string_equal(world_host_name(&fx->b.node), "fixed");
	/* what is damaged beside an edit is put back */
	assert_int_equal(truncate(fx->req.conf, 0), 0);
	must_load(fx);
	assert_string_equal(fx->b.set, "kept:2");
	assert_int_equal(fx->b.n_lost, 1);
	assert_string_equal(fx->b.lost[0].path, fx->req.conf);
	assert_non_null(warned(fx, "kube_env.yaml is empty; its copy of "));
	scratch_write(&fx->docs, "/kube_env.yaml", conf);
	/* where these do not serve, what they stand in for is told as well */
	scratch_write(&fx->root, "/etc/os-release", "ID=plan9\n");
	assert_true(load(fx) < 0);
	assert_non_null(strstr(fx->e.msg, "from the documents of kept:2: "));
	assert_non_null(note(fx, "cluster_spec.yaml:"));
	scratch_write(&fx->root, "/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
	/* where there is none that fits the error stays */
	be(fx, "i-2");
	assert_true(load(fx) < 0);
	assert_null(note(fx, "kept:"));
}

/* Where all of a folder is gone, one document of it alone would have the others' defaults. */
static void a_lost_folder_is_served_at_boot(void **state)
{
	struct fixture *fx = *state;
	const char *file = fx->req.conf;

	fx->req.conf = fx->docs.path;
	fx->req.facts_file = arena_printf(fx->a, "%s/facts.yaml", fx->root.path);
	scratch_write(&fx->root, "/facts.yaml", "instanceID: i-1\nlocalHostname: ip-1\n");
	run(fx);
	assert_int_equal(rename(fx->docs.path, arena_printf(fx->a, "%s/moved", fx->root.path)), 0);
	for (size_t i = 0; i < 2; i++) {
		/* as a run by hand names it, and what was applied last */
		fx->req.conf = i ? NULL : fx->docs.path;
		fx->policy.at_boot = false;
		assert_true(load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		assert_non_null(
			strstr(fx->e.msg,
			       arena_printf(fx->a, "%s, which was applied last, is gone, and so is",
					    file)));
		assert_non_null(note(fx, "nodeup apply --conf=kept:1"));
		fx->policy.at_boot = true;
		must_load(fx);
		assert_string_equal(fx->b.set, "kept:1");
		assert_string_equal(world_host_name(&fx->b.node), "fixed");
		assert_int_equal(fx->b.n_lost, 0);
	}
	assert_int_equal(mkdir(fx->docs.path, 0700), 0);
}

/* What was issued to this node is kept below the folder of the documents, and never was a file there. */
static void what_was_issued_is_no_lost_document(void **state)
{
	struct fixture *fx = *state;
	autobuf struct buf kept = BUF_INIT(1 << 20);
	const char *issued = at(fx, "issued/kubelet.crt");

	run(fx);
	assert_true(record_read(fx->root.fd, OWN_DOCUMENTS, &kept));
	assert_int_equal(unlink(fx->req.conf), 0);
	for (size_t i = 0; i < 2; i++) {
		const char *list = i ? arena_printf(fx->a, "[\"%s\"]", issued) : "[]";
		const char *text = strstr(buf_str(&kept), "\"documents\":{");

		assert_non_null(text);
		text = arena_printf(fx->a, "%.*s\"issued\":%s,\"documents\":{\"%s\":\"eA==\",%s",
				    (int)(text - buf_str(&kept)), buf_str(&kept), list, issued,
				    text + strlen("\"documents\":{"));
		scratch_write(&fx->root, OWN_DOCUMENTS, text);
		assert_int_equal(load(fx) < 0, i == 0);
	}
	assert_int_equal(fx->b.n_lost, 1);
}

/* One that is chosen has the certificates of its own day. */
static void an_older_set_goes_over_no_newer_one(void **state)
{
	static const char *const own[] = { "1", "2", "3" }, *const given[] = { "a", "b", "a" };
	struct fixture *fx = *state;
	autobuf struct buf third = BUF_INIT(1 << 10);

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		scratch_write(
			&fx->root, OWN_DOCUMENTS,
			arena_printf(
				fx->a,
				"{\"issued\":[\"x\"],\"documents\":{\"x\":\"%s\",\"y\":\"%s\"}}",
				own[i], given[i]));
		assert_int_equal(kept_add(fx->root.fd, OWN_DOCUMENTS, (int64_t)i + 1, &fx->e), 0);
	}
	assert_int_equal(kept_add(fx->root.fd, OWN_KEPT_DIR "/1.json", 4, &fx->e), 0);
	assert_int_equal(kept_last(fx->root.fd), 3);
	assert_true(record_read(fx->root.fd, OWN_KEPT_DIR "/3.json", &third));
	assert_non_null(strstr(buf_str(&third), "\"x\":\"3\""));
}

static void a_set_is_chosen_by_its_number(void **state)
{
	struct fixture *fx = *state;
	const char *usual = fx->req.conf;

	run(fx);
	run_with(fx, "packages: [a]\n");
	/* the set is all of it: keys, and what was not there */
	scratch_write(&fx->docs, "/cluster_spec.yaml", "a: [\n");
	scratch_write(&fx->docs, "/pki/issued/ca/x", "no certificate");
	fx->req.conf = "kept:1";
	must_load(fx);
	assert_int_equal(fx->b.node.packages.n, 0);
	assert_true(fx->b.is_chosen && bootstrap_is_current(&fx->b));
	assert_string_equal(fx->b.conf, usual);
	assert_non_null(warned(fx, arena_printf(fx->a, "at the next boot %s counts again", usual)));
	run(fx);
	assert_string_equal(sets(fx), "3 2 1");
	/* what was read at its usual place last is still what a damaged file is compared with */
	scratch_write(&fx->docs, "/cluster_spec.yaml", spec);
	fx->req.conf = usual;
	scratch_write(&fx->docs, "/kube_env.yaml", "");
	must_load(fx);
	assert_int_equal(fx->b.node.packages.n, 1);
	for (size_t i = 0; i < 4; i++) {
		fx->req.conf = ((const char *const[]){ "kept:7", "kept:", "kept:x", "kept:01" })[i];
		assert_true(load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		assert_non_null(note(fx, "kept:3, of "));
	}
	fx->req.conf = "kept:1";
	be(fx, "i-2");
	assert_true(load(fx) < 0);
	fx->policy.mode = MODE_DIFF;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_USAGE);
}

/* The metadata service may come up later than a boot does. */
static void a_damaged_document_waits_for_metadata_at_boot(void **state)
{
	struct fixture *fx = *state;
	struct cloud *c = cloud_start(NULL);

	run(fx);
	scratch_write(&fx->docs, "/kube_env.yaml", "");
	cloud_tell(c, CLOUD_IMDS, "/__set?path=instance-id&value=i-1");
	fx->req.http = c->http;
	fx->req.facts_file = NULL;
	fx->req.patience.ns = 30 * DUR_SEC;
	for (int i = 0; i < 2; i++) {
		fx->policy.at_boot = i;
		cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/instance-id", "status=500&times=2");
		assert_int_equal(load(fx) >= 0, fx->policy.at_boot);
	}
	assert_int_equal(fx->b.n_lost, 1);
	bootstrap_done(&fx->b);
	cloud_stop(c);
}

static void what_was_applied_is_no_junk(void **state)
{
	struct fixture *fx = *state;

	scratch_write(&fx->root, OWN_CONF, "junk\n");
	fx->req.conf = NULL;
	assert_true(load(fx) < 0);
	assert_null(strstr(fx->e.msg, "junk"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_last_three_sets_stay),
		T(a_damaged_document_is_put_back),
		T(what_is_beside_a_link_is_put_back_beside_it),
		T(a_damaged_key_is_put_back),
		T(what_is_no_damage_stays),
		T(an_edit_that_does_not_parse_is_served_at_boot),
		T(a_lost_folder_is_served_at_boot),
		T(what_was_issued_is_no_lost_document),
		T(an_older_set_goes_over_no_newer_one),
		T(a_set_is_chosen_by_its_number),
		T(a_damaged_document_waits_for_metadata_at_boot),
		T(what_was_applied_is_no_junk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
