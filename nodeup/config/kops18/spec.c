#include "nodeup/config/kops18/spec.h"

/* clang-format off */

/* source: kops 1.8.1 pkg/apis/nodeup/config.go Config, Image */
static const struct field env_fields[] = {
#define F(m, ...) FIELD(struct kube_env, m, __VA_ARGS__)
	F(tags, .key = "Tags", .doc = "what this node is: _aws, _kubernetes_master..."),
	F(assets, .key = "Assets", .secret = true, .doc = "hash@url[,mirror] of each file to fetch"),
	F(images, .key = "images", .secret = true, .doc = "image archives to load: name, source, hash"),
	F(config_base, .key = "ConfigBase", .doc = "where the cluster's documents are"),
	F(cluster_location, .key = "ClusterLocation", .doc = "the cluster spec itself (deprecated)"),
	F(instance_group_name, .key = "InstanceGroupName", .doc = "instance group of this node"),
	F(cluster_name, .key = "ClusterName", .required = true, .doc = "name of the cluster"),
	F(protokube_image, .key = "protokubeImage", .secret = true, .doc = "protokube: name, source, hash"),
	F(channels, .key = "channels", .secret = true, .doc = "addon channels for protokube"),
	F(docker_storage, .key = "DOCKER_STORAGE", .doc = "kube-up's: the instance store for docker and kubelet"),
	F(kube_aws_storage, .key = "KUBE_AWS_STORAGE", .oneof = "ephemeral|ebs|",
	  .doc = "kube-up's: ebs leaves the instance store alone"),
	F(volume_mounts, .key = "volumeMounts", .doc = "disks, as in the instance group"),
	F(assets_signature, .key = "assetsSignature",
	  .doc = "of minisign, over the lines of Assets; not of kops"),
	F(settings.url_rewrites, .key = "urlRewrites", .shape = TREE_SEQ, .secret = true,
	  .doc = "FROM=TO: where URLs that begin so are fetched instead; not of kops"),
	F(settings.mirrors, .key = "mirrors", .shape = TREE_SEQ, .secret = true,
	  .doc = "FROM=TO: where assets whose URLs begin so are asked for first; not of kops"),
	F(settings.ca_bundle, .key = "caBundle",
	  .doc = "file of the CA certificates that servers are checked by; not of kops"),
	F(settings.public_keys, .key = "publicKeys", .shape = TREE_SEQ,
	  .doc = "public keys of minisign, if the machine has none of its own; not of kops"),
	F(settings.require_signatures, .key = "requireSignatures",
	  .doc = "refuse assets without a signature; not of kops"),
	F(settings.ignore_host_checks, .key = "ignoreHostChecks",
	  .doc = "try a Kubernetes that cannot run on this host; not of kops"),
	F(settings.quiet_console, .key = "quietConsole",
	  .doc = "write nothing on the console of the machine; not of kops"),
	F(settings.console_after, .key = "consoleAfter",
	  .doc = "age of a run at which the console is told what it waits for; not of kops"),
	F(settings.status_url, .key = "statusURL",
	  .doc = "s3://BUCKET/PREFIX where the status of each run goes as well; not of kops"),
	F(packages, .key = "packages", .doc = "packages of the distribution to install; not of kops"),
#undef F
};

static const struct field image_fields[] = {
#define F(m, ...) FIELD(struct node_image, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "image name for the runtime"),
	F(source, .key = "source", .doc = "URL of the archive"),
	F(hash, .key = "hash", .doc = "hash of the archive"),
	F(signature, .key = "signature", .doc = "of minisign, over the archive; not of kops"),
#undef F
};

static const struct field object_fields[] = {
#define F(m, ...) FIELD(struct kops18_object, m, __VA_ARGS__)
	F(api_version, .key = "apiVersion", .oneof = "kops/v1alpha2", .doc = "version of the object"),
	F(kind, .key = "kind", .doc = "kind of the object"),
	F(metadata, .key = "metadata", .doc = "its name and labels"),
	F(spec, .key = "spec", .doc = "the document proper"),
	F(status, .key = "status", .doc = "not used"),
#undef F
};

