/* loader.h - the steps of bootstrap_load that have their own files
 * Each step reads through the store and leaves its result in the bootstrap. A step can run again after the store was
 * told to replay kept documents.
 * Bodies: adopt.c, applied.c, archive.c, checked.c, clock.c, controller.c, facts.c, fallback.c, find.c, issue.c,
 * keys.c, local_store.c, mend.c, model.c, read.c, vintage.c.
 * Owner: the arena. Errors: as bootstrap.h. Threads: one.
 * Tests: test_kept.c, documents/test_bootstrap.c, test_checked.c, test_kept_keys.c, test_fallback.c, test_find.c,
 * test_store_keys.c. */
#pragma once

#include "nodeup/config/pem.h"
#include "nodeup/documents/bootstrap.h"

struct loader {
	struct arena *arena;
	const struct policy *policy; /* the policy of the request */
	const struct bootstrap_req *req;
	struct bootstrap *b;
	/* while the model is made; else NULL */
	const struct dialect_opts *opts;
	bool finds_errors; /* this is the search for all errors: known documents are read again, and other documents
			    * are asked for once */
	bool is_given;        /* kops-controller has answered with a NodeupConfig */
	bool is_imds_silent;  /* IMDS was silent for our whole patience */
	const char *unparsed; /* a file of this machine that does not parse or has gone; or NULL */
	struct user_data user_data; /* the documents in --conf's user data */
	struct store_texts kept;    /* an earlier run's documents; read when first needed */
	bool kept_is_read;
	struct strv names; /* this instance's names and addresses; read when first needed */
};

/* Limits of a record of a few words, and of the record of all applied documents. */
enum { LOADER_RECORD_MAX = 4096, LOADER_APPLIED_MAX = 64 << 10 };

/* Finds the configuration that was applied last, even if it does not exist any more; NULL: none was applied. */
int loader_last_applied(struct loader *l, const char **ret, struct err *e) must_check;
/* Returns the name under which a configuration is recorded and kept, even if it has gone. */
const char *loader_conf_name(struct arena *a, const char *conf);
/* Returns the name under which a document is kept: the same from every directory. */
const char *loader_kept_name(struct loader *l, const char *location);
/* For a damaged file of this machine, or for the last configuration if it has gone: reads the kept copy, which will
 * be put back. */
int loader_mend(struct loader *l, const char *location, struct err *e) must_check;
/* Finds the instance's id before any document is read. At boot waits as long as for documents. */
int loader_know_instance(struct loader *l, struct err *e) must_check;
/* Uses the documents of the run that --conf names. */
int loader_choose_set(struct loader *l, struct err *e) must_check;
/* Returns the document for that location in --conf's user data, even if the location has another document; NULL:
 * none. */
const struct user_data_file *loader_brought(struct loader *l, const char *location);
/* Finds the document of --conf, or the document applied last, or a document at a usual place. USAGE: there is no
 * such document. */
int loader_find_conf(struct loader *l, const char **ret, struct err *e) must_check;
/* The places of the documents that the document of --conf leads to. Only documents decide the place; no document is
 * looked for in two places. */
struct loader_specs {
	enum {
		LOADER_NOWHERE, /* there are no other documents */
		LOADER_UNREAD,  /* the documents are in the store, which is not asked */
		LOADER_SERVER,  /* kops-controller gives the documents */
		LOADER_STORE,
		LOADER_BESIDE, /* the documents are beside --conf */
	} from;
	const char *cluster, *group; /* group NULL: none is read */
};
struct loader_specs loader_find_specs(struct loader *l) must_check;
/* Reads the document of --conf in its dialect. */
int loader_read_conf(struct loader *l, struct dialect_opts *o, struct err *e) must_check;
/* Reads the documents that the document of --conf leads to. */
int loader_read_specs(struct loader *l, struct err *e) must_check;
/* Makes the model of the documents. A second call forgets the result of the first. */
int loader_model(struct loader *l, struct err *e) must_check;
/* Does the same as loader_model, but uses kept documents if the present ones cannot be had. If a server gives an
 * empty answer, asks again. */
int loader_load(struct loader *l, struct err *e) must_check;
/* Returns whether the records name the kops `v`, so that a node may go on with documents of that kops. If v is NULL,
 * returns whether the records say that these documents were applied. */
bool loader_was_applied(void *loader, const struct vintage *v);
/* Returns whether a run on this instance ended well before. */
bool loader_was_made(struct loader *l);
/* Reads the version of kops in this instance's records; false: none. */
bool loader_recorded(void *loader, struct vintage *ret);
/* Fails for an empty document. An empty document from a server counts as no answer: the error is NET with this
 * errnum, and the document is forgotten. */
enum { LOADER_HOLLOW = ENOMSG };
int loader_hollow(struct loader *l, const char *location, struct err *e) must_check;
/* Fetches the archive that the documents name, from the first mirror with the right bytes, and reads its files. */
int loader_archive(struct loader *l, struct err *e) must_check;
/* Adds the volume of the setting instanceStorePolicy to the model, or notes why there is none. */
int loader_store_volume(struct loader *l, const struct dialect_opts *o, struct err *e) must_check;
/* Reads the facts of --facts. */
int loader_given_facts(struct loader *l, struct err *e) must_check;
/* loader_keep_facts keeps the instance's facts until its next boot, for runs that may not ask. loader_kept_facts
 * fills in missing facts from the kept ones. */
int loader_keep_facts(int root_fd, const struct facts *f, struct err *e) must_check;
void loader_kept_facts(struct arena *a, int root_fd, struct facts *f);
/* Finds all other facts: facts of this host, and facts from IMDS if the documents need them. CONFIG with errnum
 * LOADER_UNASKED: a fact is missing, and nobody is asked for it. */
