/* Tests: test_build_extras.c. */
#include "nodeup/plan/builders.h"

#include "nodeup/base/paths.h"
#include "nodeup/plan/environment.h"

static const char our_unit[] = "kops-configuration.service";
static const char guard_service[] = "nodeup-guard.service";
const char plan_boot_record[] = OWN_BOOT;
const char plan_guard_timer[] = "nodeup-guard.timer";

static const char env_file[] = "/etc/sysconfig/kops-configuration";

/* systemd 229 was the first version to take "infinity" as a timeout; for an older version 0 means the same */
enum { SYSTEMD_INFINITY = 229 };

/* Returns whether a variable goes into the file that kops' own unit reads. An admin may bring kops' nodeup back, and
 * kops' unit must find only its own variables there. */
static bool is_for_file(const char *name)
{
	return str_is_one_of(name, plan_kops_variables);
}

/* Returns the lines of the unit that set the environment. */
static const char *add_environment(struct plan *p)
{
	struct strmap open = { 0 }, shown = { 0 }, file = { 0 };
	const char *own = "";

	plan_environment(p, &p->req->environment, &open, &file);
	/* the first run needs the proxy before it can fetch the documents that name it */
	plan_environment(p, &p->req->proxy_environment, &open, &file);
	for (size_t i = 0; i < open.n; i++)
		strmap_set(p->arena, is_for_file(open.v[i].key) ? &file : &shown, open.v[i].key,
			   open.v[i].value);
	if (shown.n)
		own = arena_printf(p->arena, "Environment=%s\n",
				   plan_assignments(p->arena, &shown));
	if (file.n)
		plan_secret(p, env_file, 0600, plan_env_lines(p->arena, &file));
	return arena_printf(p->arena, "%sEnvironmentFile=-/etc/environment\n%s", own,
			    file.n ? arena_printf(p->arena, "EnvironmentFile=%s\n", env_file) : "");
}

static const char *program_path(struct plan *p)
{
	return arena_printf(p->arena, "%s/nodeup", plan_distro(p)->nodeup_dir);
}

static const char *command(struct plan *p)
{
	struct strv words = { 0 };

	strv_addf(p->arena, &words, "%s apply", program_path(p));
	for (const char *const *flag = p->req->boot->flags; *flag; flag++)
		strv_add(p->arena, &words, unit_quote(p->arena, *flag));
	return strv_join(p->arena, &words, " ");
}

static void add_unit_file(struct plan *p)
{
	const int64_t systemd = p->req->facts->systemd;
	const char *environment = add_environment(p);

	/* Type: units that are ordered after ours, and the boot itself, wait until the first run has ended. A unit
	 * of type oneshot would hold up both as long as failed runs are tried again. KillMode: only nodeup gets the
	 * signal to stop; it waits for a package manager that still works. SuccessExitStatus: a stop on request is
	 * not a failure. The status tells of the stop, and the next start goes on. */
	plan_unit_file(p, our_unit,
		       arena_printf(p->arena,
				    "[Unit]\n"
				    "Description=Run kops bootstrap (nodeup)\n"
				    "Documentation=man:nodeup(8)\n"
				    "Wants=network-online.target\n"
				    "After=network-online.target\n"
				    "\n"
				    "[Service]\n"
				    "%s"
				    "ExecStart=%s\n"
				    "Type=notify\n"
				    "RemainAfterExit=no\n"
				    "NotifyAccess=main\n"
				    "TimeoutStartSec=%s\n"
				    "KillMode=mixed\n"
				    "TimeoutStopSec=300\n"
				    "SuccessExitStatus=SIGTERM\n"
				    "\n"
				    "[Install]\n"
				    "WantedBy=multi-user.target\n",
				    environment, command(p),
				    systemd && systemd < SYSTEMD_INFINITY ? "0" : "infinity"));
	plan_secret(p, plan_boot_record, 0600, p->req->boot->record)->file.set_aside =
		p->req->boot->damaged;
}

static struct task *add_program(struct plan *p)
{
	const char *link = plan_distro(p)->nodeup_link;
	struct task *t = plan_new_task(p, TASK_PROGRAM, program_path(p)), *l;

	t->program = (struct task_program){
		.version = p->req->boot->version,
		.replace = p->req->boot->install,
	};
	/* a link in the PATH would hide a package's program; after an upgrade of the package, people would still run
	 * the older program */
	if (!link || p->req->boot->packaged)
		return t;
	l = plan_new_task(p, TASK_LINK, link);
	l->link.target = t->name;
	/* only people use the link: a node boots without it */
	l->optional = true;
	return t;
}

void build_bootstrap(struct plan *p)
{
	const struct node *n = p->req->node;
	const struct task *program;
	struct task *t;

	if (!p->req->boot)
		return;
	program = add_program(p);
	if (p->req->boot->flags)
		add_unit_file(p);
	if (n->replaces.path)
		plan_no_file(p, n->replaces.path, n->replaces.begins);
	t = plan_unit(p, our_unit, true);
	t->unit.no_wait = true;
	t->unit.at_boot = !p->req->boot->install;
	strv_add(p->arena, &t->unit.inputs, program->name);
	if (plan_at(p, env_file))
		strv_add(p->arena, &t->unit.inputs, env_file);
}

static void add_guard_files(struct plan *p)
{
	/* Nice and the two others: nothing on the node waits for the guard. SuccessExitStatus: what it found is no
	 * failure of its own. StandardOutput: the journal has what it found from its messages. */
	plan_unit_file(p, guard_service,
		       arena_printf(p->arena,
				    "[Unit]\n"
				    "Description=Look whether this node is as its last run left it "
				    "(nodeup)\n"
				    "Documentation=man:nodeup(8)\n"
				    "\n"
				    "[Service]\n"
				    "Type=oneshot\n"
				    "ExecStart=%s guard\n"
				    "SuccessExitStatus=2\n"
				    "StandardOutput=null\n"
				    "StandardError=journal\n"
				    "TimeoutStartSec=120\n"
				    "Nice=19\n"
				    "IOSchedulingClass=idle\n"
				    "CPUSchedulingPolicy=idle\n",
				    program_path(p)));
}

void build_guard(struct plan *p)
{
	static const char timer[] = "[Unit]\n"
				    "Description=Look every five minutes whether this node is as "
				    "its last run left it (nodeup)\n"
				    "Documentation=man:nodeup(8)\n"
				    "\n"
				    "[Timer]\n"
				    "OnActiveSec=5min\n"
				    "OnUnitActiveSec=5min\n"
				    "AccuracySec=10s\n"
				    "\n"
				    "[Install]\n"
				    "WantedBy=timers.target\n";
	struct task *t;

	if (!p->req->settings || !p->req->settings->guard)
		return;
	if (!p->req->boot) {
		if (p->req->has_file && !p->req->image_mode)
			plan_warn(p, "guard: no unit is made, as nodeup is not installed here; "
				     "nodeup apply --install-systemd-unit would see to that");
		return;
	}
	add_guard_files(p);
	t = plan_service(p, plan_guard_timer, timer, true);
	strv_addf(p->arena, &t->unit.inputs, "%s%s", plan_unit_dir, guard_service);
}
