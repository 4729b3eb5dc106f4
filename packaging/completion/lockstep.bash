# Completion of lockstep for bash: 'lockstep __complete' knows the words. See 'lockstep help completion'.
# shellcheck shell=bash

_lockstep() {
    local line=${COMP_LINE:0:COMP_POINT} program=lockstep current=${COMP_WORDS[COMP_CWORD]}
    local word before='' reply quoted places='' path
    [[ ${COMP_WORDS[0]##*/} != lockstep ]] || program=${COMP_WORDS[0]/#\~\//$HOME/}
    # Bash ends a word at a colon and at an equals sign, and replaces only what follows them.
    word=${line##*[[:space:]]}
    if [[ $word == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]]; then
        before=${word%"${word##*[:=]}"}
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r reply _; do
        case $reply in
        :file | :dir)
            places+=${reply#:}
            ;;
        *)
            printf -v quoted %q "${reply#"$before"}"
            [[ $word != [\"\']* ]] || quoted=$reply
            COMPREPLY+=("${quoted//\\,/,}")
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
