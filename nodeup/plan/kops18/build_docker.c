#include "nodeup/plan/builders.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/kops18/docker_packages.h"
#include "nodeup/plan/release.h"

static const char docker_unit[] = "docker.service";
static const char sysconfig[] = "/etc/sysconfig/docker";
static const char licence[] = "/usr/share/doc/docker/apache.txt";
static const char prestart[] = "/opt/kubernetes/helpers/docker-prestart";
static const char healthcheck[] = "/opt/kubernetes/helpers/docker-healthcheck";

/* LICENSE of this tree, which docker 1.13 is under too */
extern const char plan_apache_start[];

/* docker#18283: what it remembers of networks keeps it from starting */
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

/* systemd 227 was the first to know TasksMax= */
enum { SYSTEMD_TASKS_MAX = 227 };

/* docker 24 removed the drivers before overlay2 */
enum { DOCKER_OVERLAY2 = 24 };

static bool has_words(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (; (list = strstr(list, word)); list += n)
		if (list[n] == '\0' || list[n] == ' ')
			return true;
	return false;
}

static bool is_package_for(const struct plan *p, const struct docker_package *pkg)
{
	const char *name = release_name(plan_release(p));

	return name && has_words(pkg->distributions, name) &&
	       str_eq(pkg->version, p->req->node->docker.version);
}

/* Whether docker is ours to install: a release kops 1.8 knew, and no other docker on it. */
static bool is_to_install(const struct plan *p)
{
	const struct runtime *r = &p->req->runtime;
	const bool amd64 = !p->req->facts->arch || str_eq(p->req->facts->arch, "amd64");

	if ((r->unit && !(str_eq(r->unit, docker_unit) && r->is_ours)) || !amd64)
		return false;
	for (size_t i = 0; i < n_docker_packages; i++)
		if (is_package_for(p, &docker_packages[i]))
			return true;
	return false;
}

static const char *find_needs(struct plan *p)
{
	struct strv needs = { 0 };

	for (size_t i = 0; i < n_docker_packages && is_to_install(p); i++)
		if (is_package_for(p, &docker_packages[i]))
			strv_add(p->arena, &needs, docker_packages[i].needs);
	return needs.n ? strv_join(p->arena, &needs, " ") : NULL;
}

static void fail_runtime(struct plan *p)
{
	const struct version *v = &p->req->node->kubernetes;
	const char *found = p->req->runtime.unit;
	const char *name = release_name(plan_release(p));
	struct err *e = plan_error(p);

	(void)err_config(
		e, "no container runtime: Kubernetes %d.%d.%d runs its pods by docker, and %s",
		v->major, v->minor, v->patch,
		found ? "this host has another one" : "this host has none");
	err_note(e, "want", "%s", docker_unit);
	err_note(e, "got", "%s", found ? found : "neither docker.service nor containerd.service");
	if (found)
		err_note(e, "ruled out",
			 "containerd alone: that takes Kubernetes 1.10 and a CNI network");
	if (name && !found)
		err_note(e, "ruled out", "installing docker %s: there is no package of it for %s",
			 p->req->node->docker.version, name);
	err_note(e, "do",
		 "install docker, or start from an image that has it: nothing in the "
		 "documents installs it here");
}

static void add_images(struct plan *p)
{
	const struct node_images *images = &p->req->node->images;

	for (size_t i = 0; i < images->n; i++)
		plan_image(p, &images->v[i]);
}

/* protokube and the containers of hooks are run by docker's own command. */
static void use_containerd(struct plan *p)
{
	const struct node *n = p->req->node;
	const char *needs = NULL;

	if (!str_is_empty(n->protokube.name) && (n->is_master || plan_uses_gossip(p)))
		needs = "protokube";
	for (size_t i = 0; i < n->hooks.n; i++)
		if (n->hooks.v[i].image && !n->hooks.v[i].disabled)
			needs = arena_printf(p->arena, "hook %s", n->hooks.v[i].name);
	if (needs)
		(void)err_config(plan_error(p),
				 "%s runs by docker, but this host has containerd alone", needs);
	plan_unit(p, plan_containerd_unit, true);
	add_images(p);
}

