#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/plan/tasklist.h"
#include "tests/unit/lib/seed.h"

static struct plan plan_role(struct arena *a, struct world *w, bool master)
{
	struct plan_req *req = arena_new(a, struct plan_req);

	*w = seed_world(a, master);
	*req = seed_request(w);
	return seed_plan(a, req);
}

static const struct task_file *file(const struct plan *p, const char *path)
{
	return &plan_get(p, TASK_FILE, path)->file;
}

static void assert_file(const struct plan *p, const char *path, mode_t mode, const char *text)
{
	const struct task_file *f = file(p, path);

	assert_string_equal(f->content, text);
	assert_int_equal(f->len, strlen(text));
	assert_int_equal(f->attr.mode, mode);
	assert_int_equal(f->attr.uid, 0);
}

static void a_worker_lacks_what_is_the_masters(void **state)
{
	static const char *const paths[] = { "/srv/kubernetes/ca.key",
					     "/srv/kubernetes/server.key",
					     "/srv/kubernetes/basic_auth.csv",
					     "/var/lib/kops/kubeconfig",
					     "/etc/kubernetes/manifests/kube-apiserver.manifest",
					     "/etc/systemd/system/protokube.service" };
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_null(plan_look(&p, TASK_FILE, paths[i]));
	/* listed for every role, fetched by none that has no use for them */
	assert_null(plan_look(&p, TASK_ASSET, "kubectl"));
	assert_null(plan_look(&p, TASK_ASSET, "protokube.tar.gz"));
	assert_null(plan_look(&p, TASK_IMAGE, "protokube:1.8.1"));
	assert_non_null(plan_look(&p, TASK_ASSET, "kubelet"));
	assert_int_equal(p.n_assets, 4);
}

/* Whatever holds a key or a token is readable by root alone and never shown. */
static void secrets_are_kept(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);
	size_t secrets = 0;

	(void)state;
	for (size_t i = 0; i < p.n; i++) {
		const struct task_file *f = &p.tasks[i]->file;
		bool holds;

		/* of what is to go it is not known what it says */
		if (p.tasks[i]->kind != TASK_FILE || f->unwanted)
			continue;
		holds = strstr(f->content, "PRIVATE KEY") || strstr(f->content, "client-key-data");
		for (size_t k = 0; k < w.node.secrets.n; k++)
			holds |= strstr(f->content, w.node.secrets.v[k].value) != NULL;
		assert_int_equal(holds, f->secret);
		secrets += holds;
		if (holds)
			assert_int_equal(f->attr.mode & 0177, 0);
	}
	/* server, proxy-client, aggregator, ca keys; two tables; kubelet, proxy, kcm, scheduler,
	 * kubectl, kops */
	assert_int_equal(secrets, 4 + 2 + 6);
	assert_int_equal(file(&p, "/var/lib/kubelet/kubeconfig")->attr.mode, 0400);
	assert_int_equal(file(&p, "/srv/kubernetes/server.key")->attr.mode, 0600);
}

static void tokens_are_sorted(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p;

	(void)state;
	w.node.secrets = (struct strmap){ 0 };
	strmap_set(a, &w.node.secrets, "system:dns", "t3");
	strmap_set(a, &w.node.secrets, "kube", "t2");
	strmap_set(a, &w.node.secrets, "dockerconfig", "{}");
	strmap_set(a, &w.node.secrets, "admin", "t1");
	p = seed_plan(a, &req);
	assert_file(&p, "/srv/kubernetes/known_tokens.csv", 0600,
		    "t1,admin,admin\nt2,kube,kube\nt3,system:dns,system:dns");
	assert_file(&p, "/srv/kubernetes/basic_auth.csv", 0600, "t2,admin,admin,system:masters");
	assert_file(&p, "/root/.docker/config.json", 0600, "{}");
}

