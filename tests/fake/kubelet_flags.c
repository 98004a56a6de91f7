/* The command line of kubelet 1.KUBE_MINOR, as pflag reads it.  Which version has which flag is checked against
 * tests/fake/flags/kubelet.
 * Sources, from the development of release-1.8 (the tagged 1.8.7 tree could not be had; these are the
 * nearest older texts: no --api-servers any more, --rotate-certificates and --init-config-dir there):
 *   cmd/kubelet/app/options/options.go            most flags and their types
 *   cmd/kubelet/app/options/container_runtime.go  docker, network plugin and rkt flags
 *   cmd/kubelet/app/options/globalflags*.go (1.10) the names of the flags that 1.8 got implicitly
 *                                                 from glog, cadvisor and the credential providers
 *   pkg/features/kube_features.go                 feature gates */
#include "tests/fake/kubelet.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	BOOL,
	STR,
	INT32,
	INT64,
	FLOAT,
	DUR,
	IP,
	IPS,
	CIDR,
	LIST,
	LABELS,
	GATES,
	TAINTS,
	QTYS,
	SIGNALS,
	HOST,
	CLOUD
};

struct flag {
	const char *name;
	enum kind kind;
	const char *value; /* the default, then what the command line says */
	bool deprecated;
	int first, last; /* minor versions of Kubernetes; 0: from 1.6, to 1.10 */
};

