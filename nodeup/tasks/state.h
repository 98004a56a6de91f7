/* state.h - what was applied: one record a path in /var/lib/nodeup/state
 * A record says: at this path we put these bytes, and then the file's stamp was this. A file whose stamp still
 * matches need not be read again. A lost or damaged state costs time, never correctness: a bad line is dropped, and
 * the file is read and compared.
 * A file whose fsync failed is remembered as lost, and the next run that meets it puts it there anew: in memory it
 * looks right, but after a reboot it may be anything.
 * Records tell files that we wrote from files that we found right: only the former may be removed again.
 * A link that masks a unit has a record, too: of the text that it holds.
 * Text, one line a record: digest, device, inode, size, mtime, ctime, mode, uid, gid, origin, path; before the
 * digest "!" if it is lost, or else "+" if we wrote it.
 * Owner: state_open/state_close. Errors: SYSTEM. Threads: all functions.
 * Tests: test_tasks.c. */
#pragma once

#include "assets/digest.h"
#include "nodeup/base/io.h"

struct state;

/* Returns whether the text is a whole state, with its end. */
bool state_is_whole(const char *text, size_t n);
/* Reads the state below root; a missing or damaged one is empty. Writes nothing before state_store. */
int state_open(int root_fd, struct state **ret, struct err *e) must_check;
/* Releases it; NULL is fine. */
void state_close(struct state *s);
/* Returns whether the file at path, with stat `st`, is known to hold d, by its stamp alone. */
bool state_is(struct state *s, const char *path, const struct stat *st, const struct digest *d);
/* Returns the size of the file at path when it was seen to hold d; it may be another file now. 0: never seen. */
uint64_t state_size_of(struct state *s, const char *path, const struct digest *d);
/* Opens a file that is known, by its stamp alone, to hold d; -1: there is none. */
int state_open_copy(struct state *s, const struct digest *d);
/* Returns whether the file's fsync failed. */
bool state_is_lost(struct state *s, const char *path, const struct stat *st);
/* Records that we wrote d to path, and that it is on the disk. The stamp is that of fd, on which the file is open: a
 * file that was put at path since does not get our record. */
void state_set(struct state *s, const char *path, int fd, const struct digest *d,
	       const char *origin);
/* Records that path held d when it was read, after `st` was taken; a later change makes the record void. The record
 * counts only when state_sync has flushed the file, unless the same record was there already. */
void state_saw(struct state *s, const char *path, const struct digest *d, const char *origin,
	       const struct stat *st);
/* Lists the paths to which we wrote a file; found_too: also those of files that were right already. Leaves out
 * records of these origins. Does not check whether the files still exist. */
struct strv state_written(struct state *s, struct arena *a, const char *const *origins,
			  bool found_too);
/* Lists the recorded names in that directory (given with its slash), written by us or found right. Leaves out
 * records of these origins. */
struct strv state_names(struct state *s, struct arena *a, const char *dir,
			const char *const *origins);
/* Returns whether the file at path, with stat `st`, is still the file that we wrote. found_too: true also for a file
 * that was found right. */
bool state_wrote(struct state *s, const char *path, const struct stat *st, bool found_too);
/* Forgets the path, whose file we removed. */
void state_forget(struct state *s, const char *path);
/* Flushes recorded files that are not durable yet. If a flush fails, the files count as lost, and the error names
 * them: SYSTEM. */
int state_sync(struct state *s, struct err *e) must_check;
/* Writes the state if there are new records. Leaves out records that state_sync has not seen. */
int state_store(struct state *s, struct err *e) must_check;
