# make deps, then make; make help lists the targets.  One object tree per compiler and variant: build/<cc>-<release|asan|tsan>/.
#   make CC=clang · make SAN=asan · make V=1 · make install DESTDIR=...
#   make ARCH=arm64 deps all: of another architecture than this machine's, in build/arm64
VERSION := 0.1.0
DIRS    := nodeup nodeup/base nodeup/config nodeup/config/kops nodeup/config/kops18 nodeup/config/kubeup nodeup/volumes nodeup/template nodeup/aws nodeup/host nodeup/join nodeup/documents \
           nodeup/tasks nodeup/move nodeup/plan nodeup/plan/kops nodeup/plan/kops18 nodeup/plan/kubeup nodeup/run nodeup/cmd assets assets/http assets/unpack assets/cache assets/fetch \
           units manifests userdata
LIBS    := curl cares ssl crypto systemd archive isal yaml jansson expat blkid z lzma zstd lz4 m

# The date of a release, so that the same sources give the same bytes: that of the last commit.
ifndef SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH := $(or $(shell git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y CHANGELOG.md))
endif
export SOURCE_DATE_EPOCH

prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
mandir  ?= $(prefix)/share/man
bashdir ?= $(prefix)/share/bash-completion/completions
zshdir  ?= $(prefix)/share/zsh/site-functions
fishdir ?= $(prefix)/share/fish/vendor_completions.d
catalogdir ?= $(prefix)/lib/systemd/catalog
# Of another architecture all has a folder of its own: what is built, what it is linked with, and how it is run here.
OWN     := $(if $(filter x86_64,$(shell uname -m)),amd64,arm64)
OTHER   := $(filter-out $(OWN),amd64 arm64)
ARCH    ?= $(OWN)
override ARCH := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(ARCH)))
$(if $(filter amd64 arm64,$(ARCH)),,$(error ARCH is amd64 or arm64, not '$(ARCH)'))
MACHINE := $(if $(filter amd64,$(ARCH)),x86_64,aarch64)
ifeq ($(ARCH),$(OWN))
OUT     := build
DEPS    := build/deps
CROSS   :=
RUN     :=
THERE   :=
else
OUT     := build/$(ARCH)
DEPS    := build/deps-$(ARCH)
CROSS   := $(MACHINE)-linux-gnu-
RUN     := $(DEPS)/qemu
THERE   := $(CURDIR)/$(DEPS)/root
endif
ifeq ($(origin CC),default)
CC      := $(CROSS)gcc$(if $(CROSS), --sysroot=$(DEPS)/root -B$(DEPS)/root/usr/lib/$(MACHINE)-linux-gnu)
endif
VARIANT := $(notdir $(patsubst $(CROSS)%,%,$(firstword $(CC))))-$(or $(SAN),release)
B       := $(OUT)/$(VARIANT)
O       := $(B)/obj
Q       := $(if $(V),,@)
SUBMAKE  = +$(Q)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

CPPFLAGS += -I. -isystem $(DEPS)/include -D_GNU_SOURCE -DCURL_STATICLIB -DNODEUP_VERSION='"$(VERSION)"'
CFLAGS   += -std=gnu17 -O2 -g -fPIE -pthread -ffunction-sections -fdata-sections -Werror -Wall -Wextra \
            -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wformat=2 \
            -Wno-format-nonliteral -Wno-missing-field-initializers -Wvla -Wundef -Wpointer-arith \
            -Wwrite-strings -Wcast-align -Wimplicit-fallthrough
# The folder is no part of a program: with it in what a debugger reads, another folder would give another build id.
CFLAGS   += '-ffile-prefix-map=$(CURDIR)=.'
LDFLAGS  += -pthread -L$(DEPS)/lib -Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack,--fatal-warnings
# For what is linked two hundred times and never shipped.
QUICKLY  := $(if $(CROSS),,-fuse-ld=lld)
comma    := ,
LDLIBS   := -Wl,-Bstatic,--start-group $(LIBS:%=-l%) -Wl,--end-group
DYNAMIC  := -Wl,-Bdynamic
ifdef SAN
CHECKED  := address$(comma)undefined
CFLAGS   += -fsanitize=$(if $(filter tsan,$(SAN)),thread,$(CHECKED)$(if $(filter fuzz,$(SAN)),$(comma)fuzzer-no-link)) \
            -fno-sanitize-recover=all -fno-omit-frame-pointer
