#include "nodeup/aws/autoscaling.h"

#include "nodeup/aws/query.h"

static const struct query_service service = { "Auto Scaling", ENDPOINT_AUTO_SCALING, "2011-01-01" };

/* Returns whether the group has the hook: 1 or 0. */
static int has_hook(struct query *q, struct arena *a, const struct autoscaling_hook *hook,
		    struct err *e)
{
	struct strmap_item p[] = { { "AutoScalingGroupName", hook->group },
				   { "LifecycleHookNames.member.1", hook->name } };
	const struct xml *answer, *hooks;
	int r = query_ask(q, a, "DescribeLifecycleHooks", STRMAP_OF(p), &answer, e);

	if (r < 0)
		return r;
	hooks = xml_get(xml_get(answer, "DescribeLifecycleHooksResult"), "LifecycleHooks");
	if (!hooks)
		return err_fail(
			e, ERR_NET, EPROTO,
			"the answer is not a DescribeLifecycleHooksResponse of Auto Scaling");
	return hooks->first != NULL;
}

static int complete(struct query *q, const struct autoscaling_hook *hook, struct err *e)
{
	struct strmap_item p[] = { { "AutoScalingGroupName", hook->group },
				   { "InstanceId", hook->instance },
				   { "LifecycleHookName", hook->name },
				   { "LifecycleActionResult", "CONTINUE" } };
	int r = query_ask(q, NULL, "CompleteLifecycleAction", STRMAP_OF(p), NULL, e);

	if (r == -ESRCH)
		return 0;
	return r < 0 ? r : 1;
}

int autoscaling_go_on(struct http *http, struct imds *imds, const struct autoscaling_hook *hook,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct query *q = query_new(&(struct query_req){
		.service = &service, .http = http, .imds = imds, .region = hook->region });
	int r = has_hook(q, a, hook, e);

	if (r > 0)
		r = complete(q, hook, e);
	query_free(q);
	return r < 0 ? err_wrap(e, "group %s, hook %s", hook->group, hook->name) : r;
}
