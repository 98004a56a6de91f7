#include "nodeup/config/feature_gates.h"
#include "nodeup/config/specs.h"

#include <stddef.h>

/* source: kops 1.8.1 pkg/apis/kops/componentconfig.go KubeProxyConfig */
/* clang-format off */
static const struct field proxy_fields[] = {
#define F(m, ...) FIELD(struct kube_proxy_spec, m, __VA_ARGS__)
	F(image, .key = "image", .doc = "container image"),
	F(cpu_request, .key = "cpuRequest", .format = &format_quantity,
	  .doc = "CPU request of the pod"),
	F(log_level, .key = "logLevel", .flag = "v", .doc = "log verbosity"),
	F(cluster_cidr, .key = "clusterCIDR", .flag = "cluster-cidr",
	  .format = &format_cidr, .doc = "pod addresses of the cluster"),
	F(hostname_override, .key = "hostnameOverride", .flag = "hostname-override",
	  .doc = "node name; @aws takes it from the instance's metadata"),
	F(master, .key = "master", .flag = "master", .doc = "address of the API server"),
	F(enabled, .key = "enabled", .doc = "false leaves kube-proxy out"),
	F(feature_gates, .key = "featureGates", .flag = "feature-gates", .keys = FEATURE_GATES,
	  .doc = "feature switches"),
#undef F
};
/* clang-format on */

const struct schema kube_proxy_schema =
	SCHEMA(struct kube_proxy_spec, "KubeProxyConfig", proxy_fields);