/* kops gives the flag for whatever is set. */
static void a_policy_that_is_not_wanted_has_no_flag(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	const struct plan_req req = seed_request(&w);
	static const char path[] = "/etc/kubernetes/manifests/kube-scheduler.manifest";
	struct plan p;

	(void)state;
	world_own(&w)->kube_scheduler.use_policy_config_map = (struct opt_bool){ true, true };
	p = seed_plan(a, &req);
	assert_non_null(strstr(file(&p, path)->content, "--policy-configmap=scheduler-policy"));
	world_own(&w)->kube_scheduler.use_policy_config_map.v = false;
	p = seed_plan(a, &req);
	assert_null(strstr(file(&p, path)->content, "policy-configmap"));
}

/* By which name a kube-proxy, and by which a protokube, knows it. */
static void gossip_is_told_by_names(void **state)
{
	static const char path[] = "/etc/kubernetes/manifests/kube-proxy.manifest";
	static const struct {
		const char *cluster, *internal;
		bool hosts, protokube;
	} rows[] = {
		{ "a.example", "api.internal.a.example", false, false },
		{ "a.k8s.local", "api.internal.a.k8s.local.", true, true },
		{ "a.k8s.local", "elb.example", true, false },
		{ "k8s.local", "api.internal.k8s.local", true, true },
		{ "ak8s.local", "api.internal.ak8s.local", false, false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = seed_world(a, false);
		const struct plan_req req = seed_request(&w);
		struct plan p;

		w.node.cluster_name = rows[i].cluster;
		w.node.master_internal_name = rows[i].internal;
		p = seed_plan(a, &req);
		assert_int_equal(strstr(file(&p, path)->content, "path: /etc/hosts") != NULL,
				 rows[i].hosts);
		assert_int_equal(plan_look(&p, TASK_UNIT, "protokube.service") != NULL,
				 rows[i].protokube);
	}
}

static void credentials_stay_out_of_units(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const char *const flags[] = { "--conf=/opt/a b/kube_env.yaml", NULL };
	static const struct plan_boot boot = {
		.flags = flags, .record = "{}\n", .version = "1", .install = true
	};
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p;

	(void)state;
	strmap_set(a, &req.environment, "AWS_REGION", "us-west-2");
	strmap_set(a, &req.environment, "S3_ENDPOINT", "http://s3:9000/100%");
	strmap_set(a, &req.environment, "S3_SECRET_ACCESS_KEY", "hush$1");
	p = seed_plan(a, &req);
	assert_file(&p, "/etc/sysconfig/protokube", 0600,
		    "# Written by nodeup for protokube\nS3_SECRET_ACCESS_KEY=hush$1\n");
	assert_true(file(&p, "/etc/sysconfig/protokube")->secret);
	assert_non_null(strstr(file(&p, "/etc/systemd/system/protokube.service")->content,
			       "/kubeconfig  -e 'AWS_REGION=us-west-2' "
			       "-e S3_ENDPOINT=http://s3:9000/100%% "
			       "--env-file /etc/sysconfig/protokube  protokube:1.8.1 "));
	req.only = "bootstrap";
	req.boot = &boot;
	/* the way out that we were started with is for our own unit alone */
	strmap_set(a, &req.proxy_environment, "http_proxy", "http://u:p@proxy");
	strmap_set(a, &req.proxy_environment, "no_proxy", "10.0.0.0/8");
	strmap_set(a, &req.environment, "GOSSIP_DNS_CONN_LIMIT", "16");
	p = seed_plan(a, &req);
	assert_file(&p, "/etc/sysconfig/kops-configuration", 0600,
		    "S3_SECRET_ACCESS_KEY=\"hush\\$1\"\nhttp_proxy=\"http://u:p@proxy\"\n"
		    "AWS_REGION=\"us-west-2\"\nS3_ENDPOINT=\"http://s3:9000/100%\"\n"
		    "GOSSIP_DNS_CONN_LIMIT=\"16\"\n");
	assert_file(&p, "/etc/systemd/system/kops-configuration.service", 0644,
		    "[Unit]\n"
		    "Description=Run kops bootstrap (nodeup)\n"
		    "Documentation=man:nodeup(8)\n"
		    "Wants=network-online.target\n"
		    "After=network-online.target\n"
		    "\n"
		    "[Service]\n"
		    "Environment=\"no_proxy=10.0.0.0/8\"\n"
		    "EnvironmentFile=-/etc/environment\n"
		    "EnvironmentFile=/etc/sysconfig/kops-configuration\n"
		    "ExecStart=/opt/nodeup/bin/nodeup apply \"--conf=/opt/a b/kube_env.yaml\"\n"
		    "Type=notify\n"
		    "RemainAfterExit=no\n"
		    "NotifyAccess=main\n"
		    "TimeoutStartSec=infinity\n"
		    "KillMode=mixed\n"
		    "TimeoutStopSec=300\n"
		    "SuccessExitStatus=SIGTERM\n"
		    "\n"
		    "[Install]\n"
		    "WantedBy=multi-user.target\n");
}

/* It is made before any document is read. */
static void our_unit_needs_no_documents(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const char *const flags[] = { NULL };
	static const struct plan_boot boot = {
		.flags = flags, .record = "{}\n", .version = "1", .install = true
	};
	const struct node node = { 0 };
	const struct facts facts = { .systemd = 215 };
	struct plan_req req = {
		.node = &node, .facts = &facts, .only = "bootstrap", .boot = &boot
	};
	struct plan p = seed_plan(a, &req);
	const struct task *unit = plan_get(&p, TASK_UNIT, "kops-configuration.service");

	(void)state;
	assert_int_equal(p.n, 6);
	assert_true(unit->unit.enable);
	assert_true(unit->unit.no_wait);
	assert_false(unit->unit.at_boot);
	assert_true(plan_get(&p, TASK_PROGRAM, "/opt/nodeup/bin/nodeup")->program.replace);
	/* what 215 does not know is not there */
	assert_non_null(strstr(file(&p, "/etc/systemd/system/kops-configuration.service")->content,
			       "\nTimeoutStartSec=0\n"));
}

/* Who never installed it runs nodeup by hand. */
static void our_unit_is_no_part_of_a_node_without_it(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);

	(void)state;
	assert_null(plan_look(&p, TASK_UNIT, "kops-configuration.service"));
}

