#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/cmd/redact.h"
#include "nodeup/config/settings.h"
#include "nodeup/documents/dialects.h"

enum { TEXT_MAX = 8 << 20 };

/* Canaries and open words are plain words, so nothing but the tables tells them apart. */
struct planted {
	struct arena *a;
	struct strv canaries; /* below a secret row, or where the row wants something else */
	size_t hidden, open;
};

static struct tree *canary(struct planted *p, bool is_secret)
{
	const char *word = arena_printf(p->a, "canary-%zu-end", p->canaries.n + p->hidden);

	if (is_secret)
		strv_add(p->a, &p->canaries, word);
	else
		p->hidden++;
	return tree_string(p->a, word);
}

static struct tree *plant(struct planted *p, const struct schema *s, bool is_secret);

/* Returns a value without any canary that is open, where the row's type allows one. */
static struct tree *plant_value(struct planted *p, const struct field *f, bool is_secret)
{
	struct tree *map = tree_map(p->a), *seq = tree_seq(p->a);

	is_secret |= f->secret;
	switch (f->kind) {
	case FIELD_STRING:
		if (is_secret)
			return canary(p, true);
		p->open++;
		return tree_string(p->a, arena_printf(p->a, "open-%zu-end", p->open));
	case FIELD_STRV:
		return is_secret ? tree_add(p->a, seq, canary(p, true)) : seq;
	case FIELD_STRMAP:
		return tree_set(p->a, map, "key", is_secret ? canary(p, true) : tree_null(p->a));
	case FIELD_OBJECT:
		return plant(p, f->schema, is_secret);
	case FIELD_LIST:
		return tree_add(p->a, tree_add(p->a, seq, plant(p, f->schema, is_secret)),
				canary(p, true));
	case FIELD_TREE:
		/* no table describes it */
		is_secret |= f->shape == TREE_SCALAR || f->shape == TREE_SEQ;
		return tree_set(p->a, map, "key", tree_add(p->a, seq, canary(p, is_secret)));
	default:
		/* of the wrong type */
		return canary(p, true);
	}
}

static struct tree *plant(struct planted *p, const struct schema *s, bool is_secret)
{
	struct tree *map = tree_map(p->a);

	for (size_t i = 0; i < s->n; i++)
		(void)tree_set(p->a, map, s->fields[i].key,
			       plant_value(p, &s->fields[i], is_secret));
	(void)tree_set(p->a, map, "nobodyKnowsThis", canary(p, true));
	return tree_set(p->a, map,
			tree_says(tree_set(p->a, tree_map(p->a), "k", canary(p, true)), "k"),
			tree_null(p->a));
}

static void check_schema(const struct schema *s)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(TEXT_MAX);
	struct planted p = { .a = a };
	struct redact *r = redact_new(a);
	struct tree *map = plant(&p, s, false);
	struct err e;

	assert_int_equal(yaml_render(redact_fields(r, a, s, map), &text, &e), 0);
	assert_null(strstr(buf_str(&text), "canary-"));
	for (size_t i = 1; i <= p.open; i++)
		assert_non_null(strstr(buf_str(&text), arena_printf(a, "open-%zu-end", i)));
	for (size_t i = 0; i < p.canaries.n; i++) {
		const char *line = arena_printf(a, "it says '%s'.", p.canaries.v[i]);

		assert_null(strstr(redact_line(r, a, line), "canary-"));
	}
	assert_true(p.canaries.n > 1 && p.open > 0);
}

/* Returns whether a secret of a document of kops is known after the document was shown. */
static bool is_learnt(const struct schema *s, const char *document, const char *line)
{
	autoarena struct arena *a = arena_new_empty();
	struct redact *r = redact_new(a);
	struct tree *t;
	struct err e;

	assert_int_equal(yaml_parse(a, "x", document, strlen(document), &t, &e), 0);
	(void)redact_fields(r, a, s, t);
	return !str_eq(redact_line(r, a, line), line);
}

static void test_values_that_rows_do_not_want(void **unused)
{
	static const char *const documents[] = {
		"containerdConfig: {configOverride: cheesed}",
		"containerdConfig: {configAdditions: {a: cheesed}}",
		"KubeletConfig: cheesed",
		"KubeletConfig: {maxPods: cheesed}",
		"KubeletConfig: {nodeLabels: cheesed}",
		"KubeletConfig: {featureGates: {cheesed: }}",
		"KubeletConfig: {noSuchKey: {a: [cheesed]}}",
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		print_message("%s\n", documents[i]);
		assert_true(is_learnt(dialects[1]->cluster, documents[i], "it is cheesed."));
	}
}

