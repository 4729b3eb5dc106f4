#compdef lockstep
# Completion of lockstep for zsh: 'lockstep __complete' knows the words. See 'lockstep help completion'.

_lockstep() {
    local program=lockstep line reply about
    local -a found tail
    local -i places=0
    [[ ${words[1]:t} != lockstep ]] || program=${words[1]/#\~\//$HOME/}
    line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    while IFS=$'\t' read -r reply about; do
        case $reply in
        :file) places=1 ;;
        :dir) ((places)) || places=2 ;;
        *) found+=("${reply//:/\\:}${about:+:$about}") ;;
        esac
        [[ $reply != *= ]] || tail=(-S '')
    done < <($program __complete "$line" 2>/dev/null)
    (( $#found )) && _describe -t words word found $tail
    ((places == 1)) && _files
    ((places == 2)) && _files -/
    return 0
}

# Sourced, it registers the function; loaded by the shell, it is the function.
if [[ $funcstack[1] == _lockstep ]]; then
    _lockstep "$@"
else
    compdef _lockstep lockstep
fi
