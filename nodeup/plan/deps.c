#include "nodeup/plan/tasklist.h"

#include <stdlib.h>
#include <string.h>
#include "manifests/pod.h"
#include "nodeup/plan/volumes.h"

static const char manager_dir[] = "/etc/systemd/system.conf.d/";

/* Says which units wait for more than their own inputs: `after` names a unit, `origin` a builder whose tasks must be
 * done first. */
static const struct {
	const char *unit, *after, *origin;
} starts[] = {
	{ "kubelet.service", "docker.service", "cni" },
	{ "kubelet.service", "containerd.service", "cni" },
	{ "kubelet.service", "docker.service", "states" },
	{ "kubelet.service", "containerd.service", "containerd" },
	{ "kube-addons.service", "docker.service", "states" },
	{ "protokube.service", "docker.service", "protokube" },
};

/* Lists folders whose files only one unit reads. The row without a unit is for files that only systemd or the
 * package manager reads. */
static const struct {
	const char *folder, *unit; /* NULL: none */
} readers[] = {
	{ POD_MANIFESTS "/", "kubelet.service" },
	{ "/etc/logrotate.d/", "logrotate.timer" },
	{ "/etc/apt/", NULL },
	{ plan_unit_dir, NULL },
};

static bool is_any(const struct task *t, const struct task *need)
{
	(void)t;
	(void)need;
	return true;
}

/* Returns whether the unit may wait for files and directories in general. A mount may not wait, as files are written
 * below its mount point. The unit of the next boot may not wait either: it must be enabled even if the rest of this
 * run fails. */
static bool is_started_with(const struct task *t, const struct task *need)
{
	(void)need;
	return !volumes_is_mount(t) && !t->unit.at_boot;
}

static bool is_input(const struct task *t, const struct task *need)
{
	return strv_has(&t->unit.inputs, task_path(need));
}

static bool is_module_of(const struct task *t, const struct task *package)
{
	return strv_has(&package->package.modules, t->name);
}

static bool is_rules_of(const struct task *stray, const struct task *file)
{
	return str_eq(stray->stray.rules, file->name);
}

static bool is_kubelet(const struct task *t, const struct task *need)
{
	(void)need;
	return strcmp(t->name, "kubelet.service") == 0;
}

/* Returns whether the unit must start without what a stray unit left: the stray's rules are removed and were an
 * input of the unit, or the unit is kubelet. kubelet starts no pods before the stray's changes to the network are
 * undone. */
static bool is_after_strays(const struct task *t, const struct task *stray)
{
	return strv_has(&t->unit.inputs, stray->stray.rules) ||
	       (stray->stray.undo && is_kubelet(t, stray));
}

/* Returns whether the link keeps units of the stray from starting again. */
static bool is_mask_of(const struct task *stray, const struct task *link)
{
	return stray->stray.undo && plan_is_mask(link);
}

/* Returns whether the link leads to the program. A mask leads to no program. */
static bool leads_to(const struct task *link, const struct task *program)
{
	return str_eq(link->link.target, program->name);
}

static bool is_manifest(const struct task *t)
{
	return str_has_prefix(t->name, POD_MANIFESTS "/");
}

static bool may_read(const struct task *t, const struct task *file)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (str_has_prefix(file->name, readers[i].folder))
			return str_eq(readers[i].unit, t->name);
	return true;
}

/* Returns whether the unit waits for the file. A unit waits for its own text, for its inputs, and for each file that
 * is no unit's input, as any service may read such a file. If an input of another unit cannot be written, only that
 * other unit does not start. A file that only one unit reads holds up only that unit, too. */
static bool is_read_by(const struct task *t, const struct task *file)
{
	if (is_input(t, file) || plan_is_text_of(file, t->name))
		return true;
	return is_started_with(t, file) && !file->file.of_unit && may_read(t, file);
}

static bool is_inside(const struct task *t, const struct task *dir)
{
	return str_is_within(task_path(t), dir->name);
}

/* Returns whether the other file must exist before this manifest. A running kubelet starts a pod as soon as it sees
 * the manifest, so files that the pod mounts come first. No pod mounts unit files. */
