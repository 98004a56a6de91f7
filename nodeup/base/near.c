#include "nodeup/base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 64, LETTERS_AN_EDIT = 3 };

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts edits between two words of at most WORD_MAX letters: restricted Damerau-Levenshtein. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t i = 0; i <= na; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			if (i == 0) {
				row[k] = k;
				continue;
			}
			row[k] = least(least(last[k], row[k - 1]) + 1,
				       last[k - 1] + !is_same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

size_t near_edits(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b);

	return na > WORD_MAX || nb > WORD_MAX ? SIZE_MAX : edits(a, na, b, nb);
}

const char *near_name(const char *word, const char *const *names, size_t n)
{
	const size_t len = strlen(word);
	size_t best = len / LETTERS_AN_EDIT + 1;
	const char *found = NULL;

	for (size_t i = 0; i < n && len <= WORD_MAX; i++) {
		const size_t other = strlen(names[i]);
		size_t now;

		/* if the lengths differ too much, the words need no table */
		if (other > WORD_MAX || (other > len ? other - len : len - other) >= best)
			continue;
		now = edits(word, len, names[i], other);
		if (now < best) {
			best = now;
			found = names[i];
		}
	}
	return found;
}
