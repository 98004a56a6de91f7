#include "nodeup/plan/docker.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/questions.h"
#include "nodeup/plan/release.h"
#include "nodeup/plan/tasklist.h"

const char plan_docker_unit[] = "docker.service";
static const char sysconfig[] = "/etc/sysconfig/docker";
static const char licence[] = "/usr/share/doc/docker/apache.txt";
static const char prestart[] = "/opt/kubernetes/helpers/docker-prestart";
static const char healthcheck[] = "/opt/kubernetes/helpers/docker-healthcheck";

/* docker 24 removed the storage drivers that came before overlay2 */
enum { DOCKER_OVERLAY2 = 24 };

bool plan_docker_is_at_least(const struct plan *p, long major)
{
	const char *version = p->req->runtime.version;

	return version && strtol(version, NULL, 10) >= major;
}

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
	const char *name = plan_release(p)->old.name;

	return name && has_words(pkg->distributions, name) &&
	       str_eq(pkg->version, p->req->node->docker_version);
}

/* Returns whether nodeup installs docker: the host has no other docker, and kops 1.8 knew its release. */
static bool is_to_install(const struct plan *p)
{
	const struct runtime *r = &p->req->runtime;
	const bool amd64 = !p->req->facts->arch || str_eq(p->req->facts->arch, "amd64");

	if ((r->unit && !(str_eq(r->unit, plan_docker_unit) && r->is_ours)) || !amd64)
		return false;
	for (size_t i = 0; i < n_docker_packages; i++)
		if (is_package_for(p, &docker_packages[i]))
			return true;
	return false;
}

const char *plan_docker_needs(struct plan *p)
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
	const bool is_masked = str_eq(p->req->runtime.masked, plan_docker_unit);
	const char *found = p->req->runtime.unit;
	const char *name = plan_release(p)->old.name;
	struct err *e = plan_error(p);

	(void)err_config(
		e, "no container runtime: Kubernetes %d.%d.%d runs its pods by docker, and %s",
		v->major, v->minor, v->patch,
		is_masked ? "docker.service is masked"
		: found   ? "this host has another one"
			  : "this host has none");
	if (is_masked) {
		err_note(e, "do", "systemctl unmask %s, then nodeup repair", plan_docker_unit);
		return;
	}
	err_note(e, "want", "%s", plan_docker_unit);
	err_note(e, "got", "%s", found ? found : "neither docker.service nor containerd.service");
	if (found)
		err_note(e, "ruled out",
			 "containerd alone: that takes Kubernetes 1.10 and a CNI network");
	if (name && !found)
		err_note(e, "ruled out", "installing docker %s: there is no package of it for %s",
			 p->req->node->docker_version, name);
	err_note(e, "do",
		 "install docker, or start from an image that has it: nothing in the "
		 "documents installs it here");
}

/* Replaces a storage driver that docker has removed, even if the kernel still has it. Source: docker's list of
 * removed features. */
const char *plan_docker_driver(struct plan *p, const char *driver)
{
	if (!plan_docker_is_at_least(p, DOCKER_OVERLAY2) ||
	    !(str_eq(driver, "overlay") || str_eq(driver, "aufs")))
		return driver;
	plan_warn(p, "docker %s has no %s: its storage driver is overlay2", p->req->runtime.version,
		  driver);
	return "overlay2";
}

/* Adds a drop-in to the unit of a docker that is already installed. If the unit does not read $DOCKER_OPTS, the
 * drop-in sets a command that does. If another drop-in sorts after ours, ours gets a name that sorts last. */
static void add_dropin(struct plan *p, const char *limits)
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
			     sysconfig, limits, command));
}

void plan_docker_licence(struct plan *p)
{
	plan_file(p, licence, 0644, plan_apache_start);
}

static void install_docker(struct plan *p, const struct plan_docker *d)
{
	for (size_t i = 0; i < n_docker_packages; i++) {
		const struct docker_package *pkg = &docker_packages[i];

		if (is_package_for(p, pkg))
			plan_package_file(p, arena_printf(p->arena, "docker %s", pkg->version),
					  pkg->name,
					  arena_printf(p->arena, "%s@%s", pkg->sha1, pkg->url));
	}
	plan_docker_licence(p);
	if (d->prestart)
		plan_file(p, prestart, 0755, d->prestart);
	plan_unit_file(p, plan_docker_unit, d->unit);
}

/* Makes the tasks that install docker. A machine image that may get docker later has none of these tasks. */
static bool provide_docker(struct plan *p, const struct plan_docker *d)
{
	const bool is_there = str_eq(p->req->runtime.unit, plan_docker_unit);

	if (is_to_install(p)) {
		install_docker(p, d);
		return true;
	}
	if (!is_there && !p->req->image_mode)
		fail_runtime(p);
	add_dropin(p, d->limits);
	if (!is_there)
		plan_warn(
			p,
			"docker is not below this root: its settings are written, it is not enabled");
	return is_there;
}

void plan_docker(struct plan *p, const struct plan_docker *d)
{
	const bool is_there = provide_docker(p, d);
	struct task *t;

	plan_bytes(p, sysconfig, 0644, d->options, strlen(d->options), d->is_secret);
	t = plan_unit(p, plan_docker_unit, is_there);
	strv_add(p->arena, &t->unit.inputs, sysconfig);
}

/* Starts the service once a boot; later starts come from the timer. A timer that counts from the end of its service
 * would never begin by itself. No task waits for the service or the timer. */
void plan_docker_healthcheck(struct plan *p, const char *script, const char *service,
			     const char *timer)
{
	struct task *t;

	plan_file(p, healthcheck, 0755, script);
	plan_unit_file(p, "docker-healthcheck.service", service);
	plan_service(p, "docker-healthcheck.timer", timer, true);
	t = plan_unit(p, "docker-healthcheck.service", true);
	strv_add(p->arena, &t->unit.inputs, healthcheck);
	t->unit.no_wait = true;
	t->unit.once = true;
}
