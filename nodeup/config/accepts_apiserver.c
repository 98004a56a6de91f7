#include "nodeup/config/accepts_apiserver.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/str.h"

/* Returns whether the soft limit in name=soft:hard is at most the hard limit. */
static bool is_soft_below_hard(const char *s)
{
	char *end;
	const long long soft = strtoll(s + strcspn(s, "=") + (strchr(s, '=') != NULL), &end, 10);
	const long long hard = *end == ':' ? strtoll(end + 1, NULL, 10) : -1;

	return hard == -1 || soft <= hard;
}

/* clang-format off */
#define PLUGINS_OLD                                                                                     \
	"AlwaysAdmit|AlwaysDeny|AlwaysPullImages|DefaultStorageClass|DenyEscalatingExec|"               \
	"DenyExecOnPrivileged|ImagePolicyWebhook|InitialResources|LimitPodHardAntiAffinityTopology|"    \
	"LimitRanger|NamespaceAutoProvision|NamespaceExists|NamespaceLifecycle|"                        \
	"OwnerReferencesPermissionEnforcement|PersistentVolumeLabel|PodNodeSelector|PodSecurityPolicy|" \
	"ResourceQuota|SecurityContextDeny|ServiceAccount"
#define PLUGINS_6_TO_10                                                                          \
	PLUGINS_OLD                                                                              \
		"|DefaultTolerationSeconds|EventRateLimit|ExtendedResourceToleration|"           \
		"GenericAdmissionWebhook|Initializers|MutatingAdmissionWebhook|NodeRestriction|" \
		"PersistentVolumeClaimResize|PodTolerationRestriction|Priority|PVCProtection|"   \
		"StorageObjectInUseProtection|ValidatingAdmissionWebhook"
#define PLUGINS                                                                                           \
	"AlwaysAdmit|AlwaysDeny|AlwaysPullImages|CertificateApproval|CertificateSigning|"                 \
	"CertificateSubjectRestriction|ClusterTrustBundleAttest|DefaultIngressClass|DefaultStorageClass|" \
	"DefaultTolerationSeconds|DenyServiceExternalIPs|EventRateLimit|ExtendedResourceToleration|"      \
	"ImagePolicyWebhook|JobValidation|LimitPodHardAntiAffinityTopology|LimitRanger|"                  \
	"MutatingAdmissionPolicy|MutatingAdmissionWebhook|NamespaceAutoProvision|NamespaceExists|"        \
	"NamespaceLifecycle|NodeDeclaredFeatureValidator|NodeRestriction|"                                \
	"OwnerReferencesPermissionEnforcement|PersistentVolumeClaimResize|PodGroupProtection|"            \
	"PodGroupWorkloadExists|PodNodeSelector|PodResizeValidator|PodSecurity|"                          \
	"PodTolerationRestriction|PodTopologyLabels|Priority|ResourceQuota|RuntimeClass|ServiceAccount|"  \
	"StorageObjectInUseProtection|TaintNodesByCondition|ValidatingAdmissionPolicy|"                   \
	"ValidatingAdmissionWebhook"
