#include "nodeup/plan/docker.h"

#include "nodeup/base/mem.h"

/* clang-format off */
#define DEB_DEPS "bridge-utils libapparmor1 libltdl7 perl"
#define XENIAL_DEPS "bridge-utils iptables libapparmor1 libltdl7 perl"
#define RPM_DEPS "libtool-ltdl libseccomp libcgroup"
#define APT "http://apt.dockerproject.org/repo/pool/main/d/docker-engine/docker-engine_"
#define YUM "https://yum.dockerproject.org/repo/main/centos/7/Packages/docker-engine-"
#define CE "http://download.docker.com/linux/"
#define CE_YUM "https://download.docker.com/linux/centos/7/x86_64/stable/Packages/docker-ce-"

/* source: kops 1.8.1 nodeup/pkg/model/docker.go; 1.9.1: kube-up 1.2 cluster/saltbase/salt/docker/init.sls */
const struct docker_package docker_packages[] = {
	{ "jessie", "1.9.1", "docker-engine", APT "1.9.1-0~jessie_amd64.deb",
	  "c58c39008fd6399177f6b2491222e4438f518d78", DEB_DEPS },
	{ "jessie", "1.11.2", "docker-engine", APT "1.11.2-0~jessie_amd64.deb",
	  "c312f1f6fa0b34df4589bb812e4f7af8e28fd51d", DEB_DEPS },
	{ "xenial", "1.11.2", "docker-engine", APT "1.11.2-0~xenial_amd64.deb",
	  "194bfa864f0424d1bbdc7d499ccfa0445ce09b9f", DEB_DEPS },
	{ "centos7 rhel7", "1.11.2", "docker-engine-selinux", YUM "selinux-1.11.2-1.el7.centos.noarch.rpm",
	  "f6da608fa8eeb2be8071489086ed9ff035f6daba", "" },
	{ "centos7 rhel7", "1.11.2", "docker-engine", YUM "1.11.2-1.el7.centos.x86_64.rpm",
	  "432e6d7948df9e05f4190fce2f423eedbfd673d5", "libtool-ltdl" },
	{ "jessie", "1.12.1", "docker-engine", APT "1.12.1-0~jessie_amd64.deb",
	  "0401866231749abaabe8e09ee24432132839fe53", DEB_DEPS },
	{ "xenial", "1.12.1", "docker-engine", APT "1.12.1-0~xenial_amd64.deb",
	  "30f7840704361673db2b62f25b6038628184b056", DEB_DEPS },
	{ "centos7 rhel7", "1.12.1", "docker-engine-selinux", YUM "selinux-1.12.1-1.el7.centos.noarch.rpm",
	  "52ec22128e70acc2f76b3a8e87ff96785995116a", "" },
	{ "centos7 rhel7", "1.12.1", "docker-engine", YUM "1.12.1-1.el7.centos.x86_64.rpm",
	  "636471665665546224444052c3b48001397036be", "libtool-ltdl" },
	{ "jessie", "1.12.3", "docker-engine", APT "1.12.3-0~jessie_amd64.deb",
	  "7c7eb45542b67a9cfb33c292ba245710efb5d773", DEB_DEPS },
	{ "xenial", "1.12.3", "docker-engine", APT "1.12.3-0~xenial_amd64.deb",
	  "b758fc88346a1e5eebf7408b0d0c99f4f134166c", DEB_DEPS },
	{ "centos7 rhel7", "1.12.3", "docker-engine-selinux", YUM "selinux-1.12.3-1.el7.centos.noarch.rpm",
	  "a6b0243af348140236ed96f2e902b259c590eefa", "" },
	{ "centos7 rhel7", "1.12.3", "docker-engine", YUM "1.12.3-1.el7.centos.x86_64.rpm",
	  "67fbb78cfb9526aaf8142c067c10384df199d8f9", "libtool-ltdl libseccomp" },
	{ "jessie", "1.12.6", "docker-engine", APT "1.12.6-0~debian-jessie_amd64.deb",
	  "1a8b0c4e3386e12964676a126d284cebf599cc8e", DEB_DEPS },
	{ "stretch", "1.12.6", "docker-engine", APT "1.12.6-0~debian-stretch_amd64.deb",
	  "18bb7d024658f27a1221eae4de78d792bf00611b", DEB_DEPS " libseccomp2" },
	{ "xenial", "1.12.6", "docker-engine", APT "1.12.6-0~ubuntu-xenial_amd64.deb",
	  "fffc22da4ad5b20715bbb6c485b2d2bb7e84fd33", XENIAL_DEPS },
	{ "centos7 rhel7", "1.12.6", "docker-engine-selinux", YUM "selinux-1.12.6-1.el7.centos.noarch.rpm",
	  "9a6ee0d631ca911b6927450a3c396e9a5be75047", "policycoreutils-python" },
	{ "centos7 rhel7", "1.12.6", "docker-engine", YUM "1.12.6-1.el7.centos.x86_64.rpm",
	  "776dbefa9dc7733000e46049293555a9a422c50e", RPM_DEPS },
	{ "jessie", "1.13.1", "docker-engine", APT "1.13.1-0~debian-jessie_amd64.deb",
	  "1d3370549e32ea13b2755b2db8dbc82b2b787ece", DEB_DEPS },
	{ "stretch", "1.13.1", "docker-engine", APT "1.13.1-0~debian-stretch_amd64.deb",
	  "19296514610aa2e5efddade5222cafae7894a689", DEB_DEPS },
	{ "xenial", "1.13.1", "docker-engine", APT "1.13.1-0~ubuntu-xenial_amd64.deb",
	  "d12cbd686f44536c679a03cf0137df163f0bba5f", XENIAL_DEPS },
	{ "centos7 rhel7", "1.13.1", "docker-engine-selinux", YUM "selinux-1.13.1-1.el7.centos.noarch.rpm",
	  "948c518a610af631fa98aa32d9bcd43e9ddd5ebc", "policycoreutils-python" },
	{ "centos7 rhel7", "1.13.1", "docker-engine", YUM "1.13.1-1.el7.centos.x86_64.rpm",
	  "b18f7fd8057665e7d2871d29640e214173f70fe1", RPM_DEPS },
	{ "jessie", "17.03.2", "docker-ce", CE "debian/dists/jessie/pool/stable/amd64/docker-ce_17.03.2~ce-0~debian-jessie_amd64.deb",
	  "a7ac54aaa7d33122ca5f7a2df817cbefb5cdbfc7", DEB_DEPS },
	{ "stretch", "17.03.2", "docker-ce", CE "debian/dists/stretch/pool/stable/amd64/docker-ce_17.03.2~ce-0~debian-stretch_amd64.deb",
	  "36773361cf44817371770cb4e6e6823590d10297", DEB_DEPS },
	{ "xenial", "17.03.2", "docker-ce", CE "ubuntu/dists/xenial/pool/stable/amd64/docker-ce_17.03.2~ce-0~ubuntu-xenial_amd64.deb",
	  "4dcee1a05ec592e8a76e53e5b464ea43085a2849", XENIAL_DEPS },
	{ "centos7 rhel7", "17.03.2", "docker-ce-selinux", CE_YUM "selinux-17.03.2.ce-1.el7.centos.noarch.rpm",
	  "4659c937b66519c88ef2a82a906bb156db29d191", "policycoreutils-python" },
	{ "centos7 rhel7", "17.03.2", "docker-ce", CE_YUM "17.03.2.ce-1.el7.centos.x86_64.rpm",
	  "494ca888f5b1553f93b9d9a5dad4a67f76cf9eb5", RPM_DEPS },
	{ "jessie", "17.09.0", "docker-ce", CE "debian/dists/jessie/pool/stable/amd64/docker-ce_17.09.0~ce-0~debian_amd64.deb",
	  "430ba87f8aa36fedcac1a48e909cbe1830b53845", DEB_DEPS },
	{ "xenial", "17.09.0", "docker-ce", CE "ubuntu/dists/xenial/pool/stable/amd64/docker-ce_17.09.0~ce-0~ubuntu_amd64.deb",
	  "94f6e89be6d45d9988269a237eb27c7d6a844d7f", XENIAL_DEPS },
	{ "centos7 rhel7", "17.09.0", "docker-ce", CE_YUM "17.09.0.ce-1.el7.centos.x86_64.rpm",
	  "b4ce72e80ff02926de943082821bbbe73958f87a", RPM_DEPS },
};
/* clang-format on */
const size_t n_docker_packages = ARRAY_LEN(docker_packages);
