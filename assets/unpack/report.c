#include "assets/unpack/report.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

struct wire {
	uint32_t kind, mode;
	int64_t sec;
	uint32_t nsec;
	uint16_t path_len, target_len;
};

int extract_report_make(void)
{
	int fd = memfd_create("unpack", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int extract_report_put(struct extract_report *r, const struct extract_entry *told)
{
	const char *target = told->target ? told->target : "";
	struct wire w = {
		.kind = told->kind,
		.mode = told->mode,
		.sec = told->mtime.tv_sec,
		.nsec = (uint32_t)told->mtime.tv_nsec,
		.path_len = (uint16_t)strlen(told->path),
		.target_len = (uint16_t)strlen(target),
	};

	r->bytes += sizeof(w) + w.path_len + w.target_len;
	/* only the last entry may exceed the limit, so it always has room */
	if (r->bytes > EXTRACT_REPORT_MAX && told->kind > EXTRACT_ERROR)
		return -EFBIG;
	if (fwrite(&w, sizeof(w), 1, r->file) != 1 ||
	    fwrite(told->path, 1, w.path_len, r->file) != w.path_len ||
	    fwrite(target, 1, w.target_len, r->file) != w.target_len)
		return -EIO;
	return 0;
}

int extract_report_next(struct extract_report *r, struct extract_entry *ret)
{
	const off_t at = ftello(r->file);
	struct wire w;

	if (at < 0 || at > EXTRACT_REPORT_MAX)
		return -EBADMSG;
	if (fread(&w, sizeof(w), 1, r->file) != 1)
		return feof(r->file) ? 0 : -EBADMSG;
	if (w.kind < EXTRACT_END || w.kind > EXTRACT_NO_MEMBER || w.path_len > EXTRACT_NAME_MAX ||
	    w.target_len > EXTRACT_NAME_MAX || w.nsec >= 1000000000)
		return -EBADMSG;
	if (fread(r->path, 1, w.path_len, r->file) != w.path_len ||
	    fread(r->target, 1, w.target_len, r->file) != w.target_len)
		return -EBADMSG;
	r->path[w.path_len] = r->target[w.target_len] = '\0';
	*ret = (struct extract_entry){ .kind = (enum extract_kind)w.kind,
				       .mode = w.mode,
				       .mtime = { w.sec, w.nsec },
				       .path = r->path,
				       .target = r->target };
	return 1;
}
