#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/plan/docker.h"
#include "nodeup/plan/questions.h"
#include "nodeup/plan/release.h"
#include "tests/unit/lib/seed.h"

#define SYSTEM "/etc/systemd/system/"

struct host {
	struct world w;
	struct plan_req req;
};

/* The seed's worker on a release of a distribution, with or without a docker. */
static struct host *host(struct arena *a, const char *distribution, const char *version,
			 const char *runtime)
{
	struct host *h = arena_new(a, struct host);

	h->w = seed_world(a, false);
	h->w.facts.distribution = distribution;
	h->w.facts.version = version;
	h->w.facts.arch = "amd64";
	h->w.node.docker_version = "1.13.1";
	h->req = seed_request(&h->w);
	h->req.runtime = (struct runtime){ .unit = runtime };
	return h;
}

static const char *text(const struct plan *p, const char *path)
{
	return plan_get(p, TASK_FILE, path)->file.content;
}

static bool has_text(const struct plan *p, const char *path, const char *part)
{
	return strstr(text(p, path), part) != NULL;
}

static bool waits_for(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == need || waits_for(t->needs[i], need))
			return true;
	return false;
}

static void jessie_gets_the_docker_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = seed_plan(a, &host(a, "debian", "8.10", NULL)->req);
	const struct task *pkg = plan_get(&p, TASK_PACKAGE, "docker-engine");
	const struct task *unit = plan_get(&p, TASK_UNIT, "docker.service"), *repo, *comfort;
	char hex[DIGEST_TEXT_MAX];

	(void)state;
	assert_string_equal(digest_hex(&pkg->package.source->digest, hex),
			    "1d3370549e32ea13b2755b2db8dbc82b2b787ece");
	assert_string_equal(pkg->package.source->urls.v[0],
			    "http://apt.dockerproject.org/repo/pool/main/d/docker-engine/"
			    "docker-engine_1.13.1-0~debian-jessie_amd64.deb");
	repo = plan_get(&p, TASK_PACKAGE,
			"ebtables ethtool socat nfs-common python-apt apt-transport-https curl "
			"bridge-utils libapparmor1 libltdl7 perl");
	comfort = plan_get(&p, TASK_PACKAGE, "logrotate unattended-upgrades ntp");
	assert_int_equal(repo->package.family, PACKAGE_DEB);
	assert_true(waits_for(pkg, repo));
	assert_true(waits_for(comfort, pkg));
	assert_true(waits_for(plan_get(&p, TASK_UNIT, "ntp.service"), comfort));
	assert_false(waits_for(plan_get(&p, TASK_UNIT, "kubelet.service"), comfort));
	assert_true(waits_for(pkg, plan_get(&p, TASK_ASSET, pkg->package.source->name)));
	/* its postinst starts it: with our unit and our options */
	assert_true(waits_for(pkg, plan_get(&p, TASK_FILE, SYSTEM "docker.service")));
	assert_true(waits_for(unit, pkg));
	assert_true(unit->unit.enable);
	assert_true(has_text(&p, "/usr/share/doc/docker/apache.txt", "Apache License"));
	assert_int_equal(
		plan_get(&p, TASK_FILE, "/opt/kubernetes/helpers/docker-prestart")->file.attr.mode,
		0755);
	assert_null(plan_look(&p, TASK_FILE, SYSTEM "docker.service.d/10-kops.conf"));
	assert_string_equal(
		text(&p, SYSTEM "docker.service"),
		"[Unit]\nDescription=Docker Application Container Engine\n"
		"Documentation=https://docs.docker.com\nAfter=network.target docker.socket\n"
		"Requires=docker.socket\n\n[Service]\nType=notify\n"
		"EnvironmentFile=/etc/sysconfig/docker\nEnvironmentFile=-/etc/environment\n"
		"ExecStart=/usr/bin/dockerd -H fd:// \"$DOCKER_OPTS\"\n"
		"ExecReload=/bin/kill -s HUP $MAINPID\nKillMode=process\nTimeoutStartSec=0\n"
		"LimitNOFILE=1048576\nLimitNPROC=1048576\nLimitCORE=infinity\nRestart=always\n"
		"RestartSec=2s\nStartLimitInterval=0\nDelegate=yes\n"
		"ExecStartPre=/opt/kubernetes/helpers/docker-prestart\n\n[Install]\n"
		"WantedBy=multi-user.target\n");
}

