#include "nodeup/run/pods.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"
#include "nodeup/host/containers.h"

#define START_NS (10 * 60 * DUR_SEC)

enum { MANIFEST_MAX = 1 << 20 };

static const char manifests[] = "/etc/kubernetes/manifests";

/* Who runs the containers of kubelet, by the unit that the run had. docker comes first: it has a containerd of its own. */
static const struct runtime_row {
	const char *unit, *look;
	int (*list)(struct arena *a, const struct container_query *q, struct containers *ret,
		    struct err *e);
} runtimes[] = {
	{ "docker.service", "docker ps -a", containers_of_docker },
	{ "containerd.service", "ctr -n k8s.io tasks ls", containers_of_containerd },
};

/* A pod that the run wrote. */
struct own_pod {
	const char *name, *namespace_;
	struct strv containers;
};

struct asked {
	struct arena *arena;
	struct own_pod *v;
	size_t n;
	struct container_query query;
	const struct runtime_row *runtime;
	struct strv missing; /* "kube-proxy of pod kube-proxy" */
};

static const struct runtime_row *find_runtime(const struct tree *tasks)
{
	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
		for (size_t k = 0; k < tasks->n; k++) {
			const struct tree *t = tasks->items[k].value;

			if (str_eq(tree_text(t, "name"), runtimes[i].unit) &&
			    tree_get(t, "staysUp"))
				return &runtimes[i];
		}
	return NULL;
}

static void add_pod(struct asked *q, const struct tree *document)
{
	const struct tree *meta = tree_get(document, "metadata");
	const struct tree *list = tree_get(tree_get(document, "spec"), "containers");
	struct own_pod pod = { .name = tree_text(meta, "name") };

	if (!pod.name || !list || list->kind != TREE_SEQ)
		return;
	pod.namespace_ = tree_text(meta, "namespace");
	if (!pod.namespace_)
		pod.namespace_ = "default";
	for (size_t i = 0; i < list->n; i++) {
		const char *name = tree_text(list->items[i].value, "name");

		if (name)
			strv_add(q->arena, &pod.containers, name);
	}
	arena_push(q->arena, q->v, q->n, pod);
}

/* Those whose file is there: what is not, or cannot be read, is the plan's to say. */
static void read_pods(struct asked *q, int root_fd, const struct tree *tasks)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;
		const char *path = str_eq(tree_text(t, "kind"), "file") ? tree_text(t, "name")
									: NULL;
		autobuf struct buf text = BUF_INIT(MANIFEST_MAX);
		struct tree *document;
		struct err ignored;

		if (path && *path == '/' && str_is_within(path, manifests) &&
		    io_read(root_fd, path, &text, &ignored) >= 0 &&
		    yaml_parse(q->arena, path, buf_str(&text), text.len, &document, &ignored) == 0)
			add_pod(q, document);
	}
}

/* kubelet appends the node's name. One of two of our names may begin with the other: the longer one is meant. */
static bool is_of(const struct asked *q, const struct own_pod *pod, const char *name)
{
	size_t longest = 0;

	for (size_t i = 0; i < q->n; i++) {
		const size_t n = strlen(q->v[i].name);

		if (str_has_prefix(name, q->v[i].name) && name[n] == '-' && n > longest)
			longest = n;
	}
	return longest == strlen(pod->name) && str_has_prefix(name, pod->name);
}

static int ask_container(struct asked *q, const struct own_pod *pod, const char *container,
			 struct err *e)
{
	struct containers found = { 0 };
	int r;

	q->query.namespace_ = pod->namespace_;
	q->query.name = container;
	r = q->runtime->list(q->arena, &q->query, &found, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < found.n; i++)
		if (is_of(q, pod, found.v[i].pod))
			return 0;
	strv_addf(q->arena, &q->missing, "%s of pod %s", container, pod->name);
	return 0;
}

static int ask_all(struct asked *q, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < q->n && r == 0; i++)
		for (size_t k = 0; k < q->v[i].containers.n && r == 0; k++)
			r = ask_container(q, &q->v[i], q->v[i].containers.v[k], e);
	return r;
}

void pods_ask(struct arena *a, int root_fd, struct told *t)
{
	const struct tree *tasks = tree_get(t->word, "tasks");
	struct asked q = { .arena = a };
	const int64_t ended = told_since(t);
	struct err e;

	if (t->state != TOLD_READY || !tasks || tasks->kind != TREE_SEQ)
		return;
	q.runtime = find_runtime(tasks);
	read_pods(&q, root_fd, tasks);
	if (!q.n || !q.runtime)
		return;
	if (http_new(&(struct http_opts){ .root_fd = root_fd }, &q.query.http, &e) < 0 ||
	    ask_all(&q, &e) < 0)
		t->pods = arena_printf(a, "not seen: %s", e.msg);
	http_free(q.query.http);
	if (t->pods || !q.missing.n)
		return;
	if (ended >= 0 && dur_wall() - ended < START_NS) {
		t->pods = arena_printf(a, "starting: %s", strv_join(a, &q.missing, ", "));
		return;
	}
	t->state = TOLD_DEGRADED;
	t->why = arena_printf(a, "no container runs: %s; see %s, and journalctl -u kubelet",
			      strv_join(a, &q.missing, ", "), q.runtime->look);
}
