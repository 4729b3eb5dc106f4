#!/bin/sh
# A guided tour of the commands on the shipped examples:
#
#     tour.sh BUILD_DIR
#
# Run from the root of the checkout. It ends with failure when a command gives an exit status other
# than the one the tour expects.
set -eu

if [ $# -ne 1 ] || [ ! -x "$1/lockstep" ]; then
    echo "usage: tools/tour.sh BUILD_DIR (the one that holds lockstep)" >&2
    exit 2
fi
lockstep=$(cd "$1" && pwd)/lockstep

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

. tools/story.sh

number=0
part() { # TITLE, then lines of explanation
    number=$((number + 1))
    title=$1
    shift
    step "$number. $title" "$@"
}

expect() { # WANTED GOT
    [ "$1" -eq "$2" ] && return 0
    echo "tour.sh: exit status $2, expected $1" >&2
    exit 1
}

# The terminal itself is the output here, so that tables fit it.
try() { # STATUS ARGUMENT...
    wanted=$1
    shift
    echo "\$ lockstep $*"
    status=0
    "$lockstep" "$@" 2>&1 || status=$?
    expect "$wanted" "$status"
    [ "$wanted" -eq 0 ] || echo "(exit status $wanted)"
}

try_lines() { # LINES STATUS ARGUMENT...
    lines=$1
    wanted=$2
    shift 2
    echo "\$ lockstep $* | sed -n '1,${lines}p' | cut -c 1-100"
    status=0
    "$lockstep" "$@" >"$scratch/output" 2>&1 || status=$?
    expect "$wanted" "$status"
    sed -n "1,${lines}p" "$scratch/output" | cut -c 1-100
    [ "$wanted" -eq 0 ] || echo "(exit status $wanted without the pipe)"
}

# Those lines of an answer that match; cut, since evidence is long.
try_matching() { # PATTERN STATUS ARGUMENT...
    pattern=$1
    wanted=$2
    shift 2
    echo "\$ lockstep $* | grep -E '$pattern' | cut -c 1-100"
    status=0
    "$lockstep" "$@" >"$scratch/output" 2>&1 || status=$?
    expect "$wanted" "$status"
    grep -E "$pattern" "$scratch/output" | sed 's/  */ /g' | cut -c 1-100
}

echo "lockstep keeps every node of a GPU fleet on one golden stack: driver, toolkit, libraries,"
echo "settings and firmware, pinned together and known by one digest."
echo "Exit status: 0 yes, 1 no, 2 usage, 3 bad input. The day of this tour is 2026-11-15."

part "What does a machine really run?" \
    "Here a captured machine, a real H200; without --root it is the one you are on. Every value comes" \
    "with its evidence. The driver, and where the machine does not agree with itself:"
try_matching '^what|^driver|^settings\.(mig|power|clocks)|^nccl ' 0 inventory --root tests/roots/h200
echo
try_matching '^severity|^warning' 0 inventory --root tests/roots/h200

part "A first golden stack, from a machine that is as it should be." \
    "stack init pins all that was measured. Its beginning, and whether the machine conforms to it:"
"$lockstep" stack init --root tests/roots/h200 --name h200 >"$scratch/h200.yaml" 2>/dev/null
printf '$ lockstep stack init --root tests/roots/h200 --name h200 >h200.yaml\n'
sed -n '/^components/,/^  driver/p' "$scratch/h200.yaml" | cut -c 1-100
echo
(root=$PWD && cd "$scratch" && try 0 conform --root "$root/tests/roots/h200" --stack h200.yaml)

part "A person lowered the power limit." "The machine of step 1 with another answer of its GPU:"
cp -r tests/roots/h200 "$scratch/changed"
sed 's/\(nvmlDeviceGetEnforcedPowerLimit.*\)700000/\1300000/' tests/roots/h200/lockstep/nvml.csv \
    >"$scratch/changed/lockstep/nvml.csv"
(cd "$scratch" && try 1 conform --root changed --stack h200.yaml)

part "A stack is a file." "lint says whether it is well formed and complete. A file may hold more."
try 0 stack lint examples/h100-train.yaml examples/gb200-nvl72.yaml

part "What a stack pins." "Each component with its tested window and what a change of it takes."
try 0 stack show examples/v100-inference.yaml

part "A stack has one digest, however it is spelled." \
    "Here is the digest of an example with comments, and then that of a copy which the tool itself" \
    "wrote: JSON, other order, no comments, another name. What they pin is the same."
try 0 stack digest examples/v100-inference.yaml
"$lockstep" stack digest --canonical examples/v100-inference.yaml |
    sed 's/^{/{"lockstep":1,"kind":"Stack","name":"copy","version":"9",/' >"$scratch/copy.json"
printf '$ cut -c 1-100 copy.json\n'
cut -c 1-100 "$scratch/copy.json"
echo
(cd "$scratch" && try 0 stack digest copy.json)
if [ "$("$lockstep" stack digest "$scratch/copy.json")" != \
    "$("$lockstep" stack digest examples/v100-inference.yaml)" ]; then
    echo "tour.sh: the two digests differ" >&2
    exit 1
fi

part "Can it work? A good one." \
    "check asks the built-in tables. Errors mean no, warnings hurt, infos are worth knowing." \
    "V100 works, and the warning says for how long."
try 0 stack check --date 2026-11-15 examples/v100-inference.yaml

part "Can it work? A broken one." "examples/broken/ has one file for each rule. The heart of one:"
sed -n '1p;/driver:/p;/fabric-manager:/p' examples/broken/driver-family.yaml
try 1 stack check --date 2026-11-15 examples/broken/driver-family.yaml

part "From one stack to the next." \
    "What changes, what it interrupts, whether it can be rolled back, which advisories it closes."
try 1 stack diff examples/h200-train.yaml examples/h200-train-next.yaml

part "A question without a file: does this driver run this toolkit on this GPU?" \
    "On old hardware, with the reasons and a way out:"
try 1 compat --driver 580.159.04 --cuda 13.0 --gpu V100
echo
echo "   A family is answered for its best board, and the answer says which boards differ. The first"
echo "   lines, without the reasons:"
echo
try_lines 2 0 compat --driver 525.85.12 --cuda 12.0 --gpu H100
echo
echo "   A cuda-compat package that an upgrade of the driver left behind is warned of:"
echo
try 0 compat --driver 580.159.04 --cuda 12.9 --gpu H100 --compat-package 12.9
echo
echo "   AMD has the same question with other names. The first lines:"
echo
try_lines 2 1 compat --amdgpu 6.2.4 --rocm 7.2.2 --gpu MI300X

part "Which advisories is a stack exposed to, and what closes them?" "The worst of them, cut at 100 columns:"
try_lines 5 1 advisories examples/h200-train.yaml

part "How long will it be supported?"
try 0 lifecycle --date 2026-11-15 examples/v100-inference.yaml

part "A GPU reports an error. What now?" "Small numbers are Xids of a GPU, large ones of a switch."
try 0 xid 79
echo
try 0 xid 10001

part "For programs." "Every command answers in JSON too. What has no value is left out."
try 0 xid 10001 --json

part "A version without quotes is refused." "13.0 is a number to YAML, and 12.10 would become 12.1."
sed -n '11p' examples/broken/lint-unquoted-version.yaml | sed 's/^/line 11 | /'
try 3 stack lint examples/broken/lint-unquoted-version.yaml

part "What only your site knows." \
    "A folder given with --data adds edges of your own (the last line here), or replaces a table." \
    "The stack of step 9 is now refused, with the reason of the site:"
tail -n 1 examples/site-data/requires.site.csv
try 1 stack check --data examples/site-data --date 2026-11-15 examples/h200-train.yaml

echo
echo "Next: copy examples/h100-train.yaml, change it to what you run, and give it to stack check."
