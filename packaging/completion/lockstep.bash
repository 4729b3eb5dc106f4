# Completion of lockstep for bash: 'lockstep __complete' knows the words. See 'lockstep help completion'.
# shellcheck shell=bash

# _lockstep_quote QUOTE WORD: sets `quoted` to the word as the shell reads it back behind that open quote, which may be
# none
_lockstep_quote() {
    local word=$2 slash=\\ c
    case $1 in
    \')
        quoted=${word//\'/"'$slash''"}
        ;;
    \")
        for c in "$slash" '$' '`' '"'; do
            word=${word//"$c"/"$slash$c"}
        done
        quoted=$word
        # No quote keeps an exclamation mark from the history.
        [[ $word != *!* ]] || return 1
        ;;
    *)
        printf -v quoted %q "$word"
        quoted=${quoted//\\,/,}
        ;;
    esac
}

_lockstep() {
    local line=${COMP_LINE:0:COMP_POINT} program=lockstep current=${COMP_WORDS[COMP_CWORD]}
    local word before='' quote='' reply quoted places='' path
    [[ ${COMP_WORDS[0]##*/} != lockstep ]] || program=${COMP_WORDS[0]/#\~\//$HOME/}
    # Bash ends a word at a colon and at an equals sign, and replaces only what follows them.
    word=${line##*[[:space:]]}
    if [[ $word == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]]; then
        before=${word%"${word##*[:=]}"}
    fi
    # Behind an open quote it ends no word, and inserts as it is what it is given.
    if [[ $current == [\"\']* ]]; then
        quote=${current:0:1}
        before=${line%"$current"}
        before=${before##*[[:space:]]}
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r reply _; do
        case $reply in
        :file | :dir)
            places+=${reply#:}
            ;;
        *)
            _lockstep_quote "$quote" "${reply#"$before"}" && COMPREPLY+=("$quoted")
            ;;
        esac
    done < <("$program" __complete "$line" 2>/dev/null)
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
    # Where there is nothing but files, readline's own completion is better than ours.
    if [[ -n $places && ${#COMPREPLY[@]} -eq 0 ]]; then
        case $places in
        dir) compopt -o dirnames 2>/dev/null ;;
        *) compopt -o default 2>/dev/null ;;
        esac
    elif [[ -n $places ]]; then
        while IFS= read -r path; do
            COMPREPLY+=("$path")
        done < <(compgen -f -- "${current#[:=]}")
        compopt -o filenames 2>/dev/null
    fi
    return 0
}

complete -F _lockstep lockstep
