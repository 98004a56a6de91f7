/* nss_stubs.c - the name services and the dynamic loader, refused
 * A static glibc answers these by loading shared libraries of whatever host it runs on, which crashes
 * or lies there.  Libraries we link refer to them; nodeup takes host names from c-ares and users from
 * the files below its root.  Defined here they replace glibc's own: each says "not found".
 * Only static links take this file; the linker's warnings about such functions are errors there.
 * Tests: test_odd_host.py. */
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stddef.h>

/* no stub looks at what it is asked for */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	/* getaddrinfo never returned one. */
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

/* glibc keeps a dlopen of its own for iconv, so this one comes in by ld's --wrap. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}
