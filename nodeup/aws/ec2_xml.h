/* ec2_xml.h - EC2's answers as values
 * Owner: the arena. Errors: NET (EPROTO) for text that is not such an answer. Threads: all functions.
 * Source: Amazon EC2 API reference, DescribeInstances, DescribeInstanceTypes and DescribeVolumes. */
#pragma once

#include "nodeup/aws/ec2.h"

/* The only instance of a DescribeInstancesResponse; ENOENT if there is none. */
int ec2_xml_instance(struct arena *a, const char *xml, size_t n, struct ec2_instance *ret,
		     struct err *e) must_check;
/* The only type of a DescribeInstanceTypesResponse; ENOENT if there is none. */
int ec2_xml_type(struct arena *a, const char *xml, size_t n, struct ec2_type *ret,
		 struct err *e) must_check;
/* Id and private address of each instance of one page. */
int ec2_xml_addresses(struct arena *a, const char *xml, size_t n, struct strmap *ret,
		      struct err *e) must_check;
/* One page: appends; *ret_token is NULL on the last. */
int ec2_xml_volumes(struct arena *a, const char *xml, size_t n, struct ec2_volumes *ret,
		    const char **ret_token, struct err *e) must_check;
