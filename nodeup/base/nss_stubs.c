/* nss_stubs.c - replaces glibc's name services and dynamic loader by stubs that refuse
 * A static glibc answers such lookups by loading shared libraries of the host, which crashes or gives wrong answers.
 * nodeup takes host names from c-ares and users from files below its root, but libraries that we link refer to these
 * functions. These stubs replace glibc's functions; each says "not found". Only static links use this file; the
 * linker's warnings about such functions are errors there.
 * Tests: test_odd_host.py. */
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stddef.h>

/* no stub reads its arguments */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	/* getaddrinfo never returned a result, so there is nothing to free. */
}

int getnameinfo(const struct sockaddr *sa, socklen_t n, char *host, socklen_t host_n, char *service,
		socklen_t service_n, int flags)
{
	return EAI_FAIL;
}

struct hostent *gethostbyname(const char *name)
{
	return NULL;
}

struct servent *getservbyname(const char *name, const char *proto)
{
	return NULL;
}

int getservbyport_r(int port, const char *proto, struct servent *storage, char *buf, size_t n,
		    struct servent **ret)
{
	*ret = NULL;
	return ENOENT;
}

struct passwd *getpwnam(const char *name)
{
	errno = ENOENT;
	return NULL;
}

struct passwd *getpwuid(uid_t uid)
{
	errno = ENOENT;
	return NULL;
}

int getpwuid_r(uid_t uid, struct passwd *storage, char *buf, size_t n, struct passwd **ret)
{
	*ret = NULL;
	return ENOENT;
}

struct group *getgrnam(const char *name)
{
	errno = ENOENT;
	return NULL;
}

struct group *getgrgid(gid_t gid)
{
	errno = ENOENT;
	return NULL;
}

int getgrgid_r(gid_t gid, struct group *storage, char *buf, size_t n, struct group **ret)
{
	*ret = NULL;
	return ENOENT;
}

/* glibc has an internal dlopen for iconv; ld's --wrap makes its callers use this function. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}
