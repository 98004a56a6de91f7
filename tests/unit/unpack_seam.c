/* A test that unpacks is started by itself as the unpacking child, as the program is: see nodeup/main.c.
 * The tests are linked with --wrap=main. */
#include <signal.h>
#include "assets/extract_child.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
	extract_child(argv);
	(void)signal(SIGPIPE, SIG_IGN);
	return __real_main(argc, argv);
}
