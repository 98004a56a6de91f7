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
#include "nodeup/base/proc.h"
#include "nodeup/documents/bootstrap.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/scratch.h"

#define BASE "jdurbin-kops/abc.joshdurbin.net"

static const char worker_conf[] = "tests/data/seed-cluster/nodes/kube_env.yaml";
static const char master_conf[] = "tests/data/seed-cluster/master/kube_env.yaml";
static const char hostname_path[] = "/latest/meta-data/local-hostname";
static const char role_path[] = "/latest/meta-data/iam/security-credentials/";
static const char id_path[] = "/latest/meta-data/instance-id";

/* The seed's state store behind S3, and an empty Debian as the node. */
struct fixture {
	struct cloud *c;
	struct scratch root;
	struct arena *a;
	struct policy policy;
	struct bootstrap_req req;
	struct bootstrap b;
	struct err e;
	int waits;
};

static void on_wait(void *arg, const struct wait *w)
{
	struct fixture *fx = arg;

	assert_true(*w->what && w->since_ns && w->attempt && (!w->why || w->why->kind == ERR_NET));
	fx->waits += w->why != NULL;
}

static void run(const char *const *argv)
{
	struct err e;

	if (proc_run(&(struct proc_req){ .argv = argv, .stdin_fd = -1 }, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	fx->c = cloud_start(NULL);
	fx->a = fx->c->arena;
	run((const char *const[]){ "cp", "-r", "tests/data/seed-cluster/state/jdurbin-kops",
				   fx->c->dir, NULL });
	scratch_new(&fx->root);
	scratch_write(&fx->root, "/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
	scratch_write(&fx->root, "/usr/lib/systemd/system/docker.service", "");
	fx->policy.mode = MODE_APPLY;
	fx->req = (struct bootstrap_req){
		.policy = &fx->policy,
		.conf = worker_conf,
		.root_fd = fx->root.fd,
		.http = fx->c->http,
		.patience = { 0, on_wait, fx },
	};
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	bootstrap_done(&fx->b);
	scratch_done(&fx->root);
	cloud_stop(fx->c);
	free(fx);
	return 0;
}

/* As the next run would. */
static int load(struct fixture *fx)
{
	struct bootstrap b = { 0 };
	int r;

	bootstrap_done(&fx->b);
	fx->b = b;
	fx->e = (struct err){ 0 };
	r = bootstrap_load(fx->a, &fx->req, &b, &fx->e);
	if (r >= 0)
		fx->b = b;
	else
		assert_int_not_equal(fx->e.kind, ERR_NONE);
	return r;
}

static void must_load(struct fixture *fx)
{
	if (load(fx) < 0)
		fail_msg("%s", fx->e.msg);
}

static void must_persist(struct fixture *fx)
{
	/* as apply does: the one before a run, the other after it */
	if (bootstrap_keep_answers(&fx->b, fx->root.fd, &fx->e) < 0 ||
	    bootstrap_persist(&fx->b, fx->root.fd, 1, &fx->e) < 0)
		fail_msg("%s", fx->e.msg);
}

static int asked(struct fixture *fx, const char *path)
{
	return cloud_count(fx->c, CLOUD_IMDS, path);
}

static char *names_of(struct fixture *fx)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < fx->b.node.keypairs.n; i++)
		strv_add(fx->a, &names, fx->b.node.keypairs.v[i].name);
	strv_sort(&names);
	return strv_join(fx->a, &names, " ");
}

static const char *note(const struct fixture *fx, const char *part)
{
	for (size_t i = 0; i < fx->e.nnotes; i++)
		if (strstr(fx->e.notes[i].text, part))
			return fx->e.notes[i].text;
	return NULL;
}

static char *below(struct fixture *fx, const char *path)
{
	return arena_printf(fx->a, "%s/%s", fx->c->dir, path);
}

static void write_file(struct fixture *fx, const char *path, const char *text)
{
	tmp_write(fx->c->dir, path, text, strlen(text));
}

/* A file with every s3://bucket/cluster led elsewhere, written below the temporary directory. */
static char *rebase(struct fixture *fx, const char *from, const char *base, const char *path)
{
	static const char old[] = "s3://" BASE;
	autobuf struct buf b = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	FILE *f = fopen(from, "re");
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		(void)buf_addc(&b, (char)c);
	(void)fclose(f);
	for (const char *p = buf_str(&b); *p;) {
		if (str_has_prefix(p, old)) {
			(void)buf_adds(&out, base);
			p += strlen(old);
		} else {
			(void)buf_addc(&out, *p++);
		}
	}
	write_file(fx, path, buf_str(&out));
	return below(fx, path);
}

static void test_worker(void **state)
{
	struct fixture *fx = *state;

	must_load(fx);
	assert_string_equal(fx->b.node.cluster_name, "abc.joshdurbin.net");
	assert_false(fx->b.node.is_master);
	assert_string_equal(names_of(fx), "ca kube-proxy kubelet");
	assert_null(node_keypair(&fx->b.node, "ca")->key);
	assert_non_null(strstr(node_keypair(&fx->b.node, "kubelet")->key, "PRIVATE KEY"));
	assert_string_equal(fx->b.facts.local_hostname, "ip-10-0-0-7.us-west-2.compute.internal");
	assert_string_equal(world_host_name(&fx->b.node), fx->b.facts.local_hostname);
	assert_string_equal(fx->b.facts.distribution, "debian");
	assert_string_equal(fx->b.runtime.unit, "docker.service");
	assert_false(fx->b.replayed);
	/* a token, the role, the one fact that the documents want, and whether it needs a token */
	assert_int_equal(asked(fx, NULL), 4);
	assert_int_equal(asked(fx, id_path), 1);
	assert_true(fx->b.imds_lacks_version1);
	assert_int_equal(asked(fx, role_path), 1);
	assert_int_equal(asked(fx, hostname_path), 1);
	assert_int_equal(fx->waits, 0);
}

/* What kubelet asks is asked once a boot, if it is answered. */
static void test_version1_is_asked_once(void **state)
{
	static const char record[] = "/run/nodeup/imds-version-1";
	struct fixture *fx = *state;
	struct stat st;

	must_load(fx);
	must_persist(fx);
	assert_false(scratch_stat(&fx->root, record, &st));
	cloud_tell(fx->c, CLOUD_IMDS, "/__tokens?http=optional");
	must_load(fx);
	assert_false(fx->b.imds_lacks_version1);
	assert_int_equal(asked(fx, id_path), 2);
	must_persist(fx);
	assert_true(scratch_stat(&fx->root, record, &st));
	must_load(fx);
	must_persist(fx);
	assert_int_equal(asked(fx, id_path), 2);
	assert_int_equal(unlinkat(fx->root.fd, record + 1, 0), 0);
	cloud_fault(fx->c, CLOUD_IMDS, id_path, "status=500&times=1");
	must_load(fx);
	assert_false(fx->b.imds_lacks_version1);
	assert_int_equal(asked(fx, id_path), 3);
	must_persist(fx);
	assert_false(scratch_stat(&fx->root, record, &st));
}

static void test_master(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	must_load(fx);
	assert_true(fx->b.node.is_master);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_non_null(node_keypair(&fx->b.node, "ca")->key);
	assert_non_null(strmap_get(&fx->b.node.secrets, "kube"));
	assert_non_null(strmap_get(&fx->b.node.secrets, "system:controller_manager"));
	/* not in the store, and not needed */
	assert_null(strmap_get(&fx->b.node.secrets, "dockerconfig"));
}

static void test_facts_file_leaves_nothing_to_ask(void **state)
{
	struct fixture *fx = *state;

	write_file(fx, "facts.yaml", "localHostname: ip-1\ninstanceID: i-1\nversion: '11'\n");
	fx->req.facts_file = below(fx, "facts.yaml");
	must_load(fx);
	assert_string_equal(world_host_name(&fx->b.node), "ip-1");
	assert_string_equal(fx->b.facts.version, "11");
	assert_string_equal(fx->b.facts.distribution, "debian");
	/* but who signs: a token, and the role */
	assert_int_equal(asked(fx, NULL), 2);
	assert_int_equal(asked(fx, role_path), 1);
	assert_string_equal(fx->b.key, "s3://" BASE " i-1");
}

static void test_bad_facts_file(void **state)
{
	struct fixture *fx = *state;

	fx->req.facts_file = below(fx, "no-facts.yaml");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	write_file(fx, "facts.yaml", "instanceId: i-1\nnonsense: x\n");
	fx->req.facts_file = below(fx, "facts.yaml");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "facts.yaml:"));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
}

