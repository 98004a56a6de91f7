#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/plan/pieces.h"

static const char our_unit[] = "kops-configuration.service";
static const char env_file[] = "/etc/sysconfig/kops-configuration";

/* systemd 229 was the first to take "infinity" here; a oneshot of an older one has no timeout */
enum { SYSTEMD_INFINITY = 229 };

static int add_environment(struct plan *p, struct unit *u, bool *ret_has_file, struct err *e)
{
	struct strmap open = { 0 }, secret = { 0 };
	struct strv lines = { 0 }, shown = { 0 };

	plan_environment(p, &p->req->environment, &open, &secret);
	/* without it the first run has no way to the documents that name it */
	plan_environment(p, &p->req->proxy_environment, &open, &secret);
	for (size_t i = 0; i < open.n; i++)
		strv_add(p->arena, &shown,
			 plan_assignment(p->arena, open.v[i].key, open.v[i].value));
	if (shown.n)
		unit_set(p->arena, u, "Service", "Environment", strv_join(p->arena, &shown, " "));
	unit_set(p->arena, u, "Service", "EnvironmentFile", "-/etc/environment");
	*ret_has_file = secret.n > 0;
	if (secret.n == 0)
		return 0;
	for (size_t i = 0; i < secret.n; i++)
		strv_add(p->arena, &lines,
			 unit_env_line(p->arena, secret.v[i].key, secret.v[i].value));
	unit_set(p->arena, u, "Service", "EnvironmentFile", env_file);
	return plan_secret(p, env_file, 0600, strv_join(p->arena, &lines, ""), e) ? 0 : -EINVAL;
}

static const char *command(struct plan *p)
{
	struct strv words = { 0 };

	for (const char *const *arg = p->req->exec; *arg; arg++)
		strv_add(p->arena, &words, unit_quote(p->arena, *arg));
	return strv_join(p->arena, &words, " ");
}

static struct task *add_unit_file(struct plan *p, struct unit *u, struct err *e)
{
	const int64_t systemd = p->req->facts->systemd;
	struct arena *a = p->arena;

	unit_set(a, u, "Service", "ExecStart", command(p));
	unit_set(a, u, "Service", "Type", "oneshot");
	unit_set(a, u, "Service", "RemainAfterExit", "no");
	unit_set(a, u, "Service", "NotifyAccess", "main");
	unit_set(a, u, "Service", "TimeoutStartSec",
		 systemd && systemd < SYSTEMD_INFINITY ? "0" : "infinity");
	unit_set(a, u, "Install", "WantedBy", "multi-user.target");
	return plan_unit_file(p, our_unit, u, e);
}

int build_bootstrap(struct plan *p, struct err *e)
{
	struct unit u = { 0 };
	struct task *t;
	bool has_file;
	int r;

	if (!p->req->exec || !p->req->exec[0])
		return err_config(e, "%s: the command line to run is not known", our_unit);
	unit_set(p->arena, &u, "Unit", "Description", "Run kops bootstrap (nodeup)");
	unit_set(p->arena, &u, "Unit", "Documentation", "https://github.com/kubernetes/kops");
	unit_set(p->arena, &u, "Unit", "Wants", "network-online.target");
	unit_set(p->arena, &u, "Unit", "After", "network-online.target");
	r = add_environment(p, &u, &has_file, e);
	if (r < 0)
		return r;
	if (!add_unit_file(p, &u, e))
		return -EINVAL;
	t = plan_unit(p, our_unit, true, e);
	if (!t)
		return -EINVAL;
	t->unit.no_wait = true;
	if (has_file)
		strv_add(p->arena, &t->unit.inputs, env_file);
	return 0;
}
