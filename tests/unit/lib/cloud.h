/* cloud.h - tests/fake/cloud.py as a child of a unit test: S3 and IMDS that fail when asked to
 * The environment points at both; an engine whose rewrites lead AWS's own hosts there is ready.
 * Owner: the test's fixture. Errors: assertions. */
#pragma once

#include <sys/types.h>
#include "assets/http/http.h"

struct cloud {
	pid_t pid;
	int stdin_fd; /* closing it ends the child */
	int s3_port, imds_port, root_fd;
	char dir[64]; /* temporary; dir/BUCKET/KEY is what S3 has unless it was given another */
	struct arena *arena;
	struct http *http;
};

enum cloud_service { CLOUD_S3, CLOUD_IMDS };

/* Start both in region us-west-2; objects: what S3 serves, NULL for the temporary directory. */
struct cloud *cloud_start(const char *objects);
void cloud_stop(struct cloud *c);
/* "http://127.0.0.1:PORT", with a path. The arena's. */
char *cloud_url(struct cloud *c, enum cloud_service service, const char *path);
/* Have the next requests for a path fail: "status=500&times=2". */
void cloud_fault(struct cloud *c, enum cloud_service service, const char *path, const char *how);
/* How often a path was asked for; NULL: all requests. */
int cloud_count(struct cloud *c, enum cloud_service service, const char *path);
/* "/__reset", "/__expire"... */
void cloud_tell(struct cloud *c, enum cloud_service service, const char *what);
