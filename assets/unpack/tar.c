#include "assets/unpack/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/digest.h"
#include "assets/unpack/names.h"
#include "assets/unpack/source.h"
#include "assets/unpack/take.h"
#include "nodeup/base/io.h"
#include "nodeup/base/mem.h"

/* Each directory takes a block of the disk, and its journal as many: a hundred thousand of them are a minute's
 * work. A whole distribution has fewer than this. */
enum { WRITE_BEHIND = 4 * 1024 * 1024, DIRS_MAX = 32768 };

static const char too_many_dirs[] = "the archive has more directories than allowed";

struct job {
	const char *name; /* of the archive, for messages */
	int dir_fd;       /* -1: only tell what the archive holds */
	struct extract_source source;
	struct extract_limits left;
	uint64_t made; /* bytes of files, holes counted */
	unsigned int dirs;
	uint32_t number;            /* of the entry, from 1 */
	struct extract_names names; /* without a directory: what the archive has so far */
	struct archive *archive;
	struct archive_entry *entry;
	char path[EXTRACT_NAME_MAX + 1]; /* of the entry: no ".", no "//", no trailing '/' */
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

/* What the decompressor or the tar reader says. */
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

/* Tell what the entry at this path is to become. */
static int report_entry(struct job *j, enum extract_kind kind, const char *path, const char *target)
{
	const struct extract_entry told = {
		.kind = kind,
		.mode = archive_entry_perm(j->entry),
		.mtime = { archive_entry_mtime(j->entry), archive_entry_mtime_nsec(j->entry) },
		.path = path,
		.target = target,
	};
	int r = extract_report_put(j->report, &told);

	if (r == -EFBIG)
		return refuse_entry(j, "the archive has longer names than allowed");
	errno = -r;
	return r < 0 ? sys_error(j, "report") : 0;
}

/* A directory that the archive does not mention counts as an entry: there are as many of them. */
static int on_implied_dir(void *arg, const char *path)
{
	struct job *j = arg;

	if (j->left.entries == 0 || j->dirs++ == DIRS_MAX)
		return -EDQUOT;
	j->left.entries--;
	return report_entry(j, EXTRACT_IMPLIED_DIR, path, NULL) < 0 ? -EIO : 0;
}

static int open_entry_parent(struct job *j, const char **ret_name)
{
	int fd = extract_open_parent(j->dir_fd, j->path, on_implied_dir, j, ret_name);

	if (fd == -ELOOP || fd == -ENOTDIR)
		return refuse_entry(j, "its directory is a link or a file");
	if (fd == -EDQUOT && j->dirs > DIRS_MAX)
		return refuse_entry(j, too_many_dirs);
	if (fd == -EDQUOT && j->left.entries == 0)
		return refuse_entry(j, "the archive has more entries than allowed");
	if (fd < 0)
		return sys_error(j, "open the directory of");
	return fd;
}

/* Make room for an entry that is not a directory. */
static int clear_name(struct job *j, int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno == EISDIR || errno == EPERM)
		return refuse_entry(j, "it would replace a directory");
	return sys_error(j, "replace");
}

/* Without a directory: note what is at this path now; a directory stays one, and nothing else becomes one. */
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

/* Without a directory: all directories above the entry. One that the archive does not mention counts as an entry. */
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

/* Tell of the entry where all are told of. */
static int tell_entry(struct job *j, enum extract_kind kind, const char *target)
{
	return j->left.takes ? 0 : report_entry(j, kind, j->path, target);
}

