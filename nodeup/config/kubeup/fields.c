/* Tests: test_specs.c, test_kubeup_documents.py. */
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/kubeup/kubeup.h"

#include <string.h>
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_common.h"

enum { SHA1_HEX = 40, NUMBER_MAX = 9, TOKEN_MAX = 1024 };

static bool is_number(const char *s)
{
	const size_t n = strspn(s, "0123456789");

	return n > 0 && n <= NUMBER_MAX && s[n] == '\0';
}

static bool is_signed_number(const char *s)
{
	return is_number(s + (*s == '-'));
}

static bool is_sha1(const char *s)
{
	return strspn(s, "0123456789abcdefABCDEF") == SHA1_HEX && s[SHA1_HEX] == '\0';
}

/* Returns whether the value can be a field of a line, between commas. */
static bool is_csv_field(const char *s)
{
	if (strlen(s) > TOKEN_MAX)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || strchr(",\"", *s))
			return false;
	return true;
}

/* Returns whether the value may become part of file names and flags. */
static bool is_name(const char *s)
{
	return str_has_only(s, "-._");
}

static const struct field_format number = { "a number", is_number };
static const struct field_format signed_number = { "a number", is_signed_number };
static const struct field_format sha1 = { "a sha1 of 40 hex digits", is_sha1 };
static const struct field_format csv = { "a text without comma, quote and blank", is_csv_field };
static const struct field_format name = { "a name", is_name };
/* Flags and URLs become words of a command line in a manifest. */
static const struct field_format line = { "a text of one line", str_is_line };

/* clang-format off */

#define BOOL .oneof = "true|false|"
#define SECRET .secret = true
#define NOTHING "has no effect on AWS"

#define ENV_OF_KUBEUP(X) \
	KUBEUP_KEYS(X) \
	X(const struct tree *, settings.url_rewrites, "urlRewrites", .shape = TREE_SEQ, SECRET, .doc = "as in nodeup.d; not of kube-up, nor are the next eleven") \
	X(const struct tree *, settings.mirrors, "mirrors", .shape = TREE_SEQ, SECRET, .doc = "as in nodeup.d") \
	X(const struct tree *, settings.accept, "accept", .shape = TREE_SEQ, .doc = "as in nodeup.d") \
	X(const char *, settings.ca_bundle, "caBundle", .doc = "as in nodeup.d") \
	X(const struct tree *, settings.public_keys, "publicKeys", .shape = TREE_SEQ, .doc = "as in nodeup.d") \
	X(struct opt_bool, settings.require_signatures, "requireSignatures", .doc = "as in nodeup.d") \
	X(struct opt_bool, settings.keep_assets, "keepAssets", .doc = "as in nodeup.d") \
	X(struct opt_bool, settings.ignore_host_checks, "ignoreHostChecks", .doc = "as in nodeup.d") \
	X(struct opt_bool, settings.quiet_console, "quietConsole", .doc = "as in nodeup.d") \
	X(struct opt_dur, settings.console_after, "consoleAfter", .doc = "as in nodeup.d") \
	X(const char *, settings.status_url, "statusURL", .doc = "as in nodeup.d") \
	X(const char *, settings.reserved, "reserved", .oneof = "eks|gke", .doc = "as in nodeup.d")
/* clang-format on */

const struct schema kubeup_env_schema =
	SCHEMA_OF_LIST(struct kubeup_env, "kube_env.yaml of kube-up", ENV_OF_KUBEUP);
