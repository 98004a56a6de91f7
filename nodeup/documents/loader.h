/* loader.h - the steps of bootstrap_load that have files of their own
 * Facts and keys, each step reading through the store and leaving its result in the bootstrap. A
 * step can be run again after the store was told to replay what is kept.
 * Bodies: adopt.c, applied.c, archive.c, checked.c, clock.c, controller.c, facts.c, fallback.c,
 * find.c, issue.c, keys.c, mend.c, model.c, read.c, vintage.c.
 * Owner: the arena. Errors: as bootstrap.h. Threads: one.
 * Tests: test_kept.c, documents/test_bootstrap.c, test_checked.c, test_kept_keys.c,
 * test_fallback.c, test_find.c, test_store_keys.c. */
#pragma once

#include "nodeup/config/pem.h"
#include "nodeup/documents/bootstrap.h"

struct loader {
	struct arena *arena;
	const struct policy *policy; /* of the request */
	const struct bootstrap_req *req;
	struct bootstrap *b;
	/* as long as the model is made, else NULL */
	const struct dialect_opts *opts;
	bool finds_errors; /* what was read is read once more, for all that is wrong in it, and what was not: it is asked for once */
	bool is_given;     /* kops-controller has answered with NodeupConfig */
	bool is_imds_silent;  /* for as long as it was waited for */
	const char *unparsed; /* a file of this machine that does not parse, or is gone; or NULL */
	struct user_data user_data; /* what --conf brings */
	struct store_texts kept;    /* documents of an earlier run, once they were asked for */
	bool kept_is_read;
	struct strv names; /* of this instance, once all of them were asked for */
};

/* The most bytes of a record of a few words, and of that of all documents that were applied. */
enum { LOADER_RECORD_MAX = 4096, LOADER_APPLIED_MAX = 64 << 10 };

