#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "manifests/manifest.h"
#include "manifests/pod.h"
#include "nodeup/plan/static_pod.h"

static const char channels[] = POD_MANIFESTS "/kops-channels.manifest";

const char *kops_manifest_text(struct plan *p, const char *from)
{
	const char *text = strmap_get(&p->req->node->manifests, from);

	if (!str_is_empty(text)) {
		plan_check_manifest(p, from, text);
		return text;
	}
	if (!p->req->no_keys)
		plan_refuse(p, "manifest %s: %s, and %s needs it", from,
			    text ? "it is empty" : "it is not there", p->builder);
	return "";
}

/* Adds the pod of an etcd cluster: "main-master-a.yaml" is etcd-main-master-a. etcd-manager itself finds, formats
 * and mounts the volumes. */
static void add_etcd(struct plan *p, const char *from)
{
	const char *name = str_basename(from), *dot = strrchr(name, '.');
	const size_t n = dot ? (size_t)(dot - name) : strlen(name);

	plan_file(p, arena_printf(p->arena, POD_MANIFESTS "/etcd-%.*s.manifest", (int)n, name),
		  0440, kops_manifest_text(p, from));
}

/* Returns the manifest unchanged, unless SELinux would hide the kubeconfig from the pod. */
static const char *channels_text(struct plan *p, const char *from)
{
	const char *text = kops_manifest_text(p, from);
	struct tree *pod;
	char *labelled;
	struct err e;
	int r;

	if (!*text || !kops_of(p)->config->containerd.selinux_enabled)
		return text;
	r = manifest_read(p->arena, from, text, &pod, &e);
	if (r == 0)
		r = manifest_label(p->arena, pod, "spc_t", &labelled, &e);
	if (r == 0)
		return labelled;
	plan_fail(p, &e);
	return "";
}

void build_kops_manifests(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	if (!p->req->node->is_master)
		return;
	for (size_t i = 0; i < c->etcd_manifests.n; i++)
		add_etcd(p, c->etcd_manifests.v[i]);
	if (!str_is_empty(c->channels_manifest))
		plan_file(p, channels, 0644, channels_text(p, c->channels_manifest));
}
