#!/bin/sh
# tools/names.py on functions it must accept and on those it must find, and then on all sources.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME FINDINGS PATH LINE...: how many findings a source with these lines has at this path of src
case_of() {
    name=$1 wanted=$2 file=$scratch/src/$3
    shift 3
    rm -rf "$scratch/src"
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" '{' '    return 0;' '}' >"$file"
    found=$(python3 tools/names.py "$scratch" | grep -c '^src/' || true)
    if [ "$found" -eq "$wanted" ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $found found, expected $wanted"
    fi
}

case_of 'the file' 0 base/buf.c 'int lks_buf_init(void)'
case_of 'the file alone' 0 core/plan/plan.c 'int lks_plan(void)'
case_of 'another file' 1 base/buf.c 'int lks_arena_init(void)'
case_of 'a word that starts alike' 1 base/buf.c 'int lks_buffer_init(void)'
case_of 'without lks_' 1 base/buf.c 'int buf_init(void)'
case_of 'the first word of the file' 0 core/campaign/campaign_member.c 'int lks_campaign_next(void)'
case_of 'the second word of the file' 1 core/campaign/campaign_member.c 'int lks_member_next(void)'
case_of 'the room before it' 0 lab/bmcsim/job.c 'int lks_bmcsim_job_step(void)'
case_of 'the folder before it' 0 agent/loop/fetch.c 'int lks_agent_fetch(void)'
case_of 'the room alone' 1 lab/bmcsim/job.c 'int lks_bmcsim_step(void)'
case_of 'another room before it' 1 lab/bmcsim/job.c 'int lks_bmcd_job_step(void)'
case_of 'the singular' 0 lab/bmcsim/tasks.c 'int lks_bmcsim_task_new(void)'
case_of 'the singular of -ies' 0 core/exposure/remedies.c 'int lks_remedy_best(void)'
case_of 'the plural of a singular' 1 core/exposure/remedy.c 'int lks_remedies_best(void)'
case_of 'a command' 0 cli/fleet/cmd_node.c 'int lks_cmd_node_ls(void)'
case_of 'a command without cmd' 0 cli/fleet/cmd_node.c 'int lks_node_ls(void)'
case_of 'another command' 1 cli/fleet/cmd_node.c 'int lks_pool_ls(void)'
case_of 'a static function' 0 base/buf.c 'static int grow(void)'
case_of 'a static function with an attribute' 0 base/buf.c 'LKS_PRINTF(1, 2) static int say(const char *fmt, ...)'
case_of 'an attribute' 1 base/buf.c 'LKS_PRINTF(1, 2)' 'int lks_say(const char *fmt, ...)'
case_of 'over several lines' 1 base/buf.c 'enum lks_code lks_say(int a,' '                      int b)'
case_of 'the second function' 1 base/buf.c 'int lks_buf_a(void)' '{' '    return 0;' '}' '' 'int lks_b(void)'
case_of 'behind a struct' 1 base/buf.c 'struct a {' '    int a;' '};' 'int lks_b(void)'
case_of 'in a comment' 0 base/buf.c '/* lks_other() */' 'int lks_buf_a(void)'
case_of 'main' 0 agent/loop/main.c 'int main(void)'
case_of 'an exception' 0 base/err.c 'int lks_fail(void)'
case_of 'a file with a private word' 1 server/auth/desk.c 'int lks_desk_may(void)'

case_of 'one file' 0 agent/loop/events.c 'int lks_events_fini(void)'
mkdir -p "$scratch/src/server/api"
cp "$file" "$scratch/src/server/api/events.c"
if python3 tools/names.py "$scratch" | grep -q 'agent/loop/events.c has lks_events_fini(), too'; then
    passed=$((passed + 1))
    echo 'ok   two files'
else
    failed=$((failed + 1))
    echo 'FAIL two files: the second is not found'
fi

if python3 tools/names.py; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
