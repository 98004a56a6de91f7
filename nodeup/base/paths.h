/* paths.h - the names of all our own directories and files
 * All paths are below the root. Only these directories are swept after a kill, and are protected from other
 * programs' files. Litter in a directory that OWN_DIRS lacks would stay for ever, so the lint of paths checks that
 * none is missing.
 * Owner: none. Errors: none. Threads: all. */
#pragma once

/* Kept across boots: applied state, documents and records. */
#define OWN_LIB "/var/lib/nodeup"
#define OWN_STATE OWN_LIB "/state"
#define OWN_CONF OWN_LIB "/conf"
#define OWN_VINTAGE OWN_LIB "/vintage"
#define OWN_APPLIED OWN_LIB "/applied"
#define OWN_DOCUMENTS OWN_LIB "/documents.json"
#define OWN_CLAIMS OWN_LIB "/claims.json"
#define OWN_PROGRAM OWN_LIB "/program"
#define OWN_BOOT OWN_LIB "/boot.json"
#define OWN_IDENTITY OWN_LIB "/identity"
#define OWN_LAST_GOOD OWN_LIB "/last-good"
#define OWN_SIGNALS OWN_LIB "/signals"
#define OWN_IMAGES_DIR OWN_LIB "/images"
#define OWN_MOVED_DIR OWN_LIB "/moved"
#define OWN_UNMOVED_DIR OWN_LIB "/unmoved"
#define OWN_VOLUMES_DIR OWN_LIB "/volumes"
#define OWN_RUNS_DIR OWN_LIB "/runs"
/* One file for each of the last runs that ended well, with the run's documents. The file's name is the run's number,
 * a long long. */
#define OWN_KEPT_DIR OWN_LIB "/kept"
#define OWN_KEPT_SET OWN_KEPT_DIR "/%lld.json"

/* The status goes here while /run has no room for it. */
#define OWN_STATUS_SPARE OWN_LIB "/status.json"

/* Files that exist only until the next boot. */
#define OWN_RUN "/run/nodeup"
#define OWN_LOCK OWN_RUN "/lock"
#define OWN_STATUS OWN_RUN "/status.json"
#define OWN_INSTANCE OWN_RUN "/instance"
#define OWN_IMDS_VERSION OWN_RUN "/imds-version-1"
#define OWN_HOST_NAME OWN_RUN "/host-name"
#define OWN_SHA1_TOLD OWN_RUN "/sha1-told"
#define OWN_ANSWERED OWN_RUN "/answered"
#define OWN_DRIFT OWN_RUN "/drift.json"
#define OWN_HELD OWN_RUN "/held"
#define OWN_STARTED_DIR OWN_RUN "/started"
#define OWN_STOPPED_DIR OWN_RUN "/stopped"
#define OWN_USERS_DIR OWN_RUN "/users"
#define OWN_GRANTED_DIR OWN_RUN "/granted"
/* Archives that earlier versions of nodeup kept, to be moved to the cache. */
#define OWN_SPOOL OWN_RUN "/spool"

/* Shown to people who log in. */
#define OWN_MOTD "/run/motd.d/nodeup"

/* Files that can be fetched again, managed by the cache. */
#define OWN_CACHE "/var/cache/nodeup"

/* The machine's own settings. */
#define OWN_ETC "/etc/nodeup"
#define OWN_SETTINGS_DIR OWN_ETC "/nodeup.d"

/* All directories in which files are replaced. */
#define OWN_DIRS                                                                                \
	OWN_LIB, OWN_IMAGES_DIR, OWN_MOVED_DIR, OWN_UNMOVED_DIR, OWN_VOLUMES_DIR, OWN_RUNS_DIR, \
		OWN_KEPT_DIR, OWN_RUN, OWN_STARTED_DIR, OWN_STOPPED_DIR, OWN_USERS_DIR,         \
		OWN_GRANTED_DIR, OWN_SETTINGS_DIR
