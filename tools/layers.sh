#!/bin/sh
# Which folder may use which: itself and those on the lines above it. Folders on one line do not
# know each other. Pure folders are told the time, given their chance and handed their bytes.
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
bmcsim
drivers
probe
engine
server agent cli bmcd
'

# Folders whose code takes the world as arguments, and the files in them that own a piece of it.
pure='codec model trust core pldm bmcsim drivers'
owners='^src/drivers/(http|store|depot)_[a-z0-9_]+\.[ch]$'

# Standing above is not enough for these pairs: the engine reaches the world through port alone.
hidden='engine:drivers engine:probe engine:bmcsim'

clock='time|clock_gettime|gettimeofday|sleep|usleep|nanosleep'
chance='rand|random|srand|getrandom|getenv'
world='socket|connect|send|recv|open|openat|opendir|read|write|stat|fopen|fread|fwrite|popen|system'
world="$world|printf|fprintf|puts|fputs|putchar|fputc"
impure="(^|[^a-zA-Z0-9_>.])($clock|$chance|$world|lks_file_[a-z]+)\\("

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

rank_of() {
    echo "$order" | grep -nw -- "$1" | cut -d: -f1
}

for folder in $order; do
    for file in src/"$folder"/*.[ch]; do
        [ -f "$file" ] || continue
        if grep -nE '^#include "[^/]*"' "$file"; then
            fault "$file: includes name their folder"
        fi
        # shellcheck disable=SC2013  # folder names are words
        for used in $(sed -n 's|^#include "\([a-z0-9]*\)/.*|\1|p' "$file" | sort -u); do
            [ "$used" = "$folder" ] && continue
            rank=$(rank_of "$used")
            case " $hidden " in *" $folder:$used "*) rank= ;; esac
            if [ -z "$rank" ] || [ "$rank" -ge "$(rank_of "$folder")" ]; then
                fault "$file: may not include $used/"
            fi
        done
    done
done

for folder in $pure; do
    for file in src/"$folder"/*.[ch]; do
        [ -f "$file" ] || continue
        echo "$file" | grep -qE "$owners" && continue
        if grep -nE "$impure" "$file"; then
            fault "$file: takes time, chance and the world as arguments"
        fi
    done
done

# A folder that is not in the list has no place yet.
for path in src/*/; do
    [ -n "$(rank_of "$(basename "$path")")" ] || fault "$path: not in the order of layers"
done

[ "$faults" -eq 0 ] && echo "1 passed, 0 failed" || echo "0 passed, $faults failed"
exit "$faults"
