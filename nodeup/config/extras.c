#include "nodeup/config/extras.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/show.h"

enum { UNIT_NAME_MAX = 200 };

const char *extras_key(const struct extras_item *it, const char *key)
{
	return arena_printf(it->arena, "%s.%s", it->where, key);
}

static int check_unit(const struct extras_item *it, const char *key, const char *name,
		      struct err *e)
{
	if (*name && *name != '.' && str_has_only(name, ":_.@\\-") && strlen(name) < UNIT_NAME_MAX)
		return 0;
	return err_config(e, "%s: '%s' is not the name of a unit", extras_key(it, key), name);
}

int extras_check_units(const struct extras_item *it, const char *name, const struct strv *requires,
		       const struct strv *before, struct err *e)
{
	int r = str_is_empty(name) ? 0 : check_unit(it, "name", name, e);

	for (size_t i = 0; i < requires->n && r == 0; i++)
		r = check_unit(it, "requires", requires->v[i], e);
	for (size_t i = 0; i < before->n && r == 0; i++)
		r = check_unit(it, "before", before->v[i], e);
	return r;
}

void extras_add_hook(const struct extras_item *it, struct node_hook *hook, struct node *n)
{
	hook->pos = it->pos;
	strmap_sort(&hook->environment);
	if (map_put(it->arena, it->seen, hook->name, (void *)it->where) == it->where)
		arena_push(it->arena, n->hooks.v, n->hooks.n, *hook);
}

void extras_add_file(const struct extras_item *it, const struct node_file *f, struct node *n)
{
	if (map_put(it->arena, it->seen, f->path, (void *)it->where) == it->where)
		arena_push(it->arena, n->files.v, n->files.n, *f);
}

int extras_path(const struct extras_item *it, const char *path, const char *name, const char *dir,
		const char **ret, struct err *e)
{
	if (str_is_empty(path) && str_is_empty(name))
		return err_config(e, "%s: neither path nor name", it->where);
	*ret = str_is_empty(path) ? arena_printf(it->arena, "%s/%s", dir, name) : path;
	if (!show_is_clean(*ret))
		return err_config(e, "%s: a control character in '%s'", it->where, *ret);
	if (str_is_path(*ret) && !str_has_suffix(*ret, "/"))
		return 0;
	return err_config(e, "%s: '%s' is not an absolute path of a file", it->where, *ret);
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
