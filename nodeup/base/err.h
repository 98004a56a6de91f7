/* err.h - an error as a value
 * A struct err is on the caller's stack, needs no release and is untouched on success. Its kind tells the caller
 * what to do: give up, retry, try another mirror. Libraries fill it and add context on the way up; only the report
 * and main() print it.
 * Owner: the caller's storage. Errors: none. Threads: one writer per value.
 * Source: sysexits.h for the exit statuses; README.md has them.
 * Tests: test_err.c. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define must_check __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))

enum err_kind {
	ERR_NONE,
	ERR_USAGE,     /* the command line */
	ERR_CONFIG,    /* a document */
	ERR_REFUSED,   /* would destroy data */
	ERR_NET,       /* the network: the trouble may pass, or another mirror may answer */
	ERR_BUSY,      /* another process or machine is busy with the same thing */
	ERR_SYSTEM,    /* a system call or a tool */
	ERR_INTEGRITY, /* wrong hash or signature */
	ERR_KIND_MAX
};

enum { ERR_MSG_MAX = 1024, ERR_NOTE_MAX = 256, ERR_NOTES = 8, ERR_CAUSE_MAX = 256 };

struct err_note {
	char label[16]; /* "want", "got", "ruled out", "next" */
	char text[ERR_NOTE_MAX];
};

/* A full file system; in bytes. */
struct err_room {
	uint64_t wanted; /* bytes that the action still needs; free bytes are not subtracted */
	uint64_t free, size;
};

struct err {
	enum err_kind kind;
	int errnum; /* positive errno; 0 if no system call failed */
	bool lasts; /* no retry can mend this error, although a retry may mend other errors of its kind */
	size_t nnotes;
	char msg[ERR_MSG_MAX];
	/* a cause that other objects may meet too, so the text names no object: "no room on /var". "" if unknown */
	char cause[ERR_CAUSE_MAX];
	struct err_room room; /* size 0: no file system is full, or its size is unknown */
	struct err_note notes[ERR_NOTES];
};

/* Fills e and returns -errnum, or -EINVAL if errnum is 0: `return err_fail(e, ERR_NET, 0, ...)`. */
int err_fail(struct err *e, enum err_kind kind, int errnum, const char *fmt, ...) printf_like(4, 5);

/* Like err_fail with kind SYSTEM and the present errno. Appends the text of errno to the message. */
int err_sys(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* As err_fail with kind CONFIG. */
#define err_config(e, ...) err_fail((e), ERR_CONFIG, 0, __VA_ARGS__)

/* Puts context before the message ("asset kubelet: ..."). The context may be cut, the cause never is. Returns the
 * error's negative errno, so that `return err_wrap(e, ...)` passes it on. */
int err_wrap(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* Appends to the message: ", more". The addition is cut if there is no room. */
void err_add(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* Adds a labelled note; dropped beyond ERR_NOTES. A long one ends behind a whole word, with "...". */
void err_note(struct err *e, const char *label, const char *fmt, ...) printf_like(3, 4);

/* Returns the error's first note with advice; NULL: no note has advice. */
const char *err_todo(const struct err *e);

/* Names the cause that other objects may meet too; err_wrap keeps it. */
void err_cause(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* Returns the negative errno; -EINVAL if no system call failed. */
int err_code(const struct err *e);

/* Returns the kind's documented exit status. */
int err_exit_status(const struct err *e);

/* Returns the kind's upper-case name, for reports ("CONFIG"). */
const char *err_kind_name(enum err_kind kind);

/* Returns the meaning of the kind's exit status for people: the lines of `nodeup help exit-status`. */
const char *err_kind_meaning(enum err_kind kind);

/* Returns whether no retry can mend the error: the command line, a document or a disk must change first. */
bool err_stays(const struct err *e);

/* Returns whether the same action may succeed later without any change. */
int err_is_transient(const struct err *e);
