#include "nodeup/join/turns.h"

#include "nodeup/base/dur.h"

static const int64_t first_ns = DUR_SEC, most_ns = 30 * DUR_SEC;

void join_turns_answered(struct join_turns *t)
{
	t->asked = t->round = 0;
}

int64_t join_turns_next(struct join_turns *t, double chance, int64_t wanted_ns)
{
	int64_t most = first_ns, pause;

	t->at = (t->at + 1) % t->n;
	t->asked++;
	if (t->asked < t->n)
		return 0;
	t->asked = 0;
	for (unsigned int i = 0; i < t->round && most < most_ns; i++)
		most *= 2;
	if (most > most_ns)
		most = most_ns;
	t->round++;
	pause = (int64_t)((double)most * chance);
	return pause > wanted_ns ? pause : wanted_ns;
}
