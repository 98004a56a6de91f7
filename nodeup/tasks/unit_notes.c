#include "nodeup/tasks/unit_notes.h"

#include <sys/wait.h>
#include "units/journal.h"

enum { JOURNAL_LINES = 5 };

void unit_notes(const char *name, const struct bus_unit *u, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv lines = { 0 };
	struct err ignored;

	err_note(e, "got", "%s (%s), result %s, %s %d, restarts %u", u->active_state, u->sub_state,
		 *u->result ? u->result : "none",
		 u->exec_code == CLD_EXITED ? "exit status" : "signal", u->exec_status,
		 u->n_restarts);
	if (journal_tail(a, name, JOURNAL_LINES, 0, &lines, &ignored) == 0)
		for (size_t i = 0; i < lines.n; i++)
			err_note(e, "journal", "%s", lines.v[i]);
}
