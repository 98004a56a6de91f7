/* userdata.c - renders the user-data script of a node from its documents */
#include "nodeup/cmd/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/show.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/store.h"
#include "nodeup/documents/user_data.h"
#include "userdata/mime.h"
#include "userdata/pack.h"
#include "userdata/script.h"

enum { DOCUMENT_MAX = 4 << 20 };

#define PATIENCE_NS (5 * DUR_SEC)

/* The document of --conf and the two documents next to it. */
enum { DOCUMENTS = 3 };

struct rendering {
	struct cli *cli;
	struct http *http; /* NULL: all documents are on this machine */
	struct imds *imds;
	struct store *store;
	struct user_data data; /* the user data of --conf */
	struct documents read; /* cluster NULL: there is no such document */
	struct userdata_document documents[DOCUMENTS];
	size_t n_documents;
	struct userdata_part *parts;
	size_t n_parts;
	struct userdata_share *shares;
	size_t n_shares;
};

static int read_file(const struct rendering *u, const char *path, const char **ret_text,
		     size_t *ret_n, struct err *e)
{
	autobuf struct buf text = BUF_INIT(DOCUMENT_MAX);
	int r = io_read_given(path, 0, &text, e);

	if (r < 0)
		return r;
	*ret_n = text.len;
	*ret_text = arena_strn(u->cli->arena, buf_str(&text), text.len);
	return 0;
}

/* Takes a document's text and tree. Documents are checked here, where a person can still correct them, not on a
 * thousand nodes. */
static int take_document(struct rendering *u, const char *file, const struct user_data_file *f,
			 struct userdata_document *ret, struct tree **ret_tree, struct err *e)
{
	if (strlen(f->text) != f->n)
		return err_config(e, "%s: holds a NUL byte", file);
	ret->text = f->text + f->padding;
	return yaml_parse(u->cli->arena, file, f->text, f->n, ret_tree, e);
}

/* Reads the document of --conf, which may be in user data. */
static int read_conf(struct rendering *u, struct userdata_document *ret, struct tree **ret_tree,
		     struct err *e)
{
	struct user_data_file f = { 0 };
	const char *conf = u->cli->conf;
	int r = store_get(u->store, conf, &f.text, &f.n, e);

	if (r == 0)
		r = user_data_read(u->cli->arena, location_shown(u->cli->arena, conf), &f,
				   location_is_imds(conf), &u->data, e);
	return r < 0 ? r : take_document(u, u->data.file, &u->data.conf, ret, ret_tree, e);
}

/* Reads another document, from the user data or from the folder that has the document of --conf. */
static int read_other(struct rendering *u, const char *name, struct userdata_document *ret,
		      struct tree **ret_tree, struct err *e)
{
	const char *path = location_beside(u->cli->arena, u->cli->conf, name);
	struct user_data_file f = { 0 };
	int r;

	for (size_t i = 0; i < u->data.n_others; i++)
		if (str_eq(u->data.others[i].name, name))
			return take_document(u, u->data.file, &u->data.others[i], ret, ret_tree, e);
	r = store_get(u->store, path, &f.text, &f.n, e);
	return r < 0 ? r
		     : take_document(u, location_shown(u->cli->arena, path), &f, ret, ret_tree, e);
}

static void add_document(struct rendering *u, const char *name, struct userdata_document *d)
{
	d->name = name;
	u->documents[u->n_documents++] = *d;
	arena_push(u->cli->arena, u->shares, u->n_shares,
		   (struct userdata_share){ name, strlen(d->text) });
}

/* Adds a document beside --conf; if it does not exist, adds its name to missing. */
static int add_other(struct rendering *u, const char *name, struct strv *missing,
		     const struct tree **ret, struct err *e)
{
	struct userdata_document d;
	struct tree *t;
	int r = name ? read_other(u, name, &d, &t, e) : 0;

	if (r == -ENOENT)
		strv_add(u->cli->arena, missing, name);
	if (r < 0 || !name)
		return r == -ENOENT ? 0 : r;
	add_document(u, name, &d);
	*ret = t;
	return 0;
}

