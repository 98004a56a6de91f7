#include "nodeup/config/extras.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/show.h"

enum { UNIT_NAME_MAX = 200 };

int extras_check_unit(const char *where, const char *name, struct err *e)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   ":_.@\\-";

	if (*name && *name != '.' && strspn(name, safe) == strlen(name) &&
	    strlen(name) < UNIT_NAME_MAX)
		return 0;
	return err_config(e, "%s: '%s' is not the name of a unit", where, name);
}

static bool is_clean(const char *path)
{
	return *path == '/' && path[1] && !str_has_suffix(path, "/") && !strstr(path, "//") &&
	       !strstr(path, "/./") && !strstr(path, "/../") && !str_has_suffix(path, "/..") &&
	       !str_has_suffix(path, "/.");
}

int extras_check_path(const char *where, const char *path, struct err *e)
{
	if (!show_is_clean(path))
		return err_config(e, "%s: a control character in '%s'", where, path);
	if (is_clean(path))
		return 0;
	return err_config(e, "%s: '%s' is not an absolute path of a file", where, path);
}

int extras_decode(struct arena *a, const char *where, const char *text, const char **ret,
		  size_t *ret_n, struct err *e)
{
	const char *trimmed = str_trim(a, text);
	size_t n = 0;
	char *data;

	for (const char *p = trimmed; *p; p++)
		n += !strchr(" \t\r\n", *p);
	if (enc_unbase64(a, arena_printf(a, "%s%.*s", trimmed, (int)((4 - n % 4) % 4), "==="),
			 &data, ret_n, e) < 0)
		return err_config(e, "%s: no base64", where);
	*ret = data;
	return 0;
}