static void test_a_hook_is_a_secret_and_its_name_is_none(void **unused)
{
	static const char *const documents[] = {
		"hooks: [{name: joined, manifest: cheesed}]",
		"Hooks: [[{name: joined, environment: {A: cheesed}}], []]",
	};

	(void)unused;
	for (size_t i = 0; dialects[i]; i++)
		for (size_t k = 0; dialects[i]->cluster && k < ARRAY_LEN(documents); k++) {
			print_message("%s: %s\n", dialects[i]->name, documents[k]);
			assert_true(
				is_learnt(dialects[i]->cluster, documents[k], "it is cheesed."));
			assert_false(is_learnt(dialects[i]->cluster, documents[k],
					       "changed unit joined.service."));
		}
}

static void test_every_row_of_every_table(void **unused)
{
	(void)unused;
	for (size_t i = 0; dialects[i]; i++) {
		const struct schema *const all[] = { dialects[i]->document, dialects[i]->cluster,
						     dialects[i]->group };

		for (size_t k = 0; k < ARRAY_LEN(all); k++)
			if (all[k])
				check_schema(all[k]);
	}
	check_schema(&settings_schema);
}

#define HEX32 "0123456789abcdef0123456789abcdef"
static const struct {
	const char *line, *shown; /* shown NULL: hidden */
} lines[] = {
	{ "Started kubelet.service - Kubernetes' kubelet.",
	  "Started kubelet.service - Kubernetes' kubelet." },
	{ "I1130 05:30:00.123456 1234 kubelet.go:2456] \"SyncLoop ADD\" "
	  "pods=[\"kube-system/coredns-5d78c9869d-abcde\"]",
	  "I1130 05:30:00.123456 1234 kubelet.go:2456] \"SyncLoop ADD\" "
	  "pods=[\"kube-system/coredns-5d78c9869d-abcde\"]" },
	{ "node i-0a1b2c3d4e5f67890, ip-10-0-0-1.us-west-2.compute.internal",
	  "node i-0a1b2c3d4e5f67890, ip-10-0-0-1.us-west-2.compute.internal" },
	{ "pod 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone",
	  "pod 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone" },
	{ "container " HEX32 HEX32 " ended", "container 01234567... ended" },
	{ "error getting token: context deadline exceeded",
	  "error getting token: context deadline exceeded" },
	{ "Get \"https://10.0.0.1:443/api/v1/nodes?limit=500\": refused",
	  "Get \"https://10.0.0.1:443/api/v1/nodes?<9 bytes>\": refused" },
	{ "from http://me:pass@mirror/a/b", "from http://<7 bytes>@mirror/a/b" },
	{ "http://a/=http://me:foobar@b/?x, http://c/d",
	  "http://a/=http://<9 bytes>@b/?<2 bytes> http://c/d" },
	{ "from http://me:p@foobar@b/c@d", "from http://<11 bytes>@b/c@d" },
	{ "from http://me:foo/bar@b/x", "from http://<10 bytes>@b/x" },
	{ "from http://me:foo#bar@b/x, http://c", "from http://<10 bytes>@b/x, http://c" },
	{ "from \"http://me:foo\"bar@b/x\"", "from \"http://<10 bytes>@b/x\"" },
	{ "from http://me:foo?bar@b/x", "from http://<10 bytes>@b/x" },
	{ "from http://b:80/foo@bar", "from http://b:80/foo@bar" },
	{ "from http://[fd00::1]/foo@bar", "from http://[fd00::1]/foo@bar" },
	{ "from \"http://b:80\", a@b", "from \"http://b:80\", a@b" },
	{ "from https://b.s3.amazonaws.com/k?X-Amz-Signature=" HEX32,
	  "from https://b.s3.amazonaws.com/k?<48 bytes>" },
	{ "secret token=abcd1234", NULL },
	{ "{\"password\": \"letmein\"}", NULL },
	{ "the password is in password: letmein", NULL },
	{ "KUBE_PASSWORD=letmein", NULL },
	{ "{Username:me Password:barbaz9 Auth: Email:}", NULL },
	{ "AWS_SECRET_ACCESS_KEY=foobar", NULL },
	{ "api_key=foobar", NULL },
	{ "api-key: foobar", NULL },
	{ "secret_key=letmein", NULL },
	{ "secretKey: letmein", NULL },
	{ "private_key=letmein", NULL },
	{ "{\"Authorization\":[\"Basic foobar\"]}", NULL },
	{ "{\"auth\":\"foobar\"}", NULL },
	{ "{\\\"auth\\\":\\\"foobar\\\"}", NULL },
	{ "run --password letmein", NULL },
	{ "run --bootstrap-token letmein now", NULL },
	{ "password: le\\u0074mein", NULL },
	{ "Flag --token-auth-file is old", "Flag --token-auth-file is old" },
	{ "FLAG: --authorization-mode=\"Webhook\"", "FLAG: --authorization-mode=\"Webhook\"" },
	{ "a token says much", "a token says much" },
	{ "secret \"name\" not found", "secret \"name\" not found" },
	{ "Authorization: Basic bWU6cGFzcw==", NULL },
	{ "sent Bearer abcd1234", NULL },
	{ "key AKIAIOSFODNN7EXAMPLE", NULL },
	{ "jwt eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.e30.x", NULL },
	{ "bootstrap abcdef.0123456789abcdef", NULL },
	{ "drawn kX8dqPz3LmB7vWf1Rt9YcNs5", NULL },
	{ "MIIEpAIBAAKCAQEA7Vn+q0cL/7Zr3k2Hf0Jp8wQxS5uTgYbXeKdMnAiOzCvB", NULL },
};

