/* seed_node.h - the seed's state store behind S3, an empty Debian as the node, and what tests of its documents share
 * Owner: seed_setup/seed_teardown, cmocka's. Errors: assertions. */
#pragma once

#include "nodeup/documents/bootstrap.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/scratch.h"

#define SEED_BASE "jdurbin-kops/abc.joshdurbin.net"
#define SEED_HOSTNAME "/latest/meta-data/local-hostname"
#define SEED_ROLE "/latest/meta-data/iam/security-credentials/"
#define SEED_ID "/latest/meta-data/instance-id"

/* --conf of a worker and of a master. */
extern const char seed_worker[], seed_master[];

struct seed {
	struct cloud *c;
	struct scratch root;
	struct arena *a;
	struct policy policy;
	struct bootstrap_req req;
	struct bootstrap b;
	struct err e;
	int waits;
};

int seed_setup(void **state);
int seed_teardown(void **state);
/* Loads as the next run would. */
int seed_load(struct seed *fx);
/* The same, and fails the test with its error. */
void seed_must_load(struct seed *fx);
/* Keeps what was loaded as apply does. */
void seed_must_persist(struct seed *fx);
/* Counts the requests of the metadata service; path NULL: of all. */
int seed_asked(struct seed *fx, const char *path);
/* Names of the key pairs, sorted. */
char *seed_names(struct seed *fx);
/* The first note of the error with this in its text, or NULL. */
const char *seed_note(const struct seed *fx, const char *part);
/* A path below the temporary directory, where S3 has its buckets; its text; a file written there, or copied. */
char *seed_below(struct seed *fx, const char *path);
char *seed_content(struct seed *fx, const char *path);
void seed_write(struct seed *fx, const char *path, const char *text);
void seed_copy(struct seed *fx, const char *from, const char *to);
/* The same of a file with every s3://bucket/cluster led elsewhere. */
char *seed_rebase(struct seed *fx, const char *from, const char *base, const char *path);
/* Runs a program, which must succeed. */
void seed_run(const char *const *argv);
/* No server answers for S3 from now on. */
void seed_store_is_down(void);
