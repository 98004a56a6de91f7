/* A slow network on loopback: shape PORT TO-PORT BYTES/S DELAY-MS
 * Each connection has its own rate and answers each request after the delay; bytes are spliced, so that
 * what is measured has the processor to itself. This kernel has no netem. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 128 * 1024 };

static double rate;
static int delay_ms, to_port;

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(double s)
{
	const struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	if (s > 0)
		(void)nanosleep(&t, NULL);
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* A request goes on once it has travelled. */
static int ask(int client, int server)
{
	char buf[16384];
	ssize_t n = read(client, buf, sizeof(buf));

	if (n <= 0)
		return -1;
	nap(delay_ms / 1e3);
	return write(server, buf, (size_t)n) == n ? 0 : -1;
}

/* One piece of an answer, and the time that it takes. */
static int answer(int server, int client, const int pipes[2], double *due)
{
	ssize_t n = splice(server, NULL, pipes[1], NULL, PIECE, SPLICE_F_MOVE);
	double t = now();

	if (n <= 0)
		return -1;
	*due = (*due > t - 0.002 ? *due : t) + (double)n / rate;
	nap(*due - t);
	while (n > 0) {
		ssize_t w = splice(pipes[0], NULL, client, NULL, (size_t)n, SPLICE_F_MOVE);

		if (w <= 0)
			return -1;
		n -= w;
	}
	return 0;
}

static void *serve(void *arg)
{
	const int client = (int)(intptr_t)arg, server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = loopback(to_port);
	struct pollfd fds[2] = { { client, POLLIN, 0 }, { server, POLLIN, 0 } };
	int pipes[2], r = 0, one = 1;
	double due = 0;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		abort();
	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	nap(delay_ms / 1e3);
	if (connect(server, (struct sockaddr *)&to, sizeof(to)) < 0)
		r = -1;
	while (r == 0 && poll(fds, 2, -1) >= 0) {
		if (fds[0].revents)
			r = ask(client, server);
		if (r == 0 && fds[1].revents)
			r = answer(server, client, pipes, &due);
	}
	(void)close(client);
	(void)close(server);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	return NULL;
}

int main(int argc, char **argv)
{
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct sockaddr_in at;
	pthread_attr_t attr;

	if (argc != 5)
		return 64;
	at = loopback(atoi(argv[1]));
	to_port = atoi(argv[2]);
	rate = atof(argv[3]);
	delay_ms = atoi(argv[4]);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 64) < 0) {
		perror("shape");
		return 1;
	}
	for (;;) {
		int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (client >= 0 &&
		    pthread_create(&thread, &attr, serve, (void *)(intptr_t)client) != 0)
			(void)close(client);
	}
}
