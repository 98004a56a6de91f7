#include "nodeup/master.h"

#include <ctype.h>
#include <string.h>

bool master_has_volumes(const struct node *n)
{
	return n->is_master && str_is_empty(n->protokube.name);
}

static bool is_volume_id(const char *s)
{
	size_t n = strlen("vol-");

	if (!str_has_prefix(s, "vol-") || !s[n])
		return false;
	for (; s[n]; n++)
		if (!isxdigit((unsigned char)s[n]))
			return false;
	return true;
}

int master_given_volumes(struct arena *a, const struct facts *f, struct plan_req *ret,
			 struct err *e)
{
	struct plan_etcd *all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < f->etcd_volumes.n; i++) {
		const struct strmap_item *item = &f->etcd_volumes.v[i];
		const char *space = strchrnul(item->value, ' ');
		struct plan_etcd mine = { .cluster = item->key };
		int r;

		mine.volume_id = arena_strn(a, item->value, (size_t)(space - item->value));
		if (!is_volume_id(mine.volume_id))
			return err_config(e, "fact etcdVolumes.%s: '%s' is no id of a volume",
					  item->key, mine.volume_id);
		r = volume_member_parse(a, *space ? space + 1 : space, &mine.member, e);
		if (r < 0)
			return err_wrap(e, "fact etcdVolumes.%s", item->key);
		arena_push(a, all, n, mine);
	}
	ret->etcd = all;
	ret->n_etcd = n;
	return 0;
}
