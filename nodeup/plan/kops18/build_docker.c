/* Tests: test_build_docker.c. */
#include "nodeup/plan/kops18/kops18.h"

#include <stdlib.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/docker.h"
#include "nodeup/plan/release.h"

static const char sysconfig[] = "/etc/sysconfig/docker";
static const char prestart[] = "/opt/kubernetes/helpers/docker-prestart";
static const char healthcheck[] = "/opt/kubernetes/helpers/docker-healthcheck";

/* removes docker's records of networks, which keep docker from starting (docker#18283) */
static const char prestart_text[] = "#!/bin/bash\n"
				    "# Written by nodeup\n"
				    "rm -rf /var/lib/docker/network\n";

static const char healthcheck_text[] =
	"#!/bin/bash\n"
	"# Written by nodeup: restart a docker that does not answer\n"
	"answers() { timeout 10 docker ps >/dev/null; }\n"
	"answers && exit 0\n"
	"echo 'docker does not answer; asking again in 30 s'\n"
	"sleep 30\n"
	"answers && exit 0\n"
	"echo 'docker does not answer; restarting it'\n"
	"systemctl restart docker\n"
	"sleep 60\n"
	"answers || echo 'docker still does not answer'\n"
	"exit 0\n";

/* TasksMax= is known from systemd 227 on */
enum { SYSTEMD_TASKS_MAX = 227 };

static void add_images(struct plan *p)
{
	const struct node_images *images = &p->req->node->images;

	for (size_t i = 0; i < images->n; i++)
		plan_image(p, &images->v[i]);
}

/* Uses the host's containerd without docker. Fails the plan if docker's own command must run protokube or the
 * containers of hooks. */
static void use_containerd(struct plan *p)
{
	const struct node *n = p->req->node;
	const char *needs = NULL;

	if (!str_is_empty(n->protokube.name) && (n->is_master || kops18_uses_gossip(p)))
		needs = "protokube";
	for (size_t i = 0; i < n->hooks.n; i++)
		if (n->hooks.v[i].image && !n->hooks.v[i].disabled)
			needs = arena_printf(p->arena, "hook %s", n->hooks.v[i].name);
	if (needs)
		plan_refuse(p, "%s runs by docker, but this host has containerd alone", needs);
	plan_unit(p, plan_containerd_unit, true);
	add_images(p);
}

static const char *docker_options(struct plan *p)
{
	struct docker_spec spec = kops18_of(p)->docker;
	struct strv flags = { 0 };

	spec.storage = plan_docker_driver(p, p->req->node->docker_storage);
	field_flags(p->arena, &docker_schema, &spec, &flags);
	return arena_printf(p->arena, "DOCKER_OPTS=%s\nDOCKER_NOFILE=1000000",
			    strv_join(p->arena, &flags, " "));
}

static const char *tasks_max(const struct plan *p)
{
	const int64_t systemd = p->req->facts->systemd;

	return node_k8s_at_least(p->req->node, 1, 10) && (!systemd || systemd >= SYSTEMD_TASKS_MAX)
		       ? "TasksMax=infinity\n"
		       : "";
}

/* dockerd exists from 1.12 on */
static bool lacks_dockerd(const char *version)
{
	char *rest;
	const long major = strtol(version, &rest, 10);

	return major < 1 || (major == 1 && *rest == '.' && strtol(rest + 1, NULL, 10) <= 11);
}

/* source: kops 1.8.1 nodeup/pkg/model/docker.go buildSystemdService */
static const char *unit_text(struct plan *p, bool debian)
{
	const bool old = lacks_dockerd(p->req->node->docker_version), socket = debian || old;

	return arena_printf(
		p->arena,
		"[Unit]\n"
		"Description=Docker Application Container Engine\n"
		"Documentation=https://docs.docker.com\n"
		"%s"
		"\n"
		"[Service]\n"
		"Type=notify\n"
		"EnvironmentFile=%s\n"
		"EnvironmentFile=-/etc/environment\n"
		"ExecStart=/usr/bin/%s%s \"$DOCKER_OPTS\"\n"
		"%s"
		"LimitNOFILE=1048576\n"
		"LimitNPROC=1048576\n"
		"LimitCORE=infinity\n"
		"%s"
		"Restart=always\n"
		"RestartSec=2s\n"
		"StartLimitInterval=0\n"
		"Delegate=yes\n"
		"%s"
		"\n"
		"[Install]\n"
		"WantedBy=multi-user.target\n",
		socket ? "After=network.target docker.socket\nRequires=docker.socket\n"
		       : "After=network.target\n",
		sysconfig, old ? "docker daemon" : "dockerd", socket ? " -H fd://" : "",
		old ? "MountFlags=slave\n"
		    : "ExecReload=/bin/kill -s HUP $MAINPID\nKillMode=process\nTimeoutStartSec=0\n",
		tasks_max(p), debian ? arena_printf(p->arena, "ExecStartPre=%s\n", prestart) : "");
}

static void add_healthcheck(struct plan *p)
{
	static const char timer[] = "[Unit]\n"
				    "Description=Trigger docker-healthcheck periodically\n"
				    "\n"
				    "[Timer]\n"
				    "OnUnitInactiveSec=10s\n"
				    "Unit=docker-healthcheck.service\n"
				    "\n"
				    "[Install]\n"
				    "WantedBy=multi-user.target\n";
	const char *service = arena_printf(p->arena,
					   "[Unit]\n"
					   "Description=Run docker-healthcheck once\n"
					   "\n"
					   "[Service]\n"
					   "Type=oneshot\n"
					   "ExecStart=%s\n"
					   "\n"
					   "[Install]\n"
					   "WantedBy=multi-user.target\n",
					   healthcheck);

	plan_docker_healthcheck(p, healthcheck_text, service, timer);
}

void build_docker(struct plan *p)
{
	const bool debian = plan_distro(p)->family == PACKAGE_DEB;
	struct plan_docker docker = { .limits = tasks_max(p) };

	if (plan_uses_containerd(p)) {
		use_containerd(p);
		return;
	}
	docker.options = docker_options(p);
	docker.prestart = debian ? prestart_text : NULL;
	docker.unit = unit_text(p, debian);
	plan_docker(p, &docker);
	/* newer versions of docker need no helper that restarts docker */
	if (plan_release(p)->old.packages && debian)
		add_healthcheck(p);
	add_images(p);
}
