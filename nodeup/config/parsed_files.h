/* parsed_files.h - checks files that the API server parses at its start: an error in them stops it
 * The demands are data: kinds, parts, words and forms of values, by version. Reports only errors that every build of
 * the program refuses; ignores keys that are unknown here.
 * Invariant: of a file that holds keys, a finding shows only its place and no text.
 * Owner: the arena. Errors: none; findings are data, the caller weighs them. Threads: all.
 * Source: k8s.io/apiserver 24a394e and its tags 1.7.16 to 1.36.3: pkg/server/options/encryptionconfig,
 * pkg/apis/apiserver/validation, pkg/apis/audit/validation, pkg/audit/policy/reader.go, pkg/admission/config.go;
 * kubernetes 1.31 pkg/kubeapiserver/options/authentication.go.
 * Tests: test_parsed_files.c. */
#pragma once

#include "nodeup/base/accepts.h"
#include "nodeup/config/node.h"

/* The text of a file. */
struct parsed_text {
	const char *flag; /* the API server's flag that names the file: "audit-policy-file" */
	const char *key;  /* the file's name in the setting `accept`: a path, or a secret's name */
	const char *from; /* begins each finding: "f:2:1: FileAssets: '/srv/a.yaml'" */
	const char *text;
	size_t n;
};

/* Appends the errors that the API server of Kubernetes 1.minor would find in a text. Appends nothing for a flag that
 * is unknown here. */
void parsed_text_check(struct arena *a, const struct parsed_text *t, int minor,
		       struct accepts_findings *ret);
/* Checks each file of the node that a flag of the API server names. obj is of schema s, and holds the flags. */
void parsed_files_check(struct arena *a, const struct schema *s, const void *obj,
			const struct node *n, struct accepts_findings *ret);
