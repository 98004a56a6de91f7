#include "nodeup/host/disruption.h"

#include <string.h>
#include "manifests/pod.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/walk.h"
#include "nodeup/base/yaml.h"
#include "nodeup/host/liveness.h"
#include "nodeup/host/containers.h"
#include "nodeup/host/kubelet.h"
#include "nodeup/host/process.h"

enum { FILE_MAX = 1 << 20 };

static const char docker[] = "docker.service";

/* Returns whether docker was started with live-restore. The flag overrides the file. */
static bool keeps_containers(struct arena *a, int root_fd, uint32_t pid)
{
	static const char file[] = "/etc/docker/daemon.json";
	const char *flag = process_flag(a, root_fd, pid, "live-restore");
	const char *text = flag ? NULL : io_text(a, root_fd, file, FILE_MAX);
	struct err ignored;
	struct tree *t;

	if (flag)
		return !str_eq(flag, "false");
	return text && json_parse(a, file, text, strlen(text), &t, &ignored) == 0 &&
	       str_eq(tree_text(t, "live-restore"), "true");
}

/* Adds the pods that docker names. Returns whether docker answered. */
static bool ask_docker(struct arena *a, int root_fd, struct strv *ret)
{
	struct container_query q = { .namespace_ = NULL };
	struct containers found = { 0 };
	struct err ignored;
	int r = liveness_demand(root_fd, docker, &ignored);

	if (r == 0)
		r = http_new(&(struct http_opts){ .root_fd = root_fd }, &q.http, &ignored);
	if (r == 0)
		r = containers_of_docker(a, &q, &found, &ignored);
	http_free(q.http);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		strv_add_once(a, ret, found.v[i].pod);
	return r == 0;
}

/* Adds the pods of the log files, "POD_NAMESPACE_CONTAINER-ID.log". */
static void read_logs(struct arena *a, int root_fd, struct strv *ret)
{
	const struct strv names = walk_list(a, root_fd, KUBELET_LOGS, "");

	for (size_t i = 0; i < names.n; i++)
		if (strchr(names.v[i], '_'))
			strv_add_once(a, ret, arena_strn(a, names.v[i], strcspn(names.v[i], "_")));
}

/* kubelet appends the node's name to a static pod's name. */
static bool has_log(const struct strv *pods, const char *name)
{
	for (size_t i = 0; i < pods->n; i++)
		if (str_has_prefix(pods->v[i], name) && pods->v[i][strlen(name)] == '-')
			return true;
	return false;
}

static void read_manifests(struct arena *a, int root_fd, struct strv *ret)
{
	const struct strv logged = *ret, names = walk_list(a, root_fd, POD_MANIFESTS, "");
	struct err ignored;

	for (size_t i = 0; i < names.n; i++) {
		const char *path = arena_printf(a, "%s/%s", POD_MANIFESTS, names.v[i]), *name;
		const char *text = names.v[i][0] == '.' ? NULL
							: io_text(a, root_fd, path, FILE_MAX);
		struct tree *pod;

		if (!text || yaml_parse(a, path, text, strlen(text), &pod, &ignored) < 0)
			continue;
		name = tree_text(tree_get(pod, "metadata"), "name");
		if (name && !has_log(&logged, name))
			strv_add_once(a, ret, name);
	}
}

struct disruption disruption_of(struct arena *a, int root_fd, const char *unit, uint32_t pid)
{
	struct disruption f = { .stop = str_eq(unit, docker) &&
					!keeps_containers(a, root_fd, pid) };

	if (f.stop && !ask_docker(a, root_fd, &f.pods)) {
		read_logs(a, root_fd, &f.pods);
		read_manifests(a, root_fd, &f.pods);
	}
	strv_sort(&f.pods);
	return f;
}

const char *disruption_text(struct arena *a, const struct disruption *f)
{
	if (!f->stop)
		return "pods stay";
	return arena_printf(a, "docker stops the containers of all pods%s%s", f->pods.n ? ": " : "",
			    strv_join(a, &f->pods, ", "));
}
