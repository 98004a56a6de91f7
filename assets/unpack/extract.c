#include "assets/unpack/extract.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "assets/unpack/child.h"
#include "assets/unpack/report.h"
#include "assets/unpack/watch.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/print.h"

enum { PIPE_BYTES = 1024 * 1024, CHILD_FDS = 4, TAKE_WORD_MAX = 320 };

#define WANTED_MAX (INT64_C(1) << 50)

/* Receives the files that a child gives. */
struct extract_taker {
	struct arena *arena;
	struct extract_files files;
};

struct extract {
	const char *name;
	struct extract_limits limits;
	struct extract_watch watch;
	int out_fd;                  /* the caller's file for the bytes of all files; -1 none */
	struct extract_taker *taker; /* receives files; NULL: members go to descriptors */
	struct arena *arena;         /* arena of the members */
	struct extract_take *takes;
	size_t n_takes;
	int data_fd;   /* never blocks; -1: the child reads a file */
	int report_fd; /* shared with the child */
};

/* Starts the child from /proc/self/exe, which leads to this very program, even if its file was replaced meanwhile. A
 * signal that ends us ends the child too; a later run unpacks anew. Returns 0 or a positive errno. */
static int spawn_child(struct extract *x, int in_fd, int life_fd)
{
	/* the child only holds the last of these open, and does not use it */
	int fds[CHILD_FDS + EXTRACT_TAKES_MAX] = { in_fd, x->report_fd,
						   x->out_fd < 0 ? in_fd : x->out_fd, life_fd };
	int held[EXTRACT_TAKES_MAX], r;
	char words[EXTRACT_TAKES_MAX][TAKE_WORD_MAX];
	size_t n_fds = CHILD_FDS;
	char entries[24], bytes[24];
	const char *head[] = { EXTRACT_CHILD, x->name, entries, bytes,
			       x->taker ? EXTRACT_GIVE : EXTRACT_TAKE };
	autofree const char **argv = xcalloc(ARRAY_LEN(head) + x->n_takes + 1, sizeof(*argv));
	struct proc_start start = { .file = "/proc/self/exe",
				    .argv = argv,
				    .env = (const char *const[]){ NULL },
				    .fds = fds };

	memcpy(argv, head, sizeof(head));
	for (size_t i = 0; i < x->n_takes; i++) {
		const struct extract_take *t = &x->takes[i];

		(void)print_to(words[i], TAKE_WORD_MAX, "%d,%" PRIu64 ",%" PRIu64 ",%s",
			       t->fd < 0 ? -1 : (int)n_fds, t->max, t->entry, t->member);
		/* the copies get numbers above the child's descriptors, since each is moved to its place in turn */
		held[i] = t->fd < 0 ? -1 : fcntl(t->fd, F_DUPFD_CLOEXEC, ARRAY_LEN(fds));
		if (t->fd >= 0)
			fds[n_fds++] = held[i];
		argv[ARRAY_LEN(head) + i] = words[i];
	}
	start.n_fds = (int)n_fds;
	(void)print_to(entries, sizeof(entries), "%" PRIu64, x->limits.entries);
	(void)print_to(bytes, sizeof(bytes), "%" PRIu64, x->limits.bytes);
	x->watch.child.name = "the unpacker";
	r = proc_start(&start, &x->watch.child);
	for (size_t i = 0; i < x->n_takes; i++)
		cleanup_closep(&held[i]);
	return r;
}

static int open_pipe(struct extract *x, int *ret_in)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	(void)fcntl(fds[1], F_SETFL, O_NONBLOCK);
	/* a larger pipe lets a worker be farther ahead of the child; the default size works too */
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	*ret_in = fds[0];
	x->data_fd = fds[1];
	return 0;
}

void extract_abort(struct extract *x)
{
	if (!x)
		return;
	cleanup_closep(&x->data_fd);
	cleanup_closep(&x->report_fd);
	extract_watch_kill(&x->watch);
	free(x);
}

