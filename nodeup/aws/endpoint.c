#include "nodeup/aws/endpoint.h"

#include <stdlib.h>
#include <string.h>

/* source: botocore's endpoints.json, dnsSuffix of each partition */
/* clang-format off */
static const struct {
	const char *region_prefix, *domain;
} partitions[] = {
	{ "cn-",      "amazonaws.com.cn" },
	{ "us-iso-",  "c2s.ic.gov" },
	{ "us-isob-", "sc2s.sgov.gov" },
	{ "us-isof-", "csp.hci.ic.gov" },
	{ "eusc-",    "amazonaws.eu" },
	{ "",         "amazonaws.com" },
};
/* clang-format on */

const char *endpoint_domain(const char *region)
{
	for (size_t i = 0;; i++)
		if (str_has_prefix(region, partitions[i].region_prefix))
			return partitions[i].domain;
}

static const struct endpoint services[] = {
	[ENDPOINT_EC2] = { "ec2", "EC2", "2016-11-15", "AWS_ENDPOINT_URL_EC2" },
	[ENDPOINT_AUTO_SCALING] = { "autoscaling", "Auto Scaling", "2011-01-01",
				    "AWS_ENDPOINT_URL_AUTO_SCALING" },
	[ENDPOINT_CLOUDFORMATION] = { "cloudformation", "CloudFormation", "2010-05-15",
				      "AWS_ENDPOINT_URL_CLOUDFORMATION" },
};

const struct endpoint *endpoint_row(enum endpoint_service service)
{
	return &services[service];
}

enum endpoint_service endpoint_named(const char *name)
{
	size_t i = ARRAY_LEN(services) - 1;

	while (i > 0 && strcmp(services[i].name, name) != 0)
		i--;
	return (enum endpoint_service)i;
}

char *endpoint_of(struct arena *a, enum endpoint_service service, const char *region)
{
	const char *given = getenv(services[service].variable);
	size_t n;

	if (str_is_empty(given))
		given = getenv("AWS_ENDPOINT_URL");
	if (str_is_empty(given))
		return arena_printf(a, "https://%s.%s.%s", services[service].name, region,
				    endpoint_domain(region));
	for (n = strlen(given); n && given[n - 1] == '/';)
		n--;
	return arena_printf(a, "%s%.*s", strstr(given, "://") ? "" : "https://", (int)n, given);
}
