/* Tests: test_kops_containerd.c. */
#include "nodeup/plan/kops/containerd.h"

#include <string.h>
#include "nodeup/config/kops/changes.h"
#include "nodeup/plan/assets.h"
#include "nodeup/plan/docker.h"

static const char config[] = "/etc/containerd/config.toml";
static const char options[] = "/etc/sysconfig/containerd";

/* Lists archives that hold none of containerd's programs. */
static const char *const others[] = { "cni-plugins-", "crictl-", "nerdctl-" };

/* Lists the programs below bin/ of containerd's archive. containerd cannot start without the programs that every
 * archive has. */
static const struct {
	const char *name;
	bool is_always;
} programs[] = {
	{ "containerd", true },
	{ "containerd-shim-runc-v2", true },
	{ "ctr", true },
	{ "containerd-stress", false },
	{ "containerd-shim", false },
	{ "containerd-shim-runc-v1", false },
};

/* Lists every member of the archive of github.com/containernetworking/plugins, from 0.8 to 1.8. */
static const char *const plugins[] = {
	"bandwidth",  "bridge", "dhcp",     "dummy",   "firewall", "flannel", "host-device",
	"host-local", "ipvlan", "loopback", "macvlan", "portmap",  "ptp",     "sbr",
	"static",     "tap",    "tuning",   "vlan",    "vrf",      "LICENSE", "README.md",
};

/* Lists tools that are installed if the documents have them. */
static const struct {
	const char *archive, *program;
} tools[] = {
	{ "crictl-", "crictl" },
	{ "nerdctl-", "nerdctl" },
};

/* Returns the name of containerd's archive: the first archive that is not listed in `others`. */
static const char *containerd_archive(const struct plan *p)
{
	for (size_t i = 0; i < p->n_assets; i++) {
		const struct asset *as = p->assets[i];
		bool is_other = !asset_is_archive(as);

		for (size_t k = 0; k < ARRAY_LEN(others); k++)
			is_other = is_other || str_has_prefix(as->name, others[k]);
		if (!is_other)
			return as->name;
	}
	return "containerd-";
}

/* source: kops 1.37 nodeup/pkg/model/resources/containerd-license.txt, which differs from ours in its end and in
 * the scheme of its links */
static const char *licence_text(struct plan *p)
{
	static const char appendix[] = "   APPENDIX:", owner[] = "Copyright [yyyy]";
	const char *text = plan_apache_start, *end = strstr(text, appendix);
	const char *rest = strstr(strstr(text, owner), "\n\n");
	const struct strv parts = strv_split(
		p->arena,
		str_trim(p->arena,
			 arena_printf(p->arena, "#%.*s   Copyright The containerd Authors%s",
				      (int)(end - text), text, rest)),
		':');
	struct strv out = { 0 };

	for (size_t i = 0; i < parts.n; i++)
		strv_add(p->arena, &out,
			 str_has_suffix(parts.v[i], "http") && i + 1 < parts.n
				 ? arena_printf(p->arena, "%ss", parts.v[i])
				 : parts.v[i]);
	text = strv_join(p->arena, &out, ":") + 1;
	return kops_has(p, KOPS_LICENCE_IN_LINES) ? arena_printf(p->arena, "\n%s\n", text) : text;
}

/* source: kops 1.37 nodeup/pkg/model/containerd.go buildSystemdService */
static const char *unit_text(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;
	const char *labels = "";

	if (plan_distro(p)->family == PACKAGE_RPM && c->containerd.selinux_enabled &&
	    kops_does(c, KOPS_CONTAINERD_LABELS))
		labels = "ExecStartPre=/bin/sh -c 'restorecon -v /usr/sbin/runc'\n"
			 "ExecStartPre=/bin/sh -c 'restorecon -v /usr/bin/containerd*'\n";
	return arena_printf(
		p->arena,
		"[Unit]\n"
		"Description=containerd container runtime\n"
		"Documentation=https://containerd.io\n"
		"After=network.target %s\n"
		"\n"
		"[Service]\n"
		"%s"
		"EnvironmentFile=%s\n"
		"EnvironmentFile=/etc/environment\n"
		"ExecStartPre=-/sbin/modprobe overlay\n"
		"ExecStart=/usr/bin/containerd -c %s \"$CONTAINERD_OPTS\"\n"
		"Type=notify\n"
		"Delegate=yes\n"
		"KillMode=process\n"
		"Restart=always\n"
		"RestartSec=5\n"
		"LimitNPROC=infinity\n"
		"LimitCORE=infinity\n"
		"LimitNOFILE=1048576\n"
		"TasksMax=infinity\n"
		"OOMScoreAdjust=-999\n"
		"%s"
		"\n"
		"[Install]\n"
		"WantedBy=multi-user.target\n",
		kops_does(c, KOPS_CONTAINERD_AFTER_DBUS) ? "dbus.service" : "local-fs.target",
		labels, options, config, kops_slice_line(p, c->kubelet.runtime_cgroups));
}

