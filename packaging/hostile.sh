#!/bin/sh
# Runs hostile commands in a throw-away root, without walls and behind them, and counts the harm they do.
#
#   sh packaging/hostile.sh [FILE]
#
# FILE has one JSON object with a "command" in each line; without it, tests/hostile/commands.jsonl is taken.
# Needs root, for the mounts of that root, and debootstrap. Exit status 0 only when at least 300 commands do
# harm outside the project without walls and none of these does behind them.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"
commands=${1:-tests/hostile/commands.jsonl}
[ "$(id -u)" = 0 ] || die "this needs root, to mount the throw-away root"
need_build
need_packages "To make a throw-away root" "$PACKAGES_HOSTILE"
# Built as for the tests: `cargo build` would build every dependency again with other features.
cargo test --locked --features inspection --no-run

place=${HOSTILE_ROOT:-/var/tmp/countersign-hostile}
# The user id that owns the files of the root; no user of this machine has it.
sh tests/hostile/make_root.sh "$place" 100000 "$TARGET/debug/countersign"
out="$TARGET/hostile"
mkdir -p "$out"
say "without walls"
python3 tests/hostile/run.py "$place" "$commands" --walls off >"$out/off.jsonl"
python3 tests/hostile/harmful.py "$out/off.jsonl" >"$out/harmful.jsonl"
say "behind walls"
python3 tests/hostile/run.py "$place" "$out/harmful.jsonl" --walls full >"$out/full.jsonl"
python3 tests/hostile/harmful.py "$out/full.jsonl" >"$out/escaped.jsonl"
harmful=$(wc -l <"$out/harmful.jsonl")
[ "$(wc -l <"$out/full.jsonl")" = "$harmful" ] || die "not every command was tried behind walls"
escaped=$(wc -l <"$out/escaped.jsonl")
not_run=$(grep -c '"outcome": null' "$out/full.jsonl" || true)
say "$harmful do harm without walls, $escaped of them behind walls; $not_run could not be run there"
[ "$harmful" -ge 300 ] && [ "$escaped" = 0 ] && [ "$not_run" = 0 ]