static void test_lines(void **unused)
{
	autoarena struct arena *a = arena_new_empty();
	struct redact *r = redact_new(a);

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		print_message("%s\n", lines[i].line);
		assert_string_equal(redact_line(r, a, lines[i].line),
				    lines[i].shown ? lines[i].shown
						   : arena_printf(a, "<not shown: %zu bytes>",
								  strlen(lines[i].line)));
	}
}

static void test_a_pem_is_hidden_to_its_end(void **unused)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(TEXT_MAX);
	struct redact *r = redact_new(a);

	(void)unused;
	redact_text(
		r,
		"before\n-----BEGIN CERTIFICATE-----\nab\ncd==\n-----END CERTIFICATE-----\nafter\n",
		&b);
	assert_string_equal(buf_str(&b), "before\n<not shown: 27 bytes>\n<not shown: 2 bytes>\n"
					 "<not shown: 4 bytes>\n<not shown: 25 bytes>\nafter\n");
	assert_int_equal(redact_hidden(r), 4);
}

/* What was learnt is hidden in the forms in which programs quote it; a short one only as a word of its own. */
static void test_learnt(void **unused)
{
	static const struct {
		const char *learnt, *line;
		bool is_hidden;
	} cases[] = {
		{ "correct horse battery", "it was 'correct horse battery'", true },
		{ "correct horse battery", "a battery, a horse", false },
		{ "hunter2", "user hunter2!", true },
		{ "hunter2", "hunter20 is another", false },
		{ "https://me:letmein9@host/x", "auth of me with letmein9 failed", true },
		{ "https://host/x?sig=abcd1234xyz", "sig abcd1234xyz is old", true },
		{ "https://host/x", "GET https://host/x: 404", false },
		{ "Environment=\"API_KEY=zyxw9876\"\n", "got zyxw9876", true },
		{ "letmein\n", "got letmein", true },
		{ "letmein\nand more", "got letmein", false },
		{ "a=letmein", "got letmein", true },
		{ "A=info", "the level info", false },
		{ "PASSWORD=letmein", "got letmein", true },
		{ "set -e\nexport TOKEN=letmein\n", "got letmein", true },
		{ "\nexport TOKEN='letmein'; go\n", "got letmein", true },
		{ "\npassword: foobar\n", "got foobar", true },
		{ "\n\"token\": \"foobar\"\n", "got foobar", true },
		{ "\nA=\"correct horse\"\n", "a correct horse", true },
		{ "\nPASSWORD=\"let me\"\n", "to let me", true },
		{ "\nA=letmein\n", "got letmein", false },
		{ "http://a/=http://me:cheesed@b/", "it is cheesed", true },
		{ "x\nhttp://a/,https://me:p@cheesed@b/", "it is p@cheesed", true },
		{ "\nhttp://me:chee/sed@b/\n", "it is chee/sed", true },
		{ "\nhttp://me:chee\"sed@b/\n", "it is chee\"sed", true },
		{ "\nhttp://host:80/chee@sed/\n", "it is host", false },
		{ "/usr/bin/docker run\nkubelet.service\ntrue\n",
		  "kubelet.service: /usr/bin/docker true", false },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct redact *r = redact_new(a);

		print_message("%s: %s\n", cases[i].learnt, cases[i].line);
		redact_learn(r, cases[i].learnt);
		assert_int_equal(str_eq(redact_line(r, a, cases[i].line), cases[i].line),
				 !cases[i].is_hidden);
	}
}

