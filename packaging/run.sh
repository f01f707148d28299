#!/bin/sh
# Builds Countersign and opens the tour in its window. Without a display: drives the tour through the
# real window on a virtual display and saves a picture of each page in target/tour/.
#
#   sh packaging/run.sh                        do it
#   sh packaging/run.sh --dry-run=apt|dnf|pacman   only print the commands, as on a machine with nothing installed
set -eu
case ${1:-} in
'') ;;
--dry-run=apt | --dry-run=dnf | --dry-run=pacman) DRY_RUN=${1#--dry-run=} ;;
*)
    echo "usage: sh packaging/run.sh [--dry-run=apt|dnf|pacman]" >&2
    exit 5
    ;;
esac
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

need_build
need_packages "For walls around commands" "$PACKAGES_PROGRAM"
need_packages "For the window" "$PACKAGES_WINDOW"

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "building (the first time takes several minutes)"
    run cargo build --release --locked --bin countersign
    # The plan of the tour changes files, so it gets a copy of its own.
    tour=${TMPDIR:-/tmp}/countersign-tour.$$
    run mkdir "$tour"
    run cp -R assets/plans/tour/. "$tour/"
    say "opening the tour, a copy in $tour"
    run "$TARGET/release/countersign" "$tour/tour.plan.json"
else
    say "neither DISPLAY nor WAYLAND_DISPLAY is set: the tour runs on a virtual display"
    need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
    # The tour needs the feature `inspection`, which reports where controls are and is not in releases. test.sh
    # uses the same build.
    say "building (the first time takes several minutes)"
    run cargo build --locked --features inspection --bin countersign --example tour
    run "$TARGET/debug/examples/tour" "$TARGET/debug/countersign" assets/plans/tour "$ROOT/target/tour"
    say "pictures are in $ROOT/target/tour"
fi
