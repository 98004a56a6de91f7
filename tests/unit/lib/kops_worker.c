#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/kops_worker.h"

#include <string.h>
#include "nodeup/base/yaml.h"

#define CLUSTER "ClusterName: a.example\nKubernetesVersion: 1.35.2\n"

struct plan *kops_try_plan(struct arena *a, struct kops_worker *w, const char *builder,
			   const char *text)
{
	return kops_try_documents(a, w, builder,
				  arena_printf(a,
					       CLUSTER "%s\nCAs: {kubernetes-ca: " KOPS_TEST_CA
						       "}\nKeypairIDs: {kubernetes-ca: '1'}\n",
					       text));
}

struct plan *kops_try_documents(struct arena *a, struct kops_worker *w, const char *builder,
				const char *all)
{
	static const struct dialect_opts opts = { .checks_alone = true };
	const struct reading in = { a, &opts, &w->facts, &w->node, &w->e };
	struct kops_config *config = arena_new(a, struct kops_config);
	struct tree *t, *accept = NULL;

	w->boot = (struct kops_boot){ .cluster_name = "a.example",
				      .instance_group_name = "nodes",
				      .instance_group_role = w->role ? w->role : "Node",
				      .role = kops_role(w->role ? w->role : "Node"),
				      .config_base = "s3://store/a.example",
				      .cloud_provider = "aws" };
	if (w->accept)
		assert_int_equal(
			yaml_parse(a, "accept", w->accept, strlen(w->accept), &accept, &w->e), 0);
	w->boot.settings.accept = accept;
	if (!w->facts.distribution)
		w->facts.distribution = "debian";
	if (!w->facts.arch)
		w->facts.arch = "amd64";
	w->facts.instance_id = "i-0123456789abcdef0";
	assert_int_equal(yaml_parse(a, "n.yaml", all, strlen(all), &t, &w->e), 0);
	if (kops_config(a, t, &w->boot, &w->vintage, &opts, config, &w->e) < 0)
		return NULL;
	if (w->kubernetes)
		config->kubernetes.minor = w->kubernetes;
	if (kops_node(&in, &w->boot, config) < 0)
		return NULL;
	w->node.dialect = &kops_dialect;
	w->node.manifests = w->manifests;
	w->req = (struct plan_req){ .node = &w->node,
				    .facts = &w->facts,
				    .runtime = w->runtime,
				    .only = builder,
				    .image_mode = true,
				    .no_keys = w->manifests.n == 0 };
	return plan_build(a, &w->req, &w->plan, &w->e) < 0 ? NULL : &w->plan;
}
