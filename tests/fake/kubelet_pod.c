/* What release-1.8 accepts as a static pod: pkg/api/v1 (types.go) for the fields,
 * pkg/api/validation/validation.go for the rules.  Unlike the real decoder, which drops what it does
 * not know, an unknown field is refused: in a generated manifest it can only be a mistake. */
#include "tests/fake/kubelet.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct yfield meta_fields[] = {
	{ "name", 's', true }, { "generateName", 's' }, { "namespace", 's' }, { "uid", 's' },
	{ "selfLink", 's' }, { "resourceVersion", 's' }, { "generation", 'i' },
	{ "creationTimestamp", 's' }, { "deletionTimestamp", 's' },
	{ "deletionGracePeriodSeconds", 'i' }, { "labels", 'm' }, { "annotations", 'm' },
	{ "ownerReferences", '*' }, { "initializers", '*' }, { "finalizers", 'l' },
	{ "clusterName", 's' }, { 0 },
};
static const struct yfield port_fields[] = {
	{ "name", 's' }, { "hostPort", 'i' }, { "containerPort", 'i', true },
	{ "protocol", 's', .oneof = "TCP|UDP" }, { "hostIP", 's' }, { 0 },
};
static const struct yfield env_fields[] = {
	{ "name", 's', true }, { "value", 's' }, { "valueFrom", '*' }, { 0 },
};
static const struct yfield resource_fields[] = {
	{ "limits", 'M' }, { "requests", 'M' }, { 0 },
};
static const struct yfield mount_fields[] = {
	{ "name", 's', true }, { "readOnly", 'b' }, { "mountPath", 's', true }, { "subPath", 's' },
	{ "mountPropagation", 's', .oneof = "HostToContainer|Bidirectional" }, { 0 },
};
static const struct yfield header_fields[] = { { "name", 's', true }, { "value", 's', true }, { 0 } };
static const struct yfield http_fields[] = {
	{ "path", 's' }, { "port", '*', true }, { "host", 's' },
	{ "scheme", 's', .oneof = "HTTP|HTTPS" }, { "httpHeaders", 'O', .sub = header_fields }, { 0 },
};
static const struct yfield exec_fields[] = { { "command", 'l', true }, { 0 } };
static const struct yfield tcp_fields[] = { { "port", '*', true }, { "host", 's' }, { 0 } };
static const struct yfield probe_fields[] = {
	{ "exec", 'o', .sub = exec_fields }, { "httpGet", 'o', .sub = http_fields },
	{ "tcpSocket", 'o', .sub = tcp_fields }, { "initialDelaySeconds", 'i' },
	{ "timeoutSeconds", 'i' }, { "periodSeconds", 'i' }, { "successThreshold", 'i' },
	{ "failureThreshold", 'i' }, { 0 },
};
static const struct yfield capability_fields[] = { { "add", 'l' }, { "drop", 'l' }, { 0 } };
static const struct yfield security_fields[] = {
	{ "capabilities", 'o', .sub = capability_fields }, { "privileged", 'b' },
	{ "seLinuxOptions", 'm' }, { "runAsUser", 'i' }, { "runAsNonRoot", 'b' },
	{ "readOnlyRootFilesystem", 'b' }, { "allowPrivilegeEscalation", 'b' }, { 0 },
};
static const struct yfield container_fields[] = {
	{ "name", 's', true }, { "image", 's', true }, { "command", 'l' }, { "args", 'l' },
	{ "workingDir", 's' }, { "ports", 'O', .sub = port_fields }, { "envFrom", '*' },
	{ "env", 'O', .sub = env_fields }, { "resources", 'o', .sub = resource_fields },
	{ "volumeMounts", 'O', .sub = mount_fields }, { "livenessProbe", 'o', .sub = probe_fields },
	{ "readinessProbe", 'o', .sub = probe_fields }, { "lifecycle", '*' },
	{ "terminationMessagePath", 's' },
	{ "terminationMessagePolicy", 's', .oneof = "File|FallbackToLogsOnError" },
	{ "imagePullPolicy", 's', .oneof = "Always|Never|IfNotPresent" },
	{ "securityContext", 'o', .sub = security_fields }, { "stdin", 'b' }, { "stdinOnce", 'b' },
	{ "tty", 'b' }, { 0 },
};
static const struct yfield hostpath_fields[] = {
	{ "path", 's', true },
	{ "type", 's', .oneof = "|DirectoryOrCreate|Directory|FileOrCreate|File|Socket|CharDevice|BlockDevice" },
	{ 0 },
};
static const struct yfield emptydir_fields[] = { { "medium", 's' }, { "sizeLimit", 'q' }, { 0 } };
static const struct yfield volume_fields[] = {
	{ "name", 's', true }, { "hostPath", 'o', .sub = hostpath_fields },
	{ "emptyDir", 'o', .sub = emptydir_fields }, { "downwardAPI", '*' }, { 0 },
};
static const struct yfield toleration_fields[] = {
	{ "key", 's' }, { "operator", 's', .oneof = "Exists|Equal" }, { "value", 's' },
	{ "effect", 's', .oneof = "NoSchedule|PreferNoSchedule|NoExecute" },
	{ "tolerationSeconds", 'i' }, { 0 },
};
static const struct yfield spec_fields[] = {
	{ "volumes", 'O', .sub = volume_fields }, { "initContainers", 'O', .sub = container_fields },
	{ "containers", 'O', true, container_fields },
	{ "restartPolicy", 's', .oneof = "Always|OnFailure|Never" },
	{ "terminationGracePeriodSeconds", 'i' }, { "activeDeadlineSeconds", 'i' },
	{ "dnsPolicy", 's', .oneof = "ClusterFirstWithHostNet|ClusterFirst|Default" },
	{ "nodeSelector", 'm' }, { "nodeName", 's' }, { "hostNetwork", 'b' }, { "hostPID", 'b' },
	{ "hostIPC", 'b' }, { "securityContext", '*' }, { "hostname", 's' }, { "subdomain", 's' },
	{ "affinity", '*' }, { "schedulerName", 's' }, { "hostAliases", '*' },
	{ "tolerations", 'O', .sub = toleration_fields }, { "priorityClassName", 's' },
	{ "priority", 'i' }, { "automountServiceAccountToken", 'b' }, { 0 },
};
static const struct yfield pod_fields[] = {
	{ "apiVersion", 's', true, .oneof = "v1" }, { "kind", 's', true, .oneof = "Pod" },
	{ "metadata", 'o', true, meta_fields }, { "spec", 'o', true, spec_fields },
	{ "status", '*' }, { 0 },
};
/* clang-format on */

