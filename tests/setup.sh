#!/bin/sh
# tools/setup.sh with an apt-get, a dpkg and a systemctl that only tell what they are asked: while packages
# are installed nobody may start a service, and nothing of that is left behind.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0
mkdir "$scratch/bin"
export SETUP_POLICY="$scratch/policy-rc.d" SAID="$scratch/said" BROKEN="$scratch/broken" KILLED="$scratch/killed" WHOLE="$scratch/whole"
export ASKED="$scratch/asked" ARCHIVE="$scratch/archive"
PATH=$scratch/bin:$PATH

# A program of this name, by its lines: stub NAME LINE...
stub() {
    name=$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$scratch/bin/$name"
    chmod 755 "$scratch/bin/$name"
}
# shellcheck disable=SC2016  # they are for the programs
{
    stub apt-get '[ "$1" = install ] || exit 0' 'echo "$*" >"$ASKED"' 'status=0; "$SETUP_POLICY" 2>/dev/null || status=$?' \
        'echo "install, and a start is answered $status" >>"$SAID"' '[ ! -e "$KILLED" ] || kill -9 $PPID' '[ ! -e "$BROKEN" ]'
    stub dpkg-query 'for last; do :; done' 'case $last in curl) ;; *) [ -e "$WHOLE" ] || exit 1 ;; esac' \
        'echo "install ok installed"'
    stub apt-cache '[ -e "$ARCHIVE" ]'
    stub systemctl 'echo "systemctl $*" >>"$SAID"'
    stub sudo 'exec "$@"'
}

# run NAME WANTED STATUS GROUP: what was said, and how it ended
run() {
    : >"$SAID"
    status=0
    tools/setup.sh "$4" >/dev/null 2>&1 || status=$?
    if [ "$(cat "$SAID")" = "$2" ] && [ "$status" -eq "$3" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: status $status"
        cat "$SAID"
    fi
}

# Of every service of the group demo, in the order of its packages.
disabled=$(printf 'systemctl --quiet disable %s.service\n' prometheus munge slurmctld slurmd slurmrestd)

# gone NAME YES_OR_NO: whether something answers those who would start services
gone() {
    if [ -e "$SETUP_POLICY" ]; then there=no; else there=yes; fi
    if [ "$there" = "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}

run "a service is neither started nor enabled" "install, and a start is answered 101
$disabled" 0 demo
gone "the answer is gone behind it" yes
touch "$BROKEN"
run "a failure is one" "install, and a start is answered 101" 1 demo
gone "and the answer is gone, too" yes
rm "$BROKEN"
printf '#!/bin/sh\nexit 7\n' >"$SETUP_POLICY"
chmod 755 "$SETUP_POLICY"
run "what a machine answers itself stands" "install, and a start is answered 7
$disabled" 0 demo
gone "and stays" no
rm "$SETUP_POLICY"

touch "$KILLED"
run "it is killed" "install, and a start is answered 101" 137 demo
gone "which leaves the answer" no
cp "$SETUP_POLICY" "$scratch/left"
rm "$KILLED"
run "the next run knows it" "install, and a start is answered 101
$disabled" 0 demo
gone "and it is gone behind that" yes
touch "$WHOLE"
cp "$scratch/left" "$SETUP_POLICY"
run "so does one that has nothing to install" "" 0 demo
gone "and it is gone behind that one, too" yes
sed "s/process .*/process $$/" "$scratch/left" >"$SETUP_POLICY" # ours has the name it looks for
run "that of a run that goes on is left to it" "" 0 demo
gone "and stays for that" no
sed 's/^# lockstep/# not &/' "$scratch/left" >"$SETUP_POLICY"
run "one that only tells of ours is not ours" "" 0 demo
gone "and stays as well" no

# asked NAME YES_OR_NO: whether libslurm was asked for
asked() {
    if grep -qw libslurm-dev "$ASKED"; then there=yes; else there=no; fi
    if [ "$there" = "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: $(cat "$ASKED")"
    fi
}
rm -f "$WHOLE" "$SETUP_POLICY"
touch "$ARCHIVE"
run "a build asks for libslurm" "install, and a start is answered 101" 0 build
asked "where an archive has it" yes
rm "$ARCHIVE"
run "and goes on without it" "install, and a start is answered 101" 0 build
asked "where no archive does" no
run "which tests of a real Slurm do not" "" 5 real

# renewed NAME YES_OR_NO OPTION BUILD_FILE: whether a directory is set up again, now that there is libslurm
renewed() {
    mkdir -p "$scratch/dir/meson-info"
    echo "\"name\": \"slurm\", \"value\": \"$3\"" >"$scratch/dir/meson-info/intro-buildoptions.json"
    echo "$4" >"$scratch/dir/build.ninja"
    : >"$SAID"
    CC=compiler tools/renew.sh "$scratch/dir" >/dev/null
    if [ -s "$SAID" ]; then there=yes; else there=no; fi
    if [ "$there" = "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}
# shellcheck disable=SC2016  # as above
{
    stub meson 'echo "$*" >>"$SAID"'
    stub compiler '[ -e "$WHOLE" ]'
}
renewed "without libslurm a build directory stays as it is" no auto "build lockstepd: link"
touch "$WHOLE"
renewed "with it, the directory is set up again" yes auto "build lockstepd: link"
renewed "not if that has the bridge" no auto "build lockstep-slurm-bridge: link"
renewed "nor if the bridge is not wanted" no disabled "build lockstepd: link"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
