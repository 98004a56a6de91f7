/* validate.c - checks documents by themselves: no key, no secret, and nothing of this machine but its record of good
 * runs */
#include "nodeup/cmd/findings.h"
#include "nodeup/cmd/cli.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/show.h"
#include "nodeup/documents/bootstrap.h"
#include "nodeup/documents/location.h"
#include "nodeup/plan/era.h"
#include "nodeup/plan/release.h"
#include "nodeup/documents/settings_dir.h"

#define PATIENCE_NS (5 * DUR_SEC)

enum { JSON_SCHEMA = 1 };

/* The result of the command for all its documents. */
struct verdict {
	struct cli *cli;
	struct findings findings;
	struct tree *documents; /* one map for each --conf */
	/* the first error that is not about a document; kind NONE: there is none */
	struct err failed;
};

/* for names that hold the instance's id, which does not matter here */
static const char any_instance[] = "i-00000000000000000";

/* One kind of machine, and the result of planning for it. */
struct host {
	struct facts facts;
	const char *name; /* "debian 9 without docker" */
	bool has_docker;
	int r;
	struct err e;
	struct errs errors;
	struct strv warnings;
};

struct hosts {
	struct host *v;
	size_t n;
};

/* Adds a host with docker and, if the documents can have docker installed, a host without docker. */
static void add_host(struct arena *a, struct hosts *hosts, const struct node *node,
		     const struct facts *f)
{
	const char *name = arena_printf(a, "%s%s%s", f->distribution, f->version ? " " : "",
					f->version ? f->version : "");
	struct host h = { .facts = *f, .name = name, .has_docker = true };

	if (!h.facts.instance_id)
		h.facts.instance_id = any_instance;
	arena_push(a, hosts->v, hosts->n, h);
	/* a host may lack docker only where nodeup installs docker: for kops 1.8, on a release of its time */
	if (!release_of(f)->old.name || !plan_era(node)->installs_docker)
		return;
	h.name = arena_printf(a, "%s without docker", name);
	h.has_docker = false;
	arena_push(a, hosts->v, hosts->n, h);
}

/* Returns the named host, or all supported ones. */
static struct hosts list_hosts(const struct cli *cli, const struct node *node,
			       const struct facts *given)
{
	struct hosts hosts = { 0 };
	struct facts f = *given;

	if ((cli->facts || cli->root) && f.distribution) {
		add_host(cli->arena, &hosts, node, &f);
		return hosts;
	}
	if (!cli->facts) /* this machine is not the one that the documents are for */
		f.arch = NULL;
	for (size_t i = 0; plan_nth_host(node, i, &f); i++)
		add_host(cli->arena, &hosts, node, &f);
	return hosts;
}

static void try_host(struct arena *keep, const struct node *node, const struct settings *settings,
		     bool is_partial, struct host *h)
{
	autoarena struct arena *a = arena_new_empty();
	struct errs errors = { .arena = a };
	const struct plan_req req = {
		.node = node,
		.facts = &h->facts,
		.settings = settings,
		.runtime.unit = h->has_docker ? "docker.service" : NULL,
		.no_keys = true,
		.is_partial = is_partial,
		.errors = &errors,
	};
	struct plan plan = { 0 };

	h->r = plan_build(a, &req, &plan, &h->e);
	h->errors.arena = keep;
	for (size_t i = 0; i < errors.n; i++)
		(void)!errs_keep(&h->errors, -EINVAL, &errors.v[i]);
	for (size_t i = 0; h->r == 0 && i < plan.warnings.n; i++)
		strv_add(keep, &h->warnings, arena_str(keep, plan.warnings.v[i]));
}

static bool says(const struct host *h, const char *text)
{
	return h->r < 0 ? str_eq(h->e.msg, text) : strv_has(&h->warnings, text);
}

/* Lines about hosts, each once. */
struct said {
	struct strv texts;
	struct strv by_all;
	struct strv by_some; /* "on debian 9: text" */
};

static void warn(struct arena *a, const struct hosts *hosts, const char *text, struct said *said)
{
	struct strv names = { 0 };

	if (strv_has(&said->texts, text))
		return;
	strv_add(a, &said->texts, text);
	for (size_t i = 0; i < hosts->n; i++)
		if (says(&hosts->v[i], text))
			strv_add(a, &names, hosts->v[i].name);
	if (names.n == hosts->n)
		strv_add(a, &said->by_all, text);
	else
		strv_addf(a, &said->by_some, "on %s: %s", strv_join(a, &names, ", "), text);
}

