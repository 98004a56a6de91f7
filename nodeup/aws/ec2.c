#include "nodeup/aws/ec2.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_MAX = 1000 };

static int64_t number_of(const struct xml *x, const char *name)
{
	return strtoll(xml_text(x, name), NULL, 10);
}

/* Reads the only type of a DescribeInstanceTypesResponse; ENOENT if there is none. */
static int read_type(const struct xml *answer, struct ec2_type *ret, struct err *e)
{
	const struct xml *x = xml_items(answer, "instanceTypeSet");
	const struct xml *network = xml_get(x, "networkInfo");

	if (!x)
		return err_fail(e, ERR_NET, ENOENT, "EC2 does not know this type");
	*ret = (struct ec2_type){ .enis = number_of(network, "maximumNetworkInterfaces"),
				  .ips_per_eni = number_of(network, "ipv4AddressesPerInterface") };
	for (const struct xml *gpu = xml_items(xml_get(x, "gpuInfo"), "gpus"); gpu; gpu = gpu->next)
		if (str_eq(xml_text(gpu, "manufacturer"), "NVIDIA"))
			ret->gpus += number_of(gpu, "count");
	return 0;
}

/* Returns another instance that has the volume and is not about to lose it; "": there is none. */
static const char *find_other(const struct xml *attachments, const char *instance)
{
	for (const struct xml *at = attachments; at; at = at->next) {
		const char *id = xml_text(at, "instanceId"), *status = xml_text(at, "status");

		if (*id && !str_eq(id, instance) && !str_eq(status, "detached") &&
		    !str_eq(status, "detaching"))
			return id;
	}
	return "";
}

static struct ec2_volume read_volume(const struct xml *x)
{
	const struct xml *all = xml_items(x, "attachmentSet"), *at = all;
	struct ec2_volume v = {
		.id = xml_text(x, "volumeId"),
		.state = xml_text(x, "status"),
		.multi_attach = str_eq(xml_text(x, "multiAttachEnabled"), "true"),
	};

	/* a released attachment stays in the list for a while, in front of the present one */
	while (at && at->next && str_eq(xml_text(at, "status"), "detached"))
		at = at->next;
	if (at && str_eq(xml_text(at, "status"), "detached"))
		at = NULL;
	v.instance = xml_text(at, "instanceId");
	v.device = xml_text(at, "device");
	v.attachment = xml_text(at, "status");
	v.other = *v.instance ? find_other(all, v.instance) : "";
	return v;
}

/* Appends one page. Returns the token that asks for the next page; NULL: this was the last page. */
static const char *add_page(struct arena *a, const struct xml *answer, struct ec2_volumes *ret)
{
	const char *token = xml_text(answer, "nextToken");

	for (const struct xml *x = xml_items(answer, "volumeSet"); x; x = x->next)
		arena_push(a, ret->v, ret->n, read_volume(x));
	return *token ? token : NULL;
}

struct query *ec2_new(const struct query_req *req)
{
	struct query_req own = *req;

	own.service = ENDPOINT_EC2;
	return query_new(&own);
}

int ec2_describe_type(struct query *c, struct arena *a, const char *name, struct ec2_type *ret,
		      struct err *e)
{
	struct strmap_item p[] = { { "InstanceType.1", name } };
	const struct xml *answer;
	int r = query_ask(c, a, "DescribeInstanceTypes", STRMAP_OF(p), &answer, e);

	if (r >= 0)
		r = read_type(answer, ret, e);
	return r < 0 ? err_wrap(e, "instance type %s", name) : 0;
}

int ec2_describe_volumes(struct query *c, struct arena *a, const struct strv *ids,
			 struct ec2_volumes *ret, struct err *e)
{
	struct ec2_volumes all = { 0 };
	struct strmap p = { 0 };

	strmap_set(a, &p, "MaxResults", "500");
	/* asks with a filter, since for an unknown id EC2 then gives an empty answer instead of an error */
	strmap_set(a, &p, "Filter.1.Name", "volume-id");
	for (size_t i = 0; i < ids->n; i++)
		strmap_set(a, &p, arena_printf(a, "Filter.1.Value.%zu", i + 1), ids->v[i]);
	for (size_t i = 0; i < PAGES_MAX; i++) {
		const struct xml *answer;
		const char *token;
		int r = query_ask(c, a, "DescribeVolumes", &p, &answer, e);

		if (r < 0)
			return r;
		token = add_page(a, answer, &all);
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
