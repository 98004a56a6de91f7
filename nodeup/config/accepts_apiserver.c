#include "nodeup/config/accepts_apiserver.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/str.h"

enum {
	PORT_MAX = 65535,
	RANGES_MAX = 2,     /* one of each family */
	ADDRESS_BITS = 3,   /* at least eight addresses */
	HOST_BITS_MAX = 20, /* what etcd holds a bit of each for */
	NODE_MASK_IPV4 = 24,
	NODE_MASK_IPV6 = 64,
	SUBNET_BITS_MAX = 16 /* of IPv6 */
};

/* An address range that the reader knows to be one. */
struct range {
	bool ipv6;
	int bits; /* of hosts */
};

/* The ranges of a text with commas, one more than there may be at most; how many there are. */
static size_t read_ranges(const char *s, struct range out[static RANGES_MAX + 1])
{
	size_t n = 0;

	while (n <= RANGES_MAX) {
		const size_t len = strcspn(s, ",");
		const char *slash = memchr(s, '/', len);
		const bool ipv6 = memchr(s, ':', len) != NULL;
		const long mask = slash ? strtol(slash + 1, NULL, 10) : 0;

		out[n++] = (struct range){ ipv6, (ipv6 ? 128 : 32) - (int)mask };
		if (!s[len])
			break;
		s += len + 1;
	}
	return n;
}

/* One, or two of different families. */
static bool is_single_or_dual(const struct range *r, size_t n)
{
	return n == 1 || (n == RANGES_MAX && r[0].ipv6 != r[1].ipv6);
}

static bool are_service_ranges(const char *s)
{
	struct range r[RANGES_MAX + 1];

	return is_single_or_dual(r, read_ranges(s, r)) && r[0].bits >= ADDRESS_BITS;
}

static bool is_any_larger(const char *s, int bits)
{
	struct range r[RANGES_MAX + 1];

	for (size_t i = read_ranges(s, r); i-- > 0;)
		if (r[i].bits > bits)
			return true;
	return false;
}

static bool are_small_service_ranges(const char *s)
{
	return are_service_ranges(s) && !is_any_larger(s, HOST_BITS_MAX);
}

/* A number that Go reads as a float. */
static bool is_chance(const char *s)
{
	char *end;
	const double v = strtod(s, &end);

	return end != s && !*end && v >= 0 && v <= 0.02;
}

static bool is_go_duration(const char *s)
{
	struct err ignored;
	int64_t ns;

	return dur_parse(s, &ns, &ignored) == 0;
}

static bool is_bool(const char *s)
{
	return format_is_valid(&format_switch, s);
}

/* Limits of name=soft:hard. */
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

/* '*', a name, or one with '-' before it. */
static bool is_controller(const char *s)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv names = strv_split(a, CONTROLLERS, '|');

	return str_eq(s, "*") || strv_has(&names, s + (*s == '-'));
}

#define OR_MORE(n) .min = (n), .max = INT64_MAX
#define FORM(w, f) .wanted = (w), .is_valid = (f)
#define PATTERN(w, p) .wanted = (w), .pattern = (p)
/* zeros before a part count, as in Kubernetes */
#define OCTET "0*(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
/* what Go reads as a URL, or more; without ':' anything */
#define URL                                                                                                      \
	"^([^:]*|[^:/]*/.*|[A-Za-z][A-Za-z0-9+.-]*:(//([^/?#]*@)?([[][^]]*[]]|[^][/?#: ]*)(:[0-9]*)?([/?#].*)?|" \
	"/?([^/].*)?))$"
#define MODES "AlwaysAllow|AlwaysDeny|ABAC|Webhook|RBAC"
#define RANGES \
	"one address range, or two of different families; the first has eight addresses or more"

const struct field_accepts accepts_ip = { PATTERN(
	"an IP address",
	"^[ \t]*((" OCTET "\\.){3}" OCTET "|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)[ \t]*$") };
const struct field_accepts accepts_one_or_more = { OR_MORE(1) };
const struct field_accepts accepts_period_text = { FORM("a duration such as 12h", is_go_duration) };
const struct field_accepts accepts_allowed_path = { PATTERN("a path with '*' at its end alone",
							    "^[^*]*\\*?$") };