/* Where it was installed it is a task of every run, which enables it and never starts it. */
static void our_unit_is_kept_where_it_was_installed(void **state)
{
	static const struct {
		const char *distribution, *program, *link;
	} rows[] = {
		{ "debian", "/opt/nodeup/bin/nodeup", "/usr/local/bin/nodeup" },
		{ "amazonlinux", "/opt/nodeup/bin/nodeup", "/usr/local/bin/nodeup" },
		{ "flatcar", "/opt/bin/nodeup", NULL },
		{ "coreos", "/opt/bin/nodeup", NULL },
		{ "containeros", "/var/lib/toolbox/nodeup/nodeup", NULL },
	};
	static const char *const flags[] = { "--v=8", NULL };
	static const struct plan_boot boot = { .flags = flags, .record = "{}\n", .version = "1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct node node = { 0 };
		const struct facts facts = { .distribution = rows[i].distribution };
		struct plan_req req = {
			.node = &node, .facts = &facts, .only = "bootstrap", .boot = &boot
		};
		struct plan p = seed_plan(a, &req);
		const struct task *unit = plan_get(&p, TASK_UNIT, "kops-configuration.service");
		const struct task *program = plan_get(&p, TASK_PROGRAM, rows[i].program);

		assert_true(unit->unit.at_boot);
		assert_false(program->program.replace);
		/* of all that is done it needs the program, its file, and systemd to know that */
		assert_int_equal(unit->n_needs, 3);
		assert_non_null(
			strstr(file(&p, "/etc/systemd/system/kops-configuration.service")->content,
			       arena_printf(a, "\nExecStart=%s apply --v=8\n", rows[i].program)));
		if (rows[i].link)
			assert_string_equal(plan_get(&p, TASK_LINK, rows[i].link)->link.target,
					    rows[i].program);
		else
			assert_int_equal(p.n, 5);
	}
}

/* Its flags are not known: the rest of it is kept all the same. */
static void our_unit_without_its_flags_keeps_its_file(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const struct plan_boot boot = { .version = "1" };
	const struct node node = { 0 };
	const struct facts facts = { 0 };
	struct plan_req req = {
		.node = &node, .facts = &facts, .only = "bootstrap", .boot = &boot
	};
	struct plan p = seed_plan(a, &req);

	(void)state;
	assert_int_equal(p.n, 3);
	(void)plan_get(&p, TASK_UNIT, "kops-configuration.service");
	(void)plan_get(&p, TASK_PROGRAM, "/opt/nodeup/bin/nodeup");
}

