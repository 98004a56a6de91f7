#include "nodeup/config/kubeup/states.h"

#include <ctype.h>
#include <string.h>

static const char docker_root_path[] = "/mnt/ephemeral/docker";

/* Sets the pillars that always exist. If the document lacks a value, its pillar is empty. since and until are the
 * first and last minor version; until 0: no last version. source: cluster/gce/configure-vm.sh create-salt-pillar */
static void add_always(struct arena *a, struct tree *pillar, const struct kubeup_env *v)
{
	const struct {
		const char *key, *value;
		int since, until;
	} all[] = {
		{ "instance_prefix", v->instance_prefix, 2, 0 },
		{ "node_tags", v->node_tags, 3, 0 },
		{ "node_instance_prefix", v->node_instance_prefix, 2, 0 },
		{ "cluster_cidr", v->cluster_ip_range, 2, 0 },
		{ "allocate_node_cidrs", v->allocate_node_cidrs, 2, 0 },
		{ "non_masquerade_cidr", v->non_masquerade_cidr, 2, 0 },
		{ "service_cluster_ip_range", v->service_cluster_ip_range, 2, 0 },
		{ "enable_cluster_monitoring", v->enable_cluster_monitoring, 2, 0 },
		{ "enable_cluster_logging", v->enable_cluster_logging, 2, 0 },
		{ "enable_cluster_ui", v->enable_cluster_ui, 2, 0 },
		{ "enable_node_problem_detector", v->enable_node_problem_detector, 3, 0 },
		{ "enable_l7_loadbalancing", v->enable_l7_loadbalancing, 2, 0 },
		{ "enable_node_logging", v->enable_node_logging, 2, 0 },
		{ "enable_rescheduler", v->enable_rescheduler, 4, 0 },
		{ "logging_destination", v->logging_destination, 2, 0 },
		{ "elasticsearch_replicas", v->elasticsearch_logging_replicas, 2, 0 },
		{ "enable_cluster_dns", v->enable_cluster_dns, 2, 0 },
		{ "enable_cluster_registry", v->enable_cluster_registry, 2, 0 },
		{ "dns_replicas", v->dns_replicas, 2, 4 },
		{ "dns_server", v->dns_server_ip, 2, 0 },
		{ "dns_domain", v->dns_domain, 2, 0 },
		{ "enable_dns_horizontal_autoscaler", v->enable_dns_horizontal_autoscaler, 5, 0 },
		{ "admission_control", v->admission_control, 2, 0 },
		{ "storage_backend", v->storage_backend, 4, 4 },
		{ "network_provider", v->network_provider, 2, 0 },
		{ "prepull_e2e_images", v->prepull_e2e_images, 3, 0 },
		{ "hairpin_mode", v->hairpin_mode, 2, 0 },
		{ "softlockup_panic", v->softlockup_panic, 5, 0 },
		{ "opencontrail_tag", v->opencontrail_tag, 2, 0 },
		{ "opencontrail_kubernetes_tag", v->opencontrail_kubernetes_tag, 2, 0 },
		{ "opencontrail_public_subnet", v->opencontrail_public_subnet, 2, 0 },
		{ "network_policy_provider", v->network_policy_provider, 4, 0 },
		{ "enable_manifest_url", v->enable_manifest_url, 2, 0 },
		{ "manifest_url", v->manifest_url, 2, 0 },
		{ "manifest_url_header", v->manifest_url_header, 2, 0 },
		{ "e2e_storage_test_environment", v->e2e_storage_test_environment, 2, 0 },
		{ "kube_uid", v->kube_uid, 3, 0 },
		{ "initial_etcd_cluster", v->initial_etcd_cluster, 4, 0 },
		{ "initial_etcd_cluster_state", v->initial_etcd_cluster_state, 5, 0 },
	};
	const int minor = v->kubernetes.minor;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (minor >= all[i].since && (!all[i].until || minor <= all[i].until))
			tree_set_text(a, pillar, all[i].key, all[i].value ? all[i].value : "");
}

/* Sets the pillars that exist only if the document has a value. In 1.5.0 and 1.5.1 the pillar etcd_quorum_read
 * always exists; if it is empty, the API server stops at --etcd_quorum_read=. So here the pillar is set as kube-up
 * sets it from 1.5.2 on. */
