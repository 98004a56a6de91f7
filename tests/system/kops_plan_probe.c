/* kops_plan_probe - the files that builders of today's kops make of a node's documents
 *
 *   [KOPS_VERSION=1.34.3] kops_plan_probe BOOTCONFIG NODEUPCONFIG FACTS BUILDER [URL=FILE...]
 *
 * URL=FILE: a manifest of the state store. The files are printed as a YAML list of path, mode and content. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kops/model.h"
#include "nodeup/plan/plan.h"

enum { FILE_MAX = 4 << 20 };

static int slurp(struct arena *a, const char *path, const char **ret, struct err *e)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? err_sys(e, "open %s", path) : io_read_fd(fd, path, &b, e);

	if (r >= 0)
		*ret = arena_strn(a, buf_str(&b), b.len);
	return r;
}

static int read_yaml(struct arena *a, const char *path, struct tree **ret, struct err *e)
{
	const char *text;
	int r = slurp(a, path, &text, e);

	return r < 0 ? r : yaml_parse(a, path, text, strlen(text), ret, e);
}

static int read_manifests(struct arena *a, char **args, struct strmap *ret, struct err *e)
{
	int r = 0;

	for (; *args && r >= 0; args++) {
		char *equals = strchr(*args, '=');
		const char *text;

		if (!equals)
			return err_fail(e, ERR_USAGE, 0, "%s", *args);
		r = slurp(a, equals + 1, &text, e);
		if (r >= 0)
			strmap_set(a, ret, arena_strn(a, *args, (size_t)(equals - *args)), text);
	}
	return r;
}

static int read_node(struct arena *a, char **args, struct facts *f, struct node *ret, struct err *e)
{
	static const struct dialect_opts opts = { .checks_alone = true };
	const char *text = getenv("KOPS_VERSION");
	struct vintage_sources sources = { .is_node_config = true };
	struct vintage vintage;
	struct kops_boot *boot = arena_new(a, struct kops_boot);
	struct kops_config *config = arena_new(a, struct kops_config);
	struct tree *documents[3];
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(documents) && r >= 0; i++)
		r = read_yaml(a, args[i], &documents[i], e);
	if (r >= 0) {
		sources.setting = text ? tree_string(a, text) : NULL;
		sources.document = documents[1];
		r = vintage_find(a, &sources, &vintage, e);
	}
	if (r >= 0)
		r = facts_parse(a, documents[2], f, e);
	if (r >= 0)
		r = kops_boot(a, documents[0], &opts, boot, e);
	if (r >= 0)
		r = kops_config(a, documents[1], boot, &vintage, &opts, config, e);
	if (r >= 0)
		r = kops_node(a, boot, config, f, &opts, ret, e);
	ret->dialect = &kops_dialect;
	return r;
}

static int print_files(struct arena *a, const struct plan *p, struct err *e)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	struct tree *list = tree_seq(a);
	int r;

	for (size_t i = 0; i < p->n; i++) {
		const struct task *task = p->tasks[i];
		struct tree *t = tree_map(a);

		if (task->kind != TASK_FILE)
			continue;
		tree_set_text(a, t, "path", task->name);
		tree_set_int(a, t, "mode", task->file.attr.mode);
		tree_set_text(a, t, "content", task->file.content);
		(void)tree_add(a, list, t);
	}
	r = yaml_render(list, &b, e);
	if (r >= 0)
		(void)fputs(buf_str(&b), stdout);
	return r;
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan_req req = { .image_mode = true };
	struct facts facts = { 0 };
	struct node node = { 0 };
	struct plan plan;
	struct err e = { 0 };
	int r = argc < 5 ? err_fail(&e, ERR_USAGE, 0, "see the source") : 0;

	if (r >= 0)
		r = read_node(a, argv + 1, &facts, &node, &e);
	if (r >= 0)
		r = read_manifests(a, argv + 5, &node.manifests, &e);
	req.node = &node;
	req.facts = &facts;
	req.no_keys = argc == 5;
	if (r >= 0) {
		req.only = argv[4];
		r = plan_build(a, &req, &plan, &e);
	}
	if (r >= 0)
		r = print_files(a, &plan, &e);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", e.msg);
	return r < 0;
}
