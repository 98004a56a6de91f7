/* payload.h - what a task of each kind is about
 * One struct for each kind that has something to say beside its task's name, which is the path, the unit or the image that it
 * is about: the member of struct task that goes with it.
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
	const char *owner; /* NULL: root; if the user does not exist, the directory is not made */
	bool any_owner;    /* what is mounted there says whose it is */
	const struct strv *only; /* paths of all files that may be below it; NULL: any */
};

struct task_file {
	const char *content;
	size_t len;
	struct io_attr attr;
	bool if_absent; /* a file that is there is right, whatever it says */
	bool set_aside; /* what is there stays beside it, see aside.h */
	const char *
		other; /* of if_absent: what people are told where it says something else; or NULL */
	const char *
		also; /* a content that is right as well where it is there, and as good for units; or NULL */
	const char *
		elsewhere; /* where others put what they would add to it, told when its content differs; or NULL */
	bool secret;      /* content never shown, not even in a diff */
	bool of_unit;     /* an input of units, which alone read it; set by the dependency rules */
	bool of_packaged; /* and of one that a package may bring and start */
	const char *
		owner; /* instead of attr's ids; if the user does not exist, the file is not written */
	/* the file is not wanted: one that begins with this is ours and goes; content is "" then */
	const char *unwanted;
	const char
		*unit; /* of one that goes: the unit that it makes and no document names; or NULL */
	bool issued; /* a certificate, its key or a login: what the next run issues is not known before */
	/* of a key or certificate that this run makes anew: for what reason. Where nothing is done it is unmade, and the
	 * content is not known */
	const char *why;
	bool unmade;
};

struct task_asset {
	const struct asset *asset;
};

struct task_install {
	mode_t mode;
	const char *member;           /* base name of the member; NULL: the asset itself */
	const struct asset **sources; /* in document order; the first that has it is used */
	size_t n_sources;
	bool may_lack; /* a member that no archive has is left out; any other failure counts */
};

struct task_program {
	const char *version; /* of the program that runs */
	bool replace;        /* the program that runs takes the place of the installed one */
};

struct task_link {
	const char *target;
};

/* The payload of TASK_STRAY. */
struct task_stray {
	const char *const *units; /* patterns: "policy-routes@*.service"; NULL ends them */
	/* folder/ANY/file is what they wrote, started by udev's rules; NULL: they write none */
	const char *folder, *file;
	const char *rules;       /* the file of ours without which they would come again */
	const char *const *undo; /* the program that takes back what else they did; or NULL */
};

struct task_prefix {
	const char *instance, *region; /* region NULL: found out */
};

struct task_keyring {
	const char *url; /* https */
};

struct task_lifecycle {
	const char *group, *instance;
	const char *region; /* NULL: found out */
	const char *state;  /* where the instance goes: "Warmed:Stopped"; NULL: not known */
};

struct task_sysctl {
	struct strmap values; /* "net.ipv4.ip_forward" = "1" */
	struct strv
		asked; /* keys of these that the documents themselves name: one that the kernel lacks is told of */
	bool keeps_defaults; /* kubelet ends where the kernel's settings are not as it wants them */
};

struct task_user {
	const char *name, *home, *shell;
	uid_t uid; /* and the id of a group of its own; 0: one that is free */
};

struct task_package {
	enum package_family family;
	struct strv names;
	const struct asset *source; /* the one package as a file; NULL: from the repositories */
	struct strv env;            /* "http_proxy=..." for the manager: may hold a password */
	struct strv
		builders; /* of comfort: units of these wait for them, and no other; empty: all units do */
	const char *
		program; /* the program that is wanted: if it is there, nothing is installed; or NULL */
	/* that are wanted of the kernel that runs: if it lacks none, nothing is installed, else the packages of that
	 * kernel's release, which stands behind their names */
	struct strv modules;
};

struct task_image {
	const char *name; /* "protokube:1.8.1" */
	const struct asset *asset;
	/* of an image that is a member of the asset: its name there, the member that says its tag, and what it is called
	 * without that when it is loaded; `name` is then what we tag it with. NULL: the asset itself */
	const char *member, *tag, *loaded_as;
	bool in_containerd; /* not in docker */
	/* in containerd: the archive alone says which images it holds, and `name` is its own */
	bool is_unnamed;
};

struct task_pull {
	const char
		*hosts; /* the directory that says which mirrors registries have; NULL: none does */
};

/* A file in which kubelet remembers something between its starts; see checkpoint.h. */
struct task_checkpoint {
	const char *path, *policy; /* the one that kubelet has now */
	/* the flag, and the key of its configuration, by which others may give it another one */
	const char *flag, *key;
};

struct task_unit {
	bool enable;          /* links of [Install] are wanted */
	bool no_wait;         /* enqueue the job and go on: our own unit, which comes to its end */
	bool at_boot;         /* enabled and never started: this run does what it would do */
	bool once;            /* a oneshot that others start again: no_wait, and once a boot */
	bool last;            /* its failure fails the run only after all else is done */
	struct strv before;   /* units that start after it */
	struct strv requires; /* units it starts after */
	struct strv inputs;   /* paths of the files and binaries whose change restarts it */
	/* a folder where others put files that it is started with, and how their names end; or NULL */
	const char *shared, *shared_ending;
	bool must_answer; /* else a run does not end well: host/liveness.h */
	const char *
		client_of; /* the unit whose restart ends it too, and it begins anew by itself; or NULL */
	/* a mount or swap unit: where it mounts, as a normal path, and the name of the volume whose own it is */
	const char *where, *volume;
	/* mount points that have to be mounted before it starts */
	struct strv needs_mounts;
	/* what a oneshot leaves behind, which others can take away: mount points, and iptables' rules
	 * ("FORWARD -p tcp -j ACCEPT") of chains whose policy is DROP */
	struct strv mounted, accepts;
	/* it is started with what is on the disk, and no record says with what; what systemd has seen to at boot is left alone,
	 * and what is masked */
	bool as_is;
	/* put aside where they would end it, before it is started */
	struct task_checkpoint *checkpoints;
	size_t n_checkpoints;
};

struct task_hosts {
	struct strv lines; /* "10.0.0.7\tapi.internal.example" */
};

struct task_volume {
	const struct node_volume *want;
	const char
		*uuid; /* mkfs gets it, and the mount unit has it: volume_uuid(), or the record's */
	const char
		*machine; /* the instance id: a record of another machine speaks of other disks */
	struct strv programs; /* that may have to be installed for it */
};

/* The payload of TASK_STOP, TASK_MOVE and TASK_RESUME; the three of one move have the same name, its source. */
struct task_move {
	const char *source;      /* where content is now: "/var/lib/docker" */
	const char *target;      /* where it is to be mounted from: "/mnt/disks/docker" */
	const char *mount_point; /* "/mnt/disks": nothing is moved unless it is mounted */
	const char *machine;     /* instance id, of whose directory this is; NULL: not known */
	struct strv units;       /* use source */
	bool aside; /* the volume itself was meant to be seen there: what it holds must be */
};
