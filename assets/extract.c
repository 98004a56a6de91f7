#include "assets/extract.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

enum {
	NAME_BYTES_MAX = 4096,
	PART_BYTES_MAX = 255,
	DEPTH_MAX = 128, /* who removes the tree holds one descriptor a level */
	CHUNK = 256 * 1024,
};

/* Modes and times of directories are set last: what is put into them changes both. */
struct dir_meta {
	const char *path;
	mode_t mode;
	struct timespec mtime;
};

struct job {
	const char *name; /* of the archive, for messages */
	int in_fd, dir_fd;
	off_t in_at;
	int read_errnum; /* of our own read, 0 none */
	char *chunk;
	struct extract_limits left;
	struct archive *archive;
	struct archive_entry *entry;
	char path[NAME_BYTES_MAX + 1]; /* of the entry: no ".", no "//", no trailing '/' */
	struct arena *arena;
	struct dir_meta *dirs;
	size_t ndirs;
	struct err *e;
};

/* Names come from the archive: what a terminal would obey is shown as '?'. */
static const char *printable(const char *raw, char out[static 128])
{
	(void)snprintf(out, 128, "%s", raw);
	for (char *p = out; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?';
	return out;
}

static int refuse(struct job *j, const char *what)
{
	const char *raw = archive_entry_pathname(j->entry);
	char shown[128];

	return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s': entry '%s' refused: %s",
			j->name, printable(raw ? raw : "?", shown), what);
}

static int sys_error(struct job *j, const char *what)
{
	char shown[128];

	return err_sys(j->e, "archive '%s': %s '%s'", j->name, what, printable(j->path, shown));
}

/* What the decompressor or the tar reader says. */
static int broken(struct job *j, const char *what)
{
	const char *why = archive_error_string(j->archive);

	if (j->read_errnum)
		return err_fail(j->e, ERR_SYSTEM, j->read_errnum, "archive '%s': read: %s", j->name,
				strerror(j->read_errnum));
	return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s': %s: %s", j->name, what,
			why ? why : "unexpected end");
}

static la_ssize_t on_read(struct archive *ar, void *arg, const void **ret)
{
	struct job *j = arg;
	ssize_t n;

	do
		n = pread(j->in_fd, j->chunk, CHUNK, j->in_at);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		j->read_errnum = errno;
		archive_set_error(ar, errno, "read");
		return -1;
	}
	j->in_at += n;
	*ret = j->chunk;
	return n;
}

/* The name without "." parts and double slashes in out; NULL, or why it is refused. */
static const char *clean_path(const char *raw, char out[static NAME_BYTES_MAX + 1])
{
	size_t len = 0, depth = 0, n;

	if (strlen(raw) > NAME_BYTES_MAX)
		return "the name has more than 4096 bytes";
	if (*raw == '/')
		return "absolute name";
	out[0] = '\0';
	for (const char *p = raw; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && *p == '.'))
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return "'..' in the name";
		if (n > PART_BYTES_MAX)
			return "a part of the name has more than 255 bytes";
		if (++depth > DEPTH_MAX)
			return "nested more than 128 directories deep";
		if (len)
			out[len++] = '/';
		memcpy(out + len, p, n);
		len += n;
		out[len] = '\0';
	}
	return NULL;
}

/* Open the directory that holds path, one part at a time and never through a link. Directories the
 * archive does not mention are made when create. -ELOOP or -ENOTDIR: something else is in the way. */
static int open_parent(int dir_fd, char *path, bool create, const char **ret_name)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	char *slash;

	while (fd >= 0 && (slash = strchr(path, '/'))) {
		int next;

		*slash = '\0';
		if (create && mkdirat(fd, path, 0755) < 0 && errno != EEXIST)
			next = -1;
		else
			next = openat(fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*slash = '/';
		if (next < 0) {
			int saved = errno;

			(void)close(fd);
			errno = saved;
			return -saved;
		}
		(void)close(fd);
		fd = next;
		path = slash + 1;
	}
	if (fd < 0)
		return -errno;
	*ret_name = path;
	return fd;
}

static int open_entry_parent(struct job *j, const char **ret_name)
{
	int fd = open_parent(j->dir_fd, j->path, true, ret_name);

	if (fd == -ELOOP || fd == -ENOTDIR)
		return refuse(j, "its directory is a link or a file");
	if (fd < 0)
		return sys_error(j, "open the directory of");
	return fd;
}

/* Make room for something that is no directory. */
static int clear_name(struct job *j, int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno == EISDIR || errno == EPERM)
		return refuse(j, "it would replace a directory");
	return sys_error(j, "replace");
}