const struct field_accepts accepts_secure_port = { .min = 1, .max = PORT_MAX, .since = 20 };
/* from 1.31 on gates decide of the size: see rules */
static const struct field_accepts service_ranges_today = { FORM(RANGES, are_service_ranges),
							   .since = 31 };
const struct field_accepts accepts_service_ranges = { FORM(RANGES ", each at most 2^20",
							   are_small_service_ranges),
						      .until = 30, .next = &service_ranges_today };
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
const struct field_accepts accepts_goaway_chance = { FORM("a number from 0 to 0.02", is_chance) };
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
const struct field_accepts accepts_runtime_config = { FORM("true or false", is_bool),
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

const struct field_accepts accepts_controller = { FORM("*, a controller, or one with - before it",
						       is_controller),
						  .commas = true, .names = true, .since = 31 };
const struct field_accepts accepts_reconcile_period = { OR_MORE(DUR_SEC) };

const struct field_accepts accepts_containerd_level = { PATTERN(
	"one of panic|fatal|error|warn|warning|info|debug|trace",
	"(?i)^(panic|fatal|error|warn|warning|info|debug|trace)$") };
const struct field_accepts accepts_ulimit = {
	PATTERN("a limit such as nofile=1024:4096",
		"^(core|cpu|data|fsize|locks|memlock|msgqueue|nice|nofile|nproc|rss|rtprio|rttime|sigpending|stack)=-?[0-9]+(:-?[0-9]+)?$"),
	.is_valid = is_soft_below_hard
};
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

static size_t ranges_of(const struct rule_values *v, const char *key,
			struct range r[static RANGES_MAX + 1])
{
	return read_ranges(rules_text(v, key, ""), r);
}

static bool are_services_too_many(const struct rule_values *v)
{
	return is_any_larger(rules_text(v, "serviceClusterIPRange", ""), HOST_BITS_MAX);
}

/* An address that stands for all is left to the program. */
static bool is_advertised_in_another_family(const struct rule_values *v)
{
	const char *address = rules_text(v, "advertiseAddress", "");
	struct range r[RANGES_MAX + 1];

	(void)ranges_of(v, "serviceClusterIPRange", r);
	return address[strspn(address, "0.:")] && (strchr(address, ':') != NULL) != r[0].ipv6;
}

static bool has_mode_twice(const struct rule_values *v)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv modes = strv_split(a, rules_text(v, "authorizationMode", ""), ',');

	strv_sort(&modes);
	for (size_t i = 1; i < modes.n; i++)
		if (str_eq(modes.v[i - 1], modes.v[i]))
			return true;
	return false;
}

static bool are_cluster_ranges_wrong(const struct rule_values *v)
{
	struct range r[RANGES_MAX + 1];

	return !is_single_or_dual(r, ranges_of(v, "clusterCIDR", r));
}

static bool has_several_ranges(const struct rule_values *v)
{
	struct range r[RANGES_MAX + 1];

	return ranges_of(v, "clusterCIDR", r) > 1;
}

static bool is_node_mask_wrong(const struct rule_values *v)
{
	const int64_t given = rules_int(v, "nodeCIDRMaskSize", 0);
	struct range r[RANGES_MAX + 1];
	const size_t n = ranges_of(v, "clusterCIDR", r);

	for (size_t i = 0; (n == 1 || !given) && i < n; i++) {
		const int bits = r[i].ipv6 ? 128 : 32;
		const int64_t mask = given ? given : r[i].ipv6 ? NODE_MASK_IPV6 : NODE_MASK_IPV4;
		const int64_t longer = mask - (bits - r[i].bits);

		if (longer < 0 || mask > bits || (r[i].ipv6 && longer > SUBNET_BITS_MAX))
			return true;
	}
	return false;
}

/* clang-format off */
#define RULES(name, ...) \
	static const struct field_rule rows_of_##name[] = { __VA_ARGS__ }; \
	const struct field_rules rules_##name = { rows_of_##name, ARRAY_LEN(rows_of_##name) }