/* clang-format off */
static struct flag flags[] = {
	/* container_runtime.go */
	{ "experimental-dockershim", BOOL, .first = 7, .last = 8 }, { "experimental-dockershim-root-directory", STR, .first = 7, .last = 8 },
	{ "docker-disable-shared-pid", BOOL, .first = 7 }, { "pod-infra-container-image", STR },
	{ "docker-endpoint", STR, "unix:///var/run/docker.sock" },
	{ "docker-exec-handler", STR, NULL, true, .first = 7, .last = 8 }, { "image-pull-progress-deadline", DUR },
	{ "network-plugin", STR, "" }, { "network-plugin-dir", STR, "", true, .last = 8 },
	{ "cni-conf-dir", STR, "" }, { "cni-bin-dir", STR, "" }, { "network-plugin-mtu", INT32 },
	{ "rkt-path", STR }, { "rkt-api-endpoint", STR }, { "rkt-stage1-image", STR, NULL, true },
	/* options.go, KubeletFlags */
	{ "kubeconfig", STR, "" }, { "require-kubeconfig", BOOL, "false", true, .last = 9 },
	{ "experimental-bootstrap-kubeconfig", STR, NULL, true }, { "bootstrap-kubeconfig", STR, .first = 7 },
	{ "rotate-certificates", BOOL, .first = 8 }, { "really-crash-for-testing", BOOL },
	{ "chaos-chance", FLOAT }, { "runonce", BOOL }, { "hostname-override", HOST },
	{ "node-ip", STR }, { "provider-id", STR, .first = 7 }, { "cert-dir", STR }, { "cloud-provider", CLOUD },
	{ "cloud-config", STR, "" }, { "root-dir", STR }, { "dynamic-config-dir", STR, .first = 8 },
	{ "init-config-dir", STR, .first = 8 },
	/* options.go, AddKubeletConfigFlags */
	{ "fail-swap-on", BOOL, .first = 8 }, { "experimental-fail-swap-on", BOOL, NULL, true, .last = 8 },
	{ "pod-manifest-path", STR, "" }, { "sync-frequency", DUR }, { "file-check-frequency", DUR },
	{ "http-check-frequency", DUR }, { "manifest-url", STR }, { "manifest-url-header", STR },
	{ "enable-server", BOOL }, { "address", IP }, { "port", INT32 }, { "read-only-port", INT32 },
	{ "anonymous-auth", BOOL }, { "authentication-token-webhook", BOOL },
	{ "authentication-token-webhook-cache-ttl", DUR }, { "client-ca-file", STR, "" },
	{ "authorization-mode", STR }, { "authorization-webhook-cache-authorized-ttl", DUR },
	{ "authorization-webhook-cache-unauthorized-ttl", DUR }, { "tls-cert-file", STR },
	{ "tls-private-key-file", STR }, { "seccomp-profile-root", STR },
	{ "allow-privileged", BOOL, "false" }, { "host-network-sources", LIST },
	{ "host-pid-sources", LIST }, { "host-ipc-sources", LIST }, { "registry-qps", INT32 },
	{ "registry-burst", INT32 }, { "event-qps", INT32 }, { "event-burst", INT32 },
	{ "enable-debugging-handlers", BOOL }, { "contention-profiling", BOOL },
	{ "minimum-container-ttl-duration", DUR, NULL, true },
	{ "maximum-dead-containers-per-container", INT32, NULL, true },
	{ "maximum-dead-containers", INT32, NULL, true }, { "cadvisor-port", INT32 },
	{ "healthz-port", INT32, "10248" }, { "healthz-bind-address", IP, "127.0.0.1" },
	{ "oom-score-adj", INT32 }, { "register-node", BOOL }, { "cluster-domain", STR },
	{ "master-service-namespace", STR, NULL, true }, { "cluster-dns", IPS },
	{ "streaming-connection-idle-timeout", DUR }, { "node-status-update-frequency", DUR },
	{ "node-labels", LABELS }, { "minimum-image-ttl-duration", DUR },
	{ "image-gc-high-threshold", INT32 }, { "image-gc-low-threshold", INT32 },
	{ "volume-stats-agg-period", DUR }, { "volume-plugin-dir", STR }, { "feature-gates", GATES },
	{ "kubelet-cgroups", STR }, { "system-cgroups", STR }, { "cgroups-per-qos", BOOL },
	{ "cgroup-driver", STR }, { "cgroup-root", STR }, { "cpu-manager-policy", STR, .first = 8 },
	{ "cpu-manager-reconcile-period", DUR, .first = 8 }, { "container-runtime", STR, "docker" },
	{ "runtime-request-timeout", DUR }, { "lock-file", STR }, { "exit-on-lock-contention", BOOL },
	{ "experimental-mounter-path", STR }, { "hairpin-mode", STR }, { "max-pods", INT32 },
	{ "non-masquerade-cidr", CIDR, NULL, true }, { "pod-cidr", STR }, { "resolv-conf", STR },
	{ "cpu-cfs-quota", BOOL }, { "enable-controller-attach-detach", BOOL },
	{ "make-iptables-util-chains", BOOL }, { "iptables-masquerade-bit", INT32 },
	{ "iptables-drop-bit", INT32 }, { "experimental-allowed-unsafe-sysctls", LIST },
	{ "containerized", BOOL }, { "max-open-files", INT64 },
	{ "register-schedulable", BOOL, NULL, true }, { "register-with-taints", TAINTS },
	{ "kube-api-content-type", STR }, { "kube-api-qps", INT32 }, { "kube-api-burst", INT32 },
	{ "serialize-image-pulls", BOOL }, { "enable-custom-metrics", BOOL },
	{ "runtime-cgroups", STR }, { "eviction-hard", SIGNALS }, { "eviction-soft", SIGNALS },
	{ "eviction-soft-grace-period", STR }, { "eviction-pressure-transition-period", DUR },
	{ "eviction-max-pod-grace-period", INT32 }, { "eviction-minimum-reclaim", STR },
	{ "experimental-kernel-memcg-notification", BOOL }, { "pods-per-core", INT32 },
	{ "protect-kernel-defaults", BOOL }, { "keep-terminated-pod-volumes", BOOL, NULL, true },
	{ "container-runtime-endpoint", STR, "unix:///var/run/dockershim.sock" }, { "image-service-endpoint", STR },
	{ "experimental-check-node-capabilities-before-mount", BOOL }, { "system-reserved", QTYS },
	{ "kube-reserved", QTYS }, { "enforce-node-allocatable", LIST },
	{ "system-reserved-cgroup", STR }, { "kube-reserved-cgroup", STR },
	{ "experimental-allocatable-ignore-eviction", BOOL }, { "experimental-qos-reserved", STR },
	{ "api-servers", STR, NULL, true, .last = 7 }, { "babysit-daemons", BOOL, NULL, true, .last = 6 },
	{ "bootstrap-checkpoint-path", STR, .first = 10 },
	/* glog, logs, version */
	{ "logtostderr", BOOL }, { "alsologtostderr", BOOL }, { "v", INT32 }, { "vmodule", STR },
	{ "stderrthreshold", STR }, { "log-backtrace-at", STR }, { "log-dir", STR },
	{ "log-flush-frequency", DUR },
	/* cadvisor and the credential providers */
	{ "docker-root", STR }, { "housekeeping-interval", DUR }, { "boot-id-file", STR },
	{ "application-metrics-count-limit", INT32 }, { "container-hints", STR }, { "docker", STR },
	{ "containerd", STR }, { "docker-env-metadata-whitelist", STR }, { "docker-only", BOOL },
	{ "docker-tls", BOOL }, { "docker-tls-ca", STR }, { "docker-tls-cert", STR },
	{ "docker-tls-key", STR }, { "enable-load-reader", BOOL }, { "event-storage-age-limit", STR },
	{ "event-storage-event-limit", STR }, { "global-housekeeping-interval", DUR },
	{ "log-cadvisor-usage", BOOL }, { "machine-id-file", STR }, { "storage-driver-user", STR },
	{ "storage-driver-password", STR }, { "storage-driver-host", STR }, { "storage-driver-db", STR },
	{ "storage-driver-table", STR }, { "storage-driver-secure", BOOL },
	{ "storage-driver-buffer-duration", DUR }, { "google-json-key", STR },
	{ "azure-container-registry-config", STR },
};

