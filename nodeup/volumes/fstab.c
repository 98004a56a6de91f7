#include "nodeup/volumes/fstab.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/mounts.h"

static const char path[] = "/etc/fstab";
static const char mark[] = "comment=cloudconfig";

enum { FSTAB_MAX = 1 << 20, TRIES = 10 };

/* Returns x of 'UUID="x"'. */
static const char *value_of(struct arena *a, const char *spec, const char *key)
{
	const char *value = str_has_prefix(spec, key) ? spec + strlen(key) : NULL;
	const size_t n = value ? strlen(value) : 0;

	if (n > 1 && (*value == '"' || *value == '\'') && value[n - 1] == *value)
		return arena_strn(a, value + 1, n - 2);
	return value;
}

static bool is_about(const struct disk_host *h, struct arena *a, const char *spec,
		     const struct disk *d, const char *uuid)
{
	static const char by_uuid[] = "/dev/disk/by-uuid/";
	const char *named = value_of(a, spec, "UUID=");

	if (!named && str_has_prefix(spec, by_uuid))
		named = spec + strlen(by_uuid);
	if (named && *uuid && strcasecmp(named, uuid) == 0)
		return true;
	if (*spec != '/')
		return false;
	/* the link of EC2's name may not exist yet */
	return claim_is_same_node(h, spec, d->node) || disk_name_eq(spec, d->name) ||
	       (d->ec2_name && disk_name_eq(spec, d->ec2_name));
}

static bool has_mark(struct arena *a, const char *options)
{
	const struct strv all = strv_split(a, options, ',');

	return strv_has(&all, mark);
}

struct strv fstab_words(struct arena *a, const char *line)
{
	struct strv words = { 0 };

	line += strspn(line, " \t");
	if (*line == '#')
		return words;
	while (*line) {
		const size_t n = strcspn(line, " \t\r");

		strv_add(a, &words, mounts_unescape(a, arena_strn(a, line, n)));
		line += n;
		line += strspn(line, " \t\r");
	}
	return words;
}

struct about {
	const struct disk_host *h;
	struct arena *a;
	const struct disk *d;
	const char *uuid;
};

/* Returns whether a line is cloud-init's and about the disk. Counts all lines about the disk. */
static bool take_line(const struct about *x, const char *line, struct fstab *ret)
{
	const struct strv words = fstab_words(x->a, line);

	if (words.n < 2 || !is_about(x->h, x->a, words.v[0], x->d, x->uuid))
		return false;
	if (words.n < 4 || !has_mark(x->a, words.v[3])) {
		ret->others++;
		return false;
	}
	ret->cloud++;
	ret->point = words.v[1];
	ret->type = words.v[2];
	ret->options = words.v[3];
	return true;
}

/* A missing file counts as empty. */
static int read_text(const struct disk_host *h, struct buf *text, struct io_attr *ret_attr,
		     struct err *e)
{
	struct stat st;
	int r = io_read_itself(h->root_fd, path, text, &st, e);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (memchr(buf_str(text), '\0', text->len))
		return err_fail(e, ERR_SYSTEM, EINVAL, "%s is no text", path);
	*ret_attr = (struct io_attr){ st.st_mode & 07777, st.st_uid, st.st_gid };
	return 0;
}

/* Appends to ret_rest all lines except cloud-init's lines about the disk. */
static int read_lines(const struct about *x, const char *text, struct fstab *ret,
		      struct buf *ret_rest, struct err *e)
{
	*ret = (struct fstab){ 0 };
	for (const char *line = text; *line;) {
		const size_t n = strcspn(line, "\n");
		const char *next = line + n + (line[n] == '\n');

		if (!take_line(x, arena_strn(x->a, line, n), ret))
			(void)buf_add(ret_rest, line, (size_t)(next - line));
		line = next;
	}
	return buf_check(ret_rest, path, e);
}

int fstab_of(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	     struct fstab *ret, struct err *e)
{
	const struct about x = { h, a, d, uuid };
	autobuf struct buf text = BUF_INIT(FSTAB_MAX), rest = BUF_INIT(FSTAB_MAX);
	struct io_attr attr;
	int r = read_text(h, &text, &attr, e);

	return r < 0 ? r : read_lines(&x, buf_str(&text), ret, &rest, e);
}

/* Replaces the file as io_replace does. If another program has changed it since it was read, sets *ret_again and
 * does nothing. No lock protects this file, so a moment remains between the last look and the rename. */
static int replace(const struct disk_host *h, const struct buf *was, const struct buf *rest,
		   const struct io_attr *attr, bool *ret_again, struct err *e)
{
	autobuf struct buf now = BUF_INIT(FSTAB_MAX);
	autostage struct io_stage s = IO_STAGE_INIT;
	struct io_attr unused;
	struct stat st;
	int r = io_stage_open(h->root_fd, path, &s, e);

	if (r >= 0)
		r = io_write_fd(s.fd, path, buf_str(rest), rest->len, e);
	if (r >= 0)
		r = io_stage_attr(&s, path, attr, &st, e);
	if (r >= 0 && fsync(s.fd) < 0)
		r = err_sys(e, "sync '%s'", path);
	if (r >= 0)
		r = read_text(h, &now, &unused, e);
	if (r < 0)
		return r;
	*ret_again = strcmp(buf_str(&now), buf_str(was)) != 0;
	if (*ret_again)
		return 0;
	r = io_stage_name(&s, path, e);
	if (r >= 0 && fsync(s.dir_fd) < 0)
		r = err_sys(e, "sync the directory of '%s'", path);
	return r;
}

int fstab_drop(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	       struct err *e)
{
	const struct about x = { h, a, d, uuid };

	for (int i = 0; i < TRIES; i++) {
		autobuf struct buf text = BUF_INIT(FSTAB_MAX), rest = BUF_INIT(FSTAB_MAX);
		struct io_attr attr = { 0 };
		struct fstab found;
		bool again = false;
		int r = read_text(h, &text, &attr, e);

		if (r == 0)
			r = read_lines(&x, buf_str(&text), &found, &rest, e);
		if (r == 0 && found.cloud)
			r = replace(h, &text, &rest, &attr, &again, e);
		if (r < 0 || !again)
			return r;
	}
	return err_fail(e, ERR_BUSY, EBUSY, "another program writes to %s", path);
}
