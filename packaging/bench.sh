#!/bin/sh
# Installs what the benches need and runs all of them: one line for each claim of the table in benches/README.md.
#
#   sh packaging/bench.sh             all benches
#   sh packaging/bench.sh NAME...     only these, by the name of their file in benches/
#
# Exit status 0 only when every claim holds. Results on a busy machine mean little: run nothing else meanwhile.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

need_build
need_packages "For walls around commands" "$PACKAGES_PROGRAM"
need_packages "For the window" "$PACKAGES_WINDOW"
need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
need_packages "To compare with" "$PACKAGES_BENCH"
need_packages "To compare with a browser" "$PACKAGES_BROWSER"
need_code_tools fast
need_ansible

# `start` and `walls` measure the program as it is released. The benches build it with more features, so it is
# built first and copied.
say "building the program as it is released (the first time takes several minutes)"
cargo build --release --locked --bin countersign
mkdir -p "$TARGET/bench"
cp "$TARGET/release/countersign" "$TARGET/bench/countersign"
export COUNTERSIGN="$TARGET/bench/countersign"

for name in "$@"; do
    shift
    set -- "$@" --bench "$name"
done
# All benches, without the tests of the library.
[ $# -gt 0 ] || set -- --bench '*'
say "building and running the benches (the first time takes several minutes)"
cargo bench --locked --features inspection --no-fail-fast "$@"
