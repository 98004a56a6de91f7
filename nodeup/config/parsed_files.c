#include "nodeup/config/parsed_files.h"

#include "nodeup/base/json.h"
#include "nodeup/base/label.h"
#include "nodeup/base/yaml.h"

/* clang-format off */
/* Rows of a file, by the kinds of their values. No row has an offset of its own: the values are only checked, and
 * nobody reads them. */
#define DEMAND(...) &(const struct field_accepts){ __VA_ARGS__ }
#define TEXT(k, ...) { .key = (k), .kind = FIELD_STRING, .accepts = DEMAND(__VA_ARGS__) }
#define LIST(k, ...) { .key = (k), .kind = FIELD_TREE, .shape = TREE_SEQ, .accepts = DEMAND(__VA_ARGS__) }
#define ANY_MAP(k, ...) { .key = (k), .kind = FIELD_TREE, .shape = TREE_MAP, .accepts = DEMAND(__VA_ARGS__) }
#define MAP(k, s, ...) { .key = (k), .kind = FIELD_OBJECT, .schema = (s), .accepts = DEMAND(__VA_ARGS__) }
#define MAPS(k, s, ...) { .key = (k), .kind = FIELD_LIST, .schema = (s), .accepts = DEMAND(__VA_ARGS__) }
#define NEEDED .needed = true
#define NEEDS(what) NEEDED, .wanted = what
#define ONE_OF(keys) .one_key = keys, .wanted = "one of " keys
#define FILE_OF(name, ...) \
	static const struct field rows_of_##name[] = { __VA_ARGS__ }; \
	static const struct schema name = { .size = sizeof(struct strv), .fields = rows_of_##name, .n = ARRAY_LEN(rows_of_##name) }
#define BASE64(n) "([A-Za-z0-9+/][\r\n]*){" #n "}"
#define PAD "=[\r\n]*"

FILE_OF(aes_key,
	TEXT("name", NEEDS("a text")),
	TEXT("secret", NEEDED, .wanted = "base64 of 16, 24 or 32 bytes",
	     .pattern = "^(" BASE64(22) PAD PAD "|" BASE64(32) "|" BASE64(43) PAD ")$"));
FILE_OF(secretbox_key,
	TEXT("name", NEEDS("a text")),
	TEXT("secret", NEEDED, .wanted = "base64 of 32 bytes", .pattern = "^" BASE64(43) PAD "$"));
FILE_OF(aes, MAPS("keys", &aes_key, NEEDS("a list")));
FILE_OF(secretbox, MAPS("keys", &secretbox_key, NEEDS("a list")));
FILE_OF(kms,
	TEXT("name", NEEDS("a text"), .since = 31),
	TEXT("endpoint", NEEDED, .wanted = "a socket such as unix:///run/kms.sock", .pattern = "(?i)^unix:", .since = 10),
	TEXT("apiVersion", .oneof = "v1|v2", .since = 31));
FILE_OF(provider,
	MAP("aescbc", &aes), MAP("aesgcm", &aes), MAP("secretbox", &secretbox), MAP("kms", &kms), ANY_MAP("identity"));
FILE_OF(encrypted,
	LIST("resources", NEEDED, .since = 31, .wanted = "a list",
	      .next = DEMAND(.wanted = "a resource such as secrets or configmaps", .since = 31,
			     .pattern = "!([A-Z]|^([*]|apiserveripinfo|serviceipallocations|servicenodeportallocations)$|"
					"^[^.]*[.](events[.]k8s[.]io|extensions)$)")),
	MAPS("providers", &provider, ONE_OF("aescbc|aesgcm|identity|kms|secretbox"),
	     .next = DEMAND(NEEDS("a list"), .since = 31)));
FILE_OF(encryption,
	TEXT("kind", NEEDED, .oneof = "EncryptionConfig", .until = 12,
	     .next = DEMAND(NEEDED, .oneof = "EncryptionConfiguration|EncryptionConfig", .since = 13)),
	TEXT("apiVersion", NEEDED, .oneof = "apiserver.config.k8s.io/v1|v1", .names = true, .since = 13),
	MAPS("resources", &encrypted, NEEDS("a list"), .since = 31));

#define STAGES "Panic|RequestReceived|ResponseComplete|ResponseStarted"
FILE_OF(audit_resource,
	TEXT("group", .wanted = "a group such as apps, without its version", .pattern = "^([*]|" LABEL_DOMAIN ")$"));
FILE_OF(audit_rule,
	TEXT("level", NEEDED, .oneof = "Metadata|None|Request|RequestResponse"),
	LIST("omitStages", .oneof = STAGES),
	LIST("users"), LIST("userGroups"), LIST("verbs"), LIST("namespaces"),
	LIST("nonResourceURLs", .wanted = "a path such as /healthz*", .pattern = "^([*]|/[^*]*[*]?)$"),
	MAPS("resources", &audit_resource));
FILE_OF(audit_policy,
	TEXT("kind", .oneof = "Policy", .next = DEMAND(NEEDS("Policy"), .since = 10)),
	TEXT("apiVersion", NEEDED, .oneof = "audit.k8s.io/v1|audit.k8s.io/v1beta1|audit.k8s.io/v1alpha1", .names = true, .since = 10, .until = 23,
	     .next = DEMAND(NEEDED, .oneof = "audit.k8s.io/v1", .names = true, .since = 24)),
	LIST("omitStages", .oneof = STAGES, .since = 10),
	MAPS("rules", &audit_rule, NEEDS("a list")));

#define CONFIG_GROUP(v) "apiserver.config.k8s.io/" v
#define VERSIONS CONFIG_GROUP("v1") "|" CONFIG_GROUP("v1beta1") "|" CONFIG_GROUP("v1alpha1")
FILE_OF(issuer,
	TEXT("url", NEEDED, .wanted = "a URL such as https://issuer.example", .pattern = "(?i)^https:"),
	LIST("audiences", NEEDS("a list")));
FILE_OF(claims, ANY_MAP("username", NEEDED, ONE_OF("claim|expression")));
FILE_OF(jwt,
	MAP("issuer", &issuer, NEEDS("a map")),
	MAP("claimMappings", &claims, NEEDS("a map")),
	LIST("claimValidationRules"), LIST("userValidationRules"));
FILE_OF(authentication,
	TEXT("kind", NEEDED, .oneof = "AuthenticationConfiguration"),
	TEXT("apiVersion", NEEDED, .oneof = VERSIONS, .names = true),
	MAPS("jwt", &jwt));

FILE_OF(connection, TEXT("type", NEEDED, .oneof = "InClusterConfig|KubeConfigFile"));
FILE_OF(webhook,
	TEXT("timeout", NEEDS("a text")),
	TEXT("subjectAccessReviewVersion", NEEDED, .oneof = "v1|v1beta1"),
	TEXT("failurePolicy", NEEDED, .oneof = "Deny|NoOpinion"),
	MAP("connectionInfo", &connection, NEEDS("a map")));
FILE_OF(authorizer,
	TEXT("type", NEEDED, .oneof = "ABAC|AlwaysAllow|AlwaysDeny|Node|RBAC|Webhook", .names = true),
	TEXT("name", NEEDED, .wanted = "a name in small letters such as node.example", .pattern = "^" LABEL_DOMAIN "$"),
	MAP("webhook", &webhook));
FILE_OF(authorization,
	TEXT("kind", NEEDED, .oneof = "AuthorizationConfiguration"),
	TEXT("apiVersion", NEEDED, .oneof = VERSIONS, .names = true),
	MAPS("authorizers", &authorizer, NEEDS("a list")));

FILE_OF(plugin, TEXT("name"), TEXT("path"));
FILE_OF(admission,
	TEXT("kind", NEEDED, .oneof = "AdmissionConfiguration"),
	TEXT("apiVersion", NEEDED, .oneof = VERSIONS "|apiserver.k8s.io/v1beta1|apiserver.k8s.io/v1alpha1", .names = true),
	MAPS("plugins", &plugin));
/* clang-format on */

static const struct file {
	const char *flag;
	const struct schema *schema;
	int since;
	bool secret;
	const char *older[2]; /* keys of an older form, which is not checked */
} files[] = {
	{ "encryption-provider-config", &encryption, 7, true },
	{ "experimental-encryption-provider-config", &encryption, 7, true },
	{ "audit-policy-file", &audit_policy, 8 },
	{ "authentication-config", &authentication, 31 },
	{ "authorization-config", &authorization, 31 },
	{ "admission-control-config-file", &admission,
	  .older = { "imagePolicy", "podNodeSelectorPluginConfig" } },
};

/* Checks one file. Accepts a well-formed text of a form that is not known here: the program must judge it. */
static void check_file(struct arena *a, const struct file *f, const struct parsed_text *t,
		       int minor, struct accepts_findings *ret)
{
	const struct accepts_opts o = { .minor = minor, .key = t->key, .secret = f->secret };
	struct accepts_finding unread = { .key = t->key };
	struct tree_pos stop = { 0 };
	struct tree *tree;
	struct err ignored;

	if (yaml_parse(a, t->from, t->text, t->n, &tree, &ignored) == 0 ||
	    json_parse(a, t->from, t->text, t->n, &tree, &ignored) == 0) {
		if (!f->older[0] ||
		    !(tree_lookup(tree, f->older[0]) || tree_lookup(tree, f->older[1])))
			accepts_check(a, f->schema, tree, &o, ret);
	} else if (!yaml_is_well_formed(t->text, t->n, &stop)) {
		unread.text = arena_printf(a, "%s:%u:%u: expected YAML, found what cannot be read",
					   t->from, stop.line, stop.column);
		arena_push(a, ret->v, ret->n, unread);
	}
}

void parsed_text_check(struct arena *a, const struct parsed_text *t, int minor,
		       struct accepts_findings *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (str_eq(files[i].flag, t->flag) && minor >= files[i].since)
			check_file(a, &files[i], t, minor, ret);
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
