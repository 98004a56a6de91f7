#include "nodeup/run/causes.h"

#include <string.h>
#include "nodeup/base/io.h"

/* names listed for a cause; the others are counted */
enum { NAMES_MAX = 4 };

/* Returns whether the kernel reported trouble of the whole machine. One of our own errors may have the kernel's
 * number, but not its text. */
static bool is_of_the_machine(const struct err *e)
{
	static const int those[] = { EROFS, EIO, EACCES, EPERM, ENOMEM, EMFILE, ENFILE };

	for (size_t i = 0; i < ARRAY_LEN(those); i++)
		if (those[i] == e->errnum)
			return str_has_suffix(e->msg, strerror(e->errnum));
	return io_is_full(e->errnum);
}

bool causes_may_fail(const struct run_outcome *o)
{
	return o->task->optional || o->diff.spare;
}

const char *causes_name(const struct err *e)
{
	if (*e->cause)
		return e->cause;
	return e->kind == ERR_SYSTEM && is_of_the_machine(e) ? strerror(e->errnum) : e->msg;
}

static bool is_same(const struct err *a, const struct err *b)
{
	/* a call that makes a name cannot tell which file system is full */
	if (io_is_full(a->errnum) && a->errnum == b->errnum && (!*a->cause || !*b->cause))
		return true;
	return a->kind == b->kind && str_eq(causes_name(a), causes_name(b));
}

static bool is_hit(const struct run_outcome *o)
{
	return o->state == RUN_FAILED && !o->because;
}

const struct run_outcome *causes_first(const struct run_report *rep, const struct run_outcome *o)
{
	const struct run_outcome *first = o;

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *other = &rep->outcomes[i];

		if (is_hit(other) && other->end_ns < first->end_ns &&
		    is_same(other->error, o->error))
			first = other;
	}
	return first;
}

static void add_hit(struct arena *a, struct causes *all, const struct run_outcome *o)
{
	const struct err_room *room = &o->error->room;
	struct cause *c = NULL;

	for (size_t i = 0; i < all->n && !c; i++)
		if (is_same(all->v[i].first->error, o->error))
			c = &all->v[i];
	if (!c) {
		arena_push(a, all->v, all->n, (struct cause){ .first = o });
		c = &all->v[all->n - 1];
	}
	arena_push(a, c->hit, c->n_hit, o);
	if (o->end_ns < c->first->end_ns)
		c->first = o;
	if (!c->name || !*c->name || *o->error->cause)
		c->name = causes_name(o->error);
	c->room.wanted += room->wanted;
	if (room->size) {
		c->room.size = room->size;
		c->room.free = room->free;
	}
}

static void add_held(struct arena *a, struct causes *all, const struct run_outcome *o)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->v[i].n_hit; k++)
			if (all->v[i].hit[k]->task == o->because) {
				arena_push(a, all->v[i].held, all->v[i].n_held, o);
				return;
			}
}

static bool fails_the_run(const struct cause *c)
{
	for (size_t i = 0; i < c->n_hit; i++)
		if (!causes_may_fail(c->hit[i]))
			return true;
	for (size_t i = 0; i < c->n_held; i++)
		if (!causes_may_fail(c->held[i]))
			return true;
	return false;
}

static bool has_hit(const struct cause *c, const struct run_outcome *o)
{
	const struct task *t = o->because ? o->because : o->task;

	for (size_t i = 0; i < c->n_hit; i++)
		if (c->hit[i]->task == t)
			return true;
	return false;
}

struct causes causes_find(struct arena *a, const struct run_report *rep)
{
	struct causes all = { 0 }, told = { 0 };

	for (size_t i = 0; i < rep->n; i++)
		if (is_hit(&rep->outcomes[i]))
			add_hit(a, &all, &rep->outcomes[i]);
	for (size_t i = 0; i < rep->n; i++)
		if (rep->outcomes[i].because)
			add_held(a, &all, &rep->outcomes[i]);
	for (size_t i = 0; i < all.n; i++) {
		if (!fails_the_run(&all.v[i]))
			continue;
		arena_push(a, told.v, told.n, all.v[i]);
		if (rep->first_failed < rep->n &&
		    has_hit(&all.v[i], &rep->outcomes[rep->first_failed])) {
			const struct cause first = told.v[told.n - 1];

			memmove(told.v + 1, told.v, (told.n - 1) * sizeof(*told.v));
			told.v[0] = first;
		}
	}
	return told;
}

