/* footer.h - lines that a terminal shows in place, below the log
 * Owner: the text is log.h's; a footer is a value. Errors: none. Units: columns, rows. Threads: all functions.
 * Source: terminals as ECMA-48; no-color.org.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/buf.h"

struct footer {
	bool redraws; /* stderr is a terminal that can do it */
	bool colours;
	size_t columns, rows; /* of the last footer_measure() */
};

/* Returns whether colours may go there: it is a terminal that can show them, and NO_COLOR is not set. */
bool footer_has_colours(int fd);
/* Looks at stderr, TERM and NO_COLOR. */
struct footer footer_look(void);
/* Ask how large the terminal is: it may have changed. */
void footer_measure(struct footer *f);
/* Add a line, cut to the columns that there are: a name of so many columns, then a text. */
void footer_add(struct buf *b, const struct footer *f, const char *name, size_t names,
		const char *text, bool waiting);
