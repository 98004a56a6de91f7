#include "nodeup/etcd/claim.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/wait.h"

enum { BELIEVED = 12 };

struct claim {
	struct arena *arena; /* of the caller: what outlives a look */
	struct arena *step;  /* of the last look: waiting may take days */
	const struct claim_req *req;
	const struct claim_host *host;
	struct volume_choice *choices;
	struct volume_view view;
	struct strv refused; /* device names that EC2 has taken otherwise */
	unsigned int busy;   /* refusals in a row, "in use", of a volume that EC2 shows as free */
	unsigned int waits;  /* in a row */
	bool is_unfit;       /* a disk was looked at and will not do */
	struct err last;     /* the last error, kind NONE: none since something went well */
	struct err waited;   /* what was waited for last */
};

static void add_volumes(struct arena *a, struct ec2_volumes *all, const struct ec2_volumes *more)
{
	for (size_t i = 0; i < more->n; i++) {
		size_t k = 0;

		while (k < all->n && !str_eq(all->v[k].id, more->v[i].id))
			k++;
		/* the later answer is the newer one */
		if (k < all->n)
			all->v[k] = more->v[i];
		else
			arena_push(a, all->v, all->n, more->v[i]);
	}
}

int claim_ask(struct arena *a, const struct claim_host *host, const struct volume_wish *wish,
	      const struct ec2_instance *self, const char *cluster, const char *zone,
	      struct ec2_volumes *all, struct err *e)
{
	struct ec2_filters *filters;
	size_t n;

	volume_filters(a, wish, self, cluster, zone, &filters, &n);
	for (size_t i = 0; i < n; i++) {
		struct ec2_volumes some = { 0 };
		int r = host->volumes(host->arg, a, &filters[i], &some, e);

		if (r < 0)
			return r;
		add_volumes(a, all, &some);
	}
	return 0;
}

/* The etcd wishes have one question in common. */
static bool is_asked_for(const struct claim *c, size_t wish)
{
	for (size_t i = 0; i < wish; i++)
		if (c->req->wishes[i].by == VOLUME_BY_ETCD &&
		    c->req->wishes[wish].by == VOLUME_BY_ETCD)
			return true;
	return false;
}

/* For all wishes; zone as in claim_ask. */
static int ask_all(struct claim *c, const char *zone, struct ec2_volumes *ret, struct err *e)
{
	struct ec2_volumes all = { 0 };
	int r = 0;

	for (size_t i = 0; i < c->req->n && r >= 0; i++)
		if (!is_asked_for(c, i))
			r = claim_ask(c->step, c->host, &c->req->wishes[i], &c->view.self,
				      c->req->cluster, zone, &all, e);
	if (r >= 0)
		*ret = all;
	return r;
}

static int look_at_volumes(struct claim *c, struct err *e)
{
	int r;

	arena_free(c->step);
	c->step = arena_new_empty();
	c->view.here = c->view.elsewhere = (struct ec2_volumes){ 0 };
	c->view.self = (struct ec2_instance){ 0 };
	r = c->host->instance(c->host->arg, c->step, &c->view.self, e);
	for (size_t i = 0; i < c->req->n && r >= 0; i++)
		if (c->req->wishes[i].by == VOLUME_BY_ETCD)
			r = volume_check_cluster(&c->view.self, c->req->cluster, e);
	return r < 0 ? r : ask_all(c, c->view.self.zone, &c->view.here, e);
}

/* Choose for every wish. Returns whether for one of them there is none that could be had now. */
static int choose(struct claim *c, struct err *e)
{
	const char *like = NULL;
	int none = 0;

	for (size_t i = 0; i < c->req->n; i++) {
		struct volume_choice *choice = &c->choices[i];
		int r = volume_choose(c->step, &c->view, &c->req->wishes[i], like, choice, e);

		if (r < 0)
			return r;
		if (!like)
			like = choice->member.me;
		none |= choice->state == VOLUME_PENDING || choice->state == VOLUME_ABSENT;
	}
	return none;
}

static int look_and_choose(struct claim *c, struct err *e)
{
	int r = look_at_volumes(c, e);

	if (r >= 0)
		r = choose(c, e);
	if (r != 1)
		return r;
	/* a volume in the wrong zone explains why there is none */
	r = ask_all(c, NULL, &c->view.elsewhere, e);
	return r < 0 ? r : choose(c, e);
}

/* 0: go on; < 0: the time is up, and e says what was waited for. */
static int wait_more(struct claim *c, const char *why, int errnum, struct err *e)
{
	const struct err *last = c->last.kind ? &c->last : NULL;
	int64_t now = c->host->now(c->host->arg), until = now + wait_delay(++c->waits);

	if (!c->req->deadline_ns || now < c->req->deadline_ns) {
		if (c->req->deadline_ns && until > c->req->deadline_ns)
			until = c->req->deadline_ns;
		if (last)
			c->waited = *last;
		else
			(void)err_fail(&c->waited, ERR_BUSY, errnum, "%s", why);
		c->host->wait(c->host->arg, until, why, last);
		return 0;
	}
	/* a question that the deadline has cut off says less than what it was asked for */
	if (c->waited.kind && (!last || last->kind == ERR_NET)) {
		*e = c->waited;
		return err_code(e);
	}
	if (last) {
		*e = *last;
		return err_code(e);
	}
	return err_fail(e, ERR_BUSY, errnum, "%s", why);
}

