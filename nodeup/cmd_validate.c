/* cmd_validate.c - check the documents alone: no key, no secret, nothing of this machine */
#include "nodeup/cli.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/show.h"
#include "nodeup/bootstrap.h"
#include "nodeup/plan/plan.h"
#include "nodeup/settings_dir.h"

#define PATIENCE_NS (5 * DUR_SEC)

static int load(struct cli *cli, int root_fd, struct http *http, struct bootstrap *b, struct err *e)
{
	const struct bootstrap_req req = {
		.conf = cli->conf,
		.facts_file = cli->facts,
		.root_fd = root_fd,
		.image_mode = cli->root != NULL,
		.offline = cli->offline,
		.strict = cli->strict,
		.no_secrets = true,
		.http = cli->offline ? NULL : http,
		.patience_ns = PATIENCE_NS,
	};
	struct settings settings = { 0 };
	struct plan_req plan_req;
	struct strv warnings = { 0 };
	struct plan plan;
	int r = settings_load(cli->arena, root_fd, cli->strict, &warnings, &settings, e);

	if (r < 0)
		return r;
	http_add_settings(http, &settings.url_rewrites, settings_ca(&settings));
	r = bootstrap_load(cli->arena, &req, b, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < warnings.n; i++)
		strv_add(cli->arena, &b->warnings, warnings.v[i]);
	r = settings_of_document(cli->arena, &b->documents.settings, &b->warnings, &settings, e);
	if (r < 0)
		return r;
	/* hashes and URLs are read by the planner */
	plan_req = (struct plan_req){
		.node = &b->node, .facts = &b->facts, .settings = &settings, .only = "assets"
	};
	return plan_build(cli->arena, &plan_req, &plan, e);
}

int cmd_validate(struct cli *cli, struct err *e)
{
	struct bootstrap b = { 0 };
	struct http *http = NULL;
	autoclose int root = -1;
	int r = io_open_root(cli->root ? cli->root : "/", &root, e);

	if (r < 0)
		return r;
	const struct http_opts opts = { .root_fd = root, .rewrites = cli->rewrites };

	r = http_new(&opts, &http, e);
	if (r < 0)
		return r;
	r = load(cli, root, http, &b, e);
	for (size_t i = 0; i < b.warnings.n; i++)
		show_line(stderr, "warning: %s", b.warnings.v[i]);
	if (r == 0)
		show_line(stdout, "%s: valid, %s of cluster %s, Kubernetes %d.%d.%d", b.conf,
			  b.node.is_master ? "master" : "worker", b.node.cluster_name,
			  b.node.kubernetes.major, b.node.kubernetes.minor,
			  b.node.kubernetes.patch);
	bootstrap_done(&b);
	http_free(http);
	return r;
}
