#include "nodeup/documents/loader.h"

#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/documents/location.h"
#include "nodeup/join/join.h"

/* Takes over a Ready node that another program set up: kops-controller gives such a node no answers any more. The
 * node's certificates must be like those that we would have got. */
static int adopt_node(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	struct err why = *e, not_right;

	if (!b->documents.join || e->errnum != EALREADY)
		return -EINVAL;
	b->adopted = true;
	if (loader_model(l, &not_right) < 0) {
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

/* Says why kept documents are used, and what to do about it. */
static const char *reason_of(const struct loader *l, const struct err *why)
{
	const char *todo = err_todo(why);

	return arena_printf(l->arena, "%s%s%s", why->msg, todo ? "; " : "", todo ? todo : "");
}

/* Goes on with the documents of the last run on this instance if the store cannot be reached. */
static int replay_documents(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const bool was_reached = e->kind != ERR_NET || e->errnum == ENOENT;
	/* The store has another NodeupConfig, or has none any more because the group was deleted. User data decide
	 * what this node is. Kept documents and kops-controller's answers must match the user data. */
	const bool has_other = b->documents.of_instance &&
			       (e->errnum == ESTALE || e->errnum == ENOENT);
	struct err why = *e, ignored;
	int r;

	if (was_reached && !b->is_refused && !has_other)
		return -EINVAL;
	if (!policy_is_of_node(l->policy) || b->set || loader_is_local(l))
		return -EINVAL;
	b->key = loader_key(l);
	if (!b->key) {
		err_note(e, "ruled out", "kept documents: the id of this instance is not known");
		return -EINVAL;
	}
	if (store_replay(b->store, l->req->root_fd, OWN_DOCUMENTS, b->key, &b->replay_age_ns,
			 &ignored) < 0) {
		err_note(e, "ruled out", "kept documents: none of this instance and ConfigBase");
		return adopt_node(l, e);
	}
	b->replayed = true;
	join_free(b->join);
	b->join = NULL;
	r = loader_model(l, e);
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

/* From now on the store answers all documents from the set. */
static int use_set(struct loader *l, const struct kept_set *set, struct err *e)
{
	struct bootstrap *b = l->b;
	int r = store_use(b->store, l->req->root_fd, set->path, &b->conf, &b->replay_age_ns, e);

	if (r < 0)
		return r;
	b->set = arena_printf(l->arena, LOCATION_KEPT "%lld", (long long)set->number);
	b->set_path = set->path;
	b->replayed = true;
	join_free(b->join);
	b->join = NULL;
	return 0;
}

static int no_such_set(struct loader *l, const char *location, const struct kept_sets *sets,
		       struct err *e)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < sets->n; i++)
		strv_addf(l->arena, &names, LOCATION_KEPT "%lld, of %s",
			  (long long)sets->v[i].number, sets->v[i].date);
	(void)err_config(e, "%s: no documents of such a run are kept on this instance", location);
	err_note(e, "there is", "%s", names.n ? strv_join(l->arena, &names, "; ") : "none");
	return err_code(e);
}

int loader_choose_set(struct loader *l, struct err *e)
{
	const char *location = l->req->conf;
	struct bootstrap *b = l->b;
	struct kept_sets sets;
	int r;

	if (!policy_is_of_node(l->policy))
		return err_fail(e, ERR_USAGE, 0, "%s: this command takes no kept documents",
				location);
	r = loader_know_instance(l, e);
	if (r < 0)
		return err_wrap(e, "%s", location);
	sets = kept_of(l->arena, l->req->root_fd, b->facts.instance_id);
	for (size_t i = 0; i < sets.n; i++) {
		const struct kept_set *set = &sets.v[i];

		if (!str_eq(location,
			    arena_printf(l->arena, LOCATION_KEPT "%lld", (long long)set->number)))
			continue;
		r = use_set(l, set, e);
		b->is_chosen = r >= 0;
		b->set_why = arena_printf(
			l->arena,
			"documents of %s are used, of %s; at the next boot %s counts again",
			location, set->date, r < 0 ? "" : location_shown(l->arena, b->conf));
		return r;
	}
	return no_such_set(l, location, &sets, e);
}

/* If a document does not parse, a boot goes on with the newest set. A run by hand fails, and its error names that
 * set. */
static int serve_set(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const char *edited = l->unparsed;
	struct err why = *e, ignored;
	struct kept_sets sets;
	bool is_there;
	int r;

	if (!edited || b->set || !policy_is_of_node(l->policy) ||
	    loader_know_instance(l, &ignored) < 0)
		return -EINVAL;
	sets = kept_of(l->arena, l->req->root_fd, b->facts.instance_id);
	if (!sets.n)
		return -EINVAL;
	is_there = access(location_path(edited), F_OK) == 0;
	if (!l->policy->at_boot) {
		err_note(e, "do", "%s, or nodeup apply --conf=" LOCATION_KEPT "%lld",
			 is_there ? "correct it" : "put them back", (long long)sets.v[0].number);
		return -EINVAL;
	}
	if (use_set(l, &sets.v[0], &ignored) < 0)
		return -EINVAL;
	b->set_why = arena_printf(
		l->arena, "%s; documents of %s are used, of %s%s", e->msg, b->set, sets.v[0].date,
		is_there ? arena_printf(l->arena, ", and %s stays as it is", edited) : "");
	r = loader_model(l, e);
	if (r < 0) {
		r = err_wrap(e, "from the documents of %s", b->set);
		err_note(e, "in place of", "%s", why.msg);
		return r;
	}
	b->replay_why = reason_of(l, &why);
	return 0;
}

int loader_load(struct loader *l, struct err *e)
{
	const int64_t since = dur_now();
	unsigned int attempt = 0;
	int r;

	do {
		r = loader_model(l, e);
		if (r < 0 && (serve_set(l, e) >= 0 || replay_documents(l, e) >= 0))
			r = 0;
	} while (r < 0 && e->errnum == LOADER_HOLLOW && !l->b->replayed &&
		 wait_again(&l->req->patience, "documents", since, ++attempt, e));
	return r;
}