static void test_config_base_is_a_path(void **state)
{
	struct fixture *fx = *state;
	const char *base = below(fx, BASE), *spec = below(fx, BASE "/cluster.spec");

	(void)rebase(fx, spec, base, BASE "/cluster.spec");
	fx->req.conf = rebase(fx, master_conf, base, "kube_env.yaml");
	write_file(fx, "facts.yaml", "instanceID: i-1\nlocalHostname: ip-1\n");
	fx->req.facts_file = below(fx, "facts.yaml");
	must_load(fx);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_int_equal(asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
}

/* Without ConfigBase: all of it beside --conf. */
static void test_beside(void **state)
{
	struct fixture *fx = *state;

	write_file(fx, "b/kube_env.yaml",
		   "ClusterName: abc.joshdurbin.net\nAssets:\n"
		   "- 0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e@https://x.example/v1.8.7/kubelet\n"
		   "Tags: [_aws]\n");
	write_file(fx, "b/cluster_spec.yaml",
		   "kubelet:\n  hostnameOverride: fixed\n"
		   "kubeProxy:\n  hostnameOverride: fixed\n");
	run((const char *const[]){ "cp", "-r", below(fx, BASE "/pki"), below(fx, "b/pki"), NULL });
	fx->req.conf = below(fx, "b/kube_env.yaml");
	must_load(fx);
	assert_string_equal(world_host_name(&fx->b.node), "fixed");
	assert_string_equal(names_of(fx), "ca kube-proxy kubelet");
	assert_int_equal(asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
	assert_non_null(strstr(strv_join(fx->a, &fx->b.warnings, "\n"), "b/ig_spec.yaml"));
}

static void copy(struct fixture *fx, const char *from, const char *to)
{
	run((const char *const[]){ "cp", below(fx, from), below(fx, to), NULL });
}

static char *content(struct fixture *fx, const char *path)
{
	size_t n;

	return world_load(fx->a, below(fx, path), &n);
}

#define ISSUED BASE "/pki/issued/kubelet/"
#define PRIVATE BASE "/pki/private/kubelet/"
#define SERIAL "7710425790609754113396402942"
#define KOPS "7710425791189541713288795883"
#define CA BASE "/pki/issued/ca/"

static void test_newest_serial(void **state)
{
	struct fixture *fx = *state;
	const char *old = "9999999999999999999999999999", *new = "17710425790609754113396402942";

	/* larger as text, smaller as a number than the other */
	copy(fx, ISSUED SERIAL ".crt", arena_printf(fx->a, ISSUED "%s.crt", old));
	copy(fx, PRIVATE SERIAL ".key", arena_printf(fx->a, PRIVATE "%s.key", old));
	copy(fx, BASE "/pki/issued/kops/" KOPS ".crt", arena_printf(fx->a, ISSUED "%s.crt", new));
	copy(fx, BASE "/pki/private/kops/" KOPS ".key", arena_printf(fx->a, PRIVATE "%s.key", new));
	write_file(fx, ISSUED "keyset.yaml", "kind: Keyset\n");
	write_file(fx, ISSUED "99999999999999999999999999999999x.crt", "not a serial");
	must_load(fx);
	assert_string_equal(node_keypair(&fx->b.node, "kubelet")->cert,
			    content(fx, BASE "/pki/issued/kops/" KOPS ".crt"));
	assert_string_equal(node_keypair(&fx->b.node, "kubelet")->key,
			    content(fx, BASE "/pki/private/kops/" KOPS ".key"));
	assert_null(node_keypair(&fx->b.node, "kubelet")->pool);
	assert_true(strv_has(&fx->b.warnings,
			     "s3://" ISSUED "99999999999999999999999999999999x.crt: ignored, its "
			     "name is not a serial"));
}

static void test_pool_of_the_ca(void **state)
{
	struct fixture *fx = *state;
	const char *ca = content(fx, CA "7710425789003051302500238632.crt");

	copy(fx, BASE "/pki/issued/kops/" KOPS ".crt", CA "9.crt");
	copy(fx, ISSUED SERIAL ".crt", CA "10.crt");
	must_load(fx);
	assert_string_equal(node_keypair(&fx->b.node, "ca")->cert, ca);
	assert_string_equal(node_keypair(&fx->b.node, "ca")->pool,
			    arena_printf(fx->a, "%s%s%s", ca, content(fx, CA "10.crt"),
					 content(fx, CA "9.crt")));
	write_file(fx, CA "9.crt", "SECRET");
	assert_true(load(fx) < 0);
	assert_string_equal(fx->e.msg,
			    "key pair ca: s3://" CA "9.crt: keypair ca: no PEM certificate");
}

/* A token of the user's own logs in like those that kops made. */
static void test_every_secret_of_the_store(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	write_file(fx, BASE "/secrets/robot", "{\"Data\":\"dG9rZW4=\"}");
	write_file(fx, BASE "/secrets/a,b", "{\"Data\":\"dG9rZW4=\"}");
	must_load(fx);
	assert_string_equal(strmap_get(&fx->b.node.secrets, "robot"), "token");
	assert_true(strv_has(&fx->b.warnings,
			     "s3://" BASE "/secrets/a,b: ignored, no such name can "
			     "be a user's"));
}

/* kops goes on without the aggregator; we too, but not in silence. */
static void test_what_is_left_out_is_told(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	tmp_remove(below(fx, BASE "/pki/issued/apiserver-aggregator"));
	must_load(fx);
	assert_null(node_keypair(&fx->b.node, "apiserver-aggregator"));
	assert_true(strv_has(&fx->b.warnings,
			     "key pair apiserver-aggregator is left out, as kops does: no "
			     "certificate in s3://" BASE "/pki/issued/apiserver-aggregator"));
}

static void test_key_of_another_serial_is_none(void **state)
{
	struct fixture *fx = *state;

	copy(fx, ISSUED SERIAL ".crt", ISSUED "99999999999999999999999999999.crt");
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg,
			    "missing key pair kubelet: s3://" BASE "/pki/private/kubelet/"
			    "99999999999999999999999999999.key is not there");
}

static void test_missing_key_pairs(void **state)
{
	struct fixture *fx = *state;

	fx->req.patience.ns = -1;
	assert_int_equal(unlink(below(fx, ISSUED SERIAL ".crt")), 0);
	tmp_remove(below(fx, BASE "/pki/issued/kube-proxy"));
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg, "missing key pair kubelet: no certificate in s3://" BASE
				       "/pki/issued/kubelet");
	assert_non_null(note(fx, "kube-proxy"));
	/* nothing was written */
	assert_int_equal(scratch_count(&fx->root, "/var"), 0);
	assert_int_equal(fx->waits, 0);
}

