#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/disk_box.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The file at /dev has no room for it, so what a controller says stands beside it. */
static void name_of_fd(int fd, char *name, size_t n)
{
	char link[64], path[512];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	assert_true(len > 0);
	path[len] = '\0';
	(void)snprintf(name, n, "%s", strrchr(path, '/') + 1);
}

static int box_ioctl(void *arg, int fd, unsigned long request, void *value)
{
	struct disk_box *b = arg;
	struct nvme_admin_cmd *cmd = value;
	char name[64];
	char *said, *data;

	assert_int_equal(request, NVME_IOCTL_ADMIN_CMD);
	assert_int_equal(cmd->opcode, 6);
	assert_int_equal(cmd->cdw10, 1);
	assert_int_equal(cmd->data_len, 4096);
	name_of_fd(fd, name, sizeof(name));
	said = scratch_read(&b->root, arena_printf(b->arena, "/identify/%s", name));
	if (!said) {
		errno = ENOTTY;
		return -1;
	}
	data = (char *)(uintptr_t)cmd->addr;
	memset(data, 0, 4096);
	data[0] = 0x0f;
	data[1] = 0x1d;
	memset(data + 3072, ' ', 32);
	memcpy(data + 3072, said, strlen(said));
	free(said);
	return 0;
}

static ssize_t box_pread(void *arg, int fd, void *data, size_t n, off_t at)
{
	const struct disk_box *b = arg;

	if ((uint64_t)at < b->bad_to && (uint64_t)at + n > b->bad_from) {
		errno = EIO;
		return -1;
	}
	return pread(fd, data, n, at);
}

void disk_box_new(struct disk_box *b)
{
	*b = (struct disk_box){ .arena = arena_new_empty() };
	scratch_new(&b->root);
	b->host = (struct disk_host){
		.root_fd = b->root.fd,
		.ioctl = box_ioctl,
		.pread = box_pread,
		.arg = b,
		.instance_type = "m3.xlarge",
	};
	scratch_write(&b->root, "/proc/sys/kernel/random/boot_id", "boot-1\n");
	scratch_write(&b->root, "/proc/self/mountinfo", "");
	scratch_write(&b->root, "/proc/swaps", "Filename Type Size Used Priority\n");
}

void disk_box_done(struct disk_box *b)
{
	scratch_done(&b->root);
	arena_free(b->arena);
}

static void put(struct disk_box *b, const char *disk, const char *attr, const char *text)
{
	if (text)
		scratch_write(&b->root, arena_printf(b->arena, "/sys/block/%s/%s", disk, attr),
			      arena_printf(b->arena, "%s\n", text));
}

char *disk_box_file(struct disk_box *b, const char *name)
{
	return arena_printf(b->arena, "%s/dev/%s", b->root.path, name);
}

void disk_box_add(struct disk_box *b, const struct box_disk *d)
{
	const uint64_t size = d->size ? d->size : 1 << 20;
	const unsigned int minor = b->next_minor++;

	put(b, d->name, "dev", arena_printf(b->arena, "259:%u", minor));
	put(b, d->name, "size", arena_printf(b->arena, "%" PRIu64, size / 512));
	put(b, d->name, "ro", d->read_only ? "1" : "0");
	put(b, d->name, "diskseq", arena_printf(b->arena, "%u", 100 + minor));
	put(b, d->name, "device/model", d->model);
	put(b, d->name, "device/serial", d->serial);
	if (d->part) {
		put(b, d->name, arena_printf(b->arena, "%s/partition", d->part), "1");
		scratch_write(&b->root,
			      arena_printf(b->arena, "/sys/class/block/%s/partition", d->part),
			      "1\n");
	}
	if (d->ec2_name)
		scratch_write(&b->root, arena_printf(b->arena, "/identify/%s", d->name),
			      d->ec2_name);
	scratch_write(&b->root, arena_printf(b->arena, "/dev/%s", d->name), "");
	assert_int_equal(truncate(disk_box_file(b, d->name), (off_t)size), 0);
}

void disk_box_forget(struct disk_box *b, const char *name)
{
	const char *dir = arena_printf(b->arena, "%s/sys/block/%s", b->root.path, name);

	/* a disk without a number is none */
	assert_int_equal(unlink(arena_printf(b->arena, "%s/dev", dir)), 0);
	assert_int_equal(unlink(arena_printf(b->arena, "%s/size", dir)), 0);
	assert_int_equal(unlink(arena_printf(b->arena, "%s/ro", dir)), 0);
	assert_int_equal(unlink(arena_printf(b->arena, "%s/diskseq", dir)), 0);
	(void)rmdir(dir);
}

void disk_box_remove(struct disk_box *b, const char *name)
{
	assert_int_equal(unlink(disk_box_file(b, name)), 0);
	disk_box_forget(b, name);
}

void disk_box_poke(struct disk_box *b, const char *name, int64_t at, const void *data, size_t n)
{
	const int fd = open(disk_box_file(b, name), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	if (at < 0)
		at += lseek(fd, 0, SEEK_END);
	assert_int_equal(pwrite(fd, data, n, at), n);
	assert_int_equal(close(fd), 0);
}
