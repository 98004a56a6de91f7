/* list_cluster.h - the keys of the cluster spec of kops 1.8; see spec.h for the structs and spec.c for the tables
 * X##_UNUSED is a row for keys that no node needs.
 * Owner: constants. Errors: none. Threads: all. Source: kops 1.8.1 pkg/apis/kops/v1alpha2. */
#pragma once

/* clang-format off */
#define KOPS18_LOAD_BALANCER(X) \
	X(const char *, type, "type", .oneof = "Public|Internal|", .doc = "who can reach it") \
	X(struct opt_int, idle_timeout_seconds, "idleTimeoutSeconds", .wide = true, \
	  .doc = "seconds until an idle connection is closed")

#define KOPS18_API(X) \
	X(const struct tree *, dns, "dns", .shape = TREE_MAP, .doc = "the API has a public DNS name") \
	X##_NESTED(struct kops18_load_balancer, load_balancer, &load_balancer_schema, "loadBalancer", \
	  .doc = "the API has a load balancer")

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/networking.go */
#define KOPS18_WEAVE(X) \
	X(struct opt_int, mtu, "mtu", .max = 65535, .doc = "MTU of its interfaces") \
	X(struct opt_int, conn_limit, "connLimit", .max = INT32_MAX, .doc = "peers it connects to")

#define KOPS18_FLANNEL(X) \
	X(const char *, backend, "backend", .oneof = "udp|vxlan|", .doc = "how packets travel")

#define KOPS18_CALICO(X) \
	X(struct opt_bool, cross_subnet, "crossSubnet", .doc = "wrap packets between subnets only")

#define KOPS18_CANAL(X) \
	X(const char *, default_endpoint_to_host_action, "defaultEndpointToHostAction", \
	  .doc = "what becomes of packets from a pod to its host") \
	X(const char *, chain_insert_mode, "chainInsertMode", .doc = "where its rules go") \
	X(struct opt_bool, prometheus_metrics_enabled, "prometheusMetricsEnabled", .doc = "serve metrics") \
	X(struct opt_int, prometheus_metrics_port, "prometheusMetricsPort", .max = 65535, .doc = "where they are served") \
	X(struct opt_bool, prometheus_go_metrics_enabled, "prometheusGoMetricsEnabled", .doc = "metrics of its runtime too") \
	X(struct opt_bool, prometheus_process_metrics_enabled, "prometheusProcessMetricsEnabled", .doc = "metrics of its process too")

#define KOPS18_ROMANA(X) \
	X(const char *, daemon_service_ip, "daemonServiceIP", .format = &format_ip, .doc = "address of its daemon") \
	X(const char *, etcd_service_ip, "etcdServiceIP", .format = &format_ip, .doc = "address of its etcd")

#define KOPS18_NETWORKING(X) \
	X##_INSIDE_IF(classic, &no_options_schema, "classic", .doc = "network of Kubernetes 1.4") \
	X##_INSIDE_IF(kubenet, &no_options_schema, "kubenet", .doc = "kubelet's own bridge") \
	X##_INSIDE_IF(external, &no_options_schema, "external", .doc = "a daemon set beside kubenet") \
	X##_INSIDE_IF(cni, &no_options_schema, "cni", .doc = "any CNI plugin") \
	X##_INSIDE_IF(kopeio, &no_options_schema, "kopeio", .doc = "kopeio") \
	X##_INSIDE_IF(weave, &weave_schema, "weave", .doc = "Weave") \
	X##_INSIDE_IF(flannel, &flannel_schema, "flannel", .doc = "flannel") \
	X##_INSIDE_IF(calico, &calico_schema, "calico", .doc = "Calico") \
	X##_INSIDE_IF(canal, &canal_schema, "canal", .doc = "Canal") \
	X##_INSIDE_IF(kuberouter, &no_options_schema, "kuberouter", .doc = "kube-router, also instead of kube-proxy") \
	X##_INSIDE_IF(romana, &romana_schema, "romana", .doc = "Romana")

#define KOPS18_HTTP_PROXY(X) \
	X(const char *, host, "host", .doc = "name or address, [user:password@] before it") \
	X(struct opt_int, port, "port", .max = 65535, .doc = "port; none or 0: that of http")

#define KOPS18_EGRESS_PROXY(X) \
	X##_INSIDE(&http_proxy_schema, "httpProxy", .doc = "the proxy") \
	X(const char *, excludes, "excludes", .doc = "hosts, domains and ranges that are reached without it")

