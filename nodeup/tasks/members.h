/* members.h - members of archives on their way to the places where they are installed
 * Each member that is to be installed gets a staging file beside its target, whose descriptor alone the unpacker has
 * (extract.h): while the archive arrives, or in a pass over the entry. What it is named after is for the task that
 * installs it, which gets the file only when the archive's hash and its signatures were right.
 * What an archive has of each member is remembered, and is on record with the entry: a later run reads no archive.
 * Documents name a member by its last part ("bridge"), as kops does; which file is meant is in take.h.
 * Owner: members_new/members_free, after the fetcher and before the cache; a stage that was taken is the caller's.
 * Errors: INTEGRITY for an archive that is refused, SYSTEM. Threads: all functions.
 * Tests: test_members.c. */
#pragma once

#include "nodeup/tasks/task.h"

struct members;

enum members_found {
	MEMBERS_NOT_READ, /* the archive was not read, or cannot be */
	MEMBERS_NONE,
	MEMBERS_LINK, /* and no file: only files are installed */
	MEMBERS_FILE
};

/* The content that an archive has under a name. */
struct members_told {
	enum members_found found;
	struct digest digest; /* of a file: sha256 */
	uint64_t entry;       /* its number, where this process has read the archive; else 0 */
	const char *link, *target;
};

/* For the archives of these tasks, which are kept by reference with the context. */
struct members *members_new(struct task_ctx *ctx, const struct task *const *tasks, size_t n);
/* Remove what was staged and not taken; NULL is fine. */
void members_free(struct members *m);
/* To be given to the fetcher. */
struct fetch_sink members_sink(struct members *m);
/* Hash the cache's bytes of an asset. An archive of which something is installed is then read, for what a run that
 * believes nothing compares with: who wants it meanwhile waits, and nobody hashes or reads it again. */
enum cache_state members_recheck(struct task_ctx *ctx, const struct asset *as, struct err *e);
/* Returns whether the archive was read to its end, by this process or, by its record, by another. */
bool members_are_read(struct task_ctx *ctx, const struct asset *as);
/* Returns whether a folder is still to be made where a member of this unpack task goes. */
bool members_lack_folder(struct task_ctx *ctx, const struct task *unpack);
/* Read the entry once, for the members of this unpack task that are not right and not staged; without such for its
 * verdict, unless it was read. */
int members_read(struct task_ctx *ctx, const struct task *unpack, struct err *e) must_check;
/* Take what the archive has for an install: the file is staged. With `waits` an archive that is read later is
 * MEMBERS_NOT_READ; without, one that is here is read now. */
int members_take(struct task_ctx *ctx, const struct task *install, const struct asset *as,
		 bool waits, struct io_stage *stage, struct members_told *ret,
		 struct err *e) must_check;
/* Remove all that is staged for an install and was not taken. */
void members_drop(struct task_ctx *ctx, const struct task *install);
/* Tell what the archive has of a member, from what is remembered or on record; or with `may_read` from the archive,
 * which nothing else is believed of in a run that verifies. */
struct members_told members_tell(struct task_ctx *ctx, const struct asset *as, const char *member,
				 bool may_read);
