#include "nodeup/etcd/volumes.h"

#include <string.h>
#include "nodeup/base/print.h"

static char *etcd_key(struct arena *a, const char *cluster)
{
	return arena_printf(a, "k8s.io/etcd/%s", cluster);
}

static bool is_gone(const struct ec2_volume *v)
{
	return str_eq(v->state, "deleting") || str_eq(v->state, "deleted") ||
	       str_eq(v->state, "error");
}

/* A volume that a wish may mean, and what its etcd tag says. */
struct candidate {
	const struct ec2_volume *volume;
	struct volume_member member;
	enum volume_state state;
};

struct candidates {
	struct candidate *v;
	size_t n;
};

/* EC2's own filters are not believed: a volume of others would be formatted. */
static bool is_meant(struct arena *a, const struct volume_view *view,
		     const struct volume_wish *wish, const struct ec2_volume *v)
{
	if (wish->by == VOLUME_BY_ID)
		return str_eq(v->id, wish->value);
	if (wish->by == VOLUME_BY_TAG)
		return str_eq(strmap_get(&v->tags, wish->key), wish->value);
	return volume_is_of_masters(a, &v->tags, view->cluster) &&
	       strmap_get(&v->tags, etcd_key(a, wish->key));
}

static bool is_ours(const struct volume_view *view, const struct ec2_volume *v)
{
	if (*v->instance)
		return str_eq(v->instance, view->self.id) && !str_eq(v->attachment, "detaching");
	return strv_has(&view->begun, v->id);
}

static enum volume_state state_of(const struct volume_view *view, const struct ec2_volume *v)
{
	if (is_ours(view, v))
		return VOLUME_HERE;
	return str_eq(v->state, "available") && !*v->instance && !strv_has(&view->lost, v->id)
		       ? VOLUME_FREE
		       : VOLUME_PENDING;
}

/* Two instances that mount one file system destroy it, and we cannot know that the other has not. */
int volume_check_shared(const struct volume_wish *wish, const struct ec2_volume *v, struct err *e)
{
	const bool by_id = wish->by == VOLUME_BY_ID, two = !str_is_empty(v->other);

	if (!v->multi_attach && !two)
		return 0;
	(void)err_fail(e, ERR_REFUSED, 0, "%s: volume %s %s", wish->what, v->id,
		       two ? "is attached to two instances"
			   : "can be attached to several instances at once");
	err_note(e, "has", "%s%s%s%s%s; wanted a volume that one instance has alone",
		 v->multi_attach ? "multi-attach is on" : "", v->multi_attach && two ? ", " : "",
		 two ? v->instance : "", two ? " and " : "", two ? v->other : "");
	err_note(e, "do", "turn it off, or %s another volume",
		 by_id ? "name" : "take the tags off and make");
	return -EINVAL;
}

static int collect(struct arena *a, const struct volume_view *view, const struct volume_wish *wish,
		   struct candidates *ret, struct err *e)
{
	for (size_t i = 0; i < view->here.n; i++) {
		const struct ec2_volume *v = &view->here.v[i];
		struct candidate c = { .volume = v, .state = state_of(view, v) };
		const char *key = etcd_key(a, wish->by == VOLUME_BY_ETCD ? wish->key : "");

		if (is_gone(v) || !str_eq(v->zone, view->self.zone) || !is_meant(a, view, wish, v))
			continue;
		if (volume_check_shared(wish, v, e) < 0)
			return err_code(e);
		if (wish->by == VOLUME_BY_ETCD &&
		    volume_member_parse(a, strmap_get(&v->tags, key), &c.member, e) < 0) {
			/* what another master makes of it is its own affair */
			if (c.state == VOLUME_PENDING && *v->instance)
				continue;
			err_note(e, "want", "this member and all members: a/a,b,c");
			err_note(e, "do", "mend the tag, or take it off");
			return err_wrap(e, "volume %s: tag %s", v->id, key);
		}
		arena_push(a, ret->v, ret->n, c);
	}
	return 0;
}