static void centos_gets_both_of_its_packages_selinux_first(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = seed_plan(a, &host(a, "centos", "7", NULL)->req);
	const struct task *first = plan_get(&p, TASK_PACKAGE, "docker-engine-selinux");
	const struct task *second = plan_get(&p, TASK_PACKAGE, "docker-engine");

	(void)state;
	assert_true(waits_for(second, first));
	assert_int_equal(first->package.family, PACKAGE_RPM);
	assert_true(has_text(&p, SYSTEM "docker.service",
			     "ExecStart=/usr/bin/dockerd \"$DOCKER_OPTS\"\n"));
	assert_false(has_text(&p, SYSTEM "docker.service", "docker.socket"));
	assert_false(has_text(&p, SYSTEM "docker.service", "ExecStartPre"));
	assert_null(plan_look(&p, TASK_UNIT, "docker-healthcheck.timer"));
	assert_non_null(plan_look(&p, TASK_UNIT, "ntpd.service"));
}

/* Every version of kops 1.8.1, on every release it has it for; source: nodeup/pkg/model/docker.go */
static void every_docker_of_kops_is_known(void **state)
{
	static const struct {
		const char *distribution, *version;
	} hosts[] = { { "debian", "8" },
		      { "debian", "9" },
		      { "ubuntu", "16.04" },
		      { "centos", "7" },
		      { "rhel", "7" } };
	static const struct {
		const char *version, *name;
		int packages[ARRAY_LEN(hosts)]; /* 0: kops has none */
	} rows[] = {
		{ "1.11.2", "docker-engine", { 1, 0, 1, 2, 2 } },
		{ "1.12.1", "docker-engine", { 1, 0, 1, 2, 2 } },
		{ "1.12.3", "docker-engine", { 1, 0, 1, 2, 2 } },
		{ "1.12.6", "docker-engine", { 1, 1, 1, 2, 2 } },
		{ "1.13.1", "docker-engine", { 1, 1, 1, 2, 2 } },
		{ "17.03.2", "docker-ce", { 1, 1, 1, 2, 2 } },
		{ "17.09.0", "docker-ce", { 1, 0, 1, 1, 1 } },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(hosts); i++) {
		const size_t v = i / ARRAY_LEN(hosts), d = i % ARRAY_LEN(hosts);
		struct host *h = host(a, hosts[d].distribution, hosts[d].version, NULL);
		const char *selinux = arena_printf(a, "%s-selinux", rows[v].name);
		struct plan p;
		struct err e;

		h->w.node.docker_version = rows[v].version;
		if (rows[v].packages[d] == 0) {
			assert_true(plan_build(a, &h->req, &p, &e) < 0);
			assert_int_equal(e.kind, ERR_CONFIG);
			continue;
		}
		p = seed_plan(a, &h->req);
		assert_non_null(
			strstr(plan_get(&p, TASK_PACKAGE, rows[v].name)->package.source->urls.v[0],
			       rows[v].version));
		assert_int_equal(plan_look(&p, TASK_PACKAGE, selinux) != NULL,
				 rows[v].packages[d] == 2);
		assert_int_equal(has_text(&p, SYSTEM "docker.service", "/usr/bin/docker daemon "),
				 v == 0);
	}
}

static void the_time_is_kept_by_a_tag(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "debian", "9", "docker.service");
	struct plan p = seed_plan(a, &h->req);

	(void)state;
	assert_non_null(plan_look(&p, TASK_UNIT, "ntp.service"));
	h->w.node.keeps_time = false;
	p = seed_plan(a, &h->req);
	assert_null(plan_look(&p, TASK_UNIT, "ntp.service"));
	for (size_t i = 0; i < p.n; i++)
		assert_true(p.tasks[i]->kind != TASK_PACKAGE ||
			    !strv_has(&p.tasks[i]->package.names, "ntp"));
}

static void a_second_run_plans_what_the_first_did(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "ubuntu", "16.04", NULL);
	struct plan before = seed_plan(a, &h->req), after;

	(void)state;
	h->req.runtime = (struct runtime){ .unit = "docker.service", .is_ours = true };
	after = seed_plan(a, &h->req);
	assert_int_equal(before.n, after.n);
	for (size_t i = 0; i < before.n; i++)
		assert_string_equal(before.tasks[i]->name, after.tasks[i]->name);
	assert_non_null(plan_look(&after, TASK_PACKAGE, "docker-engine"));
}