static int start_child(struct extract *x, int in_fd, struct err *e)
{
	autoclose int in = -1, life = -1;
	int r;

	x->report_fd = extract_report_make();
	if (extract_watch_make(&x->watch, &life) < 0 || x->report_fd < 0 ||
	    (in_fd < 0 && open_pipe(x, &in) < 0))
		return err_sys(e, "archive '%s': prepare the unpacker", x->name);
	r = spawn_child(x, in_fd < 0 ? in : in_fd, life);
	if (r == 0)
		return 0;
	return err_fail(e, ERR_SYSTEM, r, "archive '%s': start the unpacker: %s", x->name,
			strerror(r));
}

static int begin_extract(const struct extract *what, int in_fd, struct extract **ret, struct err *e)
{
	struct extract *x = xcalloc(1, sizeof(*x));
	int r;

	*x = *what;
	x->data_fd = x->report_fd = x->watch.life_fd = -1;
	r = start_child(x, in_fd, e);
	if (r < 0)
		extract_abort(x);
	else
		*ret = x;
	return r;
}

int extract_read(struct arena *a, const char *name, const struct extract_bytes *archive,
		 const struct extract_limits *limits, struct extract_files *ret, struct err *e)
{
	autoclose int fd = extract_report_make();
	struct extract_taker taker = { .arena = a };
	const struct extract what = {
		.name = name, .limits = *limits, .out_fd = fd, .taker = &taker
	};
	struct extract *x;
	int r = begin_extract(&what, -1, &x, e);

	if (r < 0)
		return r;
	r = extract_feed(x, &(struct extract_piece){ archive->text, archive->n, -1, 0 }, e);
	if (r < 0) {
		extract_abort(x);
		return r;
	}
	r = extract_finish(x, e);
	*ret = taker.files;
	return r;
}

int extract_take_start(struct arena *a, int fd, const char *name,
		       const struct extract_limits *limits, struct extract_take *takes, size_t n,
		       struct extract **ret, struct err *e)
{
	const struct extract what = { .name = name,
				      .limits = *limits,
				      .out_fd = -1,
				      .arena = a,
				      .takes = takes,
				      .n_takes = n };

	return begin_extract(&what, fd, ret, e);
}

/* Takes as many members as the child can take at a time. */
static int take_pass(struct arena *a, int fd, const char *name, const struct extract_limits *limits,
		     struct extract_take *takes, size_t n, struct err *e)
{
	struct extract *x;
	const int r = extract_take_start(a, fd, name, limits, takes, n, &x, e);

	return r < 0 ? r : extract_finish(x, e);
}

/* Takes the bytes of hard links from the entries that have them. */
static int take_links(struct arena *a, int fd, const char *name,
		      const struct extract_limits *limits, struct extract_take *takes, size_t n,
		      struct err *e)
{
	struct extract_take again[EXTRACT_TAKES_MAX], *of[EXTRACT_TAKES_MAX];
	size_t n_again = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		if (takes[i].path && takes[i].digest.algo == DIGEST_ALGO_MAX) {
			of[n_again] = &takes[i];
			again[n_again++] = (struct extract_take){ .member = takes[i].member,
								  .fd = takes[i].fd,
								  .max = takes[i].max,
								  .entry = takes[i].from };
		}
	/* empties files whose member was replaced by a link */
	for (size_t i = 0; i < n_again; i++)
		(void)!ftruncate(again[i].fd, 0);
	r = n_again ? take_pass(a, fd, name, limits, again, n_again, e) : 0;
	for (size_t i = 0; r >= 0 && i < n_again; i++) {
		if (!again[i].path)
			return err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': a wrong report",
					name);
		of[i]->digest = again[i].digest;
		if (again[i].fd >= 0)
			(void)lseek(again[i].fd, 0, SEEK_SET);
	}
	return r;
}

int extract_take(struct arena *a, int fd, const char *name, const struct extract_limits *limits,
		 struct extract_take *takes, size_t n, struct err *e)
{
	size_t at = 0;
	int r;

