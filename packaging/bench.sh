#!/bin/sh
# Installs what the benches need and runs all of them: one line for each claim of the table in benches/README.md.
#
#   sh packaging/bench.sh             all benches
#   sh packaging/bench.sh NAME...     only these, by the name of their file in benches/
#
# Exit status 0 only when every claim holds. A busy machine tells little: nothing else should run on it.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

need_build
need_packages "For walls around commands" "$PACKAGES_PROGRAM"
need_packages "For the window" "$PACKAGES_WINDOW"
need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
need_packages "To compare with" "$PACKAGES_BENCH"
need_code_tools

# The program as it is released starts in `start`; the benches themselves bring more features along, so
# it is kept apart from what they build.
say "building the program as it is released (the first time takes several minutes)"
cargo build --release --locked --bin countersign
mkdir -p "$TARGET/bench"
cp "$TARGET/release/countersign" "$TARGET/bench/countersign"
export COUNTERSIGN="$TARGET/bench/countersign"

for name in "$@"; do
    shift
    set -- "$@" --bench "$name"
done
# Every bench, and not the tests of the library beside them.
[ $# -gt 0 ] || set -- --bench '*'
say "building and running the benches (the first time takes several minutes)"
cargo bench --locked --features inspection --no-fail-fast "$@"
