#include "nodeup/config/parsed_files.h"

#include <string.h>
#include <strings.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/json.h"
#include "nodeup/base/label.h"
#include "nodeup/base/near.h"
#include "nodeup/base/yaml.h"

/* A demand on the parts at a path: "a.b" is a key of a map, "a[]" each item of a list, "a|b" either key. */
struct part {
	const char *path;
	enum tree_kind kind; /* a map or a list; TREE_NULL: a text */
	bool needed;         /* it is there, and not empty */
	bool names;          /* a build may know more words: see field_accepts */
	const char *one_key; /* "a|b": the map has one of these keys, and no second one */
	const char *oneof;   /* "a|b": the text is one of these */
	bool (*is_valid)(const char *s);
	const char *wanted;   /* for messages; NULL: made of the rest */
	uint8_t since, until; /* minor versions of Kubernetes 1.x; 0: no bound */
};

static bool has_bytes(const char *base64, size_t least, size_t most)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	char *data;
	size_t n;

	return enc_unbase64(a, base64, &data, &n, &ignored) == 0 && n >= least && n <= most &&
	       n % 8 == 0;
}

static bool is_aes_key(const char *s)
{
	return has_bytes(s, 16, 32);
}

static bool is_secretbox_key(const char *s)
{
	return has_bytes(s, 32, 32);
}

