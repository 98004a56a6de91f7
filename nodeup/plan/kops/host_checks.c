/* Tests: test_kops_checks.c. */
#include "nodeup/plan/kops/kops.h"

#include "nodeup/config/kops/changes.h"

/* Returns the version of containerd: the documents' version, or the version that the host has. */
static const char *containerd_version(const struct plan *p)
{
	const struct kops_containerd *c = &kops_of(p)->config->containerd;

	return c->skip_install || plan_distro(p)->has_containerd ? p->req->runtime.version
								 : c->version;
}

static bool is_containerd_before(const struct plan *p, int major, int minor)
{
	const char *text = containerd_version(p);
	struct version v;

	return text && version_parse(p->arena, text, &v) &&
	       (v.major < major || (v.major == major && v.minor < minor));
}

static bool has_cgroup_v1(const struct plan *p)
{
	return p->req->runtime.cgroup == 1 && node_k8s_at_least(p->req->node, 1, 35);
}

static bool has_containerd_without_cri_v1(const struct plan *p)
{
	return is_containerd_before(p, 1, 6) && node_k8s_at_least(p->req->node, 1, 26);
}

static bool has_containerd_1(const struct plan *p)
{
	return is_containerd_before(p, 2, 0) && node_k8s_at_least(p->req->node, 1, 36);
}

static bool has_config_too_new(const struct plan *p)
{
	const char *own = kops_of(p)->config->containerd.config_override;
	const int version = version_of_toml(p->arena, own ? own : "");

	return (version >= 4 && is_containerd_before(p, 2, 3)) ||
	       (version == 3 && is_containerd_before(p, 2, 0));
}

static bool lacks_ipvs(const struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	return p->req->runtime.lacks_ipvs && c->has_kube_proxy &&
	       str_eq(c->kube_proxy.proxy_mode, "ipvs");
}

/* Returns a flag that the documents set although the program of this Kubernetes no longer starts with it; NULL:
 * there is none. */
static const char *gone_of(const struct plan *p, const struct schema *s, const void *spec)
{
	const int minor = p->req->node->kubernetes.minor;
	struct strv flags = { 0 };

	field_flags(p->arena, s, spec, &flags);
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];

		if (f->flag && f->until && f->until < minor && plan_has_flag(&flags, f->flag))
			return arena_printf(
				p->arena,
				"%s gives --%s, which Kubernetes 1.%d was the last to have", f->key,
				f->flag, f->until);
	}
	return NULL;
}

static const char *gone_of_kubelet(const struct plan *p)
{
	return gone_of(p, kops_kubelet_schema_of(kops_of(p)->config), &kops_of(p)->config->kubelet);
}

static const char *gone_of_apiserver(const struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	return c->has_apiserver
		       ? gone_of(p, &kops_kube_apiserver_schema, &c->apiserver.kube_apiserver)
		       : NULL;
}

static const char *gone_of_kcm(const struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	return c->has_control_plane ? gone_of(p, &kops_kcm_schema, &c->kcm) : NULL;
}

/* clang-format off */
const struct host_check kops_host_checks[] = {
	{ has_cgroup_v1, "this host has cgroup v1, which kubelet refuses from Kubernetes 1.35 on",
	  "cgroup v2: boot with systemd.unified_cgroup_hierarchy=1, or Kubernetes 1.34" },
	{ has_containerd_without_cri_v1, "this containerd has no CRI v1, the only one that kubelet speaks from 1.26 on",
	  "containerd 2.1 or later", .got = containerd_version },
	{ has_containerd_1, "Kubernetes 1.35 is the last that works with containerd 1",
	  "containerd 2.2 or later", .got = containerd_version },
	{ has_config_too_new, "this containerd refuses a configOverride of so new a version",
	  "version 2 to 1.7, 3 from containerd 2.0, 4 from 2.3", .got = containerd_version },
	{ lacks_ipvs, "kube-proxy is to use ipvs, and this kernel does not have the module ip_vs",
	  "proxyMode iptables or nftables, or a kernel that has it" },
	{ NULL, "kubelet of this Kubernetes does not know a flag that the documents ask for",
	  "NodeupConfig without the key in KubeletConfig", .got = gone_of_kubelet },
	{ NULL, "kube-apiserver of this Kubernetes does not know a flag that the documents ask for",
	  "NodeupConfig without the key in KubeAPIServer", .got = gone_of_apiserver },
	{ NULL, "kube-controller-manager of this Kubernetes does not know a flag that the documents ask for",
	  "NodeupConfig without the key in KubeControllerManager", .got = gone_of_kcm },
	{ NULL, NULL, NULL },
};
/* clang-format on */