static void test_base64_is_learnt_decoded(void **unused)
{
	autoarena struct arena *a = arena_new_empty();
	struct redact *r = redact_new(a);
	struct tree *t = tree_map(a);

	(void)unused;
	/* of "admin-word-7", and of "cheesed" */
	tree_set_text(a, t, "Data", "YWRtaW4td29yZC03");
	redact_learn_document(r, t);
	assert_string_equal(redact_line(r, a, "with admin-word-7."), "<not shown: 18 bytes>");
	tree_set_text(a, t, "Data", "Y2hlZXNlZA==");
	tree_set_text(a, t, "kind", "Oddity");
	redact_learn_document(r, t);
	assert_string_equal(redact_line(r, a, "it is cheesed."), "<not shown: 14 bytes>");
	assert_string_equal(redact_line(r, a, "an Oddity"), "an Oddity");
	tree_set_text(a, t, "adminPassword", "foobar");
	redact_learn_document(r, t);
	assert_string_equal(redact_line(r, a, "it is foobar."), "<not shown: 13 bytes>");
}

static void test_a_unit(void **unused)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(TEXT_MAX);
	struct redact *r = redact_new(a);

	(void)unused;
	redact_unit(
		r,
		"[Unit]\nDescription=canary\nAfter=docker.service network-online.target\n"
		"Requires=canary\n[Service]\nType=notify\nType=canary\nRestartSec=5s\n"
		"TasksMax=canary\nExecStart=/usr/bin/kubelet --token=canary \\\n  canary \\\nType=notify\n"
		"ExecStop=canary\nEnvironment=\"A=canary-env-1\"\nCanary=1\n# canary\n[canary]\n",
		&b);
	assert_string_equal(
		buf_str(&b),
		"[Unit]\nDescription=<6 bytes>\nAfter=docker.service network-online.target\n"
		"Requires=<6 bytes>\n[Service]\nType=notify\nType=<6 bytes>\nRestartSec=5s\n"
		"TasksMax=<6 bytes>\nExecStart=/usr/bin/kubelet <17 bytes>\n<not shown: 10 bytes>\n"
		"<not shown: 11 bytes>\n"
		"ExecStop=<6 bytes>\nEnvironment=<16 bytes>\n<not shown: 8 bytes>\n"
		"<not shown: 8 bytes>\n<not shown: 8 bytes>\n\n");
	assert_string_equal(redact_line(r, a, "A is canary-env-1"), "<not shown: 17 bytes>");
}

static void test_json_stays_json(void **unused)
{
	autoarena struct arena *a = arena_new_empty();
	struct redact *r = redact_new(a);
	struct tree *t = tree_map(a), *out;

	(void)unused;
	tree_set_text(a, t, "a", "sent Bearer abcd1234");
	tree_set_int(a, t, "n", 7);
	tree_set_text(a, t, "b", "right");
	out = redact_tree(r, a, t);
	assert_string_equal(tree_text(out, "a"), "<not shown: 20 bytes>");
	assert_string_equal(tree_text(out, "b"), "right");
	assert_false(tree_get(out, "n")->quoted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hook_is_a_secret_and_its_name_is_none),
		cmocka_unit_test(test_every_row_of_every_table),
		cmocka_unit_test(test_values_that_rows_do_not_want),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_pem_is_hidden_to_its_end),
		cmocka_unit_test(test_learnt),
		cmocka_unit_test(test_base64_is_learnt_decoded),
		cmocka_unit_test(test_a_unit),
		cmocka_unit_test(test_json_stays_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
