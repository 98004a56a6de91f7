#include "nodeup/plan/builders.h"

static const char docker_unit[] = "docker.service";

static int fail_runtime(const struct plan *p, struct err *e)
{
	const struct version *v = &p->req->node->kubernetes;
	const char *found = p->req->runtime.unit;
	int r;

	r = err_config(e,
		       "no container runtime: Kubernetes %d.%d.%d runs its pods by docker, and %s",
		       v->major, v->minor, v->patch,
		       found ? "this host has another one" : "this host has none");
	err_note(e, "want", "%s", docker_unit);
	err_note(e, "got", "%s", found ? found : "neither docker.service nor containerd.service");
	err_note(e, "do",
		 "install docker, or start from an image that has it: nothing in the "
		 "documents installs it here");
	return r;
}

/* Whether docker is there to be enabled. An image may get it later: the documents ask for it. */
static int find_runtime(struct plan *p, bool *ret_present, struct err *e)
{
	*ret_present = str_eq(p->req->runtime.unit, docker_unit);
	if (*ret_present)
		return 0;
	if (!p->req->image_mode)
		return fail_runtime(p, e);
	strv_add(p->arena, &p->warnings,
		 "docker is not below this root: its settings are written, it is not enabled");
	return 0;
}

static const char *options(struct plan *p)
{
	struct strv flags = { 0 };

	field_flags(p->arena, &docker_schema, &p->req->node->docker, &flags);
	return arena_printf(p->arena, "DOCKER_OPTS=%s\nDOCKER_NOFILE=1000000",
			    strv_join(p->arena, &flags, " "));
}

int build_docker(struct plan *p, struct err *e)
{
	static const char sysconfig[] = "/etc/sysconfig/docker";
	const struct node_images *images = &p->req->node->images;
	struct unit dropin = { 0 };
	struct task *t;
	bool present;
	int r = find_runtime(p, &present, e);

	if (r < 0)
		return r;
	unit_set(p->arena, &dropin, "Service", "EnvironmentFile", sysconfig);
	unit_set(p->arena, &dropin, "Service", "EnvironmentFile", "-/etc/environment");
	if (!plan_file(p, sysconfig, 0644, options(p), e) ||
	    !plan_unit_file(p, "docker.service.d/10-kops.conf", &dropin, e))
		return -EINVAL;
	t = plan_unit(p, docker_unit, present, e);
	if (!t)
		return -EINVAL;
	strv_add(p->arena, &t->unit.inputs, sysconfig);
	for (size_t i = 0; i < images->n; i++)
		if (!plan_image(p, &images->v[i], e))
			return -EINVAL;
	return 0;
}
