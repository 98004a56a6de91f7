/* ec2_xml.h - EC2's answers as values
 * Owner: the arena. Errors: NET. Threads: all functions.
 * Source: Amazon EC2 API reference, DescribeInstanceTypes and DescribeVolumes.
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/aws/ec2.h"
#include "nodeup/aws/xml.h"

/* The only type of a DescribeInstanceTypesResponse; ENOENT if there is none. */
int ec2_xml_type(const struct xml *answer, struct ec2_type *ret, struct err *e) must_check;
/* Appends one page. Returns the token that asks for the next one; NULL: it was the last. */
const char *ec2_xml_volumes(struct arena *a, const struct xml *answer, struct ec2_volumes *ret);