static void a_docker_that_is_there_is_used(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = seed_plan(a, &host(a, "debian", "8", "docker.service")->req);

	(void)state;
	assert_null(plan_look(&p, TASK_PACKAGE, "docker-engine"));
	assert_null(plan_look(&p, TASK_FILE, SYSTEM "docker.service"));
	assert_non_null(plan_look(&p, TASK_FILE, SYSTEM "docker.service.d/10-kops.conf"));
	assert_null(plan_look(&p, TASK_FILE, "/usr/share/doc/docker/apache.txt"));
	assert_null(plan_look(&p, TASK_FILE, "/opt/kubernetes/helpers/docker-prestart"));
}

static void what_kops_misspells_can_be_had(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_docker_packages; i++) {
		const struct docker_package *pkg = &docker_packages[i];

		assert_null(strstr(pkg->needs, "libgcroup"));
		if (strcmp(pkg->distributions, "stretch") == 0 && strstr(pkg->url, "/dists/"))
			assert_non_null(strstr(pkg->url, "/debian/dists/stretch/"));
	}
}

static void docker_of_today_has_overlay2_only(void **state)
{
	static const struct {
		const char *version, *asked, *given;
	} cases[] = {
		{ "23.0.6", "overlay", "overlay" },  { NULL, "overlay", "overlay" },
		{ "24.0.7", "overlay", "overlay2" }, { "28.1.0", "aufs", "overlay2" },
		{ "24.0.7", "btrfs", "btrfs" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct host *h = host(a, "debian", "12", "docker.service");
		const bool kept = strcmp(cases[i].asked, cases[i].given) == 0;
		struct plan p;

		h->req.runtime.version = cases[i].version;
		h->w.node.docker_storage = cases[i].asked;
		p = seed_plan(a, &h->req);
		assert_true(has_text(&p, "/etc/sysconfig/docker",
				     arena_printf(a, "--storage-driver=%s ", cases[i].given)) ||
			    has_text(&p, "/etc/sysconfig/docker",
				     arena_printf(a, "--storage-driver=%s\n", cases[i].given)));
		assert_int_equal(strv_has(&p.warnings,
					  arena_printf(a,
						       "docker %s has no %s: its storage driver is "
						       "overlay2",
						       cases[i].version ? cases[i].version : "",
						       cases[i].asked)),
				 !kept);
	}
}

static void the_dropin_carries_the_options_to_any_unit(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "rocky", "9", "docker.service");
	struct plan p;

	(void)state;
	h->req.runtime.exec_start = "/usr/bin/dockerd -H fd:// $DOCKER_OPTS";
	h->w.node.kubernetes = (struct version){ 1, 10, 3 };
	p = seed_plan(a, &h->req);
	assert_string_equal(text(&p, SYSTEM "docker.service.d/10-kops.conf"),
			    "[Service]\nEnvironmentFile=/etc/sysconfig/docker\n"
			    "EnvironmentFile=-/etc/environment\nTasksMax=infinity\nExecStart=\n"
			    "ExecStart=/usr/bin/dockerd -H fd:// $DOCKER_OPTS\n");
	h->req.runtime.is_late = true;
	p = seed_plan(a, &h->req);
	assert_non_null(plan_look(&p, TASK_FILE, SYSTEM "docker.service.d/zz-kops.conf"));
}

static void what_cannot_be_installed_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "debian", "8", NULL);
	struct plan p;
	struct err e;

	(void)state;
	h->w.node.docker_version = "1.9.9";
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.notes[2].text,
			    "installing docker 1.9.9: there is no package of it for jessie");
	h = host(a, "debian", "12", NULL);
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	h = host(a, "debian", "8", NULL);
	h->w.facts.arch = "arm64";
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	/* another runtime is not pushed aside */
	h = host(a, "debian", "8", "containerd.service");
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_string_equal(e.notes[1].text, "containerd.service");
}