/* Returns "file /etc/a, file /etc/b, and 3 more". */
static char *task_names(struct arena *a, const struct run_outcome *const *outcomes, size_t n)
{
	struct strv all = { 0 }, some;

	for (size_t i = 0; i < n; i++)
		strv_add(a, &all, task_title(a, outcomes[i]->task));
	some = strv_abridge(a, &all, NAMES_MAX);
	return strv_join(a, &some, ", ");
}

/* Words a cause that many tasks met: what it is, for a full disk how much is missing in all, and how many tasks it
 * hit. */
static char *headline(struct arena *a, const struct cause *c)
{
	const struct err_room *room = &c->room;
	char missing[STR_SIZE_MAX], left[STR_SIZE_MAX], size[STR_SIZE_MAX];
	char *text = arena_str(a, c->name);

	/* tasks that were not tried need room too, so this is the least */
	if (room->wanted > room->free)
		text = arena_printf(a, "%s: at least %s are missing", text,
				    str_size(missing, room->wanted - room->free));
	if (room->size)
		text = arena_printf(a, "%s%s %s of %s are free", text,
				    room->wanted > room->free ? "," : ":",
				    str_size(left, room->free), str_size(size, room->size));
	text = arena_printf(a, "%s: %zu tasks failed", text, c->n_hit);
	return c->n_held ? arena_printf(a, "%s, %zu more for want of them", text, c->n_held) : text;
}

/* Cuts a long message at its beginning, as the cause is at its end. */
static void note_first(struct err *e, const char *title, const char *msg)
{
	const size_t taken = strlen(title) + sizeof(": ..."), room = ERR_NOTE_MAX;
	const size_t left = taken < room ? room - taken : 0, len = strlen(msg);

	if (taken + len <= room)
		err_note(e, "first", "%s: %s", title, msg);
	else
		err_note(e, "first", "%s: ...%s", title, msg + (len > left ? len - left : 0));
}

/* Words the first task's error in full, the names of all tasks, and the error's other notes. */
static void tell_many(struct arena *a, const struct cause *c, struct err *e)
{
	const struct err was = *e;

	(void)err_fail(e, was.kind, was.errnum, "%s", headline(a, c));
	e->lasts = was.lasts;
	err_cause(e, "%s", c->name);
	err_note(e, "failed", "%s", task_names(a, c->hit, c->n_hit));
	note_first(e, task_title(a, c->first->task), c->first->error->msg);
	for (size_t i = 0; i < was.nnotes; i++)
		if (str_eq(was.notes[i].label, "do"))
			err_note(e, "do", "%s", was.notes[i].text);
}

/* Advises how to find and mend what the kernel refused; NULL: the kernel refused nothing, or the error has its own
 * advice. */
static const char *advice(struct arena *a, const struct run_outcome *o)
{
	static const struct {
		int errnum;
		const char *before, *after;
	} rows[] = {
		{ EPERM, "chattr -i what lsattr -d", "shows to be immutable" },
		{ EROFS, "mount -o remount,rw what df", "names, as dmesg says why" },
		{ ENOSPC, "free what df -h and df -i", "show to be used up" },
	};
	const struct err *e = o->error;

	if (err_todo(e))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].errnum == e->errnum && task_path(o->task) && is_of_the_machine(e))
			return arena_printf(a, "%s %s %s, then nodeup repair", rows[i].before,
					    task_path(o->task), rows[i].after);
	return NULL;
}

int causes_tell(const struct run_report *rep, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct run_outcome *first = &rep->outcomes[rep->first_failed];
	const char *todo = advice(a, first);
	const struct causes causes = causes_find(a, rep);

	if (causes.v[0].n_hit > 1)
		tell_many(a, &causes.v[0], e);
	else
		(void)err_wrap(e, "%s", task_title(a, first->task));
	if (todo)
		err_note(e, "do", "%s", todo);
	if (causes.v[0].n_held)
		err_note(e, "held", "%s", task_names(a, causes.v[0].held, causes.v[0].n_held));
	for (size_t i = 1; i < causes.n; i++) {
		const struct cause *c = &causes.v[i];

		if (i + 1 < causes.n && e->nnotes == ERR_NOTES - 1)
			err_note(e, "also", "%zu more causes, see above", causes.n - i);
		else if (c->n_hit > 1)
			err_note(e, "also", "%s: %s", headline(a, c),
				 task_names(a, c->hit, c->n_hit));
		else
			err_note(e, "also", "%s: %s", task_title(a, c->first->task),
				 c->first->error->msg);
	}
	return err_code(e);
}
