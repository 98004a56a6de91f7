/* near.h - finds the known name that a misspelt one was probably meant to be
 * Owner: none. Errors: none. Threads: all functions.
 * Tests: test_str.c. */
#pragma once

#include <stddef.h>

/* Counts the edits that lead from one word to the other; SIZE_MAX if one has more than 64 letters. */
size_t near_edits(const char *a, const char *b);
/* Returns the name with the fewest edits; NULL if even that name needs more than one edit for each three letters. An
 * edit adds, drops or changes a letter, or exchanges two neighbours; case does not count. */
const char *near_name(const char *word, const char *const *names, size_t n);