static void test_missing_secret(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	assert_int_equal(unlink(below(fx, BASE "/secrets/kube")), 0);
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "missing secret kube: s3://" BASE "/secrets/kube"));
}

static void test_bad_secret_is_not_shown(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	write_file(fx, BASE "/secrets/kube", "{\"Data\": \"canary!!\"}");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_null(strstr(fx->e.msg, "canary"));
	write_file(fx, BASE "/secrets/kube", "{\"Data\": canary");
	assert_true(load(fx) < 0);
	assert_null(strstr(fx->e.msg, "canary"));
}

static void test_missing_documents(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = "/nowhere/kube_env.yaml";
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "/nowhere/kube_env.yaml"));
	fx->req.conf = worker_conf;
	assert_int_equal(unlink(below(fx, BASE "/instancegroup/nodes")), 0);
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "instance group: GET s3://" BASE "/instancegroup/nodes: "
					  "S3 404 NoSuchKey"));
	/* never looked for elsewhere */
	assert_int_equal(unlink(below(fx, BASE "/cluster.spec")), 0);
	assert_int_equal(load(fx), -ENOENT);
	assert_non_null(strstr(fx->e.msg, "cluster spec: GET s3://"));
}

static void store_is_down(void)
{
	assert_int_equal(setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9", 1), 0);
}

static void test_store_unreachable(void **state)
{
	struct fixture *fx = *state;

	store_is_down();
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	/* of the cluster spec or the instance group, whichever was first */
	assert_true(str_has_prefix(fx->e.msg, "cluster spec and instance group: s3://" BASE "/"));
	assert_non_null(strstr(fx->e.msg, ": GET 'http://127.0.0.1:9/"));
	fx->req.patience.ns = DUR_SEC / 10;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	/* a first boot has nothing to fall back on, and says so */
	assert_non_null(note(fx, "kept documents: none of this instance"));
	assert_true(fx->waits > 0);
}

static void test_replay(void **state)
{
	struct fixture *fx = *state;
	struct stat st;

	fx->req.conf = master_conf;
	must_load(fx);
	assert_string_equal(fx->b.key, "s3://" BASE " i-0123456789abcdef0");
	must_persist(fx);
	assert_true(scratch_stat(&fx->root, "/var/lib/nodeup/documents.json", &st));
	assert_int_equal(st.st_mode & 07777, 0600);

	store_is_down();
	fx->req.patience.ns = DUR_SEC / 10;
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_true(fx->b.replay_age_ns >= 0 && fx->b.replay_age_ns < 600 * DUR_SEC);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_non_null(strmap_get(&fx->b.node.secrets, "kube"));
	assert_non_null(strstr(strv_join(fx->a, &fx->b.warnings, "\n"), "ago are used: "));

	/* somebody else's node, or not told that it may */
	fx->policy.mode = MODE_VALIDATE;
	assert_true(load(fx) < 0);
	fx->policy.mode = MODE_APPLY;
	cloud_tell(fx->c, CLOUD_IMDS, "/__set?path=instance-id&value=i-2");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	cloud_fault(fx->c, CLOUD_IMDS, id_path, "status=500");
	assert_true(load(fx) < 0);
	assert_non_null(note(fx, "which instance this is cannot be said"));
}

/* A store that answers that something is gone is not down. */
static void test_no_replay_for_what_is_gone(void **state)
{
	struct fixture *fx = *state;

	must_load(fx);
	must_persist(fx);
	assert_int_equal(unlink(below(fx, BASE "/cluster.spec")), 0);
	assert_int_equal(load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
}

static void test_offline(void **state)
{
	struct fixture *fx = *state;

	write_file(fx, "facts.yaml", "instanceID: i-0123456789abcdef0\nlocalHostname: ip-1\n");
	must_load(fx);
	must_persist(fx);
	fx->policy.offline = true;
	fx->req.facts_file = below(fx, "facts.yaml");
	cloud_tell(fx->c, CLOUD_IMDS, "/__reset");
	cloud_tell(fx->c, CLOUD_S3, "/__reset");
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_int_equal(asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
	/* replayed documents do not become younger */
	must_persist(fx);
	assert_int_equal(fx->b.node.keypairs.n, 3);
}

/* What this instance is called was asked in this boot, and is not asked again. The metadata service is no server of documents. */
static void test_offline_in_the_same_boot(void **state)
{
	static const char boot_id[] = "/proc/sys/kernel/random/boot_id";
	struct fixture *fx = *state;

	scratch_write(&fx->root, boot_id, "boot-1\n");
	must_load(fx);
	must_persist(fx);
	assert_string_equal(bootstrap_kept(fx->a, fx->root.fd) ? "kept" : "", "kept");
	fx->policy.offline = true;
	cloud_tell(fx->c, CLOUD_IMDS, "/__reset");
	must_load(fx);
	assert_non_null(strstr(world_host_name(&fx->b.node), "ip-10-0-0-7."));
	assert_int_equal(asked(fx, NULL), 1); /* whether it answers kubelet, which has no token */
	/* a disk that another instance may have booted from */
	scratch_write(&fx->root, boot_id, "boot-2\n");
	assert_null(bootstrap_kept(fx->a, fx->root.fd));
	fx->policy.no_metadata = true;
	assert_true(load(fx) < 0);
	assert_non_null(note(fx, "which instance this is cannot be said"));
	fx->policy.no_metadata = false;
	must_load(fx);
	assert_true(fx->b.replayed && asked(fx, hostname_path) == 1);
}

/* --conf is a URL: it is kept as well. */
static void test_conf_from_the_store(void **state)
{
	struct fixture *fx = *state;

	run((const char *const[]){ "cp", worker_conf, below(fx, BASE "/kube_env.yaml"), NULL });
	fx->req.conf = "s3://" BASE "/kube_env.yaml";
	must_load(fx);
	assert_string_equal(fx->b.conf, fx->req.conf);
	must_persist(fx);
	store_is_down();
	fx->req.conf = NULL;
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.conf, "s3://" BASE "/kube_env.yaml");
}

/* As any other that is not of this machine; of a secret no message shows a line. */
static void test_conf_is_the_user_data(void **state)
{
	struct fixture *fx = *state;

	cloud_tell(fx->c, CLOUD_IMDS, arena_printf(fx->a, "/__user_data?file=%s", worker_conf));
	fx->req.conf = "imds";
	must_load(fx);
	assert_string_equal(fx->b.key, "imds i-0123456789abcdef0");
	assert_null(fx->b.texts[0].name);
	must_persist(fx);
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/user-data", "status=500&times=99");
	fx->req.conf = NULL;
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.conf, "imds");
}

static void test_last_applied(void **state)
{
	struct fixture *fx = *state;
	autofree char *conf = realpath(worker_conf, NULL), *record = NULL;

	fx->req.conf = NULL;
	fx->policy.image_mode = true;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_USAGE);
	fx->policy.image_mode = false;
	fx->req.conf = worker_conf;
	must_load(fx);
	must_persist(fx);
	fx->req.conf = NULL;
	must_load(fx);
	assert_string_equal(fx->b.conf, conf);
	record = scratch_read(&fx->root, "/var/lib/nodeup/conf");
	assert_string_equal(record, arena_printf(fx->a, "%s\n", conf));
}

