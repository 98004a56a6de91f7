#include "nodeup/base/program.h"

#include <stdlib.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

bool program_in_path(const char *name)
{
	autoarena struct arena *a = arena_new_empty();
	const char *path = getenv("PATH");
	/* what posix_spawnp looks through without one */
	const struct strv folders = strv_split(a, path ? path : "/bin:/usr/bin", ':');

	for (size_t i = 0; i < folders.n; i++)
		if (access(arena_printf(a, "%s/%s", *folders.v[i] ? folders.v[i] : ".", name),
			   X_OK) == 0)
			return true;
	return false;
}

bool program_is_there(int root_fd, const char *name)
{
	static const char *const folders[] = { "/usr/sbin", "/usr/bin",        "/sbin",
					       "/bin",      "/usr/local/sbin", "/usr/local/bin" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		autofree char *path = xasprintf("%s/%s", folders[i], name);

		if (io_is_there(root_fd, path))
			return true;
	}
	return false;
}
