#include "nodeup/documents/bootstrap.h"

#include <stdlib.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"
#include "nodeup/join/join.h"
#include "nodeup/join/keys.h"

/* Returns whether IMDS may be asked. IMDS may not be asked when an image is built or documents are checked, as any
 * machine can do that. If facts are given, they are another machine's, and IMDS may be asked only for this machine's
 * role. */
static bool may_ask_metadata(const struct loader *l)
{
	const struct policy *p = l->policy;

	return l->req->http && !p->image_mode && policy_makes_node(p) && !p->no_metadata &&
	       !(p->offline && l->req->facts_file);
}

static int prepare_store(struct loader *l, struct err *e)
{
	const struct bootstrap_req *req = l->req;
	struct http *http = l->policy->offline ? NULL : req->http;
	struct bootstrap *b = l->b;
	int r;

	if (may_ask_metadata(l))
		b->imds = imds_new(req->http);
	r = loader_given_facts(l, e);
	if (r < 0)
		return r;
	r = store_new(l->arena,
		      &(struct store_req){ .http = http,
					   .imds = b->imds,
					   .region = b->facts.region,
					   .pipe_ns = req->pipe_ns,
					   .patience = req->patience },
		      &b->store, e);
	if (r < 0)
		return r;
	return req->conf && location_is_kept(req->conf) ? loader_choose_set(l, e)
							: loader_find_conf(l, &b->conf, e);
}

/* Warns of a wrong clock. Requests to S3 were signed with S3's time, but certificates, and tokens for other
 * services, will have this machine's time. */
static void warn_of_clock(struct loader *l)
{
	int64_t off = store_clock_off(l->b->store);

	if (off)
		strv_addf(l->arena, &l->b->warnings,
			  "the clock is %lld s %s S3's; requests were signed with S3's "
			  "time",
			  (long long)llabs(off), off > 0 ? "behind" : "ahead of");
}

/* kubelet before 1.18 asks without a token: its aws-sdk-go is older than 1.25.38 (kubernetes/kubernetes#87253). An
 * instance that requires tokens answers it with 401, and kubelet dies after everything else is done. If IMDS gives
 * no answer, nothing is known, and nothing is refused. */
static void ask_for_version1(struct loader *l)
{
	struct bootstrap *b = l->b;
	struct err ignored;
	int r;

	/* facts that are given belong to another machine */
	if (!b->imds || l->req->facts_file || !b->node.asks_version1 ||
	    io_is_there(l->req->root_fd, OWN_IMDS_VERSION))
		return;
	r = imds_has_version1(b->imds, &ignored);
	b->imds_lacks_version1 = r == 0;
	b->imds_has_version1 = r > 0;
}

/* After an error of the documents, looks for their other errors. Returns whether a model could be made all the same. */
static bool load_for_errors(struct loader *l)
{
	const struct bootstrap_req *given = l->req;
	struct bootstrap_req req = *given;
	struct err why;
	int r;

	req.errors = req.other_errors;
	req.patience.ns = 0;
	l->req = &req;
	l->finds_errors = true;
	store_set_patience(l->b->store, 0);
	r = loader_model(l, &why);
	l->req = given;
	(void)!errs_keep_vital(req.errors, r, &why);
	if (l->b->archive_why.kind)
		errs_keep_any(req.errors, &l->b->archive_why);
	return r >= 0 && !errs_any_vital(req.errors);
}

static struct runtime runtime_of(const struct loader *l)
{
	const struct policy *p = l->policy;

	return policy_makes_node(p) && policy_has_machine(p)
		       ? probe_runtime(l->arena, l->req->root_fd, !p->image_mode, &l->b->node.files)
		       : (struct runtime){ 0 };
}

int bootstrap_load(struct arena *a, const struct bootstrap_req *req, struct bootstrap *ret,
		   struct err *e)
{
	struct bootstrap b = { .keys = req->keys ? TAKE(*req->keys) : NULL };
	struct loader l = { .arena = a, .policy = req->policy, .req = req, .b = &b };
	struct err why = { 0 };
	int r;

	r = prepare_store(&l, &why);
	if (r >= 0)
		r = loader_load(&l, &why);
	if (r < 0 && req->other_errors && (why.kind == ERR_CONFIG || why.kind == ERR_INTEGRITY) &&
	    b.conf && load_for_errors(&l)) {
		ret->is_partial = true;
		ret->lacks = b.lacks;
		ret->documents = b.documents;
		ret->node = b.node;
		ret->facts = b.facts;
		ret->runtime = runtime_of(&l);
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
	b.runtime = runtime_of(&l);
	if (policy_has_machine(l.policy))
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
	/* an unknown distribution gets the usual layout */
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
		return err_fail(e, ERR_NET, ENETDOWN, "the id of this instance is not known");
	if (!b.facts.instance_id) {
		b.imds = imds_new(req->http);
		r = loader_ask_fact(&l, "instanceID", e);
		imds_free(b.imds);
	}
	if (r < 0)
		return err_wrap(e, "the id of this instance is not known");
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

	/* files of this machine are read directly */
	if (store_kept_of(a, root_fd, OWN_DOCUMENTS, &of, &ignored) < 0 || of.is_local)
		return NULL;
	(void)!probe_host(a, root_fd, true, &f, &ignored);
	loader_kept_facts(a, root_fd, &f);
	return str_eq(f.instance_id, of.instance) ? of.date : NULL;
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
