#include "nodeup/volumes/record.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"

static const char record_dir[] = OWN_VOLUMES_DIR;

enum { RECORD_MAX = 64 * 1024 };

/* As systemd names units of paths: '/' is '-', whatever else is not plain is \xNN. */
char *record_path(struct arena *a, const char *volume)
{
	autobuf struct buf name = BUF_INIT(4096);

	for (const char *p = volume + (*volume == '/'); *p; p++) {
		const unsigned char c = (unsigned char)*p;

		if (c == '/')
			(void)buf_addc(&name, '-');
		else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			 (c >= '0' && c <= '9') || c == '_' || (c == '.' && name.len))
			(void)buf_addc(&name, (char)c);
		else
			(void)buf_addf(&name, "\\x%02x", c);
	}
	return arena_printf(a, "%s/%s", record_dir, name.len ? buf_str(&name) : "-");
}

static void take_line(struct arena *a, const char *line, struct record *rec, bool *known)
{
	const char *blank = strchr(line, ' ');
	const char *value = blank ? blank + 1 : "";
	const char *key = arena_strn(a, line, blank ? (size_t)(blank - line) : strlen(line));

	if (strcmp(key, "state") == 0) {
		rec->done = strcmp(value, "done") == 0;
		*known = rec->done || strcmp(value, "formatting") == 0;
	} else if (strcmp(key, "machine") == 0) {
		rec->machine = value;
	} else if (strcmp(key, "fs") == 0) {
		rec->fs = value;
	} else if (strcmp(key, "uuid") == 0) {
		rec->uuid = value;
	} else if (strcmp(key, "label") == 0) {
		rec->label = value;
	} else if (strcmp(key, "disk") == 0) {
		strv_add(a, &rec->disks, value);
	}
}

bool record_get(int root_fd, struct arena *a, const char *volume, struct record *ret)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct record rec = { .label = "" };
	struct err ignored;
	bool known = false;
	struct strv lines;

	if (io_read(root_fd, record_path(a, volume), &text, &ignored) < 0)
		return false;
	lines = strv_split(a, buf_str(&text), '\n');
	/* the last line is a mark: what lacks it was cut */
	if (lines.n < 2 || strcmp(lines.v[lines.n - 2], "end") != 0)
		return false;
	for (size_t i = 0; i < lines.n; i++)
		take_line(a, lines.v[i], &rec, &known);
	if (!known || !rec.machine || !rec.fs || !rec.uuid)
		return false;
	*ret = rec;
	return true;
}

/* The serial number of an identity; "" when the disk told none. */
static const char *serial_of(struct arena *a, const char *identity)
{
	const char *text = str_has_prefix(identity, "serial=") ? identity + strlen("serial=") : "";
	const char *end = strstr(text, " size=");

	return arena_strn(a, text, end ? (size_t)(end - text) : strlen(text));
}

struct strv record_serials(struct arena *a, const struct record *rec)
{
	struct strv out = { 0 };

	for (size_t i = 0; i < rec->disks.n; i++) {
		const char *serial = serial_of(a, rec->disks.v[i]);

		if (*serial)
			strv_add(a, &out, serial);
	}
	return out;
}

bool record_is_done(const struct record *rec, const char *machine, const char *serial)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv serials = record_serials(a, rec);

	return rec->done && *serial && strcmp(rec->machine, machine) == 0 &&
	       strv_has(&serials, serial);
}

/* EBS' serial number is the volume's id, with its hyphen or without. */
static const char *without_vol(const char *serial)
{
	if (str_has_prefix(serial, "vol"))
		serial += strlen("vol");
	return serial + (*serial == '-');
}

bool record_rules_out(struct arena *a, const struct record *rec, const char *serial)
{
	const struct strv known = record_serials(a, rec);

	for (size_t i = 0; i < known.n; i++)
		if (strcmp(without_vol(known.v[i]), without_vol(serial)) == 0)
			return false;
	return known.n > 0 && *serial;
}

int record_set(int root_fd, const char *volume, const struct record *rec, struct err *e)
{
	static const struct io_attr attr = { .mode = 0644 };
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	int r;

	(void)buf_addf(&text, "state %s\nmachine %s\nfs %s\nuuid %s\nlabel %s\n",
		       rec->done ? "done" : "formatting", rec->machine, rec->fs, rec->uuid,
		       rec->label ? rec->label : "");
	for (size_t i = 0; i < rec->disks.n; i++)
		(void)buf_addf(&text, "disk %s\n", rec->disks.v[i]);
	(void)buf_adds(&text, "end\n");
	r = buf_check(&text, "record of a volume", e);
	if (r == 0)
		r = io_mkdirs(root_fd, record_dir, 0755, e);
	if (r < 0)
		return r;
	return io_replace(root_fd, record_path(a, volume), buf_str(&text), text.len, &attr, e);
}

int record_remove(int root_fd, const char *volume, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return io_remove(root_fd, record_path(a, volume), e);
}
