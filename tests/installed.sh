#!/bin/sh
# What `make install` puts in place is complete: programs, executors, units, completion and manual pages.
#
#     installed.sh BUILD_DIR
set -eu

build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# has NAME CONDITION...: the condition is a command that succeeds
has() {
    name=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat "$scratch/said"
    fi
}

DESTDIR=$scratch/root meson install -C "$build" --no-rebuild --quiet >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
program=$(find "$scratch/root" -path '*/bin/lockstep')
prefix=${program%/bin/lockstep}

for file in \
    bin/lockstep bin/lockstepd bin/lockstep-agent bin/lockstep-helper bin/lockstep-bmcsim bin/lockstep-agentsim \
    libexec/lockstep/executors/accept libexec/lockstep/executors/apt libexec/lockstep/executors/dnf \
    libexec/lockstep/executors/firmware libexec/lockstep/executors/hook libexec/lockstep/executors/image \
    libexec/lockstep/executors/reboot libexec/lockstep/executors/settings \
    libexec/lockstep/slurm-health libexec/lockstep/slurm-epilog libexec/lockstep/slurm-prolog; do
    has "$file is a program" test -x "$prefix/$file"
done
for file in packaging/*.service.in; do
    # The bridge is built where libslurm is.
    [ "$file" != packaging/lockstep-slurm-bridge.service.in ] || [ -x "$build/lockstep-slurm-bridge" ] || continue
    has "$file is installed" test -s "$prefix/lib/systemd/system/$(basename "$file" .in)"
done
for file in lib/systemd/system/lockstep-helper.socket lib/sysusers.d/lockstep.conf lib/tmpfiles.d/lockstep.conf \
    share/bash-completion/completions/lockstep share/fish/vendor_completions.d/lockstep.fish \
    share/zsh/site-functions/_lockstep \
    share/lockstep/roots/h200/lockstep/nvml.csv share/lockstep/examples/agent.conf share/lockstep/examples/executors.enabled \
    share/man/man1/lockstep.1 share/man/man5/lockstepd.yaml.5 \
    share/man/man8/lockstepd.8 share/man/man8/lockstep-agent.8 share/man/man8/lockstep-helper.8 \
    share/man/man8/lockstep-slurm-bridge.8 share/man/man8/slurm-health.8 share/man/man8/slurm-epilog.8 share/man/man8/slurm-prolog.8; do
    has "$file is installed" test -s "$prefix/$file"
done
# Plugins are built where Slurm's headers are.
for file in "$build"/plugins/slurm/*.so; do
    [ ! -e "$file" ] || has "$(basename "$file") is installed" test -s "$prefix/libexec/lockstep/$(basename "$file")"
done

# Each command is on the page of its first word, with an example.
"$prefix/bin/lockstep" help --json | tr '{' '\n' | sed -n 's/^"name":"\([a-z][^"]*\)","group".*/\1/p' \
    >"$scratch/commands"
has 'there are commands' test -s "$scratch/commands"
while read -r command; do
    page=$prefix/share/man/man1/lockstep-${command%% *}.1
    written=$(echo "$command" | sed 's/-/\\\\-/g')
    has "'$command' has a page" grep -q "^\.SS lockstep $written\$" "$page"
    has "'$command' has an example" grep -q "^lockstep $written" "$page"
    has "'$command' is in lockstep(1)" grep -q "^.fB$written.fR" "$prefix/share/man/man1/lockstep.1"
done <"$scratch/commands"

# shellcheck disable=SC2016 # the inner shell expands
has "'sim up' names the installed sample root" sh -c \
    '"$0" sim up "$1/sim" 2>&1 | grep -q -- "--root /.*/share/lockstep/roots/h200;"' "$prefix/bin/lockstep" "$scratch"

# Each option, file and signal that --help of a daemon lists is on its page, and so is each exit status.
for program in lockstepd lockstep-agent lockstep-helper lockstep-slurm-bridge slurm-health slurm-epilog slurm-prolog; do
    [ -x "$prefix/bin/$program" ] || [ "$program" != lockstep-slurm-bridge ] || continue
    folder=bin
    [ -x "$prefix/bin/$program" ] || folder=libexec/lockstep
    "$prefix/$folder/$program" --help | sed -n 's/^  \([^ ]*\).*/\1/p' | sed 's/-/\\-/g' >"$scratch/names"
    has "$program: --help lists options" grep -q '^.-.-help$' "$scratch/names"
    while IFS= read -r name; do
        has "$program(8) has $name" grep -qF "\\fB$name" "$prefix/share/man/man8/$program.8"
    done <"$scratch/names"
done

# The pages are well formed, as far as a program is here that can tell.
for page in "$prefix"/share/man/man?/*; do
    if command -v mandoc >/dev/null; then
        # A page has the version and no date: two builds of one version are the same.
        mandoc -T lint -W warning "$page" 2>&1 | grep -v 'missing date' >"$scratch/warnings" || true
        has "$(basename "$page"): mandoc: $(cat "$scratch/warnings")" test ! -s "$scratch/warnings"
    fi
    if command -v groff >/dev/null; then
        groff -man -T utf8 -ww -z "$page" >"$scratch/warnings" 2>&1 || true
        has "$(basename "$page"): groff: $(cat "$scratch/warnings")" test ! -s "$scratch/warnings"
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