#define CONTROLLERS                                                                                      \
	"attachdetach|bootstrap-signer-controller|bootstrapsigner|"                                      \
	"certificatesigningrequest-approving-controller|certificatesigningrequest-cleaner-controller|"   \
	"certificatesigningrequest-signing-controller|cloud-node-lifecycle|"                             \
	"cloud-node-lifecycle-controller|clusterrole-aggregation|clusterrole-aggregation-controller|"    \
	"cronjob|cronjob-controller|csrapproving|csrcleaner|csrsigning|daemonset|daemonset-controller|"  \
	"deployment|deployment-controller|device-taint-eviction-controller|disruption|"                  \
	"disruption-controller|endpoint|endpoints-controller|endpointslice|endpointslice-controller|"    \
	"endpointslice-mirroring-controller|endpointslicemirroring|ephemeral-volume|"                    \
	"ephemeral-volume-controller|evictionrequest-controller|garbage-collector-controller|"           \
	"garbagecollector|horizontal-pod-autoscaler-controller|horizontalpodautoscaling|job|"            \
	"job-controller|kube-apiserver-serving-clustertrustbundle-publisher-controller|"                 \
	"legacy-service-account-token-cleaner|legacy-serviceaccount-token-cleaner-controller|namespace|" \
	"namespace-controller|node-ipam-controller|node-lifecycle-controller|node-route-controller|"     \
	"nodeipam|nodelifecycle|persistentvolume-attach-detach-controller|persistentvolume-binder|"      \
	"persistentvolume-binder-controller|persistentvolume-expander|"                                  \
	"persistentvolume-expander-controller|persistentvolume-protection-controller|"                   \
	"persistentvolumeclaim-protection-controller|pod-garbage-collector-controller|"                  \
	"podcertificaterequest-cleaner-controller|podgc|podgroup-protection-controller|pv-protection|"   \
	"pvc-protection|replicaset|replicaset-controller|replicationcontroller|"                         \
	"replicationcontroller-controller|resource-claim-controller|resourceclaim-controller|"           \
	"resourcepoolstatusrequest-controller|resourcequota|resourcequota-controller|"                   \
	"root-ca-cert-publisher|root-ca-certificate-publisher-controller|route|"                         \
	"selinux-warning-controller|service|service-ca-cert-publisher|"                                  \
	"service-ca-certificate-publisher-controller|service-cidr-controller|service-lb-controller|"     \
	"serviceaccount|serviceaccount-controller|serviceaccount-token|"                                 \
	"serviceaccount-token-controller|statefulset|statefulset-controller|storage-version-gc|"         \
	"storage-version-migrator-controller|storageversion-garbage-collector-controller|svm|"           \
	"taint-eviction-controller|token-cleaner-controller|tokencleaner|ttl|ttl-after-finished|"        \
	"ttl-after-finished-controller|ttl-controller|validatingadmissionpolicy-status-controller|"      \
	"volumeattributesclass-protection-controller"
/* clang-format on */

#define PATTERN(w, p) .wanted = (w), .pattern = (p)
/* a URL that Go accepts; the pattern accepts more, such as any text without ':' */
#define URL                                                                                                      \
	"^([^:]*|[^:/]*/.*|[A-Za-z][A-Za-z0-9+.-]*:(//([^/?#]*@)?([[][^]]*[]]|[^][/?#: ]*)(:[0-9]*)?([/?#].*)?|" \
	"/?([^/].*)?))$"
#define MODES "AlwaysAllow|AlwaysDeny|ABAC|Webhook|RBAC"
const struct field_accepts accepts_ip = { PATTERN("an IP address",
						  "^[ \t]*(" IP_ADDRESS ")[ \t]*$") };
const struct field_accepts accepts_one_or_more = { ACCEPTS_OR_MORE(1) };
const struct field_accepts accepts_period_text = { PATTERN(
	"a duration such as 12h",
	"^[+-]?(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|\xc2\xb5s|\xce\xbcs|ms|s|m|h))+)$") };
const struct field_accepts accepts_allowed_path = { PATTERN("a path with '*' at its end alone",
							    "^[^*]*\\*?$") };

const struct field_accepts accepts_insecure_port = { ACCEPTS_FROM_TO(0, 65535), .until = 10 };
static const struct field_accepts secure_port_today = { ACCEPTS_FROM_TO(1, 65535), .since = 20 };
const struct field_accepts accepts_secure_port = { ACCEPTS_FROM_TO(0, 65535), .until = 10,
						   .next = &secure_port_today };
/* later versions check these values only if the audit log is on: see rules */
const struct field_accepts accepts_audit_count = { ACCEPTS_OR_MORE(0), .until = 9 };
/* from 1.27 on feature gates decide the size of ranges: see rules */
static const struct field_accepts small_ranges = {
	PATTERN("ranges of at most 2^20 addresses", RANGES_SMALL), .until = 26
};
static const struct field_accepts first_range = {
	PATTERN("eight addresses or more in the first range", RANGES_OF_EIGHT),
	.next = &small_ranges
};
const struct field_accepts accepts_service_ranges = {
	PATTERN("one address range, or two of different families", RANGES_DUAL),
	.next = &first_range
};
const struct field_accepts accepts_etcd_server = { PATTERN(
	"a URL such as https://127.0.0.1:4001", "^(https?|unixs?)://|^([^:]|:[^/]|:/[^/])*:?/?$") };
