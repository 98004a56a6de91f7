#include "nodeup/config/kops18_spec.h"

/* clang-format off */

/* source: kops 1.8.1 pkg/apis/nodeup/config.go Config, Image */
static const struct field env_fields[] = {
#define F(m, ...) FIELD(struct kube_env, m, __VA_ARGS__)
	F(tags, .key = "Tags", .doc = "what this node is: _aws, _kubernetes_master..."),
	F(assets, .key = "Assets", .doc = "[hash@]url[,mirror] of each file to fetch"),
	F(images, .key = "images", .doc = "image archives to load: name, source, hash"),
	F(config_base, .key = "ConfigBase", .doc = "where the cluster's documents are"),
	F(cluster_location, .key = "ClusterLocation", .doc = "the cluster spec itself (deprecated)"),
	F(instance_group_name, .key = "InstanceGroupName", .doc = "instance group of this node"),
	F(cluster_name, .key = "ClusterName", .required = true, .doc = "name of the cluster"),
	F(protokube_image, .key = "protokubeImage", .doc = "protokube: name, source, hash"),
	F(channels, .key = "channels", .doc = "addon channels for protokube"),
#undef F
};

static const struct field image_fields[] = {
#define F(m, ...) FIELD(struct node_image, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "image name for the runtime"),
	F(source, .key = "source", .doc = "URL of the archive"),
	F(hash, .key = "hash", .doc = "hash of the archive"),
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

static const struct field api_fields[] = {
#define F(m, ...) FIELD(struct kops18_api, m, __VA_ARGS__)
	F(dns, .key = "dns", .doc = "the API has a public DNS name"),
	F(load_balancer, .key = "loadBalancer", .doc = "the API has a load balancer"),
#undef F
};
static const struct schema api_schema = SCHEMA(struct kops18_api, "AccessSpec", api_fields);

static const struct field networking_fields[] = {
#define F(m, ...) FIELD(struct kops18_networking, m, __VA_ARGS__)
	F(classic, .key = "classic", .doc = "network of Kubernetes 1.4"),
	F(kubenet, .key = "kubenet", .doc = "kubelet's own bridge"),
	F(external, .key = "external", .doc = "a daemon set beside kubenet"),
	F(cni, .key = "cni", .doc = "any CNI plugin"),
	F(kopeio, .key = "kopeio", .doc = "kopeio"),
	F(weave, .key = "weave", .doc = "Weave"),
	F(flannel, .key = "flannel", .doc = "flannel"),
	F(calico, .key = "calico", .doc = "Calico"),
	F(canal, .key = "canal", .doc = "Canal"),
	F(kuberouter, .key = "kuberouter", .doc = "kube-router, also instead of kube-proxy"),
	F(romana, .key = "romana", .doc = "Romana"),
#undef F
};

static const struct field etcd_member_fields[] = {
#define F(m, ...) FIELD(struct kops18_etcd_member, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "name of the member"),
	F(instance_group, .key = "instanceGroup", .doc = "instance group it runs in"),
	F(volume_type, .key = "volumeType", .doc = "EBS volume type"),
	F(volume_size, .key = "volumeSize", .doc = "EBS volume size"),
	F(kms_key_id, .key = "kmsKeyId", .doc = "key of the EBS volume"),
	F(encrypted_volume, .key = "encryptedVolume", .doc = "encrypt the EBS volume"),
#undef F
};
static const struct schema etcd_member_schema =
	SCHEMA(struct kops18_etcd_member, "EtcdMemberSpec", etcd_member_fields);

static const struct field etcd_cluster_fields[] = {
#define F(m, ...) FIELD(struct kops18_etcd_cluster, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "main or events"),
	F(version, .key = "version", .doc = "etcd version"),
	FIELD_LIST_OF(struct kops18_etcd_cluster, members, &etcd_member_schema,
		      .key = "etcdMembers", .doc = "members"),
	F(enable_etcd_tls, .key = "enableEtcdTLS", .doc = "TLS between members and clients"),
	F(leader_election_timeout, .key = "leaderElectionTimeout", .doc = "election timeout"),
	F(heartbeat_interval, .key = "heartbeatInterval", .doc = "heartbeat interval"),
#undef F
};
static const struct schema etcd_cluster_schema =
	SCHEMA(struct kops18_etcd_cluster, "EtcdClusterSpec", etcd_cluster_fields);

static const struct field cloud_config_fields[] = {
#define F(m, ...) FIELD(struct kops18_cloud_config, m, __VA_ARGS__)
	F(disable_security_group_ingress, .key = "disableSecurityGroupIngress",
	  .doc = "leave the nodes' security group alone"),
	F(elb_security_group, .key = "elbSecurityGroup", .doc = "security group of load balancers"),
	F(multizone, .key = "multizone", .doc = "not AWS"),
	F(node_tags, .key = "nodeTags", .doc = "not AWS"),
	F(node_instance_prefix, .key = "nodeInstancePrefix", .doc = "not AWS"),
	F(vsphere[0], .key = "vSphereUsername", .doc = "not AWS"),
	F(vsphere[1], .key = "vSpherePassword", .doc = "not AWS"),
	F(vsphere[2], .key = "vSphereServer", .doc = "not AWS"),
	F(vsphere[3], .key = "vSphereDatacenter", .doc = "not AWS"),
	F(vsphere[4], .key = "vSphereResourcePool", .doc = "not AWS"),
	F(vsphere[5], .key = "vSphereDatastore", .doc = "not AWS"),
	F(vsphere[6], .key = "vSphereCoreDNSServer", .doc = "not AWS"),
#undef F
};
static const struct schema cloud_config_schema =
	SCHEMA(struct kops18_cloud_config, "CloudConfiguration", cloud_config_fields);

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/cluster.go ClusterSpec */
static const struct field cluster_fields[] = {
#define F(m, ...) FIELD(struct kops18_cluster, m, __VA_ARGS__)
#define UNUSED(k) F(unused, .key = k, .doc = "not used by a node")
#define SECTION(m, sch, k, d) \
	FIELD_NESTED_IF(struct kops18_cluster, m, has_##m, &sch, .key = k, .doc = d)
	F(cloud_provider, .key = "cloudProvider", .doc = "aws"),
	F(kubernetes_version, .key = "kubernetesVersion", .doc = "Kubernetes version"),
	F(master_public_name, .key = "masterPublicName", .doc = "DNS name of the API, outside"),
	F(master_internal_name, .key = "masterInternalName", .doc = "DNS name of the API, inside"),
	F(secret_store, .key = "secretStore", .doc = "where tokens are"),
	F(key_store, .key = "keyStore", .doc = "where certificates and keys are"),
	F(dns_zone, .key = "dnsZone", .doc = "DNS zone, name or id"),
	F(cluster_dns_domain, .key = "clusterDNSDomain", .doc = "DNS domain inside the cluster"),
	F(service_cluster_ip_range, .key = "serviceClusterIPRange", .doc = "service addresses"),
	F(non_masquerade_cidr, .key = "nonMasqueradeCIDR", .doc = "the cluster's own addresses"),
	F(encryption_config, .key = "encryptionConfig", .doc = "encrypt secrets at rest"),
	SECTION(api, api_schema, "api", "how the API is reached"),
	SECTION(networking, kops18_networking_schema, "networking", "pod network, one of"),
	SECTION(cloud_config, cloud_config_schema, "cloudConfig", "settings of the cloud provider"),
	FIELD_LIST_OF(struct kops18_cluster, etcd_clusters, &etcd_cluster_schema,
		      .key = "etcdClusters", .doc = "etcd clusters"),
	SECTION(docker, docker_schema, "docker", "docker"),
	SECTION(kubelet, kubelet_schema, "kubelet", "kubelet of workers"),
	SECTION(master_kubelet, kubelet_schema, "masterKubelet", "kubelet of masters"),
	SECTION(kube_proxy, kube_proxy_schema, "kubeProxy", "kube-proxy"),
	SECTION(kube_apiserver, kube_apiserver_schema, "kubeAPIServer", "kube-apiserver"),
	SECTION(kube_controller_manager, kube_controller_manager_schema, "kubeControllerManager",
		"kube-controller-manager"),
	SECTION(kube_scheduler, kube_scheduler_schema, "kubeScheduler", "kube-scheduler"),
	F(hooks, .key = "hooks", .doc = "units of the user's own; not yet"),
	F(file_assets, .key = "fileAssets", .doc = "files of the user's own; not yet"),
	F(egress_proxy, .key = "egressProxy", .doc = "HTTP proxy; not yet"),
	F(authentication, .key = "authentication", .doc = "token webhook; not yet"),
	F(isolate_masters, .key = "isolateMasters", .doc = "masters outside the pod network; not yet"),
	F(cloud_controller_manager, .key = "cloudControllerManager",
	  .doc = "cloud integration outside the controller manager; not yet"),
	F(assets, .key = "assets", .doc = "own registry and repository; not yet"),
	UNUSED("channel"),
	UNUSED("configBase"),
	UNUSED("subnets"),
	UNUSED("project"),
	UNUSED("networkCIDR"),
	UNUSED("networkID"),
	UNUSED("topology"),
	UNUSED("configStore"),
	UNUSED("additionalSans"),
	UNUSED("sshAccess"),
	UNUSED("nodePortAccess"),
	UNUSED("sshKeyName"),
	UNUSED("kubernetesApiAccess"),
	UNUSED("updatePolicy"),
	UNUSED("additionalPolicies"),
	UNUSED("kubeDNS"),
	UNUSED("externalDns"),
	UNUSED("authorization"),
	UNUSED("cloudLabels"),
	UNUSED("iam"),
#undef SECTION
#undef UNUSED
#undef F
};

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/instancegroup.go InstanceGroupSpec */
static const struct field ig_fields[] = {
#define F(m, ...) FIELD(struct kops18_ig, m, __VA_ARGS__)
#define UNUSED(k) F(unused, .key = k, .doc = "not used by a node")
	F(role, .key = "role", .oneof = "Master|Node|Bastion", .doc = "role of the group"),
	F(node_labels, .key = "nodeLabels", .doc = "labels of its nodes"),
	F(taints, .key = "taints", .doc = "taints of its nodes"),
	FIELD_NESTED_IF(struct kops18_ig, kubelet, has_kubelet, &kubelet_schema, .key = "kubelet",
			.doc = "laid over the cluster's kubelet section"),
	F(hooks, .key = "hooks", .doc = "units of the user's own; not yet"),
	F(file_assets, .key = "fileAssets", .doc = "files of the user's own; not yet"),
	UNUSED("image"),
	UNUSED("minSize"),
	UNUSED("maxSize"),
	UNUSED("machineType"),
	UNUSED("rootVolumeSize"),
	UNUSED("rootVolumeType"),
	UNUSED("rootVolumeIops"),
	UNUSED("rootVolumeOptimization"),
	UNUSED("subnets"),
	UNUSED("zones"),
	UNUSED("maxPrice"),
	UNUSED("associatePublicIp"),
	UNUSED("additionalSecurityGroups"),
	UNUSED("cloudLabels"),
	UNUSED("tenancy"),
	UNUSED("additionalUserData"),
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
