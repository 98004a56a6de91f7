/* task_kind.h - the kinds of tasks
 * Each is a row of kinds.h, and what it is about is a struct of payload.h.
 * Owner: none. Errors: none. Threads: all. Source: kops upup/pkg/fi/nodeup/nodetasks. */
#pragma once

enum task_kind {
	TASK_DIR,
	TASK_FILE,
	TASK_ASSET,   /* verified bytes in the cache */
	TASK_UNPACK,  /* an archive unpacked in the cache */
	TASK_INSTALL, /* a copy of an asset, or of an archive's member, at its place */
	TASK_SYSCTL,
	TASK_USER,    /* a user with a group of its own */
	TASK_PACKAGE, /* packages of the distribution */
	TASK_RELOAD,  /* systemd's daemon-reload, once, when a unit file changed */
	TASK_IMAGE,   /* an image archive loaded into the runtime */
	TASK_UNIT,
	TASK_VOLUME,    /* a file system or swap space on the disks that are meant */
	TASK_STOP,      /* services stopped because what they use is about to be moved */
	TASK_MOVE,      /* the content of a directory copied to where it will be mounted from */
	TASK_RESUME,    /* what TASK_STOP stopped started again, also when the move failed */
	TASK_ATTACH,    /* an EBS volume attached to this instance */
	TASK_ETCD,      /* what a volume holds of etcd beside its data, and the link to it */
	TASK_HOSTS,     /* our lines of /etc/hosts */
	TASK_PROGRAM,   /* nodeup itself, where the boot unit starts it */
	TASK_LINK,      /* a symbolic link, where nothing else has its place */
	TASK_PULL,      /* an image that the runtime pulls from its registry */
	TASK_MODULE,    /* a module of the kernel */
	TASK_STRAY,     /* services of the distribution that must not run, and what they left */
	TASK_PREFIX,    /* a prefix of version 6 for the instance's first interface */
	TASK_KEYRING,   /* a public key by which packages are checked */
	TASK_LIFECYCLE, /* a hook of the instance's group, told that the instance is ready */
	TASK_KIND_MAX
};