/* What docker of today has no more, though a kernel has: source: docker's list of what was removed. */
static void replace_storage(struct plan *p, struct docker_spec *d)
{
	const char *version = p->req->runtime.version;

	if (!version || strtol(version, NULL, 10) < DOCKER_OVERLAY2 ||
	    !(str_eq(d->storage, "overlay") || str_eq(d->storage, "aufs")))
		return;
	strv_add(p->arena, &p->warnings,
		 arena_printf(p->arena, "docker %s has no %s: its storage driver is overlay2",
			      version, d->storage));
	d->storage = "overlay2";
}

static const char *docker_options(struct plan *p)
{
	struct docker_spec spec = p->req->node->docker;
	struct strv flags = { 0 };

	replace_storage(p, &spec);
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

/* A docker that is there keeps its unit. One whose unit does not read $DOCKER_OPTS gets a command that
 * does; and where another drop-in comes behind ours by name, ours goes to the end. */
static void add_dropin(struct plan *p)
{
	const struct runtime *r = &p->req->runtime;
	const char *command = "";

	if (r->exec_start)
		command = arena_printf(p->arena, "ExecStart=\nExecStart=%s\n", r->exec_start);
	plan_unit_file(
		p, r->is_late ? "docker.service.d/zz-kops.conf" : "docker.service.d/10-kops.conf",
		arena_printf(p->arena,
			     "[Service]\n"
			     "EnvironmentFile=%s\n"
			     "EnvironmentFile=-/etc/environment\n"
			     "%s%s",
			     sysconfig, tasks_max(p), command));
}

/* dockerd came with 1.12 */
static bool lacks_dockerd(const char *version)
{
	char *rest;
	const long major = strtol(version, &rest, 10);

	return major < 1 || (major == 1 && *rest == '.' && strtol(rest + 1, NULL, 10) <= 11);
}

/* source: kops 1.8.1 nodeup/pkg/model/docker.go buildSystemdService */
static void add_unit_file(struct plan *p, bool debian)
{
	const bool old = lacks_dockerd(p->req->node->docker.version), socket = debian || old;
	const char *text = arena_printf(
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

	plan_unit_file(p, docker_unit, text);
}

static void install_docker(struct plan *p)
{
	const bool debian = plan_distro(p)->family == PACKAGE_DEB;

	for (size_t i = 0; i < n_docker_packages; i++) {
		const struct docker_package *pkg = &docker_packages[i];

		if (is_package_for(p, pkg))
			plan_package_file(p, arena_printf(p->arena, "docker %s", pkg->version),
					  pkg->name,
					  arena_printf(p->arena, "%s@%s", pkg->sha1, pkg->url));
	}
	plan_file(p, licence, 0644, plan_apache_start);
	if (debian)
		plan_file(p, prestart, 0755, prestart_text);
	add_unit_file(p, debian);
}

/* The service once a boot, and the timer for each time after it: a timer alone that counts from the
 * end of its service never begins. No task waits for either. */
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
	struct task *t;

	plan_file(p, healthcheck, 0755, healthcheck_text);
	plan_unit_file(p, "docker-healthcheck.service", service);
	plan_service(p, "docker-healthcheck.timer", timer, true);
	t = plan_unit(p, "docker-healthcheck.service", true);
	strv_add(p->arena, &t->unit.inputs, healthcheck);
	t->unit.no_wait = true;
	t->unit.once = true;
}

/* How docker comes to be there. Not in an image that may get it later. */
static bool provide_docker(struct plan *p)
{
	const bool is_there = str_eq(p->req->runtime.unit, docker_unit);

	if (is_to_install(p)) {
		install_docker(p);
		return true;
	}
	if (!is_there && !p->req->image_mode)
		fail_runtime(p);
	add_dropin(p);
	if (!is_there)
		strv_add(
			p->arena, &p->warnings,
			"docker is not below this root: its settings are written, it is not enabled");
	return is_there;
}

static void make_docker(struct plan *p)
{
	const struct release *d = plan_release(p);
	struct task *t;
	bool is_there;

	if (plan_uses_containerd(p)) {
		use_containerd(p);
		return;
	}
	is_there = provide_docker(p);
	plan_file(p, sysconfig, 0644, docker_options(p));
	t = plan_unit(p, docker_unit, is_there);
	strv_add(p->arena, &t->unit.inputs, sysconfig);
	/* docker of today has no need of being restarted by others */
	if (d->packages && plan_distro(p)->family == PACKAGE_DEB)
		add_healthcheck(p);
	add_images(p);
}

const struct plan_builder build_docker = { .name = "docker",
					   .build = make_docker,
					   .packages = find_needs };
