#!/bin/sh
# The tests that docs/threat-model.md names: threats.sh [PAGE] says which do not exist, and which
# claims name none. A test is `FILE` "CASE" "CASE"...: the file is built, and has each case as a
# literal. Run from the root of the checkout.
set -eu

page=${1:-docs/threat-model.md}

awk -v page="$page" -v quote="'" '
function complain(text) {
    print page ":" FNR ": " text
    failed++
}
# A test is known to the build by its name without "test_" and its ending, or by its file.
function is_built(file,    folder, base, name, line, found) {
    if (file in built) return built[file]
    folder = file
    sub(/\/[^\/]*$/, "", folder)
    name = base = file
    sub(/^.*\//, "", base)
    sub(/^.*\/(test_)?/, "", name)
    sub(/\.[a-z]+$/, "", name)
    found = 0
    while ((getline line < (folder "/meson.build")) > 0)
        if (index(line, quote name quote) || index(line, quote base quote)) found = 1
    close(folder "/meson.build")
    return built[file] = found
}
function read_file(file,    line) {
    if (file in text) return text[file] != ""
    text[file] = ""
    while ((getline line < file) > 0) text[file] = text[file] line "\n"
    close(file)
    return text[file] != ""
}
function look(rest,    file, word, named) {
    while (match(rest, /`(tests|sim)\/[^`]*\.(c|sh|py)`|"[^"]*"/)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        named = substr(rest, RSTART, 1) == "\""
        rest = substr(rest, RSTART + RLENGTH)
        if (!named) {
            if (file != "" && !cases) complain(file ": names no case")
            file = word
            cases = 0
            if (!read_file(file)) complain(file ": there is no such test")
            else if (!is_built(file)) complain(file ": is not built")
        } else if (file != "") {
            cases++
            if (text[file] != "" && !index(text[file], "\"" word "\""))
                complain(file ": has no case \"" word "\"")
            else
                passed++
        }
    }
    if (file == "") return 0
    if (!cases) complain(file ": names no case")
    return 1
}
/^\| cannot \| shown by \|/ { claims = 1; next }
claims && /^\|---/ { next }
!/^\|/ { claims = 0 }
{
    if (!look($0) && claims) complain("a claim that names no test")
}
END {
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
}' "$page"
