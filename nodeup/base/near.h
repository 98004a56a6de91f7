/* near.h - which of the known names a misspelt one was meant to be
 * Owner: none. Errors: none. Threads: all functions.
 * Tests: test_str.c. */
#pragma once

#include <stddef.h>

/* Counts the edits that lead from one word to the other; SIZE_MAX if one has more than 64 letters. */
size_t near_edits(const char *a, const char *b);
/* The name that takes the fewest edits (a letter more, less, another, or two exchanged; case does not
 * count), if that is at most one for each three letters; else NULL. */
const char *near_name(const char *word, const char *const *names, size_t n);
