/* The only program of the images that a node of today's kops gets here: it stands for pause, kube-proxy and a hook. It says how it
 * was started, in the file of --log-file= as well, as Kubernetes' go-runner does, and then stays until it is told to end; a hook ends.
 * Where its image has a list of flags, it ends for one that is not in it, as the real program would. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void say(FILE *out, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		(void)fprintf(out, "%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
	(void)fflush(out);
}

/* Whether a line of the list is the name of this flag; one without a list is known. */
static bool is_known(const char *flag)
{
	const size_t n = strcspn(flag, "=");
	FILE *list = fopen("/flags", "r");
	char line[256];
	bool known = !list;

	while (!known && fgets(line, sizeof(line), list))
		known = strcspn(line, "\n") == n && strncmp(line, flag, n) == 0;
	if (list)
		(void)fclose(list);
	return known;
}

/* What comes after the path of the program that go-runner is to start is for that program. */
static bool takes_all(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] != '/')
		i++;
	for (i++; i < argc; i++)
		if (!is_known(argv[i])) {
			(void)fprintf(stderr, "unknown flag: %s\n", argv[i]);
			return false;
		}
	return true;
}

int main(int argc, char **argv)
{
	static const char log_file[] = "--log-file=";
	sigset_t ends;
	int got;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ends, NULL);
	say(stdout, argc, argv);
	if (argc > 1 && strncmp(argv[1], log_file, strlen(log_file)) == 0) {
		FILE *log = fopen(argv[1] + strlen(log_file), "a");

		if (!log)
			return 1;
		say(log, argc, argv);
		(void)fclose(log);
	}
	if (!takes_all(argc, argv))
		return 1;
	return strcmp(argv[0], "/hook") == 0 ? 0 : sigwait(&ends, &got);
}