/* The node's kube_env.yaml, below the temporary directory; the name of the instance is known. */
static char *own_conf(struct fixture *fx)
{
	char *conf = rebase(fx, worker_conf, "s3://" BASE, "node/kube_env.yaml");

	write_file(fx, "facts.yaml", "instanceID: i-1\nlocalHostname: ip-1\n");
	fx->req.facts_file = below(fx, "facts.yaml");
	fx->req.conf = conf;
	must_load(fx);
	must_persist(fx);
	assert_int_equal(fx->b.n_lost, 0);
	return conf;
}

static void test_a_lost_conf_is_kept(void **state)
{
	struct fixture *fx = *state;
	char *conf = own_conf(fx);
	const char *text = content(fx, "node/kube_env.yaml"), *warned;

	assert_int_equal(unlink(conf), 0);
	for (int i = 0; i < 2; i++) {
		/* the last one applied, and the one that our unit names */
		fx->req.conf = i ? conf : NULL;
		must_load(fx);
		assert_string_equal(fx->b.conf, conf);
		assert_string_equal(fx->b.lost[0].text, text);
		assert_string_equal(fx->b.node.cluster_name, "abc.joshdurbin.net");
		/* the store is there: the rest is as of now */
		assert_false(fx->b.replayed);
		warned = strv_join(fx->a, &fx->b.warnings, "\n");
		assert_non_null(strstr(warned, arena_printf(fx->a, "%s is gone; ", conf)));
		assert_non_null(strstr(warned, " UTC, of i-1"));
	}
	/* what is put back is kept as before */
	must_persist(fx);
	must_load(fx);
	store_is_down();
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.lost[0].text, text);
	/* with its folder, too */
	assert_int_equal(rmdir(below(fx, "node")), 0);
	must_load(fx);
	assert_string_equal(fx->b.lost[0].text, text);
}

