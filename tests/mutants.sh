#!/bin/sh
# tools/mutants.py on a tiny tree: a mutant that a test finds, one that survives, one that no test reaches,
# one that is called equivalent, and places that must get none.
# shellcheck disable=SC2016  # the backquotes are those of the page
set -eu
unset SEED MUTANTS TESTS TIME LIMIT FRESH

cd "$(dirname "$0")/.."
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME PATTERN: the page has one such line
case_of() {
    if [ "$(grep -c "$2" "$scratch/docs/mutants.md")" -eq 1 ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: no line '$2'"
    fi
}

mutants() {
    CACHE=$scratch/cache JOBS=2 /usr/bin/python3 -B "$root/tools/mutants.py" "$scratch" >"$scratch/log" 2>&1 ||
        cat "$scratch/log"
}

mkdir -p "$scratch/src/core" "$scratch/tests/mutants"
git init -q "$scratch"
echo /cache >"$scratch/.gitignore"
cat >"$scratch/meson.build" <<'EOF'
project('tiny', 'c')
exe = executable('test_tiny', 'src/core/tiny.c', 'test_tiny.c')
test('tiny', exe, suite: 'unit')
EOF
cat >"$scratch/src/core/tiny.c" <<'EOF'
#define ODD(n) ((n) % 2 != 0)
static const int table[] = {10, 20};

void add(int *n, int by, const char *text);
void count(int *n, int by)
{
    add(n, by, "@");
}

int sum(int a, int b)
{
    return a + b;
}

int both(int a, int b)
{
    return a & b;
}

int shifted(int n, int by)
{
    return n << by;
}

int none(int n)
{
    char buffer[8] = {0};
    switch (n) {
    case 2:
        n = buffer[n];
    }
    return ODD(table[n]);
}
EOF
cat >"$scratch/test_tiny.c" <<'EOF'
void count(int *n, int by);
int sum(int a, int b);
int both(int a, int b);

void add(int *n, int by, const char *text)
{
    if (text[0] == '@')
        *n += by;
}

int main(void)
{
    int n = 0;
    count(&n, 3);
    return n == 3 && sum(4, 0) == 4 && both(1, 1) == 1 ? 0 : 1;
}
EOF
cat >"$scratch/tests/mutants/equivalent.csv" <<'EOF'
file,function,was,now,nth,reason
src/core/tiny.c,both,a & b,a | b,1,both numbers are the same
EOF

mutants
case_of 'as many as there are places' '| all | 5 | 1 | 0 | 1 | 3 | 25.0 % |'
case_of 'a sum that is tested with zero' '`sum` | `a + b` | `a - b` |  |'
case_of 'a place that no test reaches' '`shifted` | `n << by` | `n >> by` | no |'
case_of 'an assignment that no test reaches' '`none` | `n = buffer\[n\]` | nothing | no |'
case_of 'an equivalent mutant has its reason' '`both` | `a & b` | `a .| b` | both numbers are the same |'

sed -i 's/sum(4, 0) == 4/sum(4, 1) == 5/' "$scratch/test_tiny.c"
mutants
case_of 'a test that notices' '| all | 5 | 1 | 0 | 2 | 2 | 50.0 % |'

export FRESH=1 TIME=0
mutants
case_of 'a run without time' '| all | 5 | 1 | 4 | 0 | 0 | - |'
case_of 'a partial run says so' 'A partial run: 4 of 5 mutants are not run to the end.'
case_of 'and what is found at least' '^0.0 % of the mutants that are not equivalent are found.$'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