	do {
		const size_t some = n - at < EXTRACT_TAKES_MAX ? n - at : EXTRACT_TAKES_MAX;
		struct extract_take *these = n ? takes + at : NULL;

		r = take_pass(a, fd, name, limits, these, some, e);
		if (r >= 0)
			r = take_links(a, fd, name, limits, these, some, e);
		at += some;
	} while (r >= 0 && at < n);
	return r;
}

void extract_drain(struct extract *x, int fd)
{
	char ignored[4096];

	while (extract_watch_read(&x->watch, fd) && read(fd, ignored, sizeof(ignored)) > 0)
		;
}

pid_t extract_pid(const struct extract *x)
{
	return x->watch.child.pid;
}

void extract_set_sample_ms(struct extract *x, int ms)
{
	x->watch.sample_ms = ms;
}

/* Kills the child, which was idle for too long or is out of time. */
static int give_up(struct extract *x, struct err *e)
{
	const int pid = (int)x->watch.child.pid;
	const char state = x->watch.state;

	extract_watch_kill(&x->watch);
	if (extract_watch_is_late())
		return err_fail(e, ERR_BUSY, ETIMEDOUT,
				"archive '%s': deadline passed: the unpacker, process %d in state "
				"%c, was killed",
				x->name, pid, state);
	return err_fail(e, ERR_SYSTEM, ETIMEDOUT,
			"archive '%s': the unpacker, process %d in state %c, did nothing for %d s: "
			"killed",
			x->name, pid, state, EXTRACT_SAMPLES * EXTRACT_SAMPLE_MS / 1000);
}

/* Words the error for a child that ended without a last entry in its report. */
static int child_died(const struct extract *x, int status, struct err *e)
{
	if (WIFSIGNALED(status))
		return err_fail(e, ERR_SYSTEM, ECHILD, "archive '%s': the unpacker was killed: %s",
				x->name, strsignal(WTERMSIG(status)));
	return err_fail(e, ERR_SYSTEM, ECHILD,
			"archive '%s': the unpacker ended without a word, status %d", x->name,
			WEXITSTATUS(status));
}

/* Reads the last entry of the child's report: 0, or the error in that entry. */
static int read_verdict(const struct extract *x, struct extract_report *report, int status,
			struct err *e)
{
	struct extract_entry told;
	int r;

	do
		r = extract_report_next(report, &told);
	while (r > 0 && told.kind > EXTRACT_ERROR);
	if (r <= 0)
		return child_died(x, status, e);
	if (told.kind == EXTRACT_END)
		return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : child_died(x, status, e);
	if (told.mode <= ERR_NONE || told.mode >= ERR_KIND_MAX)
		return child_died(x, status, e);
	(void)err_fail(e, (enum err_kind)told.mode, (int)told.mtime.tv_nsec, "%s", told.path);
	/* ignores a larger number, as no disk has so much room */
	if (told.mtime.tv_sec > 0 && told.mtime.tv_sec < WANTED_MAX)
		e->room.wanted = (uint64_t)told.mtime.tv_sec;
	return err_code(e);
}

/* Takes the report's files, each with its bytes. */
static int take_files(struct extract *x, struct extract_report *report, struct err *e)
{
	autofile FILE *bytes = lseek(x->out_fd, 0, SEEK_SET) < 0
				       ? NULL
				       : fdopen(fcntl(x->out_fd, F_DUPFD_CLOEXEC, 0), "r");
	struct extract_taker *t = x->taker;
	struct extract_entry told;
	uint64_t left = x->limits.bytes;

	if (!bytes)
		return err_sys(e, "archive '%s': read what the unpacker gave", x->name);
	while (extract_report_next(report, &told) > 0 && told.kind > EXTRACT_ERROR) {
		const uint64_t n = (uint64_t)told.mtime.tv_sec;
		struct extract_file file = { .n = n };
		char path[EXTRACT_NAME_MAX + 1];
		char *text;

		if (told.kind != EXTRACT_FILE)
			continue;
		if (n > left || extract_clean(told.path, path) || !path[0])
			return err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': a wrong report",
					x->name);
		left -= n;
		text = arena_alloc(t->arena, n + 1);
		if (fread(text, 1, n, bytes) != n)
			return err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': half a file",
					x->name);
		file.path = arena_str(t->arena, path);
		file.text = text;
		arena_push(t->arena, t->files.v, t->files.n, file);
	}
	return 0;
}

