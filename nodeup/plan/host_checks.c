#include "nodeup/plan/host_checks.h"

#include <string.h>
#include "nodeup/base/paths.h"
#include "nodeup/plan/tasklist.h"

static bool says_so(const char *text)
{
	return text && node_takes_swap(text, strlen(text));
}

/* Returns whether the documents themselves may deal with swap. A hook runs before kubelet and may turn swap off. A
 * script or a drop-in for kubelet that the documents bring may do that too. */
static bool documents_take_swap(const struct node *n)
{
	for (size_t i = 0; i < n->files.n; i++)
		if (node_takes_swap(n->files.v[i].content, n->files.v[i].len))
			return true;
	for (size_t i = 0; i < n->hooks.n; i++) {
		const struct node_hook *hook = &n->hooks.v[i];

		if (says_so(hook->manifest))
			return true;
		for (size_t k = 0; k < hook->command.n; k++)
			if (says_so(hook->command.v[k]))
				return true;
	}
	return false;
}

static const char *swaps_of(const struct plan *p, const struct strv *all)
{
	const struct node *n = p->req->node;

	return all->n && n->refuses_swap && !p->req->facts->kubelet_takes_swap.v &&
			       !documents_take_swap(n)
		       ? strv_join(p->arena, all, ", ")
		       : NULL;
}

static const char *swaps(const struct plan *p)
{
	return p->req->facts ? swaps_of(p, &p->req->facts->swaps) : NULL;
}

static const char *boot_swaps(const struct plan *p)
{
	return p->req->facts ? swaps_of(p, &p->req->facts->boot_swaps) : NULL;
}

/* clang-format off */
/* Lists the checks of every era. */
static const struct host_check checks_of_all[] = {
	{ NULL, "there is swap space, with which kubelet does not start", "none: swapoff -a; or failSwapOn: false",
	  .got = swaps },
	{ NULL, "there will be swap space from the next boot on, with which kubelet does not start",
	  "none, or failSwapOn: false", .got = boot_swaps, .is_later = true },
	{ NULL, NULL, NULL },
};
/* clang-format on */

static int refuse_host(const struct plan *p, const struct host_check *check, struct err *e)
{
	const struct version *v = &p->req->node->kubernetes;
	const struct runtime *runtime = &p->req->runtime;
	int r = err_config(e, "Kubernetes %d.%d.%d cannot run here: %s", v->major, v->minor,
			   v->patch, check->what);

	err_note(e, "want", "%s", check->want);
	if (check->is_metadata)
		err_note(
			e, "do",
			"aws ec2 modify-instance-metadata-options --instance-id %s --http-tokens optional",
			p->req->facts->instance_id ? p->req->facts->instance_id : "ID");
	else if (check->got)
		err_note(e, "got", "%s", check->got(p));
	else if (runtime->unit)
		err_note(e, "got", "%s %s", runtime->unit,
			 runtime->version ? runtime->version : "of unknown version");
	err_note(e, "do", "ignoreHostChecks: true in " OWN_SETTINGS_DIR " tries all the same");
	return r;
}

static void go_through(struct plan *p, const struct host_check *check, bool all_the_same)
{
	for (; check->what; check++) {
		struct err why;

		if (check->is_so ? !check->is_so(p) : !check->got || !check->got(p))
			continue;
		if (check->is_later) {
			plan_warn(p, "%s: %s; want %s", check->what, check->got(p), check->want);
			continue;
		}
		(void)refuse_host(p, check, &why);
		if (all_the_same)
			plan_warn(p, "%s; tried all the same, as ignoreHostChecks says", why.msg);
		else
			plan_fail(p, &why);
	}
}

int plan_check_host(struct plan *p, const struct host_check *of_era, bool all_the_same,
		    struct err *e)
{
	const size_t before = p->n_wrong;

	if (of_era) {
		go_through(p, of_era, all_the_same);
		go_through(p, checks_of_all, all_the_same);
	}
	if (p->n_wrong == before)
		return 0;
	*e = *p->wrong[before];
	return err_code(e);
}
