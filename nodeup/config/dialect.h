/* dialect.h - a format of documents, and what it says before there is a model
 * Each format that nodeup reads is a folder and a row of dialects[]. The row reads the document of --conf, says where the
 * others are, and turns all of them into the node model. Before the model, code asks the row alone; behind it, the planner
 * alone asks for it, once (plan/era.h).
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, with file:line:column where the document
 * has one. Threads: all functions. Tests: test_dialects.c. */
#pragma once

#include "nodeup/base/errs.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/vintage.h"
#include "nodeup/config/node.h"

/* Warnings and strictness while reading. */
struct dialect_opts {
	bool strict;               /* unknown keys and names are errors */
	const struct strv *accept; /* unknown keys that are no error all the same; NULL: none */
	struct strv *accepted;     /* those of them that are there are appended; NULL: not asked */
	bool any_value;            /* what programs take of values is not looked at */
	const struct strv *accept_values; /* keys whose values no program refuses; NULL: none */
	struct strv *tolerated; /* refused values that it goes on with are appended; or NULL */
	struct strv *warnings;  /* "file:line:column: unknown key 'x'"; NULL: not wanted */
	struct field_unknowns *unknown; /* unknown keys that are no error; NULL: to warnings */
	struct errs *errors; /* keeps errors, and the rest is read; NULL: the first ends it */
	bool checks_alone; /* nothing is made of them: a dialect that can only be checked is fine */
	bool no_host;      /* documents only (validate, userdata): '@aws' stays as it stands */
	/* Tells whether mkfs, whose room has the tables, can make a volume over so many disks (0: not known); NULL: not asked. */
	int (*volume_fits)(const struct node_volume *v, size_t n_disks, struct err *e);
	const struct tree *vintage; /* what the machine's settings say of it; NULL: nothing */
	const char *script;         /* user data that brought the document of --conf; NULL: none */
	struct tree_pos script_pos; /* see vintage_sources */
	/* Tells whether the records say that a run ended well on this instance with a document of such a kops, or, where v is
	 * NULL, with those that were read now. NULL: no records. Asked where a version or a value is refused. */
	bool (*was_applied)(void *records, const struct vintage *v);
	bool (*recorded)(void *records, struct vintage *ret); /* or of those before; NULL: none */
	void *records;
};

/* Append a warning, where they are wanted. */
void dialect_warn(struct arena *a, const struct dialect_opts *o, const char *fmt, ...)
	printf_like(3, 4);

/* A warning of each key that is not known. */
void dialect_warn_unknown(const struct dialect_opts *o, const struct field_unknowns *found);
/* An error of each, where errors are kept, else one that names the others. */
int dialect_refuse_unknown(const struct dialect_opts *o, const struct field_unknowns *found,
			   struct err *e) must_check;

/* A key pair or secret this node cannot do without (or can: optional). */
struct node_want {
	const char *name;
	bool key;      /* the private key as well */
	bool optional; /* absent is fine, the feature is left out */
	bool told;     /* optional, but most clusters have it: its absence is a warning */
	bool pool;     /* a CA: every certificate of it */
	/* of a secret that becomes a file which the API server parses: its flag with the file's name; or NULL */
	const char *flag;
	/* the key that is meant of private/NAME/keyset.yaml; NULL: the largest serial number of issued/NAME. Its older name, or NULL */
	const char *id, *older;
};

/* A certificate that a server issues to this node for a key of its own, or that the node issues itself. */
struct node_issue {
	const char *name;                   /* "kubelet" */
	const char *signer;                 /* the CA's name: "kubernetes-ca" */
	const char *signer_id;              /* and which of its generations; NULL: any */
	const char *pool;                   /* certificates of that CA, PEM */
	const char *subject, *organization; /* CN and O; organization NULL: none */
	bool serves;                        /* for a server, else for a client */
	struct strv hosts;                  /* what it is called beside the subject */
	struct strv others;                 /* what it may be called too */
	/* where the node has it: in a kubeconfig, or in two files */
	const char *login, *cert_at, *key_at;
	const char *pod; /* the static pod that reads it only when it starts; NULL: none */
	bool pod_stays; /* its manifest is not made here: it starts again when something else makes it */
};

struct node_wants {
	struct node_issue *issues; /* sorted by name */
	size_t n_issues;
	struct node_want *keypairs, *secrets;
	size_t n_keypairs, n_secrets;
	const char *key_store, *secret_store; /* URLs or paths; NULL: beside --conf */
	bool is_unsure;                       /* where they are is a wrong value */
	bool every_secret;                    /* what else is in secret_store is a token too */
	struct strv manifests;                /* URLs of texts that go to the node as they are */
	/* of an adopted node that may be called in two ways: what the second would be; or NULL */
	const struct node_wants *otherwise;
};

/* A file of an archive that is a document: by its name there; a NUL stands behind its text. */
struct documents_file {
	const char *path, *text;
	size_t n;
};

/* The servers that give a node the rest of its documents, and certificates. They are trusted by ca alone. */
struct documents_join {
	struct strv servers; /* URLs */
	const char *tls_server_name, *ca;
};