static yaml_node_t *item(struct yfile *y, yaml_node_t *list, size_t i)
{
	yaml_node_item_t *p;

	if (!list || list->type != YAML_SEQUENCE_NODE)
		return NULL;
	p = list->data.sequence.items.start + i;
	return p < list->data.sequence.items.top ? yaml_document_get_node(&y->doc, *p) : NULL;
}

/* The entry of a list of named objects before end, NULL if there is none. */
static yaml_node_t *named(struct yfile *y, yaml_node_t *list, const char *name, yaml_node_t *end)
{
	yaml_node_t *n;

	for (size_t i = 0; (n = item(y, list, i)) && n != end; i++)
		if (strcmp(ynode_text(ynode_get(y, n, "name")), name) == 0)
			return n;
	return NULL;
}

static void check_names(struct yfile *y, yaml_node_t *list, const char *where)
{
	yaml_node_t *n;

	for (size_t i = 0; (n = item(y, list, i)); i++) {
		const char *name = ynode_text(ynode_get(y, n, "name"));

		if (!is_dns_name(name, 63, false))
			ynode_die(y, n, where, "invalid name \"%s\"", name);
		if (named(y, list, name, n))
			ynode_die(y, n, where, "duplicate name \"%s\"", name);
	}
}

static void check_port(struct yfile *y, yaml_node_t *n, const char *where)
{
	long port = n && ynode_kind(n) == 'i' ? strtol(ynode_text(n), NULL, 0) : 0;

	if (n && (port < 1 || port > 65535))
		ynode_die(y, n, where, "must be between 1 and 65535");
}

static void check_ports(struct yfile *y, yaml_node_t *container, bool host_network)
{
	yaml_node_t *ports = ynode_get(y, container, "ports"), *n;

	for (size_t i = 0; (n = item(y, ports, i)); i++) {
		yaml_node_t *inside = ynode_get(y, n, "containerPort");
		yaml_node_t *outside = ynode_get(y, n, "hostPort");
		const char *name = ynode_text(ynode_get(y, n, "name"));

		check_port(y, inside, "ports.containerPort");
		check_port(y, outside, "ports.hostPort");
		if (name && !is_dns_name(name, 15, false))
			ynode_die(y, n, "ports.name", "invalid name \"%s\"", name);
		if (host_network && outside && strcmp(ynode_text(inside), ynode_text(outside)) != 0)
			ynode_die(y, n, "ports.hostPort",
				  "must match containerPort on hostNetwork");
	}
}

