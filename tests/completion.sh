#!/bin/sh
# Completion in the shells themselves, as far as they are on this machine:
#
#     completion.sh LOCKSTEP SCRIPTS
#
# SCRIPTS is the folder of the shells' scripts. Without lockstepd, which stays silent.
# shellcheck disable=SC2016  # programs for other shells
set -eu

program=$(cd "$(dirname "$1")" && pwd)
scripts=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$program:$PATH
HOME=$scratch
XDG_CACHE_HOME=$scratch/cache
XDG_CONFIG_HOME=$scratch/config
LOCKSTEP_SERVER=unix:$scratch/none
export PATH HOME XDG_CACHE_HOME XDG_CONFIG_HOME LOCKSTEP_SERVER
: >"$scratch/stack.yaml"
cd "$scratch"

passed=0
failed=0

# offers SHELL LINE WORD...: the words that the shell offers at the end of the line, in any order
offers() {
    shell=$1 line=$2
    shift 2
    wanted=$([ $# -eq 0 ] || printf '%s\n' "$@" | sort | tr '\n' '|')
    got=$("in_$shell" "$line" 2>"$scratch/said" | sort | tr '\n' '|')
    if [ "$got" = "$wanted" ] && [ ! -s "$scratch/said" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $shell: '$line' offers '$got', not '$wanted'"
        cat "$scratch/said"
    fi
}

# Bash splits the line itself where a person types; its words end at blanks, colons and equals signs.
in_bash() {
    bash --norc -c '
        . "$1"
        COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=()
        rest=$2
        open="[\"'"'"'].*"
        while [[ $rest =~ ^([[:space:]]*)($open|[^[:space:]:=]+|[:=]+)(.*)$ ]]; do
            COMP_WORDS+=("${BASH_REMATCH[2]}")
            rest=${BASH_REMATCH[3]}
        done
        [[ $2 != *[[:space:]] || $2 == *\"* ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _lockstep
        [[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$scripts/lockstep.bash" "$1"
}

in_fish() {
    fish --no-config -c '
        source $argv[1]
        complete --do-complete $argv[2]
    ' "$scripts/lockstep.fish" "$1" | cut -f 1
}

# What the function gives to the shell; the shell itself would need a terminal.
in_zsh() {
    zsh -f -c '
        compdef() { : }
        _describe() { local row; for row in "${(@P)4}"; do print -r -- "${${row//\\:/@@}%%:*}"; done }
        _files() { print -r -- "files $*" }
        source $1
        words=("${(@z)2}") PREFIX=${2##*[[:space:]]}
        [[ $2 != *[[:space:]] ]] || words+=("")
        CURRENT=$#words
        _lockstep
    ' zsh "$scripts/lockstep.zsh" "$1" | sed 's/@@/:/g'
}

for shell in bash fish zsh; do
    if ! command -v "$shell" >/dev/null; then
        echo "no $shell here: not tried"
        continue
    fi
    offers "$shell" 'lockstep pldm ' build inspect verify
    offers "$shell" 'lockstep inv' inventory
    offers "$shell" 'lockstep compat --mod' --modules
    offers "$shell" 'lockstep fleet import --posture p' pre-training post-training
    offers "$shell" 'lockstep node ls --columns name,po' name,pool
    offers "$shell" "$program/lockstep xid --sx" --sxid
    offers "$shell" 'lockstep node show gpu'
done

# Each shell has its own way with a value behind an equals sign, with blanks and with files.
offers bash 'lockstep fleet import --posture=b' batch
offers bash 'lockstep drift --cause pack' 'package\ manager'
offers bash 'lockstep completion ' bash fish zsh
offers bash 'lockstep drift --cause "package m' 'package manager'
offers bash 'lockstep drift --cause="package m' 'package manager'

# A name that another program reported is one word to the shell and no command, whatever quote is open.
mkdir hostile
{
    echo '#!/bin/sh'
    echo 'cat "$0.name"'
} >hostile/lockstep
chmod +x hostile/lockstep
cat >hostile/lockstep.name <<'END'
x$(touch ran)`touch ran`"; touch ran; : "'; touch ran; : ' \ \\ y:=z
END
hostile=$(cat hostile/lockstep.name)
for quote in '' '"' "'"; do
    typed=$(in_bash "$scratch/hostile/lockstep admit --image ${quote}x")
    read_back=$(bash --norc -c "printf '%s|' $quote$typed$quote") || read_back=failed
    if [ "$read_back" = "$hostile|" ] && [ ! -e ran ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL bash: behind the quote '$quote' a hostile name is typed as: $typed"
        rm -f ran
    fi
done
printf 'x!y\tan image\n' >hostile/lockstep.name
offers bash "$scratch/hostile/lockstep admit --image \"x"
if command -v fish >/dev/null; then
    offers fish 'lockstep fleet import --posture=b' --posture=batch
    offers fish 'lockstep stack digest st' stack.yaml
fi
if command -v zsh >/dev/null; then
    offers zsh 'lockstep fleet import --posture=b' --posture=batch
    offers zsh 'lockstep stack digest st' 'files '
    offers zsh 'lockstep sim down ' 'files -/'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