static const char gates[] = ",AllAlpha,AllowExtTrafficLocalEndpoints,AppArmor,DynamicKubeletConfig,"
	"KubeletConfigFile,ExperimentalHostUserNamespaceDefaulting,ExperimentalCriticalPodAnnotation,"
	"Accelerators,DevicePlugins,TaintBasedEvictions,RotateKubeletServerCertificate,"
	"RotateKubeletClientCertificate,PersistentLocalVolumes,LocalStorageCapacityIsolation,HugePages,"
	"DebugContainers,PodPriority,EnableEquivalenceClassCache,TaintNodesByCondition,MountPropagation,"
	"ExpandPersistentVolumes,CPUManager,StreamingProxyRedirects,AdvancedAuditing,Initializers,"
	"APIResponseCompression,APIListChunking,CustomResourceValidation,SupportIPVSProxyMode,"
	"ServiceNodeExclusion,";
static const char clouds[] = ",auto-detect,external,aws,azure,cloudstack,gce,openstack,ovirt,photon,"
	"rackspace,vsphere,fake,,";
static const char signals[] = ",memory.available,nodefs.available,nodefs.inodesFree,"
	"imagefs.available,imagefs.inodesFree,";
/* clang-format on */

static bool is_there(const struct flag *f)
{
	return (!f->first || f->first <= KUBE_MINOR) && (!f->last || f->last >= KUBE_MINOR);
}

static struct flag *find(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i].name, name) == 0)
			return &flags[i];
	return NULL;
}

const char *flag_value(const char *name)
{
	const struct flag *f = find(name);

	if (!f)
		abort();
	return f->value;
}

static bool is_bool(const char *s, bool *ret)
{
	static const char *const words[] = { "1", "t", "T", "true",  "TRUE",  "True",
					     "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < 12; i++)
		if (strcmp(words[i], s) == 0) {
			*ret = i < 6;
			return true;
		}
	return false;
}

bool flag_bool(const char *name)
{
	bool b;

	return is_bool(flag_value(name), &b) && b;
}

static bool is_int(const char *s, long long low, long long high)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(s, &end, 0);
	return *s && !isspace((unsigned char)*s) && !*end && errno == 0 && n >= low && n <= high;
}

/* Go's time.ParseDuration: "1h30m", "0"; a bare number is an error. */
static bool is_duration(const char *s)
{
	if (*s == '-' || *s == '+')
		s++;
	if (strcmp(s, "0") == 0)
		return true;
	if (!*s)
		return false;
	while (*s) {
		size_t n = strspn(s, "0123456789.");

		if (n == 0 || strspn(s, ".") == n)
			return false;
		s += n;
		if (strncmp(s, "ns", 2) == 0 || strncmp(s, "us", 2) == 0 ||
		    strncmp(s, "ms", 2) == 0)
			s += 2;
		else if (*s == 's' || *s == 'm' || *s == 'h')
			s++;
		else
			return false;
	}
	return true;
}

static bool is_ip(const char *s)
{
	unsigned char addr[16];

	return inet_pton(AF_INET, s, addr) == 1 || inet_pton(AF_INET6, s, addr) == 1;
}

static bool in_list(const char *list, const char *word)
{
	char padded[128];

	(void)snprintf(padded, sizeof(padded), ",%s,", word);
	return strstr(list, padded) != NULL;
}

