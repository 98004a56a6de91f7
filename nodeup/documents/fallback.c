#include "nodeup/documents/loader.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/documents/location.h"
#include "nodeup/join/join.h"

/* A node that is Ready has all that it was given, and is given nothing more. Another program may have set it up: then
 * what lies there is taken as it is, if it is what we would have been given. */
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
	/* The store has NodeupConfig of another day, or none any more, as its group was deleted. User data decide
	 * what this node is. Kept documents and kops-controller's answers must match them. */
	const bool has_other = b->documents.of_instance &&
			       (e->errnum == ESTALE || e->errnum == ENOENT);
	struct err why = *e, ignored;
	int r;

	if (was_reached && !b->is_refused && !has_other)
		return -EINVAL;
	if (!policy_may_replay(l->policy) || b->set || loader_is_local(l))
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

/* A boot goes on with what the last run that ended well had, where a document is not one any more. */
static int serve_set(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	struct err why = *e;
	int r;

	if (loader_serve_set(l, e) < 0)
		return -EINVAL;
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
		 loader_wait_again(l, "documents", since, ++attempt, e));
	return r;
}
