#include "nodeup/plan/upkeep.h"

#include <string.h>

static const char k8s_sysctls[] = "/etc/sysctl.d/99-k8s-general.conf";
static const char firewall_service[] = "kubernetes-iptables-setup.service";

/* Lists the rules that the script leaves behind, in the form of iptables -S. */
static const char *const rules[] = {
	"INPUT -p tcp -j ACCEPT",   "INPUT -p udp -j ACCEPT",   "INPUT -p icmp -j ACCEPT",
	"FORWARD -p tcp -j ACCEPT", "FORWARD -p udp -j ACCEPT", "FORWARD -p icmp -j ACCEPT",
};

static const char auto_upgrades[] = "/etc/apt/apt.conf.d/20auto-upgrades";
static const char auto_upgrades_text[] = "APT::Periodic::Update-Package-Lists \"1\";\n"
					 "APT::Periodic::Unattended-Upgrade \"1\";\n"
					 "\n"
					 "APT::Periodic::AutocleanInterval \"7\";\n";
static const char no_upgrades_text[] = "APT::Periodic::Enable \"0\";\n";

static const char logrotate_service[] = "logrotate.service";
static const char logrotate_timer[] = "logrotate.timer";

/* Parses settings of the kernel. `keys` gets the settings that must not fail. */
static struct strmap parse_values(struct arena *a, const char *lines, struct strv *keys)
{
	struct strv v = strv_split(a, lines, '\n');
	struct strmap values = { 0 };

	for (size_t i = 0; i < v.n; i++) {
		const char *line = str_trim(a, v.v[i]), *eq = strchr(line, '='), *key;

		if (!eq || strchr("#;", *line))
			continue;
		key = str_trim(a, arena_strn(a, line, (size_t)(eq - line)));
		/* a '-' before the key means that a failure is ignored, see sysctl.d(5) */
		if (*key == '-')
			key++;
		else
			strv_add(a, keys, key);
		strmap_set(a, &values, key, str_trim(a, eq + 1));
	}
	return values;
}

struct task *plan_sysctl(struct plan *p, const char *content, const char *own)
{
	struct strv all = { 0 }, asked = { 0 };
	struct task *t;

	(void)parse_values(p->arena, own, &asked);
	plan_file(p, k8s_sysctls, 0644, content);
	t = plan_new_task(p, TASK_SYSCTL, k8s_sysctls);
	t->sysctl.values = parse_values(p->arena, content, &all);
	t->sysctl.asked = asked;
	return t;
}

void plan_firewall(struct plan *p, const char *path, const char *script_text)
{
	const char *text = arena_printf(p->arena,
					"[Unit]\n"
					"Description=Configure iptables for kubernetes\n"
					"Documentation=https://github.com/kubernetes/kops\n"
					"Before=network.target\n"
					"\n"
					"[Service]\n"
					"Type=oneshot\n"
					"RemainAfterExit=yes\n"
					"ExecStart=%s\n"
					"\n"
					"[Install]\n"
					"WantedBy=basic.target\n",
					path);
	struct task *t;

	plan_file(p, path, 0755, script_text);
	t = plan_service(p, firewall_service, text, true);
	strv_add(p->arena, &t->unit.inputs, path);
	strv_add_array(p->arena, &t->unit.accepts, rules);
}

void plan_upgrades(struct plan *p, bool wanted)
{
	plan_file(p, auto_upgrades, 0644, wanted ? auto_upgrades_text : no_upgrades_text);
}

void plan_rotated_log(struct plan *p, const char *name, const char *date, const char *end)
{
	const char *text = arena_printf(p->arena,
					"/var/log/%s.log{\n"
					"  rotate 5\n"
					"  copytruncate\n"
					"  missingok\n"
					"  notifempty\n"
					"  delaycompress\n"
					"  maxsize 100M\n"
					"%s"
					"  daily\n"
					"  create 0644 root root\n"
					"}%s",
					name, date, end);

	plan_file(p, arena_printf(p->arena, "/etc/logrotate.d/%s", name), 0644, text);
}

/* Rotates every hour instead of once a day as the vendor's timer does: the size limit must apply before a disk is
 * full. */
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
