#include "nodeup/config/kops18/spec.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "manifests/pod.h"

/* A missing section gets the values that kops' own builders write into a full cluster spec.
 * source: kops 1.8.1 pkg/model/components/{kubelet,kubeproxy,docker,apiserver,kubescheduler,
 * kubecontrollermanager}.go */

static const struct opt_bool yes = { true, true }, no = { true, false };

static bool is_at_least(const struct kops18_build *b, int minor)
{
	return node_k8s_at_least(b->in->node, 1, minor);
}

/* In a registry of the user's own, kops' copies have flat names. */
const char *kops18_image(struct kops18_build *b, const char *name, const char *tag)
{
	const char *registry = b->cluster.container_registry;

	return arena_printf(b->in->arena, "%s/%s:%s",
			    str_is_empty(registry) ? "gcr.io/google_containers" : registry, name,
			    tag);
}

static const char *component_image(struct kops18_build *b, const char *component)
{
	const struct version *v = &b->in->node->kubernetes;

	return kops18_image(b, component,
			    arena_printf(b->in->arena, "v%d.%d.%d%s", v->major, v->minor, v->patch,
					 v->suffix ? v->suffix : ""));
}

/* Returns the --cloud-provider of a component: "external" if a daemon set does the cloud's work. */
static const char *cloud_of(const struct kops18_build *b)
{
	return b->cluster.cloud_controller_manager ? "external" : b->in->node->cloud_provider;
}

static struct strv split_list(struct arena *a, const char *items)
{
	return strv_split(a, items, ',');
}

/* Returns the tenth address of the service range; NULL if it is not an IPv4 range. */
static const char *cluster_dns(struct kops18_build *b)
{
	const char *range = b->in->node->service_cluster_ip_range;
	const char *net = arena_strn(b->in->arena, range, strcspn(range, "/"));
	struct in_addr addr;
	char text[INET_ADDRSTRLEN];

	if (inet_pton(AF_INET, net, &addr) != 1)
		return NULL;
	addr.s_addr = htonl(ntohl(addr.s_addr) + 10);
	return arena_str(b->in->arena, inet_ntop(AF_INET, &addr, text, sizeof(text)));
}

/* kops gives pods the upper half of the non-masquerade range: 100.64.0.0/10 -> 100.96.0.0/11. */
static const char *cluster_cidr(struct kops18_build *b)
{
	const char *range = b->in->node->non_masquerade_cidr;
	const char *slash = strchr(range, '/');
	const long bits = slash ? strtol(slash + 1, NULL, 10) : 0;
	struct in_addr addr;
	char text[INET_ADDRSTRLEN];

	if (!slash || bits < 1 || bits > 30 ||
	    inet_pton(AF_INET, arena_strn(b->in->arena, range, (size_t)(slash - range)), &addr) !=
		    1)
		return NULL;
	addr.s_addr = htonl(ntohl(addr.s_addr) | 1U << (31 - bits));
	return arena_printf(b->in->arena, "%s/%ld", inet_ntop(AF_INET, &addr, text, sizeof(text)),
			    bits + 1);
}

static void default_docker(struct kops18_build *b)
{
	b->cluster.docker = (struct docker_spec){
		.bridge = "",
		.ip_masq = no,
		.ip_tables = no,
		.log_driver = "json-file",
		.log_level = "warn",
		.log_opt = split_list(b->in->arena, "max-size=10m,max-file=5"),
		.storage = "overlay,aufs",
		.version = is_at_least(b, 8) ? "1.13.1" : "1.12.6",
	};
}

/* The plugin that kubelet uses for that network; two networks are built on kubenet. */
static const char *network_plugin(const char *networking)
{
	static const char *const on_kubenet[] = { "kubenet", "external", "kopeio", NULL };

	if (str_is_one_of(networking, on_kubenet))
		return "kubenet";
	return strcmp(networking, "classic") == 0 ? NULL : "cni";
}

