/* pack.h - user data made to fit EC2's limit
 * The same input gives the same bytes: gzip's header holds no time.
 * Owner: the arena. Errors: CONFIG; the notes name the parts, largest first, and what would help.
 * Units: bytes, before the base64 that EC2's API adds. Source: EC2 user guide: "limited to 16 KB, in
 * raw form, before it is base64-encoded"; cloud-init knows gzip by its magic number.
 * Tests: test_userdata.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

enum { USERDATA_MAX = 16384 };

struct userdata_share {
	const char *name;
	size_t bytes;
};

struct userdata_pack_req {
	const char *data;
	size_t n;
	bool gzip;
	/* The parts of the data; the error names them if the data is too large. */
	const struct userdata_share *shares;
	size_t n_shares;
};

/* Returns the data, compressed if the request says so. Fails if the data is larger than EC2 allows. */
int userdata_pack(struct arena *a, const struct userdata_pack_req *req, const char **ret_data,
		  size_t *ret_n, struct err *e) must_check;
