#include "nodeup/join/join.h"
#include "nodeup/join/keys.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/config/keys.h"
#include "nodeup/config/pem.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/op.h"

/* time for finding other errors in a run that ends anyway */
#define AGAIN_NS (2 * DUR_SEC)
/* how long a wait for keys stays silent, like any other work */
#define KEYS_SILENT_NS (10 * DUR_SEC)

static const char documents_path[] = OWN_DOCUMENTS;
static const char config_name[] = "nodeupconfig.yaml";

/* Returns the name under which an answer of kops-controller is kept. */
static const char *location_of(struct loader *l, const char *name)
{
	return location_join(l->arena, l->b->documents.base, name);
}

static const char *location_of_issue(struct loader *l, const char *name, const char *half)
{
	return location_of(l, arena_printf(l->arena, "issued/%s.%s", name, half));
}

static void remember(struct loader *l, const char *location, const char *text, bool issued)
{
	/* drops an earlier answer */
	store_forget(l->b->store, location);
	store_remember(l->b->store, &(struct store_entry){ .location = location,
							   .issued = issued,
							   .text = text,
							   .n = strlen(text) });
}

static void remember_issue(struct loader *l, const char *name, const char *half, const char *text)
{
	if (text)
		remember(l, location_of_issue(l, name, half), text, true);
}

const char *loader_kept_text(struct loader *l, const char *location)
{
	const char *key = l->kept_is_read ? NULL : loader_key(l);
	struct err ignored;

	if (key && store_kept_texts(l->arena, l->req->root_fd, documents_path, key, &l->kept,
				    &ignored) < 0)
		l->kept = (struct store_texts){ 0 };
	l->kept_is_read = l->kept_is_read || key;
	for (size_t i = 0; i < l->kept.n; i++)
		if (str_eq(l->kept.v[i].location, location))
			return l->kept.v[i].text;
	return NULL;
}

const char *loader_first(struct loader *l, const char *text)
{
	const char *first = text ? pem_first(l->arena, text) : NULL;

	return first ? first : text;
}

const char *loader_kept_issue(struct loader *l, const char *name, const char *half)
{
	return loader_kept_text(l, location_of_issue(l, name, half));
}

static int begin(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const struct documents_join *d = b->documents.join;
	struct wait_patience patience = l->req->patience;
	int r = 0;

	if (b->join)
		return 0;
	if (l->policy->offline || !l->req->http)
		return err_fail(e, ERR_NET, ENETDOWN, "kops-controller: not asked, we are offline");
	if (!b->facts.region && b->imds)
		r = loader_ask_fact(l, "region", e);
	if (r == 0 && !b->facts.region)
		r = err_config(e,
			       "kops-controller: in which region this instance is, is not known");
	if (r < 0)
		return r;
	if (l->finds_errors)
		patience.ns = AGAIN_NS;
	return join_new(&(struct join_req){ .servers = &d->servers,
					    .tls_server_name = d->tls_server_name,
					    .ca = d->ca,
					    .region = b->facts.region,
					    .imds = b->imds,
					    .root_fd = l->req->root_fd,
					    .patience = patience },
			&b->join, e);
}

int loader_begin_keys(struct loader *l, size_t n, struct err *e)
{
	const struct join_keys_listener listener = { .after_ns = KEYS_SILENT_NS,
						     .fn = l->req->patience.fn,
						     .arg = l->req->patience.arg };

	const int r = l->b->keys ? 0 : join_keys_new(&listener, &l->b->keys, e);

	if (r == 0)
		join_keys_begin(l->b->keys, n);
	return r;
}

/* Most nodes need three keys. */
enum { KEYS = 3 };

/* Begins to make keys early, as they take as long as the server's answer. If certificates are kept, begins no keys,
 * because the kept certificates are usually still good. */
static int begin_keys(struct loader *l, struct err *e)
{
	if (!policy_may_change(l->policy) || loader_kept_issue(l, "kubelet", "key"))
		return 0;
	return loader_begin_keys(l, KEYS, e);
}

