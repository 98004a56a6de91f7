#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/op.h"

enum { SAVED_MAX = 64 << 20 };

static const char version[] = "1";

const char *store_kept_name(struct arena *a, const struct store_kept *kept, const char *location)
{
	const char *slash = kept->conf ? strrchr(kept->conf, '/') : NULL;
	const size_t n = slash ? (size_t)(slash + 1 - kept->conf) : 0;

	if (location_is_remote(location) || !kept->conf)
		return location;
	if (str_eq(location, kept->conf))
		return kept->conf_name;
	/* if conf is kept under another name, the locations beside it are renamed in the same way */
	if (strncmp(location, kept->conf, n) == 0 && (n || *location != '/'))
		return location_beside(a, kept->conf_name, location + n);
	return location_absolute(a, location);
}

static struct tree *build_saved(struct store *s, struct arena *a, const struct store_kept *kept)
{
	struct tree *documents = tree_map(a), *folders = tree_map(a), *missing = tree_seq(a);
	struct tree *t = tree_map(a), *issued = tree_seq(a);

	for (size_t i = 0; i < s->n; i++) {
		const struct store_entry *entry = &s->entries[i];
		const char *name = store_kept_name(a, kept, entry->location);

		if (entry->listing)
			(void)tree_set(a, folders, name, tree_of_strv(a, &entry->names));
		else if (entry->missing)
			(void)tree_add(a, missing, tree_string(a, name));
		else
			tree_set_text(a, documents, name, enc_base64(a, entry->text, entry->n));
		if (entry->issued)
			(void)tree_add(a, issued, tree_string(a, name));
	}
	(void)tree_set(a, t, "version", tree_plain(a, version));
	tree_set_text(a, t, "key", kept->key);
	tree_set_text(a, t, "conf", kept->conf_name);
	(void)tree_set(a, t, "documents", documents);
	(void)tree_set(a, t, "folders", folders);
	tree_set_some(a, t, "issued", issued);
	return tree_set(a, t, "missing", missing);
}

/* Reads the file, and when its documents were last known to be current. key NULL: takes the documents of any node.
 * -ENOENT: the file is missing or useless. */
static int load_saved(struct arena *a, int root_fd, const char *path, const char *key,
		      struct tree **ret_tree, int64_t *ret_ns, struct err *e)
{
	autobuf struct buf b = BUF_INIT(SAVED_MAX);
	const char *k, *saved;
	struct stat st;
	int r;

	r = io_stat(root_fd, path, &st, e);
	if (r >= 0)
		r = io_read(root_fd, path, &b, e);
	if (r < 0)
		return r;
	if (json_parse(a, path, buf_str(&b), b.len, ret_tree, e) < 0)
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' is damaged", path);
	k = tree_text(*ret_tree, "key");
	if (!k || (key && !str_eq(k, key)) || !str_eq(tree_text(*ret_tree, "version"), version))
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' is of another node or cluster", path);
	saved = tree_text(*ret_tree, "saved");
	*ret_ns = saved ? strtoll(saved, NULL, 10) * DUR_SEC : 0;
	if (st.st_mtim.tv_sec * DUR_SEC > *ret_ns)
		*ret_ns = st.st_mtim.tv_sec * DUR_SEC + st.st_mtim.tv_nsec;
	return 0;
}

/* Returns whether the same documents are saved already. If so, gives the file a new time, which shows that the
 * documents are current. */
static bool is_saved(struct store *s, int root_fd, const char *path, const struct store_kept *kept)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1;
	struct tree *saved, *now = build_saved(s, a, kept);
	struct err ignored;
	int64_t ns;

	if (load_saved(a, root_fd, path, kept->key, &saved, &ns, &ignored) < 0)
		return false;
	(void)tree_set(a, now, "saved", tree_get(saved, "saved"));
	return tree_eq(saved, now) && io_open_file(root_fd, path, &fd, &ignored) >= 0 &&
	       futimens(fd, NULL) == 0;
}

int store_save(struct store *s, int root_fd, const char *path, const struct store_kept *kept,
	       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(SAVED_MAX);
	struct tree *t;
	int r;

	if (is_saved(s, root_fd, path, kept))
		return 0;
	t = build_saved(s, a, kept);
	tree_set_int(a, t, "saved", dur_wall() / DUR_SEC);
	r = json_render(t, false, &b, e);
	if (r >= 0)
		r = buf_check(&b, path, e);
	return r < 0 ? r : record_write(root_fd, path, 0600, buf_str(&b), e);
}

/* Returns the bytes of a kept document; NULL: there are none, or they are damaged. */
static const char *kept_bytes(struct arena *a, const struct tree *kept, size_t *ret_n)
{
	struct err ignored;
	char *bytes;

	if (!kept || kept->kind != TREE_SCALAR ||
	    enc_unbase64(a, kept->scalar, &bytes, ret_n, &ignored) < 0)
		return NULL;
	return bytes;
}

/* Returns whether the store may answer for this location from the record. */
typedef bool is_wanted_fn(const char *location);

static bool is_any(const char *location)
{
	return location;
}

static bool restore_documents(struct store *s, const struct tree *t, is_wanted_fn *is_wanted)
{
	for (size_t i = 0; t && i < t->n; i++) {
		struct store_entry entry = { .location = t->items[i].key };

		if (!is_wanted(entry.location))
			continue;
		entry.text = kept_bytes(s->arena, t->items[i].value, &entry.n);
		if (!entry.text)
			return false;
		store_remember(s, &entry);
	}
	return true;
}