/* The file on this machine is the newer one, whatever is kept. */
static void test_a_conf_that_is_there_is_read(void **state)
{
	struct fixture *fx = *state;
	char *conf = own_conf(fx);

	write_file(fx, "node/kube_env.yaml",
		   arena_printf(fx->a, "%s\npackages: [mine]\n",
				content(fx, "node/kube_env.yaml")));
	store_is_down();
	must_load(fx);
	assert_true(fx->b.replayed);
	assert_int_equal(fx->b.n_lost, 0);
	assert_string_equal(fx->b.conf, conf);
	assert_int_equal(fx->b.node.packages.n, 1);
}

static void test_a_lost_conf_of_another_instance(void **state)
{
	struct fixture *fx = *state;
	char *conf = own_conf(fx);

	assert_int_equal(unlink(conf), 0);
	write_file(fx, "facts.yaml", "instanceID: i-2\nlocalHostname: ip-1\n");
	for (int i = 0; i < 2; i++) {
		fx->req.conf = i ? conf : NULL;
		assert_true(load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		assert_non_null(strstr(fx->e.msg, conf));
		assert_non_null(strstr(fx->e.msg, "kept documents are of i-1, and this is i-2"));
	}
}

static void test_a_lost_conf_and_nothing_kept(void **state)
{
	struct fixture *fx = *state;
	char *conf = own_conf(fx);

	assert_int_equal(unlink(conf), 0);
	scratch_write(&fx->root, "/var/lib/nodeup/documents.json", "{");
	fx->req.conf = NULL;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg,
			       arena_printf(fx->a, "%s, which was applied last, is gone", conf)));
	/* never was applied here: no copy stands in for a name that was mistyped */
	fx->req.conf = below(fx, "node/kube_enw.yaml");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_null(strstr(fx->e.msg, "kept"));
	/* nothing at all: a command line that says too little */
	assert_int_equal(unlinkat(fx->root.fd, "var/lib/nodeup/conf", 0), 0);
	fx->req.conf = NULL;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_USAGE);
	assert_non_null(strstr(fx->e.msg, "nothing was applied yet"));
}

