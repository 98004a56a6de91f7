#include "assets/unpack/compare.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/digest.h"
#include "nodeup/base/map.h"
#include "nodeup/base/walk.h"

enum { IMPLIED_MODE = 0755 };

/* What is to be at a path; hard links share it. */
struct wanted {
	enum extract_kind kind; /* of EXTRACT_FILE, EXTRACT_DIR, EXTRACT_LINK */
	uint32_t mode;
	const char *target; /* of a link; of a file the sha256 of its bytes */
};

/* One name. A later entry of a name leaves what hard links share alone. */
struct name {
	struct wanted *is;
};

struct match {
	const char *archive;
	struct arena *arena;
	const struct strv *members;
	struct map names;
	size_t n_names, n_found;
	struct err *e;
};

static int fail_differ(struct match *m, const char *path, const char *what)
{
	char shown[EXTRACT_SHOWN_MAX];

	return err_fail(m->e, ERR_INTEGRITY, EBADMSG, "archive '%s': entry '%s': %s", m->archive,
			extract_show(path, shown), what);
}

/* Whether the tree has it. */
static bool is_kept(const struct match *m, const char *path, enum extract_kind kind)
{
	return kind == EXTRACT_DIR || extract_is_wanted(m->members, path);
}

static struct name *name_at(struct match *m, const char *path, enum extract_kind kind)
{
	struct name *at = map_get(&m->names, path);

	if (at)
		return at;
	at = arena_new(m->arena, struct name);
	*at = (struct name){ 0 };
	(void)map_put(m->arena, &m->names, arena_str(m->arena, path), at);
	m->n_names += is_kept(m, path, kind);
	return at;
}

static struct wanted *new_wanted(struct match *m, const struct extract_entry *told)
{
	struct wanted *w = arena_new(m->arena, struct wanted);

	*w = (struct wanted){ told->kind, told->mode & EXTRACT_MODES,
			      arena_str(m->arena, told->target) };
	return w;
}

/* All directories above path, which is left as it was. */
static int add_parents(struct match *m, char *path)
{
	static const struct extract_entry implied = { .kind = EXTRACT_DIR,
						      .mode = IMPLIED_MODE,
						      .target = "" };

	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct name *dir;

		*slash = '\0';
		dir = name_at(m, path, EXTRACT_DIR);
		if (!dir->is)
			dir->is = new_wanted(m, &implied);
		*slash = '/';
		if (dir->is->kind != EXTRACT_DIR)
			return fail_differ(m, path, "its directory is a link or a file");
	}
	return 0;
}

static int add_hardlink(struct match *m, struct name *at, const struct extract_entry *told)
{
	const struct name *target = map_get(&m->names, told->target);

	if (!target || !target->is || target->is->kind != EXTRACT_FILE)
		return fail_differ(m, told->path, "a hard link to no earlier file of the archive");
	at->is = target->is;
	return 0;
}

static int add_entry(struct match *m, const struct extract_entry *told)
{
	char path[EXTRACT_NAME_MAX + 1];
	const char *why = extract_clean(told->path, path);
	struct name *at;
	int r;

	if (why || path[0] == '\0')
		return fail_differ(m, told->path, why ? why : "no name");
	r = add_parents(m, path);
	if (r < 0)
		return r;
	at = name_at(m, path, told->kind);
	if (at->is && (at->is->kind == EXTRACT_DIR) != (told->kind == EXTRACT_DIR))
		return fail_differ(m, path, "a directory and something else");
	if (told->kind == EXTRACT_HARDLINK)
		return add_hardlink(m, at, told);
	at->is = new_wanted(m, told);
	return 0;
}

static mode_t type_of(enum extract_kind kind)
{
	return kind == EXTRACT_DIR ? S_IFDIR : kind == EXTRACT_LINK ? S_IFLNK : S_IFREG;
}

static int match_link(struct match *m, const struct walk_at *at, const char *path,
		      const struct wanted *w)
{
	char target[EXTRACT_NAME_MAX + 1];
	const ssize_t n = readlinkat(at->dir, at->name, target, sizeof(target));

	if (n < 0)
		return err_sys(m->e, "read the link '%s'", path);
	if ((size_t)n != strlen(w->target) || memcmp(target, w->target, (size_t)n) != 0)
		return fail_differ(m, path, "another target");
	return 0;
}

static int match_file(struct match *m, const struct walk_at *at, const char *path,
		      const struct wanted *w)
{
	autoclose int fd = io_open_at(at->dir, at->name, O_NOFOLLOW);
	char hex[DIGEST_TEXT_MAX];
	struct digest have;
	int r;

	if (fd < 0)
		return err_sys(m->e, "open '%s'", path);
	r = digest_of_fd(DIGEST_SHA256, fd, path, &have, m->e);
	if (r < 0)
		return r;
	return strcmp(digest_hex(&have, hex), w->target) == 0
		       ? 0
		       : fail_differ(m, path, "other content");
}

/* What the unpacker makes belongs to root, or to the user that it runs as. */
static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && st->st_gid == (geteuid() == 0 ? 0 : getegid());
}

static int match_entry(void *arg, const struct walk_at *at, struct err *e)
{
	struct match *m = arg;
	autofree char *full = xasprintf("%s/%s", at->path, at->name);
	const char *path = full + 1;
	const struct name *name = map_get(&m->names, path);
	const struct wanted *w = name ? name->is : NULL;

	(void)e;
	if (!w || !is_kept(m, path, w->kind))
		return fail_differ(m, path, "the archive has none");
	m->n_found++;
	if ((at->st.st_mode & S_IFMT) != type_of(w->kind))
		return fail_differ(m, path, "another type");
	if (!is_ours(&at->st))
		return fail_differ(m, path, "another owner");
	if (w->kind == EXTRACT_LINK)
		return match_link(m, at, path, w);
	if ((at->st.st_mode & 07777) != w->mode)
		return fail_differ(m, path, "another mode");
	return w->kind == EXTRACT_DIR ? 1 : match_file(m, at, path, w);
}

int extract_match(struct extract_report *report, int tree_fd, const char *name,
		  const struct strv *members, struct err *e)
{
	autoarena struct arena *arena = arena_new_empty();
	struct match m = { .archive = name, .arena = arena, .members = members, .e = e };
	const struct walk walk = { .enter = match_entry, .arg = &m };
	struct extract_entry told;
	int r;

	for (;;) {
		if (extract_report_next(report, &told) <= 0)
			return err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': half a report",
					name);
		if (told.kind <= EXTRACT_ERROR)
			break;
		r = add_entry(&m, &told);
		if (r < 0)
			return r;
	}
	r = walk_below(tree_fd, &walk, e);
	if (r < 0)
		return r;
	if (m.n_found != m.n_names)
		return err_fail(e, ERR_INTEGRITY, EBADMSG,
				"archive '%s': %zu of its %zu entries are not there", name,
				m.n_names - m.n_found, m.n_names);
	return 0;
}
