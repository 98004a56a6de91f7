#include "nodeup/config/feature_gates.h"
#include "nodeup/config/specs.h"

#include <stddef.h>

/* source: kops 1.8.1 pkg/apis/kops/componentconfig.go KubeControllerManagerConfig */
/* clang-format off */
static const struct field kcm_fields[] = {
#define F(m, ...) FIELD(struct kube_controller_manager_spec, m, __VA_ARGS__)
	F(master, .key = "master", .flag = "master", .doc = "address of the API server"),
	F(log_level, .key = "logLevel", .flag = "v", .flag_empty = "0", .doc = "log verbosity"),
	F(service_account_private_key_file, .key = "serviceAccountPrivateKeyFile",
	  .flag = "service-account-private-key-file",
	  .doc = "key that signs service account tokens"),
	F(image, .key = "image", .doc = "container image"),
	F(cloud_provider, .key = "cloudProvider", .flag = "cloud-provider",
	  .doc = "cloud integration to use"),
	F(cluster_name, .key = "clusterName", .flag = "cluster-name",
	  .doc = "prefix of the cluster's cloud resources"),
	F(cluster_cidr, .key = "clusterCIDR", .flag = "cluster-cidr",
	  .format = &format_cidr, .doc = "pod addresses of the cluster"),
	F(allocate_node_cidrs, .key = "allocateNodeCIDRs", .flag = "allocate-node-cidrs",
	  .doc = "give each node a pod range"),
	F(configure_cloud_routes, .key = "configureCloudRoutes",
	  .flag = "configure-cloud-routes", .doc = "route pod ranges in the cloud"),
	F(root_ca_file, .key = "rootCAFile", .flag = "root-ca-file",
	  .doc = "CA given to service accounts"),
	FIELD_NESTED(struct kube_controller_manager_spec, leader_election, &leader_election_schema, .key = "leaderElection",
		     .doc = "leader election"),
	F(attach_detach_reconcile_sync_period, .key = "attachDetachReconcileSyncPeriod",
	  .flag = "attach-detach-reconcile-sync-period",
	  .doc = "interval of the volume reconciler"),
	F(terminated_pod_gc_threshold, .key = "terminatedPodGCThreshold",
	  .flag = "terminated-pod-gc-threshold", .doc = "finished pods to keep"),
	F(use_service_account_credentials, .key = "useServiceAccountCredentials",
	  .flag = "use-service-account-credentials", .doc = "one service account a controller"),
	F(horizontal_pod_autoscaler_sync_period, .key = "horizontalPodAutoscalerSyncPeriod",
	  .flag = "horizontal-pod-autoscaler-sync-period",
	  .doc = "interval of the pod autoscaler"),
	F(horizontal_pod_autoscaler_downscale_delay,
	  .key = "horizontalPodAutoscalerDownscaleDelay",
	  .flag = "horizontal-pod-autoscaler-downscale-delay", .since = 7,
	  .doc = "wait before scaling down again"),
	F(horizontal_pod_autoscaler_upscale_delay, .key = "horizontalPodAutoscalerUpscaleDelay",
	  .flag = "horizontal-pod-autoscaler-upscale-delay", .since = 7,
	  .doc = "wait before scaling up again"),
	F(horizontal_pod_autoscaler_use_rest_clients,
	  .key = "horizontalPodAutoscalerUseRestClients",
	  .flag = "horizontal-pod-autoscaler-use-rest-clients",
	  .doc = "use the custom metrics API"),
	F(feature_gates, .key = "featureGates", .flag = "feature-gates", .keys = FEATURE_GATES,
	  .doc = "feature switches"),
#undef F
};
/* clang-format on */

const struct schema kube_controller_manager_schema =
	SCHEMA(struct kube_controller_manager_spec, "KubeControllerManagerConfig", kcm_fields);
