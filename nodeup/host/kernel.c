#include "nodeup/host/kernel.h"

#include <string.h>
#include <sys/utsname.h>
#include "nodeup/base/io.h"

enum { LIST_MAX = 16 << 20 };

static const char loadable[] = "modules.dep", builtin[] = "modules.builtin";

/* "" of a list that is not there. */
static void read_list(int root_fd, const char *list, struct buf *text)
{
	autoarena struct arena *a = arena_new_empty();
	struct utsname host;
	struct err ignored;

	if (uname(&host) == 0)
		(void)!io_read(root_fd, arena_printf(a, "/lib/modules/%s/%s", host.release, list),
			       text, &ignored);
}

bool kernel_lists(int root_fd, const char *list, const char *module)
{
	autobuf struct buf text = BUF_INIT(LIST_MAX);
	autoarena struct arena *a = arena_new_empty();

	read_list(root_fd, list, &text);
	return strstr(buf_str(&text), arena_printf(a, "/%s.ko", module));
}

bool kernel_lacks(int root_fd, const char *module)
{
	autobuf struct buf text = BUF_INIT(LIST_MAX);

	read_list(root_fd, loadable, &text);
	return text.len && !kernel_lists(root_fd, loadable, module) &&
	       !kernel_lists(root_fd, builtin, module);
}
