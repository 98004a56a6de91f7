/* help_key.h - what one key of a document means, becomes and accepts
 * Owner: the caller's buffer. Errors: none; false is one. Threads: one.
 * Tests: test_help.py. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/mem.h"

/* Append what each kind of documents has of a key: its name, or its path as messages have it, whatever the case. False: none
 * has it. */
bool help_key(struct arena *a, const char *name, struct buf *b);