/* The documents of a node. The loader reads cluster and group from where the dialect says they are. */
struct documents {
	const struct dialect *dialect;
	const void *own; /* the dialect's reading of the document of --conf */
	struct settings_doc settings;
	const char *cluster_name;
	struct vintage vintage; /* the kops that rendered them; all 0: not known */
	const char *checked;    /* what was checked of documents without `cluster`; else NULL */
	/* Another program made this node, and its files are right. Without `cluster` nothing else of it is known. */
	bool adopted;
	bool any_patch; /* they tell the oldest Kubernetes that may be meant: its patch version or a later one */
	const char *base; /* the state store, which kept documents are tied to; or NULL */
	const struct documents_join *join; /* gives `cluster`, but where documents alone are read */
	bool in_store; /* the two below are there; else they stand beside --conf */
	/* those that stand beside --conf are taken for them where documents are looked at */
	bool beside_will_do;
	bool of_instance; /* they make a node of what its instance says of itself, and are kept for it alone */
	const char *cluster_at, *group_at; /* URLs or paths; group NULL: there is none to read */
	const char *group_from; /* file:line:column that names the group; NULL: nothing does */
	const struct tree *cluster,
		*group; /* as read; NULL before, TREE_NULL without such a document */
	struct documents_file cluster_text; /* the bytes of `cluster`; text NULL: it is not there */
	/* An archive that is a document too, "HASH@URL,MIRROR"; text NULL: there is none. Its files, once it was read. */
	struct node_text archive;
	struct documents_files {
		struct documents_file *v;
		size_t n;
	} files;
	/* The volume made of the instance store, whose disks must be known before the model, and its key; NULL: none. */
	const char *instance_store, *instance_store_key;
	const char *docker_root; /* docker's directory, an absolute path; NULL: they do not say */
};

/* A node's documents: what of their keys has to be there. YAML; a document that the dialect has not is NULL. */
struct dialect_example {
	const char *role; /* NULL: no more of them */
	const char *document, *cluster, *group;
};

struct dialect {
	const char *name;
	const char *title;                     /* what people call its documents */
	const struct version *oldest, *newest; /* of Kubernetes, whose nodes are made */
	const char *conf_name; /* of the document of --conf, where it has the usual name */
	const char *cluster_name,
		*group_name; /* of the others, where they stand beside it; NULL: there are none */
	bool cluster_tells;  /* its keys, too, tell which kops rendered it: a NodeupConfig */
	bool (*is_same_kops)(const struct version *x, const struct version *y); /* may be NULL */
	bool dual_stack;           /* S3 is asked at names that have addresses of IPv6 too */
	const char *const *places; /* where a conf is looked for; NULL-terminated */
	const char *const *signs;  /* keys of the document of --conf that no other dialect has */
	const struct schema *document;        /* the document of --conf, for `nodeup help config` */
	const struct schema *cluster, *group; /* the two others, or NULL */
	const struct dialect_program {
		const char *name; /* "kube-apiserver"; NULL: no more of them */
		const struct schema *schema;
	} * programs; /* their keys, and the flags that these become; or NULL */
	const struct field_rules *const
		*rules; /* of several keys, for `nodeup help KEY`; NULL-terminated, or NULL */
	const struct schema *hook, *file_asset; /* an item of their lists, or NULL */
	const struct schema *volume_mount;      /* an item of its volumeMounts, or NULL */
	const struct dialect_example *examples; /* for `nodeup example`; or NULL */
	/* Append which key pairs and secrets its nodes take, and from which files, for `nodeup help pki`; or NULL. */
	void (*pki)(struct buf *b);
	/* Takes the document out of the dialect's boot script; its lines keep their numbers. -ENOENT: no such script. Or NULL. */
	int (*script)(struct arena *a, const char *file, const char *text, const char **ret,
		      struct err *e);
	/* Read the document of --conf and check it by itself; fills all of ret but cluster and group. */
	int (*read)(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		    struct documents *ret, struct err *e);
	/* Fails with ESTALE if the document of --conf means other bytes of `cluster`; returns its line that means these. Or NULL. */
	int (*check_cluster)(struct arena *a, const struct documents *d, const char *from,
			     const char *text, size_t n, struct err *e);
	const char *(*cluster_hash_line)(struct arena *a, const char *text, size_t n);
	/* Build the model. Key pairs and secrets stay empty. */
	int (*node)(struct arena *a, const struct documents *d, const struct facts *f,
		    const struct dialect_opts *o, struct node *ret, struct err *e);
	/* The proxy of the cluster's document alone; its url is NULL without one. NULL: the document names none. */
	int (*proxy)(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		     struct node_proxy *ret, struct err *e);
	/* The key of a want of a keyset, with its certificate; or NULL: the dialect has no keysets. */
	int (*keyset)(struct arena *a, const struct tree *t, const char *name, const char *id,
		      struct node_keypair *ret, struct err *e);
	/* The keys and secrets that have to be loaded for this node; or NULL: all are in the documents. */
	struct node_wants (*wants)(struct arena *a, const struct documents *d,
				   const struct node *n);
};
