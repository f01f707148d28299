#!/bin/sh
# Takes the pictures of the user guide and of README.md: the real window on a virtual display, with the made-up data of
# examples/gallery.
#
#   sh packaging/pictures.sh           all pictures
#   sh packaging/pictures.sh walls     only docs/pictures/walls.png
set -eu
only=${1:-}
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

need_build
need_packages "For the window" "$PACKAGES_WINDOW"
need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
cargo build --locked --features inspection --example gallery

size=1280x800
pictures=docs/pictures
work=$(mktemp -d)
server=
gallery=
stop_all() {
    for process in $gallery $server; do kill "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 1' HUP INT TERM

# The server chooses a free display, prints its number once it accepts clients, and keeps running (-noreset).
mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp -noreset 3>"$work/display" 2>"$work/server.log" &
server=$!
read -r number <"$work/display"
export DISPLAY=":$number" LIBGL_ALWAYS_SOFTWARE=1
# The corner, where no control shows a tooltip.
xdotool mousemove 1279 799

# Takes one picture, once the window has been painted and no longer changes. $1: its name, $2: the state of the gallery.
picture() {
    [ -z "$only" ] || [ "$only" = "$1" ] || return 0
    "$TARGET/debug/examples/gallery" "$2" dark "$size" >"$work/gallery.log" 2>&1 &
    gallery=$!
    before=
    tries=0
    while [ "$tries" -lt 60 ]; do
        tries=$((tries + 1))
        sleep 0.3
        import -window root -strip "$work/screen.png"
        now=$(cksum <"$work/screen.png")
        # An empty display has few colours.
        if [ "$now" = "$before" ] && [ "$(identify -format %k "$work/screen.png")" -gt 64 ]; then
            convert "$work/screen.png" -colors 255 "png8:$pictures/$1.png"
            say "$pictures/$1.png"
            kill "$gallery"
            wait "$gallery" 2>/dev/null || true
            gallery=
            return 0
        fi
        before=$now
    done
    die "the state $2 is not drawn, or does not stand still: $(cat "$work/gallery.log")"
}

mkdir -p "$pictures"
picture ../../assets/screenshot asking
picture plans guided-dangerous
picture evidence execution
picture times times
picture compared compared
picture changed tampered
picture history revert
picture loop loop-waiting
picture planners loop
picture remote-hosts command-trying
picture rules command-dialog
picture walls command-refused
picture workspace-commands trust
