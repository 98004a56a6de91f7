#include "assets/unpack/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <time.h>
#include "nodeup/base/io.h"
#include "nodeup/base/mem.h"

struct pack {
	struct archive *to;
	const char *path;
	int fd;
};

static int failed(struct pack *p, struct err *e)
{
	errno = archive_errno(p->to) > 0 ? archive_errno(p->to) : EIO;
	return io_write_failed(p->fd, p->path, 0, e);
}

int pack_new(int fd, const char *path, struct pack **ret, struct err *e)
{
	struct pack *p = xcalloc(1, sizeof(*p));
	int r = 0;

	*p = (struct pack){ .to = archive_write_new(), .path = path, .fd = fd };
	if (archive_write_set_format_ustar(p->to) != ARCHIVE_OK ||
	    archive_write_add_filter_zstd(p->to) != ARCHIVE_OK ||
	    /* the only strategy that tools/deps.sh links */
	    archive_write_set_filter_option(p->to, "zstd", "compression-level", "1") !=
		    ARCHIVE_OK ||
	    archive_write_open_fd(p->to, fd) != ARCHIVE_OK)
		r = failed(p, e);
	if (r < 0)
		pack_free(p);
	else
		*ret = p;
	return r;
}

int pack_add(struct pack *p, const char *name, const void *data, size_t n, struct err *e)
{
	struct archive_entry *entry = archive_entry_new();
	int r;

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0600);
	archive_entry_set_size(entry, (la_int64_t)n);
	archive_entry_set_mtime(entry, time(NULL), 0);
	r = archive_write_header(p->to, entry);
	archive_entry_free(entry);
	return r != ARCHIVE_OK || archive_write_data(p->to, data, n) != (la_ssize_t)n ? failed(p, e)
										      : 0;
}

int pack_end(struct pack *p, struct err *e)
{
	return archive_write_close(p->to) != ARCHIVE_OK ? failed(p, e) : 0;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	(void)archive_write_free(p->to);
	free(p);
}
