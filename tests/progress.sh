#!/bin/sh
# tools/progress.sh, with a program in the place of ninja.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# The steps that are planned, and the exit status, are its first two arguments. Status 137: the shell that waits for it
# is killed with it, as where memory is short.
cat >"$scratch/ninja" <<'NINJA'
#!/bin/sh
echo "ninja: Entering directory 'somewhere'"
i=0
while [ "$i" -lt "$1" ]; do
    i=$((i + 1))
    echo "[$i/$1] Compiling C object file_$i.c.o"
done
[ "$2" -eq 0 ] || echo "file_$i.c:7: error: something is wrong"
[ "$2" -ne 137 ] || kill -9 "$PPID"
exit "$2"
NINJA
chmod +x "$scratch/ninja"
PATH=$scratch:$PATH
export PATH

# prints NAME STATUS WANTED GOT_STATUS GOT
prints() {
    if [ "$2" = "$4" ] && [ "$3" = "$5" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: status %s, output:\n%s\n' "$1" "$4" "$5"
    fi
}

run() { # NAME STATUS WANTED NINJA_ARGUMENT...
    name=$1 wanted_status=$2 wanted=$3
    shift 3
    status=0
    got=$(tools/progress.sh "$@" 2>&1) || status=$?
    prints "$name" "$wanted_status" "$wanted" "$status" "$got"
}

run 'nothing to do' 0 '' 0 0
run 'a short build' 0 '' 12 0
run 'a long build' 0 'building: 100 of 400 steps
building: 200 of 400 steps
building: 300 of 400 steps
building: 400 of 400 steps' 400 0
run 'a failure' 1 "ninja: Entering directory 'somewhere'
[1/2] Compiling C object file_1.c.o
[2/2] Compiling C object file_2.c.o
file_2.c:7: error: something is wrong" 2 1

status=0
tools/progress.sh 1 137 >"$scratch/said" 2>&1 || status=$? # shells differ in what they say about it
prints 'a build that is killed' 1 '' "$status" ''

# On a terminal each step replaces the one before, and the line is gone in the end.
if command -v script >/dev/null; then
    got=$(TERM=xterm script -qec 'tools/progress.sh 2 0' /dev/null </dev/null | tr '\r\033' '<^')
    prints 'on a terminal' 0 '<building: 1 of 2 steps^[K<building: 2 of 2 steps^[K<^[K' 0 "$got"
    got=$(TERM=dumb script -qec 'tools/progress.sh 2 0' /dev/null </dev/null)
    prints 'on a terminal that cannot' 0 '' 0 "$got"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
