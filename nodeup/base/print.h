/* print.h - formatted text, as printf(3) makes it, in which no text is "(null)"
 * A text that is not there is printed as "(none)": a message that names one is still a message. All that
 * is formatted goes through here; only print.c calls the library's own functions.
 * Invariant: what a format may have is what attribute printf checks, without %n, %m and wide characters;
 * where texts are numbered, "%2$s", all are texts.
 * Owner: the caller's storage. Errors: none. Units: bytes. Threads: all functions. Source: printf(3).
 * Tests: test_print.c. */
#pragma once

#include "nodeup/base/err.h"

/* As snprintf: at most `size` bytes with the NUL; returns how many the whole text has. */
size_t print_to(char *out, size_t size, const char *fmt, ...) printf_like(3, 4);
/* The same of arguments that were taken already. */
size_t print_va(char *out, size_t size, const char *fmt, va_list ap) printf_like(3, 0);
