#include "assets/unpack/confine.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

#define MEMORY_MAX (UINT64_C(160) << 20) /* a window of 128 MiB, most of which is never touched */
#define FDS_MAX 64

enum { NOBODY = 65534 };

static int set_limit(__rlimit_resource_t what, uint64_t value)
{
	struct rlimit now, l;

	if (getrlimit(what, &now) < 0)
		return -1;
	l.rlim_cur = l.rlim_max = now.rlim_max < value ? now.rlim_max : value;
	return setrlimit(what, &l);
}

/* Returns how many bytes our own data take; with a sanitizer they exceed any limit. */
static uint64_t data_now(void)
{
	autofile FILE *f = fopen("/proc/self/statm", "re");
	unsigned long data;

	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %lu", &data) != 1)
		return 0;
	return (uint64_t)data * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int set_limits(uint64_t file_max, struct err *e)
{
	/* without this signal, a write beyond the limit fails with an error that has a message */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (set_limit(RLIMIT_DATA, data_now() + MEMORY_MAX) < 0 ||
	    set_limit(RLIMIT_FSIZE, file_max) < 0 || set_limit(RLIMIT_NOFILE, FDS_MAX) < 0 ||
	    set_limit(RLIMIT_NPROC, 0) < 0 || set_limit(RLIMIT_CORE, 0) < 0)
		return err_sys(e, "limit the unpacker");
	return 0;
}

static int become(uid_t id)
{
	return setresgid(id, id, id) < 0 ? -1 : setresuid(id, id, id);
}

/* Takes another uid: root can open every file of root, even without capabilities. */
static int leave_root(void)
{
	if (geteuid() != 0)
		return 0;
	/* nothing can be made in this directory, and it is empty when this process has ended */
	if (chdir("/proc/self/fdinfo") < 0)
		return -1;
	/* some containers forbid chroot; the other measures are enough */
	if (chroot(".") < 0 && errno != EPERM)
		return -1;
	/* takes a uid of its own, as far as possible: another process with our uid could stop or kill us */
	if (setgroups(0, NULL) == 0 && (become(CONFINE_UIDS + (uid_t)getpid()) == 0 ||
					(errno == EINVAL && become(NOBODY) == 0)))
		return 0;
	/* a user namespace may lack NOBODY as well */
	return errno == EINVAL || errno == EPERM ? 0 : -1;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capset, &header, data) < 0 || syscall(SYS_capget, &header, data) < 0)
		return -1;
	errno = EPERM;
	return data[0].effective || data[1].effective || data[0].permitted || data[1].permitted ||
			       data[0].inheritable || data[1].inheritable
		       ? -1
		       : 0;
}

int confine_privileges(uint64_t file_max, struct err *e)
{
	int r = set_limits(file_max, e);

	if (r < 0)
		return r;
	/* up to the last capability that the kernel knows; a capability that is not in our set can be dropped too */
	for (int cap = 0; cap < 64 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (leave_root() < 0)
		return err_sys(e, "leave root's rights");
	if (drop_capabilities() < 0)
		return err_sys(e, "drop the capabilities");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "refuse new privileges");
	return 0;
}

/* Landlock's kernel interface; the distribution's header may be older than its kernel. */
struct landlock_rules {
	uint64_t files, net, scoped;
};

enum {
	LL_CREATE = 444,
	LL_RESTRICT = 446,
	LL_VERSION = 1,
};

/* Fills in everything that a version of Landlock can forbid, and the length of its struct. */
static void landlock_all(long version, struct landlock_rules *ret, size_t *ret_size)
{
	static const uint8_t bits[] = { 0, 13, 14, 15, 15, 16 };
	const size_t last = ARRAY_LEN(bits) - 1;

	ret->files = (UINT64_C(1) << bits[(size_t)version < last ? (size_t)version : last]) - 1;
	ret->net = version >= 4 ? 3 : 0;
	ret->scoped = version >= 6 ? 3 : 0;
	*ret_size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

int confine_files(struct err *e)
{
	const long version = syscall(LL_CREATE, NULL, 0, LL_VERSION);
	struct landlock_rules rules;
	autoclose int fd = -1;
	size_t size;

	if (version < 1)
		return 0;
	landlock_all(version, &rules, &size);
	fd = (int)syscall(LL_CREATE, &rules, size, 0);
	if (fd < 0 || syscall(LL_RESTRICT, fd, 0) < 0)
		return err_sys(e, "keep the unpacker from all files");
	return 0;
}

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* System calls allowed with any arguments. */
static const int calls[] = {
	SYS_read,
	SYS_write,
	SYS_writev,
	SYS_pwrite64,
	SYS_ftruncate,
	SYS_sync_file_range,
	SYS_lseek,
	SYS_close,
	SYS_fcntl,
	SYS_fstat,
	SYS_newfstatat, /* a C library may call newfstatat for fstat */
	SYS_fadvise64,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_sched_yield,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_geteuid,
	SYS_tgkill,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_exit,
	SYS_exit_group,
};

/* System calls allowed if the bits of `mask` in the third argument equal `value`. */
static const struct call_rule {
	int call;
	uint32_t mask, value;
} call_rules[] = {
	{ SYS_mmap, PROT_EXEC, 0 },
	{ SYS_mprotect, PROT_EXEC, 0 },
};

enum { FILTER_MAX = 6 + 2 * ARRAY_LEN(calls) + 6 * ARRAY_LEN(call_rules) };

static size_t allow_calls(struct sock_filter *f, const int *list, size_t n_list)
{
	size_t n = 0;

	for (size_t i = 0; i < n_list; i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)list[i],
						      0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return n;
}

static size_t allow_by_rules(struct sock_filter *f, const struct call_rule *rules, size_t n_rules)
{
	const uint32_t nr = offsetof(struct seccomp_data, nr);
	const uint32_t third = offsetof(struct seccomp_data, args[2]);
	size_t n = 0;

	for (size_t i = 0; i < n_rules; i++) {
		const struct call_rule *c = &rules[i];

		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, nr);
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)c->call,
						      0, 4);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, third);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, c->mask);
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->value, 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return n;
}

static size_t write_filter(struct sock_filter *f)
{
	const uint32_t nr = offsetof(struct seccomp_data, nr);
	const uint32_t arch = offsetof(struct seccomp_data, arch);
	size_t n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arch);
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, nr);
	n += allow_calls(f + n, calls, ARRAY_LEN(calls));
	n += allow_by_rules(f + n, call_rules, ARRAY_LEN(call_rules));
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	return n;
}

int confine_calls(struct err *e)
{
	struct sock_filter filter[FILTER_MAX];
	struct sock_fprog program = { .filter = filter };

	program.len = (unsigned short)write_filter(filter);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return err_sys(e, "confine the unpacker to its system calls");
	return 0;
}

int confine(uint64_t file_max, struct err *e)
{
	int r = confine_privileges(file_max, e);

	if (r >= 0)
		r = confine_files(e);
	if (r >= 0)
		r = confine_calls(e);
	return r;
}
