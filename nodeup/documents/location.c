#include "nodeup/documents/location.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/url.h"

static const char file_scheme[] = "file://";
static const char usual_name[] = "kube_env.yaml";

bool location_is_imds(const char *location)
{
	return str_eq(location, LOCATION_IMDS) || str_has_prefix(location, LOCATION_IMDS "/");
}

bool location_is_kept(const char *location)
{
	return str_has_prefix(location, LOCATION_KEPT);
}

const char *location_path(const char *location)
{
	if (str_has_prefix(location, file_scheme))
		return location + strlen(file_scheme);
	return strstr(location, "://") || location_is_imds(location) || location_is_kept(location)
		       ? NULL
		       : location;
}

bool location_is_absolute(const char *location)
{
	return *location == '/' || strstr(location, "://") || str_eq(location, LOCATION_IMDS);
}

bool location_is_remote(const char *location)
{
	return !location_path(location);
}

const char *location_absolute(struct arena *a, const char *location)
{
	const bool is_relative = *location != '/' && location_path(location) == location;
	autofree char *here = is_relative ? getcwd(NULL, 0) : NULL;

	return here ? location_join(a, here, location) : location;
}

char *location_join(struct arena *a, const char *location, const char *name)
{
	return arena_printf(a, "%s%s%s", location, str_has_suffix(location, "/") ? "" : "/", name);
}

char *location_in_folder(struct arena *a, const char *folder)
{
	return location_join(a, folder, usual_name);
}

const char *location_document(struct arena *a, const char *location)
{
	const char *path = location_path(location);
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? location_in_folder(a, location)
								   : location;
}

char *location_beside(struct arena *a, const char *location, const char *name)
{
	const char *slash = strrchr(location, '/');

	if (location_is_imds(location))
		return location_join(a, location, name);
	if (!slash)
		return arena_str(a, name);
	return location_join(a, arena_strn(a, location, (size_t)(slash - location) + 1), name);
}

const char *location_shown(struct arena *a, const char *location)
{
	char out[URL_PUBLIC_MAX];

	if (!str_has_prefix(location, "http://") && !str_has_prefix(location, "https://"))
		return location;
	return arena_str(a, url_public(location, out));
}