/* From what their os-release says, and no more. */
static void releases_are_told_apart(void **state)
{
	static const struct {
		const char *os_release, *name;
		enum package_family family;
	} rows[] = {
		{ "ID=debian\nVERSION_ID=\"8\"\nVERSION=\"8 (jessie)\"\n", "jessie", PACKAGE_DEB },
		{ "ID=debian\nVERSION_ID=\"9\"\nVERSION=\"9 (stretch)\"\n", "stretch",
		  PACKAGE_DEB },
		{ "ID=ubuntu\nVERSION_ID=\"16.04\"\nVERSION_CODENAME=xenial\n", "xenial",
		  PACKAGE_DEB },
		{ "ID=\"centos\"\nVERSION_ID=\"7\"\nVERSION=\"7 (Core)\"\n", "centos7",
		  PACKAGE_RPM },
		{ "ID=\"rhel\"\nVERSION_ID=\"7.4\"\nVERSION=\"7.4 (Maipo)\"\n", "rhel7",
		  PACKAGE_RPM },
		{ "ID=coreos\nVERSION_ID=1688.5.3\n", NULL, PACKAGE_NONE },
		{ "ID=cos\nVERSION_ID=65\n", NULL, PACKAGE_NONE },
		{ "ID=flatcar\nVERSION_ID=3975.2.0\n", NULL, PACKAGE_NONE },
		{ "ID=debian\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\n", NULL, PACKAGE_DEB },
		{ "ID=ubuntu\nVERSION_ID=\"24.04\"\nVERSION_CODENAME=noble\n", NULL, PACKAGE_DEB },
		{ "ID=\"amzn\"\nVERSION_ID=\"2023\"\n", NULL, PACKAGE_RPM },
		{ "ID=\"rocky\"\nVERSION_ID=\"9.4\"\n", NULL, PACKAGE_RPM },
		{ "ID=\"rhel\"\nVERSION_ID=\"9.4\"\n", NULL, PACKAGE_RPM },
		{ "ID=debian\nVERSION_ID=\"80\"\n", NULL, PACKAGE_DEB },
	};
	autoarena struct arena *a = arena_new_empty();
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct facts f = { 0 };
		const struct plan_req req = { .facts = &f };
		const struct plan p = { .arena = a, .req = &req };

		assert_int_equal(facts_os_release(a, rows[i].os_release, &f, &e), 0);
		if (rows[i].name)
			assert_string_equal(plan_release(&p)->old.name, rows[i].name);
		else
			assert_null(plan_release(&p)->old.name);
		assert_int_equal(plan_distro(&p)->family, rows[i].family);
	}
}

static void nothing_runs_before_it_may(void **state)
{
	static const char *const users[] = { "kubelet.service", "kubernetes-iptables-setup.service",
					     "protokube.service" };
	static const char home[] = "/home/kubernetes/containerized_mounter";
	autoarena struct arena *a = arena_new_empty();
	struct host h = { .w = seed_world(a, true) };
	const struct task *mounts, *tar;
	struct plan p;

	(void)state;
	h.w.facts.distribution = "containeros";
	h.req = seed_request(&h.w);
	p = seed_plan(a, &h.req);
	mounts = plan_get(&p, TASK_UNIT, "kubernetes-mounts.service");
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		assert_true(waits_for(plan_get(&p, TASK_UNIT, users[i]), mounts));
	/* what etcd is told of lies where this host can be written to */
	world_own(&h.w)->etcd_tls = true;
	p = seed_plan(a, &h.req);
	assert_true(has_text(&p, SYSTEM "protokube.service",
			     " --peer-ca=/etc/srv/kubernetes/ca.crt "
			     "--peer-cert=/etc/srv/kubernetes/etcd.pem "
			     "--peer-key=/etc/srv/kubernetes/etcd-key.pem "
			     "--tls-ca=/etc/srv/kubernetes/ca.crt "));
	mounts = plan_get(&p, TASK_UNIT, "kubernetes-mounts.service");
	tar = plan_get(&p, TASK_INSTALL, arena_printf(a, "%s/mounter.tar", home));
	assert_true(waits_for(mounts, tar));
	assert_string_equal(tar->install.sources[0]->urls.v[0],
			    "https://storage.googleapis.com/kubernetes-release/gci-mounter/"
			    "mounter.tar");
	assert_non_null(plan_look(&p, TASK_ASSET, "mounter.tar"));
	assert_string_equal(
		plan_get(&p, TASK_INSTALL, arena_printf(a, "%s/mounter", home))->install.member,
		"gci-mounter");
	h.w.facts.distribution = "debian";
	p = seed_plan(a, &h.req);
	assert_null(plan_look(&p, TASK_UNIT, "kubernetes-mounts.service"));
	assert_null(plan_look(&p, TASK_ASSET, "mounter.tar"));
	assert_null(plan_mounter_flag(&p));
}