/* Waits while the clock is outside the life of kops-controller's CA. If documents are kept, waits only briefly.
 * BUSY: the clock is still outside that life. */
static int check_server_clock(struct loader *l, const char *location, struct err *e)
{
	const struct loader_ca ca = { .name = "of kops-controller",
				      .certs = l->b->documents.join->ca };

	if (!policy_may_change(l->policy))
		return loader_check_clock(l, &ca, e);
	return loader_await_clock(
		l, &ca,
		loader_kept_text(l, location) ? l->req->patience.ns : LOADER_CLOCK_PATIENCE_NS, e);
}

static int ask_for_config(struct loader *l, const char *location, struct err *e)
{
	struct protocol_answer answer;
	int r = begin(l, e);

	if (r == 0 && l->req->meanwhile && !l->finds_errors)
		l->req->meanwhile(l->req->meanwhile_arg);
	if (r == 0 && !l->finds_errors)
		r = begin_keys(l, e);
	if (r == 0 && !l->finds_errors)
		r = check_server_clock(l, location, e);
	if (r == 0)
		r = join_ask(l->b->join, l->arena, protocol_request(l->arena, NULL, NULL), &answer,
			     e);
	if (r < 0)
		return r;
	if (!answer.config)
		return err_fail(e, ERR_NET, LOADER_HOLLOW,
				"%s: kops-controller's answer has no nodeupConfig",
				join_server(l->b->join));
	/* the document is remembered even if a secret is wrong: the search for all errors reads it again */
	remember(l, location, answer.config, false);
	l->is_given = true;
	for (size_t i = 0; i < answer.secrets.n && r == 0; i++)
		r = errs_keep(l->req->errors,
			      node_check_secret(answer.secrets.v[i].key, answer.secrets.v[i].value,
						"kops-controller's answer", e),
			      e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < answer.secrets.n; i++)
		remember(l,
			 location_of(l,
				     arena_printf(l->arena, "secrets/%s", answer.secrets.v[i].key)),
			 answer.secrets.v[i].value, false);
	return 0;
}

int loader_join(struct loader *l, const char **ret_location, struct err *e)
{
	int r;

	*ret_location = location_of(l, config_name);
	if (l->b->replayed)
		return 0;
	/* the search for all errors asks once; if no node can be made, it does not ask */
	if (l->finds_errors && (l->b->join || errs_any_vital(l->req->errors)))
		return l->is_given
			       ? 0
			       : err_fail(e, ERR_NET, EAGAIN, "kops-controller has given nothing");
	r = ask_for_config(l, *ret_location, e);
	l->b->is_refused = r < 0;
	return r;
}

const char *const *loader_list(struct loader *l, const struct strv *texts)
{
	const char **list = arena_alloc(l->arena, (texts->n + 1) * sizeof(*list));

	for (size_t i = 0; i < texts->n; i++)
		list[i] = texts->v[i];
	list[texts->n] = NULL;
	return list;
}

static struct loader_ca ca_of(const struct node_issue *want)
{
	return (struct loader_ca){ .name = want->signer,
				   .certs = want->pool,
				   .id = want->signer_id };
}

/* Checks a pair, sets its name, and notes when its certificate expires. If `others` is NULL, the certificate may
 * have any further names, and the result of an earlier check may be used. */
static int check_pair(struct loader *l, const struct node_issue *want, const struct strv *others,
		      bool any_time, struct node_keypair *pair, struct err *e)
{
	const struct pem_wanted wanted = { .key = pair->key,
					   .pool = want->pool,
					   .issuer_id = want->signer_id,
					   .name = want->subject,
					   .organization = want->organization,
					   .hosts = loader_list(l, &want->hosts),
					   .others = others ? loader_list(l, others) : NULL,
					   .serves = want->serves,
					   .time = any_time ? 0 : dur_wall() / DUR_SEC };
	struct pem_life life;
	int r;

	pair->name = want->name;
	if (!others && loader_was_checked(l, want, &wanted,
					  loader_kept_issue(l, want->name, LOADER_CHECKED), pair))
		return 0;
	r = pem_check_issued(pair->cert, &wanted, &life, e);
	if (r < 0)
		return err_wrap(e, "certificate %s", want->name);
	loader_note_check(l, want, &wanted, &life, pair);
	return 0;
}

