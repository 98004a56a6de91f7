#include "nodeup/run/footer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "nodeup/base/str.h"

enum { COLUMNS = 80, ROWS = 24 };

static bool understands(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && !str_is_empty(term) && !str_eq(term, "dumb");
}

bool footer_has_colours(int fd)
{
	return understands(fd) && str_is_empty(getenv("NO_COLOR"));
}

struct footer footer_look(void)
{
	return (struct footer){
		.redraws = understands(STDERR_FILENO),
		.colours = footer_has_colours(STDERR_FILENO),
		.columns = COLUMNS,
		.rows = ROWS,
	};
}

void footer_measure(struct footer *f)
{
	struct winsize size = { 0 };

	(void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	f->columns = size.ws_col < 2 ? COLUMNS : size.ws_col;
	f->rows = size.ws_row < 4 ? ROWS : size.ws_row;
}

/* Characters other than ASCII have an unknown width. The last column stays free. */
void footer_add(struct buf *b, const struct footer *f, const char *name, size_t names,
		const char *text, bool waiting)
{
	autoarena struct arena *a = arena_new_empty();
	char *line = arena_printf(a, "%-*.*s  %s", (int)names, (int)names, name, text);
	size_t n = strlen(line), bold;

	for (size_t i = 0; i < n; i++)
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	if (n > f->columns - 1)
		line[n = f->columns - 1] = '\0';
	bold = names < n ? names : n;
	if (f->colours)
		(void)buf_addf(b, "\033[1m%.*s\033[0m%s%s%s\n", (int)bold, line,
			       waiting ? "\033[33m" : "", line + bold, waiting ? "\033[0m" : "");
	else
		(void)buf_addf(b, "%s\n", line);
}