static int put_dir(struct job *j, int parent, const char *name)
{
	struct stat st;
	int r;

	if (j->dir_fd < 0) {
		r = note_place(j, EXTRACT_A_DIR, 0);
		return r < 0 ? r : tell_entry(j, EXTRACT_DIR, NULL);
	}
	if (j->dirs > DIRS_MAX)
		return refuse_entry(j, too_many_dirs);
	if (mkdirat(parent, name, 0755) == 0) {
		j->dirs++;
	} else {
		if (errno != EEXIST || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return sys_error(j, "create directory");
		if (!S_ISDIR(st.st_mode))
			return refuse_entry(j, "a directory in place of something else");
	}
	return report_entry(j, EXTRACT_DIR, j->path, NULL);
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

/* fd -1: read it, and write nothing. */
static int copy_data(struct job *j, int fd, int64_t size)
{
	const void *p;
	size_t n;
	int64_t at, behind = 0;
	off_t to;
	int r;

	while ((r = archive_read_data_block(j->archive, &p, &n, &at)) == ARCHIVE_OK) {
		if (at < 0 || at > size || (int64_t)n > size - at)
			return refuse_entry(j, "more data than its header says");
		to = at;
		r = fd < 0 ? 0 : io_write_at(fd, p, n, &to);
		if (r < 0)
			return write_failed(j, -r, (uint64_t)(size - at));
		/* starts the writing that the later fsync waits for; a file system that cannot loses nothing */
		if (fd >= 0 && at + (int64_t)n - behind >= WRITE_BEHIND) {
			(void)sync_file_range(fd, behind, at + (int64_t)n - behind,
					      SYNC_FILE_RANGE_WRITE);
			behind = at + (int64_t)n;
		}
	}
	if (r != ARCHIVE_EOF)
		return fail_broken(j, "broken or truncated");
	return 0;
}

static int make_file(struct job *j, int parent, const char *name, mode_t mode)
{
	int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? sys_error(j, "create") : fd;
}

/* Take in the next bytes of a file that is told of, and give them where they are wanted. */
static int tell_bytes(struct job *j, struct digest_ctx *ctx, const void *p, size_t n, int64_t at,
		      bool hole)
{
	FILE *given = j->report->bytes_of_files;
	const int r = j->left.takes ? takes_write(j->left.takes, p, n, at, hole) : 0;

	digest_update(ctx, p, n);
	if (r < 0)
		return write_failed(j, -r, (uint64_t)(archive_entry_size(j->entry) - at));
	return given && fwrite(p, 1, n, given) != n ? sys_error(j, "give") : 0;
}

/* A hole, up to this byte of the file. */
static int tell_hole(struct job *j, struct digest_ctx *ctx, int64_t from, int64_t to)
{
	static const char zeros[16 * 1024];

	if (extract_source_is_bomb(&j->source, j->made + (uint64_t)to))
		return refuse_entry(j, j->source.why);
	while (from < to && ctx) {
		const size_t n = to - from < (int64_t)sizeof(zeros) ? (size_t)(to - from)
								    : sizeof(zeros);
		const int r = tell_bytes(j, ctx, zeros, n, from, true);

		if (r < 0)
			return r;
		from += (int64_t)n;
	}
	return 0;
}

/* The bytes of a file that is told of; ctx NULL: they are only looked at. */
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
			r = tell_bytes(j, ctx, p, n, at, false);
		if (r < 0)
			return r;
		end = at + (int64_t)n;
	}
	if (r != ARCHIVE_EOF)
		return fail_broken(j, "broken or truncated");
	return tell_hole(j, ctx, end, size);
}

/* Without a directory: a file goes where it is taken, or is told of with its digest. */
static int tell_file(struct job *j, int64_t size)
{
	struct takes *takes = j->left.takes;
	const char *why = takes ? takes_begin(takes, j->path, j->number, (uint64_t)size) : NULL;
	autodigest struct digest_ctx *ctx = takes && !takes_any(takes) ? NULL
								       : digest_new(DIGEST_SHA256);
	char hex[DIGEST_TEXT_MAX];
	struct digest d;
	int r;

	if (why)
		return refuse_entry(j, why);
	r = tell_data(j, ctx, size);
	if (r < 0)
		return r;
	j->made += (uint64_t)size;
	if (!ctx)
		return 0;
	digest_final(ctx, &d);
	if (takes) {
		errno = -takes_end(takes, j->path, j->number, (uint64_t)size, digest_hex(&d, hex));
		return errno ? sys_error(j, "write") : 0;
	}
	if (j->report->bytes_of_files)
		archive_entry_set_mtime(j->entry, size, 0);
	return report_entry(j, EXTRACT_FILE, j->path, digest_hex(&d, hex));
}

static int put_file(struct job *j, int parent, const char *name)
{
	const bool wanted = extract_is_wanted(j->left.members, j->path);
	int64_t size = archive_entry_size(j->entry);
	autoclose int fd = -1;
	int r;

	if (size < 0 || (uint64_t)size > j->left.bytes)
		return refuse_entry(j, "the archive unpacks to more bytes than allowed");
	j->left.bytes -= (uint64_t)size;
	if (j->dir_fd < 0) {
		r = note_place(j, EXTRACT_A_FILE, j->number);
		return r < 0 ? r : tell_file(j, size);
	}
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	fd = make_file(j, parent, name, EXTRACT_NEW_MODE);
	if (fd < 0)
		return fd;
	/* one that is not wanted stays empty until all is read: what may follow it is judged by its name */
	r = copy_data(j, wanted ? fd : -1, size);
	if (r < 0)
		return r;
	/* a hole costs the archive nothing, and costs every reader of the file as much as bytes do */
	j->made += (uint64_t)size;
	if (extract_source_is_bomb(&j->source, j->made))
		return refuse_entry(j, j->source.why);
	if (!wanted)
		return report_entry(j, EXTRACT_SKIPPED, j->path, NULL);
	/* holes at the end of a sparse file have no block */
	if (ftruncate(fd, size) < 0)
		return sys_error(j, "set the size of");
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return report_entry(j, EXTRACT_FILE, j->path, NULL);
}

static int put_symlink(struct job *j, int parent, const char *name)
{
	const char *target = archive_entry_symlink(j->entry);
	const char *why = target ? extract_check_target(j->path, target)
				 : "a link without a target";
	int fd, r;

	if (why)
		return refuse_entry(j, why);
	if (j->dir_fd < 0) {
		r = note_place(j, EXTRACT_A_LINK, 0);
		why = r >= 0 && j->left.takes ? takes_link(j->left.takes, j->path, target) : NULL;
		if (why)
			return refuse_entry(j, why);
		return r < 0 ? r : tell_entry(j, EXTRACT_LINK, target);
	}
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	fd = make_file(j, parent, name, 0);
	if (fd < 0)
		return fd;
	(void)close(fd);
	if (!extract_is_wanted(j->left.members, j->path))
		return report_entry(j, EXTRACT_SKIPPED, j->path, NULL);
	return report_entry(j, EXTRACT_LINK, j->path, target);
}

