#include "nodeup/aws/ec2.h"

#include "nodeup/aws/ec2_xml.h"

enum { PAGES_MAX = 1000 };

static const struct query_service service = { "EC2", ENDPOINT_EC2, "2016-11-15" };

struct query *ec2_new(const struct query_req *req)
{
	struct query_req own = *req;

	own.service = &service;
	return query_new(&own);
}

int ec2_describe_type(struct query *c, struct arena *a, const char *name, struct ec2_type *ret,
		      struct err *e)
{
	struct strmap_item p[] = { { "InstanceType.1", name } };
	const struct xml *answer;
	int r = query_ask(c, a, "DescribeInstanceTypes", STRMAP_OF(p), &answer, e);

	if (r >= 0)
		r = ec2_xml_type(answer, ret, e);
	return r < 0 ? err_wrap(e, "instance type %s", name) : 0;
}

int ec2_describe_volumes(struct query *c, struct arena *a, const struct strv *ids,
			 struct ec2_volumes *ret, struct err *e)
{
	struct ec2_volumes all = { 0 };
	struct strmap p = { 0 };

	strmap_set(a, &p, "MaxResults", "500");
	/* by a filter: of an id that it does not know, EC2 says nothing then, and is no error */
	strmap_set(a, &p, "Filter.1.Name", "volume-id");
	for (size_t i = 0; i < ids->n; i++)
		strmap_set(a, &p, arena_printf(a, "Filter.1.Value.%zu", i + 1), ids->v[i]);
	for (size_t i = 0; i < PAGES_MAX; i++) {
		const struct xml *answer;
		const char *token;
		int r = query_ask(c, a, "DescribeVolumes", &p, &answer, e);

		if (r < 0)
			return r;
		token = ec2_xml_volumes(a, answer, &all);
		if (!token) {
			*ret = all;
			return 0;
		}
		strmap_set(a, &p, "NextToken", token);
	}
	return err_fail(e, ERR_NET, EPROTO, "DescribeVolumes: the list of EC2 has no end");
}

int ec2_assign_prefix(struct query *c, const char *interface, struct err *e)
{
	struct strmap_item p[] = { { "NetworkInterfaceId", interface },
				   { "Ipv6PrefixCount", "1" } };

	return query_ask(c, NULL, "AssignIpv6Addresses", STRMAP_OF(p), NULL, e);
}
