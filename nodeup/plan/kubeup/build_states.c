/* Tests: test_kubeup.py. */
#include "nodeup/plan/kubeup/builders.h"

#include <string.h>
#include "manifests/pod.h"
#include "nodeup/config/kubeup/model.h"
#include "nodeup/plan/assets.h"
#include "nodeup/plan/docker.h"
#include "nodeup/plan/reserved.h"
#include "nodeup/plan/static_pod.h"

static const char vendor_units[] = "/lib/systemd/system/";
static const char docker_options[] = "/etc/sysconfig/docker";
static const char healthcheck[] = "/opt/kubernetes/helpers/docker-healthcheck";
static const char kubelet[] = "/usr/local/bin/kubelet";
static const char kubelet_options[] = "/etc/sysconfig/kubelet";
static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";
static const char sysctl[] = "/etc/sysctl.d/99-salt.conf";
static const char modules[] = "/etc/modules-load.d/kube-up.conf";

/* docker 23 has no -g any more; 17.05 was the first with --data-root. */
enum { DOCKER_DATA_ROOT = 23 };

static const struct kubeup_node *kubeup_of(const struct plan *p)
{
	return p->req->node->own;
}

static const struct kubeup_made *find_made(const struct plan *p, const char *path)
{
	const struct kubeup_node *s = kubeup_of(p);

	for (size_t i = 0; i < s->made.n; i++)
		if (strcmp(s->made.v[i].path, path) == 0)
			return &s->made.v[i];
	return NULL;
}

/* Returns the text for the path; "" if documents are read without the archive that makes the texts. */
static const char *text_of(const struct plan *p, const char *path)
{
	const struct kubeup_made *m = find_made(p, path);

	return m && m->text ? m->text : "";
}

static const char *unit_text(struct plan *p, const char *unit)
{
	return text_of(p, arena_printf(p->arena, "%s%s", vendor_units, unit));
}

/* Returns the text with one of its words replaced. */
static const char *replaced(struct arena *a, const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	return at ? arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from))
		  : text;
}

static const char *with_flag(struct plan *p, const char *text, const char *flag, const char *value)
{
	static const char start[] = "DAEMON_ARGS=\"";

	return replaced(p->arena, text, start,
			arena_printf(p->arena, "%s%s=%s ", start, flag, value));
}

/* Adds the file of name servers, and what is reserved: no document of kube-up names them, except in arguments for
 * tests. */
static const char *options_of_kubelet(struct plan *p, const char *text)
{
	const char *resolv_conf = plan_resolv_conf(p);
	struct strmap reserved = { 0 };

	plan_reserve(p, &reserved,
		     strstr(text, "--kube-reserved") || strstr(text, "--system-reserved"),
		     (struct opt_int){ 0 });
	if (reserved.n)
		text = with_flag(p, text, "--kube-reserved", reserved_text(p->arena, &reserved));
	if (!resolv_conf || strstr(text, "--resolv-conf"))
		return text;
	return with_flag(p, text, "--resolv-conf", resolv_conf);
}

static void add_file(struct plan *p, const struct kubeup_made *m)
{
	const char *text = strcmp(m->path, kubelet_options) == 0 ? options_of_kubelet(p, m->text)
								 : m->text;
	struct task *t = plan_bytes(p, m->path, m->mode, text, strlen(text), m->secret);

	if (str_is_within(m->path, POD_MANIFESTS))
		plan_check_manifest(p, m->template ? m->template : m->path, m->text);
	t->file.if_absent = m->if_absent;
	t->file.other = m->other;
}

/* Returns whether the path is one of docker's files, which are written together with docker. */
static bool is_dockers(const char *path)
{
	return strcmp(path, docker_options) == 0 || strcmp(path, healthcheck) == 0 ||
	       (str_has_prefix(path, vendor_units) &&
		str_has_prefix(path + strlen(vendor_units), "docker"));
}

/* Adds a file. Moves units to /etc: the vendor's directory belongs to packages. */
static void add_made(struct plan *p, const struct kubeup_made *m)
{
	if (is_dockers(m->path))
		return;
	if (m->target)
		plan_new_task(p, TASK_LINK, m->path)->link.target = m->target;
	else if (!m->text)
		plan_dir(p, m->path, m->mode)->dir.owner = m->owner;
	else if (str_has_prefix(m->path, vendor_units))
		plan_unit_file(p, m->path + strlen(vendor_units), m->text);
	else
		add_file(p, m);
}

/* Makes a directory that may hold only the files of this plan. */
static void add_whole(struct plan *p, const char *path)
{
	const struct kubeup_node *s = kubeup_of(p);
	struct strv *only = arena_new(p->arena, struct strv);

	for (size_t i = 0; i < s->made.n; i++)
		if (s->made.v[i].text && str_is_within(s->made.v[i].path, path))
			strv_add(p->arena, only, s->made.v[i].path);
	plan_dir(p, path, 0755)->dir.only = only;
}

