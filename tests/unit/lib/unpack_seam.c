/* A test that unpacks is started by itself as the unpacking child, as the program is: see nodeup/main.c.
 * The tests are linked with --wrap=main. */
#include <signal.h>
#include "assets/unpack/child.h"

/* The sanitizer asks it: without memory the child is to go on, as malloc's other callers do. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
	extract_child(argv);
	(void)signal(SIGPIPE, SIG_IGN);
	return __real_main(argc, argv);
}
