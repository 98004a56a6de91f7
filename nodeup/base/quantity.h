/* quantity.h - Kubernetes' amounts as plain decimal numbers
 * Documents write 500m or 2k; programs that take a number want 0.500 or 2000.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: k8s.io/apimachinery pkg/api/resource/quantity.go, AsDec.
 * Tests: test_quantity.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Returns the number of a valid quantity (format_quantity). A text that is too long is returned unchanged. */
const char *quantity_decimal(struct arena *a, const char *text);
