/* validate.c - check the documents alone: no key, no secret, nothing of this machine */
#include "nodeup/cmd/cli.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/show.h"
#include "nodeup/documents/bootstrap.h"
#include "nodeup/plan/host_checks.h"
#include "nodeup/plan/release.h"
#include "nodeup/documents/settings_dir.h"

#define PATIENCE_NS (5 * DUR_SEC)

/* for what is called after the instance; which one it is makes no difference here */
static const char any_instance[] = "i-00000000000000000";

/* One kind of machine, and what planning for it came to. */
struct host {
	struct facts facts;
	const char *name; /* "debian 9 without docker" */
	bool has_docker;
	int r;
	struct err e;
	struct strv warnings;
};

struct hosts {
	struct host *v;
	size_t n;
};

/* With docker, and where the documents can have it installed, without. */
static void add_host(struct arena *a, struct hosts *hosts, const struct node *node,
		     const struct facts *f)
{
	const char *name = arena_printf(a, "%s%s%s", f->distribution, f->version ? " " : "",
					f->version ? f->version : "");
	struct plan_req req = { .facts = f };
	const struct plan p = { .req = &req };
	struct host h = { .facts = *f, .name = name, .has_docker = true };

	if (!h.facts.instance_id)
		h.facts.instance_id = any_instance;
	arena_push(a, hosts->v, hosts->n, h);
	/* kube-up installs a docker of a release of its time */
	if (!release_name(plan_release(&p)) || str_eq(f->arch, "arm64") || node->states.used)
		return;
	h.name = arena_printf(a, "%s without docker", name);
	h.has_docker = false;
	arena_push(a, hosts->v, hosts->n, h);
}

/* The one that was named, or all that are supported. */
static struct hosts list_hosts(const struct cli *cli, const struct node *node,
			       const struct facts *given)
{
	struct hosts hosts = { 0 };
	struct facts f = *given;

	if ((cli->facts || cli->root) && f.distribution) {
		add_host(cli->arena, &hosts, node, &f);
		return hosts;
	}
	if (!cli->facts) /* what this machine is says nothing of those that the documents are for */
		f.arch = NULL;
	for (size_t i = 0; release_nth(i, &f); i++)
		if (plan_is_for(node, &f))
			add_host(cli->arena, &hosts, node, &f);
	return hosts;
}

static void try_host(struct arena *keep, const struct node *node, const struct settings *settings,
		     struct host *h)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan_req req = {
		.node = node,
		.facts = &h->facts,
		.settings = settings,
		.runtime.unit = h->has_docker ? "docker.service" : NULL,
		.no_keys = true,
	};
	struct plan plan = { 0 };

	h->r = plan_build(a, &req, &plan, &h->e);
	for (size_t i = 0; h->r == 0 && i < plan.warnings.n; i++)
		strv_add(keep, &h->warnings, arena_str(keep, plan.warnings.v[i]));
}

static bool says(const struct host *h, const char *text)
{
	return h->r < 0 ? str_eq(h->e.msg, text) : strv_has(&h->warnings, text);
}

/* Say once what several hosts have to say, and of which it is true unless it is of all. */
static void warn(struct arena *a, const struct hosts *hosts, const char *text, struct strv *said,
		 struct strv *ret)
{
	struct strv names = { 0 };

	if (strv_has(said, text))
		return;
	strv_add(a, said, text);
	for (size_t i = 0; i < hosts->n; i++)
		if (says(&hosts->v[i], text))
			strv_add(a, &names, hosts->v[i].name);
	strv_add(a, ret,
		 names.n == hosts->n
			 ? text
			 : arena_printf(a, "on %s: %s", strv_join(a, &names, ", "), text));
}

/* What no supported machine would take is an error, what some would not take a warning. */
static int try_all(const struct cli *cli, struct bootstrap *b, const struct settings *settings,
		   struct err *e)
{
	const struct hosts hosts = list_hosts(cli, &b->node, &b->facts);
	struct strv said = { 0 };
	size_t good = 0;

	for (size_t i = 0; i < hosts.n; i++) {
		try_host(cli->arena, &b->node, settings, &hosts.v[i]);
		good += hosts.v[i].r == 0;
	}
	if (good == 0) {
		*e = hosts.v[0].e;
		return hosts.v[0].r;
	}
	for (size_t i = 0; i < hosts.n; i++) {
		const struct host *h = &hosts.v[i];

		if (h->r < 0)
			warn(cli->arena, &hosts, h->e.msg, &said, &b->warnings);
		for (size_t k = 0; k < h->warnings.n; k++)
			warn(cli->arena, &hosts, h->warnings.v[k], &said, &b->warnings);
	}
	return 0;
}

static int load_documents(struct cli *cli, int root_fd, struct http *http, struct bootstrap *b,
			  struct err *e)
{
	struct settings settings = { 0 };
	const struct bootstrap_req req = {
		.conf = cli->conf,
		.settings = &settings,
		.facts_file = cli->facts,
		.root_fd = root_fd,
		.image_mode = cli->root != NULL,
		.offline = cli->offline,
		.strict = cli->strict,
		.no_secrets = true,
		.http = cli->offline ? NULL : http,
		.patience_ns = PATIENCE_NS,
	};
	struct strv warnings = { 0 };
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
	return try_all(cli, b, &settings, e);
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
	r = load_documents(cli, root, http, &b, e);
	cli_warn(cli, &b.warnings);
	if (r == 0)
		show_line(stdout, "%s: valid, %s of cluster %s, Kubernetes %d.%d.%d%s", b.conf,
			  b.node.is_master ? "master" : "worker", b.node.cluster_name,
			  b.node.kubernetes.major, b.node.kubernetes.minor, b.node.kubernetes.patch,
			  b.documents.any_patch ? " or later" : "");
	bootstrap_done(&b);
	http_free(http);
	return r;
}
