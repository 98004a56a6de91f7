/* protokube stand-in: what kops 1.8 runs in its image on masters.  Checks the command line that the
 * unit gives it, says so, and stays, as the real one does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From protokube/cmd/protokube/main.go of kops 1.8, as its nodeup writes them. */
/* clang-format off */
static const char *const flags[] = {
	"--apply-taints=", "--channels=", "--cloud=", "--cluster-id=", "--containerized=",
	"--dns=", "--dns-internal-suffix=", "--dns-server=", "--etcd-image=", "--gossip-listen=",
	"--gossip-secret=", "--initialize-rbac=", "--master=", "--peer-ca=", "--peer-cert=",
	"--peer-key=", "--tls-auth=", "--tls-ca=", "--tls-cert=", "--tls-key=",
	"--zone=", "--v=",
};
/* clang-format on */

static const char *const wanted[] = { "--channels=", "--cloud=aws", "--containerized=true",
				      "--dns-internal-suffix=.", "--zone=" };

static int known(const char *arg)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strncmp(arg, flags[i], strlen(flags[i])) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!known(argv[i])) {
			(void)fprintf(stderr, "unknown flag: %s\n", argv[i]);
			return 1;
		}
	for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
		int found = 0;

		for (int i = 1; i < argc; i++)
			found |= strncmp(argv[i], wanted[w], strlen(wanted[w])) == 0;
		if (!found) {
			(void)fprintf(stderr, "missing %s\n", wanted[w]);
			return 1;
		}
	}
	if (access("/rootfs/etc/os-release", R_OK) < 0 && access("/rootfs/usr", R_OK) < 0) {
		perror("/rootfs");
		return 1;
	}
	(void)fprintf(stderr, "protokube stand-in for tests: does nothing from here on\n");
	for (;;)
		(void)pause();
}