/* the audit log and its webhook are looked at where they are on */
#define LOG(k) .keys = "auditLog" k, .when = "auditLogPath&auditLog" k
#define HOOK(k, more) .keys = "auditWebhook" k, .when = "auditWebhookConfigFile&" more
#define BATCH "auditWebhookMode:batch=batch&auditWebhookBatch"
#define THROTTLED "auditWebhookBatchThrottleEnable!=false&" BATCH
#define COUNT .text = "expected an integer of 0 or more"
#define POSITIVE .text = "expected a number above 0"
/* kubelet refuses such a pod; `usual` is what kops requests */
#define POD(usual) \
	{ .keys = "cpuLimit", .when = "cpuLimit<cpuRequest" usual, .text = "expected at least cpuRequest" usual }, \
	{ .keys = "memoryLimit", .when = "memoryLimit<memoryRequest", .text = "expected at least memoryRequest" }
#define OIDC_KEYS "usernameClaim|usernamePrefix|groupsClaims|groupsPrefix|requiredClaims"

RULES(apiserver,
	{ .keys = "authorizationMode", .when = "authorizationMode=ABAC",
	  .text = "expected no ABAC, as no key names its policy file" },
	{ .keys = "authorizationMode", .when = "authorizationMode=Webhook&!authorizationWebhookConfigFile",
	  .text = "expected authorizationWebhookConfigFile with Webhook" },
	{ .keys = "authorizationWebhookConfigFile", .when = "authorizationMode!=Webhook",
	  .text = "expected Webhook in authorizationMode" },
	{ .keys = "authorizationMode", .is_broken = has_mode_twice, .text = "expected each mode once" },
	/* kops 1.8 gives nodes their rights by an addon of its own */
	{ .keys = "authorizationMode", .since = 19,
	  .when = "authorizationMode=RBAC|AlwaysDeny&authorizationMode!=Node|Webhook|ABAC|AlwaysAllow",
	  .text = "expected Node as well, as no node can register without it" },
	{ .keys = "disableAdmissionPlugins", .since = 10, .when = "disableAdmissionPlugins=@admissionControl",
	  .text = "expected no plugin that admissionControl has" },
	/* nodeup gives the API server admissionControl instead where it is given */
	{ .keys = "disableAdmissionPlugins", .since = 10,
	  .when = "!admissionControl&disableAdmissionPlugins=@enableAdmissionPlugins",
	  .text = "expected no plugin that enableAdmissionPlugins has" },
	{ LOG("Format") "!=json|legacy", .text = "expected json or legacy" },
	{ LOG("MaxAge") "<0", COUNT },
	{ LOG("MaxBackups") "<0", COUNT },
	{ LOG("MaxSize") "<0", COUNT },
	{ HOOK("Mode", "auditWebhookMode!=batch|blocking|blocking-strict"), .text = "expected batch, blocking or blocking-strict" },
	{ HOOK("BatchBufferSize", BATCH "BufferSize<=0"), POSITIVE },
	{ HOOK("BatchMaxSize", BATCH "MaxSize<=0"), POSITIVE },
	{ HOOK("BatchThrottleBurst", THROTTLED "ThrottleBurst<=0"), POSITIVE },
	{ HOOK("BatchThrottleQps", THROTTLED "ThrottleQps<=0"), POSITIVE },
	{ .keys = "oidcIssuerURL", .when = "!oidcClientID", .text = "expected oidcClientID as well" },
	{ .keys = "oidcClientID", .when = "!oidcIssuerURL", .text = "expected oidcIssuerURL as well" },
	/* priority and fairness wants its own group, and no key turns it off */
	{ .keys = "runtimeConfig", .since = 31, .when = "runtimeConfig.flowcontrol.apiserver.k8s.io/v1=false",
	  .text = "expected flowcontrol.apiserver.k8s.io/v1 to be on" },
	{ .keys = "runtimeConfig", .since = 31,
	  .when = "!runtimeConfig.flowcontrol.apiserver.k8s.io/v1&runtimeConfig.api/ga=false",
	  .text = "expected flowcontrol.apiserver.k8s.io/v1: true beside api/ga: false" },
	{ .keys = "runtimeConfig", .since = 31,
	  .when = "!runtimeConfig.flowcontrol.apiserver.k8s.io/v1&!runtimeConfig.api/ga&runtimeConfig.api/all=false",
	  .text = "expected api/ga: true or flowcontrol.apiserver.k8s.io/v1: true beside api/all: false" },
	/* from 1.34 on no bit of each address is held; before, a gate may say so */
	{ .keys = "serviceClusterIPRange", .since = 31, .until = 33, .is_broken = are_services_too_many,
	  .when = "featureGates.DisableAllocatorDualWrite!=true&featureGates.AllAlpha!=true&featureGates.AllBeta!=true",
	  .text = "expected ranges of at most 2^20 addresses" },
	{ .keys = "advertiseAddress", .since = 31, .when = "serviceClusterIPRange",
	  .is_broken = is_advertised_in_another_family, .text = "expected an address of the family of serviceClusterIPRange" },
	{ .keys = "etcdServers", .when = "!etcdServers", .text = "expected at least one server" },
	{ .keys = "additionalServiceAccountIssuers", .since = 22,
	  .when = "additionalServiceAccountIssuers=@serviceAccountIssuer", .text = "expected other issuers than serviceAccountIssuer" },
	POD(":150m"));