/* Checks a pair that this node has just got. IMDS knows names of the instance that no document has. */
static int check_new(struct loader *l, const struct node_issue *want, struct node_keypair *pair,
		     struct err *e)
{
	int r = check_pair(l, want, &want->others, false, pair, e);
	struct strv others = want->others;

	if (r != -EADDRNOTAVAIL || !l->b->imds)
		return r;
	r = l->names.n ? 0
		       : probe_names(l->arena, l->b->imds, l->b->facts.instance_id, &l->names, e);
	if (r < 0)
		return err_wrap(e, "certificate %s: which names this instance has", want->name);
	strv_add_all(l->arena, &others, &l->names);
	r = check_pair(l, want, &others, false, pair, e);
	/* EC2 knows a new address before IMDS does */
	if (r == -EADDRNOTAVAIL)
		e->kind = ERR_NET;
	return r;
}

static void note_expiry(struct bootstrap *b, const char *name, int64_t at)
{
	if (at <= 0 || (b->expiry && b->expiry <= at))
		return;
	b->expiring = name;
	b->expiry = at;
}

void loader_take_issue(struct loader *l, const struct node_keypair *pair)
{
	struct node_keypairs *all = &l->b->node.keypairs;

	remember_issue(l, pair->name, "crt", pair->cert);
	remember_issue(l, pair->name, "key", pair->key);
	remember_issue(l, pair->name, LOADER_RENEWALS, pair->renewals);
	remember_issue(l, pair->name, LOADER_CHECKED, pair->checked);
	note_expiry(l->b, pair->name, pair->until);
	arena_push(l->arena, all->v, all->n, *pair);
}

/* Takes the kept pair if it is valid. If the clock is wrong, puts the clock's error into `off`, and ignores dates. */
static bool is_kept(struct loader *l, const struct node_issue *want, struct node_keypair *ret,
		    struct err *off)
{
	const struct loader_ca ca = ca_of(want);
	struct err ignored;

	/* the names were checked when the pair was new; the instance may have another address by now */
	ret->cert = loader_kept_issue(l, want->name, "crt");
	ret->key = loader_kept_issue(l, want->name, "key");
	if (!ret->cert || !ret->key)
		return false;
	if (check_pair(l, want, NULL, false, ret, &ignored) == 0)
		return true;
	return loader_check_clock(l, &ca, off) < 0 && off->kind == ERR_BUSY &&
	       check_pair(l, want, NULL, true, ret, &ignored) == 0;
}

/* Takes all kept pairs or none, since their keys belong together. If the clock is wrong, puts the clock's error into
 * `off`. */
static bool take_kept(struct loader *l, const struct node_wants *w, struct err *off)
{
	struct node_keypair *pairs = arena_alloc(l->arena, (w->n_issues + 1) * sizeof(*pairs));

	for (size_t i = 0; i < w->n_issues; i++)
		if (!is_kept(l, &w->issues[i], &pairs[i], off))
			return false;
	for (size_t i = 0; i < w->n_issues; i++)
		loader_take_issue(l, &pairs[i]);
	if (off->kind)
		loader_warn_clock(l, off);
	return true;
}

