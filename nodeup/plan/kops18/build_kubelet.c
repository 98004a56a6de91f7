/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

#include "nodeup/plan/assets.h"
#include "nodeup/plan/reserved.h"

static const char sysconfig[] = "/etc/sysconfig/kubelet";
static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";

static const char containerd_flag[] =
	"--container-runtime-endpoint=unix:///run/containerd/containerd.sock";

/* Appends the flags that kops puts after the sorted flags, in kops' order. */
static void add_late_flags(struct plan *p, struct strv *flags)
{
	const struct node *n = p->req->node;
	const char *cni_dir = plan_distro(p)->cni_dir;
	const char *bin = arena_printf(p->arena, "--cni-bin-dir=%s/", cni_dir);

	if (plan_uses_containerd(p)) {
		strv_add(p->arena, flags, "--container-runtime=remote");
		strv_add(p->arena, flags, containerd_flag);
	}
	if (kops18_of(p)->has_cloud_config)
		strv_add(p->arena, flags, "--cloud-config=/etc/kubernetes/cloud.config");
	if (!str_eq(n->networking, "classic")) {
		strv_add(p->arena, flags, bin);
		strv_add(p->arena, flags, "--cni-conf-dir=/etc/cni/net.d/");
	}
	if (str_eq(n->networking, "kubenet") && node_k8s_at_least(n, 1, 9))
		strv_add(p->arena, flags, bin);
	else if (str_eq(n->networking, "kubenet"))
		strv_addf(p->arena, flags, "--network-plugin-dir=%s/", cni_dir);
	if (plan_mounter_flag(p))
		strv_add(p->arena, flags, plan_mounter_flag(p));
}

static const char *environment(struct plan *p)
{
	struct kubelet_spec s = kops18_of(p)->kubelet;
	struct strv flags = { 0 };

	if (!s.resolv_conf)
		s.resolv_conf = plan_resolv_conf(p);
	plan_reserve(p, &s.kube_reserved, s.system_reserved.n > 0, s.max_pods);
	field_flags(p->arena, &kubelet_schema, &s, &flags);
	kops18_warn_flags(p, "kubelet", &kubelet_schema, &flags);
	add_late_flags(p, &flags);
	/* with HOME kubelet finds /root/.docker/config.json */
	return arena_printf(p->arena, "%s%s",
			    unit_env_line(p->arena, "DAEMON_ARGS",
					  strv_join(p->arena, &flags, " ")),
			    unit_env_line(p->arena, "HOME", "/root"));
}

/* Has no [Install] section: at boot our unit starts kubelet when everything that it needs is right. */
static const char *unit_text(const struct plan *p, const char *binary)
{
	const char *path_env = plan_distro(p)->path_env;
	return arena_printf(p->arena,
			    "[Unit]\n"
			    "Description=Kubernetes Kubelet Server\n"
			    "Documentation=https://github.com/kubernetes/kubernetes\n"
			    "After=%s\n"
			    "\n"
			    "[Service]\n"
			    "%s"
			    "EnvironmentFile=%s\n"
			    "ExecStart=%s \"$DAEMON_ARGS\"\n"
			    "Restart=always\n"
			    "RestartSec=2s\n"
			    "StartLimitInterval=0\n"
			    "KillMode=process\n"
			    "User=root\n",
			    plan_uses_containerd(p) ? "containerd.service" : "docker.service",
			    path_env ? arena_printf(p->arena, "Environment=%s\n", path_env) : "",
			    sysconfig, binary);
}

/* Installs socat: kubectl port-forward needs it on the node, and these distributions have no package of it. */
static void add_socat(struct plan *p)
{
	const struct distro *d = plan_distro(p);

	if (d->path_env)
		plan_install_member(p, "socat", arena_printf(p->arena, "%s/socat", d->kubelet_dir),
				    0755);
}

void build_kubelet(struct plan *p)
{
	const char *binary = arena_printf(p->arena, "%s/kubelet", plan_distro(p)->kubelet_dir);
	const char *const inputs[] = { binary, sysconfig, kubeconfig };
	struct task *t;

	plan_install(p, "kubelet", binary);
	kops18_kubeconfig(p, kubeconfig, "kubelet");
	add_socat(p);
	plan_file(p, sysconfig, 0644, environment(p));
	t = plan_service(p, "kubelet.service", unit_text(p, binary), false);
	t->unit.must_answer = true;
	strv_add_array(p->arena, &t->unit.inputs, inputs);
	plan_checkpoints(p, t, NULL, NULL);
}