/* What only people can change ends it; all else is worth another look. */
static int settle_error(struct claim *c, const struct err *why, struct err *e)
{
	if (why->kind == ERR_CONFIG || why->kind == ERR_REFUSED) {
		*e = *why;
		return err_code(e);
	}
	c->last = *why;
	return wait_more(c, c->last.msg, ETIMEDOUT, e);
}

static void note(struct arena *a, struct strv *v, const char *id)
{
	if (!strv_has(v, id))
		strv_add(a, v, arena_str(a, id));
}

static void forget(struct strv *v, const char *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++)
		if (!str_eq(v->v[i], s))
			v->v[kept++] = v->v[i];
	v->n = kept;
}

/* Whether it may have been done all the same: no answer, half of one, or trouble at EC2's. */
static bool is_unclear(const struct err *why)
{
	return why->kind == ERR_NET && why->errnum != EACCES && why->errnum != ENOENT;
}

static void may_be_ours(struct claim *c, const char *id)
{
	note(c->arena, &c->view.doubt, id);
	note(c->req->own->arena, &c->req->own->ids, id);
}

/* The volume is in use: perhaps by us, after an earlier request or one that was sent twice. EC2 will say
 * which instance has it. Until then no other volume is taken in its place. */
static void somebody_has(struct claim *c, const char *id)
{
	may_be_ours(c, id);
	if (++c->busy <= BELIEVED)
		return;
	c->busy = 0;
	/* if it was ours all the time, it is given back with the other */
	forget(&c->view.doubt, id);
	note(c->arena, &c->view.lost, id);
}

static void remember_device(struct claim_own *own, const char *id, const char *device)
{
	strmap_set(own->arena, &own->devices, arena_str(own->arena, id),
		   arena_str(own->arena, device));
}

static int attach(struct claim *c, const struct volume_choice *choice, struct err *e)
{
	const char *id = choice->volume->id, *device;
	struct err why = { 0 };
	int r;

	device = volume_device_name(&c->view.self, &c->refused, c->host->is_used, c->host->arg);
	if (!device) {
		/* a name may be free again later */
		c->refused.n = 0;
		(void)err_fail(&why, ERR_BUSY, EADDRINUSE, "volume %s: every device name is taken",
			       id);
		return settle_error(c, &why, e);
	}
	/* what was asked for before may have been done under that name */
	if (!strv_has(&c->req->own->ids, id))
		remember_device(c->req->own, id, device);
	r = c->host->attach(c->host->arg, id, device, &why);
	if (r >= 0) {
		remember_device(c->req->own, id, device);
		note(c->arena, &c->view.begun, id);
		note(c->req->own->arena, &c->req->own->ids, id);
		forget(&c->view.doubt, id);
		c->last.kind = ERR_NONE;
		c->waits = c->busy = 0;
		return 0;
	}
	if (r == -EADDRINUSE) {
		strv_add(c->arena, &c->refused, device);
		return 0;
	}
	(void)err_wrap(&why, "volume %s for %s", id, choice->wish->what);
	if (r == -EBUSY)
		somebody_has(c, id);
	else if (is_unclear(&why))
		may_be_ours(c, id);
	return settle_error(c, &why, e);
}

/* EC2 has said that another has it: what we believed counts no more. That it is ours again is not
 * said for good: the next answer may be older. */
static void believe(struct claim *c)
{
	for (size_t i = 0; i < c->view.here.n; i++) {
		const struct ec2_volume *v = &c->view.here.v[i];

		if (!*v->instance)
			continue;
		forget(&c->view.doubt, v->id);
		if (str_eq(v->instance, c->view.self.id))
			continue;
		forget(&c->view.begun, v->id);
		forget(&c->req->own->ids, v->id);
	}
}

/* The first wish that is not fulfilled, or NULL. One that nothing at all is there for comes before
 * others: nothing is attached for a master that cannot have all. */
static struct volume_choice *first_open(const struct claim *c)
{
	for (size_t i = 0; i < c->req->n; i++)
		if (c->choices[i].state == VOLUME_ABSENT)
			return &c->choices[i];
	for (size_t i = 0; i < c->req->n; i++)
		if (c->choices[i].state != VOLUME_HERE)
			return &c->choices[i];
	return NULL;
}

