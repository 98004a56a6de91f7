#include "nodeup/base/program.h"

#include <stdlib.h>
#include <unistd.h>
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
