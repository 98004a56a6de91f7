/* Tests: test_kops_files.py. */
#include "nodeup/plan/kops/kops.h"

#include <strings.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/kops/release.h"

static const char networkd_unit[] = "systemd-networkd.service";

/* The vendor's rules for udev start units that give the host the addresses of pods. Rules of ours at the same path
 * replace the vendor's rules. */
static const char policy_rules[] = "/etc/udev/rules.d/99-vpc-policy-routes.rules";
static const char *const policy_units[] = { "policy-routes@*.service",
					    "refresh-policy-routes@*.service",
					    "refresh-policy-routes@*.timer", NULL };

/* nm-cloud-setup gives the host the addresses of pods, by rules of its own. */
static const char setup_marker[] = "/etc/kops/nm-cloud-setup-disabled";
static const char *const setup_units[] = { "nm-cloud-setup.service", "nm-cloud-setup.timer", NULL };
/* Makes each device apply the settings of its connection again, without going down. */
static const char *const setup_undo[] = {
	"sh", "-c",
	"for d in $(nmcli -g DEVICE connection show --active); do nmcli device reapply $d; done; :",
	NULL
};

static const char routes[] = "\n"
			     "# Do not clobber any routes or rules added by CNI.\n"
			     "[Network]\n"
			     "ManageForeignRoutes=no\n"
			     "ManageForeignRoutingPolicyRules=no\n";
static const char others[] = "\n"
			     "[Match]\n"
			     "Name=ens[6-9]* ens[1-9][0-9]*\n"
			     "\n"
			     "[Link]\n"
			     "Unmanaged=yes\n";

/* Lists the guards that are a file. */
static const struct {
	enum release_guard guard;
	bool is_read_by_networkd;
	const char *path, *text;
} guard_files[] = {
	{ GUARD_POLICY, true, policy_rules, "" },
	{ GUARD_ROUTES, true,
	  "/usr/lib/systemd/networkd.conf.d/40-disable-manage-foreign-routes.conf", routes },
	{ GUARD_RELEASE, true, "/usr/lib/systemd/networkd.conf.d/80-release.conf", routes },
	{ GUARD_OTHERS_BY_NAME, true, "/etc/systemd/network/10-eni-secondary.network", others },
	{ GUARD_OTHERS_OF_VPC, true, "/etc/systemd/network/10-vpc-cni-secondary.network", others },
	{ GUARD_ADDRESSES, true, "/etc/systemd/network/99-default.link",
	  "\n"
	  "[Match]\n"
	  "OriginalName=*\n"
	  "[Link]\n"
	  "NamePolicy=keep kernel database onboard slot path\n"
	  "AlternativeNamesPolicy=database onboard slot path\n"
	  "MACAddressPolicy=none\n" },
	{ GUARD_CLOUD_SETUP, false, setup_marker,
	  "# Marker: nm-cloud-setup disabled by kops to avoid breaking AWS VPC CNI pod routing.\n" },
	{ GUARD_HOTPLUG, false, "/etc/cloud/cloud.cfg.d/99-disable-network-hotplug.cfg",
	  "# Disable cloud-init network hotplug to prevent interference with CNI ENI management.\n"
	  "# See: https://github.com/kubernetes/kops/issues/17881\n"
	  "updates:\n"
	  "  network:\n"
	  "    when: [boot-new-instance]\n" },
	/* udev reads its rules anew when one of them changes */
	{ GUARD_IFUPDOWN, false, "/etc/udev/rules.d/75-cloud-ifupdown.rules",
	  "# Handle allow-hotplug interfaces.\n"
	  "# kops: ENV{INTERFACE} narrowed from \"eth*|en*\" to \"eth*|ens*\" so AWS VPC CNI\n"
	  "# veths (eni*) are not hijacked by cloud-ifupdown-helper.\n"
	  "SUBSYSTEM==\"net\", ACTION==\"add\", ENV{INTERFACE}==\"eth*|ens*\", "
	  "RUN+=\"/etc/network/cloud-ifupdown-helper\"\n" },
};

/* Returns the physical interface with the MAC of the instance's first interface. NULL: not exactly one interface has
 * that MAC. */
