/* imds.h - the instance metadata service, version 2
 * Asks for a token first (TTL 6 h), and once more after a 401. Uses version 1 only if the token endpoint answers
 * 403, 404 or 405. Uses no proxy, and refuses redirects. AWS_EC2_METADATA_SERVICE_ENDPOINT overrides the address.
 * With ..._ENDPOINT_MODE=IPv6, or if there is no route to the IPv4 address, the IPv6 address is asked.
 * Owner: imds_new/imds_free; answers are the arena's. Errors: NET; ENOENT for a path that does not exist. Threads:
 * one. Source: EC2 user guide, "Retrieve instance metadata", "block-device-mapping".
 * Tests: test_imds.c, test_imds_disks.c. */
#pragma once

#include "assets/http/http.h"

struct imds;

/* Makes a client; asks nothing yet. */
struct imds *imds_new(struct http *http) must_check;
/* Releases the client; NULL is fine. */
void imds_free(struct imds *m);
/* Returns whether the service has answered this client, with a token or by saying that it has no tokens. */
bool imds_has_answered(const struct imds *m);
/* Returns whether a request without a token is answered (1) or refused with 401 (0). Negative: no answer came. */
int imds_has_version1(struct imds *m, struct err *e) must_check;
/* GETs /latest/<path> and trims white space at both ends. No retries. */
int imds_get(struct imds *m, struct arena *a, const char *path, const char **ret_text,
	     struct err *e) must_check;
/* Asks for all these paths at once. An answer, even "does not exist", is kept for the next imds_get of its path.
 * Failures are not kept. */
void imds_ask_ahead(struct imds *m, const char *const *paths, size_t n);
/* Returns this instance's user data unchanged, with a NUL after it. ENOENT: the instance has no user data. No
 * retries. */
int imds_user_data(struct imds *m, struct arena *a, const char **ret, size_t *ret_n,
		   struct err *e) must_check;
/* Returns the instance type ("m3.medium"). Asks each time: the type may change while an instance is stopped. NULL:
 * IMDS does not know the type. */
int imds_instance_type(struct imds *m, struct arena *a, const char **ret, struct err *e) must_check;
/* Returns the disks that EC2 mapped to this instance: "ephemeral0" = "sdb", "root" = "/dev/xvda"; empty if no disk
 * is mapped. IMDS lists only disks of Xen and of launch time: no NVMe instance store, and no volume that was
 * attached later. */
int imds_block_devices(struct imds *m, struct arena *a, struct strmap *ret,
		       struct err *e) must_check;
