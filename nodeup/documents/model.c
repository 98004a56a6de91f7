#include "nodeup/documents/loader.h"

#include "nodeup/documents/dialects.h"
#include "nodeup/documents/location.h"
#include "nodeup/join/join.h"
#include "nodeup/join/keys.h"
#include "nodeup/tasks/volume.h"

/* Forgets what an earlier try read. */
static void forget(struct loader *l)
{
	struct bootstrap *b = l->b;

	join_keys_give_back(b->keys);
	b->warnings = b->accepted = b->tolerated = (struct strv){ 0 };
	b->texts = NULL;
	b->n_texts = 0;
	l->unparsed = NULL;
	b->unknown = (struct field_unknowns){ .arena = l->arena };
	b->outlived = b->lacks_store = NULL;
	b->documents = (struct documents){ 0 };
	b->node = (struct node){ 0 };
	if (b->set_why)
		strv_add(l->arena, &b->warnings, b->set_why);
	/* documents whose copies were read will be put back, whatever this try reads */
	for (size_t i = 0; i < b->n_lost; i++)
		strv_add(l->arena, &b->warnings, b->lost[i].why);
}

static int read_documents(struct loader *l, struct dialect_opts *o, struct err *e)
{
	struct bootstrap *b = l->b;
	struct documents *d = &b->documents;
	int r = loader_read_conf(l, o, e);

	d->adopted = b->adopted;
	if (r >= 0)
		r = loader_read_specs(l, e);
	if (r >= 0)
		r = dialects_check_cluster(l->arena, o, d, e);
	if (r >= 0 && d->checked && !o->checks_alone && !b->adopted)
		r = err_config(e, "%s: no %s is beside it, and no node can be made without it",
			       location_shown(l->arena, b->conf), d->dialect->cluster_name);
	return r < 0 ? r : loader_archive(l, e);
}

/* Finds facts. In the search for all errors, the model is made without facts that cannot be had. */
static int find_facts(struct loader *l, struct dialect_opts *o, struct err *e)
{
	const int r = loader_facts(l, e);

	if (r >= 0 || !l->finds_errors || (e->kind != ERR_NET && e->errnum != LOADER_UNASKED))
		return r;
	o->no_host = true;
	return 0;
}

static int check_node(struct loader *l, const struct dialect_opts *o, struct err *e)
{
	struct bootstrap *b = l->b;
	const struct reading in = { l->arena, o, &b->facts, &b->node, e };
	int r = loader_vintage(l, o, e);

	if (r >= 0)
		r = b->documents.dialect->node(&in, &b->documents);
	return r < 0 ? r : loader_store_volume(l, o, e);
}

int loader_model(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const struct bootstrap_req *req = l->req;
	const struct policy *p = l->policy;
	const struct settings *settings = req->settings;
	struct dialect_opts opts = { .strict = p->strict,
				     .accept = settings ? &settings->accept_keys : NULL,
				     .accepted = &b->accepted,
				     .vintage = settings ? settings->vintage : NULL,
				     .accept_values = settings ? &settings->accept : NULL,
				     .tolerated = &b->tolerated,
				     .warnings = &b->warnings,
				     .unknown = &b->unknown,
				     .errors = req->errors,
				     .checks_alone = p->mode == MODE_VALIDATE,
				     .no_host = !policy_makes_node(p) || (!policy_has_machine(p) &&
									  !b->facts.local_hostname),
				     .volume_fits = volume_fits,
				     .was_applied = loader_was_applied,
				     .recorded = loader_recorded,
				     .records = l };
	int r;

	forget(l);
	l->opts = &opts;
	r = read_documents(l, &opts, e);
	if (r >= 0)
		r = find_facts(l, &opts, e);
	if (r >= 0)
		r = check_node(l, &opts, e);
	if (r < 0 && (e->errnum == ESTALE || e->errnum == LOADER_HOLLOW) && b->join)
		err_note(e, "of", "%s", join_server(b->join));
	if (r >= 0 && !l->finds_errors && policy_makes_node(p) && policy_has_machine(p))
		loader_type(l);
	b->lacks = errs_any(req->errors) || b->archive_why.kind;
	if (r >= 0 && policy_makes_node(p) && !errs_any_vital(req->errors))
		r = loader_keys(l, e);
	l->opts = NULL;
	return r;
}