static void add_member(struct plan *p, const struct kubeup_member *m)
{
	struct task *t;

	if (m->known)
		plan_install_known(p, m->name, m->known, m->path, m->mode);
	else
		plan_install_member(p, m->name, m->path, m->mode);
	t = plan_at(p, m->path);
	if (t)
		t->install.may_lack = m->optional;
}

/* A newer docker calls an option by another name, and lacks some storage drivers. */
static const char *options_of_today(struct plan *p, const char *text)
{
	const char *driver = p->req->node->docker_storage, *have;

	if (driver) {
		have = plan_docker_driver(p, driver);
		text = replaced(p->arena, text, arena_printf(p->arena, " -s %s ", driver),
				arena_printf(p->arena, " -s %s ", have));
	}
	if (plan_docker_is_at_least(p, DOCKER_DATA_ROOT))
		text = replaced(p->arena, text, " -g /", " --data-root /");
	return text;
}

/* Adds the bridge that docker uses. Up to 1.3 kubelet makes the bridge, but here kubelet waits for docker and its
 * images. So docker starts on an empty bridge, and kubelet makes the bridge anew when it knows the addresses of its
 * pods. */
static void add_bridge(struct plan *p, const char *options)
{
	if (strstr(options, "--bridge=cbr0"))
		plan_unit_file(p, "docker.service.d/15-cbr0.conf",
			       "[Service]\n"
			       "ExecStartPre=-/sbin/ip link add name cbr0 type bridge\n");
}

static void add_docker(struct plan *p)
{
	const struct kubeup_made *options = find_made(p, docker_options);
	const struct plan_docker docker = {
		.options = options_of_today(p, text_of(p, docker_options)),
		.is_secret = options && options->secret,
		.unit = unit_text(p, plan_docker_unit),
		.limits = "",
	};

	plan_docker_licence(p);
	add_bridge(p, docker.options);
	plan_docker(p, &docker);
	plan_docker_healthcheck(p, text_of(p, healthcheck),
				unit_text(p, "docker-healthcheck.service"),
				unit_text(p, "docker-healthcheck.timer"));
}

/* Adds kubelet's unit without enabling it: at boot our unit starts it, after disks are mounted and all its files are
 * right. */
static void add_kubelet(struct plan *p)
{
	static const char *const inputs[] = { kubelet, kubelet_options, kubeconfig };
	struct task *t = plan_unit(p, "kubelet.service", false);

	t->unit.must_answer = true;
	strv_add_array(p->arena, &t->unit.inputs, inputs);
}

static void add_sysctl(struct plan *p)
{
	const struct strmap *values = &kubeup_of(p)->sysctl;
	struct strv lines = { 0 };

	for (size_t i = 0; i < values->n; i++)
		strv_addf(p->arena, &lines, "%s = %s\n", values->v[i].key, values->v[i].value);
	plan_file(p, sysctl, 0644, strv_join(p->arena, &lines, ""));
	plan_new_task(p, TASK_SYSCTL, sysctl)->sysctl.values = *values;
}

/* Lets systemd's own service load the modules, at each boot and now. */
static void add_modules(struct plan *p)
{
	const struct strv *names = &kubeup_of(p)->modules;
	struct task *t;

	if (!names->n)
		return;
	plan_file(p, modules, 0644,
		  arena_printf(p->arena, "%s\n", strv_join(p->arena, names, "\n")));
	t = plan_unit(p, "systemd-modules-load.service", false);
	strv_add(p->arena, &t->unit.inputs, modules);
}

static void add_user(struct plan *p)
{
	const struct kubeup_node *s = kubeup_of(p);

	if (s->user.name)
		plan_new_task(p, TASK_USER, s->user.name)->user =
			(struct task_user){ s->user.name, s->user.home, s->user.shell };
}

/* Files and units of docker come from the archive too, but are built elsewhere. */
static void note_templates(struct plan *p)
{
	const struct kubeup_node *s = kubeup_of(p);

	for (size_t i = 0; i < s->made.n; i++) {
		const struct kubeup_made *m = &s->made.v[i];
		const char *unit = m->path + strlen(vendor_units);
		struct task *t =
			plan_at(p, str_has_prefix(m->path, vendor_units)
					   ? arena_printf(p->arena, "%s%s", plan_unit_dir, unit)
					   : m->path);

		if (t && m->template)
			t->asked = m->template;
	}
}

void build_states(struct plan *p)
{
	const struct kubeup_node *s = kubeup_of(p);

	add_user(p);
	for (size_t i = 0; i < s->made.n; i++)
		add_made(p, &s->made.v[i]);
	for (size_t i = 0; i < s->whole.n; i++)
		add_whole(p, s->whole.v[i]);
	for (size_t i = 0; i < s->members.n; i++)
		add_member(p, &s->members.v[i]);
	add_sysctl(p);
	add_modules(p);
	add_docker(p);
	for (size_t i = 0; i < s->images.n; i++)
		plan_image_member(p, &s->images.v[i]);
	for (size_t i = 0; i < s->units.n; i++)
		plan_unit(p, s->units.v[i], true);
	add_kubelet(p);
	note_templates(p);
}