static void the_admin_of_debian_may_use_kubectl(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host h = { .w = seed_world(a, true) };
	struct plan p;

	(void)state;
	h.w.facts.version = "9";
	h.req = seed_request(&h.w);
	p = seed_plan(a, &h.req);
	assert_string_equal(plan_get(&p, TASK_FILE, "/home/admin/.kube/config")->file.owner,
			    "admin");
	assert_int_equal(plan_get(&p, TASK_FILE, "/home/admin/.kube/config")->file.attr.mode, 0400);
	assert_string_equal(plan_get(&p, TASK_DIR, "/home/admin/.kube")->dir.owner, "admin");
	h.w.facts.version = "12";
	p = seed_plan(a, &h.req);
	assert_null(plan_look(&p, TASK_DIR, "/home/admin/.kube"));
}

static struct host *with_containerd(struct arena *a)
{
	struct host *h = host(a, "debian", "12", "containerd.service");

	h->w.node.kubernetes = (struct version){ 1, 10, 3 };
	h->w.node.networking = "calico";
	world_own(&h->w)->kubelet.network_plugin_name = "cni";
	return h;
}

static void containerd_alone_runs_a_cni_node(void **state)
{
	static const struct node_image image = {
		.name = "a:1",
		.source = "https://x.test/a.tar",
		.hash = "0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e",
	};
	autoarena struct arena *a = arena_new_empty();
	struct host *h = with_containerd(a);
	const struct task *t;
	struct plan p;

	(void)state;
	arena_push(a, h->w.node.images.v, h->w.node.images.n, image);
	p = seed_plan(a, &h->req);
	assert_null(plan_look(&p, TASK_UNIT, "docker.service"));
	assert_null(plan_look(&p, TASK_FILE, "/etc/sysconfig/docker"));
	t = plan_get(&p, TASK_IMAGE, "a:1");
	assert_true(t->image.in_containerd);
	assert_true(waits_for(t, plan_get(&p, TASK_UNIT, "containerd.service")));
	t = plan_get(&p, TASK_UNIT, "kubelet.service");
	assert_true(waits_for(t, plan_get(&p, TASK_UNIT, "containerd.service")));
	assert_true(has_text(&p, SYSTEM "kubelet.service", "After=containerd.service\n"));
	/* it is the one that pulls */
	h->w.node.proxy = (struct node_proxy){ .url = "http://proxy:3128", .excludes = "x" };
	p = seed_plan(a, &h->req);
	assert_true(has_text(&p, SYSTEM "containerd.service.d/20-kops-proxy.conf",
			     "http_proxy=http://proxy:3128"));
	assert_true(strv_has(&plan_get(&p, TASK_UNIT, "containerd.service")->unit.inputs,
			     SYSTEM "containerd.service.d/20-kops-proxy.conf"));
	h->w.node.proxy = (struct node_proxy){ 0 };
	p = seed_plan(a, &h->req);
	assert_true(
		has_text(&p, "/etc/sysconfig/kubelet",
			 " --container-runtime=remote "
			 "--container-runtime-endpoint=unix:///run/containerd/containerd.sock "));
}

static void containerd_alone_is_not_enough_for_others(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = with_containerd(a);
	struct plan p;
	struct err e;

	(void)state;
	h->w.node.kubernetes.minor = 9;
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.notes[2].text,
			    "containerd alone: that takes Kubernetes 1.10 and a CNI network");
	h = with_containerd(a);
	world_own(&h->w)->kubelet.network_plugin_name = "kubenet";
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	h = with_containerd(a);
	h->w.node.master_internal_name = "api.internal.x.k8s.local";
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_string_equal(e.msg, "protokube runs by docker, but this host has containerd alone");
	h = with_containerd(a);
	arena_push(a, h->w.node.hooks.v, h->w.node.hooks.n,
		   (struct node_hook){ .name = "x", .image = "busybox" });
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_string_equal(e.msg, "hook x runs by docker, but this host has containerd alone");
}

static void a_host_that_cannot_run_it_is_asked_first(void **state)
{
	static const struct settings all_the_same = { .ignore_host_checks = true };
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "debian", "12", "docker.service");
	struct plan p;
	size_t before;
	struct err e;

	(void)state;
	before = seed_plan(a, &h->req).warnings.n;
	h->req.runtime.cgroup = 2;
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_string_equal(e.msg, "Kubernetes 1.8.7 cannot run here: this host has cgroup v2");
	h->req.settings = &all_the_same;
	h->req.runtime.version = "20.10.24+dfsg1-1";
	h->req.runtime.lacks_apparmor_parser = true;
	p = seed_plan(a, &h->req);
	assert_int_equal(p.warnings.n, before + 2);
	assert_string_equal(p.warnings.v[0],
			    "Kubernetes 1.8.7 cannot run here: this host has cgroup v2; "
			    "tried all the same, as ignoreHostChecks says");
	assert_non_null(strstr(p.warnings.v[1], "AppArmor is on, and apparmor_parser"));
	h->req.image_mode = true;
	p = seed_plan(a, &h->req);
	assert_int_equal(p.warnings.n, before);
}

