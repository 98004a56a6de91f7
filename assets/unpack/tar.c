#include "assets/unpack/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "assets/digest.h"
#include "assets/unpack/names.h"
#include "assets/unpack/source.h"
#include "assets/unpack/take.h"
#include "nodeup/base/io.h"
#include "nodeup/base/mem.h"

/* A whole distribution has fewer directories. */
enum { DIRS_MAX = 32768 };

static const char too_many_dirs[] = "the archive has more directories than allowed";

struct job {
	const char *name; /* the archive's name, for messages */
	struct extract_source source;
	struct extract_limits left;
	uint64_t made; /* bytes of files, including holes */
	unsigned int dirs;
	uint32_t number;            /* number of the entry, from 1 */
	struct extract_names names; /* the names of the archive so far */
	struct archive *archive;
	struct archive_entry *entry;
	char path[EXTRACT_NAME_MAX + 1]; /* path of the entry: no ".", no "//", no trailing '/' */
	struct extract_report *report;
	struct err *e;
};

static int refuse_entry(struct job *j, const char *what)
{
	const char *raw = archive_entry_pathname(j->entry);

	return extract_refuse(j->name, raw ? raw : "?", what, j->e);
}

static int sys_error(struct job *j, const char *what)
{
	char shown[EXTRACT_SHOWN_MAX];

	return err_sys(j->e, "archive '%s': %s '%s'", j->name, what, extract_show(j->path, shown));
}

/* Fails with the message of the decompressor or the tar reader. */
static int fail_broken(struct job *j, const char *what)
{
	const char *why = archive_error_string(j->archive);
	char shown[EXTRACT_SHOWN_MAX];

	if (j->source.errnum)
		return err_fail(j->e, ERR_SYSTEM, j->source.errnum, "archive '%s': read: %s",
				j->name, strerror(j->source.errnum));
	if (j->source.bomb)
		return extract_refuse(j->name, j->path[0] ? j->path : "?", j->source.why, j->e);
	if (j->source.why)
		why = j->source.why;
	if (j->path[0])
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG,
				"archive '%s': %s, at or after entry '%s': %s", j->name, what,
				extract_show(j->path, shown), why ? why : "unexpected end");
	return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s': %s: %s", j->name, what,
			why ? why : "unexpected end");
}

static la_ssize_t on_read(struct archive *ar, void *arg, const void **ret)
{
	struct job *j = arg;
	ssize_t n = extract_source_read(&j->source, ret);

	if (n < 0)
		archive_set_error(ar, (int)-n, "read");
	return n < 0 ? -1 : n;
}

/* Reports a file whose bytes go into the file of all bytes. */
static int report_file(struct job *j, int64_t size)
{
	const struct extract_entry told = { .kind = EXTRACT_FILE,
					    .mtime = { size, 0 },
					    .path = j->path };
	int r = extract_report_put(j->report, &told);

	if (r == -EFBIG)
		return refuse_entry(j, "the archive has longer names than allowed");
	errno = -r;
	return r < 0 ? sys_error(j, "report") : 0;
}

/* Notes the kind of entry at this path. A directory stays a directory, and nothing else becomes one. */
static int note_place(struct job *j, enum extract_there is, uint32_t entry)
{
	struct extract_place *place = extract_names_at(&j->names, j->path, strlen(j->path));

	if (place->is == EXTRACT_A_DIR && is != EXTRACT_A_DIR)
		return refuse_entry(j, "it would replace a directory");
	if (is == EXTRACT_A_DIR && place->is != EXTRACT_A_DIR) {
		if (place->is != EXTRACT_NOTHING)
			return refuse_entry(j, "a directory in place of something else");
		if (j->dirs++ >= DIRS_MAX)
			return refuse_entry(j, too_many_dirs);
	}
	place->is = is;
	place->entry = entry;
	return 0;
}

