#include "nodeup/cmd/identity.h"

#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/kept.h"
#include "nodeup/run/history.h"

enum { ID_MAX = 256 };

int identity_renew(const struct session *s, struct err *e)
{
	autobuf struct buf before = BUF_INIT(ID_MAX);
	const char *id = s->boot.facts.instance_id;
	bool there;
	int r = 0;

	/* without metadata nothing says that it is another one */
	if (!id)
		return 0;
	there = record_read(s->root_fd, OWN_IDENTITY, &before);
	if (there && str_eq(buf_str(&before), id))
		return 0;
	if (there && before.len && !str_eq(str_trim(s->arena, buf_str(&before)), id)) {
		log_notice(
			"this is instance %s, made of an image of %s: the documents, volumes and "
			"runs that are kept of that one are not used",
			id, str_trim(s->arena, buf_str(&before)));
		r = history_forget(s->root_fd, e);
		if (r == 0)
			r = kept_forget(s->root_fd, e);
	}
	return r < 0 ? r : record_keep(s->root_fd, OWN_IDENTITY, 0644, id, e);
}
