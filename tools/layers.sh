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
rehearse
server agent cli bmcd executors
'

# Folders whose code takes the world as arguments, and the files in them that own a piece of it.
pure='codec model trust core port pldm bmcsim drivers rehearse'
owners='^src/drivers/(http|store|depot)_[a-z0-9_]+\.[ch]$'

# Standing above is not enough for these pairs: the engine reaches the world through port alone.
hidden='engine:drivers engine:probe engine:bmcsim'

clock='time|clock_gettime|gettimeofday|sleep|usleep|nanosleep'
chance='rand|random|srand|getrandom|getenv'
world='socket|connect|send|recv|open|openat|opendir|read|write|stat|fopen|fread|fwrite|popen|system'
world="$world|printf|fprintf|puts|fputs|putchar|fputc"
impure="(^|[^a-zA-Z0-9_>.])($clock|$chance|$world|lks_file_[a-z]+)\\("

# shellcheck disable=SC2046  # one word a file: names here have no blanks
faults=$(
    awk -v order="$order" -v pure="$pure" -v hidden="$hidden" -v owners="$owners" \
        -v impure="$impure" '
    BEGIN {
        n = split(order, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], words, " ")
            for (j = 1; j <= m; j++) rank[words[j]] = i
        }
        n = split(pure, words, " ")
        for (i = 1; i <= n; i++) is_pure[words[i]] = 1
        n = split(hidden, words, " ")
        for (i = 1; i <= n; i++) is_hidden[words[i]] = 1
    }
    FNR == 1 {
        split(FILENAME, parts, "/")
        folder = parts[2]
        told = is_pure[folder] && FILENAME !~ owners
        if (!(folder in rank) && !named[folder]++) print folder ": not in the order of layers"
    }
    /^#include "[^\/]*"/ { print FILENAME ":" FNR ": includes name their folder" }
    /^#include "[a-z0-9]*\// {
        used = $0
        sub(/^#include "/, "", used)
        sub(/\/.*/, "", used)
        if (used != folder &&
            (!(used in rank) || rank[used] >= rank[folder] || is_hidden[folder ":" used]))
            print FILENAME ":" FNR ": may not include " used "/"
    }
    told && $0 ~ impure { print FILENAME ":" FNR ": takes time, chance and the world as arguments" }
    ' $(find src -mindepth 2 -maxdepth 2 -name '*.[ch]' | sort)
)

[ -z "$faults" ] && { echo "1 passed, 0 failed"; exit 0; }
echo "$faults"
echo "0 passed, $(echo "$faults" | wc -l) failed"
exit 1
