#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "assets/digest.h"
#include "nodeup/documents/loader.h"

/* begins the digest, so that each version of nodeup gets its own digest */
static const char by[] = "check 1 of nodeup " NODEUP_VERSION;

/* Adds a text to the digest. Distinguishes NULL from an empty text, and marks each text's end. */
static void take(struct digest_ctx *c, const char *text)
{
	digest_update(c, text ? "+" : "-", 1);
	if (text)
		digest_update(c, text, strlen(text) + 1);
}

static void take_all(struct digest_ctx *c, const struct strv *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		take(c, texts->v[i]);
	take(c, NULL);
}

/* Returns a digest of everything that decides the check, except the time. */
static const char *digest_of_check(const struct node_issue *want, const struct pem_wanted *w,
				   const struct node_keypair *pair,
				   char hex[static DIGEST_TEXT_MAX])
{
	const char *const texts[] = { by,
				      pair->cert,
				      pair->key,
				      w->pool,
				      want->name,
				      want->signer_id,
				      want->subject,
				      want->organization,
				      want->serves ? "server" : "client" };
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	struct digest d;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		take(c, texts[i]);
	take_all(c, &want->hosts);
	take_all(c, &want->others);
	digest_final(c, &d);
	return digest_hex(&d, hex);
}

bool loader_was_checked(const struct loader *l, const struct node_issue *want,
			const struct pem_wanted *w, const char *kept, struct node_keypair *pair)
{
	char hex[DIGEST_TEXT_MAX], now[DIGEST_TEXT_MAX];
	struct pem_life life;

	if (!kept || l->policy->verify ||
	    sscanf(kept, "%128[0-9a-f] %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, hex,
		   &life.from, &life.until, &life.ca_from, &life.ca_until) != 5 ||
	    !str_eq(hex, digest_of_check(want, w, pair, now)) || !pem_still_holds(&life, w))
		return false;
	pair->until = life.until;
	pair->checked = kept;
	return true;
}

void loader_note_check(struct loader *l, const struct node_issue *want, const struct pem_wanted *w,
		       const struct pem_life *life, struct node_keypair *pair)
{
	char hex[DIGEST_TEXT_MAX];

	pair->until = life->until;
	pair->checked = w->time ? arena_printf(l->arena,
					       "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
					       digest_of_check(want, w, pair, hex), life->from,
					       life->until, life->ca_from, life->ca_until)
				: NULL;
}
