/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

#include <string.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/release.h"

static const char authn_config[] = "/etc/kubernetes/authn.config";
static const char cloud_config[] = "/etc/kubernetes/cloud.config";

/* Sets the API server's files for aggregation, according to the keys that this node has. */
static void set_aggregation(const struct plan *p, struct kube_apiserver_spec *s)
{
	const struct node *n = p->req->node;

	if (!node_k8s_at_least(n, 1, 7))
		return;
	if (node_keypair(n, "apiserver-proxy-client")) {
		s->proxy_client_cert_file = kops18_in_srv(p, "proxy-client.cert");
		s->proxy_client_key_file = kops18_in_srv(p, "proxy-client.key");
	}
	/* this key pair has a CA of its own, so it is preferred to apiserver-proxy-client */
	if (node_keypair(n, "apiserver-aggregator")) {
		s->proxy_client_cert_file = kops18_in_srv(p, "apiserver-aggregator.cert");
		s->proxy_client_key_file = kops18_in_srv(p, "apiserver-aggregator.key");
	}
	if (node_keypair(n, "apiserver-aggregator-ca"))
		s->requestheader_client_ca_file = kops18_in_srv(p, "apiserver-aggregator-ca.cert");
}

static void set_etcd_tls(const struct plan *p, struct kube_apiserver_spec *s)
{
	if (!kops18_of(p)->etcd_tls)
		return;
	s->etcd_ca_file = kops18_in_srv(p, "ca.crt");
	s->etcd_cert_file = kops18_in_srv(p, "etcd-client.pem");
	s->etcd_key_file = kops18_in_srv(p, "etcd-client-key.pem");
	s->etcd_servers = strv_split(p->arena, "https://127.0.0.1:4001", ',');
	s->etcd_servers_overrides = strv_split(p->arena, "/events#https://127.0.0.1:4002", ',');
}

/* Returns the API server's settings: the documents' and this node's. */
static struct kube_apiserver_spec apiserver_settings(const struct plan *p)
{
	struct kube_apiserver_spec s = kops18_of(p)->kube_apiserver;

	s.basic_auth_file = kops18_in_srv(p, "basic_auth.csv");
	s.client_ca_file = kops18_in_srv(p, "ca.crt");
	s.tls_cert_file = kops18_in_srv(p, "server.cert");
	s.tls_private_key_file = kops18_in_srv(p, "server.key");
	s.token_auth_file = kops18_in_srv(p, "known_tokens.csv");
	set_aggregation(p, &s);
	set_etcd_tls(p, &s);
	if (kops18_of(p)->secure_kubelet) {
		s.kubelet_client_certificate = kops18_in_srv(p, "kubelet-api.pem");
		s.kubelet_client_key = kops18_in_srv(p, "kubelet-api-key.pem");
	}
	if (kops18_encryption_config(p))
		s.experimental_encryption_provider_config =
			kops18_in_srv(p, "encryptionconfig.yaml");
	return s;
}

static void mount_cloud_config(const struct plan *p, struct pod *pod)
{
	if (kops18_of(p)->has_cloud_config)
		pod_host_path(p->arena, pod, "cloudconfig", cloud_config, NULL, true);
}

/* Declares the plain port whatever its number, as kops does. */
static void add_ports(const struct plan *p, const struct kube_apiserver_spec *s,
		      struct pod_container *c)
{
	c->liveness =
		plan_probe("/healthz", NULL, s->insecure_port ? s->insecure_port : s->secure_port);
	if (!s->insecure_port && s->secure_port)
		c->liveness.scheme = "HTTPS";
	if (!c->liveness.port)
		c->liveness.port = 8080;
	arena_push(p->arena, c->ports, c->n_ports, (struct pod_port){ "https", s->secure_port });
	arena_push(p->arena, c->ports, c->n_ports, (struct pod_port){ "local", 8080 });
}

static void name_in_dns(const struct plan *p, struct pod *pod)
{
	const struct node *n = p->req->node;

	strmap_set(p->arena, &pod->annotations, "dns.alpha.kubernetes.io/internal",
		   n->master_internal_name);
	if (kops18_of(p)->api_dns)
		strmap_set(p->arena, &pod->annotations, "dns.alpha.kubernetes.io/external",
			   kops18_of(p)->master_public_name);
}

/* The API server's kubeconfig for the webhook on this host; it holds no secret. */
static void add_authentication(struct plan *p)
{
	static const char text[] = "apiVersion: v1\n"
				   "clusters:\n"
				   "- cluster:\n"
				   "    server: http://127.0.0.1:9001/hooks/authn\n"
				   "  name: webhook\n"
				   "contexts:\n"
				   "- context:\n"
				   "    cluster: webhook\n"
				   "    user: kube-apiserver\n"
				   "  name: webhook\n"
				   "current-context: webhook\n"
				   "kind: Config\n"
				   "users:\n"
				   "- name: kube-apiserver\n"
				   "  user: {}\n";

	plan_file(p, authn_config, 0644, text);
}

