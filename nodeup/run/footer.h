/* footer.h - lines that a terminal shows in place, below the log
 * Owner: the text is log.h's; a footer is a value. Errors: none. Units: columns, rows. Threads: all functions.
 * Source: terminals as ECMA-48; no-color.org.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/buf.h"

struct footer {
	bool redraws; /* stderr is a terminal that can redraw */
	bool colours;
	size_t columns, rows; /* from the last footer_measure() */
};

/* Returns whether colours may go to fd: a terminal that shows them, and NO_COLOR is not set. */
bool footer_has_colours(int fd);
/* Looks at stderr, TERM and NO_COLOR. */
struct footer footer_look(void);
/* Measures the terminal, whose size may have changed. */
void footer_measure(struct footer *f);
/* Adds a line, cut to the terminal's columns: a name in a column of its own, then a text. */
void footer_add(struct buf *b, const struct footer *f, const char *name, size_t names,
		const char *text, bool waiting);
