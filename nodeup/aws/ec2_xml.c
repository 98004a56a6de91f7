#include "nodeup/aws/ec2_xml.h"

#include <stdlib.h>
#include <string.h>

static int64_t number_of(const struct xml *x, const char *name)
{
	return strtoll(xml_text(x, name), NULL, 10);
}

int ec2_xml_type(const struct xml *answer, struct ec2_type *ret, struct err *e)
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

/* One more instance that has it, and is not about to lose it; "" for none. */
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

	/* one that was released stays listed for a while, before the one that is */
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

const char *ec2_xml_volumes(struct arena *a, const struct xml *answer, struct ec2_volumes *ret)
{
	const char *token = xml_text(answer, "nextToken");

	for (const struct xml *x = xml_items(answer, "volumeSet"); x; x = x->next)
		arena_push(a, ret->v, ret->n, read_volume(x));
	return *token ? token : NULL;
}