const struct field_accepts accepts_etcd_override = {
	PATTERN("group/resource#server, with a semicolon between servers", "^[^#/]*/[^#/]*#[^#]*$"),
	.since = 20
};
const struct field_accepts accepts_storage_backend = { .oneof = "etcd3", .since = 13 };
static const struct field_accepts authorization_mode_7 = { .oneof = MODES "|Node",
							   .commas = true,
							   .since = 7 };
const struct field_accepts accepts_authorization_mode = { .oneof = MODES,
							  .commas = true,
							  .until = 6,
							  .next = &authorization_mode_7 };
static const struct field_accepts plugin_today = { .wanted = "an admission plugin",
						   .oneof = PLUGINS,
						   .commas = true,
						   .names = true,
						   .since = 31 };
const struct field_accepts accepts_admission_plugin = { .wanted = "an admission plugin",
							.oneof = PLUGINS_6_TO_10,
							.commas = true,
							.names = true,
							.until = 10,
							.next = &plugin_today };
const struct field_accepts accepts_goaway_chance = { PATTERN(
	"a number from 0 to 0.02",
	"^[+-]?(0+[.]?0*|[.]0+)$|^[+]?0*[.]0([01][0-9]*|20*)?$|^[+]?[0-9.]+[eE]-") };
static const struct field_accepts oidc_issuer_today = {
	PATTERN("an https URL without a user, a query and a fragment",
		"(?i)^https:(//[^@/?#]*(/[^?#]*)?|[^/?#][^?#]*)$"),
	.since = 31
};
const struct field_accepts accepts_oidc_issuer = { PATTERN("an https URL", "(?i)^https:"),
						   .until = 30, .next = &oidc_issuer_today };
const struct field_accepts accepts_token_issuer = { PATTERN("a URL, or a text without ':'", URL),
						    .since = 22 };
const struct field_accepts accepts_https_url = { PATTERN("an https URL", "(?i)^https:"),
						 .since = 20 };
static const struct field_accepts runtime_key = {
	PATTERN("v1, group/version, group/version/resource or a word such as api/all",
		"^(v1|[^/]*/[^/]*(/[^/]*)?)$"),
	.keys = true, .since = 31
};
const struct field_accepts accepts_runtime_config = { .wanted = "true or false",
						      .oneof = FLAG_BOOL,
						      .next = &runtime_key };
const struct field_accepts accepts_request_header = {
	PATTERN("a text that is not blank", "[^ \t\r\n]"), .since = 18
};
const struct field_accepts accepts_cors_origin = {
	PATTERN("a pattern with ^ or // before the host and $ or : behind it",
		"((\\^|//).*[$:])|([$:].*(\\^|//))"),
	.since = 31
};
const struct field_accepts accepts_hsts = { PATTERN(
	"max-age=SECONDS, includeSubDomains or preload",
	"^(includeSubDomains|preload|max-age=[^=]*)$") };

const struct field_accepts accepts_cache_size = { PATTERN("resource#size", "^[^#]*#[+]?[0-9]+$"),
						  .commas = true };

const struct field_accepts accepts_controller = {
	PATTERN("*, a controller, or one with - before it", "^([*]|-?(" CONTROLLERS "))$"),
	.near = CONTROLLERS, .commas = true, .names = true, .since = 31
};
const struct field_accepts accepts_reconcile_period = { .wanted = "a duration of 1s or more",
							.min = DUR_SEC,
							.max = INT64_MAX };