enum { LOADER_UNASKED = ENETDOWN };
int loader_facts(struct loader *l, struct err *e) must_check;
/* Gets the document of kops-controller with its secrets, and the document's name for messages. EALREADY: the server
 * gives no document any more. */
int loader_join(struct loader *l, const char **ret_location, struct err *e) must_check;
/* Gets certificates: takes the kept ones while they are valid, otherwise new ones for new keys. */
int loader_issues(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* Gets certificates that the node issues itself. If the present certificates cannot stay, makes new ones for new
 * keys, or leaves them unmade. */
int loader_self_issue(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* Begins to make keys for missing certificates, as they take as long as the store's answer. */
int loader_begin_issues(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* The certificates of a CA, and its name for messages. id: only the certificate with this id counts; NULL: any.
 * certs NULL: not known. */
struct loader_ca {
	const char *name, *certs, *id;
};
/* Fails unless the CA is valid now. BUSY and ETIME: the clock of this machine may still be set; CONFIG: the CA has
 * ended by a server's time too. */
int loader_check_clock(struct loader *l, const struct loader_ca *ca, struct err *e) must_check;
/* Time after boot in which another program may set the clock. A run waits as long for a server's certificate that
 * is not valid yet. */
#define LOADER_CLOCK_PATIENCE_NS (600 * DUR_SEC)
/* Waits until the CA is valid. Gives up if the clock is not set within patience_ns. */
int loader_await_clock(struct loader *l, const struct loader_ca *ca, int64_t patience_ns,
		       struct err *e) must_check;
/* Warns once that certificates stay because the clock is wrong. */
void loader_warn_clock(struct loader *l, const struct err *off);
/* Begins keys until there are n for join_keys_take. A wait of more than ten seconds for keys is reported. */
int loader_begin_keys(struct loader *l, size_t n, struct err *e) must_check;
/* Leaves certificates unmade: asks for none and issues none. */
void loader_leave_issues(struct loader *l, const struct node_wants *w);
/* Shows the model to the request's foresee() before certificates are made or asked for; in that model all
 * certificates are unmade. */
void loader_foresee(struct loader *l, const struct node_wants *w);
/* Names of kept facts about a certificate, in addition to "crt" and "key": the number of renewals, and a check's
 * result. */
#define LOADER_RENEWALS "renewals"
#define LOADER_CHECKED "checked"
/* Returns whether the kept LOADER_CHECKED (may be NULL) says that this pair is the wanted one; then the pair need
 * not be parsed. Checks the pair's dates again, and notes its end. */
bool loader_was_checked(const struct loader *l, const struct node_issue *want,
			const struct pem_wanted *w, const char *kept, struct node_keypair *pair);
/* Notes for later runs that a check found the pair right. Does nothing if the note exists already, or if dates were
 * not checked. */
void loader_note_check(struct loader *l, const struct node_issue *want, const struct pem_wanted *w,
		       const struct pem_life *life, struct node_keypair *pair);
/* Reads the documents that the last run kept, and their instance; false: there are none, or they are damaged. */
bool loader_kept(struct loader *l, struct store_origin *ret_of, struct store_texts *ret);
/* Returns the text that an earlier run read at that location and kept; NULL: none. */
const char *loader_kept_text(struct loader *l, const char *location);
/* Returns a part of a certificate that an earlier run got or made: the part kept under that name. NULL: there is no
 * such part. */
const char *loader_kept_issue(struct loader *l, const char *name, const char *half);
/* Returns the first certificate of a text, without the CA that a server may send after it. Returns other texts
 * unchanged. */
const char *loader_first(struct loader *l, const char *text);
/* Returns texts as a list that ends in NULL. */
const char *const *loader_list(struct loader *l, const struct strv *texts);
/* Makes the node use the pair, and keeps it for the next run. */
void loader_take_issue(struct loader *l, const struct node_keypair *pair);
/* Reads a certificate and its key from the node, unchecked. */
int loader_adopted_pair(struct loader *l, const struct node_issue *want, struct node_keypair *ret,
			struct err *e) must_check;
/* Asks EC2 for the limits of the node's instance type, if the node depends on them. No answer is a warning. */
void loader_type(struct loader *l);
/* Asks for a fact until it is known. */
int loader_ask_fact(struct loader *l, const char *fact, struct err *e) must_check;
/* Finds the instance's id: by firmware or metadata, or else from this boot's record. */
int loader_instance(struct loader *l, struct err *e) must_check;
/* Finds the kops of the documents, if nothing in them names it. Asks in this order: the records of this document;
 * this instance's own user data, if they hold this very document; the store, if it has the configuration that the
 * documents name; a setting; an earlier guess; keys, and files that kops' own program left. Asks IMDS only if IMDS
 * has answered this command already; if IMDS is silent now, nothing changes. Fails for an unsupported version, as
 * elsewhere. */
int loader_vintage(struct loader *l, const struct dialect_opts *o, struct err *e) must_check;
/* Reads the recorded version of kops of the document of --conf, or of an earlier document (is_former); false: none. */
bool loader_read_vintage(struct loader *l, struct vintage *ret);
/* Returns whether no server has any of the documents. */
bool loader_is_local(const struct loader *l);
/* Returns the key that ties kept documents to this node; NULL: the instance is not known. */
const char *loader_key(struct loader *l);
/* Reads key pairs and secrets of the node, and fails if one is missing. */
int loader_keys(struct loader *l, struct err *e) must_check;