static bool is_manifest_of_others(const struct task *t, const struct task *need)
{
	return is_manifest(t) && !is_manifest(need) && !need->file.of_unit;
}

/* Returns whether the pod runs this image. If the pod's new manifest came before the image, kubelet would stop the
 * pod, and could not start it again until the image is loaded. */
static bool is_image_of_pod(const struct task *t, const struct task *image)
{
	return strstr(t->file.content, image->image.name);
}

/* Returns whether the documents bring this manifest together with kubelet: both are then of one version, so kubelet
 * comes first. source: kubernetes#10122 */
static bool is_kubelet_of_pod(const struct task *t, const struct task *install)
{
	return str_eq(t->origin, install->origin) &&
	       strcmp(str_basename(install->name), "kubelet") == 0;
}

/* Returns whether the unit is one of Kubernetes: no package of the distribution brings kubelet or what runs with it. */
static bool is_of_kubernetes(const struct task *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (str_eq(starts[i].unit, unit->name))
			return true;
	return false;
}

static bool is_read_by_package(const struct task *t, const struct task *file)
{
	return !is_manifest(file) && (!file->file.of_unit || file->file.of_packaged) &&
	       volume_tools_is_before(t, file);
}

static bool is_same_asset(const struct asset *a, const struct asset *b)
{
	return digest_eq(&a->digest, &b->digest);
}

static bool is_unpacked_from(const struct task *t, const struct task *asset)
{
	return is_same_asset(t->unpack.asset, asset->asset.asset);
}

static bool is_loaded_from(const struct task *t, const struct task *asset)
{
	return is_same_asset(t->image.asset, asset->asset.asset);
}

static bool is_owner(const struct task *t, const struct task *user)
{
	return str_eq(t->dir.owner, user->user.name);
}

static bool is_id_of(const struct task *t, const struct task *user)
{
	return t->file.attr.uid && t->file.attr.uid == user->user.uid;
}

static bool is_copy_of(const struct task *t, const struct task *asset)
{
	return !t->install.member && is_same_asset(t->install.sources[0], asset->asset.asset);
}

static bool may_be_member_of(const struct task *t, const struct task *unpack)
{
	if (!t->install.member)
		return false;
	for (size_t i = 0; i < t->install.n_sources; i++)
		if (is_same_asset(t->install.sources[i], unpack->unpack.asset))
			return true;
	return false;
}

static bool is_unit_file(const struct task *t, const struct task *file)
{
	(void)t;
	return str_has_prefix(file->name, plan_unit_dir) || str_has_prefix(file->name, manager_dir);
}

static bool is_runtime(const struct task *t, const struct task *unit)
{
	(void)t;
	return strcmp(unit->name, "docker.service") == 0 ||
	       strcmp(unit->name, "containerd.service") == 0;
}

/* Returns whether the file says at which mirrors to ask for the image. */
static bool is_mirror_of(const struct task *t, const struct task *file)
{
	return t->pull.hosts && str_is_within(task_path(file), t->pull.hosts);
}

static bool starts_after(const struct task *t, const struct task *unit)
{
	if (strv_has(&t->unit.requires, unit->name) || strv_has(&unit->unit.before, t->name))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (strcmp(starts[i].unit, t->name) == 0 &&
		    strcmp(starts[i].after, unit->name) == 0)
			return true;
	return volumes_needs_mount(t, unit);
}

static bool starts_with_what(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (strcmp(starts[i].unit, t->name) == 0 && str_eq(starts[i].origin, need->origin))
			return true;
	return false;
}

static bool starts_with_install(const struct task *t, const struct task *install)
{
	return strv_has(&t->unit.inputs, install->name) || starts_with_what(t, install);
}

static bool is_of_comfort(const struct task *package)
{
	return package->package.builders.n != 0;
}

/* Returns whether the other call of the package manager comes first. Packages of the repositories come first,
 * because a package file needs them. Optional packages come last. */
static bool is_earlier(const struct task *t, const struct task *other)
{
	return is_of_comfort(t) == is_of_comfort(other) ? other->index < t->index
							: is_of_comfort(t);
}