#define LEVELS "panic|fatal|error|warn|warning|info|debug|trace"
const struct field_accepts accepts_containerd_level = {
	PATTERN("one of " LEVELS, "(?i)^(" LEVELS ")$"), .near = LEVELS
};
#define LIMITS \
	"core|cpu|data|fsize|locks|memlock|msgqueue|nice|nofile|nproc|rss|rtprio|rttime|sigpending|stack"
const struct field_accepts accepts_ulimit = { PATTERN("a limit such as nofile=1024:4096",
						      "^(" LIMITS ")=-?[0-9]+(:-?[0-9]+)?$"),
					      .near = LIMITS, .is_valid = is_soft_below_hard };
const struct field_accepts accepts_mirror = { PATTERN(
	"a URL such as https://mirror.example.com, without a path", "(?i)^https?://[^/?#]+/?$") };
const struct field_accepts accepts_log_driver = {
	.oneof =
		"none|local|json-file|syslog|journald|gelf|fluentd|awslogs|splunk|etwlogs|gcplogs|logentries",
	.names = true
};

const struct field_accepts accepts_admission_plugin_old = { .wanted = "an admission plugin",
							    .oneof = PLUGINS_OLD,
							    .commas = true,
							    .names = true };

/* Rules. */

/* clang-format off */
#define RULES(name, where, ...) \
	static const struct field_rule rows_of_##name[] = { __VA_ARGS__ }; \
	const struct field_rules rules_##name = { rows_of_##name, ARRAY_LEN(rows_of_##name), where }
/* the program checks the keys of its audit log and webhook only if log and webhook are on */
#define LOG(k) .keys = "auditLog" k, .when = "auditLogPath&auditLog" k
#define HOOK(k, more) .keys = "auditWebhook" k, .when = "auditWebhookConfigFile&" more
#define BATCH "auditWebhookMode:batch=batch&auditWebhookBatch"
#define THROTTLED "!auditWebhookBatchThrottleEnable=false&" BATCH
#define COUNT .text = "expected an integer of 0 or more"
#define POSITIVE .text = "expected a number above 0"
/* kubelet refuses a pod whose limit is below its request; `usual` is the request that kops sets */
#define POD(usual) \
	{ .keys = "cpuLimit", .when = "cpuLimit<cpuRequest" usual, .text = "expected at least cpuRequest" usual }, \
	{ .keys = "memoryLimit", .when = "memoryLimit<memoryRequest", .text = "expected at least memoryRequest" }
#define OIDC_KEYS "usernameClaim|usernamePrefix|groupsClaims|groupsPrefix|requiredClaims"

