#include "nodeup/plan/upkeep.h"

#include <string.h>
#include "nodeup/plan/builders.h"
#include "nodeup/plan/environment.h"
#include "nodeup/plan/release.h"

static const char auto_upgrades[] = "/etc/apt/apt.conf.d/20auto-upgrades";
static const char auto_upgrades_text[] = "APT::Periodic::Update-Package-Lists \"1\";\n"
					 "APT::Periodic::Unattended-Upgrade \"1\";\n"
					 "\n"
					 "APT::Periodic::AutocleanInterval \"7\";\n";
static const char no_upgrades_text[] = "APT::Periodic::Enable \"0\";\n";

static const char logrotate_service[] = "logrotate.service";
static const char logrotate_timer[] = "logrotate.timer";

/* Packages of comfort: pods run without. Only the units of one builder wait for each. */
static const struct {
	const char *name, *builder;
} comforts[] = {
	{ "logrotate", "logrotate" },
	{ "chrony", "ntp" },
	{ "ntp", "ntp" },
	{ "unattended-upgrades", "upgrades" },
};

/* kops writes all of them on every role */
static const char *const logs[] = {
	"docker",     "kube-addons",    "kube-apiserver", "kube-controller-manager",
	"kube-proxy", "kube-scheduler", "kubelet",
};

static void add_words(struct plan *p, struct strv *names, const char *words)
{
	const struct strv v = strv_split(p->arena, words ? words : "", ' ');

	for (size_t i = 0; i < v.n; i++)
		if (*v.v[i] && !strv_has(names, v.v[i]))
			strv_add(p->arena, names, v.v[i]);
}

static const char *comfort_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(comforts); i++)
		if (strcmp(comforts[i].name, name) == 0)
			return comforts[i].builder;
	return NULL;
}

/* One call of the manager for those of comfort, and one for all others. */
static void add_call(struct plan *p, const struct strv *names, bool of_comfort)
{
	struct task_package call = { .family = plan_distro(p)->family, .env = plan_proxy_words(p) };

	for (size_t i = 0; i < names->n; i++) {
		const char *builder = comfort_of(names->v[i]);

		if (!builder == of_comfort)
			continue;
		strv_add(p->arena, &call.names, names->v[i]);
		if (builder)
			strv_add_once(p->arena, &call.builders, builder);
	}
	if (call.names.n)
		plan_new_task(p, TASK_PACKAGE, strv_join(p->arena, &call.names, " "))->package =
			call;
}

void build_packages(struct plan *p)
{
	const struct release *d = plan_release(p);
	struct strv names = { 0 };

	/* other documents say which packages their nodes take, or their builders do */
	if (p->req->node->kind == NODE_DESCRIBED)
		add_words(p, &names, d->packages);
	if (p->req->node->auto_upgrades)
		add_words(p, &names, d->upgrades);
	if (p->req->node->keeps_time)
		add_words(p, &names, d->ntp);
	add_words(p, &names, strv_join(p->arena, &p->packages, " "));
	add_words(p, &names, strv_join(p->arena, &p->req->node->packages, " "));
	if (names.n == 0)
		return;
	if (plan_distro(p)->family == PACKAGE_NONE)
		plan_refuse(p, "packages: %s: this distribution installs none",
			    strv_join(p->arena, &names, " "));
	add_call(p, &names, false);
	add_call(p, &names, true);
}

void plan_upgrades(struct plan *p, bool wanted)
{
	plan_file(p, auto_upgrades, 0644, wanted ? auto_upgrades_text : no_upgrades_text);
}

void build_upgrades(struct plan *p)
{
	if (p->req->node->auto_upgrades && plan_distro(p)->family == PACKAGE_DEB)
		plan_upgrades(p, true);
}

/* A vendor's unit, which an image that lacks the package lacks as well. */
void build_ntp(struct plan *p)
{
	const struct release *d = plan_release(p);

	if (p->req->node->keeps_time && d->ntp_unit)
		plan_unit(p, d->ntp_unit, !p->req->image_mode);
}

void plan_rotated_log(struct plan *p, const char *name, const char *end)
{
	const char *text = arena_printf(p->arena,
					"/var/log/%s.log{\n"
					"  rotate 5\n"
					"  copytruncate\n"
					"  missingok\n"
					"  notifempty\n"
					"  delaycompress\n"
					"  maxsize 100M\n"
					"  daily\n"
					"  create 0644 root root\n"
					"}%s",
					name, end);

	plan_file(p, arena_printf(p->arena, "/etc/logrotate.d/%s", name), 0644, text);
}

/* Hourly, and not as the vendor's daily timer: the size limit has to bite before a disk is full. */
void plan_rotate_hourly(struct plan *p, const char *service)
{
	static const char timer[] = "[Unit]\n"
				    "Description=Hourly Log Rotation\n"
				    "\n"
				    "[Timer]\n"
				    "OnCalendar=hourly\n";

	if (service)
		plan_unit_file(p, logrotate_service, service);
	plan_service(p, logrotate_timer, timer, false);
}

void build_logrotate(struct plan *p)
{
	/* an image without it has no unit that fails each hour */
	static const char service[] = "[Unit]\n"
				      "Description=Rotate and Compress System Logs\n"
				      "ConditionPathExists=/usr/sbin/logrotate\n"
				      "\n"
				      "[Service]\n"
				      "ExecStart=/usr/sbin/logrotate /etc/logrotate.conf\n";

	if (plan_distro(p)->rotates_logs)
		return;
	for (size_t i = 0; i < ARRAY_LEN(logs); i++)
		plan_rotated_log(p, logs[i], "");
	/* CoreOS has its own service, elsewhere */
	plan_rotate_hourly(p, plan_distro(p)->family == PACKAGE_NONE ? NULL : service);
}

void build_users(struct plan *p)
{
	/* kops 1.8 calls the owner of etcd's data so, and nothing runs as it */
	static const struct task_user user = { "user", "/var/etcd", "/sbin/nologin" };

	if (plan_distro(p)->family != PACKAGE_NONE)
		plan_new_task(p, TASK_USER, user.name)->user = user;
}
