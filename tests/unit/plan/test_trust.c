#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/plan/release.h"
#include "tests/unit/lib/seed.h"

#define DOCKER "1d3370549e32ea13b2755b2db8dbc82b2b787ece"
#define MOUNTER "8003b798cf33c7f91320cd6ee5cec4fa22244571"

/* made by minisign 0.11; of what does not matter to a plan */
static const char signature[] = "RUQRK09Gt1Xy7KgOBYKqQK4h7tosW+GPHBgwly2hm6QwnraNE7P/"
				"gO2jqxTjtw/8r57opFbzrOHaY6HtI8fw3atAM3VW0VoqLQs=";
static struct settings_text key = { .text = "RWQRK09Gt1Xy7NnNO9kzRApi2rN8O+5eaEc7QoMiBsPI/"
					    "WJkxYOTHuoY" };
static const struct settings required = { .public_keys = { &key, 1 }, .require_signatures = true };

struct host {
	struct world w;
	struct plan_req req;
};

/* A worker whose own assets are all signed, and that has to be given a docker. */
static struct host *signed_host(struct arena *a, const char *distribution, const char *version)
{
	struct host *h = arena_new(a, struct host);
	struct node_texts *assets;

	h->w = seed_world(a, false);
	h->w.facts.distribution = distribution;
	h->w.facts.version = version;
	h->w.facts.arch = "amd64";
	h->w.node.docker_version = "1.13.1";
	assets = &h->w.node.assets;
	for (size_t i = 0; i < assets->n; i++)
		assets->v[i].signature = signature;
	h->w.node.protokube.signature = signature;
	h->req = seed_request(&h->w);
	h->req.settings = &required;
	return h;
}

static void list(struct arena *a, struct host *h, const char *text, const char *by)
{
	arena_push(a, h->w.node.assets.v, h->w.node.assets.n,
		   (struct node_text){ text, { "kube_env.yaml", 9, 3 }, by });
}

static bool has_note(const struct err *e, const char *part)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strstr(e->notes[i].text, part))
			return true;
	return false;
}

static void assert_refused(struct arena *a, const struct host *h, const char *msg, const char *note)
{
	struct plan p;
	struct err e;

	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_string_equal(e.msg, msg);
	assert_true(!note || has_note(&e, note));
}

static void a_package_of_ours_is_no_exception(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = signed_host(a, "debian", "8");
	struct plan p;

	(void)state;
	(void)seed_plan(a, &h->req); /* with a docker there is nothing to fetch */
	h->req.runtime.unit = NULL;
	assert_refused(
		a, h,
		"docker 1.13.1: asset docker-engine_1.13.1-0~debian-jessie_amd64.deb of docker "
		"is not signed, and requireSignatures is set",
		"Assets with its signature: " DOCKER "@http://apt.dockerproject.org/");
	/* an image is given no package */
	h->req.image_mode = true;
	(void)seed_plan(a, &h->req);
	h->req.image_mode = false;
	/* the same bytes, from elsewhere, with a signature: that is what is checked */
	list(a, h, DOCKER "@https://mirror.example/docker.deb", signature);
	p = seed_plan(a, &h->req);
	assert_non_null(plan_get(&p, TASK_ASSET, "docker.deb")->asset.asset->signature);
	assert_null(plan_look(&p, TASK_ASSET, "docker-engine_1.13.1-0~debian-jessie_amd64.deb"));
	assert_true(digest_eq(&plan_get(&p, TASK_PACKAGE, "docker-engine")->package.source->digest,
			      &plan_get(&p, TASK_ASSET, "docker.deb")->asset.asset->digest));
}

static void nor_is_a_list_without_a_signature(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = signed_host(a, "debian", "8");

	(void)state;
	h->req.runtime.unit = NULL;
	h->w.node.assets.n = 0;
	list(a, h, DOCKER "@https://mirror.example/docker.deb", NULL);
	assert_refused(
		a, h,
		"kube_env.yaml:9:3: asset docker.deb is not signed, and requireSignatures is set, "
		"and 1 more error",
		NULL);
}

static void the_mounter_is_no_exception(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = signed_host(a, "containeros", NULL);
	struct plan p;

	(void)state;
	assert_refused(
		a, h,
		"asset mounter.tar of containeros is not signed, and requireSignatures is set",
		"Assets with its signature: " MOUNTER "@https://storage.googleapis.com/");
	h->req.image_mode = true;
	assert_refused(
		a, h,
		"asset mounter.tar of containeros is not signed, and requireSignatures is set",
		"built into nodeup");
	list(a, h, MOUNTER "@https://mirror.example/rootfs.tar", signature);
	p = seed_plan(a, &h->req);
	assert_non_null(plan_get(&p, TASK_ASSET, "rootfs.tar")->asset.asset->signature);
	assert_null(plan_look(&p, TASK_ASSET, "mounter.tar"));
	h->req.settings = NULL;
	h->w.node.assets.n--;
	for (size_t i = 0; i < h->w.node.assets.n; i++)
		h->w.node.assets.v[i].signature = NULL;
	h->w.node.protokube.signature = NULL;
	(void)seed_plan(a, &h->req); /* nobody asked for signatures */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_of_ours_is_no_exception),
		cmocka_unit_test(nor_is_a_list_without_a_signature),
		cmocka_unit_test(the_mounter_is_no_exception),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