/* Reads what was found for each member. */
static int take_members(struct extract *x, struct extract_report *report, struct err *e)
{
	struct extract_entry told;

	for (size_t i = 0; i < x->n_takes; i++) {
		struct extract_take *t = &x->takes[i];
		char path[EXTRACT_NAME_MAX + 1];

		if (extract_report_next(report, &told) <= 0 || told.kind <= EXTRACT_ERROR ||
		    extract_clean(told.path, path))
			return err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': a wrong report",
					x->name);
		if (told.kind == EXTRACT_LINK) {
			t->link = arena_str(x->arena, path);
			t->target = arena_str(x->arena, told.target);
		}
		if (told.kind != EXTRACT_FILE)
			continue;
		t->path = arena_str(x->arena, path);
		t->from = (uint64_t)told.mtime.tv_sec;
		if (*told.target &&
		    digest_parse(told.target, strlen(told.target), &t->digest, e) < 0)
			return err_wrap(e, "archive '%s': a wrong report", x->name);
		/* if the member is a hard link, its bytes are still to be taken */
		if (!*told.target)
			t->digest = (struct digest){ .algo = DIGEST_ALGO_MAX };
	}
	return 0;
}

/* Waits for the child and reads its verdict; with `complete`, and if all is well, takes its results. */
static int conclude_child(struct extract *x, bool complete, struct err *e)
{
	autofree struct extract_report *report = xcalloc(1, sizeof(*report));
	autofile FILE *f = NULL;
	int status, r;

	cleanup_closep(&x->data_fd);
	if (!extract_watch_reap(&x->watch, &status))
		return give_up(x, e);
	f = lseek(x->report_fd, 0, SEEK_SET) < 0 ? NULL : fdopen(x->report_fd, "r");
	if (!f)
		return err_sys(e, "archive '%s': read the unpacker's report", x->name);
	x->report_fd = -1; /* `f` owns the descriptor now */
	report->file = f;
	r = read_verdict(x, report, status, e);
	if (r < 0 || !complete)
		return r;
	rewind(f);
	return x->taker ? take_files(x, report, e) : take_members(x, report, e);
}

/* Gives as many bytes as the pipe takes. Copies the bytes if the file system cannot give pages. */
static ssize_t give_some(struct extract *x, const struct extract_piece *left)
{
	off_t at = left->at;
	ssize_t n = left->fd < 0
			    ? 0
			    : splice(left->fd, &at, x->data_fd, NULL, left->n, SPLICE_F_NONBLOCK);

	if (n > 0 || (n < 0 && errno != EINVAL))
		return n;
	return write(x->data_fd, left->p, left->n);
}

int extract_feed(struct extract *x, const struct extract_piece *piece, struct err *e)
{
	struct extract_piece left = *piece;

	while (left.n > 0) {
		const ssize_t w = x->watch.child.pid ? give_some(x, &left) : 0;

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN) {
			if (!extract_watch_write(&x->watch, x->data_fd))
				return give_up(x, e);
			continue;
		}
		if (w < 0 && errno != EPIPE)
			return err_sys(e, "archive '%s': feed the unpacker", x->name);
		/* the child has ended, and its report tells why */
		if (w <= 0)
			return x->watch.child.pid && conclude_child(x, false, e) < 0
				       ? err_code(e)
				       : err_fail(
						 e, ERR_SYSTEM, EPIPE,
						 "archive '%s': the unpacker ended before its archive",
						 x->name);
		left.p = (const char *)left.p + w;
		left.at += w;
		left.n -= (size_t)w;
	}
	return 0;
}

int extract_finish(struct extract *x, struct err *e)
{
	int r = conclude_child(x, true, e);

	extract_abort(x);
	return r;
}
