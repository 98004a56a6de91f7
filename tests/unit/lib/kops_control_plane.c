#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/kops_control_plane.h"

#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/yaml.h"

#define DIGEST "d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"

enum { SHOWN_MAX = 64 << 10 };

static const char *some(const char *text)
{
	return text ? text : "";
}

static const char *documents_of(struct arena *a, const struct control_plane *c)
{
	return arena_printf(
		a,
		"{Assets: {amd64: &programs ['9" DIGEST "kubectl', '8" DIGEST
		"protokube', '7" DIGEST "channels', '6" DIGEST "cni-plugins-v1.tgz', '1" DIGEST
		"kubelet', '3" DIGEST "crictl-v1.tgz', '2" DIGEST
		"ecr-credential-provider-linux-amd64'], arm64: *programs}, configStore: {keypairs: 's3://store/pki', secrets: "
		"'s3://store/secrets'}, containerdConfig: {version: 2.3.4%s}, APIServerConfig: "
		"{ClusterDNSDomain: cluster.local, API: %s, KubeAPIServer: {image: 'r/api:1', "
		"securePort: 443%s}%s}, ControlPlaneConfig: {KubeControllerManager: {image: "
		"'r/kcm-amd64:1'%s}, KubeScheduler: {image: 'r/scheduler:1'%s}}, CAs: "
		"{kubernetes-ca: " KOPS_TEST_CA ", etcd-clients-ca: " KOPS_TEST_CA
		", apiserver-aggregator-ca: " KOPS_TEST_CA
		"}, ClusterName: a.example, KubernetesVersion: 1.35.2, KeypairIDs: {kubernetes-ca: '1'}, "
		"Networking: {serviceClusterIPRange: 100.64.0.0/13%s}%s}",
		some(c->containerd),
		c->api_address ? c->api_address : "{dns: {}, publicName: api.a.example}",
		some(c->api_server), some(c->api_config), some(c->kcm), some(c->scheduler),
		some(c->networking), some(c->all));
}

struct plan *control_plane_try(struct arena *a, struct control_plane *c, const char *builder)
{
	if (!c->w.role)
		c->w.role = "ControlPlane";
	return kops_try_documents(a, &c->w, builder, documents_of(a, c));
}

struct plan *control_plane_plan(struct arena *a, struct control_plane *c, const char *builder)
{
	struct plan *p = control_plane_try(a, c, builder);

	if (!p)
		fail_msg("%s", c->w.e.msg);
	return p;
}

const struct task_file *planned_file(const struct plan *p, const char *path)
{
	return &plan_get(p, TASK_FILE, path)->file;
}

static struct tree *read_yaml(struct arena *a, const char *text)
{
	struct tree *t = NULL;
	struct err e;

	if (yaml_parse(a, "test", text, strlen(text), &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

const struct tree *planned_pod(const struct plan *p, const char *name)
{
	return read_yaml(
		p->arena,
		planned_file(p,
			     arena_printf(p->arena, "/etc/kubernetes/manifests/%s.manifest", name))
			->content);
}

const struct tree *container_of(const struct tree *pod, size_t i)
{
	const struct tree *list = tree_get(tree_get(pod, "spec"), "containers");

	assert_true(list && i < list->n);
	return list->items[i].value;
}

const char *flag_of(const struct tree *pod, const char *flag)
{
	const struct tree *args = tree_get(container_of(pod, 0), "args");
	const size_t n = strlen(flag);

	for (size_t i = 0; args && i < args->n; i++) {
		const char *arg = args->items[i].value->scalar;

		if (str_has_prefix(arg, "--") && strncmp(arg + 2, flag, n) == 0 &&
		    arg[2 + n] == '=')
			return arg + 2 + n + 1;
	}
	return NULL;
}

void assert_says(struct arena *a, const struct tree *t, const char *yaml)
{
	autobuf struct buf b = BUF_INIT(SHOWN_MAX);
	struct err e;

	assert_non_null(t);
	if (tree_eq(t, read_yaml(a, yaml)))
		return;
	assert_int_equal(yaml_render(t, &b, &e), 0);
	fail_msg("wanted\n%s\nfound\n%s", yaml, buf_str(&b));
}
