/* state.h - what was applied: one record a path in /var/lib/nodeup/state
 * A record says: at this path we put these bytes, and then the file's stamp was this. A file whose
 * stamp still matches need not be read again. Losing or damaging the state costs time, never
 * correctness: a bad line is dropped, the file is read and compared.
 * A file whose fsync failed is remembered as lost, and put there anew by the next run that meets it: it reads
 * as right from memory, and may be anything after a reboot.
 * What we wrote is told from what we found as it should be: only the former may be removed again.
 * Text, one line a record: digest, device, inode, size, mtime, ctime, mode, uid, gid, origin, path; before the digest
 * "!" if it is lost, or else "+" if we wrote it.
 * Owner: state_open/state_close. Errors: SYSTEM. Threads: all functions.
 * Tests: test_tasks.c. */
#pragma once

#include "assets/digest.h"
#include "nodeup/base/io.h"

struct state;

/* Returns whether a text is a state, of which no end is missing. */
bool state_is_whole(const char *text, size_t n);
/* Read the state below root; absent or damaged is empty. Nothing is written before state_store. */
int state_open(int root_fd, struct state **ret, struct err *e) must_check;
/* Release; NULL is fine. */
void state_close(struct state *s);
/* Returns whether the file at path, of which `st` was taken, is known to hold d, by its stamp alone. */
bool state_is(struct state *s, const char *path, const struct stat *st, const struct digest *d);
/* The size that the file at path had when it was seen to hold d, whatever is there now; 0: it never was. */
uint64_t state_size_of(struct state *s, const char *path, const struct digest *d);
/* Open a file that is known, by its stamp alone, to hold d; -1: there is none. */
int state_open_copy(struct state *s, const struct digest *d);
/* Returns whether it is one whose fsync failed. */
bool state_is_lost(struct state *s, const char *path, const struct stat *st);
/* Record that we wrote d to path, and that this is on the disk. The stamp is that of fd, which is open for it: whoever put another
 * file there since did not get our record. */
void state_set(struct state *s, const char *path, int fd, const struct digest *d,
	       const char *origin);
/* Record that path held d when it was read, which was after `st` was taken: a change since then makes
 * the record void. state_sync flushes it before its record counts, unless there is the same one already. */
void state_saw(struct state *s, const char *path, const struct digest *d, const char *origin,
	       const struct stat *st);
/* The paths that we wrote a file to; with found_too also those where we found it as it should be. Those that `origin` asked for
 * are left out. Whether a file is there now is not looked at. */
struct strv state_written(struct state *s, struct arena *a, const char *const *origins,
			  bool found_too);
/* The names in that directory, with its slash, that have a record, but for those that `origin` asked for: written by us, or
 * found as they should be. */
struct strv state_names(struct state *s, struct arena *a, const char *dir,
			const char *const *origins);
/* Returns whether the file at path, of which `st` was taken, is still the one that we wrote, or with found_too found there. */
bool state_wrote(struct state *s, const char *path, const struct stat *st, bool found_too);
/* We removed what was at path. */
void state_forget(struct state *s, const char *path);
/* fsync what is recorded and not durable yet. Where that fails the files are lost from now on, and the error
 * names them: SYSTEM. */
int state_sync(struct state *s, struct err *e) must_check;
/* Write the state if anything was recorded since it was read, but for records that state_sync has not seen. */
int state_store(struct state *s, struct err *e) must_check;