RULES(oidc,
	{ .keys = "clientID|" OIDC_KEYS, .since = 31, .when = "!issuerURL&!authenticationConfigFile",
	  .text = "expected issuerURL as well" },
	{ .keys = "issuerURL|" OIDC_KEYS, .since = 31, .when = "!clientID&!authenticationConfigFile",
	  .text = "expected clientID as well" },
	{ .keys = "issuerURL|clientID|" OIDC_KEYS, .since = 31, .when = "authenticationConfigFile",
	  .text = "expected no OpenID Connect beside authenticationConfigFile" });

/* the controller that gives nodes their ranges runs */
#define GIVES "allocateNodeCIDRs=true&cidrAllocatorType!=CloudAllocator&" \
	      "controllers!=-nodeipam|-node-ipam-controller&controllers:*=*|nodeipam|node-ipam-controller"
RULES(kcm,
	{ .keys = "allocateNodeCIDRs", .since = 31, .when = GIVES "&!clusterCIDR", .text = "expected clusterCIDR with it" },
	{ .keys = "clusterCIDR", .since = 31, .when = GIVES, .is_broken = are_cluster_ranges_wrong,
	  .text = "expected one range, or two of different families" },
	{ .keys = "nodeCIDRMaskSize", .since = 31, .when = GIVES "&nodeCIDRMaskSize!=0&clusterCIDR",
	  .is_broken = has_several_ranges, .text = "expected one range in clusterCIDR" },
	{ .keys = "nodeCIDRMaskSize|clusterCIDR", .when = GIVES "&clusterCIDR", .is_broken = is_node_mask_wrong,
	  .text = "expected a mask of nodes (nodeCIDRMaskSize, else 24 and 64) as long as that of clusterCIDR or longer, of IPv6 by at most 16" },
	{ .keys = "cidrAllocatorType", .since = 31, .when = GIVES "&cidrAllocatorType!=RangeAllocator|IPAMFromCluster|IPAMFromCloud",
	  .text = "expected RangeAllocator" },
	{ .keys = "kubeAPIBurst", .since = 31, .when = "kubeAPIBurst<=0&0<kubeAPIQPS:20", POSITIVE },
	POD(":100m"));

#define LED "leaderElect!=false&leaderElect"
RULES(leader,
	{ .keys = "leaderElectLeaseDuration|leaderElectRenewDeadlineDuration",
	  .when = LED "LeaseDuration:15s<=~leaderElectRenewDeadlineDuration:10s",
	  .text = "expected a lease (15s where it is not given) longer than the deadline of its renewal (10s)" },
	{ .keys = "leaderElectRenewDeadlineDuration|leaderElectRetryPeriod",
	  .when = LED "RenewDeadlineDuration:10s<=~leaderElectRetryPeriod:2s*1.2",
	  .text = "expected a deadline of the renewal (10s where it is not given) longer than 1.2 times the retry period (2s)" },
	{ .keys = "leaderElectRetryPeriod", .when = LED "RetryPeriod<=~0", .text = "expected a duration above 0" },
	{ .keys = "leaderElectResourceLock", .since = 24, .when = LED "ResourceLock!=leases", .text = "expected leases" });

RULES(scheduler, POD(":100m"));
RULES(pod, POD(""));

RULES(containerd,
	{ .keys = "state|root", .when = "root:/var/lib/containerd=@state:/run/containerd",
	  .text = "expected root and state to be two folders" });
/* clang-format on */