/* Only where it is asked for, and where there is a program that its unit can start. */
static void the_guard_is_asked_for(void **state)
{
	static const struct {
		bool wanted, installed;
		size_t n;
	} rows[] = { { true, true, 4 }, { true, false, 0 }, { false, true, 0 } };
	static const struct plan_boot boot = { .version = "1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct settings settings = { .guard = rows[i].wanted };
		struct world w = seed_world(a, false);
		struct plan_req req = seed_request(&w);
		struct plan p;
		const char *service;

		req.settings = &settings;
		req.only = "guard";
		req.boot = rows[i].installed ? &boot : NULL;
		p = seed_plan(a, &req);
		assert_int_equal(p.n, rows[i].n);
		if (!p.n)
			continue;
		service = file(&p, "/etc/systemd/system/nodeup-guard.service")->content;
		assert_non_null(strstr(service, "\nExecStart=/opt/nodeup/bin/nodeup guard\n"));
		assert_non_null(strstr(service, "\nCPUSchedulingPolicy=idle\n"));
		assert_true(plan_get(&p, TASK_UNIT, plan_guard_timer)->unit.enable);
		/* its own text, that of what it starts, and systemd's view of both */
		assert_int_equal(plan_get(&p, TASK_UNIT, plan_guard_timer)->n_needs, 3);
		/* systemd would start it at boot, beside the run */
		assert_null(plan_look(&p, TASK_UNIT, "nodeup-guard.service"));
	}
}

static void assert_fails(struct arena *a, const struct plan_req *req, const char *want)
{
	struct plan p = { 0 };
	struct err e;

	assert_int_equal(plan_build(a, req, &p, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (!strstr(e.msg, want))
		fail_msg("'%s' lacks '%s'", e.msg, want);
	assert_null(p.tasks);
}

static void a_host_without_docker_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct plan p;

	(void)state;
	req.runtime.unit = NULL;
	assert_fails(a, &req, "no container runtime: Kubernetes 1.8.7");
	req.runtime = (struct runtime){ .unit = "containerd.service" };
	assert_fails(a, &req, "this host has another one");
	req.runtime.masked = "docker.service";
	assert_fails(a, &req, "docker.service is masked");
	req.image_mode = true;
	p = seed_plan(a, &req);
	assert_false(plan_get(&p, TASK_UNIT, "docker.service")->unit.enable);
	assert_int_equal(p.warnings.n, 1);
}

static void remove_asset(struct world *w, size_t i)
{
	struct node_texts *texts = &w->node.assets;

	texts->n--;
	memmove(&texts->v[i], &texts->v[i + 1], (texts->n - i) * sizeof(*texts->v));
}

static void a_missing_asset_is_named_with_its_list(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p = { 0 };
	struct err e;

	(void)state;
	remove_asset(&w, 0);
	assert_true(plan_build(a, &req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg,
			    "kube_env.yaml:3:3: Assets: no asset kubelet, which kubelet needs");
	assert_int_equal(e.nnotes, 1);
	assert_non_null(strstr(e.notes[0].text, "kubectl, cni-0799f5732f2a11b329d9e3d51b9c8f2e37"));
	remove_asset(&w, 0);
	assert_fails(a, &req, "no asset kubectl, which control-plane needs");
	remove_asset(&w, 0);
	remove_asset(&w, 0);
	assert_fails(a, &req,
		     "archive that could hold bridge: needed for cni, but the documents "
		     "list no assets");
	/* and what else they would have held is not told one by one */
	assert_true(plan_build(a, &req, &p, &e) < 0);
	assert_int_equal(e.nnotes, 0);
}

static void a_bad_asset_is_found_by_line(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);

	(void)state;
	w.node.assets.v[1].text = "nohash@https://h/kubectl";
	assert_fails(a, &req, "kube_env.yaml:3:3: asset 'https://h/kubectl'");
	req.only = "assets";
	assert_fails(a, &req, "kube_env.yaml:3:3: ");
}

/* Where no dialect knew it as a path. */
static void a_path_is_absolute_and_clean(void **state)
{
	static const char *const wrong[] = { "x", "-1", "../x", "/a/../x", "//x", "/x/" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct world w = seed_world(a, false);
		struct plan_req req = seed_request(&w);
		struct node_file file = { .path = wrong[i], .content = "", .mode = 0600 };

		arena_push(a, w.node.files.v, w.node.files.n, file);
		assert_fails(
			a, &req,
			arena_printf(a, "'%s', which file-assets asks for, is not an absolute path",
				     wrong[i]));
	}
}

static void missing_keys_and_secrets_are_named(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);

	(void)state;
	w.node.secrets.n = 0;
	assert_fails(a, &req, "secret kube");
	w = seed_world(a, true);
	for (size_t i = 0; i < w.node.keypairs.n; i++)
		if (strcmp(w.node.keypairs.v[i].name, "kubecfg") == 0)
			w.node.keypairs.v[i].key = NULL;
	assert_fails(a, &req, "keypair kubecfg: no private key, which control-plane needs");
	w = seed_world(a, true);
	w.node.keypairs.n = 0;
	assert_fails(a, &req, "keypair ca: no certificate");
}

