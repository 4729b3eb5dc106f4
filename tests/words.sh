#!/bin/sh
# tools/words.py on sentences that it must accept and on those that it must find, and then on the tree.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME HITS FILE LINE...: how many hits these lines have as the content of FILE
case_of() {
    name=$1 wanted=$2 file=$scratch/$3
    shift 3
    printf '%s\n' "$@" >"$file"
    found=$(python3 tools/words.py "$file" | grep -c "^$file:" || true)
    if [ "$found" -eq "$wanted" ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $found hits, expected $wanted"
    fi
}

case_of 'a plain sentence' 0 a.md 'Nodes in progress finish; no new node starts.'
case_of 'an opening' 1 a.md 'What is killed leaks its session.'
case_of 'an opening of the second sentence' 1 a.md 'The node drains. Who' 'is done stays.'
case_of 'an opening of an item' 1 a.md '- Of the nodes, two.'
case_of 'an opening of a cell' 1 a.md '| a | It drains. |'
case_of 'That it' 1 a.md 'That it vanishes is no failure.'
case_of 'a word that opens like one' 0 a.md 'Whatever the order. Items come. Offers end. Ones and zeroes.'
case_of 'a term' 1 a.md 'The node is under way.'
case_of 'a term over two lines' 1 a.md 'There is no way' 'back from here.'
case_of 'a node as a person' 2 a.md 'The wave waits for nobody, and somebody drains it.'
case_of 'power shelves, standby' 0 a.md 'A power shelf has a person on standby; a task stands for it.'
# shellcheck disable=SC2016 # backticks of Markdown
case_of 'in a code span' 0 a.md 'The state `begun` of `lockstep change' 'resume --one-way` is an API.'
case_of 'in a block of code' 0 a.md 'See:' '' '    wave 0 begun, 4 under way' '' 'The end.'
# shellcheck disable=SC2016
case_of 'in a fence' 0 a.md '```' 'What is begun' '```'
# shellcheck disable=SC2016
case_of 'the name of a test' 0 a.md 'Shown by `tests/test_a.c` "what is begun" "begun twice".'
case_of 'in a link target' 0 a.md 'See [rollback](decisions/0001-way-back.md).'
case_of 'an option' 0 a.md 'Use --one-way.'
case_of 'a message' 1 a.c 'f("node %s is out of use");'
case_of 'a message over two lines' 1 a.c 'f("node %s has no way "' '  "back");'
case_of 'an opening of a message' 1 a.c 'f("It is not permitted");'
case_of 'JSON members' 0 a.c 'f("{begun?, judged, way_back, looks, begins}");'
case_of 'a name' 0 a.c 'f("begun");'
case_of 'a name in quotes' 0 a.c "f(\"the state is 'begun' now\");"
case_of 'a comment' 1 a.c '/* Nobody calls this. */'
case_of 'a term in a comment' 1 a.c '/* The node is out of use. */'
case_of 'a comment about code' 0 a.c '/* Begins with a look at the list. */'

if python3 tools/words.py; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
