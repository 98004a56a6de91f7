/* bootstrap.h - loads a node model from --conf: documents, facts, keys, secrets
 * Reads kube_env.yaml, and finds cluster spec, instance group, pki and secrets in the store that the documents name
 * (ConfigBase). Without ConfigBase it finds them beside --conf. The documents alone decide this, never an error.
 * Everything is read before anything is written.
 * Bodies: applied.c, mend.c.
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
	const char *conf; /* path or URL; NULL: the document applied last, then the usual places */
	const char *facts_file;
	int root_fd;
	const struct policy *policy;
	const struct settings *settings; /* settings of the machine; NULL: none */
	struct http *http;               /* NULL: asks no server */
	int64_t pipe_ns; /* how long to wait for a document from a pipe; 0: IO_PIPE_NS */
	struct wait_patience patience; /* patience with servers */
	int64_t deadline_ns;           /* limit of the wait for a clock; 0: none */
	void (*meanwhile)(
		void *arg); /* called before a question that a server may answer late; may be NULL */
	/* called when everything but certificates is known, before any certificate is made or asked for. May be NULL */
	void (*foresee)(void *arg, const struct bootstrap *b);
	void *meanwhile_arg;     /* argument of both functions */
	struct join_keys **keys; /* keys that are kept from try to try; NULL: none are kept */
	/* collects all errors of documents, to report them together; NULL: stops at the first */
	struct errs *errors;
	/* after the error that ended the load, collects all errors of documents that can be read; NULL: does not
	 * look for them */
	struct errs *other_errors;
};

struct bootstrap {
	const char *conf; /* the document in use */
	struct documents documents;
	struct node node;
	struct facts facts;
	struct runtime runtime;
	struct strv warnings;
	struct field_unknowns unknown; /* unknown keys that are only warnings */
	struct strv accepted;          /* unknown keys that nodeup leaves alone */
	struct strv tolerated;  /* values that should be refused, and are used all the same */
	struct node_lost *lost; /* damaged or missing documents, whose kept copies are used */
	size_t n_lost;
	const char *set;       /* "kept:17", the set in use; else NULL */
	const char *set_path;  /* the file of the set */
	const char *set_why;   /* why the set is used, for people */
	bool is_chosen;        /* --conf names the set */
	const char *outlived;  /* minors of an unsupported kops that made this node; or NULL */
	const char *vintage;   /* version of kops and how it is known, for the record; or NULL */
	const char *guess_why; /* why this boot keeps an earlier guess of the kops; or NULL */
	/* why the node is to have its instance store, and has not; or NULL */
	const char *lacks_store;
	bool is_given;   /* kops-controller gave certificates, and may refuse to give them again */
	bool is_refused; /* kops-controller refused to tell what this node is */
	const char *expiring; /* name of the certificate that ends first */
	int64_t expiry; /* when that certificate ends, in seconds since 1970; 0: there is none */
	bool renews;    /* the node renews certificates itself, in time */
	bool no_keys; /* this is a plan: certificates are missing, and the plan does not ask for them */
	struct join_keys *keys; /* keys that are being made; NULL: none */
	struct join *join;      /* the server that gave the documents; NULL: none was asked */
	bool replayed;
	bool adopted; /* another program made the node, and its files are right: see documents.adopted */
	int64_t replay_age_ns;
	const char *replay_why; /* why kept documents are used; NULL: present ones are used */
	struct store *store;
	struct imds *imds;
	/* The instance refuses version 1 of its metadata service, which this Kubernetes needs. */
	bool imds_lacks_version1;
	bool imds_has_version1; /* the instance answered version 1 in this run */
	/* texts of the documents; if a name is NULL, no message may show the text */
	struct user_data_file *texts;
	size_t n_texts;
	struct err archive_why; /* if errors are kept: the fault of the archive */
	bool lacks;      /* if errors are kept: the model was made without the wrong values */
	bool is_partial; /* after an error: node and facts are filled, without the wrong parts */
	const char *key; /* ties kept documents to this node: ConfigBase and instance id */
};

/* Loads everything. After an error texts, warnings and unknown are filled; with is_partial also documents, node,
 * facts and runtime. */
int bootstrap_load(struct arena *a, const struct bootstrap_req *req, struct bootstrap *ret,
		   struct err *e) must_check;
/* Returns all warnings. Unknown keys come last; among them, keys that are most like a known key come first. */
struct strv bootstrap_warnings(struct arena *a, const struct bootstrap *b);
/* Finds facts without any document: the given facts and the host's. */
int bootstrap_facts(struct arena *a, const char *facts_file, int root_fd, bool running,
		    struct facts *ret, struct err *e) must_check;
/* Finds the instance's id without a document: in firmware, in the record of this boot, or from metadata. NET: no
 * source has the id. */
int bootstrap_instance(struct arena *a, const struct bootstrap_req *req, const char **ret,
		       struct err *e) must_check;
/* Returns the date of the documents kept for this instance. NULL: no documents are kept, or only a server could tell
 * which instance this is. */
const char *bootstrap_kept(struct arena *a, int root_fd);
/* Returns whether the documents are the present ones, or kept documents that a person chose. */
bool bootstrap_is_current(const struct bootstrap *b);
/* Keeps answers that may not be given again, before anything is made of them: the answers of instance metadata, for
 * this boot, and the answers of kops-controller. Once kubelet runs, the node may become Ready, even if this run
 * never ends, and kops-controller refuses a Ready node. */
int bootstrap_keep_answers(struct bootstrap *b, int root_fd, struct err *e) must_check;
/* Keeps the documents (0600) for a reboot with the store down, and as the set of this run, which ended well (store.h). */
int bootstrap_persist(struct bootstrap *b, int root_fd, int64_t number, struct err *e) must_check;
/* Lists the documents of this machine that are gone or damaged, by the set in use: "PATH is gone". None if the set is
 * not of the configuration that was applied last. */
struct strv bootstrap_damages(struct arena *a, const struct bootstrap *b, int root_fd);
/* Releases all memory and descriptors that do not belong to the arena. */
void bootstrap_done(struct bootstrap *b);