#define KOPS18_ETCD_MEMBER(X) \
	X(const char *, name, "name", .doc = "name of the member") \
	X(const char *, instance_group, "instanceGroup", .doc = "instance group it runs in") \
	X(const char *, volume_type, "volumeType", .doc = "EBS volume type") \
	X(struct opt_int, volume_size, "volumeSize", .max = INT32_MAX, .doc = "EBS volume size") \
	X(const char *, kms_key_id, "kmsKeyId", .doc = "key of the EBS volume") \
	X(struct opt_bool, encrypted_volume, "encryptedVolume", .doc = "encrypt the EBS volume")

#define KOPS18_ETCD_CLUSTER(X) \
	X(const char *, name, "name", .doc = "main or events") \
	X(const char *, version, "version", .usual = "2.2.1", .doc = "etcd version") \
	X(const char *, image, "image", .doc = "etcd image instead of the one of that version") \
	X##_LIST(struct kops18_etcd_member, members, &etcd_member_schema, "etcdMembers", .doc = "members") \
	X(struct opt_bool, enable_etcd_tls, "enableEtcdTLS", .doc = "TLS between members and clients") \
	X(struct opt_dur, leader_election_timeout, "leaderElectionTimeout", .doc = "election timeout") \
	X(struct opt_dur, heartbeat_interval, "heartbeatInterval", .doc = "heartbeat interval")

#define KOPS18_CLOUD_CONFIG(X) \
	X(struct opt_bool, disable_security_group_ingress, "disableSecurityGroupIngress", \
	  .doc = "leave the nodes' security group alone") \
	X(const char *, elb_security_group, "elbSecurityGroup", .doc = "security group of load balancers") \
	X(struct opt_bool, multizone, "multizone", .doc = "not AWS") \
	X(const char *, node_tags, "nodeTags", .doc = "not AWS") \
	X(const char *, node_instance_prefix, "nodeInstancePrefix", .doc = "not AWS") \
	X(const char *, vsphere_username, "vSphereUsername", .secret = true, .doc = "not AWS") \
	X(const char *, vsphere_password, "vSpherePassword", .secret = true, .doc = "not AWS") \
	X(const char *, vsphere_server, "vSphereServer", .doc = "not AWS") \
	X(const char *, vsphere_datacenter, "vSphereDatacenter", .doc = "not AWS") \
	X(const char *, vsphere_resource_pool, "vSphereResourcePool", .doc = "not AWS") \
	X(const char *, vsphere_datastore, "vSphereDatastore", .doc = "not AWS") \
	X(const char *, vsphere_core_dns_server, "vSphereCoreDNSServer", .doc = "not AWS")

#define KOPS18_AUTHENTICATION(X) \
	X(const struct tree *, kopeio, "kopeio", .shape = TREE_MAP, .doc = "kopeio's webhook on the master")

#define KOPS18_AUTHORIZATION(X) \
	X(const struct tree *, always_allow, "alwaysAllow", .shape = TREE_MAP, .doc = "whoever logs in may do everything") \
	X(const struct tree *, rbac, "rbac", .shape = TREE_MAP, .doc = "roles")