/* Notes all directories above the entry. A directory that the archive does not list counts as an entry. */
static int note_parents(struct job *j)
{
	for (const char *slash = strchr(j->path, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct extract_place *place =
			extract_names_at(&j->names, j->path, (size_t)(slash - j->path));

		if (place->is == EXTRACT_A_DIR)
			continue;
		if (place->is != EXTRACT_NOTHING)
			return refuse_entry(j, "its directory is a link or a file");
		if (j->left.entries == 0)
			return refuse_entry(j, "the archive has more entries than allowed");
		if (j->dirs++ >= DIRS_MAX)
			return refuse_entry(j, too_many_dirs);
		j->left.entries--;
		place->is = EXTRACT_A_DIR;
	}
	return 0;
}

static int write_failed(struct job *j, int errnum, uint64_t left)
{
	char shown[EXTRACT_SHOWN_MAX];

	errno = errnum;
	if (!io_is_full(errnum))
		return sys_error(j, "write");
	(void)err_fail(j->e, ERR_SYSTEM, errnum, "archive '%s': write '%s': %s", j->name,
		       extract_show(j->path, shown), strerror(errnum));
	j->e->room.wanted = left;
	return err_code(j->e);
}

/* Gives the next bytes of a file to all takes that want them. */
static int give_bytes(struct job *j, struct digest_ctx *ctx, const void *p, size_t n, int64_t at,
		      bool hole)
{
	FILE *given = j->report->bytes_of_files;
	const int r = j->left.takes ? takes_write(j->left.takes, p, n, at, hole) : 0;

	digest_update(ctx, p, n);
	if (r < 0)
		return write_failed(j, -r, (uint64_t)(archive_entry_size(j->entry) - at));
	return given && fwrite(p, 1, n, given) != n ? sys_error(j, "give") : 0;
}

/* Gives the zeros of a hole, from byte `from` of the file to byte `to`. */
static int tell_hole(struct job *j, struct digest_ctx *ctx, int64_t from, int64_t to)
{
	static const char zeros[16 * 1024];

	if (extract_source_is_bomb(&j->source, j->made + (uint64_t)to))
		return refuse_entry(j, j->source.why);
	while (from < to && ctx) {
		const size_t n = to - from < (int64_t)sizeof(zeros) ? (size_t)(to - from)
								    : sizeof(zeros);
		const int r = give_bytes(j, ctx, zeros, n, from, true);

		if (r < 0)
			return r;
		from += (int64_t)n;
	}
	return 0;
}

/* Gives the bytes of the present file; ctx NULL: only checks them. */
static int tell_data(struct job *j, struct digest_ctx *ctx, int64_t size)
{
	int64_t at, end = 0;
	const void *p;
	size_t n;
	int r;

	while ((r = archive_read_data_block(j->archive, &p, &n, &at)) == ARCHIVE_OK) {
		if (at < end || at > size || (int64_t)n > size - at)
			return refuse_entry(j, "more data than its header says");
		r = tell_hole(j, ctx, end, at);
		if (r >= 0 && ctx)
			r = give_bytes(j, ctx, p, n, at, false);
		if (r < 0)
			return r;
		end = at + (int64_t)n;
	}
	if (r != ARCHIVE_EOF)
		return fail_broken(j, "broken or truncated");
	return tell_hole(j, ctx, end, size);
}

/* Writes a file to the takes that want it, or to the file of all bytes. */
static int put_file(struct job *j)
{
	const int64_t size = archive_entry_size(j->entry);
	struct takes *takes = j->left.takes;
	const char *why = takes ? takes_begin(takes, j->path, j->number, (uint64_t)size) : NULL;
	autodigest struct digest_ctx *ctx = takes && !takes_any(takes) ? NULL
								       : digest_new(DIGEST_SHA256);
	char hex[DIGEST_TEXT_MAX];
	struct digest d;
	int r;

	if (size < 0 || (uint64_t)size > j->left.bytes)
		why = "the archive unpacks to more bytes than allowed";
	if (why)
		return refuse_entry(j, why);
	j->left.bytes -= (uint64_t)size;
	r = note_place(j, EXTRACT_A_FILE, j->number);
	if (r >= 0)
		r = tell_data(j, ctx, size);
	if (r < 0)
		return r;
	j->made += (uint64_t)size;
	if (!ctx)
		return 0;
	if (!takes)
		return report_file(j, size);
	digest_final(ctx, &d);
	r = takes_end(takes, j->path, j->number, (uint64_t)size, digest_hex(&d, hex));
	return r < 0 ? write_failed(j, -r, (uint64_t)size) : 0;
}

static int put_symlink(struct job *j)
{
	const char *target = archive_entry_symlink(j->entry);
	const char *why = target ? extract_check_target(j->path, target)
				 : "a link without a target";
	int r;

	if (why)
		return refuse_entry(j, why);
	r = note_place(j, EXTRACT_A_LINK, 0);
	why = r >= 0 && j->left.takes ? takes_link(j->left.takes, j->path, target) : NULL;
	return why ? refuse_entry(j, why) : r;
}

/* Notes the entry that has the link's bytes; a further pass takes it. */
static int put_hardlink(struct job *j)
{
	autofree char *target = xcalloc(1, EXTRACT_NAME_MAX + 1);
	const char *raw = archive_entry_hardlink(j->entry);
	const char *why = raw ? extract_clean(raw, target) : "a link without a target";
	struct takes *takes = j->left.takes;
	const struct extract_place *file;
	uint32_t entry;
	int r;

	if (why)
		return refuse_entry(j, why);
	if (strcmp(target, j->path) == 0)
		return refuse_entry(j, "a link to itself");
	file = extract_names_at(&j->names, target, strlen(target));
	entry = file->entry;
	if (file->is != EXTRACT_A_FILE)
		return refuse_entry(j, "a hard link to no earlier file of the archive");
	r = note_place(j, EXTRACT_A_FILE, entry);
	if (r < 0 || !takes)
		return r;
	(void)takes_begin(takes, j->path, 0, 0);
	errno = -takes_end(takes, j->path, entry, 0, "");
	return errno ? sys_error(j, "write") : 0;
}

static int put_entry(struct job *j)
{
	mode_t type = archive_entry_filetype(j->entry);
	bool hard = archive_entry_hardlink(j->entry);
	int r;

	if (!hard && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		return refuse_entry(j, "neither file, directory nor link");
	if (type != AE_IFLNK && archive_entry_perm(j->entry) & 06000)
		return refuse_entry(j, "setuid or setgid");
	if (j->path[0] == '\0') {
		if (type != AE_IFDIR || hard)
			return refuse_entry(j, "no name");
		return 0; /* the name is "./", the root of the archive */
	}
	r = note_parents(j);
	if (r < 0)
		return r;
	if (hard)
		return put_hardlink(j);
	if (type == AE_IFDIR)
		return note_place(j, EXTRACT_A_DIR, 0);
	return type == AE_IFLNK ? put_symlink(j) : put_file(j);
}

static int next_entry(struct job *j)
{
	int r = archive_read_next_header(j->archive, &j->entry);
	const char *raw, *why;

	if (r == ARCHIVE_EOF)
		return 0;
	/* a warning is about names outside the C locale's character set; here names are bytes */
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return fail_broken(j, "broken or truncated");
	if (j->left.entries-- == 0)
		return refuse_entry(j, "the archive has more entries than allowed");
	j->number++;
	raw = archive_entry_pathname(j->entry);
	why = raw ? extract_clean(raw, j->path) : "its name cannot be read";
	if (why)
		return refuse_entry(j, why);
	r = put_entry(j);
	return r < 0 ? r : 1;
}

static bool is_over(const struct job *j)
{
	return j->left.takes && takes_are_over(j->left.takes);
}

static int unpack_archive(struct job *j)
{
	bool any = false;
	int r;

	if (archive_read_support_format_tar(j->archive) != ARCHIVE_OK ||
	    archive_read_open(j->archive, j, NULL, on_read, NULL) != ARCHIVE_OK)
		return fail_broken(j, "broken, truncated or no tar archive");
	while ((r = next_entry(j)) > 0 && !is_over(j))
		any = true;
	if (r < 0)
		return r;
	if (r == 0 && !any)
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s' holds no entry",
				j->name);
	if (r == 0 &&
	    extract_source_end(&j->source, (uint64_t)archive_filter_bytes(j->archive, 0)) < 0)
		return fail_broken(j, "broken");
	errno = j->left.takes ? -takes_report(j->left.takes, j->report) : 0;
	return errno ? sys_error(j, "report") : 0;
}

int extract_stream(int in_fd, const char *name, const struct extract_limits *limits,
		   struct extract_report *report, struct err *e)
{
	struct job *j = xcalloc(1, sizeof(*j));
	int r;

	*j = (struct job){ .name = name, .left = *limits };
	j->report = report;
	j->e = e;
	r = extract_source_open(&j->source, in_fd, name, e);
	if (r >= 0) {
		j->archive = archive_read_new();
		if (!j->archive)
			abort();
		r = unpack_archive(j);
		(void)archive_read_free(j->archive);
		extract_source_done(&j->source);
	}
	extract_names_done(&j->names);
	free(j);
	return r;
}