static void add_set(struct arena *a, struct tree *pillar, const struct kubeup_env *v)
{
	const struct {
		const char *key, *value;
		int since;
	} all[] = {
		{ "storage_backend", v->storage_backend, 5 },
		{ "kubelet_port", v->kubelet_port, 2 },
		{ "etcd_docker_tag", v->kubernetes.minor == 4 ? v->test_etcd_version : NULL, 4 },
		{ "etcd_docker_tag", v->etcd_image, 4 },
		{ "etcd_version", v->etcd_version, 4 },
		{ "etcd_quorum_read", v->etcd_quorum_read, 5 },
		{ "apiserver_test_args", v->apiserver_test_args, 2 },
		{ "kubelet_test_args", v->kubelet_test_args, 2 },
		{ "kubelet_test_log_level", v->kubelet_test_log_level, 2 },
		{ "docker_test_log_level", v->docker_test_log_level, 2 },
		{ "controller_manager_test_args", v->controller_manager_test_args, 2 },
		{ "controller_manager_test_log_level", v->controller_manager_test_log_level, 2 },
		{ "scheduler_test_args", v->scheduler_test_args, 2 },
		{ "scheduler_test_log_level", v->scheduler_test_log_level, 2 },
		{ "kubeproxy_test_args", v->kubeproxy_test_args, 2 },
		{ "kubeproxy_test_log_level", v->kubeproxy_test_log_level, 2 },
		{ "terminated_pod_gc_threshold", v->terminated_pod_gc_threshold, 2 },
		{ "enable_custom_metrics", v->enable_custom_metrics, 2 },
		{ "node_labels", v->node_labels, 2 },
		{ "eviction_hard", v->eviction_hard, 3 },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!str_is_empty(all[i].value) && v->kubernetes.minor >= all[i].since)
			tree_set_text(a, pillar, all[i].key, all[i].value);
}

/* Turns "200GB" and "200GiB" into 200Gi. source: cluster/gce/configure-vm.sh convert-bytes-gce-kube */
static const char *size_of(struct arena *a, const char *size)
{
	const size_t digits = strspn(size, "0123456789");
	size_t n = strlen(size);

	if (digits > 0 && n > digits && size[n - 1] == 'B') {
		n--;
		if (n > digits && size[n - 1] == 'i')
			n--;
	}
	return arena_printf(a, "%.*s%s", (int)n, size,
			    n > 0 && isupper((unsigned char)size[n - 1]) ? "i" : "");
}

/* Sets the disk of the registry; its values are written without quotes. */
static void add_registry(struct arena *a, struct tree *pillar, const struct kubeup_env *v)
{
	if (!str_eq(v->enable_cluster_registry, "true") || str_is_empty(v->cluster_registry_disk) ||
	    str_is_empty(v->cluster_registry_disk_size))
		return;
	tree_set_text(a, pillar, "cluster_registry_disk_type", "gce");
	tree_set_text(a, pillar, "cluster_registry_disk_size",
		      size_of(a, v->cluster_registry_disk_size));
	tree_set_text(a, pillar, "cluster_registry_disk_name", v->cluster_registry_disk);
}

static void add_federation(struct arena *a, struct tree *pillar, const struct kubeup_env *v)
{
	const char *map = v->federations_domain_map;

	if (v->kubernetes.minor < 3)
		return;
	if (str_is_empty(map) && !str_is_empty(v->federation_name) &&
	    !str_is_empty(v->dns_zone_name))
		map = arena_printf(a, "%s=%s", v->federation_name, v->dns_zone_name);
	map = str_eq(v->federation, "true") && !str_is_empty(map)
		      ? arena_printf(a, "- --federations=%s", map)
		      : "";
	tree_set_text(a, pillar, "federations_domain_map", map);
}

static bool has_etcd_tls(const struct kubeup_env *v)
{
	return !str_is_empty(v->etcd_ca_key) && !str_is_empty(v->etcd_ca_cert) &&
	       !str_is_empty(v->etcd_peer_key) && !str_is_empty(v->etcd_peer_cert);
}