RULES(apiserver, "KubeAPIServer",
	{ .keys = "authorizationMode", .when = "authorizationMode=ABAC",
	  .text = "expected no ABAC, as no key names its policy file" },
	{ .keys = "authorizationMode", .when = "authorizationMode=Webhook&!authorizationWebhookConfigFile",
	  .text = "expected authorizationWebhookConfigFile with Webhook" },
	{ .keys = "authorizationWebhookConfigFile", .when = "!authorizationMode=Webhook",
	  .text = "expected Webhook in authorizationMode" },
	{ .keys = "authorizationMode", .when = "authorizationMode#", .text = "expected each mode once" },
	/* not before 1.19: kops 1.8 gives nodes their rights by its own addon */
	{ .keys = "authorizationMode", .since = 19,
	  .when = "authorizationMode=RBAC|AlwaysDeny&!authorizationMode=Node|Webhook|ABAC|AlwaysAllow",
	  .text = "expected Node as well, as no node can register without it" },
	{ .keys = "disableAdmissionPlugins", .since = 10, .when = "disableAdmissionPlugins@admissionControl",
	  .text = "expected no plugin that admissionControl has" },
	/* if admissionControl is given, nodeup passes it instead of the enabled plugins */
	{ .keys = "disableAdmissionPlugins", .since = 10,
	  .when = "!admissionControl&disableAdmissionPlugins@enableAdmissionPlugins",
	  .text = "expected no plugin that enableAdmissionPlugins has" },
	{ .keys = "auditLogFormat", .when = "auditLogPath&!auditLogFormat=json|legacy", .text = "expected json or legacy" },
	{ LOG("MaxAge") "<0", COUNT, .since = 10 },
	{ LOG("MaxBackups") "<0", COUNT, .since = 10 },
	{ LOG("MaxSize") "<0", COUNT, .since = 10 },
	{ HOOK("Mode", "!auditWebhookMode=batch|blocking|blocking-strict"), .text = "expected batch, blocking or blocking-strict" },
	{ HOOK("BatchBufferSize", BATCH "BufferSize<=0"), POSITIVE },
	{ HOOK("BatchMaxSize", BATCH "MaxSize<=0"), POSITIVE },
	{ HOOK("BatchThrottleBurst", THROTTLED "ThrottleBurst<=0"), POSITIVE },
	{ HOOK("BatchThrottleQps", THROTTLED "ThrottleQps<=0"), POSITIVE },
	{ .keys = "oidcIssuerURL", .when = "!oidcClientID", .text = "expected oidcClientID as well" },
	{ .keys = "oidcClientID", .when = "!oidcIssuerURL", .text = "expected oidcIssuerURL as well" },
	/* the API server's priority and fairness needs this group, and no key turns that feature off */
	{ .keys = "runtimeConfig", .since = 31, .when = "runtimeConfig.flowcontrol.apiserver.k8s.io/v1=false",
	  .text = "expected flowcontrol.apiserver.k8s.io/v1 to be on" },
	{ .keys = "runtimeConfig", .since = 31,
	  .when = "!runtimeConfig.flowcontrol.apiserver.k8s.io/v1&runtimeConfig.api/ga=false",
	  .text = "expected flowcontrol.apiserver.k8s.io/v1: true beside api/ga: false" },
	{ .keys = "runtimeConfig", .since = 31,
	  .when = "!runtimeConfig.flowcontrol.apiserver.k8s.io/v1&!runtimeConfig.api/ga&runtimeConfig.api/all=false",
	  .text = "expected api/ga: true or flowcontrol.apiserver.k8s.io/v1: true beside api/all: false" },
	/* before 1.34 a gate may remove the limit; from 1.34 on there is no limit */
	{ .keys = "serviceClusterIPRange", .since = 31, .until = 33,
	  .when = "!featureGates.DisableAllocatorDualWrite=true&!featureGates.AllAlpha=true&!featureGates.AllBeta=true&"
		  "!serviceClusterIPRange~" RANGES_SMALL,
	  .text = "expected ranges of at most 2^20 addresses" },
	/* the program itself judges an unspecified address, such as :: */
	{ .keys = "advertiseAddress", .since = 31, .when = "advertiseAddress~[^0.:]&advertiseAddress~:&serviceClusterIPRange~^[^,:]+(,|$)",
	  .text = "expected an address of the family of serviceClusterIPRange, IPv4" },
	{ .keys = "advertiseAddress", .since = 31, .when = "advertiseAddress~[^0.:]&!advertiseAddress~:&serviceClusterIPRange~^[^,]*:",
	  .text = "expected an address of the family of serviceClusterIPRange, IPv6" },
	{ .keys = "etcdServers", .when = "!etcdServers", .text = "expected at least one server" },
	{ .keys = "additionalServiceAccountIssuers", .since = 22,
	  .when = "additionalServiceAccountIssuers@serviceAccountIssuer", .text = "expected other issuers than serviceAccountIssuer" },
	POD(":150m"));

RULES(oidc, "KubeAPIServer|oidc",
	{ .keys = "clientID|" OIDC_KEYS, .since = 31, .when = "!issuerURL&!authenticationConfigFile",
	  .text = "expected issuerURL as well" },
	{ .keys = "issuerURL|" OIDC_KEYS, .since = 31, .when = "!clientID&!authenticationConfigFile",
	  .text = "expected clientID as well" },
	{ .keys = "issuerURL|clientID|" OIDC_KEYS, .since = 31, .when = "authenticationConfigFile",
	  .text = "expected no OpenID Connect beside authenticationConfigFile" });

