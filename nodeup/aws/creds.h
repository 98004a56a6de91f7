/* creds.h - the credentials and the time that requests to S3 and EC2 are signed with
 * The environment first (AWS_ACCESS_KEY_ID...; S3_ACCESS_KEY_ID... for S3_ENDPOINT), then the role of
 * the instance by IMDS, which never signs for S3_ENDPOINT. A role's credentials are renewed five
 * minutes before they expire. No role, or no IMDS: requests go unsigned, until one is refused.
 * Owner: creds_new/creds_free. Errors: CONFIG (half a key in the environment), NET (a role whose
 * credentials are not there yet). No message has a key in it. Units: seconds since 1970.
 * Threads: one. Source: EC2 user guide, "Retrieve security credentials"; kops util/pkg/vfs.
 * Tests: test_creds.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/aws/sigv4.h"

struct creds;

struct creds_now {
	const struct sigv4_key *key; /* NULL: unsigned. Good until the next creds_get */
	unsigned int serial;         /* which ones these are */
	int64_t time;                /* to sign with: ours, corrected */
};

/* Asks nothing yet; imds NULL: the environment alone. */
struct creds *creds_new(struct imds *imds) must_check;
/* As creds_new for a service of AWS itself: S3_ENDPOINT and its keys mean nothing there. */
struct creds *creds_new_aws(struct imds *imds) must_check;
/* Release; NULL is fine. */
void creds_free(struct creds *c);
/* Returns the keys to sign with now; may ask IMDS. */
int creds_get(struct creds *c, struct creds_now *ret, struct err *e) must_check;
/* Those of this serial were refused, or it was refused that there are none: creds_get asks again.
 * Returns whether that can bring others. */
bool creds_refused(struct creds *c, unsigned int serial);
/* Returns whether what there is has expired by now. */
bool creds_are_over(const struct creds *c);
/* Takes the time of the server's clock; ours is corrected by the difference from now on. */
void creds_set_clock(struct creds *c, int64_t server);
/* The correction. */
int64_t creds_clock_off(const struct creds *c);
/* For people: "assumed-role/nodes.prod/i-0a1b (valid until 08:55 UTC)", or why requests are unsigned. */
const char *creds_who(struct creds *c, struct arena *a);
