# What people type. The build itself is meson's; this installs what it needs and calls it.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-real test-k8s test-oidc test-vm lint format docs bench fuzz soak mutants portable install clean

comma := ,

BUILD    := build
SANITIZE := build-sanitize
RELEASE  := build-release
FUZZ     := build-fuzz
PORTABLE := build-portable

# Quiet but for the progress unless something is wrong: $(call ninja,DIR,TARGETS), $(call meson,DIR,OPTIONS).
quietly = log=$$(mktemp) && if $(1) >$$log 2>&1; then rm -f $$log; else cat $$log; rm -f $$log; exit 1; fi
ninja = tools/progress.sh -C $(1) $(2)
meson = echo 'setting up $(1)' && $(call quietly,meson setup $(1) $(2))

# What a node runs, and the host of slurmctld.
NODE := lockstep-agent lockstep-helper slurm-health slurm-epilog slurm-prolog $(addprefix executors/,accept apt dnf firmware hook image settings)

# Seconds for each fuzz target; `make soak` gives them longer, and runs the tests as often as SOAK_REPEAT.
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 900
SOAK_REPEAT ?= 20

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: ## install the Debian packages that everything below needs
	@tools/setup.sh build test lint real bench

build: $(BUILD)/build.ninja ## build into build/
	@tools/renew.sh $(BUILD)
	@$(call ninja,$(BUILD))

demo: build ## a tour of the commands, firmware on simulated BMCs, 200 agents, jobs of a real Slurm, changes across 128 and 48 nodes
	@tools/setup.sh demo
	@tools/tour.sh $(BUILD)
	@tools/firmware-demo.sh $(BUILD)
	@tools/fleet-demo.sh $(BUILD)
	@tools/slurm-demo.sh $(BUILD)
	@tools/campaign-demo.sh $(BUILD)
	@tools/gate-demo.sh $(BUILD)

# Packages first: what is built, and so which tests there are, depends on them.
test: ## all tests with gcc, and again with clang under ASan and UBSan
	@tools/setup.sh build test mutants
	@$(MAKE) build $(SANITIZE)/build.ninja
	@tools/renew.sh $(SANITIZE)
	@$(call ninja,$(SANITIZE))
	@tools/test.sh all $(BUILD) $(SANITIZE)

# Requests at random are put to a daemon with sanitizers, by schemathesis too. Python's programs are
# fetched before the tests run.
asking = LKS_SANITIZED=$(abspath $(SANITIZE))/lockstepd \
	LKS_SCHEMATHESIS=$$(tools/venv.sh tools/schemathesis.txt) \
	LKS_REDFISH_VALIDATORS=$$(tools/venv.sh tools/redfish-validators.txt)

test-real: ## compare with the real programs whose formats we read
	@tools/setup.sh build real
	@$(MAKE) build $(SANITIZE)/build.ninja
	@$(call ninja,$(SANITIZE),lockstepd)
	@$(asking) tools/test.sh real $(BUILD)

# A machine without Go is told what is missing; where CI is set, that is a failure.
test-k8s: ## drains, evictions, verdicts, chart and admission with the control plane of a real Kubernetes, which is built first and once: needs Go (tools/k8s.sh)
	@tools/setup.sh build k8s
	@$(MAKE) build
	@if tools/k8s.sh >/dev/null; then tools/test.sh k8s $(BUILD); elif [ $$? -ne 77 ] || [ -n "$$CI" ]; then exit 1; fi

test-oidc: build ## log in with a real Dex, which is built first and once: needs Go (tools/dex.sh)
	@tests/real/oidc.py $(BUILD) "$${LKS_DEX:-$$(tools/dex.sh)}"

# Not among what every change has to pass: two emulated machines take 20 to 30 minutes on two cores.
test-vm: build portable ## changes of kernels with real reboots, on two virtual machines; as root, on Debian 12
	@tools/setup.sh vm
	@python3 -B tests/vm/run.py $(BUILD) $(PORTABLE)

lint: build ## clang-format, clang-tidy, cppcheck, shellcheck, words
	@tools/setup.sh lint
	@tools/lint.sh $(BUILD)

format: ## let clang-format lay the sources out
	@tools/setup.sh lint
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

docs: build ## write the reference pages anew from the tables
	@tools/docs.sh $(BUILD)

bench: $(RELEASE)/build.ninja ## measure, each figure beside its rival; PARTS="journal agent" for some
	@tools/setup.sh bench
	@$(call ninja,$(RELEASE),bench-programs)
	@$(RELEASE)/bench/bench $(PARTS)

