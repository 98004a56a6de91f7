#include "nodeup/config/kops/kops.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/config/pem.h"

enum { SHA256_SIZE = 32 };

static bool is_https(const char *s)
{
	return str_has_prefix(s, "https://") && s[strlen("https://")] != '\0';
}

static const struct field_format https = { "an https URL", is_https };

/* clang-format off */
const struct schema kops_config_server_schema = SCHEMA_OF_LIST(struct kops_config_server, "ConfigServer", KOPS_CONFIG_SERVER);

#define BOOT_CONFIG(X) \
	KOPS_BOOT(X) \
	X(const struct tree *, settings.url_rewrites, "urlRewrites", .shape = TREE_SEQ, .secret = true, \
	  .doc = "ours: rules that change URLs") \
	X(const struct tree *, settings.mirrors, "mirrors", .shape = TREE_SEQ, .secret = true, \
	  .doc = "ours: where else files lie") \
	X(const char *, settings.ca_bundle, "caBundle", .doc = "ours: PEM file of CAs for downloads") \
	X(const struct tree *, settings.accept_keys, "acceptKeys", .shape = TREE_SEQ, \
	  .doc = "ours: keys that nodeup does not know and is to leave alone") \
	X(const struct tree *, settings.accept, "accept", .shape = TREE_SEQ, \
	  .doc = "ours: keys whose values go on with a warning where a program is said to refuse them") \
	X(struct opt_bool, settings.ignore_host_checks, "ignoreHostChecks", \
	  .doc = "ours: try a Kubernetes that cannot run on this host") \
	X(const char *, settings.reserved, "reserved", .oneof = "eks|gke", \
	  .doc = "ours: whose formula works out kube-reserved, if the documents have none")
/* clang-format on */

const struct schema kops_boot_schema = SCHEMA_OF_LIST(struct kops_boot, "BootConfig", BOOT_CONFIG);

/* source: kops 1.37 pkg/apis/kops InstanceGroupRole.ToLowerString */
static const struct kops_role roles[] = {
	{ .name = "ControlPlane",
	  .title = "control plane",
	  .folder = "control-plane",
	  .serves_api = true,
	  .is_control_plane = true },
	{ .name = "APIServer", .title = "API server", .folder = "apiserver", .serves_api = true },
	{ .name = "Node", .title = "worker" },
};

const struct kops_role *kops_role(const char *role)
{
	const struct kops_role *row = roles;

	while (row < &roles[ARRAY_LEN(roles) - 1] && !str_eq(role, row->name))
		row++;
	return row;
}

bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u)
{
	const struct dialect_opts *o = k->opts;
	struct arena *a = k->all.arena;

	if (!settings_has(o->accept, k->accept, u->path))
		return false;
	if (o->accepted && !strv_has(o->accepted, u->path))
		strv_add(a, o->accepted, arena_str(a, u->path));
	dialect_warn(a, o, "%s: '%s' is left alone, as acceptKeys says", tree_where(a, u->pos),
		     u->path);
	return true;
}

int kops_refuse_unknown(const struct kops_unknowns *unknown, struct err *e)
{
	return dialect_refuse_unknown(unknown->opts, &unknown->all, e);
}

/* Describes one check of BootConfig. */
struct look {
	struct arena *arena;
	const struct tree *tree;
	const struct kops_boot *boot;
	struct err *err;
};

static const char *where(const struct look *l, const char *key)
{
	return tree_place(l->arena, l->tree, key);
}

static int check_cloud(struct look *l)
{
	if (str_eq(l->boot->cloud_provider, "aws"))
		return 0;
	return err_config(l->err, "%sCloudProvider: '%s': nodeup makes nodes on aws alone",
			  where(l, "CloudProvider"), l->boot->cloud_provider);
}

static int check_role(struct look *l)
{
	const char *role = l->boot->instance_group_role;

	if (str_eq(l->boot->role->name, role))
		return 0;
	return err_config(l->err,
			  "%sInstanceGroupRole: '%s'%s; want ControlPlane, APIServer or Node",
			  where(l, "InstanceGroupRole"), role,
			  str_eq(role, "Bastion") ? ": a bastion is not a node" : " is not a role");
}

static int check_hash(struct look *l)
{
	struct err why = { 0 };
	size_t n = 0;
	char *bytes;

	if (enc_unbase64(l->arena, l->boot->nodeup_config_hash, &bytes, &n, &why) == 0 &&
	    n == SHA256_SIZE)
		return 0;
	return err_config(l->err, "%sNodeupConfigHash: '%s' is not the base64 of a sha256",
			  where(l, "NodeupConfigHash"), l->boot->nodeup_config_hash);
}

/* Checks where NodeupConfig comes from: servers win over ConfigBase. source: kops 1.37 upup/pkg/fi/nodeup/command.go */
static int check_source(struct look *l)
{
	const struct kops_boot *b = l->boot;
	const bool node = !b->role->serves_api;

	if (b->config_server.servers.n && str_is_empty(b->config_server.ca_certificates))
		return err_config(l->err,
				  "%sConfigServer.CACertificates is missing: without it no "
				  "server can be trusted",
				  where(l, "ConfigServer"));
	if (node && !b->config_server.servers.n)
		return err_config(l->err,
				  "%sConfigServer.servers is missing: a node gets its "
				  "certificates there",
				  where(l, "ConfigServer"));
	if (!b->config_server.servers.n && str_is_empty(b->config_base))
		return err_config(l->err, "%sConfigBase is missing: it says where NodeupConfig is",
				  where(l, "ConfigBase"));
	return 0;
}

static int check_server_ca(struct look *l)
{
	static const char key[] = "CACertificates";
	const char *ca = l->boot->config_server.ca_certificates;

	if (str_is_empty(ca) || pem_check_certificate(ca, l->err) == 0)
		return 0;
	return err_wrap(l->err, "%sConfigServer.%s",
			tree_place(l->arena, tree_lookup(l->tree, "ConfigServer"), key), key);
}

/* Notes an unknown key, as a field_unknown_fn with kops_unknowns as its arg. */
static void note_unknown(void *arg, const struct field_unknown *u)
{
	struct kops_unknowns *k = arg;

	if (!kops_accept(k, u))
		field_note_unknown(&k->all, u);
}

int kops_boot(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	      struct kops_boot *ret, struct err *e)
{
	/* the last check reports missing keys; a key that could not be read may seem to be missing */
	static const struct {
		int (*check)(struct look *);
		int (*keep)(struct errs *, int, const struct err *);
	} checks[] = { { check_cloud, errs_keep_vital },
		       { check_role, errs_keep_vital },
		       { check_hash, errs_keep },
		       { check_server_ca, errs_keep },
		       { check_source, errs_keep_vital } };
	struct kops_boot boot = { 0 };
	struct look l = { a, t, &boot, e };
	struct kops_unknowns unknown = { .all.arena = a,
					 .opts = o,
					 .accept = tree_lookup(t, "acceptKeys") };
	const struct field_opts opts = {
		.unknown = note_unknown, .arg = &unknown, .path = "", .errors = o->errors
	};
	int r = field_parse(a, &kops_boot_schema, t, &boot, &opts, e);
	size_t n;

	boot.role = kops_role(boot.instance_group_role);
	if (r == 0)
		r = kops_refuse_unknown(&unknown, e);
	n = errs_any(o->errors) ? ARRAY_LEN(checks) - 1 : ARRAY_LEN(checks);
	for (size_t i = 0; i < n && r == 0 && !errs_any_vital(o->errors); i++)
		r = checks[i].keep(o->errors, checks[i].check(&l), e);
	if (r == 0)
		*ret = boot;
	return r;
}
