#include "nodeup/volumes/raid.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"

#define MDADM_MAX_NS (5 * 60 * DUR_SEC)

bool raid_array(const struct disk_host *h, struct arena *a, const struct disks *members,
		struct disk *ret)
{
	const char *name = NULL;
	struct disks all;
	struct err ignored;

	for (size_t i = 0; i < members->n; i++) {
		const struct strv *holders = &members->v[i].holders;

		if (holders->n != 1 || !str_has_prefix(holders->v[0], "md") ||
		    (name && strcmp(name, holders->v[0]) != 0))
			return false;
		name = holders->v[0];
	}
	if (!name || disk_list(h, a, &all, &ignored) < 0)
		return false;
	for (size_t i = 0; i < all.n; i++) {
		if (strcmp(all.v[i].name, name) != 0)
			continue;
		*ret = all.v[i];
		return true;
	}
	return false;
}

/* "0b1e5c53:1f835c6e:9d350d5b:4f1e7a11" */
static char *md_uuid(struct arena *a, const char *uuid)
{
	autobuf struct buf text = BUF_INIT(64);
	size_t digits = 0;

	for (; *uuid; uuid++) {
		if (*uuid == '-')
			continue;
		if (digits > 0 && digits % 8 == 0)
			(void)buf_addc(&text, ':');
		(void)buf_addc(&text, *uuid);
		digits++;
	}
	return arena_str(a, buf_str(&text));
}

static char *name_of(struct arena *a, const char *uuid)
{
	return arena_printf(a, "nodeup-%.8s", uuid);
}

static int run_mdadm(struct arena *a, struct strv *argv, const struct strv *nodes, int lock_fd,
		     struct err *e)
{
	struct proc_req req = { .stdin_fd = lock_fd, .timeout_ns = MDADM_MAX_NS, .let_end = true };
	int r;

	strv_add_all(a, argv, nodes);
	strv_add(a, argv, NULL);
	req.argv = argv->v;
	r = proc_run(&req, NULL, e);
	if (r == -ENOENT)
		return err_config(e, "mdadm is not installed: package mdadm has it; btrfs spans "
				     "disks without");
	return r;
}

int raid_create(const struct strv *nodes, const char *uuid, int lock_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name = name_of(a, uuid);
	struct strv argv = { 0 };

	strv_add(a, &argv, "mdadm");
	strv_add(a, &argv, "--create");
	strv_addf(a, &argv, "/dev/md/%s", name);
	/* asks no questions: the caller has proven that the disks are blank */
	strv_add(a, &argv, "--run");
	strv_add(a, &argv, "--level=0");
	strv_add(a, &argv, "--metadata=1.2");
	strv_add(a, &argv, "--homehost=any");
	strv_addf(a, &argv, "--name=%s", name);
	strv_addf(a, &argv, "--uuid=%s", md_uuid(a, uuid));
	strv_addf(a, &argv, "--raid-devices=%zu", nodes->n);
	return run_mdadm(a, &argv, nodes, lock_fd, e);
}

int raid_assemble(const struct strv *nodes, const char *uuid, int lock_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv argv = { 0 };

	strv_add(a, &argv, "mdadm");
	strv_add(a, &argv, "--assemble");
	strv_addf(a, &argv, "/dev/md/%s", name_of(a, uuid));
	strv_addf(a, &argv, "--uuid=%s", md_uuid(a, uuid));
	return run_mdadm(a, &argv, nodes, lock_fd, e);
}
