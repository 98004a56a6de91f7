#include "nodeup/host/swap.h"

#include <string.h>
#include "nodeup/base/walk.h"
#include "nodeup/config/node.h"
#include "nodeup/volumes/fstab.h"
#include "nodeup/volumes/mounts.h"
#include "units/unit.h"

enum { FILE_MAX = 1 << 20 };

static const char units[] = "/etc/systemd/system";

/* Adds the swap space in use, from the kernel's table, which begins with a line of titles. */
static void add_used(struct arena *a, int root_fd, struct strv *ret)
{
	const struct strv all = mounts_swaps(root_fd, a);

	for (size_t i = 0; i < all.n; i++)
		if (*all.v[i] == '/')
			strv_add(a, ret, all.v[i]);
}

/* Adds the swap of lines such as "/swapfile none swap sw 0 0". */
static void add_of_fstab(struct arena *a, int root_fd, struct strv *ret)
{
	const char *text = io_text(a, root_fd, "/etc/fstab", FILE_MAX);
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const struct strv words = fstab_words(a, lines.v[i]);
		struct strv options;

		if (words.n < 3 || !str_eq(words.v[2], "swap"))
			continue;
		options = strv_split(a, words.n > 3 ? words.v[3] : "", ',');
		if (!strv_has(&options, "noauto"))
			strv_addf(a, ret, "%s of /etc/fstab", words.v[0]);
	}
}

/* Adds the swap units that some target starts at boot. */
static void add_of_folder(struct arena *a, int root_fd, const char *folder, struct strv *ret)
{
	const char *path = arena_printf(a, "%s/%s", units, folder);
	const struct strv names = walk_list(a, root_fd, path, ".swap");

	for (size_t i = 0; i < names.n; i++)
		strv_add_once(a, ret, names.v[i]);
}

static void add_of_units(struct arena *a, int root_fd, struct strv *ret)
{
	const struct strv folders = walk_list(a, root_fd, units, "");

	for (size_t i = 0; i < folders.n; i++)
		if (str_has_suffix(folders.v[i], ".wants") ||
		    str_has_suffix(folders.v[i], ".requires"))
			add_of_folder(a, root_fd, folders.v[i], ret);
}

/* Returns whether a drop-in lets kubelet start with swap: an admin's, or one of an earlier document. */
static bool kubelet_takes_swap(struct arena *a, int root_fd)
{
	const struct strmap texts = unit_dropin_texts(a, root_fd, "kubelet.service");

	for (size_t i = 0; i < texts.n; i++)
		if (node_takes_swap(texts.v[i].value, strlen(texts.v[i].value)))
			return true;
	return false;
}

void probe_swaps(struct arena *a, int root_fd, bool running, struct facts *f)
{
	if (running && f->swaps.n == 0)
		add_used(a, root_fd, &f->swaps);
	if (!f->kubelet_takes_swap.set)
		f->kubelet_takes_swap = (struct opt_bool){ true, kubelet_takes_swap(a, root_fd) };
	if (f->boot_swaps.n)
		return;
	add_of_fstab(a, root_fd, &f->boot_swaps);
	add_of_units(a, root_fd, &f->boot_swaps);
}
