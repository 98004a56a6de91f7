#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/pem.h"
#include "nodeup/documents/loader.h"
#include "nodeup/join/keys.h"

#define HOUR INT64_C(3600)

/* The life of a new certificate, up to LIFE_SPREAD longer. The life also begins in the past, for hosts whose clock
 * is behind. source: kops 1.37 upup/pkg/fi/nodeup/nodetasks/issue_cert.go, pkg/pki/csr.go */
#define LIFE (455 * 24 * HOUR)
#define PAST (48 * HOUR)
enum { LIFE_SPREAD_HOURS = 30 * 24 };

/* Go's hash/fnv New32, which is FNV-1. */
static uint32_t hash_of(const struct strv *texts)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < texts->n; i++)
		for (const char *c = texts->v[i]; *c; c++)
			hash = hash * 16777619U ^ (unsigned char)*c;
	return hash;
}

static int64_t life(const struct strv *addresses)
{
	return LIFE + hash_of(addresses) % LIFE_SPREAD_HOURS * HOUR;
}

/* Checks a pair. any_time: the clock is wrong, so dates are not checked. was_kept: the result of an earlier check
 * may be used. */
static int check(struct loader *l, const struct node_issue *want, const struct node_keypair *signer,
		 bool any_time, bool was_kept, struct node_keypair *pair, struct err *e)
{
	const struct pem_wanted wanted = { .key = pair->key,
					   .pool = signer->cert,
					   .name = want->subject,
					   .organization = want->organization,
					   .hosts = loader_list(l, &want->hosts),
					   .others = loader_list(l, &want->others),
					   .serves = want->serves,
					   .fresh = !any_time,
					   .time = any_time ? 0 : dur_wall() / DUR_SEC };
	struct pem_life life;
	int r;

	if (was_kept && loader_was_checked(l, want, &wanted,
					   loader_kept_issue(l, want->name, LOADER_CHECKED), pair))
		return 0;
	pair->cert = loader_first(l, pair->cert);
	r = pem_check_issued(pair->cert, &wanted, &life, e);
	if (r == 0)
		loader_note_check(l, want, &wanted, &life, pair);
	return r;
}

/* Returns the number of renewals, including this one. */
static const char *count_renewal(struct loader *l, const char *name)
{
	const char *kept = loader_kept_issue(l, name, LOADER_RENEWALS);
	const unsigned long n = kept ? strtoul(kept, NULL, 10) : 0;

	return arena_printf(l->arena, "%lu", n + 1);
}

/* The reason why a first certificate is made. */
static const char none[] = "there is none yet";

/* Finds the pair that an earlier run kept. If none is kept, takes the pair on the node, which a killed run or kops
 * left. */
static bool find_pair(struct loader *l, const struct node_issue *want,
		      const struct node_keypair *signer, bool any_time, struct node_keypair *ret,
		      const char **why)
{
	struct node_keypair pair = { .name = want->name,
				     .cert = loader_kept_issue(l, want->name, "crt"),
				     .key = loader_kept_issue(l, want->name, "key") };
	struct err e;

	*why = NULL;
	for (int tries = 0; tries < 2; tries++) {
		if (tries && loader_adopted_pair(l, want, &pair, &e) < 0)
			break;
		if (!pair.cert || !pair.key)
			continue;
		if (check(l, want, signer, any_time, tries == 0, &pair, &e) == 0) {
			pair.name = want->name;
			pair.renewals = loader_kept_issue(l, want->name, LOADER_RENEWALS);
			*ret = pair;
			return true;
		}
		if (!*why)
			*why = arena_str(l->arena, e.msg);
	}
	if (!*why)
		*why = none;
	return false;
}

static int issue(struct loader *l, const struct node_issue *want, const struct node_keypair *signer,
		 struct node_keypair *ret, struct err *e)
{
	const int64_t now = dur_wall() / DUR_SEC;
	struct pem_order order = { .signer = signer->cert,
				   .signer_key = signer->key,
				   .name = want->subject,
				   .organization = want->organization,
				   .hosts = loader_list(l, &want->hosts),
				   .serves = want->serves,
				   .from = now - PAST,
				   .until = now + life(&l->b->facts.addresses) };
	struct err ignored;
	const char *public;
	int r = join_keys_take(l->b->keys, l->arena, &ret->key, &public, e);

