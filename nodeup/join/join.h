/* join.h - ask kops-controller, until one of its servers answers
 * Each try has a proof of its own of who this instance is. A server is trusted by the documents' CA alone, never by the
 * machine's. A failure that may pass is tried again: a name that is not there yet, the address that kops puts there before the
 * control plane is up, no connection, a refusal of the proof, 5xx. It is said each time what is waited for.
 * Owner: join_new/join_free; answers are the arena's. Errors: NET (with the last server's), with errnum EALREADY where it is told that
 * the node is Ready (409) and EACCES where the proof is not believed; CONFIG for a request that is refused (400);
 * INTEGRITY for an answer that cannot be read. Units: nanoseconds. Threads: one.
 * Source: kops 1.37 pkg/kopscontrollerclient, upup/pkg/fi/nodeup/command.go.
 * Tests: test_protocol.c, test_kops_join.py. */
#pragma once

#include "nodeup/aws/creds.h"
#include "nodeup/base/wait.h"
#include "nodeup/join/protocol.h"

struct join;

struct join_req {
	const struct strv *servers;  /* "https://kops-controller.internal.example.com:3988/" */
	const char *tls_server_name; /* their name, where it is not the host's; or NULL */
	const char *ca;              /* certificates, PEM */
	const char *region;
	struct imds *imds; /* NULL: credentials of the environment alone */
	int root_fd;
	struct wait_patience patience;
};

/* Asks nothing yet. */
int join_new(const struct join_req *req, struct join **ret, struct err *e) must_check;
/* Release; NULL is fine. */
void join_free(struct join *j);
/* The server that answered last. */
const char *join_server(const struct join *j);
/* Send body until it is answered. */
int join_ask(struct join *j, struct arena *a, const char *body, struct protocol_answer *ret,
	     struct err *e) must_check;
