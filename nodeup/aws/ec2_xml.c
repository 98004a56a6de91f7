#include "nodeup/aws/ec2_xml.h"

#include <stdlib.h>
#include <string.h>

static void read_tags(struct arena *a, const struct xml *x, struct strmap *tags)
{
	for (const struct xml *tag = xml_items(x, "tagSet"); tag; tag = tag->next)
		strmap_set(a, tags, xml_text(tag, "key"), xml_text(tag, "value"));
}

static void read_devices(struct arena *a, const struct xml *x, struct strv *devices)
{
	for (const struct xml *d = xml_items(x, "blockDeviceMapping"); d; d = d->next)
		if (*xml_text(d, "deviceName"))
			strv_add(a, devices, xml_text(d, "deviceName"));
}

int ec2_xml_instance(struct arena *a, const struct xml *answer, struct ec2_instance *ret,
		     struct err *e)
{
	const struct xml *x = xml_items(xml_items(answer, "reservationSet"), "instancesSet");
	struct ec2_instance i = { 0 };

	if (!x)
		return err_fail(e, ERR_NET, ENOENT, "EC2 does not know this instance, or not yet");
	i.id = xml_text(x, "instanceId");
	i.zone = xml_text(xml_get(x, "placement"), "availabilityZone");
	i.private_ip = xml_text(x, "privateIpAddress");
	read_tags(a, x, &i.tags);
	read_devices(a, x, &i.devices);
	*ret = i;
	return 0;
}

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

void ec2_xml_addresses(struct arena *a, const struct xml *answer, struct strmap *ret)
{
	for (const struct xml *res = xml_items(answer, "reservationSet"); res; res = res->next)
		for (const struct xml *i = xml_items(res, "instancesSet"); i; i = i->next)
			if (*xml_text(i, "privateIpAddress"))
				strmap_set(a, ret, xml_text(i, "instanceId"),
					   xml_text(i, "privateIpAddress"));
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

static struct ec2_volume read_volume(struct arena *a, const struct xml *x)
{
	const struct xml *all = xml_items(x, "attachmentSet"), *at = all;
	struct ec2_volume v = {
		.id = xml_text(x, "volumeId"),
		.zone = xml_text(x, "availabilityZone"),
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
	read_tags(a, x, &v.tags);
	return v;
}

const char *ec2_xml_volumes(struct arena *a, const struct xml *answer, struct ec2_volumes *ret)
{
	const char *token = xml_text(answer, "nextToken");

	for (const struct xml *x = xml_items(answer, "volumeSet"); x; x = x->next)
		arena_push(a, ret->v, ret->n, read_volume(a, x));
	return *token ? token : NULL;
}
