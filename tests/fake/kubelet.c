/* kubelet stand-in: check flags, kubeconfig, CNI plugins, docker and manifests, then answer /healthz
 * until killed.  A manifest that appears or changes later is checked too, so that a half-written one
 * is seen. */
#include "tests/fake/kubelet.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void die(const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "F kubelet stand-in: ");
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* kubenet runs these three, any other network the last one, from the directories the flags name. */
static void check_plugins(void)
{
	static const char *const names[] = { "bridge", "host-local", "loopback" };
	const char *plugin = flag_value("network-plugin");
	const char *dirs[] = { flag_value("cni-bin-dir"), flag_value("network-plugin-dir") };

	if (!*plugin)
		return;
	if (strcmp(plugin, "kubenet") != 0 && strcmp(plugin, "cni") != 0)
		die("network plugin \"%s\" not found", plugin);
	for (size_t i = strcmp(plugin, "cni") == 0 ? 2 : 0; i < 3; i++) {
		bool found = false;

		for (size_t d = 0; d < 2; d++) {
			char path[4096];

			(void)snprintf(path, sizeof(path), "%s/%s", dirs[d], names[i]);
			found = found || (*dirs[d] && access(path, X_OK) == 0);
		}
		if (!found)
			die("network plugin %s: no \"%s\" in \"%s\" or \"%s\"", plugin, names[i],
			    dirs[0], dirs[1]);
	}
}

static void check_manifests(void)
{
	const char *dir = flag_value("pod-manifest-path");
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (!*dir || stat(dir, &st) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		pod_check(dir);
		return;
	}
	d = opendir(dir);
	if (!d)
		die("%s: %m", dir);
	while ((entry = readdir(d))) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] == '.' || stat(path, &st) < 0 || S_ISDIR(st.st_mode))
			continue;
		pod_check(path);
	}
	(void)closedir(d);
}

/* docker is asked; of another runtime, which speaks gRPC, it is enough that it takes the call. */
static bool answers(const char *path, bool docker)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char request[] = "GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n";
	char reply[512] = "";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path))
		die("runtime endpoint %s: %m", path);
	(void)memcpy(addr.sun_path, path, strlen(path) + 1);
	ok = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;
	if (docker)
		ok = ok && write(fd, request, sizeof(request) - 1) > 0 &&
		     read(fd, reply, sizeof(reply) - 1) > 0 && strstr(reply, " 200 ");
	(void)close(fd);
	return ok;
}

/* The real one retries for two minutes; fifteen seconds are enough to see a restart. */
static void check_runtime(void)
{
	const char *runtime = flag_value("container-runtime");
	const bool docker = strcmp(runtime, "docker") == 0;
	const char *endpoint =
		flag_value(docker ? "docker-endpoint" : "container-runtime-endpoint");
	double end = now() + 15;

	if (!docker && strcmp(runtime, "remote") != 0)
		die("unsupported container runtime \"%s\"", runtime);
	if (strncmp(endpoint, "unix://", 7) != 0)
		die("%s endpoint %s: not a unix socket", runtime, endpoint);
	while (!answers(endpoint + 7, docker)) {
		if (now() > end)
			die("cannot connect to the %s daemon at %s", runtime, endpoint);
		(void)usleep(200000);
	}
}

static int healthz_listen(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_port = htons((in_port_t)strtol(flag_value("healthz-port"), NULL, 0));
	if (fd < 0 || inet_pton(AF_INET, flag_value("healthz-bind-address"), &addr.sin_addr) != 1)
		die("healthz: bad address %s", flag_value("healthz-bind-address"));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 16) < 0)
		die("healthz: port %s: %m", flag_value("healthz-port"));
	return fd;
}

static void healthz_answer(int listener, bool ready)
{
	char request[512] = "", reply[128];
	struct timeval patience = { .tv_sec = 1 };
	const char *status = "404 Not Found", *body = "";
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (read(fd, request, sizeof(request) - 1) > 0 &&
	    strncmp(request, "GET /healthz", 12) == 0) {
		status = ready ? "200 OK" : "503 Service Unavailable";
		body = ready ? "ok" : "starting";
	}
	(void)snprintf(reply, sizeof(reply),
		       "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
		       strlen(body), body);
	(void)!write(fd, reply, strlen(reply));
	(void)close(fd);
}

int main(int argc, char **argv)
{
	double ready;
	int fd;

	(void)fprintf(stderr, "I kubelet stand-in for tests: no pod is run\n");
	flags_parse(argc, argv);
	if (*flag_value("kubeconfig"))
		kubeconfig_check(flag_value("kubeconfig"));
	if (*flag_value("client-ca-file") && access(flag_value("client-ca-file"), R_OK) < 0)
		die("client-ca-file %s: %m", flag_value("client-ca-file"));
	if (*flag_value("cloud-config") && access(flag_value("cloud-config"), R_OK) < 0)
		die("cloud-config %s: %m", flag_value("cloud-config"));
	cloud_check();
	check_plugins();
	check_manifests();
	check_runtime();
	fd = healthz_listen();
	ready = now() + 1; /* as a node's first sync takes its time */
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 200) > 0)
			healthz_answer(fd, now() >= ready);
		check_manifests();
	}
}
