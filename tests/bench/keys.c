/* keys N: makes so many RSA keys, and keeps none. */
#include <openssl/evp.h>
#include <stdlib.h>

#include "nodeup/config/rsa.h"

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--) {
		EVP_PKEY *key = rsa_new_key();

		if (!key)
			return 1;
		EVP_PKEY_free(key);
	}
	return 0;
}
