#include <stdlib.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"

int loader_last_applied(struct loader *l, const char **ret, struct err *e)
{
	autobuf struct buf b = BUF_INIT(LOADER_RECORD_MAX);
	int r = io_read(l->req->root_fd, OWN_CONF, &b, e);

	*ret = NULL;
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	*ret = str_trim(l->arena, buf_str(&b));
	if (!location_is_absolute(*ret))
		*ret = NULL;
	return 0;
}

const char *loader_conf_name(struct arena *a, const char *conf)
{
	autofree char *path = location_path(conf) == conf ? realpath(conf, NULL) : NULL;
	autofree char *dir = NULL, *real = NULL;
	const char *absolute = location_absolute(a, conf);

	if (path)
		return arena_str(a, path);
	if (location_path(conf) != conf)
		return conf;
	dir = xstrdup(absolute);
	*strrchr(dir, '/') = '\0';
	real = realpath(*dir ? dir : "/", NULL);
	return real ? location_join(a, real, str_basename(absolute)) : absolute;
}

const char *loader_kept_name(struct loader *l, const char *location)
{
	const char *conf = l->b->conf;
	const struct store_kept kept = { .conf = conf,
					 .conf_name = loader_conf_name(l->arena, conf) };

	return store_kept_name(l->arena, &kept, location);
}

bool loader_is_local(const struct loader *l)
{
	const char *base = l->b->documents.base;

	return !location_is_remote(l->b->conf) && !(base && location_is_remote(base));
}

const char *loader_key(struct loader *l)
{
	const bool is_local = loader_is_local(l);
	struct bootstrap *b = l->b;
	const char *base = b->documents.base;
	struct err ignored;

	if (location_is_remote(b->conf))
		base = location_shown(l->arena, b->conf);
	else if (is_local)
		base = loader_kept_name(l, b->conf);
	if (!policy_is_of_node(l->policy) ||
	    (l->policy->image_mode && (is_local || !b->documents.of_instance)) ||
	    (is_local && l->is_imds_silent) || loader_instance(l, &ignored) < 0)
		return NULL;
	return arena_printf(l->arena, "%s %s", base, b->facts.instance_id);
}

bool loader_kept(struct loader *l, struct store_origin *ret_of, struct store_texts *ret)
{
	const int root_fd = l->req->root_fd;
	struct err ignored;

	return store_kept_of(l->arena, root_fd, OWN_DOCUMENTS, ret_of, &ignored) >= 0 &&
	       store_kept_texts(l->arena, root_fd, OWN_DOCUMENTS, NULL, ret, &ignored) >= 0;
}

/* Reads the documents that the last run on this instance kept; false: there are none. */
static bool kept_of_instance(struct loader *l, struct store_texts *ret)
{
	struct store_origin of;

	return loader_kept(l, &of, ret) && str_eq(of.instance, l->b->facts.instance_id);
}

/* Returns whether the last run kept this very document of --conf. That run may have known less about the document's
 * version than this run. */
static bool is_conf_kept(struct loader *l)
{
	const char *name = loader_conf_name(l->arena, l->b->conf), *text;
	struct store_texts texts;
	struct err ignored;
	size_t n;

	if (!kept_of_instance(l, &texts) ||
	    store_get(l->b->store, l->b->conf, &text, &n, &ignored) < 0)
		return false;
	for (size_t i = 0; i < texts.n; i++)
		if (str_eq(texts.v[i].location, name))
			return texts.v[i].n == n && memcmp(texts.v[i].text, text, n) == 0;
	return false;
}

/* Returns whether a document that the last run kept is of the same minor versions of kops. If no documents of this
 * instance are kept, returns whether the last run had the same --conf, because an earlier nodeup did not record the
 * version of kops. */
static bool is_kept(struct loader *l, const char *last, const char *minors)
{
	struct store_texts texts;
	struct err ignored;

	if (!kept_of_instance(l, &texts))
		return str_eq(last, loader_conf_name(l->arena, l->b->conf));
	for (size_t i = 0; i < texts.n; i++) {
		const char *file = texts.v[i].location;
		const struct user_data_file given = { file, texts.v[i].text, texts.v[i].n, 0 };
		struct user_data u;
		struct vintage kept;
		struct tree *t;

		if (user_data_read(l->arena, file, &given, location_is_imds(file), &u, &ignored) ==
			    0 &&
		    yaml_parse(l->arena, file, u.conf.text, u.conf.n, &t, &ignored) == 0 &&
		    vintage_find(l->arena,
				 &(struct vintage_sources){
					 .script = u.script,
					 .document = t,
					 .is_node_config = !tree_lookup(t, "InstanceGroupName") },
				 &kept, &ignored) == 0 &&
		    str_eq(vintage_minors(l->arena, &kept), minors))
			return true;
	}
	return false;
}

static bool was_of_vintage(struct loader *l, const char *last, const struct vintage *v)
{
	autobuf struct buf vintage = BUF_INIT(LOADER_RECORD_MAX);
	const char *minors = vintage_minors(l->arena, v);
	bool is_same = record_read(l->req->root_fd, OWN_VINTAGE, &vintage)
			       ? str_eq(strv_split(l->arena, buf_str(&vintage), '\n').v[0], minors)
			       : is_kept(l, last, minors);

	is_same = is_same || is_conf_kept(l);
	if (is_same)
		l->b->outlived = minors;
	return is_same;
}