/* No other program makes such a tag, so an image that has it comes from this archive. */
const char *kubeup_tag(struct arena *a, const struct kubeup_env *env)
{
	enum { SHOWN = 12 };
	char *tag;

	if (!str_is_empty(env->kube_image_tag))
		return env->kube_image_tag;
	tag = arena_strn(a, env->server_binary_tar_hash,
			 strnlen(env->server_binary_tar_hash, SHOWN));
	for (char *p = tag; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return tag;
}

static struct tree *make_pillar(struct arena *a, const struct kubeup_env *v,
				const struct kubeup_host *host)
{
	static const char *const images[] = { "kube-apiserver", "kube-controller-manager",
					      "kube-scheduler", "kube-proxy" };
	struct tree *pillar = tree_map(a);
	const char *first = arena_strn(a, host->name, strcspn(host->name, "."));

	add_always(a, pillar, v);
	add_set(a, pillar, v);
	add_registry(a, pillar, v);
	add_federation(a, pillar, v);
	/* the only pillar that is written as a number */
	(void)tree_set(a, pillar, "num_nodes",
		       str_is_empty(v->num_nodes) ? tree_null(a) : tree_plain(a, v->num_nodes));
	if (v->kubernetes.minor >= 4)
		tree_set_text(a, pillar, "hostname", first);
	if (v->kubernetes.minor >= 5)
		tree_set_text(a, pillar, "etcd_over_ssl", has_etcd_tls(v) ? "true" : "false");
	(void)tree_set(a, pillar, "is_systemd", tree_plain(a, "true"));
	tree_set_text(a, pillar, "systemd_system_path", "/lib/systemd/system");
	(void)tree_set(a, pillar, "allow_privileged", tree_plain(a, "true"));
	tree_set_text(a, pillar, "log_level", "--v=2");
	tree_set_text(a, pillar, "kube_docker_registry", v->kube_docker_registry);
	for (size_t i = 0; i < ARRAY_LEN(images); i++)
		tree_set_text(a, pillar, arena_printf(a, "%s_docker_tag", images[i]),
			      kubeup_tag(a, v));
	return pillar;
}

/* Returns docker's options. kube-up lost its options for disks at a reboot, since only the run that made the disks
 * knew them. source: cluster/aws/templates/format-disks.sh, cluster/gce/configure-vm.sh node-docker-opts */
static const char *docker_opts(struct arena *a, const struct kubeup_env *v,
			       const struct kubeup_host *host)
{
	const char *opts = host->driver ? arena_printf(a, " -s %s", host->driver) : "";

	if (host->on_store)
		opts = arena_printf(a, "%s -g %s", opts, docker_root_path);
	if (v->is_master)
		return opts;
	if (!str_is_empty(v->extra_docker_opts))
		opts = arena_printf(a, "%s %s", opts, v->extra_docker_opts);
	if (!str_is_empty(v->docker_registry_mirror_url))
		opts = arena_printf(a, "%s --registry-mirror=%s", opts,
				    v->docker_registry_mirror_url);
	return opts;
}

/* source: cluster/aws/templates/configure-vm-aws.sh salt-master-role */
static void add_master(struct arena *a, struct tree *grains, const struct kubeup_env *v,
		       const char *cbr)
{
	const bool registers = !str_is_empty(v->kubelet_apiserver) &&
			       !str_is_empty(v->kubelet_cert) && !str_is_empty(v->kubelet_key);

	if (registers)
		tree_set_text(a, grains, "kubelet_api_servers", v->kubelet_apiserver);
	tree_set_text(a, grains, "cbr-cidr", registers ? cbr : v->master_ip_range);
	if (!str_is_empty(v->runtime_config))
		tree_set_text(a, grains, "runtime_config", v->runtime_config);
	if (v->kubernetes.minor >= 3)
		tree_set_text(a, grains, "kube_user", v->kube_user);
	if (!str_is_empty(v->kube_apiserver_request_timeout))
		tree_set_text(a, grains, "minRequestTimeout", v->kube_apiserver_request_timeout);
}

static struct tree *make_grains(struct arena *a, const struct kubeup_env *v,
				const struct kubeup_host *host)
{
	/* every node has the same range */
	const char *cbr = v->kubernetes.minor > 4    ? NULL
			  : v->kubernetes.minor == 4 ? "10.123.45.0/29"
						     : "10.123.45.0/30";
	const char *opts = docker_opts(a, v, host);
	struct tree *grains = tree_map(a), *roles = tree_seq(a), *addresses = tree_seq(a);

	(void)tree_add(a, roles,
		       tree_string(a, v->is_master ? "kubernetes-master" : "kubernetes-pool"));
	(void)tree_set(a, grains, "roles", roles);
	/* a master's template needs this address for a flag, but leaves the flag out on AWS */
	(void)tree_add(a, addresses, tree_string(a, "127.0.0.1"));
	(void)tree_set(a, grains, "fqdn_ip4", addresses);
	tree_set_text(a, grains, "cloud", "aws");
	/* every release with systemd is set up like Debian jessie */
	tree_set_text(a, grains, "os", "Debian");
	tree_set_text(a, grains, "os_family", "Debian");
	tree_set_text(a, grains, "oscodename", "jessie");
	if (v->is_master) {
		add_master(a, grains, v, cbr);
	} else {
		tree_set_text(a, grains, "cbr-cidr", cbr);
		tree_set_text(a, grains, "api_servers", v->api_servers);
		tree_set_text(a, grains, "hostname_override", host->name);
	}
	if (*opts)
		tree_set_text(a, grains, "docker_opts", opts);
	if (host->on_store) {
		tree_set_text(a, grains, "docker_root", docker_root_path);
		tree_set_text(a, grains, "kubelet_root", "/mnt/ephemeral/kubernetes/kubelet");
	}
	if (v->kubernetes.minor >= 4 && !str_is_empty(v->feature_gates))
		tree_set_text(a, grains, "feature_gates", v->feature_gates);
	return grains;
}

struct tree *kubeup_context(struct arena *a, const struct kubeup_env *env,
			    const struct kubeup_host *host)
{
	struct tree *context = tree_map(a);

	(void)tree_set(a, context, "pillar", make_pillar(a, env, host));
	return tree_set(a, context, "grains", make_grains(a, env, host));
}
