/* ending_probe - a program under way while a signal ends the process that runs it
 *
 *   ending_probe let|end PROGRAM ARG...
 *
 * "let": the program must come to its end. Says "asked SIGNAL[, waits for PROGRAM]" and "ends SIGNAL". */
#include <stdio.h>
#include <string.h>
#include "nodeup/base/ending.h"
#include "nodeup/base/proc.h"

static void on_ending(void *arg, const struct ending_event *ev)
{
	(void)arg;
	(void)printf("%s %s%s%s\n", ev->last ? "ends" : "asked", ending_signal_name(ev->sig),
		     ev->child ? ", waits for " : "", ev->child ? ev->child : "");
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc < 3)
		return 64;
	ending_begin(on_ending, NULL);
	const struct proc_req req = {
		.argv = (const char *const *)argv + 2,
		.stdin_fd = -1,
		.let_end = strcmp(argv[1], "let") == 0,
	};
	if (proc_run(&req, NULL, &e) < 0)
		(void)printf("%s\n", e.msg);
	return 0;
}