/* holds if the controller that gives nodes their ranges runs */
#define GIVES "allocateNodeCIDRs=true&!cidrAllocatorType=CloudAllocator&" \
	      "!controllers=-nodeipam|-node-ipam-controller&controllers:*=[*]|nodeipam|node-ipam-controller"
#define ONE_MASK "!nodeCIDRMaskSize:0=0&!clusterCIDR~,&"
/* source: kubernetes pkg/controller/nodeipam; 1.8, 1.24 to 1.26 and 1.31 to 1.36 agree */
#define NODE_MASK(wrong) \
	{ .keys = "nodeCIDRMaskSize|clusterCIDR", .when = GIVES "&clusterCIDR&" wrong, \
	  .text = "expected a mask of nodes (nodeCIDRMaskSize, else 24 and 64) as long as that of clusterCIDR or longer, of IPv6 by at most 16" }
RULES(kcm, "KubeControllerManager",
	{ .keys = "allocateNodeCIDRs", .since = 31, .when = GIVES "&!clusterCIDR", .text = "expected clusterCIDR with it" },
	{ .keys = "clusterCIDR", .since = 31, .when = GIVES "&!clusterCIDR~" RANGES_DUAL,
	  .text = "expected one range, or two of different families" },
	{ .keys = "nodeCIDRMaskSize", .since = 31, .when = GIVES "&!nodeCIDRMaskSize=0&clusterCIDR~,",
	  .text = "expected one range in clusterCIDR" },
	/* an IPv4 mask above 24; an IPv6 mask below 48 or above 64 */
	NODE_MASK("nodeCIDRMaskSize:0=0&clusterCIDR=[^,:]*/0*(2[5-9]|3[0-2])|"
		  "[^,]*:[^,]*/0*([0-9]|[1-3][0-9]|4[0-7]|6[5-9]|[7-9][0-9]|1[0-2][0-9])"),
	NODE_MASK(ONE_MASK "nodeCIDRMaskSize<clusterCIDR"),
	NODE_MASK(ONE_MASK "clusterCIDR~:&clusterCIDR+16<nodeCIDRMaskSize"),
	NODE_MASK(ONE_MASK "128<nodeCIDRMaskSize"),
	NODE_MASK(ONE_MASK "!clusterCIDR~:&32<nodeCIDRMaskSize"),
	{ .keys = "cidrAllocatorType", .since = 31, .when = GIVES "&!cidrAllocatorType=RangeAllocator|IPAMFromCluster|IPAMFromCloud",
	  .text = "expected RangeAllocator" },
	{ .keys = "kubeAPIBurst", .since = 31, .when = "kubeAPIBurst<=0&0<kubeAPIQPS:20", POSITIVE },
	POD(":100m"));

#define LED "!leaderElect=false&"
RULES(leader, "leaderElection",
	{ .keys = "leaderElectLeaseDuration|leaderElectRenewDeadlineDuration",
	  .when = LED "leaderElectLeaseDuration:15s<=~leaderElectRenewDeadlineDuration:10s",
	  .text = "expected a lease (15s where it is not given) longer than the deadline of its renewal (10s)" },
	{ .keys = "leaderElectRenewDeadlineDuration|leaderElectRetryPeriod",
	  .when = LED "leaderElectRenewDeadlineDuration:10s<=~leaderElectRetryPeriod:2s*1.2",
	  .text = "expected a deadline of the renewal (10s where it is not given) longer than 1.2 times the retry period (2s)" },
	{ .keys = "leaderElectRetryPeriod", .when = LED "leaderElectRetryPeriod<=~0", .text = "expected a duration above 0" },
	{ .keys = "leaderElectResourceLock", .since = 31, .when = LED "!leaderElectResourceLock=leases", .text = "expected leases" });

RULES(scheduler, "KubeScheduler", POD(":100m"));
RULES(pod, "KubeProxy", POD(""));

RULES(containerd, "containerdConfig",
	{ .keys = "state|root", .when = "root:/var/lib/containerd@state:/run/containerd",
	  .text = "expected root and state to be two folders" });
/* clang-format on */