/* Begin all over: a disk that another master lost may be free now. */
static int pending(struct claim *c, const struct volume_choice *open, struct err *e)
{
	const char *why = arena_printf(c->step, "%s: %s", open->wish->what, open->why);

	c->view.lost.n = 0;
	return wait_more(c, why, open->state == VOLUME_ABSENT ? ENODEV : ETIMEDOUT, e);
}

/* 1: all are attached; 0: look again. */
static int attach_step(struct claim *c, struct err *e)
{
	struct err why = { 0 };
	const struct volume_choice *open;
	int r = look_and_choose(c, &why);

	if (r < 0)
		return settle_error(c, &why, e);
	believe(c);
	/* choose again, now that it is known which instance has which volume */
	r = choose(c, &why);
	if (r < 0)
		return settle_error(c, &why, e);
	open = first_open(c);
	if (!open)
		return 1;
	return open->state == VOLUME_FREE ? attach(c, open, e) : pending(c, open, e);
}

/* We wrote nothing to these volumes. One that was mounted meanwhile stays attached. */
void claim_give_back(struct claim_own *own, const struct claim_host *host, struct err *e)
{
	if (own->ids.n == 0) {
		err_note(e, "untouched", "no volume was attached, nothing was written");
		return;
	}
	for (size_t i = 0; i < own->ids.n; i++) {
		const char *id = own->ids.v[i], *device = strmap_get(&own->devices, id),
			   *user = host->user(host->arg, id, device);
		struct err why = { 0 };

		if (user)
			err_note(e, "attached", "%s stays: %s", id, user);
		else if (host->detach(host->arg, id, &why) >= 0)
			err_note(e, "detached", "%s, which this run had attached", id);
		else
			err_note(e, "attached", "%s stays: %s", id, why.msg);
	}
	own->ids.n = 0;
	err_note(e, "untouched", "nothing was written to any volume");
}

/* 1: every disk is there and fit; 0: look again. */
static int fit_step(struct claim *c, struct err *e)
{
	const char *missing = NULL;
	int r;

	for (size_t i = 0; i < c->req->n; i++) {
		const struct volume_choice *choice = &c->choices[i];
		struct err why = { 0 };

		r = c->host->fit(c->host->arg, choice, &why);
		if (r == -EAGAIN) {
			if (!missing)
				missing = arena_printf(c->step, "%s: %s: %s", choice->wish->what,
						       choice->volume->id, why.msg);
			continue;
		}
		if (r < 0) {
			*e = why;
			c->is_unfit = true;
			return err_code(e);
		}
	}
	/* what EC2 does not know of after so long was not done */
	if (missing && c->waits > BELIEVED)
		c->view.begun.n = 0;
	return missing ? wait_more(c, missing, ETIMEDOUT, e) : 1;
}

static void keep_volume(struct arena *a, struct volume_choice *choice)
{
	struct ec2_volume *v = arena_new(a, struct ec2_volume);
	struct strv members = { 0 };

	*v = (struct ec2_volume){
		.id = arena_str(a, choice->volume->id),
		.zone = arena_str(a, choice->volume->zone),
		.state = arena_str(a, choice->volume->state),
		.instance = arena_str(a, choice->volume->instance),
		.device = arena_str(a, choice->volume->device),
		.attachment = arena_str(a, choice->volume->attachment),
	};
	choice->volume = v;
	choice->member.me = arena_str(a, choice->member.me);
	for (size_t i = 0; i < choice->member.members.n; i++)
		strv_add(a, &members, arena_str(a, choice->member.members.v[i]));
	choice->member.members = members;
}

/* Out of the last look into the caller's arena. */
static void keep(struct claim *c)
{
	for (size_t i = 0; i < c->req->n; i++)
		if (c->choices[i].volume)
			keep_volume(c->arena, &c->choices[i]);
	arena_free(c->step);
}

int claim_take(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct err *e)
{
	struct claim c = { .arena = a, .req = req, .host = host, .choices = choices };
	int r = 0;

	c.view.cluster = req->cluster;
	while (r == 0) {
		r = attach_step(&c, e);
		if (r == 1)
			r = fit_step(&c, e);
	}
	if (r > 0) {
		keep(&c);
		return 0;
	}
	arena_free(c.step);
	if (c.is_unfit || e->kind == ERR_CONFIG || e->kind == ERR_REFUSED)
		claim_give_back(req->own, host, e);
	return r;
}

int claim_look(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct strv *ret_devices, struct err *e)
{
	struct claim c = { .arena = a, .req = req, .host = host, .choices = choices };
	int r;

	c.view.cluster = req->cluster;
	r = look_and_choose(&c, e);
	if (r >= 0) {
		for (size_t i = 0; i < c.view.self.devices.n; i++)
			strv_add(a, ret_devices, arena_str(a, c.view.self.devices.v[i]));
		keep(&c);
		return 0;
	}
	arena_free(c.step);
	if (e->kind == ERR_CONFIG || e->kind == ERR_REFUSED)
		err_note(e, "untouched", "no volume was attached, nothing was written");
	return r;
}
