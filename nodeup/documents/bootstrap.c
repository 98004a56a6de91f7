#include "nodeup/documents/bootstrap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/near.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/documents/kept.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/loader.h"
#include "nodeup/join/join.h"
#include "nodeup/join/keys.h"
#include "nodeup/tasks/volume.h"

static const char documents_path[] = OWN_DOCUMENTS;
static const char conf_path[] = OWN_CONF; /* what was last applied */
/* of which kops the documents were, and on the first line its minors, where they are not spoken any more */
static const char vintage_path[] = OWN_VINTAGE;
/* which documents the last run that ended well had: the sha256 of each, a line each */
static const char applied_path[] = OWN_APPLIED;

/* That the metadata service answers version 1, once asked in this boot: /run is empty at the next one. */
static const char version1_path[] = OWN_IMDS_VERSION;

static bool may_be_there(const char *conf)
{
	if (location_is_imds(conf))
		return str_eq(conf, LOCATION_IMDS);
	return location_is_remote(conf) || str_has_prefix(conf, "file://") ||
	       access(conf, F_OK) == 0;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static const char *usual_places(struct arena *a)
{
	struct strv all = { 0 };

	for (const struct dialect *const *d = dialects; *d; d++)
		for (const char *const *place = (*d)->places; *place; place++)
			strv_add(a, &all, *place);
	return strv_join(a, &all, ", ");
}

/* The document that --conf means; of a folder that is gone by now, the one that was applied last. */
static const char *given_conf(struct loader *l)
{
	const char *conf = l->req->conf, *path = location_path(conf);
	const char *inside = location_in_folder(l->arena, conf), *last;
	struct err ignored;

	return path && l->req->may_replay && access(path, F_OK) < 0 &&
			       loader_last_applied(l, &last, &ignored) == 0 &&
			       str_eq(last, loader_conf_name(l->arena, inside))
		       ? inside
		       : location_document(l->arena, conf);
}

static int find_conf(struct loader *l, const char **ret, struct err *e)
{
	const struct bootstrap_req *req = l->req;
	const char *last = NULL;
	int r = req->conf ? 0 : loader_last_applied(l, &last, e);

	*ret = req->conf ? given_conf(l) : last;
	if (r < 0 || req->conf || (last && may_be_there(last)))
		return r;
	if (req->image_mode)
		return err_fail(e, ERR_USAGE, 0,
				"no --conf, and nothing was applied to this root yet");
	if (last)
		return 0;
	r = dialects_find(is_there, ret, e);
	if (r < 0 || *ret)
		return r;
	return err_fail(e, ERR_USAGE, 0,
			"no --conf, nothing was applied yet, and none of %s is there",
			usual_places(l->arena));
}

static int load_conf(struct loader *l, struct dialect_opts *opts, struct err *e)
{
	struct tree *t;
	int r = loader_read(l, "configuration", l->b->conf, false, &t, e);

	opts->script = l->user_data.script;
	opts->script_pos = (struct tree_pos){ l->user_data.file, 1, 1 };
	if (r == 0)
		r = dialects_read(l->arena, t, opts, &l->b->documents, e);
	if (r == 0 && l->b->documents.dialect->dual_stack)
		store_use_dual_stack(l->b->store);
	return r;
}

/* A group that the store does not have is most often another's name: which there are, and which is near. */
static int no_such_group(struct loader *l, struct err *e)
{
	const struct documents *d = &l->b->documents;
	const char *slash = strrchr(d->group_at, '/');
	struct strv names = { 0 };
	const char *nearest;
	struct err ignored;

	if (d->group_from)
		(void)err_wrap(e, "%s", d->group_from);
	if (store_list(l->b->store,
		       arena_strn(l->arena, d->group_at, (size_t)(slash - d->group_at)), &names,
		       &ignored) < 0 ||
	    names.n == 0)
		return err_code(e);
	nearest = near_name(slash + 1, names.v, names.n);
	err_note(e, "there is", "%s", strv_join(l->arena, &names, ", "));
	if (nearest)
		err_note(e, "do", "did you mean InstanceGroupName: %s?", nearest);
	return err_code(e);
}

/* The document of a group that is named, and not in a store: without it the node would lack the group's taints and volumes. */
static int no_group_beside(struct loader *l, struct err *e)
{
	err_note(e, "do", "write it, as nodeup example ROLE instancegroup shows, or name no group");
	return err_wrap(e, "%s", l->b->documents.group_from);
}

/* A document beside --conf stands for the store's or the server's where documents are looked at. */
static bool is_elsewhere(struct loader *l)
{
	const struct bootstrap_req *req = l->req;
	const char *beside =
		location_beside(l->arena, l->b->conf, l->b->documents.dialect->cluster_name);

	if (l->b->adopted)
		return false;
	if (l->b->store && l->b->replayed)
		return true;
	return !req->no_secrets && !((req->offline || req->only_looks) &&
				     (loader_brought(l, beside) || may_be_there(beside)));
}

static int join_specs(struct loader *l, struct err *e)
{
	const char *location;
	int r = loader_join(l, &location, e);

	l->b->documents.group = tree_null(l->arena);
	return r < 0 ? r : loader_read_cluster(l, "NodeupConfig", location, false, e);
}

/* Where they are is decided by the documents: what ConfigBase lacks is never looked for elsewhere. */
static int load_specs(struct loader *l, struct err *e)
{
	struct documents *d = &l->b->documents;
	const char *cluster = d->cluster_at, *group = d->group_at;
	const char *what = d->of_instance ? "NodeupConfig" : "cluster spec";
	const bool in_store = d->in_store && (!d->beside_will_do || is_elsewhere(l));
	struct tree *t = tree_null(l->arena);
	struct strv both = { 0 };
	bool is_lost;
	int r;

	if (d->join && is_elsewhere(l))
		return join_specs(l, e);
	if (!d->dialect->cluster_name) {
		d->cluster = d->group = t;
		return 0;
	}
	if (l->req->assets_alone && l->req->offline && in_store && location_is_remote(cluster) &&
	    !d->of_instance) {
		strv_addf(l->arena, &l->b->warnings,
			  "%s is not read, we are offline: what it names beside the assets of %s "
			  "is not looked for",
			  cluster, location_shown(l->arena, l->b->conf));
		d->cluster = d->group = t;
		return 0;
	}
	if (!in_store) {
		cluster = location_beside(l->arena, l->b->conf, d->dialect->cluster_name);
		if (d->dialect->group_name)
			group = location_beside(l->arena, l->b->conf, d->dialect->group_name);
	}
	if (!loader_brought(l, cluster))
		strv_add(l->arena, &both, cluster);
	if (group && !loader_brought(l, group))
		strv_add(l->arena, &both, group);
	r = store_prefetch(l->b->store, &both, NULL, e);
	if (r < 0)
		return err_wrap(e, "%s", group ? "cluster spec and instance group" : what);
	d->cluster = d->group = t;
	r = loader_read_cluster(l, what, cluster, !in_store, e);
	is_lost = in_store && r < 0 && e->errnum == ENOENT;
	r = errs_keep_vital(l->req->errors, r, e);
	if (r < 0 || !group)
		return r;
	r = loader_read(l, "instance group", group, !in_store && !d->group_from, &t, e);
	d->group = t;
	/* a base that has neither is told once */
	if (r < 0 && is_lost && e->errnum == ENOENT)
		return 0;
	if (r < 0 && e->errnum == ENOENT)
		r = in_store ? no_such_group(l, e) : no_group_beside(l, e);
	return errs_keep_vital(l->req->errors, r, e);
}

/* The documents that the last run on this instance kept; false: there are none. */
static bool kept_here(struct loader *l, struct store_texts *ret)
{
	const int root_fd = l->req->root_fd;
	struct store_origin of;
	struct err ignored;

	return store_kept_of(l->arena, root_fd, documents_path, &of, &ignored) >= 0 &&
	       str_eq(of.instance, l->b->facts.instance_id) &&
	       store_kept_texts(l->arena, root_fd, documents_path, NULL, ret, &ignored) >= 0;
}

/* Whether the last run kept this very document of --conf. It may have had fewer signs of a version than there are now. */
static bool is_conf_kept(struct loader *l)
{
	const char *name = loader_conf_name(l->arena, l->b->conf), *text;
	struct store_texts texts;
	struct err ignored;
	size_t n;

	if (!kept_here(l, &texts) || store_get(l->b->store, l->b->conf, &text, &n, &ignored) < 0)
		return false;
	for (size_t i = 0; i < texts.n; i++)
		if (str_eq(texts.v[i].location, name))
			return texts.v[i].n == n && memcmp(texts.v[i].text, text, n) == 0;
	return false;
}

/* Whether a document that the last run kept is of the same minors. Where none of this instance is kept, it is so if the
 * last run had the same --conf: an earlier nodeup has not said of which kops that was. */
static bool is_kept(struct loader *l, const char *last, const char *minors)
{
	struct store_texts texts;
	struct err ignored;

	if (!kept_here(l, &texts))
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
	bool is_same = record_read(l->req->root_fd, vintage_path, &vintage)
			       ? str_eq(strv_split(l->arena, buf_str(&vintage), '\n').v[0], minors)
			       : is_kept(l, last, minors);

	is_same = is_same || is_conf_kept(l);
	if (is_same)
		l->b->outlived = minors;
	return is_same;
}

/* A line of the record of a document. */
static void note_document(const char *text, size_t n, struct buf *b)
{
	char hex[DIGEST_TEXT_MAX];

	(void)buf_addf(b, "%s\n", digest_sha256_hex(text, n, hex));
}

/* What a nodeup that has no such record kept of the documents of this instance; user data as they are, and the
 * document that they bring. */
static void note_kept(struct loader *l, struct buf *b)
{
	struct store_texts texts;

	if (!kept_here(l, &texts))
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

/* Whether each document that was read by now is one of those. */
static bool has_same_documents(struct loader *l)
{
	autobuf struct buf applied = BUF_INIT(LOADER_APPLIED_MAX);
	const struct bootstrap *b = l->b;
	bool is_same = b->n_texts > 0;

	if (!record_read(l->req->root_fd, applied_path, &applied))
		note_kept(l, &applied);
	for (size_t i = 0; i < b->n_texts && is_same; i++) {
		autobuf struct buf line = BUF_INIT(LOADER_APPLIED_MAX);

		note_document(b->texts[i].text, b->texts[i].n, &line);
		is_same = strstr(buf_str(&applied), buf_str(&line)) != NULL;
	}
	return is_same;
}

/* Whether the records are of a run of this instance that ended well; and of which configuration. */
static bool is_recorded(struct loader *l, const char **ret_last)
{
	autobuf struct buf identity = BUF_INIT(LOADER_RECORD_MAX);
	struct err ignored;

	return (l->req->may_replay || l->req->checks_alone) &&
	       loader_last_applied(l, ret_last, &ignored) >= 0 && *ret_last &&
	       record_read(l->req->root_fd, OWN_IDENTITY, &identity) &&
	       loader_instance(l, &ignored) >= 0 &&
	       str_eq(str_trim(l->arena, buf_str(&identity)), l->b->facts.instance_id);
}

/* Whether a node goes on with such a document: the records must say of which kops its documents were, or that they were
 * these. */
static bool was_applied(void *records, const struct vintage *v)
{
	struct loader *l = records;
	const char *last;

	if (!is_recorded(l, &last))
		return false;
	return v ? was_of_vintage(l, last, v) : has_same_documents(l);
}

static bool recorded(void *records, struct vintage *ret)
{
	struct loader *l = records;
	struct vintage found;
	const char *last;

	if (l->req->no_machine || !loader_recorded(l, &found) || !is_recorded(l, &last))
		return false;
	*ret = found;
	return true;
}

/* What else is wrong is found without them. */
static int find_facts(struct loader *l, struct dialect_opts *o, struct err *e)
{
	const int r = loader_facts(l, e);

	if (r >= 0 || !l->again || (e->kind != ERR_NET && e->errnum != LOADER_UNASKED))
		return r;
	o->no_host = true;
	return 0;
}

/* From documents to the model; may run again, from kept documents. */
static int load_model(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const struct settings *settings = l->req->settings;
	struct dialect_opts opts = { .strict = l->req->strict,
				     .accept = settings ? &settings->accept_keys : NULL,
				     .accepted = &b->accepted,
				     .vintage = settings ? settings->vintage : NULL,
				     .accept_values = settings ? &settings->accept : NULL,
				     .tolerated = &b->tolerated,
				     .warnings = &b->warnings,
				     .unknown = &b->unknown,
				     .errors = l->req->errors,
				     .checks_alone = l->req->checks_alone,
				     .no_host = l->req->no_secrets ||
						(l->req->no_machine && !b->facts.local_hostname),
				     .volume_fits = volume_fits,
				     .was_applied = was_applied,
				     .recorded = recorded,
				     .records = l };
	int r;

	join_keys_give_back(b->keys);
	b->warnings = b->accepted = b->tolerated = (struct strv){ 0 };
	b->texts = NULL;
	b->n_texts = 0;
	l->unparsed = NULL;
	b->unknown = (struct field_unknowns){ .arena = l->arena };
	b->outlived = NULL;
	l->opts = &opts;
	if (b->set_why)
		strv_add(l->arena, &b->warnings, b->set_why);
	/* what was read in their place before is put back, whatever is read now */
	for (size_t i = 0; i < b->n_lost; i++)
		strv_add(l->arena, &b->warnings, b->lost[i].why);
	b->documents = (struct documents){ 0 };
	b->node = (struct node){ 0 };
	r = load_conf(l, &opts, e);
	b->documents.adopted = b->adopted;
	if (r >= 0)
		r = load_specs(l, e);
	if (r >= 0)
		r = dialects_check_cluster(l->arena, &opts, &b->documents, e);
	if (r >= 0 && b->documents.checked && !opts.checks_alone && !b->adopted)
		r = err_config(e, "%s: no %s is beside it, and no node can be made without it",
			       location_shown(l->arena, b->conf),
			       b->documents.dialect->cluster_name);
	if (r >= 0)
		r = loader_archive(l, e);
	if (r >= 0)
		r = find_facts(l, &opts, e);
	if (r >= 0)
		r = loader_vintage(l, &opts, e);
	if (r >= 0)
		r = b->documents.dialect->node(l->arena, &b->documents, &b->facts, &opts, &b->node,
					       e);
	if (r < 0 && (e->errnum == ESTALE || e->errnum == LOADER_HOLLOW) && b->join)
		err_note(e, "of", "%s", join_server(b->join));
	if (r >= 0 && !l->again && !l->req->no_secrets && !l->req->no_machine)
		loader_type(l);
	b->lacks = errs_any(l->req->errors) || b->archive_why.kind;
	if (r >= 0 && !l->req->no_secrets && !errs_any_vital(l->req->errors))
		r = loader_keys(l, e);
	l->opts = NULL;
	return r;
}

/* A node that is Ready has all that it was given, and is given nothing more. Another program may have set it up: then
 * what lies there is taken as it is, if it is what we would have been given. */
static int adopt_node(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	struct err why = *e, not_right;

	if (!b->documents.join || e->errnum != EALREADY)
		return -EINVAL;
	b->adopted = true;
	if (load_model(l, &not_right) < 0) {
		b->adopted = false;
		err_note(e, "ruled out", "what lies here: %s", not_right.msg);
		return -EINVAL;
	}
	strv_addf(l->arena, &b->warnings,
		  "this node is adopted as it is, its certificates are right: %s", why.msg);
	if (b->node.is_adopted)
		strv_addf(l->arena, &b->warnings,
			  "nothing but its services can be looked after: no %s of it is kept "
			  "here; one beside %s would do",
			  b->documents.dialect->cluster_name, location_shown(l->arena, b->conf));
	return 0;
}

/* Says for what reason kept documents are used, and what to do about it. */
static const char *reason_of(const struct loader *l, const struct err *why)
{
	const char *todo = err_todo(why);

	return arena_printf(l->arena, "%s%s%s", why->msg, todo ? "; " : "", todo ? todo : "");
}

/* Go on with the documents of the last run on this instance, if the store cannot be reached. */
static int replay_documents(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const bool was_reached = e->kind != ERR_NET || e->errnum == ENOENT;
	/* The store has NodeupConfig of another day, or none any more, as its group was deleted. What this node is the
	 * user data say, and what is kept has to fit them; so, too, whatever kops-controller says. */
	const bool has_other = b->documents.of_instance &&
			       (e->errnum == ESTALE || e->errnum == ENOENT);
	struct err why = *e, ignored;
	int r;

	if (was_reached && !b->is_refused && !has_other)
		return -EINVAL;
	if (!l->req->may_replay || b->set || loader_is_local(l))
		return -EINVAL;
	b->key = loader_key(l);
	if (!b->key) {
		err_note(e, "ruled out", "kept documents: which instance this is cannot be said");
		return -EINVAL;
	}
	if (store_replay(b->store, l->req->root_fd, documents_path, b->key, &b->replay_age_ns,
			 &ignored) < 0) {
		err_note(e, "ruled out", "kept documents: none of this instance and ConfigBase");
		return adopt_node(l, e);
	}
	b->replayed = true;
	join_free(b->join);
	b->join = NULL;
	r = load_model(l, e);
	if (r < 0 && e->errnum == ESTALE) {
		*e = why;
		err_note(e, "ruled out",
			 "documents kept %s ago: they are not those that the user data mean",
			 dur_human(l->arena, b->replay_age_ns));
		return -EINVAL;
	}
	if (r < 0)
		return err_wrap(e, "from the documents kept %s ago",
				dur_human(l->arena, b->replay_age_ns));
	b->replay_why = reason_of(l, &why);
	strv_addf(l->arena, &b->warnings, "documents kept %s ago are used: %s",
		  dur_human(l->arena, b->replay_age_ns), b->replay_why);
	return 0;
}

/* A boot goes on with what the last run that ended well had, where a document is not one any more. */
static int serve_set(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	struct err why = *e;
	int r;

	if (loader_serve_set(l, e) < 0)
		return -EINVAL;
	r = load_model(l, e);
	if (r < 0) {
		r = err_wrap(e, "from the documents of %s", b->set);
		err_note(e, "in place of", "%s", why.msg);
		return r;
	}
	b->replay_why = reason_of(l, &why);
	return 0;
}

/* A server whose answer says nothing is asked again, unless what is kept stands in for it. */
static int load_or_replay(struct loader *l, struct err *e)
{
	const int64_t since = dur_now();
	unsigned int attempt = 0;
	int r;

	do {
		r = load_model(l, e);
		if (r < 0 && (serve_set(l, e) >= 0 || replay_documents(l, e) >= 0))
			r = 0;
	} while (r < 0 && e->errnum == LOADER_HOLLOW && !l->b->replayed &&
		 loader_wait_again(l, "documents", since, ++attempt, e));
	return r;
}

/* An image is built anywhere, documents are looked at anywhere, and facts that are given are of another machine. That one may
 * ask its own for the right to read its documents. */
static bool may_ask_metadata(const struct bootstrap_req *req)
{
	return req->http && !req->image_mode && !req->no_secrets && !req->no_metadata &&
	       !(req->offline && req->facts_file);
}

static int prepare_store(struct loader *l, struct err *e)
{
	const struct bootstrap_req *req = l->req;
	struct http *http = req->offline ? NULL : req->http;
	struct bootstrap *b = l->b;
	int r;

	if (may_ask_metadata(req))
		b->imds = imds_new(req->http);
	r = loader_given_facts(l, e);
	if (r < 0)
		return r;
	r = store_new(l->arena,
		      &(struct store_req){ .http = http,
					   .imds = b->imds,
					   .region = b->facts.region,
					   .pipe_ns = req->pipe_ns },
		      &b->store, e);
	if (r < 0)
		return r;
	store_set_patience(b->store, req->patience_ns);
	store_on_wait(b->store, req->on_wait, req->wait_arg);
	return req->conf && location_is_kept(req->conf) ? loader_choose_set(l, e)
							: find_conf(l, &b->conf, e);
}

/* Signing took the server's time; certificates and tokens of others will not. */
static void warn_of_clock(struct loader *l)
{
	int64_t off = store_clock_off(l->b->store);

	if (off)
		strv_addf(l->arena, &l->b->warnings,
			  "the clock is %lld s %s S3's; requests were signed with S3's "
			  "time",
			  (long long)llabs(off), off > 0 ? "behind" : "ahead of");
}

/* kubelet asks for tokens from 1.18 on, which has the first aws-sdk-go with them (1.25.38 and later;
 * kubernetes/kubernetes#87253). An instance that wants one answers 401, and kubelet dies when all the rest is done.
 * Without an answer nothing is known, and nothing is refused. */
static void ask_for_version1(struct loader *l)
{
	struct bootstrap *b = l->b;
	struct err ignored;

	/* facts that were given are of another machine */
	if (!b->imds || l->req->facts_file || !b->node.asks_version1 ||
	    io_is_there(l->req->root_fd, version1_path))
		return;
	switch (imds_has_version1(b->imds, &ignored)) {
	case 0:
		b->imds_lacks_version1 = true;
		break;
	case 1:
		b->imds_has_version1 = true;
		break;
	default:
		break;
	}
}

/* After an error of the documents: what else is wrong in those that were read, or can be. Whether there is a model in spite of
 * that. */
static bool find_others(struct loader *l)
{
	struct bootstrap_req req = *l->req;
	struct err why;
	int r;

	req.errors = req.others;
	req.patience_ns = 0;
	l->req = &req;
	l->again = true;
	store_set_patience(l->b->store, 0);
	r = load_model(l, &why);
	(void)!errs_keep_vital(req.errors, r, &why);
	if (l->b->archive_why.kind)
		errs_keep_any(req.errors, &l->b->archive_why);
	return r >= 0 && !errs_any_vital(req.errors);
}

int bootstrap_load(struct arena *a, const struct bootstrap_req *req, struct bootstrap *ret,
		   struct err *e)
{
	struct bootstrap b = { .keys = req->keys ? TAKE(*req->keys) : NULL };
	struct loader l = { .arena = a, .req = req, .b = &b };
	struct err why = { 0 };
	int r;

	r = prepare_store(&l, &why);
	if (r >= 0)
		r = load_or_replay(&l, &why);
	if (r < 0 && req->others && (why.kind == ERR_CONFIG || why.kind == ERR_INTEGRITY) &&
	    b.conf && find_others(&l)) {
		ret->is_partial = true;
		ret->lacks = b.lacks;
		ret->documents = b.documents;
		ret->node = b.node;
		ret->facts = b.facts;
		if (!req->no_secrets && !req->no_machine)
			ret->runtime =
				probe_runtime(a, req->root_fd, !req->image_mode, &b.node.files);
	}
	if (r < 0) {
		if (req->keys)
			*req->keys = TAKE(b.keys);
		bootstrap_done(&b);
		ret->texts = b.texts;
		ret->n_texts = b.n_texts;
		ret->warnings = b.warnings;
		ret->unknown = b.unknown;
		*e = why;
		return why.errnum > 0 ? -why.errnum : -EINVAL;
	}
	warn_of_clock(&l);
	if (!b.key)
		b.key = loader_key(&l);
	if (!req->no_secrets && !req->no_machine)
		b.runtime = probe_runtime(a, req->root_fd, !req->image_mode, &b.node.files);
	if (!req->no_machine)
		ask_for_version1(&l);
	*ret = b;
	return 0;
}

struct strv bootstrap_warnings(struct arena *a, const struct bootstrap *b)
{
	const struct strv unknown = field_unknown_texts(a, &b->unknown);
	struct strv all = { 0 };

	strv_add_all(a, &all, &b->warnings);
	strv_add_all(a, &all, &unknown);
	return all;
}

int bootstrap_facts(struct arena *a, const char *facts_file, int root_fd, bool running,
		    struct facts *ret, struct err *e)
{
	const struct bootstrap_req req = { .facts_file = facts_file, .root_fd = root_fd };
	struct bootstrap b = { 0 };
	struct loader l = { .arena = a, .req = &req, .b = &b };
	struct err ignored;
	int r = loader_given_facts(&l, e);

	if (r < 0)
		return r;
	/* an unknown distribution is laid out as most are */
	(void)!probe_host(a, root_fd, running, &b.facts, &ignored);
	*ret = b.facts;
	return 0;
}

int bootstrap_instance(struct arena *a, const struct bootstrap_req *req, const char **ret,
		       struct err *e)
{
	struct bootstrap b = { 0 };
	struct loader l = { .arena = a, .req = req, .b = &b };
	struct err ignored;
	int r = 0;

	(void)!probe_host(a, req->root_fd, true, &b.facts, &ignored);
	if (!b.facts.instance_id)
		loader_kept_facts(a, req->root_fd, &b.facts);
	if (!b.facts.instance_id && !req->http)
		return err_fail(e, ERR_NET, ENETDOWN, "which instance this is cannot be said");
	if (!b.facts.instance_id) {
		b.imds = imds_new(req->http);
		r = loader_ask_fact(&l, "instanceID", e);
		imds_free(b.imds);
	}
	if (r < 0)
		return err_wrap(e, "which instance this is cannot be said");
	*ret = b.facts.instance_id;
	return 0;
}

bool bootstrap_is_current(const struct bootstrap *b)
{
	return (!b->replayed || b->is_chosen) && !b->node.is_adopted;
}

const char *bootstrap_kept(struct arena *a, int root_fd)
{
	struct store_origin of;
	struct facts f = { 0 };
	struct err ignored;

	/* files of this machine are read where they are */
	if (store_kept_of(a, root_fd, documents_path, &of, &ignored) < 0 || of.is_local)
		return NULL;
	(void)!probe_host(a, root_fd, true, &f, &ignored);
	loader_kept_facts(a, root_fd, &f);
	return str_eq(f.instance_id, of.instance) ? of.date : NULL;
}

/* Remember which configuration it was, for a run without --conf. */
static int record_conf(const char *name, int root_fd, struct err *e)
{
	autofree char *text = xasprintf("%s\n", name);

	return record_keep(root_fd, conf_path, 0600, text, e);
}

/* Remember whether a later run may go on with documents of a kops that is not spoken, and which, and of which kops these are. */
static int record_vintage(const struct bootstrap *b, int root_fd, struct err *e)
{
	/* one line alone is of a nodeup that made all as of the newest */
	autofree char *text = xasprintf("%s\n%s\n", b->outlived ? b->outlived : "spoken",
					b->vintage ? b->vintage : "-");

	return record_keep(root_fd, vintage_path, 0644, text, e);
}

/* Remember which documents it were, for a later run that finds a value in them refused. */
static int record_applied(const struct bootstrap *b, int root_fd, struct err *e)
{
	autobuf struct buf lines = BUF_INIT(LOADER_APPLIED_MAX);

	for (size_t i = 0; i < b->n_texts; i++)
		note_document(b->texts[i].text, b->texts[i].n, &lines);
	return record_keep(root_fd, applied_path, 0644, buf_str(&lines), e);
}

/* The next run of this boot need not ask. */
static int record_version1(int root_fd, struct err *e)
{
	return record_write(root_fd, version1_path, 0644, "answered\n", e);
}

static int keep_documents(struct bootstrap *b, int root_fd, const char *name, struct err *e)
{
	const struct store_kept kept = { .key = b->key, .conf = b->conf, .conf_name = name };

	/* replayed ones keep their age */
	return b->key && !b->replayed ? store_save(b->store, root_fd, documents_path, &kept, e) : 0;
}

int bootstrap_keep_told(struct bootstrap *b, int root_fd, struct err *e)
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
	int r = b->imds_has_version1 ? record_version1(root_fd, e) : 0;

	/* of another run's documents no more is kept than that this one ended well with them */
	if (b->set)
		return r < 0 ? r : kept_add(root_fd, b->set_path, number, e);
	if (r >= 0)
		r = record_vintage(b, root_fd, e);
	if (r >= 0)
		r = record_applied(b, root_fd, e);
	if (r >= 0)
		r = record_conf(name, root_fd, e);
	if (r >= 0)
		r = keep_documents(b, root_fd, name, e);
	return r < 0 || !b->key ? r : kept_add(root_fd, documents_path, number, e);
}

void bootstrap_done(struct bootstrap *b)
{
	store_free(b->store);
	join_free(b->join);
	join_keys_free(b->keys);
	b->keys = NULL;
	imds_free(b->imds);
	b->join = NULL;
	b->store = NULL;
	b->imds = NULL;
}
