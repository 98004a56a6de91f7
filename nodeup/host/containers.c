#include "nodeup/host/containers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/json.h"
#include "nodeup/base/proc.h"

/* enough for a runtime that answers; a silent runtime is not asked, see liveness.h */
#define ASK_NS (3 * DUR_SEC)

enum { ANSWER_MAX = 8 << 20 };

const char docker_socket[] = "/run/docker.sock";

static const char filters[] = "{\"label\":[\"io.kubernetes.pod.namespace%s%s\"]}";

/* Returns whether the container has this name in its pod: the text after "/k8s_", up to kubelet's hash or the pod's
 * name. */
static bool is_named(const struct tree *container, const char *name)
{
	static const char prefix[] = "/k8s_";
	const struct tree *names = tree_get(container, "Names");
	const char *first = names && names->kind == TREE_SEQ && names->n &&
					    names->items[0].value->kind == TREE_SCALAR
				    ? names->items[0].value->scalar
				    : "";
	const char *in_pod = str_has_prefix(first, prefix) ? first + strlen(prefix) : "";

	return *in_pod && strcspn(in_pod, "._") == strlen(name) && str_has_prefix(in_pod, name);
}

/* Reads docker's form, "1480000000". */
static int64_t moment_of_seconds(const char *text)
{
	const long long seconds = text ? strtoll(text, NULL, 10) : 0;

	return seconds > 0 && seconds < INT64_MAX / DUR_SEC ? seconds * DUR_SEC : 0;
}

/* Reads containerd's form, "2026-11-27T10:00:00.123456789Z". */
static int64_t moment_of_date(const char *text)
{
	struct tm tm = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (int64_t)timegm(&tm) * DUR_SEC
								: 0;
}

int containers_of_docker(struct arena *a, const struct container_query *q, struct containers *ret,
			 struct err *e)
{
	autobuf struct buf answer = BUF_INIT(ANSWER_MAX);
	const char *filter = arena_printf(a, filters, q->namespace_ ? "=" : "",
					  q->namespace_ ? q->namespace_ : "");
	const struct http_req req = {
		.url = arena_printf(a, "http://docker/containers/json?filters=%s",
				    enc_url(a, filter, 0)),
		.unix_socket = docker_socket,
		.no_proxy = true,
		.timeout_ns = ASK_NS,
	};
	struct tree *list;
	int r = http_get(q->http, &req, &answer, NULL, e);

	if (r == 0)
		r = json_parse(a, "docker", buf_str(&answer), answer.len, &list, e);
	if (r < 0)
		return r;
	if (list->kind != TREE_SEQ)
		return err_fail(e, ERR_SYSTEM, EPROTO, "docker does not list its containers");
	for (size_t i = 0; i < list->n; i++) {
		const struct tree *c = list->items[i].value;
		const char *pod = tree_text(tree_get(c, "Labels"), "io.kubernetes.pod.name");
		const char *id = tree_text(c, "Id");

		if (id && pod && (!q->name || is_named(c, q->name)))
			arena_push(a, ret->v, ret->n,
				   (struct container){
					   id, pod, moment_of_seconds(tree_text(c, "Created")) });
	}
	return 0;
}

/* Reads ctr's output, line by line. */
static int ask_ctr(struct arena *a, const char *const *argv, char **ret, struct err *e)
{
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = ASK_NS };
	autobuf struct buf out = BUF_INIT(ANSWER_MAX);
	int r = proc_run(&req, &out, e);

	if (r == 0)
		*ret = arena_str(a, buf_str(&out));
	return r;
}

/* Looks for a line "TASK PID STATUS". */
static bool is_running(struct arena *a, const char *tasks, const char *id)
{
	const struct strv lines = strv_split(a, tasks, '\n');

	for (size_t i = 0; i < lines.n; i++)
		if (str_has_prefix(lines.v[i], id) && strchr(" \t", lines.v[i][strlen(id)]) &&
		    str_has_suffix(str_trim(a, lines.v[i]), " RUNNING"))
			return true;
	return false;
}

static int add_pod(struct arena *a, const char *id, struct containers *ret, struct err *e)
{
	const char *const argv[] = { "ctr", "-n", "k8s.io", "containers", "info", id, NULL };
	const char *pod;
	struct tree *info;
	char *text;
	int r = ask_ctr(a, argv, &text, e);

	if (r == 0)
		r = json_parse(a, "ctr", text, strlen(text), &info, e);
	if (r < 0)
		return r;
	pod = tree_text(tree_get(info, "Labels"), "io.kubernetes.pod.name");
	if (pod)
		arena_push(a, ret->v, ret->n,
			   (struct container){ id, pod,
					       moment_of_date(tree_text(info, "CreatedAt")) });
	return 0;
}

int containers_of_containerd(struct arena *a, const struct container_query *q,
			     struct containers *ret, struct err *e)
{
	const char *const list[] = {
		"ctr",
		"-n",
		"k8s.io",
		"containers",
		"ls",
		"-q",
		arena_printf(a,
			     "labels.\"io.kubernetes.container.name\"==\"%s\","
			     "labels.\"io.kubernetes.pod.namespace\"==\"%s\"",
			     q->name, q->namespace_),
		NULL,
	};
	static const char *const running[] = { "ctr", "-n", "k8s.io", "tasks", "ls", NULL };
	char *tasks = NULL, *found;
	struct strv ids;
	int r = ask_ctr(a, list, &found, e);

	if (r == 0)
		r = ask_ctr(a, running, &tasks, e);
	if (r < 0)
		return r;
	ids = strv_split(a, found, '\n');
	for (size_t i = 0; i < ids.n && r == 0; i++)
		if (*ids.v[i] && is_running(a, tasks, ids.v[i]))
			r = add_pod(a, ids.v[i], ret, e);
	return r;
}

int containers_any(struct arena *a, const char **ret, struct err *e)
{
	static const char *const list[] = { "ctr", "-n", "k8s.io", "containers", "ls", "-q", NULL };
	char *ids = NULL;
	int r = ask_ctr(a, list, &ids, e);

	*ret = r == 0 && *str_trim(a, ids) ? strv_split(a, str_trim(a, ids), '\n').v[0] : NULL;
	return r;
}