static const char *options_text(struct plan *p)
{
	const struct strv flags =
		kops_flags(p, &kops_containerd_schema, &kops_of(p)->config->containerd);

	return arena_printf(p->arena, "CONTAINERD_OPTS=%s", strv_join(p->arena, &flags, " "));
}

static bool has_asset(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_assets; i++)
		if (str_eq(p->assets[i]->name, name))
			return true;
	return false;
}

/* Installs runc. Releases before 1.6 may be one archive with runc and crictl in it. source: kops 1.36
 * nodeup/pkg/model/containerd.go installContainerd */
static void install_runc(struct plan *p, const char *archive)
{
	static const char path[] = "/usr/sbin/runc";
	const char *name = arena_printf(p->arena, "runc.%s", kops_of(p)->arch);

	if (!kops_has(p, KOPS_CONTAINERD_BUNDLE) || has_asset(p, name)) {
		plan_install(p, name, path);
		return;
	}
	(void)plan_install_member_of(p, archive, "runc", path, 0755);
	plan_install_member_of(p, archive, "crictl", "/usr/bin/crictl", 0755)->install.may_lack =
		true;
}

/* If config.toml imports files of other programs, makes them an input of the unit. A config.toml that the documents
 * bring may import none. */
static void read_shared(struct plan *p, struct task *unit)
{
	if (!strstr(plan_at(p, config)->file.content, kops_containerd_shared))
		return;
	unit->unit.shared = kops_containerd_shared;
	unit->unit.shared_ending = kops_containerd_ending;
}

/* Configures the host's own containerd, which reads another file by default. source: kops 1.37
 * nodeup/pkg/model/containerd.go buildSystemdServiceOverrideFlatcar */
static void configure_containerd(struct plan *p)
{
	struct task *unit;

	plan_unit_file(p, "containerd.service.d/10-kops.conf",
		       arena_printf(p->arena,
				    "[Service]\n"
				    "EnvironmentFile=/etc/environment\n"
				    "ExecStart=\n"
				    "ExecStart=/usr/bin/containerd --config %s",
				    config));
	unit = plan_unit(p, plan_containerd_unit, false);
	strv_add(p->arena, &unit->unit.inputs, config);
	read_shared(p, unit);
}

static void install_containerd(struct plan *p)
{
	const char *archive = containerd_archive(p);
	static const char *const inputs[] = { options, config, "/usr/sbin/runc" };
	struct task *unit;

	plan_file(p, "/usr/share/doc/containerd/apache.txt", 0644, licence_text(p));
	plan_file(p, "/etc/crictl.yaml", 0644,
		  "\nruntime-endpoint: unix:///run/containerd/containerd.sock\n");
	plan_file(p, options, 0644, options_text(p));
	install_runc(p, archive);
	unit = plan_service(p, plan_containerd_unit, unit_text(p), true);
	strv_add_array(p->arena, &unit->unit.inputs, inputs);
	read_shared(p, unit);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		const char *path = arena_printf(p->arena, "/usr/bin/%s", programs[i].name);

		plan_install_member_of(p, archive, programs[i].name, path, 0755)->install.may_lack =
			!programs[i].is_always;
		if (programs[i].is_always)
			strv_add(p->arena, &unit->unit.inputs, path);
	}
}

