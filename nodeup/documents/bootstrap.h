/* bootstrap.h - from --conf to the node model: documents, facts, keys, secrets
 * Reads kube_env.yaml, finds cluster spec, instance group, pki and secrets where the documents say
 * (ConfigBase) or, without ConfigBase, beside --conf. The documents alone decide
 * which of the two, never an error. Everything a node needs is read before anything is written.
 * Bodies: applied.c.
 * Owner: the arena. Errors: CONFIG, NET, SYSTEM with the location. Threads: one.
 * Source: kops upup/pkg/fi/nodeup/command.go.
 * Tests: documents/test_bootstrap.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/policy.h"
#include "nodeup/host/probe.h"
#include "nodeup/documents/store.h"
#include "nodeup/documents/user_data.h"

struct bootstrap;

struct bootstrap_req {
	const char *conf; /* path or URL; NULL: last applied, then the usual places */
	const char *facts_file;
	int root_fd;
	const struct policy *policy;
	const struct settings *settings; /* of the machine; NULL: none */
	struct http *http;               /* NULL: nothing is asked */
	int64_t pipe_ns; /* how long a document that is a pipe may take; 0: IO_PIPE_NS */
	struct wait_patience patience; /* with servers */
	int64_t deadline_ns;           /* of the wait for a clock; 0: none */
	void (*meanwhile)(
		void *arg); /* called when a server is asked that takes its time; NULL is fine */
	/* called once all is known but certificates, before they are made or asked for; they are unmade in it. NULL is fine */
	void (*foresee)(void *arg, const struct bootstrap *b);
	void *meanwhile_arg;     /* of both */
	struct join_keys **keys; /* kept from try to try; NULL: none are */
	struct errs *errors; /* errors of documents, where all are told; NULL: the first ends it */
	/* where, after an error that ended it, all that is wrong in the documents that can be read is kept; NULL: nowhere */
	struct errs *other_errors;
};

struct bootstrap {
	const char *conf; /* the one used */
	struct documents documents;
	struct node node;
	struct facts facts;
	struct runtime runtime;
	struct strv warnings;
	struct field_unknowns unknown; /* unknown keys that are warnings */
	struct strv accepted;   /* keys of documents that nodeup does not know and leaves alone */
	struct strv tolerated;  /* values that a program refuses, and that are taken all the same */
	struct node_lost *lost; /* what is kept of them is used */
	size_t n_lost;
	const char *set;      /* "kept:17", whose documents are used; else NULL */
	const char *set_path; /* its file */
	const char *set_why;  /* what people are told of it */
	bool is_chosen;       /* --conf names it */
	const char *outlived; /* minors of a kops that is not spoken, and made this node; or NULL */
	const char *vintage;  /* for the record: which kops, and how that is known; or NULL */
	bool keeps_guess; /* of which kops they are was a guess, which this boot does not replace */
	bool is_given;    /* kops-controller gave certificates, and may not do it again */
	bool is_refused;  /* kops-controller did not tell what this node is */
	const char *expiring;   /* the certificate that ends first */
	int64_t expiry;         /* and until when, in seconds since 1970; 0: there is none */
	bool renews;            /* it issues them itself, each time it is time */
	bool no_keys;           /* a plan: certificates are not there, and not asked for */
	struct join_keys *keys; /* being made; NULL: none are */
	struct join *join;      /* whom the documents are of; NULL: no server was asked */
	bool replayed;
	bool adopted; /* the node is another program's work, which verifies: see documents.adopted */
	int64_t replay_age_ns;
	const char *replay_why; /* for what reason kept documents are used; NULL: they are not */
	struct store *store;
	struct imds *imds;
	/* The instance refuses version 1 of its metadata service, which this Kubernetes asks. */
	bool imds_lacks_version1;
	bool imds_has_version1;       /* it said in this run that it does not */
	struct user_data_file *texts; /* of the documents; name NULL: no message shows it */
	size_t n_texts;
	struct err archive_why; /* where errors are kept: the fault of the archive */
	bool lacks;      /* where errors are kept: the model is without values that are wrong */
	bool is_partial; /* after an error: node and facts are there, without what is wrong */
	const char *key; /* ties persisted documents to this node: ConfigBase and instance id */
};

/* Loads it all. After an error texts, warnings and unknown are filled; with is_partial also documents, node, facts and runtime. */
int bootstrap_load(struct arena *a, const struct bootstrap_req *req, struct bootstrap *ret,
		   struct err *e) must_check;
/* All warnings. Unknown keys are the last, those that are most like a known one before the others. */
struct strv bootstrap_warnings(struct arena *a, const struct bootstrap *b);
/* Facts that need no document: those that were given, and those of the host. */
int bootstrap_facts(struct arena *a, const char *facts_file, int root_fd, bool running,
		    struct facts *ret, struct err *e) must_check;
/* Finds out which instance this is without a document: by firmware, the record of this boot, or metadata. NET: none says it. */
int bootstrap_instance(struct arena *a, const struct bootstrap_req *req, const char **ret,
		       struct err *e) must_check;
/* The date of the documents that are kept for this instance; NULL: none are, or the instance is not known without asking. */
const char *bootstrap_kept(struct arena *a, int root_fd);
/* Returns whether its documents are those of this moment, or those that a person chose, and not kept ones in their place. */
bool bootstrap_is_current(const struct bootstrap *b);
/* Keep, before anything is made of it, what may not be told a second time: by instance metadata, for this boot, and by
 * kops-controller. Once kubelet runs, the node may be Ready, whether this run comes to its end or not. */
int bootstrap_keep_answers(struct bootstrap *b, int root_fd, struct err *e) must_check;
/* Keeps the documents (0600) for a reboot with the store down, and as the set of this run, which ended well (store.h). */
int bootstrap_persist(struct bootstrap *b, int root_fd, int64_t number, struct err *e) must_check;
/* Release what is not the arena's. */
void bootstrap_done(struct bootstrap *b);