/* Writes a line of a document's record. */
static void note_document(const char *text, size_t n, struct buf *b)
{
	char hex[DIGEST_TEXT_MAX];

	(void)buf_addf(b, "%s\n", digest_sha256_hex(text, n, hex));
}

/* If an older nodeup left no record, notes the kept documents: the user data as a whole, and the document inside
 * them. */
static void note_kept(struct loader *l, struct buf *b)
{
	struct store_texts texts;

	if (!kept_of_instance(l, &texts))
		return;
	for (size_t i = 0; i < texts.n; i++) {
		const struct store_text *kept = &texts.v[i];
		const struct user_data_file given = { kept->location, kept->text, kept->n, 0 };
		struct user_data u;
		struct err ignored;

		note_document(kept->text, kept->n, b);
		if (user_data_read(l->arena, kept->location, &given, false, &u, &ignored) == 0)
			note_document(u.conf.text, u.conf.n, b);
	}
}

/* Returns whether every document read so far was applied before. */
static bool has_same_documents(struct loader *l)
{
	autobuf struct buf applied = BUF_INIT(LOADER_APPLIED_MAX);
	const struct bootstrap *b = l->b;
	bool is_same = b->n_texts > 0;

	if (!record_read(l->req->root_fd, OWN_APPLIED, &applied))
		note_kept(l, &applied);
	for (size_t i = 0; i < b->n_texts && is_same; i++) {
		autobuf struct buf line = BUF_INIT(LOADER_APPLIED_MAX);

		note_document(b->texts[i].text, b->texts[i].n, &line);
		is_same = strstr(buf_str(&applied), buf_str(&line)) != NULL;
	}
	return is_same;
}

/* Returns whether the records come from a run on this instance that ended well, and gives that run's configuration. */
static bool is_recorded(struct loader *l, const char **ret_last)
{
	autobuf struct buf identity = BUF_INIT(LOADER_RECORD_MAX);
	struct err ignored;

	return (policy_is_of_node(l->policy) || l->policy->mode == MODE_VALIDATE) &&
	       loader_last_applied(l, ret_last, &ignored) >= 0 && *ret_last &&
	       record_read(l->req->root_fd, OWN_IDENTITY, &identity) &&
	       loader_instance(l, &ignored) >= 0 &&
	       str_eq(str_trim(l->arena, buf_str(&identity)), l->b->facts.instance_id);
}

bool loader_was_made(struct loader *l)
{
	const char *last;

	return is_recorded(l, &last);
}

bool loader_was_applied(void *records, const struct vintage *v)
{
	struct loader *l = records;
	const char *last;

	if (!is_recorded(l, &last))
		return false;
	return v ? was_of_vintage(l, last, v) : has_same_documents(l);
}

bool loader_recorded(void *records, struct vintage *ret)
{
	struct loader *l = records;
	struct vintage found;
	const char *last;

	if (!policy_has_machine(l->policy) || !loader_read_vintage(l, &found) ||
	    !is_recorded(l, &last))
		return false;
	*ret = found;
	return true;
}

/* Records what a later run must know about these documents. */
static int keep_records(const struct bootstrap *b, const char *name, int root_fd, struct err *e)
{
	autofree char *conf = xasprintf("%s\n", name);
	/* an earlier nodeup, which made every node as the newest kops, wrote a single line */
	autofree char *vintage = xasprintf("%s\n%s\n", b->outlived ? b->outlived : "spoken",
					   b->vintage ? b->vintage : "-");
	autobuf struct buf applied = BUF_INIT(LOADER_APPLIED_MAX);
	int r = record_keep(root_fd, OWN_VINTAGE, 0644, vintage, e);

	for (size_t i = 0; i < b->n_texts; i++)
		note_document(b->texts[i].text, b->texts[i].n, &applied);
	if (r >= 0)
		r = record_keep(root_fd, OWN_APPLIED, 0644, buf_str(&applied), e);
	return r < 0 ? r : record_keep(root_fd, OWN_CONF, 0600, conf, e);
}

static int keep_documents(struct bootstrap *b, int root_fd, const char *name, struct err *e)
{
	const struct store_kept kept = { .key = b->key, .conf = b->conf, .conf_name = name };

	/* replayed documents keep their age */
	return b->key && !b->replayed ? store_save(b->store, root_fd, OWN_DOCUMENTS, &kept, e) : 0;
}

int bootstrap_keep_answers(struct bootstrap *b, int root_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r = b->key ? loader_keep_facts(root_fd, &b->facts, e) : 0;

	if (r < 0 || !b->is_given)
		return r;
	r = io_mkdirs(root_fd, OWN_LIB, 0755, e);
	return r < 0 ? r : keep_documents(b, root_fd, loader_conf_name(a, b->conf), e);
}

int bootstrap_persist(struct bootstrap *b, int root_fd, int64_t number, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name = loader_conf_name(a, b->conf);
	/* recorded so that the next run of this boot need not ask IMDS */
	int r = b->imds_has_version1
			? record_write(root_fd, OWN_IMDS_VERSION, 0644, "answered\n", e)
			: 0;

	/* if a set was used, only this is recorded: that this run ended well with the set */
	if (b->set)
		return r < 0 ? r : kept_add(root_fd, b->set_path, number, e);
	if (r >= 0)
		r = keep_records(b, name, root_fd, e);
	if (r >= 0)
		r = keep_documents(b, root_fd, name, e);
	return r < 0 || !b->key ? r : kept_add(root_fd, OWN_DOCUMENTS, number, e);
}