/* Two that are here: one of them was mounted and written to, or will be. */
static int check_here(const struct candidates *all, const struct volume_wish *wish, struct err *e)
{
	const struct candidate *first = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->v[i];

		if (c->state != VOLUME_HERE)
			continue;
		if (!first) {
			first = c;
			continue;
		}
		(void)err_config(e,
				 "%s: two volumes are attached to this instance: %s%s%s and %s%s%s",
				 wish->what, first->volume->id, first->member.me ? ", member " : "",
				 first->member.me ? first->member.me : "", c->volume->id,
				 c->member.me ? ", member " : "", c->member.me ? c->member.me : "");
		err_note(e, "do", "detach the one that is not to be used, or take its tags off");
		return -EINVAL;
	}
	return first ? 1 : 0;
}

/* Two volumes for one member: only one can have its data, and which is not to be guessed. One that
 * is here already was chosen before. */
static int check_twins(const struct candidates *all, const struct volume_wish *wish, struct err *e)
{
	int r = check_here(all, wish, e);

	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = i + 1; k < all->n; k++) {
			const struct candidate *x = &all->v[i], *y = &all->v[k];

			if (!str_eq(x->member.me, y->member.me) ||
			    (x->state == VOLUME_PENDING && y->state == VOLUME_PENDING))
				continue;
			(void)err_config(e, "%s: two volumes%s%s: %s and %s", wish->what,
					 x->member.me ? " for member " : "",
					 x->member.me ? x->member.me : "", x->volume->id,
					 y->volume->id);
			err_note(e, "do", "take the tags off the one that is not to be used");
			return -EINVAL;
		}
	return 0;
}

static void choose_candidate(struct volume_choice *ret, const struct candidate *c)
{
	ret->state = c->state;
	ret->volume = c->volume;
	ret->member = c->member;
	if (c->state == VOLUME_HERE)
		(void)print_to(ret->why, sizeof(ret->why), "%s as %s",
			       *c->volume->attachment ? c->volume->attachment : "attaching",
			       *c->volume->device ? c->volume->device : "what we asked for");
	else
		(void)print_to(ret->why, sizeof(ret->why), "available in %s", c->volume->zone);
}

/* Masters that boot together begin at different places. */
static size_t first_place(const char *instance, size_t n)
{
	size_t sum = 5381;

	for (const char *p = instance; *p; p++)
		sum = sum * 33 + (unsigned char)*p;
	return sum % n;
}

static bool take_any(const struct candidates *all, enum volume_state state, const char *like,
		     const char *instance, struct volume_choice *ret)
{
	size_t first = all->n ? first_place(instance, all->n) : 0;

	for (size_t i = 0; i < all->n && like; i++)
		if (all->v[i].state == state && str_eq(all->v[i].member.me, like)) {
			choose_candidate(ret, &all->v[i]);
			return true;
		}
	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->v[(first + i) % all->n];

		if (c->state == state) {
			choose_candidate(ret, c);
			return true;
		}
	}
	return false;
}

static void say_pending(const struct volume_view *view, const struct candidate *c,
			struct volume_choice *ret)
{
	const struct ec2_volume *v = c->volume;

	ret->state = VOLUME_PENDING;
	if (c->state == VOLUME_FREE)
		(void)print_to(
			ret->why, sizeof(ret->why),
			"%s is available: the program that attaches this master's volumes has not done so yet",
			v->id);
	else if (*v->instance)
		(void)print_to(ret->why, sizeof(ret->why), "%s is %s %s%s", v->id,
			       str_eq(v->attachment, "detaching") ? "being detached from"
								  : "attached to",
			       str_eq(v->instance, view->self.id) ? "this instance" : v->instance,
			       str_eq(v->attachment, "busy") ? ", which keeps it busy" : "");
	else
		(void)print_to(ret->why, sizeof(ret->why), "%s: %s", v->id,
			       strv_has(&view->lost, v->id) ? "another master was faster"
							    : v->state);
}

