#include "nodeup/plan/upkeep.h"

#include "nodeup/plan/builders.h"

static const char script_path[] = "/home/kubernetes/bin/iptables-setup";
static const char service[] = "kubernetes-iptables-setup.service";

/* Container-Optimized OS drops what comes in and what is forwarded; a node needs both. A rule that is
 * there is not added again. */
static const char script[] =
	"#!/bin/bash\n"
	"# Written by nodeup\n"
	"for chain in INPUT FORWARD; do\n"
	"\tif iptables -w -S \"$chain\" 2>/dev/null | grep -q -- \"^-P $chain DROP\"; then\n"
	"\t\tfor protocol in TCP UDP ICMP; do\n"
	"\t\t\tiptables -w -C \"$chain\" -p \"$protocol\" -j ACCEPT 2>/dev/null ||\n"
	"\t\t\t\tiptables -w -A \"$chain\" -p \"$protocol\" -j ACCEPT || exit 1\n"
	"\t\tdone\n"
	"\tfi\n"
	"done\n";

/* Rules that the script leaves, in the words of iptables -S. */
static const char *const rules[] = {
	"INPUT -p tcp -j ACCEPT",   "INPUT -p udp -j ACCEPT",   "INPUT -p icmp -j ACCEPT",
	"FORWARD -p tcp -j ACCEPT", "FORWARD -p udp -j ACCEPT", "FORWARD -p icmp -j ACCEPT",
};

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
	t = plan_service(p, service, text, true);
	strv_add(p->arena, &t->unit.inputs, path);
	strv_add_array(p->arena, &t->unit.accepts, rules);
}

void build_firewall(struct plan *p)
{
	plan_firewall(p, script_path, script);
}
