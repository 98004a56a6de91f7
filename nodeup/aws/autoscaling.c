#include "nodeup/aws/autoscaling.h"

#include "nodeup/aws/query.h"
#include "nodeup/aws/xml.h"

static const struct query_service service = { "Auto Scaling", ENDPOINT_AUTO_SCALING, "2011-01-01" };

/* Whether the group has it: 1 or 0. */
static int has_hook(struct query *q, struct arena *a, const struct autoscaling_hook *hook,
		    struct err *e)
{
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	char *text = query_parameter(a, "", "AutoScalingGroupName", hook->group);
	const struct xml *answer, *hooks;
	bool whole;
	int r;

	text = query_parameter(a, text, "LifecycleHookNames.member.1", hook->name);
	r = query_ask(q, "DescribeLifecycleHooks", text, &body, e);
	if (r < 0)
		return r;
	answer = xml_parse(a, buf_str(&body), body.len, &whole);
	hooks = xml_get(xml_get(answer, "DescribeLifecycleHooksResult"), "LifecycleHooks");
	if (!whole || !hooks)
		return err_fail(
			e, ERR_NET, EPROTO,
			"the answer is not a DescribeLifecycleHooksResponse of Auto Scaling");
	return hooks->first != NULL;
}

static int complete(struct query *q, struct arena *a, const struct autoscaling_hook *hook,
		    struct err *e)
{
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	char *text = query_parameter(a, "", "AutoScalingGroupName", hook->group);
	int r;

	text = query_parameter(a, text, "InstanceId", hook->instance);
	text = query_parameter(a, text, "LifecycleHookName", hook->name);
	text = query_parameter(a, text, "LifecycleActionResult", "CONTINUE");
	r = query_ask(q, "CompleteLifecycleAction", text, &body, e);
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
		r = complete(q, a, hook, e);
	query_free(q);
	return r < 0 ? err_wrap(e, "group %s, hook %s", hook->group, hook->name) : r;
}
