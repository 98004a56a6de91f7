#include "nodeup/host/occupied.h"

#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"
#include "nodeup/host/containers.h"

static const char containerd_socket[] = "/run/containerd/containerd.sock";

/* Directories with an entry for each pod or container. */
static const char *const directories[] = {
	"/var/lib/kubelet/pods",
	"/run/containerd/io.containerd.runtime.v2.task/k8s.io",
	"/run/containerd/io.containerd.runtime.v1.linux/k8s.io",
	"/run/containerd/io.containerd.runtime.v2.task/moby",
	"/run/containerd/io.containerd.runtime.v1.linux/moby",
};

static const char *look_into(struct arena *a, int root_fd, const char *path)
{
	struct strv names = { 0 };
	struct err e;
	int r = walk_names_at(a, root_fd, path, &names, &e);

	if (r == -ENOENT)
		return NULL;
	if (r < 0)
		return arena_printf(a, "what pods there are cannot be asked: %s", e.msg);
	return names.n ? arena_printf(a, "there are pods: %s has %s", path, names.v[0]) : NULL;
}

static const char *ask_containerd(struct arena *a)
{
	const char *id;
	struct err e;

	if (containers_any(a, &id, &e) < 0)
		return arena_printf(a, "what pods there are cannot be asked: %s", e.msg);
	return id ? arena_printf(a, "there are pods: containerd has container %s", id) : NULL;
}

const char *occupied_by(struct arena *a, int root_fd, const char *docker_root)
{
	const char *docker = docker_root ? docker_root : "/var/lib/docker";
	const char *found = look_into(a, root_fd, arena_printf(a, "%s/containers", docker));

	for (size_t i = 0; i < ARRAY_LEN(directories) && !found; i++)
		found = look_into(a, root_fd, directories[i]);
	return !found && io_is_there(root_fd, containerd_socket) ? ask_containerd(a) : found;
}