static void test_image(void **state)
{
	struct fixture *fx = *state;

	fx->policy.image_mode = true;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "localHostname"));
	write_file(fx, "facts.yaml", "localHostname: ip-1\narch: amd64\n");
	fx->req.facts_file = below(fx, "facts.yaml");
	must_load(fx);
	assert_string_equal(fx->b.runtime.unit, "docker.service");
	assert_null(fx->b.key);
	assert_null(fx->b.imds);
	assert_int_equal(asked(fx, NULL), 0);
}

/* validate and userdata run where no node is. */
static void test_documents_only(void **state)
{
	struct fixture *fx = *state;

	fx->policy.mode = MODE_VALIDATE;
	assert_int_equal(unlinkat(fx->root.fd, "etc/os-release", 0), 0);
	assert_int_equal(unlink(below(fx, ISSUED SERIAL ".crt")), 0);
	must_load(fx);
	assert_int_equal(fx->b.node.keypairs.n, 0);
	assert_string_equal(world_host_name(&fx->b.node), "@aws");
	assert_int_equal(asked(fx, NULL), 0);
	fx->policy.mode = MODE_APPLY;
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "distribution"));
}

/* Of documents and keys, though the metadata service does not answer. */
static void test_all_that_is_wrong(void **state)
{
	static const char spoil[] =
		"cd $0; echo '  isolateMasters: x' >>cluster.spec; rm -r pki/issued/ca";
	struct fixture *fx = *state;
	struct errs others = { .arena = fx->a };

	run((const char *const[]){ "sh", "-c", spoil, below(fx, BASE), NULL });
	cloud_fault(fx->c, CLOUD_IMDS, hostname_path, "status=500&times=9");
	fx->req.others = &others;
	assert_true(load(fx) < 0 && others.n == 2 && strstr(others.v[1].msg, "key pair ca"));
}

