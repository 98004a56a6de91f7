/* payload.h - the data of a task of each kind
 * One struct for each kind that has more data than its task's name, which is its path, unit or image. Each struct is
 * a member of struct task.
 * Owner: the plan's arena. Errors: none. Threads: const after planning.
 * Source: kops upup/pkg/fi/nodeup/nodetasks. */
#pragma once

#include "assets/asset.h"
#include "nodeup/config/distro.h"
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"
#include "nodeup/config/volume.h"
#include "nodeup/tasks/task_kind.h"

struct task_dir {
	mode_t mode;
	const char *owner;       /* NULL: root; without that user the directory is not made */
	bool any_owner;          /* the owner is that of the file system which is mounted there */
	const struct strv *only; /* paths of all files that the directory may hold; NULL: any */
};

struct task_file {
	const char *content;
	size_t len;
	struct io_attr attr;
	bool if_absent;    /* an existing file is right, whatever its content */
	bool set_aside;    /* keeps the old file beside the new one, see aside.h */
	const char *other; /* with if_absent: the warning if the file differs; or NULL */
	const char *
		also; /* content that is right too if the file has it already; units see no difference; or NULL */
	const char *
		elsewhere; /* the place for other programs' additions, which a warning names if the content differs;
			    * or NULL */
	bool secret;      /* never shows the content, not even in a diff */
	bool of_unit;     /* an input that only units read; set by the dependency rules */
	bool of_packaged; /* an input of a unit that a package may bring and start */
	/* used instead of attr's ids; without that user the file is not written */
	const char *owner;
	/* removes the file if it begins with this, which marks it as ours; content is then "" */
	const char *unwanted;
	const char *
		unit; /* for a file to remove: the unit that the file makes, unless the documents name that unit; or
		       * NULL */
	bool issued; /* a certificate, its key or a login, whose next version is not known before it is issued */
	/* why this run makes the key or certificate anew. A run that changes nothing leaves the key or certificate
	 * unmade, and its content is not known */
	const char *why;
	bool unmade;
};

struct task_asset {
	const struct asset *asset;
};

struct task_install {
	mode_t mode;
	const char *member;           /* base name of the member; NULL: the asset itself */
	const struct asset **sources; /* in document order; the first that has the member is used */
	size_t n_sources;
	bool may_lack; /* a member that no archive has is left out; other failures count */
};

struct task_program {
	const char *version; /* version of the running program */
	bool replace;        /* the running program replaces the installed one */
};

struct task_link {
	const char *target;
};

/* The payload of TASK_STRAY. */
struct task_stray {
	const char *const *units; /* patterns: "policy-routes@*.service"; NULL ends them */
	/* the units write folder/ANY/file, when udev's rules start them; NULL: they write no file */
	const char *folder, *file;
	const char *rules;       /* our rules: without this file udev would start the units again */
	const char *const *undo; /* the program that undoes the units' other work; or NULL */
};

struct task_prefix {
	const char *instance, *region; /* region NULL: is looked up */
};

struct task_keyring {
	const char *url; /* https */
};

struct task_lifecycle {
	const char *group, *instance;
	const char *region; /* NULL: the region is looked up */
	/* the state that the instance goes to: "Warmed:Stopped"; NULL: not known */
	const char *state;
};

struct task_sysctl {
	struct strmap values; /* "net.ipv4.ip_forward" = "1" */
	struct strv
		asked; /* keys that the documents themselves name: warns if the kernel lacks one */
	bool keeps_defaults; /* kubelet stops if the kernel's settings differ from its own */
};

struct task_user {
	const char *name, *home, *shell;
	uid_t uid; /* also the id of the user's group; 0: any free id */
};

struct task_package {
	enum package_family family;
	struct strv names;
	const struct asset *source; /* the package as a file; NULL: from the repositories */
	struct strv env;            /* "http_proxy=..." for the manager; may hold a password */
	struct strv
		builders; /* the packages are a convenience, so only these builders' units wait for them; empty: all
			   * units wait */
	const char *
		program; /* the program that is needed: if it exists, no package is installed; or NULL */
	/* modules that the running kernel must have: if it lacks one, installs the packages NAME-RELEASE of that
	 * kernel */
	struct strv modules;
};

struct task_image {
	const char *name; /* "protokube:1.8.1" */
	const struct asset *asset;
	/* for an image that is a member of the asset: the member's name, the member with its tag, and the image's
	 * name in the archive without the tag. `name` is the tag that we add. NULL: the asset itself is the image */
	const char *member, *tag, *loaded_as;
	bool in_containerd; /* true: an image of containerd; false: of docker */
	/* in containerd: no document names the archive's images, and `name` is the archive's own name */
	bool is_unnamed;
};

struct task_pull {
	const char *hosts; /* the directory that names registries' mirrors; NULL: none */
};

/* A file in which kubelet keeps its state between starts; see checkpoint.h. */
struct task_checkpoint {
	const char *path, *policy; /* the file, and kubelet's present policy */
	/* kubelet's flag and its configuration key: other files may change the policy by one of them */
	const char *flag, *key;
};

struct task_unit {
	bool enable;  /* the links of [Install] must exist */
	bool no_wait; /* enqueues the job and goes on: our own unit, which ends by itself */
	bool at_boot; /* enabled but never started: this run does the unit's work */
	bool once; /* a oneshot that other programs start again: like no_wait, and started once a boot */
	bool last;            /* a failure of the unit fails the run only after all else is done */
	struct strv before;   /* units that start after this unit */
	struct strv requires; /* units after which this unit starts */
	struct strv inputs;   /* paths of files and binaries whose change restarts the unit */
	/* a folder in which other programs put files for the unit, and the suffix of these files; or NULL */
	const char *shared, *shared_ending;
	bool must_answer; /* must answer for the run to end well; see host/liveness.h */
	const char *
		client_of; /* a unit whose restart also ends this unit, which then begins anew by itself; or NULL */
	/* of a mount or swap unit: its mount point, as a normal path, and the name of its volume */
	const char *where, *volume;
	/* mount points that must be mounted before the unit starts */
	struct strv needs_mounts;
	/* the effects of a oneshot, which others can undo: mount points, and iptables' rules ("FORWARD -p tcp -j
	 * ACCEPT") of chains whose policy is DROP */
	struct strv mounted, accepts;
	/* started with the files on the disk, without a record of them. The unit is left alone if it is masked, or
	 * if systemd has handled it at boot */
	bool as_is;
	/* checkpoints that are put aside before the start if they would stop the unit */
	struct task_checkpoint *checkpoints;
	size_t n_checkpoints;
};

struct task_hosts {
	struct strv lines; /* "10.0.0.7\tapi.internal.example" */
};

struct task_volume {
	const struct node_volume *want;
	const char *uuid;     /* UUID for mkfs and the mount unit: volume_uuid(), or the record's */
	const char *machine;  /* the instance id: another machine's record is about other disks */
	struct strv programs; /* programs that may have to be installed for the volume */
};

/* The payload of TASK_STOP, TASK_MOVE and TASK_RESUME; the three of one move have the same name, its source. */
struct task_move {
	const char *source;      /* the content's present place: "/var/lib/docker" */
	const char *target;      /* the place from which it will be mounted: "/mnt/disks/docker" */
	const char *mount_point; /* "/mnt/disks": must be mounted before anything is moved */
	const char *machine; /* instance id of the machine with this directory; NULL: not known */
	struct strv units;   /* units that use source */
	bool aside; /* the volume itself was to be mounted at `source`, so its own content must be visible too */
};
