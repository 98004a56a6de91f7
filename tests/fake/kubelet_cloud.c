/* What the AWS cloud provider asks of the metadata service before kubelet does anything else: the zone and the
 * instance's id, without a token, as its SDK knows version 1 alone.  FAKE_IMDS=ADDRESS:PORT takes its place in a
 * test of the stand-in itself.
 * Source: kubernetes release-1.8 pkg/cloudprovider/providers/aws/aws.go (readAWSCloudConfig,
 * buildSelfAWSInstance), vendor/github.com/aws/aws-sdk-go/aws/ec2metadata. */
#include "tests/fake/kubelet.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_S = 5 };

static void find_service(struct sockaddr_in *ret)
{
	char address[64] = "169.254.169.254";
	const char *other = getenv("FAKE_IMDS"), *colon = other ? strrchr(other, ':') : NULL;

	if (colon)
		(void)snprintf(address, sizeof(address), "%.*s", (int)(colon - other), other);
	*ret = (struct sockaddr_in){ .sin_family = AF_INET };
	ret->sin_port = htons(colon ? (in_port_t)strtol(colon + 1, NULL, 10) : 80);
	if (inet_pton(AF_INET, address, &ret->sin_addr) != 1)
		die("FAKE_IMDS: bad address %s", address);
}

/* The status of an answer, 0 for none. */
static int ask(const char *path)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	char text[512] = "";
	struct sockaddr_in addr;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), n;

	find_service(&addr);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	n = snprintf(text, sizeof(text),
		     "GET /latest/meta-data/%s HTTP/1.1\r\nHost: 169.254.169.254\r\n"
		     "User-Agent: aws-sdk-go\r\nConnection: close\r\n\r\n",
		     path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    write(fd, text, (size_t)n) != n || read(fd, text, sizeof(text) - 1) <= 0)
		n = 0;
	else if (sscanf(text, "HTTP/1.%*d %d", &n) != 1)
		n = 0;
	(void)close(fd);
	return n;
}

void cloud_check(void)
{
	static const char *const paths[] = { "placement/availability-zone", "instance-id" };

	if (strcmp(flag_value("cloud-provider"), "aws") != 0)
		return;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const int status = ask(paths[i]);

		if (status != 200)
			die("failed to run Kubelet: could not init cloud provider \"aws\": EC2MetadataError: "
			    "failed to make EC2Metadata request: %s: status %d",
			    paths[i], status);
	}
}