static const struct field load_balancer_fields[] = {
#define F(m, ...) FIELD(struct kops18_load_balancer, m, __VA_ARGS__)
	F(type, .key = "type", .oneof = "Public|Internal|", .doc = "who can reach it"),
	F(idle_timeout_seconds, .key = "idleTimeoutSeconds", .max = INT32_MAX,
	  .doc = "seconds until an idle connection is closed"),
#undef F
};
static const struct schema load_balancer_schema =
	SCHEMA(struct kops18_load_balancer, "LoadBalancerAccessSpec", load_balancer_fields);

static const struct field api_fields[] = {
	FIELD(struct kops18_api, dns, .key = "dns", .shape = TREE_MAP,
	      .doc = "the API has a public DNS name"),
	FIELD_NESTED(struct kops18_api, load_balancer, &load_balancer_schema,
		     .key = "loadBalancer", .doc = "the API has a load balancer"),
};
static const struct schema api_schema = SCHEMA(struct kops18_api, "AccessSpec", api_fields);

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/networking.go */
#define F(m, ...) FIELD(struct kops18_network_options, m, __VA_ARGS__)
static const struct field weave_fields[] = {
	F(mtu, .key = "mtu", .max = 65535, .doc = "MTU of its interfaces"),
	F(conn_limit, .key = "connLimit", .max = INT32_MAX, .doc = "peers it connects to"),
};
static const struct field flannel_fields[] = {
	F(backend, .key = "backend", .oneof = "udp|vxlan|", .doc = "how packets travel"),
};
static const struct field calico_fields[] = {
	F(cross_subnet, .key = "crossSubnet", .doc = "wrap packets between subnets only"),
};
static const struct field canal_fields[] = {
	F(default_endpoint_to_host_action, .key = "defaultEndpointToHostAction",
	  .doc = "what becomes of packets from a pod to its host"),
	F(chain_insert_mode, .key = "chainInsertMode", .doc = "where its rules go"),
	F(prometheus_metrics_enabled, .key = "prometheusMetricsEnabled", .doc = "serve metrics"),
	F(prometheus_metrics_port, .key = "prometheusMetricsPort", .max = 65535,
	  .doc = "where they are served"),
	F(prometheus_go_metrics_enabled, .key = "prometheusGoMetricsEnabled",
	  .doc = "metrics of its runtime too"),
	F(prometheus_process_metrics_enabled, .key = "prometheusProcessMetricsEnabled",
	  .doc = "metrics of its process too"),
};
static const struct field romana_fields[] = {
	F(daemon_service_ip, .key = "daemonServiceIP", .format = &format_ip,
	  .doc = "address of its daemon"),
	F(etcd_service_ip, .key = "etcdServiceIP", .format = &format_ip,
	  .doc = "address of its etcd"),
};
#undef F
#define S struct kops18_network_options
static const struct schema no_options_schema = { .name = "Networking", .size = sizeof(S) };
static const struct schema weave_schema = SCHEMA(S, "WeaveNetworkingSpec", weave_fields);
static const struct schema flannel_schema = SCHEMA(S, "FlannelNetworkingSpec", flannel_fields);
static const struct schema calico_schema = SCHEMA(S, "CalicoNetworkingSpec", calico_fields);
static const struct schema canal_schema = SCHEMA(S, "CanalNetworkingSpec", canal_fields);
static const struct schema romana_schema = SCHEMA(S, "RomanaNetworkingSpec", romana_fields);
#undef S

