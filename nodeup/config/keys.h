/* keys.h - checks certificates, keys and secrets of the store, and puts them into the model
 * Owner: the arena. Errors: CONFIG that begins with the text's place; no message quotes a key or a secret. Threads:
 * one.
 * Source: kops 1.8.1 upup/pkg/fi/{ca,secrets}.go.
 * Tests: test_kops18_store.c. */
#pragma once

#include "nodeup/config/node.h"

/* Checks a certificate; the message begins with its place, `from`. */
int node_check_certificate(const char *name, const char *text, const char *from,
			   struct err *e) must_check;
/* Checks a certificate and its key, and puts them into the model; `from` has their places, for messages. */
int node_add_keypair(struct arena *a, struct node *n, const struct node_keypair *pair,
		     const struct node_keypair *from, struct err *e) must_check;
/* Checks the text of a secret that is a document: dockerconfig is a JSON object. The message begins with its place,
 * `from`. */
int node_check_secret(const char *id, const char *text, const char *from, struct err *e) must_check;
/* Reads a secret's JSON {"Data":"<base64>"} and puts the token into the model. */
int node_add_secret(struct arena *a, struct node *n, const char *id, const struct tree *json,
		    const char *from, struct err *e) must_check;
