/* imds.h - the instance metadata service, version 2
 * A token first (TTL 6 h), a 401 renews it once; version 1 only when the token endpoint says 403,
 * 404 or 405. Never through a proxy, redirects refused. AWS_EC2_METADATA_SERVICE_ENDPOINT overrides
 * the address, ..._ENDPOINT_MODE=IPv6 takes the other one; so does a machine with no way to IPv4's.
 * Owner: imds_new/imds_free; answers are the arena's. Errors: NET; ENOENT for a path that is not
 * there. Threads: one. Source: EC2 user guide, "Retrieve instance metadata", "block-device-mapping".
 * Tests: test_imds.c, test_imds_disks.c. */
#pragma once

#include "assets/http/http.h"

struct imds;

/* Makes a client; asks nothing yet. */
struct imds *imds_new(struct http *http) must_check;
/* Releases it; NULL is fine. */
void imds_free(struct imds *m);
/* Returns whether the service has answered this client with a token, or has said that it gives none. */
bool imds_has_answered(const struct imds *m);
/* Returns whether a request without a token is answered (1) or refused with 401 (0). Negative: no answer came. */
int imds_has_version1(struct imds *m, struct err *e) must_check;
/* GETs /latest/<path> and trims white space at both ends. No retries. */
int imds_get(struct imds *m, struct arena *a, const char *path, const char **ret_text,
	     struct err *e) must_check;
/* Asks for all of these paths at once. Answers, also "does not exist", wait for the next imds_get of their path.
 * Failures are forgotten. */
void imds_ask_ahead(struct imds *m, const char *const *paths, size_t n);
/* Returns this instance's user data, byte by byte, with a NUL beyond. ENOENT: it has none. No retries. */
int imds_user_data(struct imds *m, struct arena *a, const char **ret, size_t *ret_n,
		   struct err *e) must_check;
/* Returns the instance type ("m3.medium"), asked anew: it may change while an instance is stopped. NULL: IMDS has
 * none. */
int imds_instance_type(struct imds *m, struct arena *a, const char **ret, struct err *e) must_check;
/* The disks that EC2 mapped to this instance: "ephemeral0" = "sdb", "root" = "/dev/xvda"; empty where nothing is mapped. Only those
 * of Xen and of launch time: an NVMe instance store is not in it, nor is a volume that was attached later. */
int imds_block_devices(struct imds *m, struct arena *a, struct strmap *ret,
		       struct err *e) must_check;
