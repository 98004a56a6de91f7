#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/run/pods.h"

#define APISERVER(command, probe)                           \
	"spec:\n"                                           \
	"  hostNetwork: true\n"                             \
	"  containers:\n"                                   \
	"  - {name: kube-apiserver, command: [" command "]" \
	", livenessProbe: {httpGet: {host: 127.0.0.1, path: /healthz, port: " probe "}}}\n"

/* "CONTAINER ADDRESS PORT", of each. */
static const char *told(struct arena *a, const char *text)
{
	struct listeners found;
	struct strv lines = { 0 };
	struct tree *pod;
	struct err e;

	if (yaml_parse(a, "pod", text, strlen(text), &pod, &e) < 0)
		fail_msg("%s", e.msg);
	found = listeners_of(a, pod);
	for (size_t i = 0; i < found.n; i++)
		strv_addf(a, &lines, "%s %s %d", found.v[i].container, found.v[i].address,
			  found.v[i].port);
	return strv_join(a, &lines, ", ");
}

static void ports_are_those_of_the_manifest(void **state)
{
	static const struct {
		const char *pod, *told;
	} rows[] = {
		/* kops 1.8, and what a user makes of it */
		{ APISERVER("/bin/sh, -c, /a --insecure-port=8080 --secure-port=443 2>&1 | tee",
			    "8080"),
		  "kube-apiserver 127.0.0.1 443" },
		{ APISERVER("a, --insecure-port=8080, --secure-port=0", "8080"),
		  "kube-apiserver 127.0.0.1 8080" },
		{ APISERVER("a, --insecure-port=0, --secure-port=0", "8080"),
		  "kube-apiserver 127.0.0.1 0" },
		{ APISERVER("a, --secure-port=6443, --bind-address=10.0.0.7", "443"),
		  "kube-apiserver 10.0.0.7 6443" },
		{ APISERVER("a, --secure-port, '6443', --bind-address=0.0.0.0", "443"),
		  "kube-apiserver 127.0.0.1 6443" },
		/* today's kops: the probe is another container's, and so is its port */
		{ "spec: {hostNetwork: true, containers: [{name: kube-apiserver, "
		  "command: [/go-runner, --log-file=/a], args: [--secure-port=443], "
		  "livenessProbe: {httpGet: {host: 127.0.0.1, port: 3990}}}, "
		  "{name: healthcheck, livenessProbe: {httpGet: {port: 3990}}}]}",
		  "kube-apiserver 127.0.0.1 443" },
		{ "spec: {hostNetwork: true, containers: [{name: etcd-manager, command: [/bin/sh, -c, "
		  "'exec /etcd-manager --client-urls=https://__name__:4002 --x > /tmp/pipe']}]}",
		  "etcd-manager 127.0.0.1 4002" },
		{ "spec: {hostNetwork: true, containers: [{name: etcd-manager, command: [a]}]}",
		  "etcd-manager 127.0.0.1 0" },
		/* kube-up, in JSON */
		{ "{\"spec\": {\"hostNetwork\": true, \"containers\": [{\"name\": \"etcd-container\", "
		  "\"livenessProbe\": {\"httpGet\": {\"host\": \"127.0.0.1\", \"port\": 2379}}}]}}",
		  "etcd-container 127.0.0.1 2379" },
		{ "spec: {hostNetwork: true, containers: [{name: etcd-container, "
		  "livenessProbe: {tcpSocket: {host: 127.0.0.1, port: 4001}}}]}",
		  "etcd-container 127.0.0.1 4001" },
		{ "spec: {containers: [{name: etcd-container, "
		  "livenessProbe: {tcpSocket: {host: 127.0.0.1, port: 4001}}}]}",
		  "" },
		{ "spec: {hostNetwork: true, containers: [{name: kube-proxy}]}", "" },
		{ "spec: {hostNetwork: true, containers: 7}", "" },
		{ "[1]", "" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(told(a, rows[i].pod), rows[i].told);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_are_those_of_the_manifest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
