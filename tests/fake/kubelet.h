#pragma once
/* kubelet.h - the stand-in for kubelet of Kubernetes 1.6 to 1.10, one version a build
 * No distribution packages a kubelet, so the tests start this one: it accepts exactly what the real
 * one accepts on its command line, in its kubeconfig and in its manifest directory, and runs no pod.
 * Every check either returns or ends the process with status 1 and one line on stderr.
 * Owner: everything lives until exit.  Errors: none returned.  Units: none.  Threads: one.
 * Source: kubernetes release-1.8 (the files are named above each table). */

#include <stdbool.h>
#include <yaml.h>

/* 1.KUBE_MINOR is what it stands for. */
#ifndef KUBE_MINOR
#define KUBE_MINOR 8
#endif

/* Rows of the tables below leave out what they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define noreturn_fmt(f, a) __attribute__((format(printf, f, a), noreturn))

/* Print one line, prefixed as glog does, and end with status 1. */
void die(const char *fmt, ...) noreturn_fmt(1, 2);

/* The value of a flag after flags_parse: what was given, else its default. */
const char *flag_value(const char *name);
bool flag_bool(const char *name);

/* Parse argv as pflag does and check every value; prints the help and ends on --help, --version. */
void flags_parse(int argc, char **argv);

/* Does the whole of s look like a Kubernetes quantity, or a DNS-1123 name of at most max bytes? */
bool is_quantity(const char *s);
bool is_dns_name(const char *s, size_t max, bool dots);

/* A YAML file as libyaml's document; path is kept for messages. */
struct yfile {
	const char *path;
	yaml_document_t doc;
	yaml_node_t *root;
};

/* Read and parse path, which must hold a mapping. */
void yfile_open(struct yfile *y, const char *path);
void yfile_close(struct yfile *y);

/* The value below a mapping, NULL if absent or null. */
yaml_node_t *ynode_get(struct yfile *y, yaml_node_t *map, const char *key);
/* The text of a scalar, NULL for anything else. */
const char *ynode_text(const yaml_node_t *n);
/* What a scalar is: s(tring), i(nteger), f(loat), b(oolean), n(ull); 0 for anything else. */
char ynode_kind(const yaml_node_t *n);
/* End with "path:line: where: message". */
void ynode_die(struct yfile *y, const yaml_node_t *n, const char *where, const char *fmt, ...)
	noreturn_fmt(4, 5);

/* A field of an API object; kind: s i b as above, q(uantity), m(ap of strings), M(ap of quantities),
 * l(ist of strings), o(bject), O (list of objects), '*' (anything). */
struct yfield {
	const char *name;
	char kind;
	bool required;
	const struct yfield *sub;
	const char *oneof; /* "A|B|C" */
};

/* Check an object against its fields, unknown and duplicate ones refused. */
void yobject_check(struct yfile *y, yaml_node_t *n, const char *where, const struct yfield *fields);

/* Ask the metadata service as the AWS provider of these versions does at its start: by version 1. */
void cloud_check(void);
/* Refuse a manifest that 1.8 would not run as a static pod, or a kubeconfig it could not use. */
void pod_check(const char *path);
void kubeconfig_check(const char *path);