/* Fails for faults on every supported machine. A fault on only some machines gives one warning that names them. */
static int try_all(const struct cli *cli, struct bootstrap *b, const struct settings *settings,
		   struct errs *errors, struct err *e)
{
	const struct hosts hosts = list_hosts(cli, &b->node, &b->facts);
	const bool is_partial = errs_any(errors);
	struct said said = { 0 };
	size_t good = 0;

	/* for a partial model only a fault on all hosts is reported: other faults may come from the missing part */
	for (size_t i = 0; i < hosts.n && !(is_partial && good); i++) {
		try_host(cli->arena, &b->node, settings, is_partial, &hosts.v[i]);
		good += hosts.v[i].r == 0;
	}
	if (good == 0) {
		for (size_t i = 0; i < hosts.v[0].errors.n; i++)
			(void)!errs_keep(errors, -EINVAL, &hosts.v[0].errors.v[i]);
		*e = hosts.v[0].e;
		return hosts.v[0].r;
	}
	for (size_t i = 0; i < hosts.n && !is_partial; i++) {
		const struct host *h = &hosts.v[i];

		if (h->r < 0)
			warn(cli->arena, &hosts, h->e.msg, &said);
		for (size_t k = 0; k < h->warnings.n; k++)
			warn(cli->arena, &hosts, h->warnings.v[k], &said);
	}
	strv_add_all(cli->arena, &b->warnings, &said.by_all);
	if (said.by_some.n)
		strv_add(cli->arena, &b->warnings, strv_join(cli->arena, &said.by_some, "; "));
	return 0;
}

static int load_documents(struct cli *cli, int root_fd, struct http *http, struct bootstrap *b,
			  struct errs *errors, struct err *e)
{
	const struct policy policy = { .mode = MODE_VALIDATE,
				       .image_mode = cli->root != NULL,
				       .offline = cli->offline,
				       .strict = cli->strict };
	struct settings settings = { 0 };
	const struct bootstrap_req req = {
		.conf = cli->conf,
		.settings = &settings,
		.facts_file = cli->facts,
		.root_fd = root_fd,
		.policy = &policy,
		.http = cli->offline ? NULL : http,
		.patience.ns = PATIENCE_NS,
		.errors = errors,
	};
	struct strv warnings = { 0 };
	int r = settings_load(cli->arena, root_fd, cli->strict, &warnings, &settings, e);

	if (r < 0)
		return r;
	http_add_settings(http, &settings.url_rewrites, settings_ca(&settings));
	r = bootstrap_load(cli->arena, &req, b, e);
	if (r < 0)
		return r;
	strv_add_all(cli->arena, &b->warnings, &warnings);
	r = settings_of_document(cli->arena, &b->documents.settings, &b->warnings, &settings,
				 errors, e);
	if (r < 0)
		return r;
	if (!errs_any_vital(errors) && !b->documents.checked)
		r = errs_keep(errors, try_all(cli, b, &settings, errors, e), e);
	if (r == 0 && b->archive_why.kind) {
		*e = b->archive_why;
		r = err_code(e);
	}
	return r;
}

/* Adds one more set of documents, named as in the flag; NULL: at their usual place. */
static struct tree *add_document(struct verdict *v, const char *conf)
{
	struct tree *t = tree_map(v->cli->arena);

	tree_set_text(v->cli->arena, t, "conf", conf ? location_shown(v->cli->arena, conf) : NULL);
	(void)tree_add(v->cli->arena, v->documents, t);
	return t;
}

/* Returns ", kops 1.36.2 (by NODEUP_URL_AMD64)", the version that wrote the document, if it is known. */
static const char *note_vintage(struct arena *a, const struct vintage *v, struct tree *t)
{
	const char *told = vintage_title(a, v);

	vintage_note(a, v, t);
	return told ? arena_printf(a, ", %s", told) : "";
}

/* If no node is made of the documents, notes what was checked in them. */
static void note_checked(struct verdict *v, const struct bootstrap *b)
{
	struct arena *a = v->cli->arena;
	const struct documents *d = &b->documents;
	const struct version *k = &b->node.kubernetes;
	const char *rest = d->cluster_text.text
				   ? arena_printf(a, "%s, Kubernetes %d.%d.%d",
						  d->dialect->cluster_name, k->major, k->minor,
						  k->patch)
				   : arena_printf(a, "%s beside it was not there to read",
						  d->dialect->cluster_name);
	const char *checked = arena_printf(a, "%s; %s", d->checked, rest);
	struct tree *t = add_document(v, b->conf);
	const char *vintage = note_vintage(a, &d->vintage, t);

	if (!v->cli->output)
		show_line(stdout, "%s: valid, cluster %s: %s%s", location_shown(a, b->conf),
			  d->cluster_name, checked, vintage);
	tree_set_true(a, t, "valid", true);
	tree_set_text(a, t, "cluster", d->cluster_name);
	tree_set_text(a, t, "checked", checked);
}