static void default_kubelet(struct kops18_build *b)
{
	struct kubelet_spec *k = &b->cluster.kubelet;
	const struct node *n = b->in->node;
	const char *plugin = network_plugin(n->networking);
	const bool aws = strcmp(n->cloud_provider, "aws") == 0;

	*k = (struct kubelet_spec){
		.kubeconfig_path = "/var/lib/kubelet/kubeconfig",
		.log_level = { true, 2 },
		.pod_manifest_path = POD_MANIFESTS,
		.hostname_override = aws ? "@aws" : NULL,
		.pod_infra_container_image = kops18_image(b, "pause-amd64", "3.0"),
		.allow_privileged = yes,
		.enable_debugging_handlers = yes,
		.cluster_domain = n->cluster_dns_domain,
		.cluster_dns = cluster_dns(b),
		.network_plugin_name = plugin,
		.cloud_provider = cloud_of(b),
		.cgroup_root = "/",
		.non_masquerade_cidr = n->non_masquerade_cidr,
		.eviction_hard = "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,"
				 "imagefs.available<10%,imagefs.inodesFree<5%",
	};
	strmap_set(b->in->arena, &k->feature_gates, "ExperimentalCriticalPodAnnotation", "true");
	if (str_eq(plugin, "kubenet"))
		k->network_plugin_mtu = (struct opt_int){ true, 9001 };
	if (!is_at_least(b, 7))
		k->babysit_daemons = yes;
	if (!is_at_least(b, 9))
		k->require_kubeconfig = yes;
}

static void default_master_kubelet(struct kops18_build *b)
{
	struct kubelet_spec *k = &b->cluster.master_kubelet;

	*k = b->cluster.kubelet;
	if (!b->own->isolate_masters)
		return;
	k->enable_debugging_handlers = no;
	k->hairpin_mode = "none";
}

static void default_proxy(struct kops18_build *b)
{
	const char *cidr = b->cluster.kube_controller_manager.cluster_cidr;

	b->cluster.kube_proxy = (struct kube_proxy_spec){
		.image = component_image(b, "kube-proxy"),
		.cpu_request = "100m",
		.log_level = 2,
		.cluster_cidr = cidr ? cidr : cluster_cidr(b),
		.hostname_override = strcmp(b->in->node->cloud_provider, "aws") == 0 ? "@aws"
										     : NULL,
	};
}

static struct strv admission_plugins(struct kops18_build *b)
{
	const char *plugins = "Initializers,NamespaceLifecycle,LimitRanger,ServiceAccount,"
			      "PersistentVolumeLabel,DefaultStorageClass,DefaultTolerationSeconds,"
			      "NodeRestriction,Priority,ResourceQuota";

	if (!is_at_least(b, 7))
		plugins = "NamespaceLifecycle,LimitRanger,ServiceAccount,PersistentVolumeLabel,"
			  "DefaultStorageClass,DefaultTolerationSeconds,ResourceQuota";
	else if (!is_at_least(b, 8))
		plugins = "Initializers,NamespaceLifecycle,LimitRanger,ServiceAccount,"
			  "PersistentVolumeLabel,DefaultStorageClass,DefaultTolerationSeconds,"
			  "NodeRestriction,ResourceQuota";
	return split_list(b->in->arena, plugins);
}

/* Each master has one member of each etcd cluster. */
static int64_t count_masters(const struct kops18_build *b)
{
	const struct kops18_etcds *c = &b->own->etcd_clusters;

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].name, "main") == 0)
			return (int64_t)c->v[i].members.n;
	return (int64_t)c->v[0].members.n;
}