static void test_own_name_not_to_be_had(void **state)
{
	struct fixture *fx = *state;

	cloud_fault(fx->c, CLOUD_IMDS, hostname_path, "status=500&times=2");
	assert_true(load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	assert_true(str_has_prefix(fx->e.msg,
				   "hostnameOverride '@aws': fact localHostname: instance "
				   "metadata: GET "));
	fx->req.patience.ns = -1;
	must_load(fx);
	assert_int_equal(fx->waits, 1);
	assert_int_equal(asked(fx, hostname_path), 3);
}

static void test_bad_documents(void **state)
{
	static const struct {
		const char *path, *text, *part;
	} cases[] = {
		{ BASE "/cluster.spec", "spec: [", "cluster.spec:2:" },
		{ BASE "/instancegroup/nodes", "a: 1\na: 2\n", "instancegroup/nodes:2:1" },
		{ ISSUED SERIAL ".crt", "no pem", "pki/issued/kubelet/" SERIAL ".crt" },
	};
	struct fixture *fx = *state;

	fx->req.patience.ns = -1;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *kept = arena_printf(fx->a, "%s.kept", cases[i].path);

		copy(fx, cases[i].path, kept);
		write_file(fx, cases[i].path, cases[i].text);
		assert_true(load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		if (!strstr(fx->e.msg, cases[i].part))
			fail_msg("%s", fx->e.msg);
		copy(fx, kept, cases[i].path);
	}
}

/* Two round trips for a master's keys, however many there are. */
static void test_each_object_is_asked_for_once(void **state)
{
	struct fixture *fx = *state;

	fx->req.conf = master_conf;
	must_load(fx);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" BASE "/cluster.spec"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" BASE "/secrets/kube"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" PRIVATE SERIAL ".key"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_worker),
		T(test_version1_is_asked_once),
		T(test_master),
		T(test_facts_file_leaves_nothing_to_ask),
		T(test_bad_facts_file),
		T(test_config_base_is_a_path),
		T(test_beside),
		T(test_newest_serial),
		T(test_pool_of_the_ca),
		T(test_every_secret_of_the_store),
		T(test_what_is_left_out_is_told),
		T(test_key_of_another_serial_is_none),
		T(test_missing_key_pairs),
		T(test_missing_secret),
		T(test_bad_secret_is_not_shown),
		T(test_missing_documents),
		T(test_store_unreachable),
		T(test_replay),
		T(test_no_replay_for_what_is_gone),
		T(test_offline),
		T(test_offline_in_the_same_boot),
		T(test_conf_from_the_store),
		T(test_conf_is_the_user_data),
		T(test_last_applied),
		T(test_a_lost_conf_is_kept),
		T(test_a_conf_that_is_there_is_read),
		T(test_a_lost_conf_of_another_instance),
		T(test_a_lost_conf_and_nothing_kept),
		T(test_image),
		T(test_documents_only),
		T(test_all_that_is_wrong),
		T(test_own_name_not_to_be_had),
		T(test_bad_documents),
		T(test_each_object_is_asked_for_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