static const char *wanted(struct arena *a, const struct volume_view *view,
			  const struct volume_wish *wish)
{
	if (wish->by == VOLUME_BY_ID)
		return arena_printf(a, "volume %s", wish->value);
	if (wish->by == VOLUME_BY_TAG)
		return arena_printf(a, "volume with tag %s=%s", wish->key, wish->value);
	return arena_printf(a,
			    "volume of cluster %s with tags k8s.io/role/master (or "
			    "control-plane) and k8s.io/etcd/%s",
			    view->cluster, wish->key);
}

static void say_none(struct arena *a, const struct volume_view *view,
		     const struct volume_wish *wish, struct volume_choice *ret)
{
	ret->state = VOLUME_ABSENT;
	(void)print_to(ret->why, sizeof(ret->why), "no %s in %s", wanted(a, view, wish),
		       view->self.zone);
	for (size_t i = 0; i < view->elsewhere.n; i++) {
		const struct ec2_volume *v = &view->elsewhere.v[i];
		size_t n = strlen(ret->why);

		if (str_eq(v->zone, view->self.zone) || !is_meant(a, view, wish, v))
			continue;
		(void)print_to(ret->why + n, sizeof(ret->why) - n, "; %s is in %s, out of reach",
			       v->id, v->zone);
		return;
	}
}

/* The one we have asked for may be ours already: asking again tells, and another would be one too many. */
static bool take_doubtful(const struct volume_view *view, const struct candidates *all,
			  struct volume_choice *ret)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].state == VOLUME_FREE &&
		    strv_has(&view->doubt, all->v[i].volume->id)) {
			choose_candidate(ret, &all->v[i]);
			return true;
		}
	return false;
}

int volume_choose(struct arena *a, const struct volume_view *view, const struct volume_wish *wish,
		  const char *like, struct volume_choice *ret, struct err *e)
{
	struct candidates all = { 0 };
	int r = collect(a, view, wish, &all, e);

	if (r == 0)
		r = check_twins(&all, wish, e);
	if (r < 0)
		return r;
	*ret = (struct volume_choice){ .wish = wish };
	if (take_any(&all, VOLUME_HERE, like, view->self.id, ret))
		return 0;
	if (!wish->look_only && (take_doubtful(view, &all, ret) ||
				 take_any(&all, VOLUME_FREE, like, view->self.id, ret)))
		return 0;
	if (all.n)
		say_pending(view, &all.v[0], ret);
	else
		say_none(a, view, wish, ret);
	return 0;
}

/* "/dev/sdb" and "/dev/xvdb" are one name. */
static const char *letters(const char *device)
{
	const char *name = str_basename(device);

	return name + (str_has_prefix(name, "xvd") ? 3 : str_has_prefix(name, "sd") ? 2 : 0);
}

/* protokube's, then what AWS recommends for many volumes; source: EC2 user guide, device names. */
/* clang-format off */
static const char *const device_names[] = {
	"/dev/xvdu", "/dev/xvdv", "/dev/xvdw", "/dev/xvdx", "/dev/xvdy", "/dev/xvdz",
	"/dev/xvdba", "/dev/xvdbb", "/dev/xvdbc", "/dev/xvdbd", "/dev/xvdbe", "/dev/xvdbf",
	"/dev/xvdbg", "/dev/xvdbh", "/dev/xvdbi", "/dev/xvdbj", "/dev/xvdbk", "/dev/xvdbl",
	"/dev/xvdbm", "/dev/xvdbn", "/dev/xvdbo", "/dev/xvdbp", "/dev/xvdbq", "/dev/xvdbr",
};
/* clang-format on */

const char *volume_device_name(const struct ec2_instance *self, const struct strv *refused,
			       bool (*is_used)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(device_names); i++) {
		const char *name = device_names[i];
		bool used = strv_has(refused, name) || (is_used && is_used(arg, name));

		for (size_t k = 0; k < self->devices.n && !used; k++)
			used = str_eq(letters(self->devices.v[k]), letters(name));
		if (!used)
			return name;
	}
	return NULL;
}
