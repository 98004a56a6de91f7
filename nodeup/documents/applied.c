#include <stdlib.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"

int loader_last_applied(struct loader *l, const char **ret, struct err *e)
{
	autobuf struct buf b = BUF_INIT(LOADER_RECORD_MAX);
	int r = io_read(l->req->root_fd, OWN_CONF, &b, e);

	*ret = NULL;
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	*ret = str_trim(l->arena, buf_str(&b));
	if (!location_is_anywhere(*ret))
		*ret = NULL;
	return 0;
}

const char *loader_conf_name(struct arena *a, const char *conf)
{
	autofree char *path = location_path(conf) == conf ? realpath(conf, NULL) : NULL;
	autofree char *dir = NULL, *real = NULL;
	const char *absolute = location_absolute(a, conf);

	if (path)
		return arena_str(a, path);
	if (location_path(conf) != conf)
		return conf;
	dir = xstrdup(absolute);
	*strrchr(dir, '/') = '\0';
	real = realpath(*dir ? dir : "/", NULL);
	return real ? location_join(a, real, str_basename(absolute)) : absolute;
}

const char *loader_kept_name(struct loader *l, const char *location)
{
	const char *conf = l->b->conf;
	const struct store_kept kept = { .conf = conf,
					 .conf_name = loader_conf_name(l->arena, conf) };

	return store_kept_name(l->arena, &kept, location);
}
