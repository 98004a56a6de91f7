#include "nodeup/tasks/volume_uuid.h"

#include <string.h>
#include "assets/digest.h"

static const char name_space[] = "nodeup volume";

char *volume_uuid(struct arena *a, const char *owner, const char *name)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	struct digest d;
	unsigned char *b = d.bytes;

	digest_update(c, name_space, sizeof(name_space));
	digest_update(c, owner, strlen(owner) + 1);
	digest_update(c, name, strlen(name) + 1);
	digest_final(c, &d);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x50);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	return arena_printf(a,
			    "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
			    b[11], b[12], b[13], b[14], b[15]);
}
