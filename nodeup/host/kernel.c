#include "nodeup/host/kernel.h"

#include <string.h>
#include <sys/utsname.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { LIST_MAX = 16 << 20 };

static const char loadable[] = "modules.dep", builtin[] = "modules.builtin";

const char *kernel_list(struct arena *a, int root_fd, const char *list)
{
	struct utsname host;

	if (uname(&host) < 0)
		return NULL;
	return io_text(a, root_fd, arena_printf(a, "/lib/modules/%s/%s", host.release, list),
		       LIST_MAX);
}

bool kernel_lists(int root_fd, const char *list, const char *module)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = kernel_list(a, root_fd, list);

	return text && strstr(text, arena_printf(a, "/%s.ko", module));
}

/* Returns whether the kernel has the module built in, or can load it. */
static bool kernel_can(int root_fd, const char *module)
{
	return kernel_lists(root_fd, loadable, module) || kernel_lists(root_fd, builtin, module);
}

bool kernel_lacks(int root_fd, const char *module)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = kernel_list(a, root_fd, loadable);

	return !str_is_empty(text) && !kernel_can(root_fd, module);
}

bool kernel_has_raid0(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = io_text(a, root_fd, "/proc/mdstat", LIST_MAX);

	return (text && strstr(text, "[raid0]")) || kernel_can(root_fd, "raid0");
}
