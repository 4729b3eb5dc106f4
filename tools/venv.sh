#!/bin/sh
# A virtual environment with the Python packages of a list, made once and kept outside the checkout:
#
#     venv.sh LIST
#
# Prints where it is. It is named after the list and its content, so that another list makes another.
# Packages come by name from wherever pip is set up to get them.
set -eu

list=$1
sum=$(sha256sum "$list" | cut -c 1-16)
place=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/$(basename "$list" .txt)-$sum

if [ ! -e "$place/ready" ]; then
    mkdir -p "$(dirname "$place")"
    made=$(mktemp -d "$place.XXXXXX")
    trap 'rm -rf "$made"' EXIT
    python3 -m venv "$made" >&2
    "$made/bin/pip" install --quiet --disable-pip-version-check --no-input -r "$list" >&2
    # Scripts name the interpreter by its path, which another name would break: programs of it are run
    # as `python -m`.
    touch "$made/ready"
    mv -T "$made" "$place" 2>/dev/null || [ -e "$place/ready" ] # another run was faster
fi
echo "$place"
