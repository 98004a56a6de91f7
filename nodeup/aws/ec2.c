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

static int describe_instances(struct query *c, struct arena *a, const struct strv *ids,
			      const struct xml **ret, struct err *e)
{
	struct strmap p = { 0 };

	for (size_t i = 0; i < ids->n; i++)
		strmap_set(a, &p, arena_printf(a, "InstanceId.%zu", i + 1), ids->v[i]);
	return query_ask(c, a, "DescribeInstances", &p, ret, e);
}

int ec2_describe_instance(struct query *c, struct arena *a, const char *id,
			  struct ec2_instance *ret, struct err *e)
{
	struct strv ids = { &id, 1 };
	const struct xml *answer;
	int r = describe_instances(c, a, &ids, &answer, e);

	if (r >= 0)
		r = ec2_xml_instance(a, answer, ret, e);
	return r < 0 ? err_wrap(e, "instance %s", id) : 0;
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

int ec2_describe_addresses(struct query *c, struct arena *a, const struct strv *ids,
			   struct strmap *ret, struct err *e)
{
	const struct xml *answer;
	int r = describe_instances(c, a, ids, &answer, e);

	if (r >= 0)
		ec2_xml_addresses(a, answer, ret);
	return r;
}

static struct strmap filter_parameters(struct arena *a, const struct ec2_filters *filters)
{
	struct strmap p = { 0 };

	strmap_set(a, &p, "MaxResults", "500");
	for (size_t i = 0; i < filters->n; i++) {
		const struct ec2_filter *f = &filters->v[i];
		const char *at = arena_printf(a, "Filter.%zu", i + 1);

		strmap_set(a, &p, arena_printf(a, "%s.Name", at), f->name);
		for (size_t k = 0; k < f->values.n; k++)
			strmap_set(a, &p, arena_printf(a, "%s.Value.%zu", at, k + 1),
				   f->values.v[k]);
	}
	return p;
}

int ec2_describe_volumes(struct query *c, struct arena *a, const struct ec2_filters *filters,
			 struct ec2_volumes *ret, struct err *e)
{
	struct strmap p = filter_parameters(a, filters);
	struct ec2_volumes all = { 0 };

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

int ec2_attach(struct query *c, const char *volume, const char *instance, const char *device,
	       struct err *e)
{
	struct strmap_item p[] = { { "VolumeId", volume },
				   { "InstanceId", instance },
				   { "Device", device } };

	return query_ask(c, NULL, "AttachVolume", STRMAP_OF(p), NULL, e);
}

int ec2_detach(struct query *c, const char *volume, const char *instance, struct err *e)
{
	struct strmap_item p[] = { { "VolumeId", volume }, { "InstanceId", instance } };

	return query_ask(c, NULL, "DetachVolume", STRMAP_OF(p), NULL, e);
}

int ec2_assign_prefix(struct query *c, const char *interface, struct err *e)
{
	struct strmap_item p[] = { { "NetworkInterfaceId", interface },
				   { "Ipv6PrefixCount", "1" } };

	return query_ask(c, NULL, "AssignIpv6Addresses", STRMAP_OF(p), NULL, e);
}
