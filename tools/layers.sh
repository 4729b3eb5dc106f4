#!/bin/sh
# Which folder may use which: itself and those on the lines above it. Folders on one line do not
# know each other. In a folder with rooms, a room may use itself and those before it; "." is the
# folder itself. Pure folders and rooms are told the time, given their chance and handed their bytes.
# A folder has few enough files to be known by heart, and a README.md that says what belongs there.
# Run from the root of the checkout.
set -u

order='
base
codec
model
trust
core
port
pldm
drivers
probe
engine
submit
server agent executors bridge
lab
cli
'

rooms='
base: . term process
codec: format notation time package program machine kubernetes
model: record schema facts tuple manifest
core: stats compat check conform agentlink rows state entity fold registry gate governance
core: firmware sched plan admission exposure view decision actions campaign procedure rules
drivers: store depot verify http bmc service sched
probe: root platform package kernel library gpu network run
server: base call form auth api threads http start
agent: state reading helper hooks loop
bridge: view slurm serve
lab: pldm bmcsim bmcd sched agent rehearse
cli: shared output machine change stack firmware fleet top control sim main
'

# Those whose code takes the world as arguments; a folder stands for all its rooms.
pure='codec model trust core port pldm submit drivers bridge/view lab/pldm lab/bmcsim lab/sched lab/rehearse'
# Rooms of them that own a piece of the world.
owners='drivers/http drivers/store drivers/depot'

# Standing above is not enough for these pairs: the engine reaches the world through port alone.
hidden='engine:drivers engine:probe'

# How many sources may see a header, by themselves or through others: what many see rebuilds them all,
# and hides what each depends on. A header does not include the whole state; a source does.
reach='
core/state/state.h:190
core/rows/change.h:99
core/decision/event.h:152
core/plan/plan.h:50
'
whole='core/state/state.h'
whole_in='src/engine/engine_parts.h'

files_most=30
lines_most=10000
readme_most=10

clock='time|clock_gettime|gettimeofday|sleep|usleep|nanosleep'
chance='rand|random|srand|getrandom|getenv'
world='socket|connect|send|recv|open|openat|opendir|read|write|stat|fopen|fread|fwrite|popen|system'
world="$world|printf|fprintf|puts|fputs|putchar|fputc"
impure="(^|[^a-zA-Z0-9_>.])($clock|$chance|$world|lks_file_[a-z]+)\\("

sources=$(find src -mindepth 2 -name '*.[ch]' | sort)
[ -n "$sources" ] || { echo "no sources here"; exit 1; }

# shellcheck disable=SC2086  # one word a file: names here have no blanks
directions=$(
    awk -v order="$order" -v rooms="$rooms" -v pure="$pure" -v owners="$owners" \
        -v hidden="$hidden" -v impure="$impure" '
    BEGIN {
        n = split(order, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], words, " ")
            for (j = 1; j <= m; j++) rank[words[j]] = i
        }
        n = split(rooms, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], words, " ")
            name = words[1]
            sub(/:$/, "", name)
            for (j = 2; j <= m; j++) place[name "/" words[j]] = ++places
        }
        n = split(pure, words, " ")
        for (i = 1; i <= n; i++) is_pure[words[i]] = 1
        n = split(owners, words, " ")
        for (i = 1; i <= n; i++) is_owner[words[i]] = 1
        n = split(hidden, words, " ")
        for (i = 1; i <= n; i++) is_hidden[words[i]] = 1
    }
    # "core/plan/plan.h" is in the room core/plan, "base/err.h" in base/. of base.
    function room_of(path, parts, n) {
        n = split(path, parts, "/")
        return parts[1] "/" (n > 2 ? parts[2] : ".")
    }
    FNR == 1 {
        path = FILENAME
        sub(/^src\//, "", path)
        split(path, parts, "/")
        folder = parts[1]
        room = room_of(path)
        told = (is_pure[folder] || is_pure[room]) && !is_owner[room]
        if (!(folder in rank) && !named[folder]++) print folder ": not in the order of layers"
        if (room !~ /\/\.$/ && !(room in place) && !named[room]++)
            print room ": not in the order of rooms"
        if (split(path, parts, "/") > 3) print FILENAME ": a room has no rooms"
    }
    /^#include "[^\/]*"/ { print FILENAME ":" FNR ": includes name their folder" }
    /^#include "[a-z0-9_]*\// {
        used = $0
        sub(/^#include "/, "", used)
        sub(/".*/, "", used)
        split(used, parts, "/")
        if (parts[1] != folder && (!(parts[1] in rank) || rank[parts[1]] >= rank[folder] ||
                                   is_hidden[folder ":" parts[1]]))
            print FILENAME ":" FNR ": may not include " parts[1] "/"
        else if (parts[1] == folder && room_of(used) != room &&
                 (!(room_of(used) in place) || place[room_of(used)] > place[room]))
            print FILENAME ":" FNR ": may not include " room_of(used) "/"
    }
    told && $0 ~ impure { print FILENAME ":" FNR ": takes time, chance and the world as arguments" }
    ' $sources
)

# shellcheck disable=SC2086  # as above
reached=$(
    awk -v reach="$reach" -v whole="$whole" -v whole_in="$whole_in" '
    /^#include "/ {
        used = $0
        sub(/^#include "/, "", used)
        sub(/".*/, "", used)
        users[used] = users[used] " " FILENAME
        if (used == whole && FILENAME ~ /\.h$/ && FILENAME != whole_in)
            print FILENAME ":" FNR ": a header does not include the whole state"
    }
    function see(header, parts, n, i) {
        n = split(users[header], parts, " ")
        for (i = 1; i <= n; i++) {
            if (seen[parts[i]]++) continue
            if (parts[i] ~ /\.c$/) sources++
            else see(substr(parts[i], 5))
        }
    }
    END {
        n = split(reach, rows, "\n")
        for (r = 1; r <= n; r++) {
            if (rows[r] !~ /:/) continue
            split(rows[r], row, ":")
            split("", seen)
            sources = 0
            see(row[1])
            if (sources > row[2])
                print "src/" row[1] ": " sources " sources see it (" row[2] " at most)"
            if (sources == 0) print "src/" row[1] ": no source sees it, and it has a limit"
        }
    }
    ' $sources
)

sizes=$(
    for folder in $(echo "$sources" | sed 's|/[^/]*$||' | sort -u); do
        files=$(find "$folder" -maxdepth 1 -name '*.[ch]' | wc -l)
        lines=$(cat "$folder"/*.[ch] | wc -l)
        [ "$files" -le "$files_most" ] || echo "$folder: $files files ($files_most at most)"
        [ "$lines" -le "$lines_most" ] || echo "$folder: $lines lines ($lines_most at most)"
        if [ ! -f "$folder/README.md" ]; then
            echo "$folder: no README.md that says what belongs here"
        elif [ "$(wc -l <"$folder/README.md")" -gt "$readme_most" ]; then
            echo "$folder/README.md: longer than $readme_most lines"
        fi
    done
)

faults=$(printf '%s\n%s\n%s\n' "$directions" "$reached" "$sizes" | grep .)
[ -z "$faults" ] && { echo "1 passed, 0 failed"; exit 0; }
echo "$faults"
echo "0 passed, $(echo "$faults" | wc -l) failed"
exit 1
