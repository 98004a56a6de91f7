#include "assets/http/http.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/io.h"

/* Paths of each distribution's root certificates: a bundle in one file, and a folder with the same roots, each in a
 * file named by the hash of its subject. Folders without a bundle come last. Source: Go's crypto/x509/root_linux.go;
 * update-ca-certificates(8), update-ca-trust(8). */
static const struct http_ca places[] = {
	/* Debian, Flatcar, COS, Alpine */
	{ "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs" },
	/* RHEL, Amazon Linux, Rocky */
	{ "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/directory-hash" },
	/* RHEL 10, Fedora */
	{ "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	  "/etc/pki/ca-trust/extracted/pem/directory-hash" },
	/* SUSE, MicroOS */
	{ "/etc/ssl/ca-bundle.pem", "/etc/ssl/certs" },
	{ "/var/lib/ca-certificates/ca-bundle.pem", "/var/lib/ca-certificates/pem" },
	{ "/etc/pki/tls/cacert.pem", NULL },
	/* Alpine */
	{ "/etc/ssl/cert.pem", "/etc/ssl/certs" },
	/* Flatcar before tmpfiles ran */
	{ "/usr/share/ca-certificates/ca-certificates.crt", NULL },
	{ NULL, "/etc/ssl/certs" },
	{ NULL, "/etc/pki/tls/certs" },
};

/* A dangling link or an empty file is no bundle. */
static bool is_usable(int root_fd, const char *path, bool is_dir)
{
	autoclose int fd = -1;
	struct stat st;
	struct err e;

	if (is_dir)
		return io_open(root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &e) == 0;
	return io_open_file(root_fd, path, &fd, &e) == 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

struct http_ca http_find_ca(struct arena *a, int root_fd)
{
	static const char *const variables[] = { "SSL_CERT_FILE", "AWS_CA_BUNDLE" };

	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *path = getenv(variables[i]);

		/* a person named this file, so the error must show if it is broken */
		if (!str_is_empty(path))
			return (struct http_ca){ .bundle = arena_str(a, path) };
	}
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const struct http_ca *p = &places[i];
		const bool has_folder = p->folder && is_usable(root_fd, p->folder, true);

		if (p->bundle ? is_usable(root_fd, p->bundle, false) : has_folder)
			return (struct http_ca){ p->bundle, has_folder ? p->folder : NULL };
	}
	return (struct http_ca){ 0 };
}
