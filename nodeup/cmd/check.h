/* check.h - what the checks of `nodeup check` work with, and those of what is to come from the network
 * Bodies: check.c, check_assets.c.
 * Owner: cmd_check. Errors: as each check says. Units: bytes. Threads: one; check_ask uses others and ends them. */
#pragma once

#include "nodeup/cmd/session.h"
#include "nodeup/cmd/session_disks.h"

enum check_result { CHECK_RIGHT, CHECK_ODD, CHECK_SKIPPED, CHECK_FAILED };

/* What a mirror says of an asset that is to come. */
struct check_asset {
	const struct asset *asset;
	struct http *http;
	int64_t length; /* -1: no mirror said it */
	int r;          /* < 0: no mirror has it */
	bool no_name;   /* the name service had no address of a mirror */
	struct err why;
};

struct checking {
	const struct cli *cli;
	struct session s;
	int opened;     /* of the session; < 0 with why */
	struct err why; /* it was not opened */
	struct run_report rep;
	struct check_asset *assets; /* that are not in the cache */
	size_t n_assets;
	char said[256]; /* what a check that is right has to tell */
};

/* Whether another program has kubelet's ports while kubelet does not run: BUSY. */
int check_ports(struct session *s, struct err *e) must_check;
/* Ask a mirror of each asset that is to be fetched whether it has it, all at once. */
void check_ask(struct checking *c);
/* Whether each name has an address. Each check: a check_result, or < 0 with *e. */
int check_names(struct checking *c, struct err *e) must_check;
/* Whether a mirror has each asset. */
int check_assets(struct checking *c, struct err *e) must_check;
/* Whether all that comes has room, by file system. */
int check_room(struct checking *c, struct err *e) must_check;