# What is built for a check alone: half the time of compiling, and names and lines are all that a report needs.
CFLAGS   += $(if $(filter fuzz,$(SAN)),,-O1 -g1)
LDFLAGS  += -pie $(QUICKLY)
LDLIBS   += $(DYNAMIC)
else
X86      := $(filter amd64,$(ARCH))
# Nothing unwinds the stack at run time, and a debugger has its own tables.
# The libraries hash, inflate and encrypt; what is our own is a tenth of a run, and smaller by 200 KB so.
CFLAGS   += -Os -fstack-protector-strong -fstack-clash-protection $(if $(X86),-fcf-protection,-mbranch-protection=standard) -D_FORTIFY_SOURCE=2 \
            -fno-asynchronous-unwind-tables
$(O)/nodeup/base/%.o: CFLAGS += -O2
# Half a megabyte of relocations in some kilobytes, where the linker knows how.
UNWIND   := tools/no_unwind.ld
STATIC   := -static-pie -Wl,--wrap=dlopen,--no-eh-frame-hdr,-T,$(UNWIND)$(if $(X86),$(comma)-z$(comma)pack-relative-relocs)
STUBS    := $(O)/nodeup/base/nss_stubs.o
endif
# The tests that look for races need no room above these: of SAN=tsan there are unit tests and no program.
ifeq ($(SAN),tsan)
DIRS     := $(filter-out nodeup nodeup/cmd nodeup/plan nodeup/plan/%,$(DIRS))
endif

