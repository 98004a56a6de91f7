/* dialect.h - a format of documents, and everything known of it before there is a model
 * Each format that nodeup reads is a folder and a row of dialects[]. The row reads the document of --conf, names the
 * places of the other documents, and makes the node model of all documents. Until there is a model, code asks only
 * the row. Once there is a model, only the planner asks for the dialect, and only once (plan/era.h).
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, with file:line:column where the
 * document has one. Threads: all functions.
 * Tests: test_dialects.c. */
#pragma once

#include "nodeup/base/errs.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/vintage.h"
#include "nodeup/config/node.h"

/* Options of reading, and lists that reading appends to. */
struct dialect_opts {
	bool strict;               /* unknown keys and names are errors */
	const struct strv *accept; /* unknown keys that are no error; NULL: none */
	struct strv *accepted;     /* gets the unknown keys that were accepted; NULL: not wanted */
	bool any_value;            /* values are not compared with what the programs accept */
	const struct strv *accept_values; /* keys whose values are not checked; NULL: none */
	struct strv *tolerated; /* gets refused values with which the run goes on; or NULL */
	struct strv *warnings;  /* "file:line:column: unknown key 'x'"; NULL: not wanted */
	/* gets unknown keys that are no error; NULL: they become warnings */
	struct field_unknowns *unknown;
	struct errs *errors; /* keeps errors and reads on; NULL: the first error ends the reading */
	bool checks_alone; /* the documents are only checked, so a dialect that cannot make a node is enough */
	bool no_host; /* only documents (validate, userdata): '@aws' stays unresolved */
	/* Tells whether mkfs (whose room has the tables) can make a volume of so many disks (0: not known); NULL:
	 * not asked. */
	int (*volume_fits)(const struct node_volume *v, size_t n_disks, struct err *e);
	const struct tree *vintage; /* version of kops in the machine's settings; NULL: none */
	const char *script;         /* the user data that held the document of --conf; NULL: none */
	struct tree_pos script_pos; /* see vintage_sources */
	/* Returns whether a run with a document of kops v (NULL: with these very documents) ended well on this
	 * instance. Called if a version or a value is refused. The function is NULL if there are no records. */
	bool (*was_applied)(void *records, const struct vintage *v);
	/* gives the recorded version of kops, of these or earlier documents; or NULL */
	bool (*recorded)(void *records, struct vintage *ret);
	void *records;
};

/* Appends a warning if warnings are wanted. */
void dialect_warn(struct arena *a, const struct dialect_opts *o, const char *fmt, ...)
	printf_like(3, 4);

/* Warns of each unknown key. */
void dialect_warn_unknown(const struct dialect_opts *o, const struct field_unknowns *found);
/* If errors are kept, makes an error of each unknown key; else makes one error that names all. */
int dialect_refuse_unknown(const struct dialect_opts *o, const struct field_unknowns *found,
			   struct err *e) must_check;

/* A key pair or secret that this node needs. */
struct node_want {
	const char *name;
	bool key;      /* the private key as well */
	bool optional; /* may be missing; its feature is then left out */
	bool told;     /* optional, but most clusters have it: warns if it is missing */
	bool pool;     /* a CA: takes all its certificates */
	/* if the secret becomes a file of the API server: the flag that names the file; else NULL */
	const char *flag;
	/* id of the key in private/NAME/keyset.yaml; NULL: the largest serial number of issued/NAME. `older`: the
	 * keyset's older name, or NULL */
	const char *id, *older;
};

/* A certificate for a key that this node makes. A server issues it, or the node itself. */
struct node_issue {
	const char *name;                   /* "kubelet" */
	const char *signer;                 /* the CA's name: "kubernetes-ca" */
	const char *signer_id;              /* id of the CA's key; NULL: any */
	const char *pool;                   /* certificates of that CA, PEM */
	const char *subject, *organization; /* CN and O; organization NULL: none */
	bool serves;                        /* true: for a server; false: for a client */
	struct strv hosts;                  /* names and addresses that the certificate must have */
	struct strv others;                 /* names and addresses that the certificate may have */
	/* the certificate's place on the node: in a kubeconfig, or in two files */
	const char *login, *cert_at, *key_at;
	const char *pod; /* pod that reads the certificate only at its start; NULL: none */
	bool pod_stays;  /* another program makes the pod's manifest, and so restarts the pod */
};

struct node_wants {
	struct node_issue *issues; /* sorted by name */
	size_t n_issues;
	struct node_want *keypairs, *secrets;
	size_t n_keypairs, n_secrets;
	const char *key_store, *secret_store; /* URLs or paths; NULL: beside --conf */
	bool is_unsure;        /* the documents' value for the place of the keys is wrong */
	bool every_secret;     /* every other file in secret_store is a token too */
	struct strv manifests; /* URLs of texts that the node gets unchanged */
	/* wants of the node under its other name, as an adopted node may have one of two names; or NULL */
	const struct node_wants *otherwise;
};

/* A file of an archive that counts as a document, by its name in the archive. A NUL follows the text. */
struct documents_file {
	const char *path, *text;
	size_t n;
};

/* The servers from which a node gets its other documents and its certificates. Only `ca` is trusted. */
struct documents_join {
	struct strv servers; /* URLs */
	const char *tls_server_name, *ca;
};