static struct timespec entry_mtime(struct archive_entry *entry)
{
	return (struct timespec){ archive_entry_mtime(entry), archive_entry_mtime_nsec(entry) };
}

static int set_times(int parent, const char *name, struct timespec mtime)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, mtime };

	return utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW);
}

static int put_dir(struct job *j, int parent, const char *name)
{
	struct stat st;

	if (mkdirat(parent, name, 0755) < 0) {
		if (errno != EEXIST || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return sys_error(j, "create directory");
		if (!S_ISDIR(st.st_mode))
			return refuse(j, "a directory in place of something else");
	}
	arena_push(j->arena, j->dirs, j->ndirs,
		   (struct dir_meta){ .path = arena_str(j->arena, j->path),
				      .mode = archive_entry_perm(j->entry) & 01777,
				      .mtime = entry_mtime(j->entry) });
	return 0;
}

static int write_all(int fd, const char *p, size_t n, off_t at)
{
	while (n > 0) {
		ssize_t w = pwrite(fd, p, n, at);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

static int copy_data(struct job *j, int fd, int64_t size)
{
	const void *p;
	size_t n;
	int64_t at;
	int r;

	while ((r = archive_read_data_block(j->archive, &p, &n, &at)) == ARCHIVE_OK) {
		if (at < 0 || at > size || (int64_t)n > size - at)
			return refuse(j, "more data than its header says");
		if (write_all(fd, p, n, at) < 0)
			return sys_error(j, "write");
	}
	if (r != ARCHIVE_EOF)
		return broken(j, "broken or truncated");
	return 0;
}

static int put_file(struct job *j, int parent, const char *name)
{
	int64_t size = archive_entry_size(j->entry);
	autoclose int fd = -1;
	int r;

	if (size < 0 || (uint64_t)size > j->left.bytes)
		return refuse(j, "the archive unpacks to more bytes than allowed");
	j->left.bytes -= (uint64_t)size;
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return sys_error(j, "create");
	r = copy_data(j, fd, size);
	if (r < 0)
		return r;
	/* holes at the end of a sparse file have no block */
	if (ftruncate(fd, size) < 0)
		return sys_error(j, "set the size of");
	/* for who will fsync it; a filesystem that cannot is none the worse */
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	if (geteuid() == 0 && fchown(fd, 0, 0) < 0)
		return sys_error(j, "set the owner of");
	if (fchmod(fd, archive_entry_perm(j->entry) & 0777) < 0)
		return sys_error(j, "set the mode of");
	if (set_times(parent, name, entry_mtime(j->entry)) < 0)
		return sys_error(j, "set the time of");
	return 0;
}

/* A target stays inside if its ".."s come first and are no more than the link is deep: behind a part
 * that may itself be a link, ".." would lead anywhere. Each link being so, so is a chain of them. */
static const char *check_target(const char *path, const char *target)
{
	size_t depth = 0, n;
	bool down = false;

	if (*target == '\0' || strlen(target) >= NAME_BYTES_MAX)
		return "empty or endless link target";
	if (*target == '/')
		return "a link to an absolute path";
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		depth++;
	for (const char *p = target; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && *p == '.'))
			continue;
		if (n != 2 || p[0] != '.' || p[1] != '.')
			down = true;
		else if (down || depth-- == 0)
			return "a link that leaves the tree";
	}
	return NULL;
}

static int put_symlink(struct job *j, int parent, const char *name)
{
	const char *target = archive_entry_symlink(j->entry);
	const char *why = target ? check_target(j->path, target) : "a link without a target";
	int r;

	if (why)
		return refuse(j, why);
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	if (symlinkat(target, parent, name) < 0)
		return sys_error(j, "create link");
	if (geteuid() == 0 && fchownat(parent, name, 0, 0, AT_SYMLINK_NOFOLLOW) < 0)
		return sys_error(j, "set the owner of");
	if (set_times(parent, name, entry_mtime(j->entry)) < 0)
		return sys_error(j, "set the time of");
	return 0;
}

static int put_hardlink(struct job *j, int parent, const char *name)
{
	autofree char *target = xcalloc(1, NAME_BYTES_MAX + 1);
	const char *raw = archive_entry_hardlink(j->entry);
	const char *why = raw ? clean_path(raw, target) : "a link without a target", *last;
	autoclose int dir = -1;
	struct stat st;
	int r;

	if (why)
		return refuse(j, why);
	if (strcmp(target, j->path) == 0)
		return refuse(j, "a link to itself");
	dir = open_parent(j->dir_fd, target, false, &last);
	if (dir < 0 || fstatat(dir, last, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return refuse(j, "a hard link to no earlier file of the archive");
	r = clear_name(j, parent, name);
	if (r < 0)
		return r;
	if (linkat(dir, last, parent, name, 0) < 0)
		return sys_error(j, "create link");
	return 0;
}

static int put_entry(struct job *j)
{
	mode_t type = archive_entry_filetype(j->entry);
	bool hard = archive_entry_hardlink(j->entry);
	autoclose int parent = -1;
	const char *name;

	if (!hard && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		return refuse(j, "neither file, directory nor link");
	if (type != AE_IFLNK && archive_entry_perm(j->entry) & 06000)
		return refuse(j, "setuid or setgid");
	if (j->path[0] == '\0') {
		if (type != AE_IFDIR || hard)
			return refuse(j, "no name");
		return 0; /* "./", which the caller made */
	}
	parent = open_entry_parent(j, &name);
	if (parent < 0)
		return parent;
	if (hard)
		return put_hardlink(j, parent, name);
	if (type == AE_IFDIR)
		return put_dir(j, parent, name);
	if (type == AE_IFLNK)
		return put_symlink(j, parent, name);
	return put_file(j, parent, name);
}

static int finish_dirs(struct job *j)
{
	/* a directory comes before what is in it: children first */
	for (size_t i = j->ndirs; i > 0; i--) {
		const struct dir_meta *m = &j->dirs[i - 1];
		autoclose int parent = -1;
		const char *name;

		(void)snprintf(j->path, sizeof(j->path), "%s", m->path);
		parent = open_parent(j->dir_fd, j->path, false, &name);
		if (parent < 0 || fchmodat(parent, name, m->mode, 0) < 0 ||
		    set_times(parent, name, m->mtime) < 0)
			return sys_error(j, "set mode and time of");
	}
	return 0;
}

static int next_entry(struct job *j)
{
	int r = archive_read_next_header(j->archive, &j->entry);
	const char *raw, *why;

	if (r == ARCHIVE_EOF)
		return 0;
	/* a warning is about names that are not in the C locale's character set, which we take as bytes */
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return broken(j, "broken or truncated");
	if (j->left.entries-- == 0)
		return refuse(j, "the archive has more entries than allowed");
	raw = archive_entry_pathname(j->entry);
	why = raw ? clean_path(raw, j->path) : "its name cannot be read";
	if (why)
		return refuse(j, why);
	r = put_entry(j);
	return r < 0 ? r : 1;
}

/* Say what it is instead of only what it is not. */
static int check_start(struct job *j)
{
	unsigned char p[4] = { 0 };
	ssize_t n = pread(j->in_fd, p, sizeof(p), 0);

	if (n < 0)
		return err_sys(j->e, "archive '%s': read", j->name);
	if (n == 0)
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s' is empty", j->name);
	if (memcmp(p, "PK\3\4", 4) == 0)
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG,
				"archive '%s' is a zip file, wanted tar with gzip, xz or zstd",
				j->name);
	return 0;
}

static int unpack(struct job *j)
{
	bool any = false;
	int r;

	r = check_start(j);
	if (r < 0)
		return r;
	if (archive_read_support_format_tar(j->archive) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(j->archive) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(j->archive) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(j->archive) != ARCHIVE_OK)
		return broken(j, "this build cannot unpack it");
	if (archive_read_open(j->archive, j, NULL, on_read, NULL) != ARCHIVE_OK)
		return broken(j, "broken, truncated or no tar archive");
	while ((r = next_entry(j)) > 0)
		any = true;
	if (r < 0)
		return r;
	if (!any)
		return err_fail(j->e, ERR_INTEGRITY, EBADMSG, "archive '%s' holds no entry",
				j->name);
	return finish_dirs(j);
}

int extract_tar(int fd, const char *name, int dir_fd, const struct extract_limits *limits,
		struct err *e)
{
	autoarena struct arena *arena = arena_new_empty();
	struct job *j = arena_new(arena, struct job);
	int r;

	*j = (struct job){ .name = name, .in_fd = fd, .dir_fd = dir_fd, .left = *limits };
	j->arena = arena;
	j->e = e;
	j->chunk = arena_alloc(arena, CHUNK);
	j->archive = archive_read_new();
	if (!j->archive)
		abort();
	r = unpack(j);
	(void)archive_read_free(j->archive);
	return r;
}
