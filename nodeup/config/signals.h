/* signals.h - what is told outside of a node: its first success, and a run that failed for good
 * One table of signals, and the rule that says which of them a run may send. A failure of the kind that ends an
 * instance is told by our unit at the instance's first boot alone, once, and never after the node was ready.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: API references of EC2, Amazon EC2 Auto Scaling and AWS CloudFormation.
 * Tests: test_signals.c. */
#pragma once

#include "nodeup/base/str.h"

enum { SIGNAL_PARAMETERS = 4 };

struct signal_row {
	const char *name, *form;      /* of the setting: "tag" = "KEY"; form NULL: the name alone */
	const char *service, *action; /* as signatures name the service */
	/* values of angle brackets stand for parts of the setting, the instance, and what is told */
	struct {
		const char *key, *value;
	} parameters[SIGNAL_PARAMETERS];
	const char *success, *failure; /* what is told; NULL: nothing */
	bool is_of_hook;   /* is sent only while the group wants the instance in service */
	bool is_harmless;  /* a failure is told at any time, by any run */
	const char *right; /* that the instance's role needs */
};

/* One signal of the settings. */
struct signal {
	const struct signal_row *row;
	const char *first, *second; /* the parts of its form; second NULL: it has one */
};

/* The record's word for this instance. */
enum signal_word {
	SIGNAL_NOTHING,
	SIGNAL_FAILED, /* its end was asked for */
	SIGNAL_UNTOLD, /* it was ready, and a service did not hear of it */
	SIGNAL_READY,
	SIGNAL_LATE, /* it failed after it was ready */
	SIGNAL_WORDS
};

struct signal_moment {
	bool failed;
	bool by_boot_unit, is_first_boot;
	enum signal_word word;
};

/* Reads "NAME" or "NAME=FIRST:SECOND". False: it is no signal. */
bool signal_parse(struct arena *a, const char *text, struct signal *ret);
/* Returns the signal of a lifecycle hook. */
struct signal signal_of_hook(const char *group, const char *hook);
/* Returns the forms of all signals: "lifecycleHook=GROUP:HOOK, instanceHealth". */
const char *signal_forms(struct arena *a);
bool signal_may_be_sent(const struct signal_row *row, const struct signal_moment *m);
/* Returns the word after such a run. heard: each service that was told has answered. */
enum signal_word signal_after(const struct signal_moment *m, bool heard);
/* Returns the request's parameters. */
struct strmap signal_parameters(struct arena *a, const struct signal *s, const char *instance,
				bool failed);
/* The words of the record. */
extern const char *const signal_words[SIGNAL_WORDS];