/* What was asked for last failed, in these words if they are given. */
static void assert_refused(struct plan *p, const char *words)
{
	assert_int_equal(p->n_wrong, 1);
	if (words)
		assert_string_equal(p->wrong[0]->msg, words);
	p->n_wrong = 0;
}

static void one_path_has_one_content(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "one" };
	struct task *t;

	(void)state;
	t = plan_file(&p, "/x", 0644, "a");
	p.builder = "two";
	assert_ptr_equal(plan_file(&p, "/x", 0644, "a"), t);
	assert_int_equal(p.n_wrong, 0);
	assert_ptr_not_equal(plan_file(&p, "/x", 0644, "b"), t);
	assert_refused(&p, "/x: asked for differently by one and by two");
	plan_file(&p, "/x", 0600, "a");
	assert_refused(&p, NULL);
	plan_secret(&p, "/x", 0644, "a");
	assert_refused(&p, NULL);
	plan_dir(&p, "/x", 0755);
	assert_refused(&p, NULL);
	plan_dir(&p, "/d", 0755);
	assert_int_equal(p.n_wrong, 0);
	plan_dir(&p, "/d", 0700);
	assert_refused(&p, NULL);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.tasks[0]->origin, "one");
}

static void each_error_of_a_builder_stands(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "one" };

	(void)state;
	plan_file(&p, "/x", 0644, "a");
	plan_file(&p, "/x", 0644, "b");
	plan_dir(&p, "/x", 0755);
	plan_refuse(&p, "another");
	assert_int_equal(p.n_wrong, 2);
	assert_string_equal(p.wrong[0]->msg, "/x: asked for differently by one and by one");
	assert_string_equal(p.wrong[1]->msg, "another");
}

static void what_is_missing_may_be_what_was_wrong(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "one" };

	(void)state;
	plan_lacks(&p, "no kubelet");
	assert_refused(&p, "no kubelet");
	p.is_partial = true;
	plan_lacks(&p, "no kubelet");
	assert_int_equal(p.n_wrong, 0);
}

static void add_file(struct world *w, const char *path)
{
	const struct node_file file = { .path = path, .content = "a", .len = 1, .mode = 0440 };

	arena_push(w->a, w->node.files.v, w->node.files.n, file);
}

