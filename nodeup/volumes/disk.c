#include "nodeup/volumes/disk.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "nodeup/base/print.h"
#include "nodeup/base/walk.h"

enum { ATTR_MAX = 4096, LINK_MAX = 4096, SECTOR = 512 };

/* NVMe's Identify Controller, and the vendor's part of it */
enum {
	IDENTIFY = 0x06,
	IDENTIFY_CONTROLLER = 1,
	IDENTIFY_SIZE = 4096,
	VENDOR_AMAZON = 0x1d0f,
	VENDOR_AREA = 3072,
	NAME_SIZE = 32,
};

static const char model_ebs[] = "Amazon Elastic Block Store";

char *disk_attr(const struct disk_host *h, struct arena *a, const char *path)
{
	const char *text = io_text(a, h->root_fd, path, ATTR_MAX);

	return text ? str_trim(a, text) : NULL;
}

static char *attr_text(const struct disk_host *h, struct arena *a, const char *disk,
		       const char *name)
{
	char *text = disk_attr(h, a, arena_printf(a, "/sys/block/%s/%s", disk, name));

	return text ? text : arena_str(a, "");
}

static uint64_t attr_number(const struct disk_host *h, struct arena *a, const char *disk,
			    const char *name)
{
	return strtoull(attr_text(h, a, disk, name), NULL, 10);
}

static void add_holders(const struct disk_host *h, struct arena *a, struct disk *d,
			const char *path)
{
	const struct strv found = walk_list(a, h->root_fd, path, "");

	strv_add_all(a, &d->holders, &found);
}

char *disk_dev_at(int root_fd, struct arena *a, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;

	if (*path != '/' || io_open(root_fd, path, O_PATH, &fd, &ignored) < 0 ||
	    fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return NULL;
	return arena_printf(a, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

/* A partition is a numbered directory in the disk's directory. */
static void read_parts(const struct disk_host *h, struct arena *a, struct disk *d)
{
	const struct strv all =
		walk_list(a, h->root_fd, arena_printf(a, "/sys/block/%s", d->name), "");

	add_holders(h, a, d, arena_printf(a, "/sys/block/%s/holders", d->name));
	for (size_t i = 0; i < all.n; i++) {
		if (!str_has_prefix(all.v[i], d->name) ||
		    !*attr_text(h, a, d->name, arena_printf(a, "%s/partition", all.v[i])))
			continue;
		strv_add(a, &d->partitions, all.v[i]);
		add_holders(h, a, d,
			    arena_printf(a, "/sys/block/%s/%s/holders", d->name, all.v[i]));
	}
}

/* Reads EC2's name of an EBS volume, without "/dev/", from the vendor's part of NVMe's Identify Controller. Nothing
 * else on a Nitro instance tells the name of the attachment. -ENOENT: the controller has no name. */
static int identify_nvme(const struct disk_host *h, int fd, char ret[static NAME_SIZE + 1])
{
	unsigned char data[IDENTIFY_SIZE] = { 0 };
	struct nvme_admin_cmd cmd = {
		.opcode = IDENTIFY,
		.cdw10 = IDENTIFY_CONTROLLER,
		.addr = (uint64_t)(uintptr_t)data,
		.data_len = sizeof(data),
	};
	const char *name = (const char *)data + VENDOR_AREA;
	size_t n = 0, left = NAME_SIZE;
	int r = h->ioctl ? h->ioctl(h->arg, fd, NVME_IOCTL_ADMIN_CMD, &cmd)
			 : ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);

	if (r < 0)
		return -errno;
	if ((data[0] | data[1] << 8) != VENDOR_AMAZON)
		return -ENOENT;
	if (memcmp(name, "/dev/", 5) == 0) {
		name += 5;
		left -= 5;
	}
	/* the name is padded with blanks or NULs */
	for (; n < left && isalnum((unsigned char)name[n]); n++)
		ret[n] = name[n];
	ret[n] = '\0';
	return n ? 0 : -ENOENT;
}

/* An NVMe serial of EBS is the volume's id without its hyphen. */
static const char *volume_id_of(struct arena *a, const char *serial)
{
	if (!str_has_prefix(serial, "vol"))
		return NULL;
	return serial[3] == '-' ? serial : arena_printf(a, "vol-%s", serial + 3);
}

static void read_nvme(const struct disk_host *h, struct arena *a, struct disk *d)
{
	autoclose int fd = -1;
	struct err ignored;
	char name[NAME_SIZE + 1];

	d->kind = strcmp(d->model, DISK_MODEL_STORE) == 0 ? DISK_INSTANCE_STORE
		  : strcmp(d->model, model_ebs) == 0      ? DISK_EBS
							  : DISK_OTHER;
	if (d->kind != DISK_EBS)
		return;
	d->volume_id = volume_id_of(a, d->serial);
	if (io_open(h->root_fd, d->node, O_RDONLY | O_NONBLOCK, &fd, &ignored) == 0 &&
	    identify_nvme(h, fd, name) == 0)
		d->ec2_name = arena_str(a, name);
}

bool disk_may_be_ec2s(const struct disk *d)
{
	return !*d->model || strcmp(d->model, DISK_MODEL_STORE) == 0;
}

/* Reads EC2's name of a disk other than NVMe: the kernel's name is the same. A name that IMDS also gives to a volume
 * does not prove a disk of the instance store. */
static void read_named(const struct disk_host *h, struct disk *d)
{
	bool is_store = false, is_other = false;

	if (!str_has_prefix(d->name, "xvd") && !str_has_prefix(d->name, "sd"))
		return;
	d->ec2_name = d->name;
	for (size_t i = 0; i < h->mapping.n; i++) {
		if (!disk_name_eq(h->mapping.v[i].value, d->name))
			continue;
		if (str_has_prefix(h->mapping.v[i].key, "ephemeral"))
			is_store = true;
		else
			is_other = true;
	}
	if (is_store && !is_other && disk_may_be_ec2s(d))
		d->kind = DISK_INSTANCE_STORE;
}

static bool read_disk(const struct disk_host *h, struct arena *a, const char *name, struct disk *d)
{
	*d = (struct disk){
		.name = name,
		.dev = attr_text(h, a, name, "dev"),
		.model = attr_text(h, a, name, "device/model"),
		.serial = attr_text(h, a, name, "device/serial"),
		.size = attr_number(h, a, name, "size") * SECTOR,
		.seq = attr_number(h, a, name, "diskseq"),
		.read_only = attr_number(h, a, name, "ro") != 0,
	};
	/* leaves out a loop device without a file, and a path of a multipath disk */
	if (d->size == 0 || !*d->dev || attr_number(h, a, name, "hidden"))
		return false;
	d->node = arena_printf(a, "/dev/%s", name);
	read_parts(h, a, d);
	if (str_has_prefix(name, "nvme"))
		read_nvme(h, a, d);
	else
		read_named(h, d);
	return true;
}

int disk_list(const struct disk_host *h, struct arena *a, struct disks *ret, struct err *e)
{
	const struct strv names = walk_list(a, h->root_fd, "/sys/block", "");
	struct disks found = { 0 };

	if (names.n == 0)
		return err_fail(e, ERR_SYSTEM, ENOENT, "no disks: /sys/block is empty or absent");
	for (size_t i = 0; i < names.n; i++) {
		struct disk d;

		if (read_disk(h, a, names.v[i], &d))
			arena_push(a, found.v, found.n, d);
	}
	*ret = found;
	return 0;
}

bool disk_show_no_ids(const struct disk_host *h, struct arena *a)
{
	struct disks all = { 0 };
	struct err ignored;

	if (disk_list(h, a, &all, &ignored) < 0)
		return false;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].volume_id)
			return false;
	return all.n > 0;
}