/* source: kops 1.37 nodeup/pkg/model/containerd.go buildIPMasqueradeRules */
static void add_masquerade(struct plan *p)
{
	static const char script[] = "/opt/kops/bin/cni-iptables-setup";
	static const char unit_name[] = "cni-iptables-setup.service";
	const char *cidr = kops_of(p)->config->networking.non_masquerade_cidr;
	struct task *unit;

	if (str_is_empty(cidr) || str_has_suffix(cidr, "/0"))
		return;
	plan_file(p, script, 0755,
		  arena_printf(
			  p->arena,
			  "#!/bin/bash\n"
			  "# Built by kOps - do not edit\n"
			  "\n"
			  "iptables -w -t nat -N IP-MASQ\n"
			  "iptables -w -t nat -A POSTROUTING -m comment --comment \"ip-masq: "
			  "ensure nat POSTROUTING directs all non-LOCAL destination traffic to "
			  "our custom IP-MASQ chain\" -m addrtype ! --dst-type LOCAL -j IP-MASQ\n"
			  "iptables -w -t nat -A IP-MASQ -d %s -m comment --comment \"ip-masq: "
			  "pod cidr is not subject to MASQUERADE\" -j RETURN\n"
			  "iptables -w -t nat -A IP-MASQ -m comment --comment \"ip-masq: "
			  "outbound traffic is subject to MASQUERADE (must be last in chain)\" "
			  "-j MASQUERADE\n",
			  cidr));
	unit = plan_service(p, unit_name,
			    "[Unit]\n"
			    "Description=Configure iptables for kubernetes CNI\n"
			    "Documentation=https://github.com/kubernetes/kops\n"
			    "Before=network.target\n"
			    "\n"
			    "[Service]\n"
			    "Type=oneshot\n"
			    "RemainAfterExit=yes\n"
			    "ExecStart=/opt/kops/bin/cni-iptables-setup\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=basic.target\n",
			    true);
	strv_add(p->arena, &unit->unit.inputs, script);
}

/* Writes a template: containerd makes the network's configuration of it when kubelet says which addresses pods get. */
static void add_kubenet(struct plan *p)
{
	const char *ipv6 = kops_is_ipv6_only(p) ? ",{\"dst\":\"::/0\"}" : "";

	plan_file(p, "/etc/containerd/config-cni.template", 0644,
		  arena_printf(p->arena,
			       "{\n"
			       "    \"cniVersion\": \"%s\",\n"
			       "    \"name\": \"k8s-pod-network\",\n"
			       "    \"plugins\": [\n"
			       "        {\n"
			       "            \"type\": \"ptp\",\n"
			       "            \"ipam\": {\n"
			       "                \"type\": \"host-local\",\n"
			       "                \"ranges\": [[{\"subnet\": \"{{.PodCIDR}}\"}]],\n"
			       "                \"routes\": [{\"dst\":\"0.0.0.0/0\"}%s]\n"
			       "            }\n"
			       "        },\n"
			       "        {\n"
			       "            \"type\": \"portmap\",\n"
			       "            \"capabilities\": {\"portMappings\": true}\n"
			       "        }\n"
			       "    ]\n"
			       "}\n",
			       kops_has(p, KOPS_KUBENET_CNI_1) ? "1.0.0" : "0.4.0", ipv6));
	add_masquerade(p);
}

/* Installs the plugins. kops copies every asset to that folder, and every member of every archive. */
static void add_plugins(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
		plan_install_member_of(p, "cni-plugins-", plugins[i],
				       arena_printf(p->arena, "/opt/cni/bin/%s", plugins[i]), 0755)
			->install.may_lack = true;
}

static void add_tools(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;
	const bool by_name = kops_does(c, KOPS_SKIPPED_TOOLS);
	const bool wanted[] = { by_name ? c->containerd.install_crictl : true,
				by_name && c->containerd.install_nerdctl };

	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (plan_has_archive(p, tools[i].archive) &&
		    (!c->containerd.skip_install || wanted[i]))
			plan_install_member_of(p, tools[i].archive, tools[i].program,
					       arena_printf(p->arena, "%s/%s",
							    plan_distro(p)->tools_dir,
							    tools[i].program),
					       0755);
}

/* Writes config.toml. An earlier text that only lacks the import of other programs' files may stay until something
 * else changes: the import alone is no reason to restart a running containerd. */
static void add_config(struct plan *p)
{
	const char *before, *text = kops_containerd_config(p, &before);

	/* the URL of a mirror may hold a password */
	const struct kops_config *c = kops_of(p)->config;
	const bool is_secret = c->containerd.registry_mirrors && !kops_does(c, KOPS_MIRROR_FOLDERS);
	struct task_file *f = &(is_secret ? plan_secret : plan_file)(p, config, 0644, text)->file;

	f->also = before;
	f->elsewhere = before ? kops_containerd_shared : NULL;
}

void build_kops_containerd(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	if (!c->containerd.skip_install) {
		add_config(p);
		kops_registry_hosts(p);
		if (c->uses_kubenet)
			add_kubenet(p);
		if (plan_distro(p)->has_containerd)
			configure_containerd(p);
		else
			install_containerd(p);
	}
	add_tools(p);
	if (c->install_cni_assets || kops_has(p, KOPS_CNI_ALWAYS))
		add_plugins(p);
	/* kubelet starts after these images are loaded: see deps.c */
	for (size_t i = 0; i < p->req->node->images.n; i++)
		plan_image(p, &p->req->node->images.v[i]);
}