static void note_valid(struct verdict *v, const struct bootstrap *b)
{
	struct arena *a = v->cli->arena;
	const char *kubernetes = arena_printf(a, "%d.%d.%d", b->node.kubernetes.major,
					      b->node.kubernetes.minor, b->node.kubernetes.patch);
	const char *usual = b->node.is_master ? "master" : "worker";
	const char *role = b->node.title ? b->node.title : usual;
	struct tree *t = add_document(v, b->conf);
	const char *vintage = note_vintage(a, &b->documents.vintage, t);

	if (!v->cli->output)
		show_line(stdout, "%s: valid, %s of cluster %s, Kubernetes %s%s%s",
			  location_shown(a, b->conf), role, b->node.cluster_name, kubernetes,
			  b->documents.any_patch ? " or later" : "", vintage);
	tree_set_true(a, t, "valid", true);
	tree_set_text(a, t, "role", role);
	tree_set_text(a, t, "cluster", b->node.cluster_name);
	tree_set_text(a, t, "kubernetes", kubernetes);
}

/* Checks one --conf, and adds its findings to the verdict. */
static void validate(struct verdict *v, int root_fd, struct http *http)
{
	struct cli *cli = v->cli;
	struct errs errors = { .arena = cli->arena };
	struct bootstrap b = { 0 };
	struct err e = { 0 };
	int r = errs_keep(&errors, load_documents(cli, root_fd, http, &b, &errors, &e), &e);
	const struct strv warnings = bootstrap_warnings(cli->arena, &b);

	findings_add(&v->findings, &errors, &warnings, &b);
	if (r < 0) {
		findings_add_other(&v->findings, &e, !v->failed.kind);
		if (!v->failed.kind)
			v->failed = e;
	}
	if (r < 0 || errs_count(&errors))
		(void)tree_set(cli->arena, add_document(v, cli->conf), "valid",
			       tree_plain(cli->arena, "false"));
	else if (b.documents.checked)
		note_checked(v, &b);
	else
		note_valid(v, &b);
	bootstrap_done(&b);
}

static int print_json(const struct verdict *v, struct err *e)
{
	struct arena *a = v->cli->arena;
	struct tree *t = tree_map(a);

	tree_set_int(a, t, "schema", JSON_SCHEMA);
	(void)tree_set(a, t, "documents", v->documents);
	tree_set_int(a, t, "errors", (int64_t)v->findings.errors);
	tree_set_int(a, t, "warnings", (int64_t)(v->findings.n - v->findings.errors));
	(void)tree_set(a, t, "findings", findings_tree(&v->findings));
	return show_json(t, e);
}

static int print_verdict(const struct verdict *v, struct err *e)
{
	if (str_eq(v->cli->output, "json"))
		return print_json(v, e);
	if (str_eq(v->cli->output, "github")) {
		findings_print_github(&v->findings);
		return 0;
	}
	findings_print(&v->findings);
	if (v->findings.errors > 1)
		show_line(stderr, "%zu errors", v->findings.errors);
	return 0;
}

int cmd_validate(struct cli *cli, struct err *e)
{
	struct verdict v = { .cli = cli,
			     .findings.arena = cli->arena,
			     .documents = tree_seq(cli->arena) };
	struct http *http = NULL;
	autoclose int root = -1;
	int r = io_open_root(cli->root ? cli->root : "/", &root, e);

	if (r < 0)
		return r;
	if (str_eq(cli->output, "text"))
		cli->output = NULL;
	for (size_t i = 0; i == 0 || i < cli->confs.n; i++) {
		const struct http_opts opts = { .root_fd = root, .rewrites = cli->rewrites };

		/* one set's settings for its store do not apply to the next */
		r = http_new(&opts, &http, e);
		if (r < 0)
			return r;
		cli->conf = cli->confs.n ? cli->confs.v[i] : NULL;
		validate(&v, root, http);
		http_free(http);
	}
	r = print_verdict(&v, e);
	if (r == 0 && v.failed.kind) {
		*e = v.failed;
		return err_code(e);
	}
	if (r == 0 && v.findings.errors)
		r = err_exit_status(&(struct err){ .kind = ERR_CONFIG });
	return r;
}