fuzz: $(FUZZ)/build.ninja ## fuzz every parser for FUZZ_SECONDS (60) each
	@$(call ninja,$(FUZZ))
	@tools/fuzz.sh $(FUZZ) $(FUZZ_SECONDS)

soak: build $(SANITIZE)/build.ninja ## the tests SOAK_REPEAT (20) times, kills everywhere, planted bugs, then fuzzing for SOAK_SECONDS (900) each
	@$(call ninja,$(SANITIZE))
	@meson test -C $(SANITIZE) --no-suite real --no-suite k8s --repeat $(SOAK_REPEAT) --print-errorlogs
	@if tools/k8s.sh >/dev/null; then LKS_K8S_NODES=5000 meson test -C $(BUILD) 'k8s truth' --print-errorlogs; \
		elif [ $$? -ne 77 ]; then exit 1; fi
	@tools/setup.sh real
	@$(asking) meson test -C $(BUILD) --benchmark --verbose
	@$(MAKE) fuzz FUZZ_SECONDS=$(SOAK_SECONDS)

# Hours on two cores, and resumable. The parser is a package of Debian's own python3.
mutants: ## plant MUTANTS (400) small faults by SEED (1), and report in docs/mutants.md those that no test finds
	@tools/setup.sh build test mutants
	@SEED=$(or $(SEED),1) MUTANTS=$(or $(MUTANTS),400) CC_LD=gold CLANG='$(CLANG)' \
		SANITIZED="$(SANITIZED) -Doptimization=1" /usr/bin/python3 -B tools/mutants.py

portable: $(PORTABLE)/build.ninja ## build-portable/ for x86_64, command line and all of a node: need glibc and nothing else
	@$(call ninja,$(PORTABLE),lockstep $(NODE))
	@cp executors/reboot $(PORTABLE)/executors/
	@tools/portable.sh $(addprefix $(PORTABLE)/,lockstep $(NODE))

install: $(RELEASE)/build.ninja ## install the programs (DESTDIR and PREFIX as usual)
	@$(if $(PREFIX),meson configure $(RELEASE) --prefix $(PREFIX))
	@tools/renew.sh $(RELEASE)
	@$(call ninja,$(RELEASE),lockstep lockstepd lockstep-bmcsim lockstep-agentsim packaging/man1 $(NODE) \
		$$(ninja -C $(RELEASE) -t targets all | sed -n 's,^\(lockstep-slurm-bridge\|plugins/slurm/[^/]*\.so\):.*,\1,p'))
	@meson install -C $(RELEASE) --no-rebuild --only-changed

clean: ## remove everything that was built
	@rm -rf $(BUILD) $(SANITIZE) $(RELEASE) $(FUZZ) $(PORTABLE)

# Each directory is set up once; meson itself notices later changes of its files. There are hundreds of
# test programs to link, and gold takes a third of the time for it.
$(BUILD)/build.ninja:
	@tools/setup.sh build
	@export CC_LD=gold; $(call meson,$(BUILD))

# Meson puts ccache before gcc by itself, but not before a compiler that it is told of.
CLANG := $(if $(shell command -v ccache),ccache) clang

# UBSan ends a program as ASan does: by itself it only prints, and the test passes. ASan does not see a
# variable that is read before it is set: it starts as a pattern that no pointer has. Debug information
# for stack traces alone: less to compile, and much less to link.
SANITIZED := -Db_sanitize=address$(comma)undefined -Db_lundef=false \
	-Dc_args='-fno-sanitize-recover=all -ftrivial-auto-var-init=pattern -gline-tables-only'

$(SANITIZE)/build.ninja:
	@tools/setup.sh build test
	@export CC='$(CLANG)' CC_LD=gold; $(call meson,$(SANITIZE),$(SANITIZED) -Doptimization=1)

# Optimizers of other versions find other things to warn of: a warning stops the builds above, which
# every change passes, and not the build that people install.
$(RELEASE)/build.ninja:
	@tools/setup.sh build
	@$(call meson,$(RELEASE),--buildtype release -Dwerror=false)

# On another architecture Debian's cross compiler and its packages for amd64 do it.
NATIVE := $(filter x86_64,$(shell uname -m))

$(PORTABLE)/build.ninja:
	@tools/setup.sh build $(if $(NATIVE),,cross)
	@$(call meson,$(PORTABLE),--buildtype release -Dwerror=false -Dportable=true -Dc_link_args=-s \
		$(if $(NATIVE),,--cross-file tools/x86_64.cross))

$(FUZZ)/build.ninja:
	@tools/setup.sh build test
	@export CC='$(CLANG)'; $(call meson,$(FUZZ),-Dfuzzing=true $(SANITIZED))
