/* members.h - members of archives on their way to their places
 * Each member to install gets a staging file beside its target. Only the unpacker has the file's descriptor
 * (extract.h), while the archive arrives or in a pass over the entry. The installing task gets the file only when
 * the archive's hash and signatures were right, and gives it its final name. Findings about members are remembered,
 * and recorded with the entry, so that a later run reads no archive. Documents name a member by its last part
 * ("bridge"), as kops does; take.h tells how the file is chosen.
 * Owner: members_new/members_free, after the fetcher and before the cache; a taken stage is the caller's. Errors:
 * INTEGRITY for an archive that is refused, SYSTEM. Threads: all functions.
 * Tests: test_members.c. */
#pragma once

#include "nodeup/tasks/task.h"

struct members;

enum members_found {
	MEMBERS_NOT_READ, /* the archive was not read, or cannot be */
	MEMBERS_NONE,
	MEMBERS_LINK, /* a link without a file: only files are installed */
	MEMBERS_FILE
};

/* The finding about a name in an archive. */
struct members_told {
	enum members_found found;
	struct digest digest; /* sha256 of the member, if it is a file */
	uint64_t entry; /* number of the entry, if this process has read the archive; else 0 */
	const char *link, *target;
};

/* Makes the members of these tasks' archives; tasks and ctx must stay. */
struct members *members_new(struct task_ctx *ctx, const struct task *const *tasks, size_t n);
/* Removes staged files that were not taken; NULL is fine. */
void members_free(struct members *m);
/* Returns the sink for the fetcher. */
struct fetch_sink members_sink(struct members *m);
/* Hashes the cache's bytes of an asset. If an installed file is first looked for in this archive, reads the archive
 * too, since a run that trusts no record compares the file with it. Threads that want the archive meanwhile wait: it
 * is hashed and read only once. */
enum cache_state members_recheck(struct task_ctx *ctx, const struct asset *as, struct err *e);
/* Returns whether the archive was read to its end, by this process or, according to its record, by another. */
bool members_are_read(struct task_ctx *ctx, const struct asset *as);
/* Returns whether a folder of a member of this unpack task is still missing. */
bool members_lack_folder(struct task_ctx *ctx, const struct task *unpack);
/* Reads the entry once, for members of this unpack task that are neither right nor staged. If there are no such
 * members, the pass only judges the entry, and is left out if the entry was judged before. */
int members_read(struct task_ctx *ctx, const struct task *unpack, struct err *e) must_check;
/* Takes the archive's member for an install, as a staged file. If the archive was not read: with `waits` the answer
 * is MEMBERS_NOT_READ; without it, the archive is read now if it is here. */
int members_take(struct task_ctx *ctx, const struct task *install, const struct asset *as,
		 bool waits, struct io_stage *stage, struct members_told *ret,
		 struct err *e) must_check;
/* Removes all stages of an install that were not taken. */
void members_drop(struct task_ctx *ctx, const struct task *install);
/* Returns what is known of a member, from memory or from the archive's record. may_read: also reads the archive,
 * which is the only source for a run that verifies. */
struct members_told members_tell(struct task_ctx *ctx, const struct asset *as, const char *member,
				 bool may_read);
