/* The only program of the images that a node of today's kops gets here: it stands for pause, kube-proxy and a hook. It says how it
 * was started, in the file of --log-file= as well, as Kubernetes' go-runner does, and then stays until it is told to end; a hook ends. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void say(FILE *out, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		(void)fprintf(out, "%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
	(void)fflush(out);
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
	return strcmp(argv[0], "/hook") == 0 ? 0 : sigwait(&ends, &got);
}
