#include "nodeup/plan/upkeep.h"

#include <string.h>
#include "nodeup/plan/builders.h"

static const char path[] = "/etc/sysctl.d/99-k8s-general.conf";

/* source: kops 1.8.1 nodeup/pkg/model/sysctls.go; the blanks are its own */
static const char text[] = "vm.max_map_count = 262144\n"
			   "kernel.softlockup_panic = 1\n"
			   "kernel.softlockup_all_cpu_backtrace = 1\n"
			   "net.core.somaxconn = 32768\n"
			   "net.core.rmem_max = 16777216\n"
			   "net.core.wmem_max = 16777216\n"
			   "net.ipv4.tcp_wmem = 4096 12582912 16777216\n"
			   "net.ipv4.tcp_rmem = 4096 12582912 16777216\n"
			   "net.ipv4.tcp_max_syn_backlog = 8096\n"
			   "net.ipv4.tcp_slow_start_after_idle = 0\n"
			   "net.ipv4.tcp_tw_reuse = 1\n"
			   "net.core.netdev_max_backlog = 16384\n"
			   "fs.file-max = 2097152\n"
			   "fs.inotify.max_user_instances = 8192\n"
			   "fs.inotify.max_user_watches = 524288\n";

/* AWS answers no ARP, so the neighbour table may forget at once */
static const char text_aws[] = "net.ipv4.neigh.default.gc_thresh1=0\n";
static const char text_forward[] = "net.ipv4.ip_forward=1\n";

/* Its settings; keys: of those that must not fail. */
static struct strmap parse_values(struct arena *a, const char *lines, struct strv *keys)
{
	struct strv v = strv_split(a, lines, '\n');
	struct strmap values = { 0 };

	for (size_t i = 0; i < v.n; i++) {
		const char *line = str_trim(a, v.v[i]), *eq = strchr(line, '='), *key;

		if (!eq || strchr("#;", *line))
			continue;
		key = str_trim(a, arena_strn(a, line, (size_t)(eq - line)));
		/* sysctl.d(5): one that cannot be set is passed over, which is so for all here */
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
	plan_file(p, path, 0644, content);
	t = plan_new_task(p, TASK_SYSCTL, path);
	t->sysctl.values = parse_values(p->arena, content, &all);
	t->sysctl.asked = asked;
	return t;
}

void build_sysctl(struct plan *p)
{
	const bool aws = str_eq(p->req->node->cloud_provider, "aws");

	plan_sysctl(p, arena_printf(p->arena, "%s%s%s", text, aws ? text_aws : "", text_forward),
		    "");
}