static void an_image_is_not_given_packages_to_fetch(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "debian", "9", NULL);
	struct plan p;

	(void)state;
	h->req.image_mode = true;
	p = seed_plan(a, &h->req);
	assert_null(plan_get(&p, TASK_PACKAGE, "docker-engine")->package.source);
	assert_true(plan_get(&p, TASK_UNIT, "docker.service")->unit.enable);
	assert_false(plan_get(&p, TASK_UNIT, "ntp.service")->unit.enable);
}

static void the_healthcheck_keeps_nobody_waiting(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = seed_plan(a, &host(a, "debian", "9", "docker.service")->req);
	const struct task *t = plan_get(&p, TASK_UNIT, "docker-healthcheck.service");

	(void)state;
	assert_true(t->unit.no_wait);
	assert_true(t->unit.once);
	assert_true(t->unit.enable);
	assert_string_equal(text(&p, SYSTEM "docker-healthcheck.timer"),
			    "[Unit]\nDescription=Trigger docker-healthcheck periodically\n\n"
			    "[Timer]\nOnUnitInactiveSec=10s\nUnit=docker-healthcheck.service\n\n"
			    "[Install]\nWantedBy=multi-user.target\n");
	p = seed_plan(a, &host(a, "debian", "12", "docker.service")->req);
	assert_null(plan_look(&p, TASK_UNIT, "docker-healthcheck.service"));
}

static void images_of_today_bring_their_programs(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a, "debian", "12", "docker.service");
	struct plan p = seed_plan(a, &h->req);
	struct err e;

	(void)state;
	for (size_t i = 0; i < p.n; i++)
		assert_int_not_equal(p.tasks[i]->kind, TASK_PACKAGE);
	assert_true(has_text(&p, "/etc/apt/apt.conf.d/20auto-upgrades",
			     "APT::Periodic::Unattended-Upgrade \"1\";\n"));
	strv_add(a, &h->w.node.packages, "socat");
	p = seed_plan(a, &h->req);
	assert_int_equal(plan_get(&p, TASK_PACKAGE, "socat")->package.family, PACKAGE_DEB);
	assert_int_equal(plan_get(&p, TASK_PACKAGE, "socat")->package.env.n, 0);
	h->w.node.proxy = (struct node_proxy){ .url = "http://proxy:3128", .excludes = "x" };
	p = seed_plan(a, &h->req);
	assert_true(strv_has(&plan_get(&p, TASK_PACKAGE, "socat")->package.env,
			     "https_proxy=http://proxy:3128"));
	h->w.node.proxy = (struct node_proxy){ 0 };
	h->w.facts.distribution = "flatcar";
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_string_equal(e.msg, "packages: socat: this distribution installs none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jessie_gets_the_docker_of_kops),
		cmocka_unit_test(centos_gets_both_of_its_packages_selinux_first),
		cmocka_unit_test(every_docker_of_kops_is_known),
		cmocka_unit_test(the_time_is_kept_by_a_tag),
		cmocka_unit_test(a_second_run_plans_what_the_first_did),
		cmocka_unit_test(a_docker_that_is_there_is_used),
		cmocka_unit_test(what_kops_misspells_can_be_had),
		cmocka_unit_test(docker_of_today_has_overlay2_only),
		cmocka_unit_test(the_dropin_carries_the_options_to_any_unit),
		cmocka_unit_test(what_cannot_be_installed_is_told),
		cmocka_unit_test(releases_are_told_apart),
		cmocka_unit_test(nothing_runs_before_it_may),
		cmocka_unit_test(the_admin_of_debian_may_use_kubectl),
		cmocka_unit_test(containerd_alone_runs_a_cni_node),
		cmocka_unit_test(containerd_alone_is_not_enough_for_others),
		cmocka_unit_test(a_host_that_cannot_run_it_is_asked_first),
		cmocka_unit_test(an_image_is_not_given_packages_to_fetch),
		cmocka_unit_test(the_healthcheck_keeps_nobody_waiting),
		cmocka_unit_test(images_of_today_bring_their_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
