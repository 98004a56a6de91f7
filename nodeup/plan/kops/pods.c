#include "nodeup/plan/kops/pods.h"

#include <string.h>

void kops_apply_rules(void *spec, const struct kops_rule *rules, size_t n)
{
	char *base = spec;

	for (size_t i = 0; i < n; i++) {
		const struct kops_rule *rule = &rules[i];
		void *of = base + rule->of, *place = base + rule->member;
		const char *const *given = of;
		const char **member = place;

		if (rule->when == RULE_ALWAYS ||
		    (rule->when == RULE_IF_EMPTY ? str_is_empty(*given) : !*given))
			*member = rule->value;
	}
}

/* source: kops 1.37 nodeup/pkg/model/context.go RemapImage */
static const char *image_name(struct plan *p, const char *image)
{
	static const char built_for[] = "-amd64";
	const char *arch = p->req->facts->arch;
	const char *at = image ? strstr(image, built_for) : NULL;

	if (!at || !arch)
		return image;
	return arena_printf(p->arena, "%.*s-%s%s", (int)(at - image), image, arch,
			    at + sizeof(built_for) - 1);
}

static void add_mounts(struct plan *p, struct pod *pod, const struct kops_pod *form)
{
	for (size_t i = 0; i < form->n_mounts; i++) {
		const struct kops_mount *m = &form->mounts[i];

		if (!kops_has(p, m->when))
			continue;
		if (m->is_ssl) {
			plan_mount_ssl(p, pod);
			continue;
		}
		pod_host_path(p->arena, pod, m->name, m->path, m->at, !m->is_writable);
		pod->volumes[pod->n_volumes - 1].type = m->type;
	}
}

/* Notes in the manifest how often each certificate was issued anew. kubelet restarts a static pod only when its
 * manifest changes, and some programs read a certificate only when they start. */
static void add_renewals(struct plan *p, struct pod *pod)
{
	const struct node_keypairs *all = &p->req->node->keypairs;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].renewals && str_eq(all->v[i].pod, pod->name))
			strmap_set(p->arena, &pod->annotations,
				   arena_printf(p->arena, "nodeup/renewals-of-%s", all->v[i].name),
				   all->v[i].renewals);
}

struct pod *kops_pod(struct plan *p, const struct kops_pod *form, const struct kops_pod_spec *spec,
		     const struct strv *flags)
{
	struct pod *pod = plan_pod(p, form->name, image_name(p, spec->image));
	const char *const args[] = {
		arena_printf(p->arena, "--log-file=/var/log/%s.log", form->name),
		"--also-stdout",
		arena_printf(p->arena, "/usr/local/bin/%s", form->name),
	};
	struct pod_container *c = &pod->container;
	struct strv quoted = { 0 };

	strv_add_all(p->arena, &quoted, flags);
	if (kops_has(p, KOPS_QUOTED_ARGS))
		kops_quote_flags(p, &quoted);
	pod->is_stamped = kops_has(p, KOPS_STAMPED_PODS);
	pod->priority_class = form->priority_class;
	if (kops_of(p)->config->containerd.selinux_enabled)
		pod->selinux_type = "spc_t";
	c->cpu_request = spec->cpu_request;
	c->cpu_limit = spec->cpu_limit;
	c->memory_request = spec->memory_request;
	c->memory_limit = spec->memory_limit;
	if (form->healthz)
		c->liveness = plan_probe("/healthz", "HTTPS", form->healthz);
	strv_add(p->arena, &c->command, "/go-runner");
	strv_add_array(p->arena, &c->args, args);
	strv_add_all(p->arena, &c->args, &quoted);
	add_mounts(p, pod, form);
	add_renewals(p, pod);
	return pod;
}

void kops_proxy_env(struct plan *p, struct pod *pod)
{
	const struct node_proxy proxy = kops_proxy(p);

	plan_proxy_env(p, &proxy, pod);
}