/* The document of --conf decides which other documents there are, and the script writes it last. */
static int add_documents(struct rendering *u, struct err *e)
{
	struct strv warnings = { 0 }, missing = { 0 };
	struct dialect_opts opts = { .strict = u->cli->strict,
				     .warnings = &warnings,
				     .no_host = true };
	struct userdata_document conf;
	const struct tree *group = NULL;
	const struct documents *d = &u->read;
	struct tree *t;
	int r = read_conf(u, &conf, &t, e);
	bool elsewhere;

	opts.script = u->data.script;
	opts.script_pos = (struct tree_pos){ u->data.file, 1, 1 };
	if (r == 0)
		r = dialects_read(u->cli->arena, t, &opts, &u->read, e);
	cli_warn(u->cli, &warnings);
	if (r < 0)
		return r;
	elsewhere = d->in_store || d->join;
	/* if the node gets that document from elsewhere, a document beside --conf serves only to look at, and is
	 * left out */
	if (!elsewhere || !d->beside_will_do) {
		r = add_other(u, d->dialect->cluster_name, &missing, &u->read.cluster, e);
		if (r == 0)
			r = add_other(u, d->dialect->group_name, &missing, &group, e);
	}
	if (r < 0)
		return r;
	add_document(u, d->dialect->conf_name, &conf);
	if (!elsewhere && missing.n)
		return err_config(e, "%s: no ConfigBase, and no %s beside it", u->data.file,
				  strv_join(u->cli->arena, &missing, " and no "));
	return 0;
}

/* cloud-init would only log the fault on each node, and go on without the part. */
static int check_yaml(struct rendering *u, const struct userdata_part *part, const char *path,
		      struct err *e)
{
	static const char *const yaml_types[] = { "text/cloud-config",
						  "text/cloud-config-archive" };
	struct tree *ignored;

	for (size_t i = 0; i < ARRAY_LEN(yaml_types); i++)
		if (strcasecmp(part->type, yaml_types[i]) == 0)
			return yaml_parse(u->cli->arena, path, part->data, part->n, &ignored, e);
	return 0;
}

/* cloud-init drops a part of an unknown type in silence. */
static int check_types(struct rendering *u, struct err *e)
{
	const char *near;

	for (size_t i = 0; i < u->n_parts; i++)
		if (userdata_type_is_handler(u->parts[i].type))
			return 0;
	for (size_t i = 0; i < u->cli->mime.n; i++) {
		const char *text = u->cli->mime.v[i];
		const char *type = arena_strn(u->cli->arena, text, strcspn(text, ":"));

		if (userdata_type_is_known(type))
			continue;
		near = userdata_type_near(u->cli->arena, type);
		return err_fail(e, ERR_USAGE, 0,
				"--mime %s: cloud-init knows no type '%s' and would drop the "
				"part without a word%s%s%s",
				text, type, near ? "; did you mean " : "", near ? near : "",
				near ? "?" : "");
	}
	return 0;
}

/* Adds a part, given as TYPE:FILE of --mime. */
static int add_part(struct rendering *u, const char *text, struct err *e)
{
	const char *colon = strchr(text, ':');
	struct userdata_part part;
	const char *data;
	int r;

	if (!colon || colon == text || !colon[1])
		return err_fail(e, ERR_USAGE, 0, "--mime: '%s' is not TYPE:FILE", text);
	r = read_file(u, colon + 1, &data, &part.n, e);
	if (r < 0)
		return r;
	part.type = arena_strn(u->cli->arena, text, (size_t)(colon - text));
	part.name = str_basename(colon + 1);
	part.data = data;
	r = check_yaml(u, &part, colon + 1, e);
	if (r < 0)
		return r;
	arena_push(u->cli->arena, u->parts, u->n_parts, part);
	arena_push(u->cli->arena, u->shares, u->n_shares,
		   (struct userdata_share){ part.name, part.n });
	return 0;
}

static void take_variable(struct rendering *u, const char *name, struct strmap *env)
{
	const char *value = getenv(name);

	if (!str_is_empty(value))
		strmap_set(u->cli->arena, env, name, value);
}