static bool runs_with_package(const struct task *t, const struct task *package)
{
	return is_started_with(t, package) &&
	       (!is_of_comfort(package) || strv_has(&package->package.builders, t->origin));
}

static bool is_installed_from(const struct task *t, const struct task *asset)
{
	return t->package.source && is_same_asset(t->package.source, asset->asset.asset);
}

/* Returns whether the unit mounts the volume, or swaps on it. */
static bool is_unit_of_volume(const struct task *t, const struct task *volume)
{
	return str_eq(t->unit.volume, volume->volume.want->name);
}

static bool is_moved_onto(const struct task *t, const struct task *unit)
{
	return str_eq(unit->unit.where, t->move.mount_point);
}

/* Returns whether the mount lets the service see its moved directory. A service may use several directories, so
 * every bind mount of a volume counts. */
static bool is_shown_by(const struct task *t, const struct task *unit)
{
	return str_eq(unit->unit.where, t->move.source) || volumes_is_bind(unit);
}

static bool is_same_move(const struct task *t, const struct task *other)
{
	return strcmp(t->move.source, other->move.source) == 0;
}

/* Returns whether the bind mount shows the content that this task moves. The services that use the mount start after
 * the move. */
static bool waits_for_move(const struct task *t, const struct task *move)
{
	return str_eq(t->unit.where, move->move.source) || strv_has(&move->move.units, t->name);
}

static bool is_resumed(const struct task *t, const struct task *resume)
{
	return strv_has(&resume->move.units, t->name);
}

/* ANY_KIND in a rule means every kind: the task comes after all others. */
#define ANY_KIND TASK_KIND_MAX

/* Says whether a task is in the plan because another task needs it: no, among other reasons, or only for this
 * reason. */
enum dep_sake { OF_ITS_OWN, FOR_ITS_SAKE, FOR_ITS_SAKE_ALONE };

struct dep_rule {
	enum task_kind kind, other;
	bool (*which)(const struct task *t, const struct task *other);
	bool (*only)(
		const struct task
			*t); /* narrows the rule to few tasks of a large kind; NULL: all of them */
	enum dep_sake sake;
};

/* Each pair of kinds has one row, so that no edge is added twice. Installing a member adds no edge to the assets
 * themselves: only unpacking shows which archive has the member. */