/* Of a host, of the list of assets, of two builders, and twice of one. */
static void all_that_is_wrong_is_told_at_once(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	static const char *const also[] = {
		"asset 'https://x/kubelet': 'xyz' is not a digest",
		"hook kubelet.service: the unit is kubelet's",
		"fileAssets: '/etc/systemd/system/kubelet.service': ",
		"fileAssets: '/etc/sysconfig/kubelet': ",
	};
	struct node_hook hook = { .name = "kubelet.service", .manifest = "ExecStart=/bin/true" };
	struct plan p = { 0 };
	struct err e;

	(void)state;
	req.runtime.cgroup = 2;
	w.node.assets.v[0].text = "xyz@https://x/kubelet";
	add_file(&w, "/etc/systemd/system/kubelet.service");
	add_file(&w, "/etc/sysconfig/kubelet");
	arena_push(a, w.node.hooks.v, w.node.hooks.n, hook);
	assert_true(plan_build(a, &req, &p, &e) < 0);
	assert_non_null(strstr(e.msg, "cannot run here: this host has cgroup v2"));
	for (size_t i = 0; i < ARRAY_LEN(also); i++) {
		assert_string_equal(e.notes[3 + i].label, "also");
		assert_non_null(strstr(e.notes[3 + i].text, also[i]));
	}
	assert_int_equal(e.nnotes, 3 + ARRAY_LEN(also));
}

static void sha1_is_warned_of_once(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);

	(void)state;
	assert_int_equal(p.warnings.n, 0);
	assert_string_equal(p.sha1, "kube_env.yaml:2:3: asset kubelet: sha1 is broken; "
				    "name this and other assets by sha256");
}

static void tasks_know_their_place(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);

	(void)state;
	for (size_t i = 0; i < p.n; i++) {
		assert_int_equal(p.tasks[i]->index, i);
		assert_non_null(p.tasks[i]->origin);
		for (size_t k = 0; k < i; k++)
			assert_false(p.tasks[k]->kind == p.tasks[i]->kind &&
				     strcmp(p.tasks[k]->name, p.tasks[i]->name) == 0);
	}
}

/* Notes what it is asked of, and says that only one of them is there. */
static bool has_file(void *arg, const char *path)
{
	struct strv *asked = arg;

	asked->v[asked->n++] = path;
	return str_eq(path, "/etc/there");
}

static void what_was_written_and_is_gone_is_no_task(void **state)
{
	const char *paths[] = { "/etc/there", "/var/lib/kubelet/kubeconfig", "/etc/gone" };
	const char *found[ARRAY_LEN(paths)];
	struct strv asked = { .v = found };
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct plan before = seed_plan(a, &req), p;

	(void)state;
	req.written = (struct strv){ .v = paths, .n = ARRAY_LEN(paths) };
	req.has_file = has_file;
	req.has_file_arg = &asked;
	p = seed_plan(a, &req);
	assert_int_equal(p.n, before.n + 1);
	assert_non_null(plan_look(&p, TASK_FILE, "/etc/there"));
	assert_null(plan_look(&p, TASK_FILE, "/etc/gone"));
	/* what a task is for is looked at by that */
	assert_int_equal(asked.n, 2);
	assert_string_equal(asked.v[0], "/etc/there");
	assert_string_equal(asked.v[1], "/etc/gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_lacks_what_is_the_masters),
		cmocka_unit_test(secrets_are_kept),
		cmocka_unit_test(tokens_are_sorted),
		cmocka_unit_test(a_policy_that_is_not_wanted_has_no_flag),
		cmocka_unit_test(gossip_is_told_by_names),
		cmocka_unit_test(credentials_stay_out_of_units),
		cmocka_unit_test(our_unit_needs_no_documents),
		cmocka_unit_test(our_unit_is_no_part_of_a_node_without_it),
		cmocka_unit_test(our_unit_is_kept_where_it_was_installed),
		cmocka_unit_test(our_unit_without_its_flags_keeps_its_file),
		cmocka_unit_test(the_guard_is_asked_for),
		cmocka_unit_test(a_host_without_docker_is_told),
		cmocka_unit_test(a_missing_asset_is_named_with_its_list),
		cmocka_unit_test(a_bad_asset_is_found_by_line),
		cmocka_unit_test(a_path_is_absolute_and_clean),
		cmocka_unit_test(missing_keys_and_secrets_are_named),
		cmocka_unit_test(one_path_has_one_content),
		cmocka_unit_test(each_error_of_a_builder_stands),
		cmocka_unit_test(what_is_missing_may_be_what_was_wrong),
		cmocka_unit_test(all_that_is_wrong_is_told_at_once),
		cmocka_unit_test(sha1_is_warned_of_once),
		cmocka_unit_test(tasks_know_their_place),
		cmocka_unit_test(what_was_written_and_is_gone_is_no_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