# A unit test is one file; what the tests share (and the fakes of our own interfaces) is linked to each.
# Every other x.c of tests/fake and tests/e2e, with x_*.c or by itself, is a static program of its own.
EDGE   := nodeup/main.c nodeup/base/nss_stubs.c
SRCS   := $(filter-out $(EDGE),$(wildcard $(DIRS:%=%/*.c) $(DIRS:%=%/*.S)))
OBJS   := $(addsuffix .o,$(basename $(SRCS:%=$(O)/%)))
# What looks for races has the tests of rooms that start threads. ONCE=1: gcc's release has the others, and each is run by gcc once.
TESTS  := $(shell find tests/unit -name 'test_*.c' | LC_ALL=C sort)
RACES  := $(filter tests/unit/base/test_pool.c $(addprefix tests/unit/,assets/% documents/% run/% tasks/%),$(TESTS))
# Of another architecture ONCE=1 has one of each room, the first that asks the emulator for nothing that it refuses. What it refuses
# a whole machine runs.
REFUSED := $(patsubst %,tests/unit/assets/unpack/test_%.c,bombs confine extract extract_read extract_take extract_watch)
EMULATED := $(filter-out $(REFUSED),$(TESTS))
STANDS  = $(foreach room,$(sort $(dir $(EMULATED))),$(firstword $(foreach test,$(EMULATED),$(if $(filter $(room),$(dir $(test))),$(test)))))
GCCS    = $(filter-out $(if $(ONCE),$(if $(SAN),,$(RACES))),$(TESTS))
UNIT   := $(patsubst %.c,$(B)/%,$(if $(CROSS),$(if $(ONCE),$(STANDS),$(EMULATED)),$(if $(filter tsan,$(SAN)),$(RACES),$(GCCS))))
WHOLE  := $(if $(CROSS),$(patsubst %.c,$(B)/%,$(REFUSED)))
SHARED := $(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/lib/*.c tests/fake/*_fake.c))
FAKES  := $(patsubst tests/%.c,$(OUT)/%,$(filter-out $(wildcard tests/fake/*_*.c),$(wildcard tests/fake/*.c \
          tests/e2e/*.c)))

# What the virtual machines of the tests are made with, besides QEMU of the architecture.
VM_NEEDS := cpio kmod
VM_QEMU  := qemu-system-$(if $(filter amd64,$(ARCH)),x86,arm)
# What makes a package for another family than this machine's.
PACKAGE_NEEDS := rpm

.PHONY: help all deps variant fakes unit list-unit t quick demo demo-shell check check-builds check-lab check-unit check-cases check-system check-e2e check-salt check-kops fuzz-template fuzz-kops fuzz-join fuzz-kubeup check-vm check-long \
        lint measure format bench install dist deb rpm clean
.SECONDARY:
.DELETE_ON_ERROR:

# A target's line of help stands behind ##.
all: ## build/nodeup; ARCH=arm64: build/arm64/nodeup
all: variant $(if $(filter gcc-release,$(VARIANT)),$(OUT)/nodeup)
help: ## this list
	@sed -n 's/^\([a-z-]*\): ## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
variant: $(B)/nodeup
unit: $(UNIT)
list-unit:
	@printf '%s\n' $(UNIT:%='$(RUN) %')
fakes: $(FAKES)
deps: ## once: what the build and the tests need, as root on Debian 12
	$(Q)ARCH=$(ARCH) tools/deps.sh
$(DEPS)/stamp:
	@echo "run 'make $(if $(CROSS),ARCH=$(ARCH) )deps' first" >&2; exit 1

$(O)/%.o: %.c Makefile $(DEPS)/stamp
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Text the program carries: .incbin below the root; the compiler does not see what it reads.
$(O)/%.o: %.S Makefile $(wildcard $(DIRS:%=%/*.in) nodeup/*.8)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Wa,-I. -c -o $@ $<

# The version is an input of what tells it: that of the command line may be another one than the last time.
$(shell mkdir -p $(B) && echo '$(VERSION)' | cmp -s - $(B)/version || echo '$(VERSION)' >$(B)/version)
$(O)/nodeup/cmd/cli.o: $(B)/version

# A source that went away must leave the library too, so the list of objects is one of its inputs.
$(shell mkdir -p $(B) && echo '$(OBJS)' | cmp -s - $(B)/objects || echo '$(OBJS)' >$(B)/objects)
$(B)/libnodeup.a: $(B)/objects $(OBJS)
	$(Q)rm -f $@ && $(CROSS)ar qcs $@ $(OBJS)

$(B)/nodeup: $(O)/nodeup/main.o $(STUBS) $(B)/libnodeup.a $(UNWIND)
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STATIC) -o $@ $(filter-out %.ld,$^) $(LDLIBS)
	$(if $(SAN),,$(Q)! $(CROSS)nm $@ | grep -E ' pthread_(exit|cancel)$$' || { echo "$(UNWIND) leaves out what this needs" >&2; exit 1; })

$(OUT)/nodeup: $(B)/nodeup
	$(Q)$(CROSS)strip -o $@.new $< && mv $@.new $@

# A test of another architecture has its loader and libraries where these were unpacked.
LOADER := $(if $(CROSS),-Wl$(comma)--dynamic-linker=$(wildcard $(THERE)/lib/ld-linux-*) \
          $(patsubst %,-Wl$(comma)-rpath=$(THERE)/%/$(MACHINE)-linux-gnu,lib usr/lib))
$(UNIT) $(WHOLE): $(B)/%: $(O)/%.o $(SHARED) $(B)/libnodeup.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(QUICKLY) -Wl,--wrap=main -pie -o $@ $^ $(LDLIBS) $(DYNAMIC) -lcmocka $(LOADER)

FUZZLIB := $(patsubst %.c,$(O)/%.o,$(wildcard tests/fuzz/lib/*.c))
$(B)/fuzz-%: $(O)/tests/fuzz/%.o $(FUZZLIB) $(B)/libnodeup.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(filter-out -lm,$(LDLIBS)) $(DYNAMIC) -lm

.SECONDEXPANSION:
$(FAKES): $(OUT)/%: $(O)/tests/%.o $$(addprefix $(O)/,$$(addsuffix .o,$$(basename $$(wildcard tests/$$*_*.c)))) $(STUBS) $(B)/libnodeup.a $(UNWIND)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STATIC) -o $@ $(filter-out %.ld,$^) $(LDLIBS)

# Everything a check needs. gcc builds what is released and what looks for races, clang what looks for errors of memory
# and arithmetic: so each file is compiled, and each unit test run, by both. tests/run runs the suites and sums them up.
check: ## a test of each kind of fault, with gcc, clang and the sanitizers
	$(Q)tools/deps.sh packages
	$(Q)ARCH=$(OTHER) tools/deps.sh packages
	$(Q)tools/apt.sh install $(PACKAGE_NEEDS)
	$(Q)! command -v qemu-system-x86_64 >/dev/null || tools/apt.sh install $(VM_NEEDS)
	+$(Q)$(MAKE) --no-print-directory -j$(words x $(shell seq $$(nproc))) check-builds check-lab
	$(Q)ONCE=1 VARIANTS="gcc-release clang-asan gcc-tsan $(OTHER)-release" tests/run
check-builds: deps
	$(SUBMAKE) ONCE=1 all unit fakes
	$(SUBMAKE) CC=clang SAN=asan variant unit
	$(SUBMAKE) SAN=tsan unit
	$(Q)ARCH=$(OTHER) tools/deps.sh
	$(SUBMAKE) ARCH=$(OTHER) ONCE=1 all unit
check-lab:
	-$(Q)tests/prepare
# The inner loop.
t: ## T=run: the unit test tests/unit/**/test_run.c; T=tests/system/test_plan.py[::name]: those of pytest
t: $(if $(filter tests/%,$(T)),all fakes,$(filter %/test_$(T),$(UNIT)))
	$(Q)$(if $(filter tests/%,$(T)),NODEUP=$(CURDIR)/build/nodeup /usr/bin/python3 -m pytest -q -p no:cacheprovider $(T),\
		$(if $(filter %/test_$(T),$(UNIT)),$(foreach test,$(filter %/test_$(T),$(UNIT)),CMOCKA_MESSAGE_OUTPUT=TAP $(RUN) $(test) &&) true,\
		echo "make t: there is no unit test '$(T)'; T=run is tests/unit/**/test_run.c" >&2; exit 1))
quick: ## lints, unit tests and golden cases, with gcc's build alone
quick: all unit
	$(Q)VARIANTS=gcc-release tests/run quick
measure: ## the largest rooms, files, functions and sentences
	$(Q)tests/measure
check-unit: ## one suite of check; so check-cases, check-system, check-e2e, check-vm; ARCH=arm64 check-vm: a machine of arm64
check-unit: unit
	$(SUBMAKE) CC=clang SAN=asan unit
	$(Q)tests/run unit
check-cases: all
	$(SUBMAKE) CC=clang SAN=asan variant
	$(Q)tests/run cases
check-system check-e2e: all fakes
	$(Q)tests/run $(@:check-%=%)
# whose node a first run of today takes over
OLDER = c18c3a82
check-long: ## what takes too long for check: every value, every damage, hundreds of power cuts, a tree without each era
check-long: all fakes unit
	$(Q)RSA_KEYS=1000 RSA_CANDIDATES=10000 $(B)/tests/unit/config/test_rsa
	$(Q)LAYOUTS=1000 $(B)/tests/unit/volumes/test_disk_probe
	$(Q)tests/without_era kops kops18 kubeup
	$(Q)NODEUP=$(CURDIR)/build/nodeup tests/damages
	$(Q)NODEUP=$(CURDIR)/build/nodeup /usr/bin/python3 -m pytest -q --tb=short -p no:cacheprovider -m long tests/cases tests/system tests/e2e tests/vm
	$(Q)if git cat-file -e $(OLDER)^{commit} 2>/dev/null; then tests/takeover $(OLDER); \
	else echo "test_takeover: left out, there is no history of $(OLDER)"; fi
check-salt: ## SALT=DIR: the templates of Kubernetes' own salt trees
check-salt: all
	$(Q)SALT=$(SALT) NODEUP=$(CURDIR)/build/nodeup /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/system/test_kubeup_salt.py
check-kops: ## KOPS=DIR: the documents of every cluster of kops' own tests
check-kops: all
	$(Q)KOPS=$(KOPS) NODEUP=$(CURDIR)/build/nodeup /usr/bin/python3 -m pytest -q -rs -s -p no:cacheprovider tests/system/test_kops_goldens.py tests/system/test_kops_pods.py
fuzz-kops: ## one fuzz target, for FUZZ_SECONDS; so fuzz-template, fuzz-join, fuzz-kubeup
fuzz-template fuzz-kops fuzz-join fuzz-kubeup: deps
	$(SUBMAKE) CC=clang SAN=fuzz build/clang-fuzz/$@
	$(Q)SALT=$(SALT) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(@:fuzz-%=%)
check-vm: all fakes $(WHOLE)
	$(if $(filter-out arm64,$(and $(CROSS),$(ARCH))),$(error no machine of $(ARCH) is emulated here: ARCH=arm64 has one))
	$(Q)tools/apt.sh install $(VM_QEMU) $(VM_NEEDS)
	$(if $(CROSS),,$(Q)NODEUP=$(CURDIR)/build/nodeup /usr/bin/python3 -m pytest -q --tb=short -p no:cacheprovider tests/system/test_power_cut.py)
	$(Q)tests/run vm$(if $(CROSS),-$(ARCH))
lint: ## the lints, each of which is itself tested
lint: all
	$(Q)tests/run lint

demo: ## boot throw-away nodes of each dialect to an active kubelet; ARCH=arm64: a worker under QEMU
demo-shell: ## boot one worker and open a shell in it
demo demo-shell: deps
	$(if $(and $(CROSS),$(filter demo-shell,$@)),$(error the shell is in a container of this machine's architecture; make demo ARCH=$(ARCH) boots a machine under QEMU))
	$(SUBMAKE) all fakes
	$(if $(CROSS),$(Q)tools/apt.sh install $(VM_QEMU) $(VM_NEEDS))
	$(Q)$(if $(CROSS),NODEUP=$(CURDIR)/$(OUT)/nodeup tests/vm/demo,tests/e2e/demo $(if $(filter demo-shell,$@),--shell))

bench: ## figures as ratios; QUICK=1: fewer rounds, ONLY=fresh-worker: one row, PEER=FILE: another nodeup beside it
bench: deps
	$(SUBMAKE) all fakes
	$(Q)QUICK=$(QUICK) ONLY=$(ONLY) PEER=$(PEER) tests/bench/run

format: ## clang-format over all sources
	$(Q)clang-format -i $(wildcard $(addsuffix /*.[ch],$(DIRS) tests/fake)) $(shell find tests/unit -name '*.[ch]')

install: ## the program, nodeup(8), the journal's catalog and completion; DESTDIR=, prefix=
install: $(OUT)/nodeup
	install -D -m 755 $(OUT)/nodeup $(DESTDIR)$(bindir)/nodeup
	install -D -m 644 nodeup/nodeup.8 $(DESTDIR)$(mandir)/man8/nodeup.8
	install -d $(DESTDIR)$(catalogdir) $(DESTDIR)$(bashdir) $(DESTDIR)$(zshdir) $(DESTDIR)$(fishdir)
	$(RUN) $(OUT)/nodeup help catalog >$(DESTDIR)$(catalogdir)/nodeup.catalog
	$(RUN) $(OUT)/nodeup completion bash >$(DESTDIR)$(bashdir)/nodeup
	$(RUN) $(OUT)/nodeup completion zsh >$(DESTDIR)$(zshdir)/_nodeup
	$(RUN) $(OUT)/nodeup completion fish >$(DESTDIR)$(fishdir)/nodeup.fish

# As kops lays out its own program: kops reads nodeup.sha256 to render user data, which fetches nodeup.xz and compares
# what it has unpacked. Level 6: a node needs 9 MiB to unpack it, and 65 at level 9.
# Below binaries/kops the address says which kops renders the documents: each is a link to the one program.
RELEASES := 1.29.0 1.29.1 1.29.2 1.30.0 1.30.1 1.30.2 1.30.3 1.30.4 1.31.0 1.32.0 1.32.1 1.32.2 1.32.3 1.32.4 1.33.0 1.33.1 \
            1.33.2 1.34.0 1.34.1 1.34.2 1.34.3 1.35.0 1.35.1 1.35.2 1.36.0 1.36.1 1.36.2 1.37.0
DIST     := build/dist/linux/$(ARCH)
dist: ## build/dist, as kops lays out its own program; KEY=FILE signs it (minisign), ARCH=arm64 lays that one out beside
dist: $(foreach file,nodeup nodeup.xz nodeup.spdx.json,$(DIST)/$(file) $(DIST)/$(file).sha256) $(RELEASES:%=build/dist/binaries/kops/%/linux)
	$(Q)KEY=$(KEY) tools/sign.sh '$(VERSION) $(ARCH)' $(filter-out %.sha256 %/linux,$^)
$(DIST)/nodeup: $(OUT)/nodeup
	$(Q)install -D -m 755 $< $@
$(DIST)/nodeup.xz: $(DIST)/nodeup
	$(Q)xz -6 -T1 -c $< >$@
$(DIST)/nodeup.spdx.json: $(DIST)/nodeup tools/sbom.py
	$(Q)$(RUN) $< version -o json | tools/sbom.py $< $(ARCH) >$@
# kops takes the first word of the file.
$(DIST)/%.sha256: $(DIST)/%
	$(Q)cd $(@D) && sha256sum $(<F) >$(@F)

build/dist/binaries/kops/%/linux:
	$(Q)mkdir -p $(@D) && ln -sfn ../../../linux $@

# Packages of what install installs.
deb: ## a package in build/dist; so rpm; KEY=FILE signs it
deb rpm: $(OUT)/nodeup
	$(Q)tools/apt.sh install $(PACKAGE_NEEDS)
	$(Q)ARCH=$(ARCH) RUN="$(RUN)" KEY=$(KEY) tools/package.sh $@ build/dist

# What took long stays: the built dependencies, and the lab's Debian tree.
clean: ## all that was built, but for the dependencies and the lab
	rm -rf --one-file-system $(filter-out build/deps build/deps-% build/lab,$(wildcard build/*))

-include $(shell find $(O) -name '*.d' 2>/dev/null)
