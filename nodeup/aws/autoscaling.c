#include "nodeup/aws/autoscaling.h"

#include "nodeup/aws/query.h"

int autoscaling_has_hook(struct http *http, struct imds *imds, const struct autoscaling_hook *hook,
			 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct query *q = query_new(&(struct query_req){ .service = ENDPOINT_AUTO_SCALING,
							 .http = http,
							 .imds = imds,
							 .region = hook->region });
	struct strmap_item p[] = { { "AutoScalingGroupName", hook->group },
				   { "LifecycleHookNames.member.1", hook->name } };
	const struct xml *answer, *hooks;
	int r = query_ask(q, a, "DescribeLifecycleHooks", STRMAP_OF(p), &answer, e);

	query_free(q);
	if (r < 0)
		return r;
	hooks = xml_get(xml_get(answer, "DescribeLifecycleHooksResult"), "LifecycleHooks");
	if (!hooks)
		return err_fail(
			e, ERR_NET, EPROTO,
			"the answer is not a DescribeLifecycleHooksResponse of Auto Scaling");
	return hooks->first != NULL;
}
