#include "tests/fuzz/lib/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/plan/plan.h"

void fuzz_expect(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

struct fuzz_parts fuzz_split(struct arena *a, const char *input, size_t n)
{
	static const char mark[] = "\n=== ";
	/* a NUL stands behind it */
	const char *text = arena_strn(a, input, n), *end = text + n;
	struct fuzz_part part = { .name = "", .text = text };
	struct fuzz_parts all = { 0 };

	for (;;) {
		const char *next =
			memmem(part.text, (size_t)(end - part.text), mark, sizeof(mark) - 1);
		size_t name;

		part.n = (size_t)((next ? next + 1 : end) - part.text);
		part.text = arena_strn(a, part.text, part.n);
		arena_push(a, all.v, all.n, part);
		if (!next)
			return all;
		next += sizeof(mark) - 1;
		name = strcspn(next, "\n");
		part = (struct fuzz_part){ .name = arena_strn(a, next, name),
					   .text = next + name + (next[name] == '\n') };
	}
}

static const char *const hosts[] = {
	("{distribution: debian, version: '12', codename: bookworm, arch: amd64, region: us-west-2, "
	 "availabilityZone: us-west-2a, instanceID: i-0123456789abcdef0, instanceType: m5.large, "
	 "localHostname: ip-10-0-0-1.us-west-2.compute.internal, localIPv4: 10.0.0.1, publicIPv4: 1.2.3.4, "
	 "ipv6: 'fd00::1', mac: '06:11:22:33:44:55', interfaces: {ens5: '06:11:22:33:44:55'}, bpffsMounted: true, "
	 "filesystems: [ext4, overlay], homes: {admin: /home/admin}, gpus: 1, enis: 3, ipsPerENI: 10, "
	 "addresses: [10.0.0.1/24], instanceStore: 2, raid: true, systemd: 252, targetLifecycleState: 'Warmed:Stopped'}"),
	"{distribution: ubuntu, version: '24.04', codename: noble, arch: arm64}",
	("{distribution: debian, version: '8', codename: jessie, arch: amd64, filesystems: [aufs, ext4], instanceStore: 1, "
	 "instanceID: i-0, localHostname: h, localIPv4: 10.0.0.2, region: us-east-1}"),
	"{distribution: containeros, version: '101', arch: amd64, localIPv4: 10.0.0.3}",
};

static struct tree *parse(struct arena *a, const char *name, const char *text)
{
	struct tree *t = NULL;
	struct err ignored;

	if (!text)
		return tree_null(a);
	return yaml_parse(a, name, text, strlen(text), &t, &ignored) < 0 || tree_is_hollow(t) ? NULL
											      : t;
}

static void give_keys(struct arena *a, const struct fuzz_documents *all, const struct documents *d,
		      struct node *n)
{
	struct node_wants w = { 0 };

	if (d->dialect->wants)
		w = d->dialect->wants(a, d, n);
	for (size_t i = 0; i < w.n_keypairs + w.n_issues; i++) {
		const struct node_keypair pair = {
			.name = i < w.n_keypairs ? w.keypairs[i].name
						 : w.issues[i - w.n_keypairs].name,
			.cert = "certificate\n",
			.key = "key\n",
		};

		arena_push(a, n->keypairs.v, n->keypairs.n, pair);
	}
	for (size_t i = 0; i < w.n_secrets; i++)
		strmap_set(a, &n->secrets, w.secrets[i].name, "secret");
	for (size_t i = 0; i < all->secrets.n; i++)
		strmap_set(a, &n->secrets, all->secrets.v[i].key, all->secrets.v[i].value);
	for (size_t i = 0; i < w.manifests.n; i++)
		strmap_set(a, &n->manifests, w.manifests.v[i], all->manifest ? all->manifest : "");
}

/* A command that looks at documents alone has no keys, and keeps errors. */
static void plan_for(struct arena *a, const struct fuzz_documents *all, const struct documents *d,
		     const struct facts *f, bool looks)
{
	struct errs errors = { .arena = a };
	struct strv warnings = { 0 };
	const struct dialect_opts opts = { .warnings = &warnings,
					   .checks_alone = looks,
					   .no_host = looks,
					   .errors = looks ? &errors : NULL };
	struct node node = { 0 };
	struct plan plan = { 0 };
	struct err e = { 0 };
	struct plan_req req = {
		.node = &node,
		.facts = f,
		.runtime.unit = "docker.service",
		.image_mode = !looks,
		.no_keys = looks,
		.errors = opts.errors,
	};
	const struct reading in = { a, &opts, f, &node, &e };

	if (d->dialect->node(&in, d) < 0) {
		fuzz_expect(*e.msg, "an error without a text, of a node");
		return;
	}
	if (errs_any_vital(opts.errors))
		return;
	req.is_partial = errs_any(opts.errors);
	if (!looks)
		give_keys(a, all, d, &node);
	fuzz_expect(plan_build(a, &req, &plan, &e) >= 0 || *e.msg,
		    "an error without a text, of a plan");
}

static void plan_documents(struct arena *a, const struct fuzz_documents *all, bool looks)
{
	const struct dialect_opts opts = { .checks_alone = looks };
	struct tree *conf = parse(a, "conf", all->conf),
		    *cluster = parse(a, "cluster", all->cluster),
		    *group = parse(a, "group", all->group);
	struct documents d = { 0 };
	struct facts f = { 0 };
	struct err e = { 0 };

	if (!conf || !cluster || !group)
		return;
	if (dialects_read(a, conf, &opts, &d, &e) < 0) {
		fuzz_expect(*e.msg, "an error without a text, of what --conf names");
		return;
	}
	d.cluster = cluster;
	d.group = group;
	if (all->cluster) {
		d.checked = NULL;
		d.cluster_text =
			(struct documents_file){ "cluster", all->cluster, strlen(all->cluster) };
	}
	for (size_t i = 0; all->files && i < all->files->n; i++) {
		const struct fuzz_part *p = &all->files->v[i];

		arena_push(a, d.files.v, d.files.n,
			   (struct documents_file){ arena_printf(a, "%s%s", all->folder, p->name),
						    p->text, p->n });
	}
	fuzz_expect(facts_parse(a, parse(a, "facts", hosts[all->host % ARRAY_LEN(hosts)]), &f,
				&e) == 0,
		    e.msg);
	plan_for(a, all, &d, &f, looks);
}

void fuzz_plan(struct arena *a, const struct fuzz_documents *all)
{
	plan_documents(a, all, true);
	plan_documents(a, all, false);
}
