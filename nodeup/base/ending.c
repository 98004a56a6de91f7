#include "nodeup/base/ending.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/mem.h"

/* how long a child may take after SIGTERM */
#define CHILD_PATIENCE_NS (5 * DUR_SEC)
#define LOOK_NS (20 * DUR_MS)

static struct {
	pthread_mutex_t lock; /* guards all members below */
	pthread_cond_t never; /* never signalled: a thread that must stop for good waits here */
	int sig;              /* 0: the process is not ending */
	struct ending_child *children;
	sigset_t signals;
	ending_fn *fn;
	void *arg;
} ending = { .lock = PTHREAD_MUTEX_INITIALIZER, .never = PTHREAD_COND_INITIALIZER };

const char *ending_signal_name(int sig)
{
	return sigabbrev_np(sig);
}

void ending_hold(void)
{
	(void)pthread_mutex_lock(&ending.lock);
	while (ending.sig)
		(void)pthread_cond_wait(&ending.never, &ending.lock);
}

void ending_release(void)
{
	(void)pthread_mutex_unlock(&ending.lock);
}

void ending_gate(void)
{
	ending_hold();
	ending_release();
}

void ending_add(struct ending_child *c)
{
	c->next = ending.children;
	ending.children = c;
}

void ending_reap(struct ending_child *c)
{
	(void)pthread_mutex_lock(&ending.lock);
	for (struct ending_child **p = &ending.children; *p; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	while (ending.sig)
		(void)pthread_cond_wait(&ending.never, &ending.lock);
	(void)pthread_mutex_unlock(&ending.lock);
}

void ending_tell(ending_fn *fn, void *arg)
{
	ending_hold();
	ending.fn = fn;
	ending.arg = arg;
	ending_release();
}

/* Returns whether the child still runs. Asks the kernel, as the child's owner may not have noticed its end yet, or
 * may never reap it. */
static bool is_at_work(const struct ending_child *c)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0;
}

/* Counts the remaining children of a kind; sends them the signal, if one is given. */
static size_t look_at_children(bool let_end, int sig)
{
	size_t n = 0;

	(void)pthread_mutex_lock(&ending.lock);
	for (const struct ending_child *c = ending.children; c; c = c->next) {
		if (c->let_end != let_end || !is_at_work(c))
			continue;
		n++;
		if (sig)
			(void)kill(-c->pid, sig);
	}
	(void)pthread_mutex_unlock(&ending.lock);
	return n;
}

/* Returns the name of a child that must not be cut off; NULL: there is none. */
static const char *must_end(void)
{
	const char *name = NULL;

	(void)pthread_mutex_lock(&ending.lock);
	for (const struct ending_child *c = ending.children; c; c = c->next)
		if (c->let_end && is_at_work(c))
			name = c->name;
	(void)pthread_mutex_unlock(&ending.lock);
	return name;
}

/* Waits until no child of a kind is left. Returns the second signal if it comes during the wait, otherwise 0. */
static int await_children(bool let_end, int64_t patience_ns)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	const int64_t end = patience_ns ? dur_now() + patience_ns : 0;

	while (look_at_children(let_end, 0) > 0 && (!end || dur_now() < end)) {
		int sig = sigtimedwait(&ending.signals, NULL, &look);

		if (sig > 0)
			return sig;
	}
	return 0;
}

static int end_children(void)
{
	int second;

	(void)look_at_children(false, SIGTERM);
	second = await_children(false, CHILD_PATIENCE_NS);
	(void)look_at_children(false, SIGKILL);
	return second ? second : await_children(true, 0);
}

/* Dies as if the signal had never been handled. */
static void die_of(int sig)
{
	sigset_t set;

	(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)raise(sig);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *attend(void *arg)
{
	struct ending_event ev = { 0 };
	int second;

	(void)arg;
	while (sigwait(&ending.signals, &ev.sig) != 0)
		continue;
	/* waits for the end of a section under way */
	(void)pthread_mutex_lock(&ending.lock);
	ending.sig = ev.sig;
	(void)pthread_mutex_unlock(&ending.lock);
	ev.child = must_end();
	ending.fn(ending.arg, &ev);
	second = end_children();
	if (second)
		ev.sig = second;
	ev.child = NULL;
	ev.last = true;
	ending.fn(ending.arg, &ev);
	die_of(ev.sig);
	return NULL;
}

void ending_begin(ending_fn *fn, void *arg)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction now;
	pthread_t thread;

	ending.fn = fn;
	ending.arg = arg;
	(void)sigemptyset(&ending.signals);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(&ending.signals, signals[i]);
	(void)pthread_sigmask(SIG_BLOCK, &ending.signals, NULL);
	/* without the thread a signal ends nodeup at once, as it ends any process */
	if (pthread_create(&thread, NULL, attend, NULL) == 0)
		(void)pthread_detach(thread);
	else
		(void)pthread_sigmask(SIG_UNBLOCK, &ending.signals, NULL);
}