/* "secrets", "deployments.apps", "*.apps", "*.": what is encrypted. */
static bool is_resource(const char *s)
{
	static const char *const others[] = { "*", "apiserveripinfo", "serviceipallocations",
					      "servicenodeportallocations", NULL };
	static const char *const groups[] = { "events.k8s.io", "extensions", NULL };
	const char *dot = strchr(s, '.');

	for (const char *at = s; *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			return false;
	return !str_is_one_of(s, others) && !(dot && str_is_one_of(dot + 1, groups));
}

static bool is_socket(const char *s)
{
	return strncasecmp(s, "unix:", 5) == 0;
}

static bool is_https(const char *s)
{
	return strncasecmp(s, "https:", 6) == 0;
}

/* '*' stands alone, or last. */
static bool is_url_path(const char *s)
{
	const char *star = strchr(s, '*');

	return str_eq(s, "*") || (*s == '/' && (!star || !star[1]));
}

static bool is_group(const char *s)
{
	return str_eq(s, "*") || label_is_domain(s);
}

/* clang-format off */
#define PROVIDER "resources[].providers[]."
static const struct part encryption[] = {
	{ "", TREE_MAP, .needed = true },
	{ "kind", .needed = true, .oneof = "EncryptionConfig", .until = 12 },
	{ "kind", .needed = true, .oneof = "EncryptionConfiguration|EncryptionConfig", .since = 13 },
	{ "apiVersion", .needed = true, .oneof = "apiserver.config.k8s.io/v1|v1", .names = true, .since = 13 },
	{ "resources", TREE_SEQ },
	{ "resources", TREE_SEQ, .needed = true, .since = 31 },
	{ "resources[]", TREE_MAP },
	{ "resources[].resources", TREE_SEQ, .needed = true, .since = 31 },
	{ "resources[].resources[]", .is_valid = is_resource, .wanted = "a resource such as secrets or configmaps", .since = 31 },
	{ "resources[].providers", TREE_SEQ, .needed = true, .since = 31 },
	{ "resources[].providers[]", TREE_MAP, .one_key = "aescbc|aesgcm|identity|kms|secretbox" },
	{ PROVIDER "aescbc|aesgcm|identity|kms|secretbox", TREE_MAP },
	{ PROVIDER "aescbc|aesgcm|secretbox.keys", TREE_SEQ, .needed = true },
	{ PROVIDER "aescbc|aesgcm|secretbox.keys[]", TREE_MAP },
	{ PROVIDER "aescbc|aesgcm|secretbox.keys[].name", .needed = true },
	{ PROVIDER "aescbc|aesgcm.keys[].secret", .needed = true, .is_valid = is_aes_key, .wanted = "base64 of 16, 24 or 32 bytes" },
	{ PROVIDER "secretbox.keys[].secret", .needed = true, .is_valid = is_secretbox_key, .wanted = "base64 of 32 bytes" },
	{ PROVIDER "kms.name", .needed = true, .since = 31 },
	{ PROVIDER "kms.endpoint", .needed = true, .is_valid = is_socket, .wanted = "a socket such as unix:///run/kms.sock", .since = 10 },
	{ PROVIDER "kms.apiVersion", .oneof = "v1|v2", .since = 31 },
};

#define STAGES "Panic|RequestReceived|ResponseComplete|ResponseStarted"
static const struct part audit_policy[] = {
	{ "", TREE_MAP, .needed = true },
	{ "kind", .oneof = "Policy" },
	{ "kind", .needed = true, .since = 10 },
	{ "apiVersion", .needed = true, .oneof = "audit.k8s.io/v1|audit.k8s.io/v1beta1|audit.k8s.io/v1alpha1", .names = true, .since = 10, .until = 23 },
	{ "apiVersion", .needed = true, .oneof = "audit.k8s.io/v1", .names = true, .since = 24 },
	{ "omitStages", TREE_SEQ, .since = 10 },
	{ "omitStages[]", .oneof = STAGES, .since = 10 },
	{ "rules", TREE_SEQ, .needed = true },
	{ "rules[]", TREE_MAP },
	{ "rules[].level", .needed = true, .oneof = "Metadata|None|Request|RequestResponse" },
	{ "rules[].omitStages", TREE_SEQ },
	{ "rules[].omitStages[]", .oneof = STAGES },
	{ "rules[].users|userGroups|verbs|resources|namespaces|nonResourceURLs", TREE_SEQ },
	{ "rules[].nonResourceURLs[]", .is_valid = is_url_path, .wanted = "a path such as /healthz*" },
	{ "rules[].resources[]", TREE_MAP },
	{ "rules[].resources[].group", .is_valid = is_group, .wanted = "a group such as apps, without its version" },
};

#define CONFIG_GROUP(v) "apiserver.config.k8s.io/" v
static const struct part authentication[] = {
	{ "", TREE_MAP, .needed = true },
	{ "kind", .needed = true, .oneof = "AuthenticationConfiguration" },
	{ "apiVersion", .needed = true, .names = true, .oneof = CONFIG_GROUP("v1") "|" CONFIG_GROUP("v1beta1") "|" CONFIG_GROUP("v1alpha1") },
	{ "jwt", TREE_SEQ },
	{ "jwt[]", TREE_MAP },
	{ "jwt[].issuer", TREE_MAP, .needed = true },
	{ "jwt[].issuer.url", .needed = true, .is_valid = is_https, .wanted = "a URL such as https://issuer.example" },
	{ "jwt[].issuer.audiences", TREE_SEQ, .needed = true },
	{ "jwt[].claimMappings", TREE_MAP, .needed = true },
	{ "jwt[].claimMappings.username", TREE_MAP, .needed = true, .one_key = "claim|expression" },
	{ "jwt[].claimValidationRules|userValidationRules", TREE_SEQ },
};

static const struct part authorization[] = {
	{ "", TREE_MAP, .needed = true },
	{ "kind", .needed = true, .oneof = "AuthorizationConfiguration" },
	{ "apiVersion", .needed = true, .names = true, .oneof = CONFIG_GROUP("v1") "|" CONFIG_GROUP("v1beta1") "|" CONFIG_GROUP("v1alpha1") },
	{ "authorizers", TREE_SEQ, .needed = true },
	{ "authorizers[]", TREE_MAP },
	{ "authorizers[].type", .needed = true, .names = true, .oneof = "ABAC|AlwaysAllow|AlwaysDeny|Node|RBAC|Webhook" },
	{ "authorizers[].name", .needed = true, .is_valid = label_is_domain, .wanted = "a name in small letters such as node.example" },
	{ "authorizers[].webhook", TREE_MAP },
	{ "authorizers[].webhook.timeout", .needed = true },
	{ "authorizers[].webhook.subjectAccessReviewVersion", .needed = true, .oneof = "v1|v1beta1" },
	{ "authorizers[].webhook.failurePolicy", .needed = true, .oneof = "Deny|NoOpinion" },
	{ "authorizers[].webhook.connectionInfo", TREE_MAP, .needed = true },
	{ "authorizers[].webhook.connectionInfo.type", .needed = true, .oneof = "InClusterConfig|KubeConfigFile" },
};

static const struct part admission[] = {
	{ "", TREE_MAP, .needed = true },
	{ "kind", .needed = true, .oneof = "AdmissionConfiguration" },
	{ "apiVersion", .needed = true, .names = true, .oneof = CONFIG_GROUP("v1") "|" CONFIG_GROUP("v1beta1") "|" CONFIG_GROUP("v1alpha1") "|apiserver.k8s.io/v1beta1|apiserver.k8s.io/v1alpha1" },
	{ "plugins", TREE_SEQ },
	{ "plugins[]", TREE_MAP },
	{ "plugins[].name|path" },
};
/* clang-format on */

#define PARTS(table) .parts = (table), .n = ARRAY_LEN(table)
static const struct file {
	const char *flags; /* "a|b" */
	const struct part *parts;
	size_t n;
	const char
		*older; /* "a|b": with such a key it is of an older form, that is not looked at */
	int since;
	bool secret;
} files[] = {
	{ "encryption-provider-config|experimental-encryption-provider-config", PARTS(encryption),
	  .since = 7, .secret = true },
	{ "audit-policy-file", PARTS(audit_policy), .since = 8 },
	{ "authentication-config", PARTS(authentication) },
	{ "authorization-config", PARTS(authorization) },
	{ "admission-control-config-file", PARTS(admission),
	  .older = "imagePolicy|podNodeSelectorPluginConfig" },
};

struct walk {
	struct arena *arena;
	const struct parsed_text *text;
	bool secret;
	struct accepts_findings *ret;
};

/* A part of the file, and what it is called: "resources[0].providers". */
struct place {
	const struct tree *value;
	const char *path;
};

static void tell(struct walk *w, const struct place *at, const char *wanted, const char *found,
		 const char *nearest, bool names)
{
	arena_push(w->arena, w->ret->v, w->ret->n,
		   (struct accepts_finding){
			   .key = w->text->key,
			   .text = arena_printf(
				   w->arena, "%s: line %u, column %u: %s%sexpected %s, found %s",
				   w->text->from, at->value->pos.line, at->value->pos.column,
				   at->path, *at->path ? ": " : "", wanted, found),
			   .nearest = nearest,
			   .names = names });
}

static const char *wanted_of(struct arena *a, const struct part *p)
{
	if (p->wanted)
		return p->wanted;
	if (p->oneof)
		return arena_printf(a, "%s%s", strchr(p->oneof, '|') ? "one of " : "", p->oneof);
	return p->kind == TREE_MAP ? "a map" : p->kind == TREE_SEQ ? "a list" : "a text";
}

static bool is_empty(const struct tree *t)
{
	return t->kind == TREE_NULL || (t->kind == TREE_SCALAR ? !*t->scalar : t->n == 0);
}

static void check_keys(struct walk *w, const struct part *p, const struct place *at)
{
	const struct strv keys = strv_split(w->arena, p->one_key, '|');
	const char *wanted = arena_printf(w->arena, "one of %s", p->one_key);
	struct strv there = { 0 };

	for (size_t i = 0; i < keys.n; i++) {
		const struct tree *t = tree_lookup(at->value, keys.v[i]);

		if (t && t->kind != TREE_NULL)
			strv_add(w->arena, &there, keys.v[i]);
	}
	if (there.n != 1)
		tell(w, at, wanted, there.n ? strv_join(w->arena, &there, " and ") : "none of them",
		     NULL, false);
}

static void check_text(struct walk *w, const struct part *p, const struct place *at)
{
	const struct strv words = strv_split(w->arena, p->oneof ? p->oneof : "", '|');
	const char *s = field_text(at->value);
	const char *nearest;

	if ((!p->oneof || strv_has(&words, s)) && (!p->is_valid || p->is_valid(s)))
		return;
	nearest = p->oneof && !w->secret ? near_name(s, words.v, words.n) : NULL;
	tell(w, at, wanted_of(w->arena, p), field_found(w->arena, at->value, !w->secret), nearest,
	     p->names);
}

static void check_part(struct walk *w, const struct part *p, const struct place *at)
{
	const enum tree_kind kind = p->kind == TREE_NULL ? TREE_SCALAR : p->kind;

	if (is_empty(at->value)) {
		if (p->needed)
			tell(w, at, wanted_of(w->arena, p), "nothing", NULL, false);
		else if (p->one_key)
			check_keys(w, p, at);
		return;
	}
	if (at->value->kind != kind)
		tell(w, at, wanted_of(w->arena, p), field_found(w->arena, at->value, !w->secret),
		     NULL, false);
	else if (p->one_key)
		check_keys(w, p, at);
	else if (kind == TREE_SCALAR)
		check_text(w, p, at);
}

static void visit(struct walk *w, const struct part *p, const char *rest, const struct place *at);

static void visit_key(struct walk *w, const struct part *p, const char *key, const char *rest,
		      const struct place *at)
{
	const struct tree *value = tree_lookup(at->value, key);
	const struct place below = { value ? value : at->value,
				     field_path(w->arena, at->path, key) };

	if (value)
		visit(w, p, rest, &below);
	else if (!*rest && p->needed)
		tell(w, &below, wanted_of(w->arena, p), "nothing", NULL, false);
}

/* Parts of what is no map or no list are not looked for: the row of that tells it. */
static void visit(struct walk *w, const struct part *p, const char *rest, const struct place *at)
{
	const size_t n = strcspn(rest, ".[");

	if (!*rest) {
		check_part(w, p, at);
	} else if (*rest == '[') {
		for (size_t i = 0; at->value->kind == TREE_SEQ && i < at->value->n; i++) {
			const struct place item = { at->value->items[i].value,
						    arena_printf(w->arena, "%s[%zu]", at->path,
								 i) };

			visit(w, p, rest + 2 + (rest[2] == '.'), &item);
		}
	} else if (at->value->kind == TREE_MAP) {
		const struct strv keys = strv_split(w->arena, arena_strn(w->arena, rest, n), '|');

		for (size_t i = 0; i < keys.n; i++)
			visit_key(w, p, keys.v[i], rest + n + (rest[n] == '.'), at);
	}
}

/* What is well formed, but not read here, the program may read in its own way. */
static bool read_text(struct walk *w, struct tree **ret)
{
	const struct parsed_text *t = w->text;
	struct tree stop = { 0 };
	struct err ignored;

	if (yaml_is_well_formed(t->text, t->n, &stop.pos))
		return yaml_parse(w->arena, "", t->text, t->n, ret, &ignored) == 0;
	if (json_parse(w->arena, "", t->text, t->n, ret, &ignored) == 0)
		return true;
	tell(w, &(struct place){ &stop, "" }, "YAML", "what cannot be read", NULL, false);
	return false;
}

static bool is_older(struct arena *a, const struct file *f, const struct tree *t)
{
	const struct strv keys = strv_split(a, f->older ? f->older : "", '|');

	for (size_t i = 0; t->kind == TREE_MAP && f->older && i < keys.n; i++)
		if (tree_lookup(t, keys.v[i]))
			return true;
	return false;
}

static void check_file(struct walk *w, const struct file *f, int minor)
{
	struct tree *t;

	if (!read_text(w, &t) || is_older(w->arena, f, t))
		return;
	for (size_t i = 0; i < f->n; i++)
		if (minor >= f->parts[i].since &&
		    (!f->parts[i].until || minor <= f->parts[i].until))
			visit(w, &f->parts[i], f->parts[i].path, &(struct place){ t, "" });
}

void parsed_text_check(struct arena *a, const struct parsed_text *t, int minor,
		       struct accepts_findings *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct strv flags = strv_split(a, files[i].flags, '|');
		struct walk w = { a, t, files[i].secret, ret };

		if (strv_has(&flags, t->flag) && minor >= files[i].since)
			check_file(&w, &files[i], minor);
	}
}

struct named_files {
	struct arena *arena;
	const struct node *node;
	struct accepts_findings *ret;
};

static void check_named(void *arg, const struct field *f, const char *path)
{
	const struct named_files *named = arg;
	const struct node_files *all = &named->node->files;

	for (size_t i = 0; i < all->n; i++) {
		const struct node_file *file = &all->v[i];
		const struct parsed_text t = {
			.flag = f->flag,
			.key = path,
			.from = arena_printf(named->arena, "%s: %s",
					     tree_where(named->arena, &file->pos), path),
			.text = file->content,
			.n = file->len,
		};

		if (str_eq(file->path, path))
			parsed_text_check(named->arena, &t, named->node->kubernetes.minor,
					  named->ret);
	}
}

void parsed_files_check(struct arena *a, const struct schema *s, const void *obj,
			const struct node *n, struct accepts_findings *ret)
{
	field_files(s, obj, check_named, &(struct named_files){ a, n, ret });
}