/* Sets what nodeup needs before it has a document: the region, a store other than AWS's, the proxy, and the version
 * of kops. source: kops 1.8.1 pkg/model/bootstrapscript.go S3Env, AWS_REGION, ProxyEnv */
static int environment(struct rendering *u, struct strmap *env, struct err *e)
{
	static const char *const store[] = { "S3_ENDPOINT", "S3_REGION", "S3_ACCESS_KEY_ID",
					     "S3_SECRET_ACCESS_KEY" };
	struct strv warnings = { 0 };
	const struct dialect_opts opts = { .strict = u->cli->strict, .warnings = &warnings };
	struct node_proxy proxy = { 0 };
	int r = 0;

	/* kops' own user data tell the version by the address of kops' nodeup, which ours replaces */
	if (u->read.vintage.text)
		strmap_set(u->cli->arena, env, VINTAGE_VARIABLE, u->read.vintage.text);
	take_variable(u, "AWS_REGION", env);
	for (size_t i = 0; i < ARRAY_LEN(store) && !str_is_empty(getenv(store[0])); i++)
		take_variable(u, store[i], env);
	if (u->read.cluster && u->read.dialect->proxy)
		r = u->read.dialect->proxy(u->cli->arena, &u->read, &opts, &proxy, e);
	node_proxy_variables(u->cli->arena, &proxy, env);
	cli_warn(u->cli, &warnings);
	return r;
}

static int render_script(struct rendering *u, const char **ret, size_t *ret_n, struct err *e)
{
	struct userdata_req req = {
		.nodeup = u->cli->nodeup_url,
		.documents = u->documents,
		.n_documents = u->n_documents,
	};
	struct userdata_pack_req pack = { .gzip = u->cli->gzip };
	struct arena *a = u->cli->arena;
	char *script;
	int r = environment(u, &req.env, e);

	if (r == 0)
		r = userdata_render(a, &req, &script, e);
	if (r < 0)
		return r;
	arena_push(a, u->parts, u->n_parts,
		   (struct userdata_part){ "text/x-shellscript", "nodeup.sh", script,
					   strlen(script) });
	for (size_t i = 0; i < u->cli->mime.n && r == 0; i++)
		r = add_part(u, u->cli->mime.v[i], e);
	if (r == 0)
		r = check_types(u, e);
	if (r == 0 && u->cli->mime.n)
		r = userdata_mime(a, u->parts, u->n_parts, &script, e);
	if (r < 0)
		return r;
	pack.data = script;
	pack.n = strlen(script);
	pack.shares = u->shares;
	pack.n_shares = u->n_shares;
	return userdata_pack(a, &pack, ret, ret_n, e);
}

static int open_store(struct rendering *u, int root_fd, struct err *e)
{
	struct store_req req = { .patience.ns = PATIENCE_NS };

	if (location_is_remote(u->cli->conf)) {
		if (http_new(&(struct http_opts){ .root_fd = root_fd }, &u->http, e) < 0)
			return err_code(e);
		u->imds = imds_new(u->http);
		req.http = u->http;
		req.imds = u->imds;
	}
	return store_new(u->cli->arena, &req, &u->store, e);
}

int cmd_userdata(struct cli *cli, struct err *e)
{
	struct rendering u = { .cli = cli };
	autoclose int root = -1;
	const char *data;
	size_t n;
	int r;

	if (!cli->conf)
		return err_fail(e, ERR_USAGE, 0, "userdata needs --conf=PATH");
	cli->conf = location_document(cli->arena, cli->conf);
	if (!cli->nodeup_url)
		return err_fail(e, ERR_USAGE, 0, "userdata needs --nodeup-url=HASH@URL,...");
	r = io_open_root("/", &root, e);
	if (r >= 0)
		r = open_store(&u, root, e);
	if (r >= 0)
		r = add_documents(&u, e);
	if (r >= 0)
		r = render_script(&u, &data, &n, e);
	store_free(u.store);
	imds_free(u.imds);
	http_free(u.http);
	if (r < 0)
		return r;
	/* main checks at the program's end whether the bytes were written */
	show_bytes(data, n);
	return 0;
}