/* "key=value"; what the two halves must be depends on the flag. */
static bool pair_ok(enum kind kind, char *item)
{
	char *value = strpbrk(item, kind == SIGNALS ? "<" : "="), *effect;
	bool b;

	if (!value || value == item)
		return kind == LABELS && !value && *item;
	*value++ = '\0';
	switch (kind) {
	case GATES:
		return in_list(gates, item) && is_bool(value, &b);
	case QTYS:
		return in_list(KUBE_MINOR < 8 ? ",cpu,memory,storage,"
					      : ",cpu,memory,ephemeral-storage,",
			       item) &&
		       is_quantity(value);
	case TAINTS:
		effect = strrchr(value, ':');
		return effect && in_list(",NoSchedule,PreferNoSchedule,NoExecute,", effect + 1);
	case SIGNALS:
		if (*value && value[strlen(value) - 1] == '%')
			value[strlen(value) - 1] = '\0';
		return in_list(signals, item) && is_quantity(value);
	default:
		return strlen(value) <= 63;
	}
}

static bool pairs_ok(enum kind kind, const char *s)
{
	char *copy = strdup(s), *rest = copy, *item;
	bool ok = true;

	while (*s && ok && (item = strsep(&rest, ",")))
		ok = kind == IPS ? is_ip(item) : pair_ok(kind, item);
	free(copy);
	return ok;
}

static bool is_cidr(const char *s)
{
	char *copy = strdup(s), *slash = strchr(copy, '/');
	bool ok = false;

	if (slash) {
		*slash = '\0';
		ok = is_ip(copy) && is_int(slash + 1, 0, strchr(copy, ':') ? 128 : 32);
	}
	free(copy);
	return ok;
}

static bool value_ok(const struct flag *f, const char *s)
{
	char *end;
	bool b;

	switch (f->kind) {
	case BOOL:
		return is_bool(s, &b);
	case INT32:
		return is_int(s, INT32_MIN, INT32_MAX);
	case INT64:
		return is_int(s, INT64_MIN, INT64_MAX);
	case FLOAT:
		(void)strtod(s, &end);
		return *s && !*end;
	case DUR:
		return is_duration(s);
	case IP:
		return is_ip(s);
	case CIDR:
		return is_cidr(s);
	case HOST:
		return !*s || is_dns_name(s, 253, true);
	case CLOUD:
		return in_list(clouds, s);
	case STR:
	case LIST:
		return true;
	default:
		return pairs_ok(f->kind, s);
	}
}

static void help(void)
{
	(void)printf(
		"kubelet stand-in for tests: checks what Kubernetes 1.%d's would, runs nothing\n"
		"\nUsage:\n  kubelet [flags]\n\nFlags:\n      --help\n      --version\n",
		KUBE_MINOR);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (is_there(&flags[i]))
			(void)printf("      --%s%s\n", flags[i].name,
				     flags[i].deprecated ? " (deprecated)" : "");
	exit(0);
}

/* One flag at argv[i]; returns how many arguments it took beyond its own. */
static int parse_one(char **argv, int i, char *name)
{
	const char *arg = argv[i];
	char *equals = strchr(name, '=');
	const char *value = NULL;
	struct flag *f;
	int taken = 0;

	if (equals) {
		*equals = '\0';
		value = equals + 1;
	}
	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = '-';
	if (strcmp(name, "help") == 0)
		help();
	if (strcmp(name, "version") == 0) {
		(void)printf("Kubernetes v1.%d.7\n", KUBE_MINOR);
		exit(0);
	}
	f = find(name);
	if (!f || !is_there(f))
		die("unknown flag: --%s", name);
	if (!value && f->kind != BOOL) {
		value = argv[i + 1];
		taken = 1;
	}
	if (!value && f->kind == BOOL)
		value = "true";
	if (!value)
		die("flag needs an argument: --%s", name);
	if (!value_ok(f, value))
		die("invalid argument \"%s\" for %s", value, arg);
	if (f->deprecated)
		(void)fprintf(stderr, "Flag --%s has been deprecated\n", name);
	f->value = strdup(value);
	return taken;
}

void flags_parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *copy;

		if (argv[i][0] != '-' || argv[i][1] == '\0')
			continue; /* 1.8 ignores what is not a flag */
		if (strcmp(argv[i], "--") == 0)
			return;
		copy = strdup(argv[i] + (argv[i][1] == '-' ? 2 : 1));
		if (argv[i][1] != '-' && (copy[0] != 'v' || (copy[1] && copy[1] != '=')))
			die("unknown shorthand flag: '%c' in %s", copy[0], argv[i]);
		i += parse_one(argv, i, copy);
		free(copy);
	}
}
