#include "assets/http/http.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/io.h"

/* Where distributions keep their bundle of roots, as one file; directories of hashed names last.
 * Source: Go's crypto/x509/root_linux.go. */
static const struct {
	const char *path;
	bool is_dir;
} places[] = {
	{ "/etc/ssl/certs/ca-certificates.crt", false }, /* Debian, Flatcar, COS, Alpine */
	{ "/etc/pki/tls/certs/ca-bundle.crt", false },   /* RHEL, Amazon Linux, Rocky */
	{ "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", false }, /* RHEL 10, Fedora */
	{ "/etc/ssl/ca-bundle.pem", false },                            /* SUSE */
	{ "/var/lib/ca-certificates/ca-bundle.pem", false },            /* SUSE, MicroOS */
	{ "/etc/pki/tls/cacert.pem", false },
	{ "/etc/ssl/cert.pem", false }, /* Alpine */
	{ "/usr/share/ca-certificates/ca-certificates.crt",
	  false }, /* Flatcar before tmpfiles ran */
	{ "/etc/ssl/certs", true },
	{ "/etc/pki/tls/certs", true },
};

/* Neither a dangling link nor an empty file is a bundle. */
static bool is_usable(int root_fd, const char *path, bool is_dir)
{
	autoclose int fd = -1;
	struct stat st;
	struct err e;

	if (is_dir)
		return io_open(root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &e) == 0;
	return io_open_file(root_fd, path, &fd, &e) == 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

const char *http_find_ca(struct arena *a, int root_fd, bool *ret_is_dir)
{
	static const char *const variables[] = { "SSL_CERT_FILE", "AWS_CA_BUNDLE" };

	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *path = getenv(variables[i]);

		/* named by a person: if it is broken, that is an error to show, not to work around */
		if (!str_is_empty(path)) {
			*ret_is_dir = false;
			return arena_str(a, path);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (is_usable(root_fd, places[i].path, places[i].is_dir)) {
			*ret_is_dir = places[i].is_dir;
			return arena_str(a, places[i].path);
		}
	return NULL;
}