/* A file that the archive has put there, and neither a placeholder nor anything that was there before. */
static bool is_new_file(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 07777) == EXTRACT_NEW_MODE;
}

/* Without a directory. What has its bytes is another entry; a further pass takes that one. */
static int tell_hardlink(struct job *j, const char *target)
{
	struct takes *takes = j->left.takes;
	const struct extract_place *file = extract_names_at(&j->names, target, strlen(target));
	const uint32_t entry = file->entry;
	int r;

	if (file->is != EXTRACT_A_FILE)
		return refuse_entry(j, "a hard link to no earlier file of the archive");
	r = note_place(j, EXTRACT_A_FILE, entry);
	if (r < 0 || !takes)
		return r < 0 ? r : tell_entry(j, EXTRACT_HARDLINK, target);
	(void)takes_begin(takes, j->path, 0, 0);
	errno = -takes_end(takes, j->path, entry, 0, "");
	return errno ? sys_error(j, "write") : 0;
}

static int put_hardlink(struct job *j, int parent, const char *name)
{
	autofree char *target = xcalloc(1, EXTRACT_NAME_MAX + 1);
	const bool wanted = extract_is_wanted(j->left.members, j->path);
	const char *raw = archive_entry_hardlink(j->entry);
	const char *why = raw ? extract_clean(raw, target) : "a link without a target", *last;
	autoclose int dir = -1;
	int r;

	if (why)
		return refuse_entry(j, why);
	if (strcmp(target, j->path) == 0)
		return refuse_entry(j, "a link to itself");
	if (j->dir_fd < 0)
		return tell_hardlink(j, target);
	dir = extract_open_parent(j->dir_fd, target, NULL, NULL, &last);
	if (dir < 0 || !is_new_file(dir, last))
		return refuse_entry(j, "a hard link to no earlier file of the archive");
	/* whose bytes were not kept */
	errno = EMLINK;
	if (wanted && !extract_is_wanted(j->left.members, target))
		return sys_error(j, "unpack without the file that it is a link to");
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	if (linkat(dir, last, parent, name, 0) < 0)
		return sys_error(j, "create link");
	return report_entry(j, wanted ? EXTRACT_HARDLINK : EXTRACT_SKIPPED, j->path, NULL);
}

static int put_entry(struct job *j)
{
	mode_t type = archive_entry_filetype(j->entry);
	bool hard = archive_entry_hardlink(j->entry);
	autoclose int parent = -1;
	const char *name = NULL;
	int r;

	if (!hard && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		return refuse_entry(j, "neither file, directory nor link");
	if (type != AE_IFLNK && archive_entry_perm(j->entry) & 06000)
		return refuse_entry(j, "setuid or setgid");
	if (j->path[0] == '\0') {
		if (type != AE_IFDIR || hard)
			return refuse_entry(j, "no name");
		return 0; /* "./", which the caller made */
	}
	r = j->dir_fd < 0 ? note_parents(j) : open_entry_parent(j, &name);
	if (r < 0)
		return r;
	if (j->dir_fd >= 0)
		parent = r;
	if (hard)
		return put_hardlink(j, parent, name);
	if (type == AE_IFDIR)
		return put_dir(j, parent, name);
	if (type == AE_IFLNK)
		return put_symlink(j, parent, name);
	return put_file(j, parent, name);
}

static int next_entry(struct job *j)
{
	int r = archive_read_next_header(j->archive, &j->entry);
	const char *raw, *why;

	if (r == ARCHIVE_EOF)
		return 0;
	/* a warning is about names that are not in the C locale's character set, which we take as bytes */
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

static int unpack_archive(struct job *j)
{
	bool any = false;
	int r;

	if (archive_read_support_format_tar(j->archive) != ARCHIVE_OK ||
	    archive_read_open(j->archive, j, NULL, on_read, NULL) != ARCHIVE_OK)
		return fail_broken(j, "broken, truncated or no tar archive");
	while ((r = next_entry(j)) > 0)
		any = true;
	if (r < 0)
		return r;
	if (!any)
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s' holds no entry",
				j->name);
	if (extract_source_end(&j->source, (uint64_t)archive_filter_bytes(j->archive, 0)) < 0)
		return fail_broken(j, "broken");
	errno = j->left.takes ? -takes_report(j->left.takes, j->report) : 0;
	return errno ? sys_error(j, "report") : 0;
}

int extract_stream(int in_fd, const char *name, int dir_fd, const struct extract_limits *limits,
		   struct extract_report *report, struct err *e)
{
	struct job *j = xcalloc(1, sizeof(*j));
	int r;

	*j = (struct job){ .name = name, .dir_fd = dir_fd, .left = *limits };
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