static const char *first_interface(const struct facts *f)
{
	const char *name = NULL;

	for (size_t i = 0; f->mac && i < f->interfaces.n; i++) {
		if (strcasecmp(f->interfaces.v[i].value, f->mac) != 0)
			continue;
		if (name)
			return NULL;
		name = f->interfaces.v[i].key;
	}
	return name;
}

/* Makes networkd leave all other interfaces alone. If the first interface is not known for certain, writes no file:
 * if the match included the first, the host would be left without a network. */
static void add_others(struct plan *p, struct strv *inputs)
{
	static const char path[] = "/etc/systemd/network/75-eni-secondary.network";
	const char *first = first_interface(p->req->facts);

	/* if only documents are checked, there is no instance */
	if (!first && !p->req->no_keys)
		plan_warn(p,
			  "%s is not written: which interface is the instance's first "
			  "is not known",
			  path);
	if (!first)
		return;
	plan_file(p, path, 0644,
		  arena_printf(p->arena,
			       "\n"
			       "[Match]\n"
			       "Driver=ena\n"
			       "Property=!INTERFACE=%s\n"
			       "\n"
			       "[Link]\n"
			       "Unmanaged=yes\n",
			       first));
	strv_add(p->arena, inputs, path);
}

/* source: kops 1.37 nodeup/pkg/model/networking/eni_networking.go disableNMCloudSetup */
static void stop_setup(struct plan *p)
{
	plan_new_task(p, TASK_STRAY, "nm-cloud-setup")->stray = (struct task_stray){
		.units = setup_units,
		.rules = setup_marker,
		.undo = setup_undo,
	};
	for (const char *const *unit = setup_units; *unit; unit++)
		plan_unit_mask(p, *unit);
}

static void add_guards(struct plan *p, unsigned int guards)
{
	struct strv inputs = { 0 };
	struct task *unit;

	for (size_t i = 0; i < ARRAY_LEN(guard_files); i++) {
		if (!(guards & guard_files[i].guard))
			continue;
		plan_file(p, guard_files[i].path, 0644, guard_files[i].text);
		if (guard_files[i].is_read_by_networkd)
			strv_add(p->arena, &inputs, guard_files[i].path);
	}
	if (guards & GUARD_POLICY)
		plan_new_task(p, TASK_STRAY, "policy-routes")->stray = (struct task_stray){
			.units = policy_units,
			.folder = "/run/systemd/network",
			.file = "ec2net_alias.conf",
			.rules = policy_rules,
		};
	if (guards & GUARD_CLOUD_SETUP)
		stop_setup(p);
	if (guards & GUARD_OTHERS)
		add_others(p, &inputs);
	if (guards & GUARD_TABLES)
		plan_new_task(p, TASK_LINK, "/usr/share/iproute2")->link.target = "/etc/iproute2";
	if (inputs.n == 0)
		return;
	/* networkd restarts once for all these files, after packages are installed and before pods run */
	unit = plan_unit(p, networkd_unit, false);
	strv_add_all(p->arena, &unit->unit.inputs, &inputs);
	strv_add(p->arena, &unit->unit.before, plan_containerd_unit);
	strv_add(p->arena, &unit->unit.before, "kubelet.service");
}

static void add_mount(struct plan *p, const char *name, const char *title, const char *what,
		      const char *where, const char *type)
{
	plan_service(p, name,
		     arena_printf(p->arena,
				  "\n"
				  "[Unit]\n"
				  "Description=Cilium %s mounts\n"
				  "Documentation=http://docs.cilium.io/\n"
				  "DefaultDependencies=no\n"
				  "Before=local-fs.target umount.target kubelet.service\n"
				  "\n"
				  "[Mount]\n"
				  "What=%s\n"
				  "Where=%s\n"
				  "Type=%s\n"
				  "\n"
				  "[Install]\n"
				  "WantedBy=multi-user.target\n",
				  title, what, where, type),
		     true);
}

static void add_cilium(struct plan *p)
{
	const struct opt_bool *bpffs = &p->req->facts->bpffs_mounted;

	/* systemd 238 and later mount the BPF file system themselves, and refuse a unit for it */
	if (bpffs->set && !bpffs->v)
		add_mount(p, "sys-fs-bpf.mount", "BPF", "bpffs", "/sys/fs/bpf", "bpf");
	add_mount(p, "run-cilium-cgroupv2.mount", "Cgroup2", "cgroup2", "/run/cilium/cgroupv2",
		  "cgroup2");
}

