/* list_env.h - the keys of kube_env.yaml and of an instance group of kops 1.8, in the form of list_cluster.h
 * Owner: constants. Errors: none. Threads: all. Source: kops 1.8.1 pkg/apis/nodeup, pkg/apis/kops/v1alpha2. */
#pragma once

/* clang-format off */
/* source: kops 1.8.1 pkg/apis/nodeup/config.go Config */
#define KOPS18_ENV(X) \
	X(struct strv, tags, "Tags", .doc = "what this node is: _aws, _kubernetes_master...") \
	/* a sequence, kept for its positions */ \
	X(const struct tree *, assets, "Assets", .secret = true, .doc = "hash@url[,mirror] of each file to fetch") \
	X(const struct tree *, images, "images", .secret = true, .doc = "image archives to load: name, source, hash") \
	X(const char *, config_base, "ConfigBase", .doc = "where the cluster's documents are") \
	X(const char *, cluster_location, "ClusterLocation", .doc = "the cluster spec itself (deprecated)") \
	X(const char *, instance_group_name, "InstanceGroupName", .doc = "instance group of this node") \
	X(const char *, cluster_name, "ClusterName", .required = true, .doc = "name of the cluster") \
	X(const struct tree *, protokube_image, "protokubeImage", .secret = true, .doc = "protokube: name, source, hash") \
	X(struct strv, channels, "channels", .secret = true, .doc = "addon channels for protokube") \
	X(const char *, docker_storage, "DOCKER_STORAGE", .doc = "kube-up's: the instance store for docker and kubelet") \
	X(const char *, kube_aws_storage, "KUBE_AWS_STORAGE", .oneof = "ephemeral|ebs|", \
	  .doc = "kube-up's: ebs leaves the instance store alone") \
	X(const struct tree *, volume_mounts, "volumeMounts", .doc = "disks, as in the instance group") \
	X(const char *, assets_signature, "assetsSignature", .doc = "of minisign, over the lines of Assets; not of kops")

/* the settings of nodeup.d, and other keys of nodeup */
#define KOPS18_SETTINGS(X) \
	X(const struct tree *, settings.url_rewrites, "urlRewrites", .shape = TREE_SEQ, .secret = true, \
	  .doc = "FROM=TO: where URLs that begin so are fetched instead; not of kops") \
	X(const struct tree *, settings.mirrors, "mirrors", .shape = TREE_SEQ, .secret = true, \
	  .doc = "FROM=TO: where assets whose URLs begin so are asked for first; not of kops") \
	X(const struct tree *, settings.accept, "accept", .shape = TREE_SEQ, \
	  .doc = "keys whose values go on with a warning where a program is said to refuse them; not of kops") \
	X(const char *, settings.ca_bundle, "caBundle", \
	  .doc = "file of the CA certificates that servers are checked by; not of kops") \
	X(const struct tree *, settings.public_keys, "publicKeys", .shape = TREE_SEQ, \
	  .doc = "public keys of minisign, if the machine has none of its own; not of kops") \
	X(struct opt_bool, settings.require_signatures, "requireSignatures", \
	  .doc = "refuse assets without a signature; not of kops") \
	X(struct opt_bool, settings.keep_assets, "keepAssets", \
	  .doc = "keep a copy of each program in the cache; not of kops") \
	X(struct opt_bool, settings.ignore_host_checks, "ignoreHostChecks", \
	  .doc = "try a Kubernetes that cannot run on this host; not of kops") \
	X(struct opt_bool, settings.quiet_console, "quietConsole", \
	  .doc = "write nothing on the console of the machine; not of kops") \
	X(struct opt_dur, settings.console_after, "consoleAfter", \
	  .doc = "age of a run at which the console is told what it waits for; not of kops") \
	X(const char *, settings.status_url, "statusURL", \
	  .doc = "s3://BUCKET/PREFIX where the status of each run goes as well; not of kops") \
	X(const char *, settings.reserved, "reserved", .oneof = "eks|gke", \
	  .doc = "whose formula works out kube-reserved, if the documents have none; not of kops") \
	X(const struct tree *, settings.store_policy, "instanceStorePolicy", .shape = TREE_SCALAR, \
	  .doc = "RAID0: the NVMe disks of the instance store become one, for docker, kubelet and logs; not of kops") \
	X(const char *, settings.store_filesystem, "instanceStoreFilesystem", .oneof = "ext4|xfs|btrfs", \
	  .doc = "what instanceStorePolicy makes there; not of kops") \
	X(struct strv, packages, "packages", .doc = "packages of the distribution to install; not of kops")

/* source: kops 1.8.1 pkg/apis/nodeup/config.go Image */
#define KOPS18_IMAGE(X) \
	X(const char *, name, "name", .doc = "image name for the runtime") \
	X(const char *, source, "source", .doc = "URL of the archive") \
	X(const char *, hash, "hash", .doc = "hash of the archive") \
	X(const char *, signature, "signature", .doc = "of minisign, over the archive; not of kops")

#define KOPS18_OBJECT(X) \
	X(const char *, api_version, "apiVersion", .oneof = "kops/v1alpha2", .doc = "version of the object") \
	X(const char *, kind, "kind", .doc = "kind of the object") \
	X(const struct tree *, metadata, "metadata", .doc = "its name and labels") \
	X(const struct tree *, spec, "spec", .doc = "the document proper") \
	X(const struct tree *, status, "status", .doc = "not used")

/* source: kops 1.8.1 pkg/apis/kops/v1alpha2/instancegroup.go InstanceGroupSpec */
#define KOPS18_IG(X) \
	X(const char *, role, "role", .oneof = "Master|Node|Bastion", .doc = "role of the group") \
	X(struct strmap, node_labels, "nodeLabels", .accepts = &accepts_node_labels, .doc = "labels of its nodes") \
	X(struct strv, taints, "taints", .format = &format_taint, .accepts = &accepts_taints, .doc = "taints of its nodes") \
	X##_IF(struct kubelet_spec, kubelet, has_kubelet, &kubelet_schema, "kubelet", .doc = "laid over the cluster's kubelet section") \
	X(const struct tree *, hooks, "hooks", .secret = true, .doc = "units of the user's own") \
	X(const struct tree *, file_assets, "fileAssets", .secret = true, .doc = "files of the user's own") \
	X(const struct tree *, volume_mounts, "volumeMounts", .doc = "disks to be formatted and mounted") \
	X##_UNUSED("image", SCALAR) \
	X##_UNUSED("minSize", SCALAR) \
	X##_UNUSED("maxSize", SCALAR) \
	X##_UNUSED("machineType", SCALAR) \
	X##_UNUSED("rootVolumeSize", SCALAR) \
	X##_UNUSED("rootVolumeType", SCALAR) \
	X##_UNUSED("rootVolumeIops", SCALAR) \
	X##_UNUSED("rootVolumeOptimization", SCALAR) \
	X##_UNUSED("subnets", SEQ) \
	X##_UNUSED("zones", SEQ) \
	X##_UNUSED("maxPrice", SCALAR) \
	X##_UNUSED("associatePublicIp", SCALAR) \
	X##_UNUSED("additionalSecurityGroups", SEQ) \
	X##_UNUSED("cloudLabels", MAP) \
	X##_UNUSED("tenancy", SCALAR) \
	X##_UNUSED("additionalUserData", SEQ, .secret = true)
/* clang-format on */