/* The documents of a node. The loader reads cluster and group from the places that the dialect gives. */
struct documents {
	const struct dialect *dialect;
	const void *own; /* the document of --conf, as the dialect read it */
	struct settings_doc settings;
	const char *cluster_name;
	struct vintage vintage; /* version of kops that wrote the documents; all 0: not known */
	const char *checked;    /* what was checked, if `cluster` is missing; else NULL */
	/* Another program made this node, and its files are right. Without `cluster` no more is known of it. */
	bool adopted;
	bool any_patch;   /* Kubernetes may have a newer patch version than the documents say */
	const char *base; /* the state store, which kept documents are tied to; or NULL */
	/* these servers give `cluster`, unless only documents are read */
	const struct documents_join *join;
	bool in_store; /* cluster_at and group_at are in the store; else beside --conf */
	/* in a run that changes nothing, documents beside --conf may be used instead */
	bool beside_will_do;
	bool of_instance; /* the node depends on its instance's own facts, so they are kept for this instance alone */
	const char *cluster_at, *group_at; /* URLs or paths; group NULL: none is read */
	const char *group_from;            /* file:line:column of the group's name; NULL: no name */
	const struct tree *cluster, *group; /* as read; NULL before that, TREE_NULL if missing */
	struct documents_file cluster_text; /* the bytes of `cluster`; text NULL: it is missing */
	/* An archive that counts as a document, "HASH@URL,MIRROR"; text NULL: none. `files` is filled once the
	 * archive is read. */
	struct node_text archive;
	struct documents_files {
		struct documents_file *v;
		size_t n;
	} files;
	/* The volume made of the instance store, whose disks must be known before the model, and its key; NULL:
	 * none. */
	const char *instance_store, *instance_store_key;
	const char *docker_root; /* docker's directory, an absolute path; NULL: not given */
};

/* An example of a node's documents, as YAML, with the keys that they must have. NULL: the dialect has no such
 * document. */
struct dialect_example {
	const char *role; /* NULL: ends the list */
	const char *document, *cluster, *group;
};

struct dialect {
	const char *name;
	const char *title;                     /* the usual name of its documents */
	const struct version *oldest, *newest; /* oldest and newest Kubernetes of its nodes */
	const char *conf_name;                 /* usual name of the document of --conf */
	const char *cluster_name,
		*group_name; /* usual names of the other documents, beside it; NULL: there are none */
	bool cluster_tells; /* `cluster` is a NodeupConfig, so its keys too tell the version of kops */
	bool (*is_same_kops)(const struct version *x, const struct version *y); /* may be NULL */
	bool dual_stack;           /* uses S3's host names that have IPv6 addresses too */
	const char *const *places; /* places to look for a conf; NULL-terminated */
	const char *const *signs;  /* keys of the document of --conf that no other dialect has */
	const struct schema *document;        /* the document of --conf, for `nodeup help config` */
	const struct schema *cluster, *group; /* the other two documents, or NULL */
	const struct dialect_program {
		const char *name; /* "kube-apiserver"; NULL: ends the list */
		const struct schema *schema;
	} * programs; /* the program's keys, and their flags; or NULL */
	/* rules across several keys, for `nodeup help KEY`; NULL-terminated, or NULL */
	const struct field_rules *const *rules;
	const struct schema *hook, *file_asset; /* an item of hooks, of fileAssets; or NULL */
	const struct schema *volume_mount;      /* an item of a hook's volumeMounts, or NULL */
	const struct dialect_example *examples; /* examples for `nodeup example`; or NULL */
	/* Appends the key pairs and secrets of its nodes, with their files, for `nodeup help pki`; or NULL. */
	void (*pki)(struct buf *b);
	/* Takes the document out of the dialect's boot script; its lines keep their numbers. -ENOENT: no such
	 * script. The function may be NULL. */
	int (*script)(struct arena *a, const char *file, const char *text, const char **ret,
		      struct err *e);
	/* Reads the document of --conf and checks it by itself. Fills all of ret but cluster and group. */
	int (*read)(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		    struct documents *ret, struct err *e);
	/* Returns the line of the document of --conf that names the bytes of `cluster` by their hash. Fails with
	 * ESTALE if the hash is of other bytes. The function may be NULL. */
	int (*check_cluster)(struct arena *a, const struct documents *d, const char *from,
			     const char *text, size_t n, struct err *e);
	const char *(*cluster_hash_line)(struct arena *a, const char *text, size_t n);
	/* Builds the model. Key pairs and secrets stay empty. */
	int (*node)(const struct reading *in, const struct documents *d);
	/* Reads the proxy out of the cluster's document alone; its url is NULL if there is none. The function is
	 * NULL if no document names a proxy. */
	int (*proxy)(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		     struct node_proxy *ret, struct err *e);
	/* Reads the wanted key of a keyset, with its certificate. NULL: the dialect has no keysets. */
	int (*keyset)(struct arena *a, const struct tree *t, const char *name, const char *id,
		      struct node_keypair *ret, struct err *e);
	/* Lists the keys and secrets to load for this node. NULL: all are in the documents. */
	struct node_wants (*wants)(struct arena *a, const struct documents *d,
				   const struct node *n);
};
