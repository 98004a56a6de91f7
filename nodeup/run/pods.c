#include "nodeup/run/pods.h"

#include <string.h>
#include "manifests/pod.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/yaml.h"
#include "nodeup/host/liveness.h"
#include "nodeup/host/containers.h"

#define START_NS (10 * 60 * DUR_SEC)

enum { MANIFEST_MAX = 1 << 20, RECORD_MAX = 1 << 14 };

static const char not_restarted[] = "nodeup restarts no container of a control plane";

/* The runtimes of kubelet's containers, by unit. docker comes first: it has its own containerd. */
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
	const char *path, *name, *namespace_;
	struct strv containers;
	struct listeners listeners;
};

struct asked {
	struct arena *arena;
	struct own_pod *v;
	size_t n;
	struct container_query query;
	const struct runtime_row *runtime;
	struct strv answered; /* ids of containers of this boot */
	/* "kube-proxy of pod kube-proxy"; for silent programs and those that were not asked also the reason */
	struct strv missing, starting, silent, unasked;
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

static void add_pod(struct asked *q, const char *path, const struct tree *document)
{
	const struct tree *meta = tree_get(document, "metadata");
	const struct tree *list = tree_get(tree_get(document, "spec"), "containers");
	struct own_pod pod = { .path = path,
			       .name = tree_text(meta, "name"),
			       .listeners = listeners_of(q->arena, document) };

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

/* Reads a manifest that exists. The plan reports missing and unreadable manifests. */
static void read_pod(struct asked *q, int root_fd, const char *path)
{
	autobuf struct buf text = BUF_INIT(MANIFEST_MAX);
	struct tree *document;
	struct err ignored;

	if (*path == '/' && str_is_within(path, POD_MANIFESTS) &&
	    io_read(root_fd, path, &text, &ignored) >= 0 &&
	    yaml_parse(q->arena, path, buf_str(&text), text.len, &document, &ignored) == 0)
		add_pod(q, path, document);
}

static void read_pods(struct asked *q, int root_fd, const struct tree *tasks)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;

		if (str_eq(tree_text(t, "kind"), "file"))
			read_pod(q, root_fd, tree_says(t, "name"));
	}
}

/* kubelet appends the node's name. If one of our names begins another, the longer one counts. */
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

/* Finds the running container of a pod; *ret NULL: none. */
static int find_container(struct asked *q, const struct own_pod *pod, const char *container,
			  const struct container **ret, struct err *e)
{
	struct containers found = { 0 };
	int r;

	*ret = NULL;
	q->query.namespace_ = pod->namespace_;
	q->query.name = container;
	r = q->runtime->list(q->arena, &q->query, &found, e);
	for (size_t i = 0; r == 0 && i < found.n && !*ret; i++)
		if (is_of(q, pod, found.v[i].pod))
			*ret = &found.v[i];
	return r;
}

/* Returns whether the container may still be starting: its first answer may take minutes. */
static bool is_starting(const struct asked *q, const struct container *c)
{
	return c->began_ns > 0 && dur_wall() - c->began_ns < START_NS &&
	       !strv_has(&q->answered, c->id);
}

static enum answer ask_listener(struct arena *a, const struct listener *l, const char **ret_why)
{
	if (l->port)
		return liveness_ask_port(a, l->address, l->port, ret_why);
	*ret_why = "its manifest turns no port on";
	return ANSWER_NOT_ASKED;
}

static void ask_listeners(struct asked *q, const struct own_pod *pod, const char *container,
			  const struct container *c)
{
	for (size_t i = 0; i < pod->listeners.n; i++) {
		const struct listener *l = &pod->listeners.v[i];
		const char *why;
		enum answer came;

		if (!str_eq(l->container, container))
			continue;
		came = ask_listener(q->arena, l, &why);
		if (came == ANSWER_CAME)
			strv_add_once(q->arena, &q->answered, c->id);
		if (came == ANSWER_NOT_ASKED)
			strv_addf(q->arena, &q->unasked, "%s of pod %s: %s", container, pod->name,
				  why);
		else if (answer_is_bad(came) && is_starting(q, c))
			strv_addf(q->arena, &q->starting, "%s of pod %s", container, pod->name);
		else if (answer_is_bad(came))
			strv_addf(q->arena, &q->silent, "container %s of pod %s runs, but %s",
				  container, pod->name, why);
	}
}

static int ask_container(struct asked *q, const struct own_pod *pod, const char *container,
			 struct err *e)
{
	const struct container *c;
	int r = find_container(q, pod, container, &c, e);

