/* check.h - what the checks of `nodeup check` and of apply work with, and those of what is to come
 * Bodies: check.c, check_assets.c, check_places.c.
 * Owner: cmd_check. Errors: as each check says. Units: bytes. Threads: one; check_ask uses others and ends them.
 * Tests: test_check.py, cmd/test_check.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/cmd/session.h"

enum check_result { CHECK_RIGHT, CHECK_ODD, CHECK_SKIPPED, CHECK_FAILED };

/* The answer of a mirror about an asset that is to come. */
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
	struct session *s;
	int opened;            /* of the session; < 0 with why */
	struct err why;        /* it was not opened */
	struct run_report rep; /* what a run would do */
	bool before_change;    /* for a run of apply: the size of what comes is not asked for */
	struct check_asset *assets; /* that are not in the cache */
	size_t n_assets;
	struct map places; /* that check_places.c has looked at */
	char said[256];    /* what a check that is right has to tell */
};

/* Read --ignore: names of all checks, or of those that apply makes before a change. USAGE for another name. */
int check_ignored(const struct cli *cli, bool all, struct strv *ret, struct err *e) must_check;
/* The checks of this machine that apply makes when something is to change, and before it is changed: the error of the
 * first that fails and is not ignored. Others are warnings, as their cause may be gone in time. `rep` is of the run; NULL: before it, and nobody is warned. */
int check_before_change(const struct cli *cli, struct session *s, const struct run_report *rep,
			struct err *e) must_check;
/* The result of a check, and what it has to tell of it. */
int check_say(struct checking *c, enum check_result result, const char *fmt, ...) printf_like(3, 4);
/* Judge the time of a clock: SYSTEM if it is from before nodeup. */
int check_clock(int64_t now_ns, struct err *e) must_check;
/* Ask a mirror of each asset that is to be fetched whether it has it, all at once. */
void check_ask(struct checking *c);
/* Look up the address of each name. Each check returns a check_result, or < 0 with *e. */
int check_names(struct checking *c, struct err *e) must_check;
/* Ask whether a mirror has each asset. */
int check_mirrors(struct checking *c, struct err *e) must_check;
/* Look for a read-only file system where something is to change. */
int check_writable(struct checking *c, struct err *e) must_check;
/* Compare what comes with the room of each file system. */
int check_space(struct checking *c, struct err *e) must_check;