#define KOPS18_ASSETS(X) \
	X(const char *, container_registry, "containerRegistry", .doc = "registry that has all images") \
	X(const char *, file_repository, "fileRepository", .doc = "where kops finds the files it lists in Assets")

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/cluster.go ClusterSpec */
#define KOPS18_CLUSTER(X) \
	X(const char *, cloud_provider, "cloudProvider", .usual = "aws", .doc = "the only one that is supported") \
	X(const char *, kubernetes_version, "kubernetesVersion", .doc = "Kubernetes version") \
	X(const char *, master_public_name, "masterPublicName", .doc = "DNS name of the API, outside: api.CLUSTER unless given") \
	X(const char *, master_internal_name, "masterInternalName", \
	  .doc = "DNS name of the API, inside: api.internal.CLUSTER unless given") \
	X(const char *, secret_store, "secretStore", .doc = "where tokens are") \
	X(const char *, key_store, "keyStore", .doc = "where certificates and keys are") \
	X(const char *, dns_zone, "dnsZone", .doc = "DNS zone, name or id") \
	X(const char *, cluster_dns_domain, "clusterDNSDomain", .usual = "cluster.local", .doc = "DNS domain inside the cluster") \
	X(const char *, service_cluster_ip_range, "serviceClusterIPRange", .format = &format_cidr, .usual = "100.64.0.0/13", \
	  .doc = "service addresses") \
	X(const char *, non_masquerade_cidr, "nonMasqueradeCIDR", .format = &format_cidr, .usual = "100.64.0.0/10", \
	  .doc = "the cluster's own addresses") \
	X(struct opt_bool, encryption_config, "encryptionConfig", .doc = "encrypt secrets at rest") \
	X##_IF(struct kops18_api, api, has_api, &api_schema, "api", .doc = "how the API is reached") \
	X##_IF(struct kops18_networking, networking, has_networking, &kops18_networking_schema, "networking", \
	  .doc = "pod network, one of") \
	X##_IF(struct kops18_cloud_config, cloud_config, has_cloud_config, &cloud_config_schema, "cloudConfig", .secret = true, \
	  .doc = "settings of the cloud provider") \
	X##_LIST(struct kops18_etcd_cluster, etcd_clusters, &kops18_etcd_cluster_schema, "etcdClusters", .doc = "etcd clusters") \
	X##_IF(struct docker_spec, docker, has_docker, &docker_schema, "docker", .doc = "docker") \
	X##_IF(struct kubelet_spec, kubelet, has_kubelet, &kubelet_schema, "kubelet", .doc = "kubelet of workers") \
	X##_IF(struct kubelet_spec, master_kubelet, has_master_kubelet, &kubelet_schema, "masterKubelet", .doc = "kubelet of masters") \
	X##_IF(struct kube_proxy_spec, kube_proxy, has_kube_proxy, &kube_proxy_schema, "kubeProxy", .doc = "kube-proxy") \
	X##_IF(struct kube_apiserver_spec, kube_apiserver, has_kube_apiserver, &kube_apiserver_schema, "kubeAPIServer", \
	  .doc = "kube-apiserver") \
	X##_IF(struct kube_controller_manager_spec, kube_controller_manager, has_kube_controller_manager, &kube_controller_manager_schema, "kubeControllerManager", \
	  .doc = "kube-controller-manager") \
	X##_IF(struct kube_scheduler_spec, kube_scheduler, has_kube_scheduler, &kube_scheduler_schema, "kubeScheduler", \
	  .doc = "kube-scheduler") \
	/* kops18_extras() reads this key and the next */ \
	X(const struct tree *, hooks, "hooks", .secret = true, .doc = "units of the user's own") \
	X(const struct tree *, file_assets, "fileAssets", .secret = true, .doc = "files of the user's own") \
	X##_IF(struct kops18_egress_proxy, egress_proxy, has_egress_proxy, &egress_proxy_schema, "egressProxy", .secret = true, \
	  .doc = "proxy to the outside") \
	X##_INSIDE(&authentication_schema, "authentication", .doc = "who asks the API server, besides certificates") \
	X##_INSIDE(&authorization_schema, "authorization", .doc = "who may do what") \
	X(struct opt_bool, isolate_masters, "isolateMasters", .doc = "masters outside the pod network") \
	/* NULL: the controllers have the cloud's code */ \
	X(const struct tree *, cloud_controller_manager, "cloudControllerManager", .shape = TREE_MAP, \
	  .doc = "the cloud is the business of a daemon set") \
	X##_INSIDE(&assets_schema, "assets", .secret = true, .doc = "own registry and repository") \
	X##_UNUSED("channel", SCALAR) \
	X##_UNUSED("configBase", SCALAR) \
	X##_UNUSED("subnets", SEQ) \
	X##_UNUSED("project", SCALAR) \
	X##_UNUSED("networkCIDR", SCALAR) \
	X##_UNUSED("networkID", SCALAR) \
	X##_UNUSED("topology", MAP) \
	X##_UNUSED("configStore", SCALAR) \
	X##_UNUSED("additionalSans", SEQ) \
	X##_UNUSED("sshAccess", SEQ) \
	X##_UNUSED("nodePortAccess", SEQ) \
	X##_UNUSED("sshKeyName", SCALAR) \
	X##_UNUSED("kubernetesApiAccess", SEQ) \
	X##_UNUSED("updatePolicy", SCALAR) \
	X##_UNUSED("additionalPolicies", MAP) \
	X##_UNUSED("kubeDNS", MAP) \
	X##_UNUSED("externalDns", MAP) \
	X##_UNUSED("cloudLabels", MAP) \
	X##_UNUSED("iam", MAP)
/* clang-format on */
