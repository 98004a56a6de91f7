#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <string.h>
#include "nodeup/base/field.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/kops18/spec.h"
#include "nodeup/config/kubeup/kubeup.h"

static const struct schema *const schemas[] = {
	&kops18_env_schema, &kops18_image_schema, &kops18_object_schema,     &kops18_cluster_schema,
	&kops18_ig_schema,  &kops18_hook_schema,  &kops18_file_asset_schema, &storage_mount_schema,
	&settings_schema,   &facts_schema,        &kubeup_env_schema,
};

#define CANARY "hunter2"

/* Wrong for one kind of row or another. */
static const char *const wrong[] = {
	CANARY,
	"'" CANARY "'",
	"u:" CANARY "@proxy",
	"[" CANARY "]",
	"{" CANARY "}",
	"{u:" CANARY "@proxy: 3128}",
	"{k: " CANARY "}",
	"[[" CANARY "]]",
	"[{k: " CANARY "}]",
	"{k: [" CANARY "]}",
	"|\n  " CANARY "\n  k: v\n",
	"!" CANARY,
	"*" CANARY,
};

/* What a row is called that may hold a password, or a URL with one, or a text of the user's own. */
static const char *const names[] = {
	"password", "username",  "proxy",    "command",  "environment", "content",
	"manifest", "userdata",  "logopt",   "mirror",   "hooks",       "assets",
	"images",   "protokube", "rewrites", "channels", "cloudconfig",
};
/* And these have such a name and hold none. */
static const char *const harmless[] = { "kubeProxy",
					"proxyClientCertFile",
					"proxyClientKeyFile",
					"podManifestPath",
					"contentType",
					"oidcUsernameClaim",
					"requestheaderUsernameHeaders",
					"assetsSignature",
					"keepAssets",
					"ENABLE_MANIFEST_URL",
					"KUBEPROXY_TEST_LOG_LEVEL",
					"PREPULL_E2E_IMAGES",
					"E2E_STORAGE_TEST_ENVIRONMENT" };

struct walk {
	struct arena *arena;
	size_t rows, secret, shown;
};

static bool is_called_secret(const struct field *f)
{
	char key[64] = "";

	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (strcmp(f->key, harmless[i]) == 0)
			return false;
	for (size_t i = 0; f->key[i] && i < sizeof(key) - 1; i++)
		key[i] = (char)tolower((unsigned char)f->key[i]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strstr(key, names[i]))
			return true;
	return false;
}

static void note_unknown(void *arg, const struct field_unknown *u)
{
	struct err *e = arg;

	err_note(e, "unknown", "%s %s", u->path, u->nearest ? u->nearest : "");
}

/* Everything that is said of this text as the value of that row. */
static bool is_shown(struct arena *a, const struct schema *s, const struct field *f,
		     const char *value, bool secret)
{
	const char *text = arena_printf(a, "%s: %s\n", f->key, value);
	struct err e = { 0 };
	const struct field_opts opts = { .unknown = note_unknown, .arg = &e, .secret = secret };
	struct tree *t = NULL;
	bool shown;

	if (yaml_parse(a, "f", text, strlen(text), &t, &e) == 0 &&
	    field_parse(a, s, t, arena_alloc(a, s->size), &opts, &e) == 0)
		e.msg[0] = '\0';
	assert_null(strchr(e.msg, '\n'));
	shown = strstr(e.msg, CANARY) != NULL;
	for (size_t i = 0; i < e.nnotes; i++)
		shown = shown || strstr(e.notes[i].text, CANARY) != NULL;
	return shown;
}

static void walk(struct walk *w, const struct schema *s, bool secret)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		const bool hidden = secret || f->secret;
		bool shown = false;

		if (is_called_secret(f) && !hidden)
			fail_msg("%s.%s may hold a password, and is not a secret row", s->name,
				 f->key);
		for (size_t k = 0; k < ARRAY_LEN(wrong); k++)
			shown = is_shown(w->arena, s, f, wrong[k], secret) || shown;
		if (hidden && shown)
			fail_msg("%s.%s: a message shows the value", s->name, f->key);
		w->rows++;
		w->secret += hidden;
		w->shown += shown;
		if (f->schema)
			walk(w, f->schema, hidden);
	}
}

static void no_message_shows_a_secret(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct walk w = { .arena = a };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
		walk(&w, schemas[i], false);
	assert_true(w.rows > 350);
	assert_true(w.secret > 30);
	/* and a wrong value that is not a secret is named */
	assert_true(w.shown > 150);
}

/* A document that is something else altogether. */
static void no_message_shows_a_document(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
		struct err e = { 0 };
		struct tree *t = tree_string(a, CANARY);

		assert_int_equal(field_parse(a, schemas[i], t, arena_alloc(a, schemas[i]->size),
					     NULL, &e),
				 -EINVAL);
		assert_string_equal(e.msg, "expected a map, found a text");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_message_shows_a_secret),
		cmocka_unit_test(no_message_shows_a_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
