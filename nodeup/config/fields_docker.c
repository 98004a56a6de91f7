#include "nodeup/config/specs.h"

#include <stddef.h>

/* source: kops 1.8.1 pkg/apis/kops/dockerconfig.go DockerConfig */
/* clang-format off */
static const struct field docker_fields[] = {
#define F(m, ...) FIELD(struct docker_spec, m, __VA_ARGS__)
	F(authorization_plugins, .key = "authorizationPlugins", .flag = "authorization-plugin",
	  .repeat = true, .doc = "plugins that decide on API requests"),
	F(bridge, .key = "bridge", .flag = "bridge", .pointer = true,
	  .doc = "interface to attach containers to"),
	F(bridge_ip, .key = "bridgeIP", .flag = "bip", .pointer = true,
	  .format = &format_cidr, .doc = "address and mask of docker0"),
	F(default_ulimit, .key = "defaultUlimit", .flag = "default-ulimit", .repeat = true,
	  .doc = "limits of every container, name=soft:hard"),
	F(ip_masq, .key = "ipMasq", .flag = "ip-masq", .doc = "masquerade container traffic"),
	F(ip_tables, .key = "ipTables", .flag = "iptables",
	  .doc = "let docker write iptables rules"),
	F(insecure_registry, .key = "insecureRegistry", .flag = "insecure-registry",
	  .pointer = true, .doc = "registry reached without TLS"),
	F(log_driver, .key = "logDriver", .flag = "log-driver",
	  .doc = "driver that keeps container output"),
	F(log_level, .key = "logLevel", .flag = "log-level", .pointer = true,
	  .oneof = "debug|info|warn|error|fatal|", .doc = "debug, info, warn, error or fatal"),
	F(log_opt, .key = "logOpt", .flag = "log-opt", .repeat = true, .secret = true,
	  .doc = "options of the log driver"),
	F(mtu, .key = "mtu", .flag = "mtu", .max = 65535, .doc = "MTU of container interfaces"),
	F(registry_mirrors, .key = "registryMirrors", .flag = "registry-mirror", .repeat = true,
	  .secret = true, .doc = "mirrors of the default registry"),
	F(storage, .key = "storage", .flag = "storage-driver", .pointer = true,
	  .doc = "storage driver; of a list the first this kernel has"),
	F(storage_opts, .key = "storageOpts", .flag = "storage-opt", .repeat = true,
	  .doc = "options of the storage driver"),
	F(version, .key = "version", .pointer = true, .doc = "docker version to install"),
#undef F
};
/* clang-format on */

const struct schema docker_schema = SCHEMA(struct docker_spec, "DockerConfig", docker_fields);