/* Returns "sdf" for "/dev/xvdf". */
static const char *bare_name(const char *name, const char **ret_kind)
{
	static const char *const kinds[] = { "xvd", "sd" };

	if (str_has_prefix(name, "/dev/"))
		name += strlen("/dev/");
	*ret_kind = name;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_has_prefix(name, kinds[i]))
			return name + strlen(kinds[i]);
	return NULL;
}

bool disk_name_eq(const char *a, const char *b)
{
	const char *whole_a, *whole_b;
	const char *rest_a = bare_name(a, &whole_a), *rest_b = bare_name(b, &whole_b);

	if (rest_a && rest_b)
		return strcmp(rest_a, rest_b) == 0;
	return strcmp(whole_a, whole_b) == 0;
}

char *disk_describe(struct arena *a, const struct disk *d)
{
	char text[STR_SIZE_MAX];
	const char *size = str_size(text, d->size);

	if (d->volume_id)
		return arena_printf(a, "EBS %s, %s", d->volume_id, size);
	if (d->kind == DISK_INSTANCE_STORE)
		return arena_printf(a, "instance store%s%s, %s", *d->serial ? " " : "", d->serial,
				    size);
	if (*d->model)
		return arena_printf(a, "%s%s%s, %s", d->model, *d->serial ? " " : "", d->serial,
				    size);
	return arena_printf(a, "disk, %s", size);
}

/* A link may point to another disk at any time, so the device's number is compared. */
int disk_open(const struct disk_host *h, const struct disk *d, int flags, int *ret_fd,
	      struct err *e)
{
	autoclose int fd = -1;
	char number[32]; /* number of the device, "259:3", as /sys writes it */
	struct stat st;
	int r = io_open(h->root_fd, d->node, flags, &fd, e);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at disk %s", d->name);
	(void)print_to(number, sizeof(number), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	if (S_ISBLK(st.st_mode) && strcmp(number, d->dev) != 0)
		return err_fail(e, ERR_SYSTEM, ENODEV, "%s is disk %s no more", d->node, d->name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

char *disk_identity(struct arena *a, const struct disk_host *h, const struct disk *d)
{
	const char *boot = disk_attr(h, a, "/proc/sys/kernel/random/boot_id");

	if ((!*d->serial && !d->seq) || !boot)
		return NULL;
	/* the disk may have been attached elsewhere meanwhile, so only this attachment in this boot counts */
	return arena_printf(a, "serial=%s size=%" PRIu64 " name=%s seq=%" PRIu64 " boot=%s",
			    d->serial, d->size, d->name, d->seq, boot);
}

int disk_host_path(const struct disk_host *h, struct arena *a, const struct disk *d, char **ret,
		   struct err *e)
{
	char *path = arena_alloc(a, LINK_MAX);
	autoclose int fd = -1;
	ssize_t n;
	int r = disk_open(h, d, O_PATH, &fd, e);

	if (r < 0)
		return r;
	n = readlink(arena_printf(a, "/proc/self/fd/%d", fd), path, LINK_MAX - 1);
	if (n <= 0)
		return err_sys(e, "look for the path of disk %s", d->name);
	path[n] = '\0';
	*ret = path;
	return 0;
}
