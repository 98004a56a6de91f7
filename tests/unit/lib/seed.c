#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/config/keys.h"
#include "nodeup/base/json.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/seed.h"

/* The text of the one file in a folder, NULL if there is none. */
static const char *only_file(struct arena *a, const char *dir)
{
	autodir DIR *d = opendir(dir);
	const struct dirent *de;
	size_t n;

	while (d && (de = readdir(d)))
		if (de->d_name[0] != '.')
			return world_load(a, arena_printf(a, "%s/%s", dir, de->d_name), &n);
	return NULL;
}

static void load_keypairs(struct world *w, const struct node_wants *wants)
{
	for (size_t i = 0; i < wants->n_keypairs; i++) {
		const char *name = wants->keypairs[i].name;
		const char *cert = arena_printf(w->a, STORE "pki/issued/%s", name);
		const char *key = arena_printf(w->a, STORE "pki/private/%s", name);

		const struct node_keypair from = { .name = name, .cert = cert, .key = key };
		const struct node_keypair pair = {
			name,
			only_file(w->a, cert),
			wants->keypairs[i].key ? only_file(w->a, key) : NULL,
		};

		if (node_add_keypair(w->a, &w->node, &pair, &from, &w->e) < 0)
			fail_msg("%s", w->e.msg);
	}
}

static void load_secrets(struct world *w, const struct node_wants *wants)
{
	for (size_t i = 0; i < wants->n_secrets; i++) {
		const char *path = arena_printf(w->a, STORE "secrets/%s", wants->secrets[i].name);
		struct tree *json = NULL;
		char *text;
		size_t n;

		if (wants->secrets[i].optional && access(path, R_OK) < 0)
			continue;
		text = world_load(w->a, path, &n);
		if (json_parse(w->a, path, text, n, &json, &w->e) < 0 ||
		    node_add_secret(w->a, &w->node, wants->secrets[i].name, json, path, &w->e) < 0)
			fail_msg("%s", w->e.msg);
	}
}

struct world seed_world(struct arena *a, bool master)
{
	struct world w = master ? world_master(a) : world_worker(a);
	struct node_wants wants;

	w.facts.distribution = "debian";
	world_must_build(&w);
	wants = kops18_wants(a, &(struct documents){ .cluster = w.cluster }, &w.node);
	load_keypairs(&w, &wants);
	load_secrets(&w, &wants);
	return w;
}

struct plan_req seed_request(const struct world *w)
{
	return (struct plan_req){
		.node = &w->node,
		.facts = &w->facts,
		.runtime = { .unit = "docker.service", .version = "20.10.24" },
	};
}

struct plan seed_plan(struct arena *a, const struct plan_req *req)
{
	struct plan p = { 0 };
	struct err e;

	if (plan_build(a, req, &p, &e) < 0)
		fail_msg("%s", e.msg);
	return p;
}

const struct task *plan_look(const struct plan *p, enum task_kind kind, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == kind && strcmp(p->tasks[i]->name, name) == 0)
			return p->tasks[i];
	return NULL;
}

const struct task *plan_get(const struct plan *p, enum task_kind kind, const char *name)
{
	const struct task *t = plan_look(p, kind, name);

	if (!t)
		fail_msg("no %s '%s' in the plan", task_kinds[kind].ops->kind, name);
	return t;
}