/* The configuration that was applied last, whether or not it is still there; NULL: none was. */
int loader_last_applied(struct loader *l, const char **ret, struct err *e) must_check;
/* The name that a configuration is recorded and kept by; of one that is gone, what it was. */
const char *loader_conf_name(struct arena *a, const char *conf);
/* The name that a document is kept by: the same from whatever directory it was named. */
const char *loader_kept_name(struct loader *l, const char *location);
/* Has the kept copy read and put back in place of a damaged file of this machine, or of the last configuration, which is gone. */
int loader_mend(struct loader *l, const char *location, struct err *e) must_check;
/* Finds out which instance this is before the documents have said anything. At boot it is waited for, as documents are. */
int loader_know_instance(struct loader *l, struct err *e) must_check;
/* Use the documents of the run that --conf names. */
int loader_choose_set(struct loader *l, struct err *e) must_check;
/* The document at that location that the user data of --conf brings, whatever lies there; NULL: it brings none. */
const struct user_data_file *loader_brought(struct loader *l, const char *location);
/* The document that --conf means, or the one that was applied last, or one at a usual place. USAGE: there is none. */
int loader_find_conf(struct loader *l, const char **ret, struct err *e) must_check;
/* Tells where the documents are that the one of --conf leads to. Documents alone decide it: nothing is looked for in two places. */
struct loader_specs {
	enum {
		LOADER_NOWHERE, /* there are none */
		LOADER_UNREAD,  /* in the store, which is not asked */
		LOADER_SERVER,  /* kops-controller gives them */
		LOADER_STORE,
		LOADER_BESIDE, /* --conf */
	} from;
	const char *cluster, *group; /* group NULL: there is none to read */
};
struct loader_specs loader_find_specs(struct loader *l) must_check;
/* Read the document of --conf by its dialect. */
int loader_read_conf(struct loader *l, struct dialect_opts *o, struct err *e) must_check;
/* Read those that it leads to. */
int loader_read_specs(struct loader *l, struct err *e) must_check;
/* From documents to the model. Run again, it forgets what was read before. */
int loader_model(struct loader *l, struct err *e) must_check;
/* The same, where what is kept stands in for documents that cannot be had. A server whose answer says nothing is asked again. */
int loader_load(struct loader *l, struct err *e) must_check;
/* Returns whether a node goes on with documents of such a kops. The records must say so, or, with v NULL, that they were these. */
bool loader_was_applied(void *loader, const struct vintage *v);
/* Reads which kops the records of this instance name; false: none. */
bool loader_recorded(void *loader, struct vintage *ret);
/* The error of a document that says nothing: of a server it is no answer (NET, this errnum), and is forgotten. */
enum { LOADER_HOLLOW = ENOMSG };
int loader_hollow(struct loader *l, const char *location, struct err *e) must_check;
/* The archive that is a document, from the first mirror that has the right bytes, and its files. */
int loader_archive(struct loader *l, struct err *e) must_check;
/* The facts that --facts gives. */
int loader_given_facts(struct loader *l, struct err *e) must_check;
/* Keeps the instance's facts until its next boot, for runs that may not ask; fills missing facts from them. */
int loader_keep_facts(int root_fd, const struct facts *f, struct err *e) must_check;
void loader_kept_facts(struct arena *a, int root_fd, struct facts *f);
/* Finds the rest: facts of this host, and those of IMDS that the documents need. CONFIG and this errnum: nobody is asked for one. */
enum { LOADER_UNASKED = ENETDOWN };
int loader_facts(struct loader *l, struct err *e) must_check;
/* The document that kops-controller gives, and secrets with it; its name for messages. EALREADY: it gives none any more. */
int loader_join(struct loader *l, const char **ret_location, struct err *e) must_check;
/* Certificates: those that are kept, where they still do, else new ones for new keys. */
int loader_issues(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* Certificates that the node issues itself: those that it has, where they will do, else new ones for new keys, or unmade ones. */
int loader_self_issue(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* Begins the keys of certificates of which nothing is here: the store takes as long to answer. */
int loader_begin_issues(struct loader *l, const struct node_wants *w, struct err *e) must_check;
/* The certificates of a CA, of which only the one of that id counts (NULL: any); its name for messages. certs NULL: it is not known. */
struct loader_ca {
	const char *name, *certs, *id;
};
/* Checks that the CA is valid now. BUSY and ETIME: this machine's clock may be set yet; CONFIG: it has ended by a server's time too. */
int loader_check_clock(struct loader *l, const struct loader_ca *ca, struct err *e) must_check;
/* For so long another program may take to set the clock after boot, as where a server's certificate is not valid yet. */
#define LOADER_CLOCK_PATIENCE_NS (600 * DUR_SEC)
/* Waits until it is, or nobody has set the clock for so long. */
int loader_await_clock(struct loader *l, const struct loader_ca *ca, int64_t patience_ns,
		       struct err *e) must_check;
/* Say once that certificates stay because the clock is off. */
void loader_warn_clock(struct loader *l, const struct err *off);
/* Begin to make as many keys as are missing of so many, for join_keys_take. Who waits for documents is told of them after ten seconds. */
int loader_begin_keys(struct loader *l, size_t n, struct err *e) must_check;
/* Leaves certificates unmade: nothing is asked for or issued. */
void loader_leave_issues(struct loader *l, const struct node_wants *w);
/* Show the request's foresee() the model before certificates are made or asked for, all of which are unmade there. */
void loader_foresee(struct loader *l, const struct node_wants *w);
/* Names of what is kept of a certificate beside its halves, "crt" and "key": how often it was renewed, and what a check found. */
#define LOADER_RENEWALS "renewals"
#define LOADER_CHECKED "checked"
/* Returns whether the kept LOADER_CHECKED, or NULL, says that the pair is the wanted one, which saves parsing it. Looks at its dates
 * anew, and notes when it ends. */
bool loader_was_checked(const struct loader *l, const struct node_issue *want,
			const struct pem_wanted *w, const char *kept, struct node_keypair *pair);
/* Note for later runs that the check found it right. The same, and dates that were not looked at are no check. */
void loader_note_check(struct loader *l, const struct node_issue *want, const struct pem_wanted *w,
		       const struct pem_life *life, struct node_keypair *pair);
/* The documents that the last run kept, and of which instance; false: none, or they are damaged. */
bool loader_kept(struct loader *l, struct store_origin *ret_of, struct store_texts *ret);
/* The text that an earlier run read at that location, and kept; NULL: none. */
const char *loader_kept_text(struct loader *l, const char *location);
/* The half of a certificate that an earlier run was given, or made, and kept by that name; NULL: none. */
const char *loader_kept_issue(struct loader *l, const char *name, const char *half);
/* The first certificate of a text, as it is kept: one that a server shows may have its CA behind it. What is none, as it is. */
const char *loader_first(struct loader *l, const char *text);
/* Texts as a list that ends in NULL. */
const char *const *loader_list(struct loader *l, const struct strv *texts);
/* Have the node use such a pair, and keep it for the next run. */
void loader_take_issue(struct loader *l, const struct node_keypair *pair);
/* A certificate and its key as they lie on the node, unchecked. */
int loader_adopted_pair(struct loader *l, const struct node_issue *want, struct node_keypair *ret,
			struct err *e) must_check;
/* Asks EC2 for the limits of the node's instance type, where they decide something. An answer that does not come is a warning. */
void loader_type(struct loader *l);
/* Ask for a fact until it is known. */
int loader_ask_fact(struct loader *l, const char *fact, struct err *e) must_check;
/* Know which instance this is: by its firmware or metadata, else as it was known in this boot. */
int loader_instance(struct loader *l, struct err *e) must_check;
/* Know of which kops the documents are. Where nothing in them names it the records do, if they are of this document, else this
 * instance's own user data, if they bring that very document, else the store, if it has the configuration that they name. Only a
 * metadata service that this command has heard is asked, and its silence changes nothing. Then a setting answers, then what was
 * guessed before, then keys and what kops' own program left. A version that is not spoken is an error, as it is elsewhere. */
int loader_vintage(struct loader *l, const struct dialect_opts *o, struct err *e) must_check;
/* Reads the kops on record for the document of --conf, or for a former one (is_former); false: none. */
bool loader_read_vintage(struct loader *l, struct vintage *ret);
/* Returns whether no server has any of the documents. */
bool loader_is_local(const struct loader *l);
/* The key that ties persisted documents to this node; NULL: the instance is not known. */
const char *loader_key(struct loader *l);
/* Key pairs and secrets of the node, all of them present. */
int loader_keys(struct loader *l, struct err *e) must_check;
