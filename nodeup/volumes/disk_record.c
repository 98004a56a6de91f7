#include "nodeup/volumes/disk_record.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/walk.h"

static const char record_dir[] = OWN_VOLUMES_DIR;

enum { RECORD_MAX = 64 * 1024 };

/* Names a record as systemd names the unit of a path: '/' becomes '-', other characters become \xNN unless they are
 * plain. */
char *disk_record_path(struct arena *a, const char *volume)
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

static void take_line(struct arena *a, const char *line, struct disk_record *rec, bool *known)
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

static bool read_record(int root_fd, struct arena *a, const char *path, struct disk_record *ret)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct disk_record rec = { .label = "" };
	bool known = false;
	struct strv lines;

	if (!record_read(root_fd, path, &text))
		return false;
	lines = strv_split(a, buf_str(&text), '\n');
	/* the last line is a mark: if it is missing, the text was cut off */
	if (lines.n < 2 || strcmp(lines.v[lines.n - 2], "end") != 0)
		return false;
	for (size_t i = 0; i < lines.n; i++)
		take_line(a, lines.v[i], &rec, &known);
	if (!known || !rec.machine || !rec.fs || !rec.uuid)
		return false;
	*ret = rec;
	return true;
}

bool disk_record_get(int root_fd, struct arena *a, const char *volume, struct disk_record *ret)
{
	return read_record(root_fd, a, disk_record_path(a, volume), ret);
}

/* Returns the serial number in an identity; "" if the disk has none. */
static const char *serial_of(struct arena *a, const char *identity)
{
	const char *text = str_has_prefix(identity, "serial=") ? identity + strlen("serial=") : "";
	const char *end = strstr(text, " size=");

	return arena_strn(a, text, end ? (size_t)(end - text) : strlen(text));
}

struct strv disk_record_serials(struct arena *a, const struct disk_record *rec)
{
	struct strv out = { 0 };

	for (size_t i = 0; i < rec->disks.n; i++) {
		const char *serial = serial_of(a, rec->disks.v[i]);

		if (*serial)
			strv_add(a, &out, serial);
	}
	return out;
}

bool disk_record_is_done(const struct disk_record *rec, const char *machine, const char *serial)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv serials = disk_record_serials(a, rec);

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

bool disk_record_rules_out(struct arena *a, const struct disk_record *rec, const char *serial)
{
	const struct strv known = disk_record_serials(a, rec);

	for (size_t i = 0; i < known.n; i++)
		if (strcmp(without_vol(known.v[i]), without_vol(serial)) == 0)
			return false;
	return known.n > 0 && *serial;
}

bool disk_record_speaks_of(int root_fd, struct arena *a, const char *serial, const char *identity,
			   const char *uuid, const char *but)
{
	const char *own = but ? disk_record_path(a, but) : "";
	struct strv names;
	struct err ignored;
	int r = walk_names_at(a, root_fd, record_dir, &names, &ignored);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		const char *path = arena_printf(a, "%s/%s", record_dir, names.v[i]);
		struct disk_record rec;
		struct strv serials;

		/* a file that a killed run only staged is no record: nothing was begun */
		if (*names.v[i] == '.' || strcmp(path, own) == 0)
			continue;
		if (!read_record(root_fd, a, path, &rec))
			return true;
		serials = disk_record_serials(a, &rec);
		if ((*serial && strv_has(&serials, serial)) ||
		    (identity && strv_has(&rec.disks, identity)) || strcmp(rec.uuid, uuid) == 0)
			return true;
	}
	return r < 0 && r != -ENOENT;
}

int disk_record_set(int root_fd, const char *volume, const struct disk_record *rec, struct err *e)
{
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
	if (r < 0)
		return r;
	return record_write(root_fd, disk_record_path(a, volume), 0644, buf_str(&text), e);
}

int disk_record_remove(int root_fd, const char *volume, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return io_remove(root_fd, disk_record_path(a, volume), e);
}