static const struct dep_rule rules[] = {
	{ TASK_UNIT, TASK_HOSTS, is_kubelet },
	{ TASK_DIR, TASK_DIR, is_inside },
	{ TASK_DIR, TASK_USER, is_owner },
	{ TASK_FILE, TASK_DIR, is_inside },
	/* the user comes first: another user must not get the id that the file belongs to */
	{ TASK_FILE, TASK_USER, is_id_of },
	{ TASK_FILE, TASK_FILE, is_manifest_of_others, is_manifest },
	{ TASK_FILE, TASK_IMAGE, is_image_of_pod, is_manifest },
	{ TASK_FILE, TASK_INSTALL, is_kubelet_of_pod, is_manifest },
	{ TASK_UNPACK, TASK_ASSET, is_unpacked_from, .sake = FOR_ITS_SAKE },
	{ TASK_INSTALL, TASK_DIR, is_inside },
	{ TASK_PROGRAM, TASK_DIR, is_inside },
	{ TASK_LINK, TASK_DIR, is_inside },
	{ TASK_LINK, TASK_PROGRAM, leads_to },
	{ TASK_INSTALL, TASK_ASSET, is_copy_of, .sake = FOR_ITS_SAKE },
	{ TASK_INSTALL, TASK_UNPACK, may_be_member_of, .sake = FOR_ITS_SAKE_ALONE },
	/* installing a package may start its service, which must then find our settings */
	{ TASK_PACKAGE, TASK_FILE, is_read_by_package },
	{ TASK_PACKAGE, TASK_KEYRING, is_any },
	{ TASK_PACKAGE, TASK_PACKAGE, is_earlier },
	{ TASK_PACKAGE, TASK_ASSET, is_installed_from, .sake = FOR_ITS_SAKE },
	{ TASK_RELOAD, TASK_FILE, is_unit_file },
	{ TASK_RELOAD, TASK_LINK, is_unit_file },
	{ TASK_IMAGE, TASK_ASSET, is_loaded_from, .sake = FOR_ITS_SAKE },
	{ TASK_IMAGE, TASK_UNIT, is_runtime },
	{ TASK_PULL, TASK_UNIT, is_runtime },
	{ TASK_PULL, TASK_FILE, is_mirror_of },
	{ TASK_UNIT, TASK_RELOAD, is_any },
	{ TASK_UNIT, TASK_PROGRAM, is_input },
	{ TASK_UNIT, TASK_DIR, is_started_with },
	{ TASK_UNIT, TASK_FILE, is_read_by },
	{ TASK_UNIT, TASK_SYSCTL, is_started_with },
	{ TASK_UNIT, TASK_MODULE, is_started_with },
	{ TASK_SYSCTL, TASK_MODULE, is_any },
	{ TASK_MODULE, TASK_PACKAGE, is_module_of },
	{ TASK_STRAY, TASK_FILE, is_rules_of },
	{ TASK_STRAY, TASK_LINK, is_mask_of },
	{ TASK_UNIT, TASK_STRAY, is_after_strays },
	{ TASK_UNIT, TASK_USER, is_started_with },
	{ TASK_UNIT, TASK_PACKAGE, runs_with_package },
	{ TASK_DIR, TASK_UNIT, volumes_is_below },
	{ TASK_FILE, TASK_UNIT, volumes_is_below },
	{ TASK_INSTALL, TASK_UNIT, volumes_is_below },
	{ TASK_UNIT, TASK_INSTALL, starts_with_install },
	{ TASK_UNIT, TASK_IMAGE, starts_with_what },
	{ TASK_UNIT, TASK_UNIT, starts_after },
	{ TASK_VOLUME, TASK_PACKAGE, volume_tools_is_for, .sake = FOR_ITS_SAKE },
	{ TASK_UNIT, TASK_VOLUME, is_unit_of_volume },
	{ TASK_STOP, TASK_UNIT, is_moved_onto },
	{ TASK_MOVE, TASK_UNIT, is_moved_onto },
	{ TASK_MOVE, TASK_STOP, is_same_move },
	{ TASK_UNIT, TASK_MOVE, waits_for_move },
	/* a service may use several directories, so it starts again only when all of them are back in place */
	{ TASK_RESUME, TASK_STOP, is_any },
	{ TASK_RESUME, TASK_MOVE, is_any },
	{ TASK_RESUME, TASK_UNIT, is_shown_by },
	{ TASK_UNIT, TASK_RESUME, is_resumed },
	/* kops-controller takes the addresses of this node's pods from that prefix */
	{ TASK_UNIT, TASK_PREFIX, is_kubelet },
	{ TASK_LIFECYCLE, ANY_KIND, is_any },
};

/* Holds the tasks by kind, in the plan's order. */
struct kinds {
	struct task **v[TASK_KIND_MAX];
	size_t n[TASK_KIND_MAX];
};

static struct kinds by_kind(const struct plan *p)
{
	struct kinds k = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		struct task *t = p->tasks[i];

		arena_push(p->arena, k.v[t->kind], k.n[t->kind], t);
	}
	return k;
}

static bool matches(const struct dep_rule *rule, const struct task *t, const struct task *other)
{
	return t != other && rule->which(t, other);
}

static bool is_used(const struct kinds *k, const struct task *t)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		const enum task_kind kind = rules[i].kind;

		if (!rules[i].sake || rules[i].other != t->kind)
			continue;
		for (size_t n = 0; n < k->n[kind]; n++)
			if (matches(&rules[i], k->v[kind][n], t))
				return true;
	}
	return false;
}

/* Drops the assets that nothing uses: kops lists the same assets for every role. Dropping an unpack task may leave
 * its archive unused, so the loop runs until nothing more is dropped. */
