/* list_containerd.h - the keys of containerd and of what belongs to it; see kops.h for the structs
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/{containerdconfig,nvidiagpu}.go. */
#pragma once

/* clang-format off */
#define KOPS_PACKAGES(X) \
	X(const char *, hash_amd64, "hashAmd64", .doc = "hash of the one for amd64") \
	X(const char *, hash_arm64, "hashArm64", .doc = "hash of the one for arm64") \
	X(const char *, url_amd64, "urlAmd64", .secret = true, .doc = "the one for amd64") \
	X(const char *, url_arm64, "urlArm64", .secret = true, .doc = "the one for arm64")

#define KOPS_RUNC(X) \
	X(const char *, runc_version, "version", .doc = "version of runc") \
	X##_NESTED(struct kops_packages, runc_packages, &packages_schema, "packages", .doc = "another runc")

#define KOPS_NRI(X) \
	X(struct opt_bool, nri_enabled, "enabled", .doc = "false turns NRI off") \
	X(struct opt_dur, nri_registration_timeout, "pluginRegistrationTimeout", .doc = "how long a plugin may take to register") \
	X(struct opt_dur, nri_request_timeout, "pluginRequestTimeout", .doc = "how long a plugin may take to answer")

#define KOPS_GPU(X) \
	X(const char *, package, "package", .doc = "package of the driver") \
	X(struct opt_bool, enabled, "enabled", .doc = "make instances with such a GPU ready for it") \
	X(const char *, image, "image", .doc = "image of the device plugin; an addon's") \
	X(const struct tree *, dcgm_exporter, "dcgmExporter", .shape = TREE_MAP, .doc = "an addon's")

#define KOPS_GVISOR(X) \
	X(struct opt_bool, enabled, "enabled", .doc = "install runsc") \
	X(const char *, platform, "platform", .oneof = "systrap|kvm|", .doc = "how runsc catches system calls")

#define KOPS_CONTAINERD(X) \
	X(const char *, address, "address", FLAG("address")) \
	/* a map, its values texts, integers or booleans */ \
	X(const struct tree *, config_additions, "configAdditions", .shape = TREE_MAP, .secret = true, .doc = "settings by their path in config.toml") \
	X(const char *, config_override, "configOverride", .secret = true, .doc = "config.toml as it is to be") \
	X(const char *, log_level, "logLevel", FLAG("log-level"), .accepts = &accepts_containerd_level) \
	X##_NESTED(struct kops_packages, packages, &packages_schema, "packages", .doc = "another containerd") \
	/* a map of lists of URLs, in the order given */ \
	X(const struct tree *, registry_mirrors, "registryMirrors", .shape = TREE_MAP, .secret = true, .doc = "mirrors by registry") \
	X(const char *, root, "root", FLAG("root")) \
	X(bool, skip_install, "skipInstall", .doc = "leave containerd alone") \
	X(const char *, state, "state", FLAG("state")) \
	X(const char *, version, "version", .doc = "version of containerd") \
	X##_IF(struct kops_gpu, nvidia_gpu, has_nvidia_gpu, &gpu_schema, "nvidiaGPU", .doc = "GPUs of Nvidia") \
	X##_IF(struct kops_gvisor, gvisor, has_gvisor, &gvisor_schema, "gvisor", .doc = "gVisor") \
	X##_INSIDE(&runc_schema, "runc", .doc = "runc") \
	X(bool, selinux_enabled, "selinuxEnabled", .doc = "label containers for SELinux") \
	X##_INSIDE_IF(has_nri, &nri_schema, "nri", .doc = "plugins of the runtime") \
	X(bool, use_ecr_credentials_for_mirrors, "useECRCredentialsForMirrors", .doc = "mirrors are logged in to as ECR is") \
	X(bool, install_crictl, "installCriCtl", .doc = "install crictl") \
	X(bool, install_nerdctl, "installNerdCtl", .doc = "install nerdctl") \
	X(const char *, sandbox_image, "sandboxImage", .doc = "image of each pod's first container")
/* clang-format on */
