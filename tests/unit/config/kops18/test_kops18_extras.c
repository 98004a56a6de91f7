#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops18_world.h"

static void groups_hide_the_clusters(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w =
		world_small(a, "",
			    "hooks: [{manifest: a}, {name: x, manifest: b},"
			    " {roles: [Master], manifest: c}, {roles: [Node], manifest: d}]\n"
			    "fileAssets: [{name: f, content: cluster}, {path: /opt/g}]\n",
			    "hooks: [{manifest: e}, {name: x, disabled: true,"
			    " manifest: 'x= (fingerprint)'}]\n"
			    "fileAssets: [{path: /srv/kubernetes/assets/f, content: ig}]\n");
	const struct node_hooks *h;

	(void)state;
	world_must_build(&w);
	h = &w.node.hooks;
	assert_int_equal(h->n, 4);
	assert_string_equal(h->v[0].name, "kops-hook-0-ig");
	assert_string_equal(h->v[1].name, "x");
	assert_true(h->v[1].disabled);
	assert_string_equal(h->v[2].name, "kops-hook-0");
	assert_string_equal(h->v[3].name, "kops-hook-3");
	assert_string_equal(h->v[3].manifest, "d");
	assert_int_equal(w.node.files.n, 2);
	assert_string_equal(w.node.files.v[0].content, "ig");
	assert_string_equal(w.node.files.v[1].path, "/opt/g");
	assert_int_equal(w.node.files.v[1].len, 0);
	w.facts.distribution = "containeros";
	w.node = (struct node){ 0 };
	world_must_build(&w);
	assert_string_equal(w.node.files.v[1].path, "/etc/srv/kubernetes/assets/f");
}

static void a_container_has_all_its_fields(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w =
		world_small(a, "",
			    "hooks: [{before: [kubelet.service], requires: [docker.service],"
			    " execContainer: {image: ' busybox ', command: [sh, -c, 'a b'],"
			    " environment: {Z: '1', A: '2'}}}]\n",
			    "");
	const struct node_hook *h;

	(void)state;
	world_must_build(&w);
	h = &w.node.hooks.v[0];
	assert_string_equal(h->image, "busybox");
	assert_string_equal(strv_join(a, &h->command, "|"), "sh|-c|a b");
	assert_string_equal(h->environment.v[0].key, "A");
	assert_string_equal(h->before.v[0], "kubelet.service");
	assert_string_equal(h->requires.v[0], "docker.service");
	assert_null(h->manifest);
}

/* Go's raw base64 has no padding, everybody else's has. */
static void content_may_be_bytes(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "",
				     "fileAssets: [{name: a, isBase64: true, content: AAEC/w},"
				     " {name: b, isBase64: true, content: \"AAEC\\n/w==\\n\"}]\n",
				     "");

	(void)state;
	world_must_build(&w);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(w.node.files.v[i].len, 4);
		assert_memory_equal(w.node.files.v[i].content, "\x00\x01\x02\xff", 4);
	}
}

static void bad_ones_are_named_with_their_place(void **state)
{
	static const struct {
		const char *cluster, *says;
	} rows[] = {
		{ "hooks: {}", "cluster:1:8: hooks: expected a list" },
		{ "hooks: [{name: x}]",
		  "cluster:1:9: hooks[0]: neither execContainer nor manifest" },
		{ "hooks: [{execContainer: {image: ' '}}]",
		  "cluster:1:9: hooks[0].execContainer: no image" },
		{ "hooks: [{name: ../x, manifest: a}]",
		  "cluster:1:9: hooks[0].name: '../x' is not the name of a unit" },
		{ "hooks: [{before: [a b], manifest: a}]",
		  "cluster:1:9: hooks[0].before: 'a b' is not the name of a unit" },
		{ "hooks: [{roles: [Worker], manifest: a}]",
		  "cluster:1:9: hooks[0].roles: no role is 'Worker': Master, Node, Bastion" },
		{ "hooks: [{execContainer: {image: i, command: ['x= (fingerprint)']}}]",
		  "cluster:1:9: hooks[0].execContainer.command: only a fingerprint of the content" },
		{ "hooks: [{manifest: 'x= (fingerprint)'}]",
		  "cluster:1:9: hooks[0].manifest: only a fingerprint of the content" },
		{ "hooks: [{execContainer: {image: i, command: s3cret}}]",
		  "cluster:1:45: hooks[0].execContainer.command: expected a list of strings, found a "
		  "text" },
		{ "fileAssets: [{content: a}]",
		  "cluster:1:14: fileAssets[0]: neither path nor name" },
		{ "fileAssets: [{path: etc/x}]",
		  "cluster:1:14: fileAssets[0]: 'etc/x' is not an absolute path of a file" },
		{ "fileAssets: [{path: /etc/../x}]",
		  "cluster:1:14: fileAssets[0]: '/etc/../x' is not an absolute path of a file" },
		{ "fileAssets: [{name: x, isBase64: true, content: 'top secret!'}]",
		  "cluster:1:14: fileAssets[0].content: no base64" },
		{ "fileAssets: [{name: x, content: 'x= (fingerprint)'}]",
		  "cluster:1:14: fileAssets[0].content: only a fingerprint of the content" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_small(a, "", rows[i].cluster, "");

		assert_true(world_build(&w) < 0);
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_string_equal(w.e.msg, rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_hide_the_clusters),
		cmocka_unit_test(a_container_has_all_its_fields),
		cmocka_unit_test(content_may_be_bytes),
		cmocka_unit_test(bad_ones_are_named_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
