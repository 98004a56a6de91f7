/* print.h - formatted text like printf(3)'s, in which a missing text is never "(null)"
 * A NULL text is printed as "(none)", so that the message is still readable. All formatting goes through here; only
 * print.c calls the library's own functions.
 * Invariant: a format may hold what the attribute `printf` checks, without %n, %m and wide characters. If arguments
 * are numbered ("%2$s"), all of them are texts.
 * Owner: the caller's storage. Errors: none. Units: bytes. Threads: all functions. Source: printf(3).
 * Tests: test_print.c. */
#pragma once

#include "nodeup/base/err.h"

/* As snprintf: writes at most `size` bytes with the NUL; returns the bytes of the whole text. */
size_t print_to(char *out, size_t size, const char *fmt, ...) printf_like(3, 4);
/* Like print_to, with a va_list. */
size_t print_va(char *out, size_t size, const char *fmt, va_list ap) printf_like(3, 0);
/* Like print_va. A text that is too long ends behind a whole word, with "...": nobody knows the half of a secret for
 * one. */
void print_words(char *out, size_t size, const char *fmt, va_list ap) printf_like(3, 0);