void deps_drop_unused(struct plan *p)
{
	size_t before;

	do {
		const struct kinds k = by_kind(p);
		size_t kept = 0;

		before = p->n;
		for (size_t i = 0; i < p->n; i++) {
			struct task *t = p->tasks[i];

			t->unused = (t->kind == TASK_ASSET || t->kind == TASK_UNPACK) &&
				    !is_used(&k, t);
			if (!t->unused || (t->kind == TASK_ASSET && p->req->verify))
				p->tasks[kept++] = t;
		}
		p->n = kept;
	} while (p->n != before);
	for (size_t i = 0; i < p->n; i++)
		p->tasks[i]->index = i;
}

static int compare_indices(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a, *y = *(const struct task *const *)b;

	return (x->index > y->index) - (x->index < y->index);
}

static void join_those(struct plan *p, const struct dep_rule *rule, struct task *t,
		       struct task *const *others, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct task *other = others[i];

		if (!matches(rule, t, other))
			continue;
		if (rule->sake)
			arena_push(p->arena, other->serves, other->n_serves, t);
		if (rule->sake == FOR_ITS_SAKE_ALONE)
			continue;
		arena_push(p->arena, t->needs, t->n_needs, other);
		arena_push(p->arena, other->users, other->n_users, t);
	}
}

/* Looks only at pairs of kinds that have a rule, because there may be thousands of files. */
static void link_task(struct plan *p, const struct kinds *k, struct task *t)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		const struct dep_rule *rule = &rules[i];

		if (rule->kind != t->kind || (rule->only && !rule->only(t)))
			continue;
		if (rule->other == ANY_KIND)
			join_those(p, rule, t, p->tasks, p->n);
		else
			join_those(p, rule, t, k->v[rule->other], k->n[rule->other]);
	}
	if (t->n_needs)
		qsort(t->needs, t->n_needs, sizeof(*t->needs), compare_indices);
}

/* Walks the graph depth first, and remembers the way to report a cycle. */
struct walk {
	struct plan *plan;
	bool *done, *open;
	struct strv way;
};

static int report_cycle(struct walk *w, const struct task *t, struct err *e)
{
	const char *title = task_title(w->plan->arena, t);
	struct strv cycle = { 0 };
	size_t first = 0;

	while (strcmp(w->way.v[first], title) != 0)
		first++;
	for (; first < w->way.n; first++)
		strv_add(w->plan->arena, &cycle, w->way.v[first]);
	strv_add(w->plan->arena, &cycle, title);
	return err_config(e, "these tasks wait for each other: %s",
			  strv_join(w->plan->arena, &cycle, ", "));
}

static int visit(struct walk *w, const struct task *t, struct err *e)
{
	if (w->done[t->index])
		return 0;
	if (w->open[t->index])
		return report_cycle(w, t, e);
	w->open[t->index] = true;
	strv_add(w->plan->arena, &w->way, task_title(w->plan->arena, t));
	for (size_t i = 0; i < t->n_needs; i++) {
		int r = visit(w, t->needs[i], e);

		if (r < 0)
			return r;
	}
	w->way.n--;
	w->done[t->index] = true;
	return 0;
}

static void mark_inputs(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; p->tasks[i]->kind == TASK_UNIT && k < p->tasks[i]->unit.inputs.n;
		     k++) {
			struct task *input = plan_at(p, p->tasks[i]->unit.inputs.v[k]);

			if (!input || input->kind != TASK_FILE)
				continue;
			input->file.of_unit = true;
			input->file.of_packaged |= !is_of_kubernetes(p->tasks[i]);
		}
}

int deps_link(struct plan *p, struct err *e)
{
	struct walk w = {
		.plan = p,
		.done = arena_alloc(p->arena, p->n + 1),
		.open = arena_alloc(p->arena, p->n + 1),
	};
	const struct kinds k = by_kind(p);
	int r = 0;

	mark_inputs(p);
	for (size_t i = 0; i < p->n; i++)
		link_task(p, &k, p->tasks[i]);
	for (size_t i = 0; i < p->n && r == 0; i++)
		r = visit(&w, p->tasks[i], e);
	return r;
}