static void default_apiserver(struct kops18_build *b)
{
	const char *etcd = b->own->etcd_clusters.v[0].version;
	struct kube_apiserver_spec *s = &b->cluster.kube_apiserver;

	*s = (struct kube_apiserver_spec){
		.image = component_image(b, "kube-apiserver"),
		.log_level = 2,
		.cloud_provider = cloud_of(b),
		.secure_port = 443,
		.insecure_port = 8080,
		.address = "127.0.0.1",
		.admission_control = admission_plugins(b),
		.service_cluster_ip_range = b->in->node->service_cluster_ip_range,
		.etcd_servers = split_list(b->in->arena, "http://127.0.0.1:4001"),
		.etcd_servers_overrides = split_list(b->in->arena, "/events#http://127.0.0.1:4002"),
		.allow_privileged = yes,
		.api_server_count = { true, count_masters(b) },
		.anonymous_auth = no,
		.kubelet_preferred_address_types = split_list(
			b->in->arena, is_at_least(b, 7)
					      ? "InternalIP,Hostname,ExternalIP"
					      : "InternalIP,Hostname,ExternalIP,LegacyHostIP"),
		.storage_backend = *etcd == '3' ? "etcd3" : "etcd2",
		.authorization_mode = b->cluster.rbac ? "RBAC" : "AlwaysAllow",
	};
	if (b->own->kopeio_authentication)
		s->authentication_token_webhook_config_file = "/etc/kubernetes/authn.config";
	if (!is_at_least(b, 7))
		return;
	s->requestheader_allowed_names = split_list(b->in->arena, "aggregator");
	s->requestheader_extra_header_prefixes = split_list(b->in->arena, "X-Remote-Extra-");
	s->requestheader_group_headers = split_list(b->in->arena, "X-Remote-Group");
	s->requestheader_username_headers = split_list(b->in->arena, "X-Remote-User");
}

/* With these two networks, only the cloud's routes lead from node to node. */
static bool has_cloud_routes(const struct node *n)
{
	return strcmp(n->networking, "kubenet") == 0 || strcmp(n->networking, "classic") == 0;
}

static void default_controller_manager(struct kops18_build *b)
{
	b->cluster.kube_controller_manager = (struct kube_controller_manager_spec){
		.log_level = 2,
		.image = component_image(b, "kube-controller-manager"),
		.cloud_provider = cloud_of(b),
		.cluster_name = b->in->node->cluster_name,
		.cluster_cidr = cluster_cidr(b),
		.allocate_node_cidrs = yes,
		.configure_cloud_routes = has_cloud_routes(b->in->node) ? yes : no,
		.leader_election.leader_elect = yes,
		.attach_detach_reconcile_sync_period = { true, INT64_C(60000000000) },
		.use_service_account_credentials = yes,
	};
}

static void default_scheduler(struct kops18_build *b)
{
	b->cluster.kube_scheduler = (struct kube_scheduler_spec){
		.log_level = 2,
		.image = component_image(b, "kube-scheduler"),
		.leader_election.leader_elect = yes,
	};
}

/* Sections that exist may still lack their image, which follows from the version. */
static void default_images(struct kops18_build *b)
{
	struct kops18_cluster *c = &b->cluster;
	const struct {
		const char **image;
		const char *component;
	} rows[] = {
		{ &c->kube_proxy.image, "kube-proxy" },
		{ &c->kube_apiserver.image, "kube-apiserver" },
		{ &c->kube_controller_manager.image, "kube-controller-manager" },
		{ &c->kube_scheduler.image, "kube-scheduler" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_is_empty(*rows[i].image))
			*rows[i].image = component_image(b, rows[i].component);
	if (str_is_empty(c->kube_proxy.cpu_request))
		c->kube_proxy.cpu_request = "100m";
}

void kops18_default_sections(struct kops18_build *b)
{
	struct kops18_cluster *c = &b->cluster;

	if (!c->has_docker)
		default_docker(b);
	/* kops' CLI writes a value into each spec; if a spec has none, nodeup decides */
	if (str_is_empty(c->docker.version))
		c->docker.version = "1.12.3";
	if (!c->has_kubelet)
		default_kubelet(b);
	if (!c->has_master_kubelet)
		default_master_kubelet(b);
	if (!c->has_kube_controller_manager)
		default_controller_manager(b);
	if (!c->has_kube_proxy)
		default_proxy(b);
	if (!c->has_kube_apiserver)
		default_apiserver(b);
	if (!c->has_kube_scheduler)
		default_scheduler(b);
	default_images(b);
}
