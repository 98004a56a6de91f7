/* What an earlier run found of a certificate: it will do for the same pair and the same wants, as long as the dates hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "nodeup/documents/loader.h"

enum { FROM = 1000, UNTIL = 10000, NOW = 2000 };

struct world {
	struct arena *arena;
	struct policy policy;
	struct loader loader;
	struct node_issue want;
	struct pem_wanted wanted;
	struct node_keypair pair;
	const char *kept;
};

static struct world *new_world(void)
{
	static const struct pem_life life = { FROM, UNTIL, FROM, UNTIL };
	struct arena *a = arena_new_empty();
	struct world *w = arena_new(a, struct world);

	w->arena = a;
	w->loader = (struct loader){ .arena = a, .policy = &w->policy };
	w->want = (struct node_issue){ .name = "kubelet", .signer_id = "7", .subject = "i-0" };
	strv_add(a, &w->want.hosts, "i-0");
	w->wanted = (struct pem_wanted){ .pool = "a CA", .time = NOW };
	w->pair = (struct node_keypair){ .cert = "a certificate", .key = "a key" };
	loader_note_check(&w->loader, &w->want, &w->wanted, &life, &w->pair);
	w->kept = w->pair.checked;
	w->pair.until = 0;
	return w;
}

static bool was_checked(struct world *w)
{
	return loader_was_checked(&w->loader, &w->want, &w->wanted, w->kept, &w->pair);
}

static void the_same_pair_is_known(void **state)
{
	struct world *w = new_world();
	(void)state;
	w->pair.checked = NULL;
	assert_true(was_checked(w));
	assert_int_equal(w->pair.until, UNTIL);
	assert_string_equal(w->pair.checked, w->kept);
	/* a clock that is off says nothing of it */
	w->wanted.time = 0;
	assert_true(was_checked(w));
	arena_free(w->arena);
}

static void of_cert(struct world *w)
{
	w->pair.cert = "another";
}

static void of_key(struct world *w)
{
	w->pair.key = "another";
}

static void of_pool(struct world *w)
{
	w->wanted.pool = "another";
}

static void of_id(struct world *w)
{
	w->want.signer_id = NULL;
}

static void of_subject(struct world *w)
{
	w->want.subject = "i-1";
}

static void of_organization(struct world *w)
{
	w->want.organization = "";
}

static void of_usage(struct world *w)
{
	w->want.serves = true;
}

static void of_hosts(struct world *w)
{
	strv_add(w->arena, &w->want.hosts, "i-1");
}

static void of_kind_of_host(struct world *w)
{
	w->want.others = w->want.hosts;
	w->want.hosts = (struct strv){ 0 };
}

static void of_end(struct world *w)
{
	w->wanted.time = UNTIL;
}

static void of_beginning(struct world *w)
{
	w->wanted.time = FROM - 1;
}

static void of_age(struct world *w)
{
	w->wanted.time = UNTIL - 10;
	w->wanted.fresh = true;
}

static void of_name(struct world *w)
{
	w->want.name = "kube-proxy";
}

static void of_trust(struct world *w)
{
	w->policy.verify = true;
}

static void of_damage(struct world *w)
{
	w->kept = "0f3a 1000 10000 1000";
}

static void anything_else_is_checked_again(void **state)
{
	static void (*const changes[])(struct world *
				       w) = { of_cert,    of_key,          of_pool,  of_id,
					      of_subject, of_organization, of_usage, of_hosts,
					      of_end,     of_kind_of_host, of_age,   of_beginning,
					      of_name,    of_trust,        of_damage };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct world *w = new_world();

		assert_true(was_checked(w));
		changes[i](w);
		if (was_checked(w))
			fail_msg("change %zu is not seen", i);
		arena_free(w->arena);
	}
}

static void without_its_dates_nothing_is_noted(void **state)
{
	static const struct pem_life life = { FROM, UNTIL, FROM, UNTIL };
	struct world *w = new_world();

	(void)state;
	w->wanted.time = 0;
	loader_note_check(&w->loader, &w->want, &w->wanted, &life, &w->pair);
	assert_null(w->pair.checked);
	assert_int_equal(w->pair.until, UNTIL);
	arena_free(w->arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_pair_is_known),
		cmocka_unit_test(anything_else_is_checked_again),
		cmocka_unit_test(without_its_dates_nothing_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
