# Completion of lockstep for fish: 'lockstep __complete' knows the words. See 'lockstep help completion'.

function __lockstep_complete
    set -l line (commandline --current-process --cut-at-cursor | string collect)
    set -l token (commandline --current-token --cut-at-cursor)
    set -l program (string split --max 1 --fields 1 ' ' -- (string trim --left -- "$line"))
    string match --quiet --regex '(^|/)lockstep$' -- "$program"; or set program lockstep
    set program (string replace --regex '^~/' "$HOME/" -- $program)
    for row in ($program __complete "$line" 2>/dev/null)
        switch $row
            case ':file'
                __fish_complete_path "$token"
            case ':dir'
                __fish_complete_directories "$token"
            case '*'
                echo $row
        end
    end
end

complete --command lockstep --no-files --arguments '(__lockstep_complete)'
