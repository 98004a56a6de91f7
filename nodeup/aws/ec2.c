#include "nodeup/aws/ec2.h"

#include <stdlib.h>
#include "nodeup/aws/ec2_xml.h"
#include "nodeup/aws/query.h"

enum { PAGES_MAX = 1000 };

static const struct query_service service = { "EC2", ENDPOINT_EC2, "2016-11-15" };

struct ec2 {
	struct query *query;
};

struct ec2 *ec2_new(const struct ec2_req *req)
{
	struct ec2 *c = xcalloc(1, sizeof(*c));

	c->query = query_new(&(struct query_req){
		.service = &service, .http = req->http, .imds = req->imds, .region = req->region });
	return c;
}

void ec2_free(struct ec2 *c)
{
	if (!c)
		return;
	query_free(c->query);
	free(c);
}

void ec2_set_deadline(struct ec2 *c, int64_t deadline_ns)
{
	query_set_deadline(c->query, deadline_ns);
}

const char *ec2_who(struct ec2 *c, struct arena *a)
{
	return query_who(c->query, a);
}

static char *describe_instances(struct arena *a, const struct strv *ids)
{
	char *text = arena_str(a, "");

	for (size_t i = 0; i < ids->n; i++)
		text = query_parameter(a, text, arena_printf(a, "InstanceId.%zu", i + 1),
				       ids->v[i]);
	return text;
}

int ec2_describe_instance(struct ec2 *c, struct arena *a, const char *id, struct ec2_instance *ret,
			  struct err *e)
{
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	struct strv ids = { &id, 1 };
	int r = query_ask(c->query, "DescribeInstances", describe_instances(a, &ids), &body, e);

	if (r >= 0)
		r = ec2_xml_instance(a, buf_str(&body), body.len, ret, e);
	return r < 0 ? err_wrap(e, "instance %s", id) : 0;
}

int ec2_describe_type(struct ec2 *c, struct arena *a, const char *name, struct ec2_type *ret,
		      struct err *e)
{
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	int r = query_ask(c->query, "DescribeInstanceTypes",
			  query_parameter(a, "", "InstanceType.1", name), &body, e);

	if (r >= 0)
		r = ec2_xml_type(a, buf_str(&body), body.len, ret, e);
	return r < 0 ? err_wrap(e, "instance type %s", name) : 0;
}

int ec2_describe_addresses(struct ec2 *c, struct arena *a, const struct strv *ids,
			   struct strmap *ret, struct err *e)
{
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	int r = query_ask(c->query, "DescribeInstances", describe_instances(a, ids), &body, e);

	return r < 0 ? r : ec2_xml_addresses(a, buf_str(&body), body.len, ret, e);
}

static char *filter_parameters(struct arena *a, const struct ec2_filters *filters)
{
	char *text = arena_str(a, "&MaxResults=500");

	for (size_t i = 0; i < filters->n; i++) {
		const struct ec2_filter *f = &filters->v[i];
		const char *at = arena_printf(a, "Filter.%zu", i + 1);

		text = query_parameter(a, text, arena_printf(a, "%s.Name", at), f->name);
		for (size_t k = 0; k < f->values.n; k++)
			text = query_parameter(a, text, arena_printf(a, "%s.Value.%zu", at, k + 1),
					       f->values.v[k]);
	}
	return text;
}

int ec2_describe_volumes(struct ec2 *c, struct arena *a, const struct ec2_filters *filters,
			 struct ec2_volumes *ret, struct err *e)
{
	char *text = filter_parameters(a, filters), *page = text;
	struct ec2_volumes all = { 0 };
	const char *token = NULL;

	for (size_t i = 0; i < PAGES_MAX; i++) {
		autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
		int r = query_ask(c->query, "DescribeVolumes", page, &body, e);

		if (r >= 0)
			r = ec2_xml_volumes(a, buf_str(&body), body.len, &all, &token, e);
		if (r < 0)
			return r;
		if (!token) {
			*ret = all;
			return 0;
		}
		page = query_parameter(a, text, "NextToken", token);
	}
	return err_fail(e, ERR_NET, EPROTO, "DescribeVolumes: the list of EC2 has no end");
}

int ec2_attach(struct ec2 *c, const char *volume, const char *instance, const char *device,
	       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	char *text = query_parameter(a, "", "VolumeId", volume);

	text = query_parameter(a, text, "InstanceId", instance);
	text = query_parameter(a, text, "Device", device);
	return query_ask(c->query, "AttachVolume", text, &body, e);
}

int ec2_detach(struct ec2 *c, const char *volume, const char *instance, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	char *text = query_parameter(a, "", "VolumeId", volume);

	text = query_parameter(a, text, "InstanceId", instance);
	return query_ask(c->query, "DetachVolume", text, &body, e);
}

int ec2_assign_prefix(struct ec2 *c, const char *interface, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf body = BUF_INIT(QUERY_ANSWER_MAX);
	char *text = query_parameter(a, "", "NetworkInterfaceId", interface);

	text = query_parameter(a, text, "Ipv6PrefixCount", "1");
	return query_ask(c->query, "AssignIpv6Addresses", text, &body, e);
}
