#include "nodeup/plan/kubeconfig.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

enum { KUBECONFIG_MAX = 256 << 10 };

const struct node_keypair *plan_keypair(struct plan *p, const char *name, bool key)
{
	const struct node_keypair *k = node_keypair(p->req->node, name);
	struct node_keypair *empty;

	if (k && (k->unmade || (!str_is_empty(k->cert) && (!key || !str_is_empty(k->key)))))
		return k;
	if (!p->req->no_keys)
		plan_lacks(p, "keypair %s: no %s, which %s needs", name,
			   k && !str_is_empty(k->cert) ? "private key" : "certificate", p->builder);
	empty = arena_new(p->arena, struct node_keypair);
	*empty = (struct node_keypair){ .name = name, .cert = "", .key = "" };
	return empty;
}

static struct tree *pem_data(struct arena *a, const char *pem)
{
	return tree_string(a, enc_base64(a, pem, strlen(pem)));
}

/* Returns a list with the one item {detail_key: detail, name: name}; a kubeconfig has three such lists. The item's
 * keys are sorted as kops sorts them, so a kubeconfig that kops wrote stays as it is. */
static struct tree *named_item(struct arena *a, const char *detail_key, struct tree *detail,
			       const char *name)
{
	struct tree *t = tree_map(a);
	const bool last = strcmp(detail_key, "name") > 0;

	if (last)
		tree_set_text(a, t, "name", name);
	(void)tree_set(a, t, detail_key, detail);
	if (!last)
		tree_set_text(a, t, "name", name);
	return tree_add(a, tree_seq(a), t);
}

static struct tree *kubeconfig_tree(struct arena *a, const char *ca, const char *server,
				    const struct node_keypair *user)
{
	static const char context_name[] = "service-account-context";
	struct tree *cluster = tree_map(a), *context = tree_map(a), *login = tree_map(a);
	struct tree *t = tree_map(a);

	(void)tree_set(a, cluster, "certificate-authority-data", pem_data(a, ca));
	tree_set_text(a, cluster, "server", server);
	tree_set_text(a, context, "cluster", "local");
	tree_set_text(a, context, "user", user->name);
	(void)tree_set(a, login, "client-certificate-data", pem_data(a, user->cert));
	(void)tree_set(a, login, "client-key-data", pem_data(a, user->key));
	tree_set_text(a, t, "apiVersion", "v1");
	(void)tree_set(a, t, "clusters", named_item(a, "cluster", cluster, "local"));
	(void)tree_set(a, t, "contexts", named_item(a, "context", context, context_name));
	tree_set_text(a, t, "current-context", context_name);
	tree_set_text(a, t, "kind", "Config");
	(void)tree_set(a, t, "users", named_item(a, "user", login, user->name));
	return t;
}

struct task *plan_issued(struct task *file, const struct node_keypair *pair)
{
	file->file.issued = pair->unmade || pair->until != 0;
	file->file.why = pair->why;
	file->file.unmade = pair->unmade;
	return file;
}

struct task *plan_kubeconfig_of(struct plan *p, const char *path, const char *user, const char *ca,
				const char *server)
{
	const struct node_keypair *k = plan_keypair(p, user, true);
	const struct tree *t = kubeconfig_tree(p->arena, ca, server, k);

	return plan_issued(plan_secret(p, path, 0400, plan_yaml(p, path, t, KUBECONFIG_MAX)), k);
}