static int take_answer(struct loader *l, const struct node_wants *w, const struct strmap *keys,
		       const struct protocol_answer *answer, struct err *e)
{
	struct node_keypair *pairs = arena_alloc(l->arena, (w->n_issues + 1) * sizeof(*pairs));
	int r = 0;

	/* checks all pairs before it uses any */
	for (size_t i = 0; i < w->n_issues && r == 0; i++) {
		const struct node_issue *want = &w->issues[i];

		pairs[i] = (struct node_keypair){
			.cert = loader_first(l, strmap_get(&answer->certificates, want->name)),
			.key = strmap_get(keys, want->name),
		};
		r = pairs[i].cert ? check_new(l, want, &pairs[i], e)
				  : err_fail(e, ERR_INTEGRITY, EBADMSG,
					     "kops-controller's answer has no certificate %s",
					     want->name);
	}
	l->b->is_given = r == 0;
	for (size_t i = 0; i < w->n_issues && r == 0; i++)
		loader_take_issue(l, &pairs[i]);
	return r < 0 ? err_wrap(e, "kops-controller") : 0;
}

static int check_pinned(const struct node_wants *w, struct err *e)
{
	for (size_t i = 0; i < w->n_issues; i++)
		if (!w->issues[i].signer_id || !w->issues[i].pool)
			return err_config(e, "NodeupConfig: %s: no %s for certificate %s",
					  w->issues[i].signer,
					  w->issues[i].pool ? "id in KeypairIDs"
							    : "certificate in CAs",
					  w->issues[i].name);
	return 0;
}

static int ask_for_certificates(struct loader *l, const struct node_wants *w, struct err *e)
{
	struct strmap public = { 0 }, private = { 0 }, ids = { 0 };
	struct protocol_answer answer;
	int r = check_pinned(w, e);

	for (size_t i = 0; i < w->n_issues && r == 0; i++) {
		const struct loader_ca ca = ca_of(&w->issues[i]);

		r = loader_await_clock(l, &ca, LOADER_CLOCK_PATIENCE_NS, e);
	}
	if (r == 0)
		r = loader_begin_keys(l, w->n_issues, e);
	if (r == 0)
		loader_foresee(l, w);
	for (size_t i = 0; i < w->n_issues && r == 0; i++) {
		const struct node_issue *want = &w->issues[i];
		const char *mine, *theirs;

		r = join_keys_take(l->b->keys, l->arena, &mine, &theirs, e);
		if (r < 0)
			break;
		strmap_set(l->arena, &private, want->name, mine);
		strmap_set(l->arena, &public, want->name, theirs);
		strmap_set(l->arena, &ids, want->signer, want->signer_id);
	}
	strmap_sort(&ids);
	if (r == 0)
		r = begin(l, e);
	if (r == 0)
		r = join_ask(l->b->join, l->arena, protocol_request(l->arena, &public, &ids),
			     &answer, e);
	return r < 0 ? r : take_answer(l, w, &private, &answer, e);
}

/* Returns whether a NodeupConfig beside --conf is used, so that kops-controller is not asked. */
static bool is_unasked(const struct loader *l)
{
	return !policy_may_change(l->policy) && !l->is_given && !l->b->replayed && !l->b->adopted;
}

static void warn_unasked(struct loader *l, bool is_kept)
{
	strv_addf(
		l->arena, &l->b->warnings,
		"kops-controller is not asked, as %s is beside %s: the login at registries that apply "
		"gets of it %s",
		config_name, location_shown(l->arena, l->b->conf),
		is_kept ? "is taken as it was given last" : "is not known here");
}

/* Takes the only secret that a worker has. The store lacks the secret if the server's answer had none. */
static void take_secrets(struct loader *l)
{
	static const char dockerconfig[] = "dockerconfig";
	const char *at = location_of(l, arena_printf(l->arena, "secrets/%s", dockerconfig)),
		   *text = NULL;
	struct err ignored;
	size_t n;

	if (is_unasked(l)) {
		text = loader_kept_text(l, at);
		warn_unasked(l, text);
	} else if (store_get(l->b->store, at, &text, &n, &ignored) < 0) {
		return;
	}
	if (text)
		strmap_set(l->arena, &l->b->node.secrets, dockerconfig, text);
}

