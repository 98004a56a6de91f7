#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"
#include "nodeup/tasks/volume.h"
#include "tests/unit/lib/kops18_world.h"

struct world world_new(struct arena *a)
{
	struct world w = { .a = a, .facts.local_hostname = "ip-10-0-0-1.ec2.internal other" };

	strv_add(a, &w.facts.filesystems, "ext4");
	strv_add(a, &w.facts.filesystems, "overlay");
	w.cluster = w.ig = tree_null(a);
	return w;
}

char *world_load(struct arena *a, const char *path, size_t *n)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err e = { 0 };

	if (fd < 0)
		fail_msg("%s is not there", path);
	assert_int_equal(io_read_fd(fd, path, &b, &e), 0);
	*n = b.len;
	return arena_strn(a, buf_str(&b), b.len);
}

struct tree *world_text(struct world *w, const char *file, const char *text)
{
	struct tree *t = NULL;

	if (yaml_parse(w->a, file, text, strlen(text), &t, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	return t;
}

struct tree *world_file(struct world *w, const char *path)
{
	size_t n;

	return world_text(w, str_basename(path), world_load(w->a, path, &n));
}

struct kops18_node *world_own(struct world *w)
{
	/* the dialect made it of the same arena, and const is for builders */
	return (struct kops18_node *)w->node.own;
}

const char *world_host_name(const struct node *n)
{
	return ((const struct kops18_node *)n->own)->kubelet.hostname_override;
}

int world_build(struct world *w)
{
	const struct documents d = {
		.dialect = &kops18_dialect, .own = &w->env, .cluster = w->cluster, .group = w->ig
	};
	const struct reading in = { w->a, &w->opts, &w->facts, &w->node, &w->e };
	int r;

	w->opts.warnings = &w->warnings;
	w->opts.volume_fits = volume_fits;
	r = kops18_env(w->a, w->env_doc, &w->opts, &w->env, &w->e);
	if (r == 0)
		r = kops18_node(&in, &d);
	return r;
}

void world_must_build(struct world *w)
{
	if (world_build(w) < 0)
		fail_msg("%s", w->e.msg);
}

struct world world_master(struct arena *a)
{
	struct world w = world_new(a);

	w.env_doc = world_file(&w, SEED "master/kube_env.yaml");
	w.cluster = world_file(&w, STORE "cluster.spec");
	w.ig = world_file(&w, STORE "instancegroup/master-us-west-2a");
	return w;
}

struct world world_worker(struct arena *a)
{
	struct world w = world_new(a);

	w.env_doc = world_file(&w, SEED "nodes/kube_env.yaml");
	w.cluster = world_file(&w, STORE "cluster.spec");
	w.ig = world_file(&w, STORE "instancegroup/nodes");
	return w;
}

static const char small_env[] =
	"ClusterName: c.example\nInstanceGroupName: g\nAssets:\n"
	"- x@https://h/release/v1.9.3/bin/linux/amd64/kubelet,https://m/k\n";

struct world world_small(struct arena *a, const char *env_tail, const char *cluster, const char *ig)
{
	struct world w = world_new(a);

	w.env_doc = world_text(&w, "env", arena_printf(a, "%s%s", small_env, env_tail));
	w.cluster = world_text(&w, "cluster", cluster);
	w.ig = world_text(&w, "ig", ig);
	return w;
}
