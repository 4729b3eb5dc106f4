#!/bin/sh
# The OpenID provider Dex, built once from its module and kept outside the checkout. Prints the folder with the
# program `dex` and its pages `web`.
#
# It needs Go, and of a version that Debian's package does not have: what is in PATH is used. The first build takes
# minutes and some 1.2 GB, which is why no other target depends on it.
set -eu

commit=ab64ed778070
version=v0.0.0-20260806151424-$commit
place=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/dex-$commit

if [ ! -e "$place/dex" ]; then
    command -v go >/dev/null || {
        echo "dex.sh: needs Go in PATH; or name a folder with a built dex and its web as LKS_DEX" >&2
        exit 5
    }
    made=$(mktemp -d)
    trap 'chmod -R u+w "$made" && rm -rf "$made"' EXIT
    export GOPATH="$made/path" GOCACHE="$made/cache" GOFLAGS='-buildvcs=false -mod=mod' CGO_ENABLED=0
    mkdir "$made/none" && cd "$made/none"
    printf 'module none\n' >go.mod
    from=$(go mod download -json "github.com/dexidp/dex@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    cp -r "$from" "$made/source"
    chmod -R u+w "$made/source"
    cd "$made/source"
    # The module leaves out the one that lies in its folder api/v2 and that it is built with.
    go mod edit -dropreplace github.com/dexidp/dex/api/v2 >&2
    go get "github.com/dexidp/dex/api/v2@$commit" >&2
    go build -o "$made/dex" ./cmd/dex >&2
    mkdir -p "$place"
    cp -r web "$place/"
    cp "$made/dex" "$place/dex.new"
    mv "$place/dex.new" "$place/dex"
fi
echo "$place"