static void check_probe(struct yfile *y, yaml_node_t *container, const char *name)
{
	yaml_node_t *probe = ynode_get(y, container, name);
	yaml_node_t *http = ynode_get(y, probe, "httpGet");
	yaml_node_t *tcp = ynode_get(y, probe, "tcpSocket");

	if (!probe)
		return;
	if (!!http + !!tcp + !!ynode_get(y, probe, "exec") != 1)
		ynode_die(y, probe, name, "must specify exactly one handler type");
	if (http && ynode_kind(ynode_get(y, http, "port")) == 'i')
		check_port(y, ynode_get(y, http, "port"), name);
	if (tcp)
		check_port(y, ynode_get(y, tcp, "port"), name);
}

static void check_mounts(struct yfile *y, yaml_node_t *container, yaml_node_t *volumes)
{
	yaml_node_t *mounts = ynode_get(y, container, "volumeMounts"), *n, *m;

	for (size_t i = 0; (n = item(y, mounts, i)); i++) {
		const char *name = ynode_text(ynode_get(y, n, "name"));
		const char *path = ynode_text(ynode_get(y, n, "mountPath"));

		if (!named(y, volumes, name, NULL))
			ynode_die(y, n, "volumeMounts.name", "no volume \"%s\"", name);
		if (path[0] != '/' || strchr(path, ':'))
			ynode_die(y, n, "volumeMounts.mountPath", "not absolute: \"%s\"", path);
		for (size_t j = 0; j < i && (m = item(y, mounts, j)); j++)
			if (strcmp(ynode_text(ynode_get(y, m, "mountPath")), path) == 0)
				ynode_die(y, n, "volumeMounts.mountPath", "must be unique");
	}
}

static void check_volumes(struct yfile *y, yaml_node_t *volumes)
{
	yaml_node_t *n;

	check_names(y, volumes, "spec.volumes");
	for (size_t i = 0; (n = item(y, volumes, i)); i++) {
		yaml_node_t *host = ynode_get(y, n, "hostPath");
		int sources =
			!!host + !!ynode_get(y, n, "emptyDir") + !!ynode_get(y, n, "downwardAPI");

		if (sources != 1)
			ynode_die(y, n, "spec.volumes", "must specify exactly one volume type");
		if (host && ynode_text(ynode_get(y, host, "path"))[0] != '/')
			ynode_die(y, host, "hostPath.path", "not absolute");
	}
}

static void check_containers(struct yfile *y, yaml_node_t *spec, const char *list_name)
{
	yaml_node_t *list = ynode_get(y, spec, list_name), *c;
	const char *host = ynode_text(ynode_get(y, spec, "hostNetwork"));

	check_names(y, list, list_name);
	for (size_t i = 0; (c = item(y, list, i)); i++) {
		yaml_node_t *security = ynode_get(y, c, "securityContext");
		const char *privileged = ynode_text(ynode_get(y, security, "privileged"));

		if (*ynode_text(ynode_get(y, c, "image")) == '\0')
			ynode_die(y, c, "image", "required value");
		if (privileged && strcmp(privileged, "true") == 0 && !flag_bool("allow-privileged"))
			ynode_die(y, security, "privileged", "forbidden: disallowed by policy");
		check_ports(y, c, host && strcmp(host, "true") == 0);
		check_mounts(y, c, ynode_get(y, spec, "volumes"));
		check_probe(y, c, "livenessProbe");
		check_probe(y, c, "readinessProbe");
	}
}

void pod_check(const char *path)
{
	struct yfile y;
	yaml_node_t *spec, *meta;
	const char *name, *namespace;

	yfile_open(&y, path);
	yobject_check(&y, y.root, "pod", pod_fields);
	meta = ynode_get(&y, y.root, "metadata");
	name = ynode_text(ynode_get(&y, meta, "name"));
	namespace = ynode_text(ynode_get(&y, meta, "namespace"));
	if (!is_dns_name(name, 253, true))
		ynode_die(&y, meta, "metadata.name", "invalid name \"%s\"", name);
	if (namespace && !is_dns_name(namespace, 63, false))
		ynode_die(&y, meta, "metadata.namespace", "invalid name \"%s\"", namespace);
	spec = ynode_get(&y, y.root, "spec");
	if (!item(&y, ynode_get(&y, spec, "containers"), 0))
		ynode_die(&y, spec, "spec.containers", "required value");
	check_volumes(&y, ynode_get(&y, spec, "volumes"));
	check_containers(&y, spec, "initContainers");
	check_containers(&y, spec, "containers");
	yfile_close(&y);
}
