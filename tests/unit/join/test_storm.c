/* Five thousand nodes begin together, and the one controller that they have is slow and away for a minute.
 * The clock is a number. What the nodes do is the product's own code; the controller takes fifty requests a second in the order in
 * which they came, does not see one whose node has gone away (its TLS was never spoken), and fails some with 503. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/join/turns.h"

enum { NODES = 5000, RATE = 50, QUEUE_MAX = 4096, QUESTIONS = 2 };

#define STEP (DUR_SEC / RATE)
#define GIVES_UP (15 * DUR_SEC)

struct node {
	struct join_turns turns;
	int64_t next;   /* asks then */
	int64_t queued; /* since then; -1: not */
	int answers, tries;
};

struct storm {
	struct node nodes[NODES];
	int queue[NODES], head, n;
	long tries, served;
	int joined, most_tries;
};

static double chance(void)
{
	return (double)rand() / RAND_MAX;
}

static void fail_one(struct node *node, int64_t now)
{
	node->queued = -1;
	node->next = now + join_turns_next(&node->turns, chance(), 0);
	/* one server: a round is one try, and its pause may be short, but time goes on */
	if (node->next <= now)
		node->next = now + 1;
}

static void ask(struct storm *s, int i, int64_t now, bool away)
{
	struct node *node = &s->nodes[i];

	s->tries++;
	if (++node->tries > s->most_tries)
		s->most_tries = node->tries;
	if (away || s->n == QUEUE_MAX) {
		fail_one(node, now);
		return;
	}
	node->queued = now;
	s->queue[(s->head + s->n++) % NODES] = i;
}

/* The next that is still there. */
static void serve(struct storm *s, int64_t now)
{
	while (s->n) {
		struct node *node = &s->nodes[s->queue[s->head]];

		s->head = (s->head + 1) % NODES;
		s->n--;
		if (node->queued < 0)
			continue;
		s->served++;
		if (rand() % 100 < 3) {
			fail_one(node, now);
			return;
		}
		node->queued = -1;
		join_turns_answered(&node->turns);
		node->next = ++node->answers < QUESTIONS ? now : INT64_MAX;
		s->joined += node->answers == QUESTIONS;
		return;
	}
}

static void all_of_them_join_with_few_requests(void **state)
{
	static struct storm s;
	int64_t now;

	(void)state;
	srand(7);
	for (int i = 0; i < NODES; i++)
		s.nodes[i] = (struct node){ .turns = { .n = 1 }, .queued = -1 };
	for (now = 0; s.joined < NODES && now < 3600 * DUR_SEC; now += STEP) {
		const bool away = now >= 20 * DUR_SEC && now < 80 * DUR_SEC;

		for (int i = 0; i < NODES; i++) {
			struct node *node = &s.nodes[i];

			if (node->queued >= 0 && (away || now - node->queued >= GIVES_UP)) {
				/* its place in the queue is passed over */
				fail_one(node, now);
			} else if (node->queued < 0 && node->next <= now) {
				ask(&s, i, now, away);
			}
		}
		if (away)
			s.n = 0;
		else
			serve(&s, now);
	}
	print_message(
		"%d nodes joined in %lld s, %ld requests served (ideal %d), %ld connections begun, at most %d of one node\n",
		s.joined, (long long)(now / DUR_SEC), s.served, NODES * QUESTIONS, s.tries,
		s.most_tries);
	assert_int_equal(s.joined, NODES);
	assert_true(s.served * 10 <= (long)NODES * QUESTIONS * 12);
	/* nor do they knock without an end while no answer comes */
	assert_true(s.tries <= (long)NODES * 25);
	assert_true(now < 2 * (60 + (int64_t)NODES * QUESTIONS / RATE) * DUR_SEC);
}

static void servers_are_asked_in_turn_before_a_pause(void **state)
{
	struct join_turns t = { .n = 3 };

	(void)state;
	assert_int_equal(join_turns_next(&t, 1, 0), 0);
	assert_int_equal(t.at, 1);
	assert_int_equal(join_turns_next(&t, 1, 0), 0);
	assert_int_equal(t.at, 2);
	assert_int_equal(join_turns_next(&t, 1, 0), DUR_SEC);
	assert_int_equal(t.at, 0);
	(void)join_turns_next(&t, 1, 0);
	join_turns_answered(&t);
	assert_int_equal(t.at, 1);
}

static void a_pause_doubles_to_thirty_seconds(void **state)
{
	static const int want[] = { 1, 2, 4, 8, 16, 30, 30 };
	struct join_turns t = { .n = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(join_turns_next(&t, 1, 0), want[i] * DUR_SEC);
	assert_int_equal(join_turns_next(&t, 0.5, 0), 15 * DUR_SEC);
	assert_int_equal(join_turns_next(&t, 0, 0), 0);
	assert_int_equal(join_turns_next(&t, 0, 7 * DUR_SEC), 7 * DUR_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_are_asked_in_turn_before_a_pause),
		cmocka_unit_test(a_pause_doubles_to_thirty_seconds),
		cmocka_unit_test(all_of_them_join_with_few_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
