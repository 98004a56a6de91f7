/* join.h - asks kops-controller, until one of its servers answers
 * Each try carries its own proof of this instance's identity. Only the CA of the documents makes a server trusted,
 * never a CA of the machine. These failures are tried again: a name that does not resolve yet, kops' placeholder
 * address, no connection, a refused proof, 5xx. Each wait is reported with its cause.
 * Owner: join_new/join_free; answers are the arena's. Errors: NET, with the last server's error; errnum is EALREADY
 * if the node is Ready already (409), and EACCES if the proof is refused; CONFIG for a request that is refused
 * (400); INTEGRITY for an answer that cannot be read. Units: nanoseconds. Threads: one.
 * Source: kops 1.37 pkg/kopscontrollerclient, upup/pkg/fi/nodeup/command.go.
 * Tests: test_protocol.c, test_kops_join.py. */
#pragma once

#include "nodeup/aws/creds.h"
#include "nodeup/base/wait.h"
#include "nodeup/join/protocol.h"

struct join;

struct join_req {
	const struct strv *servers; /* "https://kops-controller.internal.example.com:3988/" */
	/* the name in the servers' certificates; NULL: the host name in the URL */
	const char *tls_server_name;
	const char *ca; /* CA certificates, PEM */
	const char *region;
	struct imds *imds; /* NULL: only the environment's credentials */
	int root_fd;
	struct wait_patience patience;
};

/* Makes a client; asks nothing yet. */
int join_new(const struct join_req *req, struct join **ret, struct err *e) must_check;
/* Releases the client; NULL is fine. */
void join_free(struct join *j);
/* Returns the server that answered last. */
const char *join_server(const struct join *j);
/* Sends body until a server answers. */
int join_ask(struct join *j, struct arena *a, const char *body, struct protocol_answer *ret,
	     struct err *e) must_check;