/* Adds the certificates by which Cilium's pods reach its own etcd. */
static void add_cilium_etcd(struct plan *p)
{
	const struct node_keypair *client = plan_keypair(p, "etcd-client-cilium", true);
	const char *ca = strmap_get(&kops_of(p)->config->cas, "etcd-clients-ca-cilium");

	plan_file(p, "/etc/kubernetes/pki/cilium/etcd-ca.crt", 0600, ca ? ca : "");
	plan_issued(plan_file(p, "/etc/kubernetes/pki/cilium/etcd-client-cilium.crt", 0644,
			      client->cert),
		    client);
	plan_issued(plan_secret(p, "/etc/kubernetes/pki/cilium/etcd-client-cilium.key",
				kops_has_api_server(p) ? 0600 : 0400, client->key),
		    client);
}

/* source: kops 1.37 nodeup/pkg/model/prefix.go */
static void add_prefix(struct plan *p)
{
	if (kops_is_ipv6_only(p) && p->req->facts->instance_id)
		plan_new_task(p, TASK_PREFIX, "of the first interface")->prefix =
			(struct task_prefix){ .instance = p->req->facts->instance_id,
					      .region = p->req->facts->region };
}

/* Returns the guards that the network asks of the host; the release's row leaves out guards that the release does
 * not need. Calico, flannel, kindnet, kubenet and an external CNI ask for none. Source: kops 1.37
 * nodeup/pkg/model/networking. */
static unsigned int guards_of(const struct kops_config *c)
{
	const struct kops_networking *n = &c->networking;
	const bool eni = n->cilium && str_eq(n->cilium_ipam, "eni");
	const struct {
		bool is_used;
		unsigned int guards;
		enum kops_change when;
	} networks[] = {
		{ n->amazonvpc, GUARD_ADDRESSES | GUARD_POLICY, KOPS_ALWAYS },
		{ n->amazonvpc, GUARD_RELEASE, KOPS_RELEASE_CONF },
		{ n->amazonvpc, GUARD_OTHERS_OF_VPC, KOPS_OTHERS_OF_VPC },
		{ n->amazonvpc, GUARD_ROUTES | GUARD_IFUPDOWN | GUARD_CLOUD_SETUP,
		  KOPS_ENI_GUARDS },
		{ n->cilium, GUARD_ROUTES, KOPS_CILIUM_ROUTES },
		{ eni, GUARD_ADDRESSES | GUARD_POLICY, KOPS_ENI_GUARDS },
		{ n->amazonvpc || n->cilium, GUARD_HOTPLUG, KOPS_HOTPLUG },
		{ n->amazonvpc || eni, GUARD_OTHERS_BY_NAME, KOPS_OTHERS_BY_NAME },
		{ n->amazonvpc || eni, GUARD_OTHERS, KOPS_OTHERS_BY_DRIVER },
		{ n->kuberouter, GUARD_TABLES, KOPS_ROUTING_TABLES },
	};
	unsigned int guards = 0;

	for (size_t i = 0; i < ARRAY_LEN(networks); i++)
		if (networks[i].is_used && kops_does(c, networks[i].when))
			guards |= networks[i].guards;
	return guards;
}

void build_kops_network(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	add_guards(p, kops_guards(p, guards_of(c)));
	if (!c->uses_kubenet)
		plan_dir(p, "/etc/cni/net.d", 0755);
	add_prefix(p);
	if (c->use_cilium_etcd)
		add_cilium_etcd(p);
	if (c->networking.cilium)
		add_cilium(p);
}

/* source: kops 1.37 nodeup/pkg/model/networking/calico.go */
const char *needs_kops_network(struct plan *p)
{
	const struct kops_networking *n = &kops_of(p)->config->networking;

	const bool wanted = !kops_is_ipv6_only(p) &&
			    (!n->calico_wireguard.set || n->calico_wireguard.v);

	if (!n->calico || (!wanted && kops_has(p, KOPS_WIREGUARD_CHOICE)))
		return NULL;
	return kops_release(p)->wireguard;
}
