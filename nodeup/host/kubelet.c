#include "nodeup/host/kubelet.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"
#include "nodeup/base/yaml.h"
#include "nodeup/host/process.h"

enum { FILE_MAX = 4 << 20, PORT = 10248, PORT_MAX = 65535 };

/* If this user may not read a file or folder on the way, *denied is its path. */
static const char *value_in(struct arena *a, int root_fd, const char *path, const char *key,
			    const char **denied)
{
	autobuf struct buf text = BUF_INIT(FILE_MAX);
	struct err ignored;
	struct tree *t;
	int r = io_read(root_fd, path, &text, &ignored);

	if (r == -EACCES)
		*denied = path;
	if (r < 0 || yaml_parse(a, path, buf_str(&text), text.len, &t, &ignored) < 0 ||
	    t->kind != TREE_MAP)
		return NULL;
	return tree_text(t, key);
}

static const char *dropin_in(struct arena *a, int root_fd, const char *dir, const char *key,
			     const char **ret_file, const char **denied)
{
	const char *found = NULL;
	struct strv names = { 0 };
	struct err ignored;

	if (dir && walk_names_at(a, root_fd, dir, &names, &ignored) == -EACCES)
		*denied = dir;
	for (size_t i = 0; i < names.n; i++) {
		const char *path = arena_printf(a, "%s/%s", dir, names.v[i]);
		const char *value = str_has_suffix(path, ".conf")
					    ? value_in(a, root_fd, path, key, denied)
					    : NULL;

		if (!value)
			continue;
		found = value;
		*ret_file = path;
	}
	return found;
}

const char *kubelet_dropin(struct arena *a, int root_fd, const char *dir, const char *key,
			   const char **ret_file)
{
	const char *ignored;

	return dropin_in(a, root_fd, dir, key, ret_file, &ignored);
}

static const char *given(struct arena *a, int root_fd, uint32_t pid, const char *flag,
			 const char *key, const char **denied)
{
	const char *by_flag = process_flag(a, root_fd, pid, flag), *file;
	const char *by_dropin = by_flag ? NULL
					: dropin_in(a, root_fd,
						    process_flag(a, root_fd, pid, "config-dir"),
						    key, &file, denied);
	/* until Kubernetes 1.9 the flag --config named the folder of static pods */
	const char *config = by_flag || by_dropin ? NULL : process_flag(a, root_fd, pid, "config");

	return by_flag     ? by_flag
	       : by_dropin ? by_dropin
	       : config    ? value_in(a, root_fd, config, key, denied)
			   : NULL;
}

bool kubelet_healthz(struct arena *a, int root_fd, uint32_t pid, struct in_addr *ret_address,
		     uint16_t *ret_port, const char **ret_why)
{
	const char *denied = NULL;
	const char *port = given(a, root_fd, pid, "healthz-port", "healthzPort", &denied);
	const char *address =
		given(a, root_fd, pid, "healthz-bind-address", "healthzBindAddress", &denied);
	const long n = str_is_empty(port) ? PORT : strtol(port, NULL, 10);
	const bool is_any = str_is_empty(address) || str_eq(address, "0.0.0.0") ||
			    str_eq(address, "::");

	if (denied) {
		*ret_why = arena_printf(a, "this user may not read %s", denied);
		return false;
	}
	if (n <= 0 || n > PORT_MAX) {
		*ret_why = "its /healthz is turned off";
		return false;
	}
	ret_address->s_addr = htonl(INADDR_LOOPBACK);
	if (!is_any && inet_pton(AF_INET, address, ret_address) != 1) {
		*ret_why = arena_printf(a, "its /healthz is at %s", address);
		return false;
	}
	*ret_port = (uint16_t)n;
	return true;
}