	order.key = ret->key;
	ret->until = order.until;
	if (r == 0)
		r = pem_issue(l->arena, &order, &ret->cert, e);
	if (r < 0)
		return err_wrap(e, "certificate %s", want->name);
	/* the result does not matter here: if the CA may not sign this certificate, the next run renews it */
	(void)!check(l, want, signer, false, false, ret, &ignored);
	return 0;
}

int loader_begin_issues(struct loader *l, const struct node_wants *w, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_issues && policy_may_change(l->policy); i++) {
		const struct node_issue *want = &w->issues[i];
		struct node_keypair there;
		struct err ignored;

		n += !loader_kept_issue(l, want->name, "key") &&
		     loader_adopted_pair(l, want, &there, &ignored) < 0;
	}
	return n ? loader_begin_keys(l, n, e) : 0;
}

static int issue_all(struct loader *l, const struct node_wants *w, struct node_keypair *pairs,
		     size_t n_new, struct err *e)
{
	int r = loader_begin_keys(l, n_new, e);

	if (r == 0)
		loader_foresee(l, w);
	for (size_t i = 0; i < w->n_issues && r == 0; i++)
		if (pairs[i].unmade) {
			r = issue(l, &w->issues[i], node_keypair(&l->b->node, w->issues[i].signer),
				  &pairs[i], e);
			pairs[i].unmade = false;
		}
	return r;
}

/* Warns of a renewal. Our units restart after it, and so do static pods, as their manifests hold the number of
 * renewals. */
static void warn_renewal(struct loader *l, const struct node_issue *want, const char *why)
{
	static const char stays[] = "has the one before until it starts again";
	const char *then = "";

	if (why == none)
		return;
	if (want->pod)
		then = arena_printf(l->arena, "; static pod %s %s", want->pod,
				    want->pod_stays ? stays : "starts again with it");
	strv_addf(l->arena, &l->b->warnings, "certificate %s %s: %s%s", want->name,
		  policy_may_change(l->policy) ? "is issued anew" : "would be issued anew", why,
		  then);
}

/* Finds a pair. If there is no pair, waits until the clock is right, because a new pair would not be valid before.
 * *why: the reason why no pair was found. */
static int find_in_time(struct loader *l, const struct node_issue *want,
			const struct node_keypair *signer, struct node_keypair *ret,
			const char **why, bool *ret_found, struct err *e)
{
	const struct loader_ca ca = { .name = signer->name, .certs = signer->cert };
	struct err off;
	const bool is_off = loader_check_clock(l, &ca, &off) < 0;

	if (is_off && off.kind != ERR_BUSY) {
		*e = off;
		return err_code(e);
	}
	*ret_found = find_pair(l, want, signer, is_off, ret, why);
	if (is_off && *ret_found)
		loader_warn_clock(l, &off);
	return !is_off || *ret_found || !policy_may_change(l->policy)
		       ? 0
		       : loader_await_clock(l, &ca, LOADER_CLOCK_PATIENCE_NS, e);
}

int loader_self_issue(struct loader *l, const struct node_wants *w, struct err *e)
{
	struct node_keypair *pairs = arena_alloc(l->arena, (w->n_issues + 1) * sizeof(*pairs));
	struct node_keypairs *all = &l->b->node.keypairs;
	size_t n_new = 0;
	int r = 0;

	for (size_t i = 0; i < w->n_issues; i++) {
		const struct node_issue *want = &w->issues[i];
		const struct node_keypair *signer = node_keypair(&l->b->node, want->signer);
		const char *why = none;
		bool found;

		pairs[i] = (struct node_keypair){
			.name = want->name, .cert = "", .key = "", .unmade = true
		};
		if (!signer)
			return err_config(e, "certificate %s: there is no keyset %s to sign it",
					  want->name, want->signer);
		r = find_in_time(l, want, signer, &pairs[i], &why, &found, e);
		if (r < 0)
			return r;
		if (!found) {
			n_new++;
			pairs[i].why = why;
			if (why != none)
				pairs[i].renewals = count_renewal(l, want->name);
			warn_renewal(l, want, why);
		}
		pairs[i].pod = want->pod_stays ? NULL : want->pod;
	}
	if (n_new && !policy_may_change(l->policy))
		l->b->no_keys = true;
	else if (n_new)
		r = issue_all(l, w, pairs, n_new, e);
	for (size_t i = 0; i < w->n_issues && r == 0; i++)
		if (pairs[i].unmade)
			arena_push(l->arena, all->v, all->n, pairs[i]);
		else
			loader_take_issue(l, &pairs[i]);
	l->b->renews = true;
	return r;
}
