/* quantity.h - an amount of Kubernetes as a plain decimal number
 * Documents write 500m or 2k; programs that take a number want 0.500 or 2000.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: k8s.io/apimachinery pkg/api/resource/quantity.go, AsDec.
 * Tests: test_quantity.c. */
#pragma once

#include "nodeup/base/mem.h"

/* The number that a valid quantity (format_quantity) means; a text that is too long to be one comes back as it is. */
const char *quantity_decimal(struct arena *a, const char *text);
