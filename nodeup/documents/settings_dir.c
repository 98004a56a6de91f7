#include "nodeup/documents/settings_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/walk.h"
#include "nodeup/base/yaml.h"

enum { FILE_MAX = 1 << 20 };

const char settings_dir[] = OWN_SETTINGS_DIR;

static int list(struct arena *a, int root_fd, struct strv *ret, struct err *e)
{
	struct strv names;
	int r = walk_names_at(a, root_fd, settings_dir, &names, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	for (size_t i = 0; i < names.n; i++)
		if (names.v[i][0] != '.' && str_has_suffix(names.v[i], ".yaml"))
			strv_addf(a, ret, "%s/%s", settings_dir, names.v[i]);
	return r;
}

static int load_file(struct arena *a, int root_fd, const char *path, struct field_unknowns *unknown,
		     struct settings *s, struct err *e)
{
	const struct field_opts opts = { .unknown = field_note_unknown,
					 .arg = unknown,
					 .path = "" };
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	struct settings_doc doc = { 0 };
	struct tree *t;
	int r = io_read(root_fd, path, &b, e);

	if (r >= 0)
		r = yaml_parse(a, path, arena_strn(a, buf_str(&b), b.len), b.len, &t, e);
	if (r < 0 || t->kind == TREE_NULL)
		return r;
	r = field_parse(a, &settings_schema, t, &doc, &opts, e);
	return r < 0 ? r : settings_add(a, &doc, true, s, NULL, e);
}

int settings_load(struct arena *a, int root_fd, bool strict, struct strv *warnings,
		  struct settings *ret, struct err *e)
{
	struct field_unknowns unknown = { .arena = a };
	struct settings s = { 0 };
	struct strv files = { 0 }, messages;
	int r = list(a, root_fd, &files, e);

	for (size_t i = 0; r >= 0 && i < files.n; i++)
		r = load_file(a, root_fd, files.v[i], &unknown, &s, e);
	if (r < 0)
		return r;
	messages = field_unknown_texts(a, &unknown);
	if (strict && messages.n)
		return err_config(e, "%s", messages.v[0]);
	strv_add_all(a, warnings, &messages);
	*ret = s;
	return 0;
}

int settings_of_document(struct arena *a, const struct settings_doc *doc, struct strv *warnings,
			 struct settings *s, struct errs *errors, struct err *e)
{
	if (s->keys_are_own && doc->public_keys && doc->public_keys->n)
		strv_addf(a, warnings, "%s: publicKeys: not used, %s has the keys of this machine",
			  tree_where(a, &doc->public_keys->pos), settings_dir);
	return settings_add(a, doc, false, s, errors, e);
}

const char *settings_ca(const struct settings *s)
{
	const bool named = !str_is_empty(getenv("SSL_CERT_FILE")) ||
			   !str_is_empty(getenv("AWS_CA_BUNDLE"));

	return named ? NULL : s->ca_bundle;
}

int settings_bake_keys(struct arena *a, int root_fd, const char *cluster,
		       const struct settings_doc *doc, struct err *e)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	const char *path = arena_printf(a, "%s/50-keys-%s.yaml", settings_dir, cluster);
	struct tree *keys = tree_seq(a);
	int r;

	for (size_t i = 0; i < doc->public_keys->n; i++)
		(void)tree_add(a, keys, tree_string(a, doc->public_keys->items[i].value->scalar));
	r = yaml_render(tree_set(a, tree_map(a), "publicKeys", keys), &b, e);
	return r < 0 ? r : record_keep(root_fd, path, 0644, buf_str(&b), e);
}
