#!/bin/sh
# tools/mutants.py on a tiny tree: a mutant that a test finds, one that survives, one that no test reaches,
# one that is called equivalent, one that only a sanitizer sees, and places that must get none.
# shellcheck disable=SC2016  # the backquotes are those of the page
set -eu
unset SEED MUTANTS TESTS TIME LIMIT FRESH ONLY KEPT SANITIZED

cd "$(dirname "$0")/.."
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME PATTERN [FILE]: the page, or that file, has one such line
case_of() {
    if [ "$(grep -c "$2" "$scratch/${3:-docs/mutants.md}")" -eq 1 ]; then
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
test('script', find_program('script.sh'), suite: 'unit', depends: exe)
EOF
printf '#!/bin/sh\n' >"$scratch/script.sh"
chmod +x "$scratch/script.sh"
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

int last(const int *numbers, int count, int by)
{
    return numbers[count - by];
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
#include <stdlib.h>

void count(int *n, int by);
int last(const int *numbers, int count, int by);
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
    int *numbers = calloc(4, sizeof(*numbers));
    count(&n, 3);
    n += last(numbers, 4, 1);
    free(numbers);
    return n == 3 && sum(4, 0) == 4 && both(1, 1) == 1 ? 0 : 1;
}
EOF
cat >"$scratch/tests/mutants/equivalent.csv" <<'EOF'
file,function,was,now,nth,reason
src/core/tiny.c,both,a & b,a | b,1,both numbers are the same
EOF

mutants
case_of 'as many as there are places' '| all | 6 | 1 | 0 | 1 | 4 | 20.0 % |'
case_of 'a sum that is tested with zero' '`sum` | `a + b` | `a - b` |  |'
case_of 'a place that no test reaches' '`shifted` | `n << by` | `n >> by` | no |'
case_of 'an assignment that no test reaches' '`none` | `n = buffer\[n\]` | nothing | no |'
case_of 'an equivalent mutant has its reason' '`both` | `a & b` | `a .| b` | both numbers are the same |'
case_of 'a read past an array' '`last` | `count - by` | `count + by` |  |'
case_of 'the test that found a mutant is kept' 'src/core/tiny.c,count,[0-9a-f]*,failed,tiny' tests/mutants/found.csv

sed -i 's/sum(4, 0) == 4/sum(4, 1) == 5/' "$scratch/test_tiny.c"
SANITIZED='-Db_sanitize=address -Db_lundef=false' mutants
case_of 'a test and a sanitizer that notice' '| all | 6 | 1 | 0 | 3 | 2 | 60.0 % |'
case_of 'the sanitizer is counted' '^Sanitizers found 1 that no test finds without them.$'
case_of 'and kept' 'src/core/tiny.c,last,[0-9a-f]*,sanitized,tiny' tests/mutants/found.csv

# Results that are known count, whatever runs.
id=$(sed -n 's/^| \([0-9a-f]*\) .* `shifted` .*/\1/p' "$scratch/docs/mutants.md")
ONLY=$id mutants
case_of 'one mutant beside known results' '| all | 6 | 1 | 2 | 2 | 1 | 66.7 % |'

# The cache is lost, and found.csv is not.
rm -rf "$scratch/cache"
KEPT=1 mutants
case_of 'kept mutants count' '| all | 6 | 1 | 0 | 3 | 2 | 60.0 % |'
case_of 'and the page says so' '^3 of those found are rows of .tests/mutants/found.csv`, from runs before'
ONLY=$id mutants
case_of 'one mutant alone' '| all | 6 | 1 | 4 | 0 | 1 | 0.0 % |'
case_of 'those that did not run are listed' '`sum` | `a + b` | `a - b` |  |'
ONLY=$id,none mutants >"$scratch/docs/refused" || true
case_of 'an id that is none' '^mutants: ONLY: no mutant of this seed has the id none$' docs/refused

export FRESH=1 TIME=0
mutants
case_of 'a run without time' '| all | 6 | 1 | 5 | 0 | 0 | - |'
case_of 'a partial run says so' 'A partial run: 5 of 6 mutants are not run to the end.'
case_of 'and what is found at least' '^0.0 % of the mutants that are not equivalent are found.$'

# What a check no longer notices is no longer kept.
unset FRESH TIME
sed -i 's/sum(4, 1) == 5/sum(4, 0) == 4/' "$scratch/test_tiny.c"
mutants
case_of 'a mutant that survives again' '`sum` | `a + b` | `a - b` |  |'
if grep -q 'tiny.c,sum,' "$scratch/tests/mutants/found.csv"; then
    failed=$((failed + 1))
    echo 'FAIL found.csv has a row of a survivor'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
