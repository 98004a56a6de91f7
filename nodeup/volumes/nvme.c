#include "nodeup/volumes/nvme.h"

#include <ctype.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <string.h>

enum {
	IDENTIFY = 0x06,
	IDENTIFY_CONTROLLER = 1,
	IDENTIFY_SIZE = 4096,
	VENDOR_AMAZON = 0x1d0f,
	VENDOR_AREA = 3072,
	NAME_SIZE = 32,
};

int nvme_ec2_name(const struct disk_host *h, int fd, char ret[static NVME_NAME_MAX])
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
	int r = disk_ioctl(h, fd, NVME_IOCTL_ADMIN_CMD, &cmd);

	if (r < 0)
		return r;
	if ((data[0] | data[1] << 8) != VENDOR_AMAZON)
		return -ENOENT;
	if (memcmp(name, "/dev/", 5) == 0) {
		name += 5;
		left -= 5;
	}
	/* padded with blanks or NULs */
	for (; n < left && isalnum((unsigned char)name[n]); n++)
		ret[n] = name[n];
	ret[n] = '\0';
	return n ? 0 : -ENOENT;
}
