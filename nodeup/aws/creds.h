/* creds.h - the credentials and the time for signing requests to S3 and EC2
 * Takes keys from the environment (AWS_ACCESS_KEY_ID; for S3_ENDPOINT: S3_ACCESS_KEY_ID), otherwise those of the
 * instance's role from IMDS. A role never signs for S3_ENDPOINT. Renews a role's credentials five minutes before
 * they expire. Without a role or IMDS, requests are not signed until a server refuses one.
 * Owner: creds_new/creds_free. Errors: CONFIG (half a key in the environment), NET (the role's credentials do not
 * exist yet). No message has a key in it. Units: seconds since 1970. Threads: one. Source: EC2 user guide, "Retrieve
 * security credentials"; kops util/pkg/vfs.
 * Tests: test_creds.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/aws/sigv4.h"

struct creds;

struct creds_now {
	const struct sigv4_key *key; /* NULL: unsigned. Valid until the next creds_get */
	unsigned int serial;         /* serial number of the credentials */
	int64_t time;                /* time to sign with: this machine's clock, corrected */
};

/* Makes a client and asks nothing yet. imds NULL: only the environment. */
struct creds *creds_new(struct imds *imds) must_check;
/* Like creds_new, but for a service of AWS: ignores S3_ENDPOINT and the keys for it. */
struct creds *creds_new_aws(struct imds *imds) must_check;
/* Releases the client; NULL is fine. */
void creds_free(struct creds *c);
/* Returns the keys with which to sign now; may ask IMDS. */
int creds_get(struct creds *c, struct creds_now *ret, struct err *e) must_check;
/* Reports that a server refused the credentials with this serial, or a request without credentials. creds_get then
 * asks again. Returns whether asking again can give other credentials. */
bool creds_refused(struct creds *c, unsigned int serial);
/* Returns whether the credentials have expired. */
bool creds_are_over(const struct creds *c);
/* Takes over the time of a server's clock. From now on our time is corrected by the difference. */
void creds_set_clock(struct creds *c, int64_t server);
/* Returns the correction of our clock. */
int64_t creds_clock_off(const struct creds *c);
/* Returns, for people, "assumed-role/nodes.prod/i-0a1b (valid until 08:55 UTC)", or why requests are not signed. */
const char *creds_who(struct creds *c, struct arena *a);