	if (r < 0)
		return r;
	if (c)
		ask_listeners(q, pod, container, c);
	else
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

/* Opens the client that asks the runtime, and reads which containers answered once. */
static int begin(struct asked *q, int root_fd, struct err *e)
{
	const char *text = io_text(q->arena, root_fd, OWN_ANSWERED, RECORD_MAX);

	if (text)
		q->answered = strv_split(q->arena, text, '\n');
	return http_new(&(struct http_opts){ .root_fd = root_fd }, &q->query.http, e);
}

static void judge(struct asked *q, struct health *t)
{
	struct arena *a = q->arena;
	const int64_t ended = health_since(t);
	const bool is_new = ended >= 0 && dur_wall() - ended < START_NS;

	if (is_new) {
		strv_add_all(a, &q->starting, &q->missing);
		q->missing.n = 0;
	}
	if (q->missing.n)
		t->why = arena_printf(a, "no container runs: %s; see %s, and journalctl -u kubelet",
				      strv_join(a, &q->missing, ", "), q->runtime->look);
	else if (q->silent.n)
		t->why = arena_printf(a, "%s; %s", strv_join(a, &q->silent, "; "), not_restarted);
	if (t->why)
		t->state = HEALTH_DEGRADED;
	else if (q->starting.n)
		t->pods = arena_printf(a, "starting: %s", strv_join(a, &q->starting, ", "));
	strv_add_all(a, &t->unasked, &q->unasked);
}

static void keep_answered(const struct asked *q, int root_fd)
{
	struct err ignored;

	/* without the record, a container that hangs counts as starting for the rest of its ten minutes, no longer */
	if (q->answered.n)
		(void)!record_keep(root_fd, OWN_ANSWERED, 0644,
				   strv_join(q->arena, &q->answered, "\n"), &ignored);
}

void pods_ask(struct arena *a, int root_fd, struct health *t)
{
	const struct tree *tasks = tree_get(t->word, "tasks");
	struct asked q = { .arena = a };
	struct err e;

	if (t->state != HEALTH_READY || !tasks || tasks->kind != TREE_SEQ)
		return;
	q.runtime = find_runtime(tasks);
	read_pods(&q, root_fd, tasks);
	if (!q.n || !q.runtime)
		return;
	if (begin(&q, root_fd, &e) < 0 || ask_all(&q, &e) < 0) {
		t->pods = arena_printf(a, "not seen: %s", e.msg);
	} else {
		judge(&q, t);
		keep_answered(&q, root_fd);
	}
	http_free(q.query.http);
}

/* Returns the runtime whose unit is active. No other runtime may be asked: systemd would start docker for a
 * question. */
static const struct runtime_row *running_runtime(const struct task_ctx *ctx,
						 struct task *const *tasks, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	struct err ignored;

	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
		for (size_t k = 0; k < n; k++)
			if (tasks[k]->kind == TASK_UNIT &&
			    str_eq(tasks[k]->name, runtimes[i].unit) &&
			    bus_get(ctx->bus, a, tasks[k]->name, &u, &ignored) == 0 &&
			    str_eq(u.active_state, "active") &&
			    liveness_demand(ctx->root_fd, tasks[k]->name, &ignored) == 0)
				return &runtimes[i];
	return NULL;
}

/* Returns whether the runtime runs the container, and it answered once or had enough time to answer. */
static bool is_started(struct asked *q, int root_fd, const struct own_pod *pod,
		       const char *container)
{
	const struct container *c;
	struct err ignored;

	return (q->query.http || begin(q, root_fd, &ignored) == 0) &&
	       find_container(q, pod, container, &c, &ignored) == 0 && c && !is_starting(q, c);
}

static void add_silent(struct asked *q, int root_fd, const struct own_pod *pod)
{
	for (size_t i = 0; i < pod->listeners.n; i++) {
		const struct listener *l = &pod->listeners.v[i];
		const char *why;

		if (answer_is_bad(ask_listener(q->arena, l, &why)) &&
		    is_started(q, root_fd, pod, l->container))
			strv_addf(q->arena, &q->silent, "%s: container %s runs, but %s; %s",
				  pod->path, l->container, why, not_restarted);
	}
}

struct strv pods_silent(struct arena *a, const struct task_ctx *ctx, struct task *const *tasks,
			size_t n)
{
	struct asked q = { .arena = a };
	size_t n_listeners = 0;

	for (size_t i = 0; ctx->bus && i < n; i++)
		if (tasks[i]->kind == TASK_FILE && !tasks[i]->file.unwanted)
			read_pod(&q, ctx->root_fd, tasks[i]->name);
	for (size_t i = 0; i < q.n; i++)
		n_listeners += q.v[i].listeners.n;
	if (n_listeners)
		q.runtime = running_runtime(ctx, tasks, n);
	for (size_t i = 0; q.runtime && i < q.n; i++)
		add_silent(&q, ctx->root_fd, &q.v[i]);
	http_free(q.query.http);
	return q.silent;
}
