/* check.h - the context of the checks of `nodeup check` and apply, and the checks of a run's future work
 * Bodies: check.c, check_assets.c, check_places.c.
 * Owner: cmd_check. Errors: as each check says. Units: bytes. Threads: one; check_ask uses others and ends them.
 * Tests: test_check.py, cmd/test_check.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/cmd/session.h"

enum check_result { CHECK_RIGHT, CHECK_ODD, CHECK_SKIPPED, CHECK_FAILED };

/* A mirror's answer about an asset to fetch. */
struct check_asset {
	const struct asset *asset;
	struct http *http;
	int64_t length; /* -1: no mirror gave the length */
	int r;          /* < 0: no mirror has it */
	bool no_name;   /* the name service had no address of any mirror */
	struct err why;
};

struct checking {
	const struct cli *cli;
	struct session *s;
	int opened;                 /* result of session_open; < 0 with why */
	struct err why;             /* why the session was not opened */
	struct run_report rep;      /* a plan: what a run would do */
	bool before_change;         /* inside apply: does not ask for sizes */
	struct check_asset *assets; /* assets that are not in the cache */
	size_t n_assets;
	struct map places; /* places that check_places.c has looked at */
	char said[256];    /* remark of a check that found all right */
};

/* Reads --ignore: names of all checks, or only of those that apply makes. Fails with USAGE for any other name. */
int check_ignored(const struct cli *cli, bool all, struct strv *ret, struct err *e) must_check;
/* Makes apply's checks of this machine before a change. Fails with the first failed check that is not ignored.
 * Checks whose causes may pass only warn. rep: the run's report; NULL: before the run, and without warnings. */
int check_before_change(const struct cli *cli, struct session *s, const struct run_report *rep,
			struct err *e) must_check;
/* Sets the remark of a check, and returns its result. */
int check_say(struct checking *c, enum check_result result, const char *fmt, ...) printf_like(3, 4);
/* Checks a clock's time: fails with SYSTEM if the time is before nodeup was written. */
int check_clock(int64_t now_ns, struct err *e) must_check;
/* Asks mirrors about all assets to fetch, at once. */
void check_ask(struct checking *c);
/* Looks up the address of each name. Like each check it returns a check_result, or < 0 with *e. */
int check_names(struct checking *c, struct err *e) must_check;
/* Checks whether a mirror has each asset. */
int check_mirrors(struct checking *c, struct err *e) must_check;
/* Looks for a read-only file system where a run would write. */
int check_writable(struct checking *c, struct err *e) must_check;
/* Compares the bytes to come with the room on each file system. */
int check_space(struct checking *c, struct err *e) must_check;
