#!/bin/sh
# Takes pictures of every page of the real window with texts in many scripts, and makes contact sheets of them in
# target/scripts/sheets.
#
#   sh packaging/scripts.sh          dark, light and high contrast at 100 and 200 %
#   sh packaging/scripts.sh dark 2.0 only this theme at this zoom
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

need_build
need_packages "For the window" "$PACKAGES_WINDOW"
need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
need_packages "For texts in many scripts" "$PACKAGES_TESTS"
cargo build --locked --features inspection --bin countersign --example scripts

pictures="$TARGET/scripts"
sheets="$pictures/sheets"
mkdir -p "$sheets"

# $1: the theme, $2: the zoom.
take() {
    "$TARGET/debug/examples/scripts" "$TARGET/debug/countersign" "$pictures" "$1" "$2"
    for size in 1280x800 900x600 720x480; do
        montage "$pictures"/*-"$size-$1-$2.png" -geometry 640x+8+8 -tile 4x -background '#808080' \
            "$sheets/$size-$1-$2.png"
        say "$sheets/$size-$1-$2.png"
    done
}

if [ $# -eq 2 ]; then
    take "$1" "$2"
else
    for theme in dark light contrast; do
        for zoom in 1.0 2.0; do take "$theme" "$zoom"; done
    done
fi