static void add_apiserver(struct plan *p)
{
	static const char log[] = "/var/log/kube-apiserver.log";
	const struct kube_apiserver_spec s = apiserver_settings(p);
	struct pod *pod = kops18_pod(p, "kube-apiserver", s.image);
	struct pod_container *c = &pod->container;
	struct strv args = { 0 };

	if (kops18_of(p)->has_cloud_config)
		strv_addf(p->arena, &args, "--cloud-config=%s", cloud_config);
	field_flags(p->arena, &kube_apiserver_schema, &s, &args);
	kops18_warn_flags(p, "kube-apiserver", &kube_apiserver_schema, &args);
	name_in_dns(p, pod);
	plan_proxy_env(p, &p->req->node->proxy, pod);
	c->cpu_request = "150m";
	add_ports(p, &s, c);
	pod_shell_command(p->arena, pod, "/usr/local/bin/kube-apiserver", &args, "/bin/tee", log);
	plan_mount_ssl(p, pod);
	pod_host_path(p->arena, pod, "logfile", log, NULL, false);
	mount_cloud_config(p, pod);
	pod_host_path(p->arena, pod, "srvkube", plan_distro(p)->srv, NULL, true);
	pod_host_path(p->arena, pod, "srvsshproxy", plan_distro(p)->sshproxy, NULL, true);
	plan_mount_folder_of(p, pod, "auditlogpathdir", s.audit_log_path, false);
	if (kops18_of(p)->kopeio_authentication) {
		pod_host_path(p->arena, pod, "authn-config", authn_config, NULL, true);
		add_authentication(p);
	}
	plan_pod_files(p, pod, &kube_apiserver_schema, &s);
	plan_static_pod(p, pod);
}

static struct strv controller_manager_flags(const struct plan *p,
					    const struct kube_controller_manager_spec *s)
{
	const struct node *n = p->req->node;
	struct strv out = { 0 };

	if (kops18_of(p)->has_cloud_config)
		strv_addf(p->arena, &out, "--cloud-config=%s", cloud_config);
	strv_add(p->arena, &out, "--kubeconfig=/var/lib/kube-controller-manager/kubeconfig");
	if (node_k8s_at_least(n, 1, 6)) {
		strv_addf(p->arena, &out, "--cluster-signing-cert-file=%s",
			  kops18_in_srv(p, "ca.crt"));
		strv_addf(p->arena, &out, "--cluster-signing-key-file=%s",
			  kops18_in_srv(p, "ca.key"));
	}
	field_flags(p->arena, &kube_controller_manager_schema, s, &out);
	return out;
}

static void add_controller_manager(struct plan *p)
{
	static const char name[] = "kube-controller-manager";
	static const char log[] = "/var/log/kube-controller-manager.log";
	static const char lib[] = "/var/lib/kube-controller-manager";
	struct kube_controller_manager_spec s = kops18_of(p)->kube_controller_manager;
	struct pod *pod = kops18_pod(p, name, s.image);
	struct strv args;

	s.root_ca_file = kops18_in_srv(p, "ca.crt");
	s.service_account_private_key_file = kops18_in_srv(p, "server.key");
	args = controller_manager_flags(p, &s);
	kops18_warn_flags(p, name, &kube_controller_manager_schema, &args);
	plan_proxy_env(p, &p->req->node->proxy, pod);
	pod->container.liveness = plan_probe("/healthz", NULL, 10252);
	pod_shell_command(p->arena, pod, "/usr/local/bin/kube-controller-manager", &args,
			  "/bin/tee", log);
	plan_mount_ssl(p, pod);
	mount_cloud_config(p, pod);
	pod_host_path(p->arena, pod, "srvkube", plan_distro(p)->srv, NULL, true);
	pod_host_path(p->arena, pod, "logfile", log, NULL, false);
	pod_host_path(p->arena, pod, "varlibkcm", lib, NULL, true);
	plan_pod_files(p, pod, &kube_controller_manager_schema, &s);
	kops18_kubeconfig(p, "/var/lib/kube-controller-manager/kubeconfig", name);
	plan_static_pod(p, pod);
}

static void add_scheduler(struct plan *p)
{
	static const char log[] = "/var/log/kube-scheduler.log";
	static const char lib[] = "/var/lib/kube-scheduler";
	const struct kube_scheduler_spec *s = &kops18_of(p)->kube_scheduler;
	struct pod *pod = kops18_pod(p, "kube-scheduler", s->image);
	struct strv args = { 0 };

	strv_add(p->arena, &args, "--kubeconfig=/var/lib/kube-scheduler/kubeconfig");
	if (s->use_policy_config_map.set && s->use_policy_config_map.v)
		strv_add(p->arena, &args, "--policy-configmap=scheduler-policy");
	field_flags(p->arena, &kube_scheduler_schema, s, &args);
	plan_proxy_env(p, &p->req->node->proxy, pod);
	pod->container.liveness = plan_probe("/healthz", NULL, 10251);
	pod_shell_command(p->arena, pod, "/usr/local/bin/kube-scheduler", &args, "/bin/tee", log);
	pod_host_path(p->arena, pod, "varlibkubescheduler", lib, NULL, true);
	pod_host_path(p->arena, pod, "logfile", log, NULL, false);
	kops18_kubeconfig(p, "/var/lib/kube-scheduler/kubeconfig", "kube-scheduler");
	plan_static_pod(p, pod);
}

/* Debian's images have a user admin, who gets a kubeconfig. */
static void add_admin_kubeconfig(struct plan *p)
{
	static const char folder[] = "/home/admin/.kube", file[] = "/home/admin/.kube/config";

	if (!plan_release(p)->old.name || !plan_distro(p)->has_admin)
		return;
	plan_dir(p, folder, 0700)->dir.owner = "admin";
	kops18_kubeconfig(p, file, "kubecfg")->file.owner = "admin";
}

static void add_kubectl(struct plan *p)
{
	const char *path = arena_printf(p->arena, "%s/kubectl", plan_distro(p)->kubectl_dir);

	plan_install(p, "kubectl", path);
	kops18_kubeconfig(p, "/var/lib/kubectl/kubeconfig", "kubecfg");
	add_admin_kubeconfig(p);
}

void build_control_plane(struct plan *p)
{
	add_apiserver(p);
	add_controller_manager(p);
	add_scheduler(p);
	add_kubectl(p);
}
