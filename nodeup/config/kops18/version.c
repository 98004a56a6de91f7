#include "nodeup/config/kops18/spec.h"

#include <stdlib.h>
#include <string.h>

/* Flags, kubeconfigs and certificates differ in older and newer versions. */
const struct version kops18_oldest = { 1, 6, 0, NULL }, kops18_newest = { 1, 10, 0, NULL };

/* ".../release/v1.8.7/bin/..." */
static bool parse_url(struct arena *a, const char *url, struct version *ret)
{
	for (const char *p = strstr(url, "/v"); p; p = strstr(p + 1, "/v"))
		if (version_parse(a, p + 1, ret))
			return true;
	return false;
}

static bool parse_tag(struct arena *a, const char *image, struct version *ret)
{
	const char *colon = image ? strrchr(image, ':') : NULL;

	return colon && version_parse(a, colon + 1, ret);
}

/* Returns the asset named kubelet; after its URL, commas may separate mirrors. */
static const struct node_text *kubelet_asset(const struct node *n)
{
	for (size_t i = 0; i < n->assets.n; i++) {
		const char *text = n->assets.v[i].text;
		const size_t len = strcspn(text, ",");

		if (len > 8 && strncmp(text + len - 8, "/kubelet", 8) == 0)
			return &n->assets.v[i];
	}
	return NULL;
}

static bool find_version(const struct kops18_build *b, const char **ret_where)
{
	const struct kops18_cluster *c = &b->cluster;
	const char *const images[] = { c->kube_proxy.image, c->kube_apiserver.image,
				       c->kube_controller_manager.image, c->kube_scheduler.image };
	const struct node_text *kubelet = kubelet_asset(b->in->node);

	for (size_t i = 0; i < ARRAY_LEN(images); i++)
		if (parse_tag(b->in->arena, images[i], &b->in->node->kubernetes)) {
			*ret_where = arena_printf(b->in->arena, "image '%s': ", images[i]);
			return true;
		}
	if (kubelet && parse_url(b->in->arena, kubelet->text, &b->in->node->kubernetes)) {
		*ret_where =
			arena_printf(b->in->arena, "%s: ", tree_where(b->in->arena, &kubelet->pos));
		return true;
	}
	return false;
}

static int compare_minors(const struct version *a, const struct version *b)
{
	return a->major != b->major ? a->major - b->major : a->minor - b->minor;
}

int kops18_version(struct kops18_build *b)
{
	const struct version *oldest = &kops18_oldest, *newest = &kops18_newest;
	struct version *v = &b->in->node->kubernetes;
	const char *text = b->cluster.kubernetes_version, *where;

	if (!str_is_empty(text)) {
		where = tree_place(b->in->arena, b->cluster_spec, "kubernetesVersion");
		if (!version_parse(b->in->arena, text, v) && !parse_url(b->in->arena, text, v)) {
			*v = (struct version){ 0 };
			return err_config(b->in->err, "%skubernetesVersion '%s' is not a version",
					  where, text);
		}
	} else if (!find_version(b, &where)) {
		/* the version may be a value that could not be read */
		if (errs_any(b->in->opts->errors))
			return 0;
		return err_config(b->in->err,
				  "the Kubernetes version is not known: no kubernetesVersion, "
				  "no image tag, none in the URL of kubelet");
	}
	if (compare_minors(v, oldest) >= 0 && compare_minors(v, newest) <= 0)
		return 0;
	(void)err_config(b->in->err, "%sKubernetes %d.%d is not supported; %d.%d to %d.%d are",
			 where, v->major, v->minor, oldest->major, oldest->minor, newest->major,
			 newest->minor);
	*v = (struct version){ 0 };
	return err_code(b->in->err);
}
