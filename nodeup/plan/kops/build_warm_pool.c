/* Tests: test_kops_user.py. */
#include "nodeup/plan/kops/containerd.h"

/* Completes the lifecycle hook that kops makes for every instance that starts. The group waits for the hook when the
 * instance enters the pool, and again when it enters service. An instance that never completes the hook is
 * terminated. source: kops 1.37 upup/pkg/fi/nodeup/command.go completeWarmingLifecycleAction */
static void add_hook(struct plan *p)
{
	const struct kops_node *own = kops_of(p);
	const struct facts *f = p->req->facts;

	if (!own->config->enable_lifecycle_hook || !f->instance_id)
		return;
	plan_new_task(p, TASK_LIFECYCLE, "kops-warmpool")->lifecycle = (struct task_lifecycle){
		.group = arena_printf(p->arena, "%s.%s", own->boot->instance_group_name,
				      own->config->cluster_name),
		.instance = f->instance_id,
		.region = f->region,
		.state = f->target_lifecycle_state,
	};
}

/* source: kops 1.37 nodeup/pkg/model/warm_pool.go */
void build_kops_warm_pool(struct plan *p)
{
	const struct strv *images = &kops_of(p)->config->warm_pool_images;
	struct strv seen = { 0 };

	for (size_t i = 0; kops_is_warming(p) && i < images->n; i++) {
		if (strv_has(&seen, images->v[i]))
			continue;
		strv_add(p->arena, &seen, images->v[i]);
		plan_new_task(p, TASK_PULL, images->v[i])->pull.hosts = kops_registry_dir(p);
	}
	add_hook(p);
}