static void restore_folders(struct store *s, const struct tree *t, is_wanted_fn *is_wanted)
{
	for (size_t i = 0; t && i < t->n; i++) {
		const struct tree *names = t->items[i].value;
		struct store_entry entry = { .location = t->items[i].key, .listing = true };

		if (!is_wanted(entry.location))
			continue;
		for (size_t k = 0; k < names->n; k++)
			if (names->items[k].value->kind == TREE_SCALAR)
				strv_add(s->arena, &entry.names, names->items[k].value->scalar);
		store_remember(s, &entry);
	}
}

static void restore_missing(struct store *s, const struct tree *t, is_wanted_fn *is_wanted)
{
	for (size_t i = 0; t && i < t->n; i++) {
		const struct tree *name = t->items[i].value;

		if (name->kind == TREE_SCALAR && is_wanted(name->scalar))
			store_remember(s, &(struct store_entry){ .location = name->scalar,
								 .missing = true });
	}
}

/* Makes the store answer only from the record. Forgets documents that were read before the store failed, as they may
 * be newer than the rest. */
static int restore(struct store *s, int root_fd, const char *path, const char *key,
		   is_wanted_fn *is_wanted, struct tree **ret, int64_t *ret_age_ns, struct err *e)
{
	struct tree *t;
	int64_t seen_ns;
	int r = load_saved(s->arena, root_fd, path, key, &t, &seen_ns, e);

	if (r < 0)
		return r;
	s->n = 0;
	if (!restore_documents(s, tree_get(t, "documents"), is_wanted)) {
		s->n = 0;
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' is damaged", path);
	}
	restore_folders(s, tree_get(t, "folders"), is_wanted);
	restore_missing(s, tree_get(t, "missing"), is_wanted);
	s->kept = arena_printf(s->arena, "%s UTC", dur_date(s->arena, seen_ns));
	s->replaying = true;
	*ret = t;
	*ret_age_ns = dur_wall() > seen_ns ? dur_wall() - seen_ns : 0;
	return 0;
}

int store_kept_of(struct arena *a, int root_fd, const char *path, struct store_origin *ret,
		  struct err *e)
{
	const char *key, *space;
	struct tree *t;
	int64_t ns;
	int r = load_saved(a, root_fd, path, NULL, &t, &ns, e);

	if (r < 0)
		return r;
	key = tree_text(t, "key");
	space = strrchr(key, ' ');
	ret->date = arena_printf(a, "%s UTC", dur_date(a, ns));
	ret->instance = space ? space + 1 : key;
	ret->is_local = space && !location_is_remote(arena_strn(a, key, (size_t)(space - key)));
	return 0;
}

/* Lists the names of issued keys and certificates of this node. */
static struct strv issued_in(struct arena *a, const struct tree *saved)
{
	const struct tree *names = tree_get(saved, "issued");
	struct strv issued = { 0 };

	for (size_t i = 0; names && i < names->n; i++)
		strv_add(a, &issued, names->items[i].value->scalar);
	return issued;
}

int store_kept_texts(struct arena *a, int root_fd, const char *path, const char *key,
		     struct store_texts *ret, struct err *e)
{
	const struct tree *documents;
	struct strv issued;
	struct tree *t;
	int64_t ns;
	int r = load_saved(a, root_fd, path, key, &t, &ns, e);

	*ret = (struct store_texts){ 0 };
	if (r < 0)
		return r;
	issued = issued_in(a, t);
	documents = tree_get(t, "documents");
	for (size_t i = 0; documents && i < documents->n; i++) {
		struct store_text kept = { .location = documents->items[i].key };

		kept.issued = strv_has(&issued, kept.location);

		kept.text = kept_bytes(a, documents->items[i].value, &kept.n);
		ret->is_damaged |= !kept.text;
		if (kept.text)
			arena_push(a, ret->v, ret->n, kept);
	}
	return 0;
}

/* Returns the saved documents without the keys and certificates that a node renews by itself; NULL: the text cannot
 * be parsed. */
static struct tree *given_in(struct arena *a, const struct buf *text)
{
	static const char *const lasting[] = { "key", "conf", "folders", "missing" };
	struct tree *t, *given = tree_map(a);
	const struct tree *documents;
	struct strv issued;
	struct err ignored;

	if (json_parse(a, "", buf_str(text), text->len, &t, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
		(void)tree_set(a, given, lasting[i], tree_get(t, lasting[i]) ?: tree_null(a));
	issued = issued_in(a, t);
	documents = tree_get(t, "documents");
	for (size_t i = 0; documents && i < documents->n; i++)
		if (!strv_has(&issued, documents->items[i].key))
			(void)tree_set(a, given, documents->items[i].key,
				       documents->items[i].value);
	return given;
}

bool store_kept_equal(const struct buf *x, const struct buf *y)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *one = given_in(a, x), *other = given_in(a, y);

	return one && other && tree_eq(one, other);
}

int store_replay(struct store *s, int root_fd, const char *path, const char *key,
		 int64_t *ret_age_ns, struct err *e)
{
	struct tree *t;

	/* files of this machine are read directly */
	return restore(s, root_fd, path, key, location_is_remote, &t, ret_age_ns, e);
}

int store_use(struct store *s, int root_fd, const char *path, const char **ret_conf,
	      int64_t *ret_age_ns, struct err *e)
{
	struct tree *t;
	int r = restore(s, root_fd, path, NULL, is_any, &t, ret_age_ns, e);

	if (r < 0)
		return r;
	*ret_conf = tree_text(t, "conf");
	return *ret_conf
		       ? 0
		       : err_fail(e, ERR_SYSTEM, ENOENT, "'%s' does not say which is --conf", path);
}