/* Adds an error to the earlier errors. A missing object is the least useful error, so any other error replaces it. */
static void add_fault(struct err *e, const struct err *fault, bool is_first)
{
	if (is_first || (e->errnum == ENOENT && fault->errnum != ENOENT))
		*e = *fault;
	else if (fault->errnum != ENOENT)
		err_add(e, "%s", fault->msg);
}

/* Takes another program's certificates unchanged if kops-controller would have given us certificates like these.
 * Reports all faults. */
static int take_foreign(struct loader *l, const struct node_wants *w, struct err *e)
{
	struct node_keypair *pairs = arena_alloc(l->arena, (w->n_issues + 1) * sizeof(*pairs));
	size_t wrong = 0;

	for (size_t i = 0; i < w->n_issues; i++) {
		struct err fault;
		int r = loader_adopted_pair(l, &w->issues[i], &pairs[i], &fault);

		if (r == 0)
			r = check_new(l, &w->issues[i], &pairs[i], &fault);
		if (r < 0)
			add_fault(e, &fault, wrong++ == 0);
	}
	if (wrong)
		return err_code(e);
	for (size_t i = 0; i < w->n_issues; i++)
		loader_take_issue(l, &pairs[i]);
	return 0;
}

static int take_adopted(struct loader *l, const struct node_wants *w, struct err *e)
{
	const char *config = l->b->documents.cluster_text.text;
	struct err ignored;

	if (config)
		remember(l, location_of(l, config_name), config, false);
	return w->otherwise && take_foreign(l, w->otherwise, &ignored) == 0 ? 0
									    : take_foreign(l, w, e);
}

static void add_unmade(struct loader *l, const struct node_wants *w, struct node_keypairs *all)
{
	for (size_t i = 0; i < w->n_issues; i++) {
		const struct node_keypair pair = {
			.name = w->issues[i].name, .cert = "", .key = "", .unmade = true
		};

		arena_push(l->arena, all->v, all->n, pair);
	}
}

void loader_leave_issues(struct loader *l, const struct node_wants *w)
{
	l->b->no_keys = true;
	add_unmade(l, w, &l->b->node.keypairs);
}

void loader_foresee(struct loader *l, const struct node_wants *w)
{
	const struct node_keypairs *here = &l->b->node.keypairs;
	struct bootstrap seen = *l->b;

	if (!l->req->foresee)
		return;
	seen.node.keypairs = (struct node_keypairs){ 0 };
	for (size_t i = 0; i < here->n; i++)
		arena_push(l->arena, seen.node.keypairs.v, seen.node.keypairs.n, here->v[i]);
	add_unmade(l, w, &seen.node.keypairs);
	seen.runtime =
		probe_runtime(l->arena, l->req->root_fd, !l->policy->image_mode, &seen.node.files);
	l->req->foresee(l->req->meanwhile_arg, &seen);
}

int loader_issues(struct loader *l, const struct node_wants *w, struct err *e)
{
	struct err why, off = { 0 };

	take_secrets(l);
	if (l->b->adopted)
		return take_adopted(l, w, e);
	if (take_kept(l, w, &off))
		return 0;
	if (off.kind == ERR_CONFIG) {
		*e = off;
		return err_code(e);
	}
	if (l->b->replayed)
		return err_fail(e, ERR_NET, ENODATA,
				"the certificates that are kept do not hold any more");
	if (take_foreign(l, w, &why) == 0)
		return 0;
	if (why.errnum != ENOENT)
		strv_addf(l->arena, &l->b->warnings,
			  "new certificates %s, as those that are here do not fit: %s",
			  policy_may_change(l->policy) ? "are asked for" : "would be asked for",
			  why.msg);
	if (!policy_may_change(l->policy)) {
		loader_leave_issues(l, w);
		return 0;
	}
	return ask_for_certificates(l, w, e);
}