static const struct field networking_fields[] = {
#define F(m, sch, d) \
	FIELD_NESTED_IF(struct kops18_networking, options, m, &sch, .key = #m, .doc = d)
	F(classic, no_options_schema, "network of Kubernetes 1.4"),
	F(kubenet, no_options_schema, "kubelet's own bridge"),
	F(external, no_options_schema, "a daemon set beside kubenet"),
	F(cni, no_options_schema, "any CNI plugin"),
	F(kopeio, no_options_schema, "kopeio"),
	F(weave, weave_schema, "Weave"),
	F(flannel, flannel_schema, "flannel"),
	F(calico, calico_schema, "Calico"),
	F(canal, canal_schema, "Canal"),
	F(kuberouter, no_options_schema, "kube-router, also instead of kube-proxy"),
	F(romana, romana_schema, "Romana"),
#undef F
};

static const struct field http_proxy_fields[] = {
	FIELD(struct kops18_egress_proxy, http.host, .key = "host",
	      .doc = "name or address, [user:password@] before it"),
	FIELD(struct kops18_egress_proxy, http.port, .key = "port", .max = 65535,
	      .doc = "port; none or 0: that of http"),
};
static const struct schema http_proxy_schema =
	SCHEMA(struct kops18_egress_proxy, "HTTPProxy", http_proxy_fields);

static const struct field egress_proxy_fields[] = {
	FIELD_INSIDE(&http_proxy_schema, .key = "httpProxy", .doc = "the proxy"),
	FIELD(struct kops18_egress_proxy, excludes, .key = "excludes",
	      .doc = "hosts, domains and ranges that are reached without it"),
};
static const struct schema egress_proxy_schema =
	SCHEMA(struct kops18_egress_proxy, "EgressProxySpec", egress_proxy_fields);

static const struct field etcd_member_fields[] = {
#define F(m, ...) FIELD(struct kops18_etcd_member, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "name of the member"),
	F(instance_group, .key = "instanceGroup", .doc = "instance group it runs in"),
	F(volume_type, .key = "volumeType", .doc = "EBS volume type"),
	F(volume_size, .key = "volumeSize", .max = INT32_MAX, .doc = "EBS volume size"),
	F(kms_key_id, .key = "kmsKeyId", .doc = "key of the EBS volume"),
	F(encrypted_volume, .key = "encryptedVolume", .doc = "encrypt the EBS volume"),
#undef F
};
static const struct schema etcd_member_schema =
	SCHEMA(struct kops18_etcd_member, "EtcdMemberSpec", etcd_member_fields);

static const struct field etcd_cluster_fields[] = {
#define F(m, ...) FIELD(struct kops18_etcd_cluster, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "main or events"),
	F(version, .key = "version", .usual = "2.2.1", .doc = "etcd version"),
	F(image, .key = "image", .doc = "etcd image instead of the one of that version"),
	FIELD_LIST_OF(struct kops18_etcd_cluster, members, &etcd_member_schema,
		      .key = "etcdMembers", .doc = "members"),
	F(enable_etcd_tls, .key = "enableEtcdTLS", .doc = "TLS between members and clients"),
	F(leader_election_timeout, .key = "leaderElectionTimeout", .doc = "election timeout"),
	F(heartbeat_interval, .key = "heartbeatInterval", .doc = "heartbeat interval"),
#undef F
};
const struct schema kops18_etcd_cluster_schema =
	SCHEMA(struct kops18_etcd_cluster, "EtcdClusterSpec", etcd_cluster_fields);

static const struct field cloud_config_fields[] = {
#define F(m, ...) FIELD(struct kops18_cloud_config, m, __VA_ARGS__)
	F(disable_security_group_ingress, .key = "disableSecurityGroupIngress",
	  .doc = "leave the nodes' security group alone"),
	F(elb_security_group, .key = "elbSecurityGroup", .doc = "security group of load balancers"),
	F(multizone, .key = "multizone", .doc = "not AWS"),
	F(node_tags, .key = "nodeTags", .doc = "not AWS"),
	F(node_instance_prefix, .key = "nodeInstancePrefix", .doc = "not AWS"),
	F(vsphere[0], .key = "vSphereUsername", .secret = true, .doc = "not AWS"),
	F(vsphere[1], .key = "vSpherePassword", .secret = true, .doc = "not AWS"),
	F(vsphere[2], .key = "vSphereServer", .doc = "not AWS"),
	F(vsphere[3], .key = "vSphereDatacenter", .doc = "not AWS"),
	F(vsphere[4], .key = "vSphereResourcePool", .doc = "not AWS"),
	F(vsphere[5], .key = "vSphereDatastore", .doc = "not AWS"),
	F(vsphere[6], .key = "vSphereCoreDNSServer", .doc = "not AWS"),
#undef F
};
static const struct schema cloud_config_schema =
	SCHEMA(struct kops18_cloud_config, "CloudConfiguration", cloud_config_fields);

static const struct field authentication_fields[] = {
	FIELD(struct kops18_cluster, authentication.kopeio, .key = "kopeio", .shape = TREE_MAP,
	      .doc = "kopeio's webhook on the master"),
};
static const struct schema authentication_schema =
	SCHEMA(struct kops18_cluster, "AuthenticationSpec", authentication_fields);

static const struct field authorization_fields[] = {
	FIELD(struct kops18_cluster, authorization.always_allow, .key = "alwaysAllow",
	      .shape = TREE_MAP, .doc = "whoever logs in may do everything"),
	FIELD(struct kops18_cluster, authorization.rbac, .key = "rbac", .shape = TREE_MAP,
	      .doc = "roles"),
};
static const struct schema authorization_schema =
	SCHEMA(struct kops18_cluster, "AuthorizationSpec", authorization_fields);

static const struct field assets_fields[] = {
	FIELD(struct kops18_cluster, assets.container_registry, .key = "containerRegistry",
	      .doc = "registry that has all images"),
	FIELD(struct kops18_cluster, assets.file_repository, .key = "fileRepository",
	      .doc = "where kops finds the files it lists in Assets"),
};
static const struct schema assets_schema =
	SCHEMA(struct kops18_cluster, "Assets", assets_fields);

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/cluster.go ClusterSpec */
static const struct field cluster_fields[] = {
#define F(m, ...) FIELD(struct kops18_cluster, m, __VA_ARGS__)
#define UNUSED(k, s) F(unused, .key = k, .shape = TREE_##s, .doc = "not used by a node")
#define SECTION(m, sch, k, d, ...) \
	FIELD_NESTED_IF(struct kops18_cluster, m, has_##m, &sch, .key = k, .doc = d, __VA_ARGS__)
	F(cloud_provider, .key = "cloudProvider", .usual = "aws", .doc = "the only one that is supported"),
	F(kubernetes_version, .key = "kubernetesVersion", .doc = "Kubernetes version"),
	F(master_public_name, .key = "masterPublicName", .doc = "DNS name of the API, outside: api.CLUSTER unless given"),
	F(master_internal_name, .key = "masterInternalName", .doc = "DNS name of the API, inside: api.internal.CLUSTER unless given"),
	F(secret_store, .key = "secretStore", .doc = "where tokens are"),
	F(key_store, .key = "keyStore", .doc = "where certificates and keys are"),
	F(dns_zone, .key = "dnsZone", .doc = "DNS zone, name or id"),
	F(cluster_dns_domain, .key = "clusterDNSDomain", .usual = "cluster.local", .doc = "DNS domain inside the cluster"),
	F(service_cluster_ip_range, .key = "serviceClusterIPRange",
	  .format = &format_cidr, .usual = "100.64.0.0/13", .doc = "service addresses"),
	F(non_masquerade_cidr, .key = "nonMasqueradeCIDR",
	  .format = &format_cidr, .usual = "100.64.0.0/10", .doc = "the cluster's own addresses"),
	F(encryption_config, .key = "encryptionConfig", .doc = "encrypt secrets at rest"),
	SECTION(api, api_schema, "api", "how the API is reached"),
	SECTION(networking, kops18_networking_schema, "networking", "pod network, one of"),
	SECTION(cloud_config, cloud_config_schema, "cloudConfig", "settings of the cloud provider",
		.secret = true),
	FIELD_LIST_OF(struct kops18_cluster, etcd_clusters, &kops18_etcd_cluster_schema,
		      .key = "etcdClusters", .doc = "etcd clusters"),
	SECTION(docker, docker_schema, "docker", "docker"),
	SECTION(kubelet, kubelet_schema, "kubelet", "kubelet of workers"),
	SECTION(master_kubelet, kubelet_schema, "masterKubelet", "kubelet of masters"),
	SECTION(kube_proxy, kube_proxy_schema, "kubeProxy", "kube-proxy"),
	SECTION(kube_apiserver, kube_apiserver_schema, "kubeAPIServer", "kube-apiserver"),
	SECTION(kube_controller_manager, kube_controller_manager_schema, "kubeControllerManager",
		"kube-controller-manager"),
	SECTION(kube_scheduler, kube_scheduler_schema, "kubeScheduler", "kube-scheduler"),
	F(hooks, .key = "hooks", .secret = true, .doc = "units of the user's own"),
	F(file_assets, .key = "fileAssets", .secret = true, .doc = "files of the user's own"),
	SECTION(egress_proxy, egress_proxy_schema, "egressProxy", "proxy to the outside",
		.secret = true),
	FIELD_INSIDE(&authentication_schema, .key = "authentication",
		     .doc = "who asks the API server, besides certificates"),
	FIELD_INSIDE(&authorization_schema, .key = "authorization", .doc = "who may do what"),
	F(isolate_masters, .key = "isolateMasters", .doc = "masters outside the pod network"),
	F(cloud_controller_manager, .key = "cloudControllerManager", .shape = TREE_MAP,
	  .doc = "the cloud is the business of a daemon set"),
	FIELD_INSIDE(&assets_schema, .key = "assets", .secret = true,
		     .doc = "own registry and repository"),
	UNUSED("channel", SCALAR),
	UNUSED("configBase", SCALAR),
	UNUSED("subnets", SEQ),
	UNUSED("project", SCALAR),
	UNUSED("networkCIDR", SCALAR),
	UNUSED("networkID", SCALAR),
	UNUSED("topology", MAP),
	UNUSED("configStore", SCALAR),
	UNUSED("additionalSans", SEQ),
	UNUSED("sshAccess", SEQ),
	UNUSED("nodePortAccess", SEQ),
	UNUSED("sshKeyName", SCALAR),
	UNUSED("kubernetesApiAccess", SEQ),
	UNUSED("updatePolicy", SCALAR),
	UNUSED("additionalPolicies", MAP),
	UNUSED("kubeDNS", MAP),
	UNUSED("externalDns", MAP),
	UNUSED("cloudLabels", MAP),
	UNUSED("iam", MAP),
#undef SECTION
#undef UNUSED
#undef F
};

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/instancegroup.go InstanceGroupSpec */
static const struct field ig_fields[] = {
#define F(m, ...) FIELD(struct kops18_ig, m, __VA_ARGS__)
#define UNUSED(k, s) F(unused, .key = k, .shape = TREE_##s, .doc = "not used by a node")
	F(role, .key = "role", .oneof = "Master|Node|Bastion", .doc = "role of the group"),
	F(node_labels, .key = "nodeLabels", .doc = "labels of its nodes"),
	F(taints, .key = "taints", .format = &format_taint, .doc = "taints of its nodes"),
	FIELD_NESTED_IF(struct kops18_ig, kubelet, has_kubelet, &kubelet_schema, .key = "kubelet",
			.doc = "laid over the cluster's kubelet section"),
	F(hooks, .key = "hooks", .secret = true, .doc = "units of the user's own"),
	F(file_assets, .key = "fileAssets", .secret = true, .doc = "files of the user's own"),
	F(volume_mounts, .key = "volumeMounts", .doc = "disks to be formatted and mounted"),
	UNUSED("image", SCALAR),
	UNUSED("minSize", SCALAR),
	UNUSED("maxSize", SCALAR),
	UNUSED("machineType", SCALAR),
	UNUSED("rootVolumeSize", SCALAR),
	UNUSED("rootVolumeType", SCALAR),
	UNUSED("rootVolumeIops", SCALAR),
	UNUSED("rootVolumeOptimization", SCALAR),
	UNUSED("subnets", SEQ),
	UNUSED("zones", SEQ),
	UNUSED("maxPrice", SCALAR),
	UNUSED("associatePublicIp", SCALAR),
	UNUSED("additionalSecurityGroups", SEQ),
	UNUSED("cloudLabels", MAP),
	UNUSED("tenancy", SCALAR),
	F(unused, .key = "additionalUserData", .shape = TREE_SEQ, .secret = true,
	  .doc = "not used by a node"),
#undef UNUSED
#undef F
};
/* clang-format on */

const struct schema kops18_env_schema = SCHEMA(struct kube_env, "kube_env.yaml", env_fields);
const struct schema kops18_image_schema = SCHEMA(struct node_image, "Image", image_fields);
const struct schema kops18_object_schema = SCHEMA(struct kops18_object, "Object", object_fields);
const struct schema kops18_networking_schema =
	SCHEMA(struct kops18_networking, "NetworkingSpec", networking_fields);
const struct schema kops18_cluster_schema =
	SCHEMA(struct kops18_cluster, "ClusterSpec", cluster_fields);
const struct schema kops18_ig_schema = SCHEMA(struct kops18_ig, "InstanceGroupSpec", ig_fields);

/* One error of all of them, or where errors are kept one of each. */
static int refuse_unknown(const struct strv *messages, const struct dialect_opts *o, struct err *e)
{
	int r = err_config(e, "%s", messages->v[0]);

	for (size_t i = 0; i < messages->n && o->errors; i++)
		r = errs_keep(o->errors, err_config(e, "%s", messages->v[i]), e);
	for (size_t i = 1; i < messages->n && !o->errors; i++)
		err_note(e, "also", "%s", messages->v[i]);
	return r;
}

static size_t kept_count(const struct dialect_opts *o)
{
	return o->errors ? o->errors->n : 0;
}

int kops18_read(struct arena *a, const struct schema *s, const struct tree *t, const char *path,
		const struct dialect_opts *o, void *obj, struct err *e)
{
	struct field_unknowns unknown = { .arena = a };
	const struct field_opts opts = { .unknown = field_note_unknown,
					 .arg = &unknown,
					 .path = path,
					 .errors = o->errors,
					 .refuses_slips = s == &kops18_env_schema };
	const size_t before = kept_count(o);
	int r = field_parse(a, s, t, obj, &opts, e);
	const struct strv messages = field_unknown_messages(&unknown);

	/* an item of a list is not checked further without what could not be read */
	if (r == 0 && *path && kept_count(o) > before) {
		*e = o->errors->v[o->errors->n - 1];
		r = err_code(e);
	}
	/* the key that it was meant to be is missing, and what is said of that leads nowhere */
	for (size_t i = 0; i < unknown.slips.n && opts.refuses_slips; i++) {
		r = errs_keep(o->errors, err_config(e, "%s", unknown.slips.v[i]), e);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (o->strict && messages.n)
		return refuse_unknown(&messages, o, e);
	for (size_t i = 0; i < messages.n; i++)
		if (!opts.refuses_slips || !strv_has(&unknown.slips, messages.v[i]))
			dialect_warn(a, o, "%s", messages.v[i]);
	return 0;
}

int kops18_go_on(struct kops18_build *b, int r)
{
	return errs_keep(b->opts->errors, r, b->err);
}

int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e)
{
	if (!list || list->kind != TREE_SEQ || list->n <= most)
		return 0;
	return err_config(e, "%s: %s[%zu]: more than %zu",
			  tree_where(a, &list->items[most].value->pos), key, most, most);
}
