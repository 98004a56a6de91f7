/* kops.h - take over the cache of a kops that ran here before
 * kops 1.8 keeps DIR/<algo>:<hex>_<URL with odd characters made '_'>. Such a file becomes the entry
 * of its digest by rename; it has no record, so it is hashed before it is used.
 * Owner: none. Errors: none; what cannot be taken over is fetched. Threads: all functions.
 * Source: kops 1.8.1 upup/pkg/fi/assetstore.go, upup/pkg/fi/http.go. */
#pragma once

#include "assets/cache/cache.h"

/* Take over what is there, but for what the cache has already. How many files. */
size_t cache_adopt_kops(struct cache *c);
