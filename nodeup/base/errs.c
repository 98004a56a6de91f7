#include "nodeup/base/errs.h"

static bool is_known(const struct errs *l, const struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		/* e->msg may be the kept message without the place at its beginning */
		if (str_has_suffix(l->v[i].msg, e->msg))
			return true;
	return false;
}

int errs_keep(struct errs *l, int r, const struct err *e)
{
	if (!l || r >= 0 || e->kind != ERR_CONFIG)
		return r;
	if (is_known(l, e))
		return 0;
	if (l->n == ERRS_MAX)
		l->more++;
	else
		arena_push(l->arena, l->v, l->n, *e);
	return 0;
}

int errs_keep_apart(struct errs *l, int r, const struct err *e)
{
	const size_t before = l ? errs_count(l) : 0;
	const int kept = errs_keep(l, r, e);

	if (l)
		l->apart += errs_count(l) - before;
	return kept;
}

int errs_keep_vital(struct errs *l, int r, const struct err *e)
{
	const int kept = errs_keep(l, r, e);

	if (l && r < 0 && kept == 0)
		l->is_vital = true;
	return kept;
}

void errs_keep_any(struct errs *l, const struct err *e)
{
	struct err any = *e;

	any.kind = ERR_CONFIG;
	(void)!errs_keep(l, err_code(e), &any);
}

bool errs_any(const struct errs *l)
{
	return l && errs_count(l) > l->apart;
}

bool errs_any_vital(const struct errs *l)
{
	return l && l->is_vital;
}

size_t errs_count(const struct errs *l)
{
	return l->n + l->more + l->lines.n;
}

/* Keeps room for one later note. It tells which services were started in spite of the error, or which root the error
 * is about. */
enum { NOTES_LEFT = 1 };

static void drop_also(struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->nnotes; i++)
		if (!str_eq(e->notes[i].label, "also"))
			e->notes[kept++] = e->notes[i];
	e->nnotes = kept;
}

void errs_note_others(const struct errs *l, struct err *e)
{
	struct strv listed = { 0 }, others = { 0 };
	size_t all, room, noted;

	for (size_t i = 0; i < l->n; i++)
		strv_add(l->arena, &listed, l->v[i].msg);
	strv_add_all(l->arena, &listed, &l->lines);
	for (size_t i = 0; i < listed.n; i++)
		/* the caller may have put context in front of the message */
		if (!str_has_suffix(e->msg, listed.v[i]))
			strv_add(l->arena, &others, listed.v[i]);
	if (others.n < listed.n)
		drop_also(e); /* the errors of the earlier notes "also" are noted anew below */
	all = others.n + l->more;
	if (!all)
		return;
	room = e->nnotes < ERR_NOTES - NOTES_LEFT ? ERR_NOTES - NOTES_LEFT - e->nnotes : 1;
	noted = all <= room ? others.n : room - 1;
	for (size_t i = 0; i < noted; i++)
		err_note(e, "also", "%s", others.v[i]);
	if (noted < all)
		err_note(e, "also", "%zu more errors: nodeup validate", all - noted);
	err_add(e, "and %zu more error%s", all, all == 1 ? "" : "s");
}
