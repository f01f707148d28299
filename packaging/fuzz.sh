#!/bin/sh
# Fuzzes the plan parser, the openers, the preconditions, the client of agents and the parsers of commands.
#
#   sh packaging/fuzz.sh           some seconds for each target, starting from the kept corpus
#   sh packaging/fuzz.sh --long    20 minutes of CPU time for each; adds new inputs to the corpus
#
# With the name of a target, only that target.
#
#   sh packaging/fuzz.sh --add TARGET FILE...    only adds these inputs to the kept corpus of a target
#
# The targets are in fuzz/targets, the inputs in fuzz/corpus, one archive per target; see fuzz/README.md.
# Exit status 0 only when no fault was found.
set -eu
seconds=25
long=
only=
add=
usage() {
    echo "usage: sh packaging/fuzz.sh [--long] [TARGET] | --add TARGET FILE..." >&2
    exit 5
}
while [ $# -gt 0 ]; do
    case $1 in
    --long) long=1 seconds=1200 ;;
    --add) add=1 ;;
    acp | parse_plan | openers | preconditions | risk_scan | risk_first_reader | risk_second_reader | risk_classify) only=$1 ;;
    *)
        if [ -z "$add" ] || [ -z "$only" ]; then usage; fi
        break
        ;;
    esac
    shift
done
[ -z "$add" ] || [ $# -gt 0 ] || usage
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export TMPDIR="$work"

# Unpacks the kept inputs of a target. $1: its name. Sets kept to the folder.
unpack() {
    kept="$work/kept/$1"
    mkdir -p "$kept"
    [ ! -f "fuzz/corpus/$1.tar.gz" ] || tar -xzf "fuzz/corpus/$1.tar.gz" -C "$kept"
}

# Packs the inputs of a target; the same inputs always give the same bytes. $1: its name, $2: the folder.
pack() {
    mkdir -p fuzz/corpus
    # Not by `set -e`, which does not count for callers that look at the result.
    if ! (
        cd "$2" &&
            find . -type f | sed 's,^\./,,' | LC_ALL=C sort >"$work/names" && [ -s "$work/names" ] &&
            tar --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf "$work/packed.tar" -T "$work/names"
    ); then
        echo "$1: the inputs could not be packed; those that are kept stay"
        return 1
    fi
    gzip -9n <"$work/packed.tar" >"$work/packed.tar.gz"
    mv "$work/packed.tar.gz" "fuzz/corpus/$1.tar.gz"
    echo "$1: $(wc -l <"$work/names") inputs are kept"
}

if [ -n "$add" ]; then
    unpack "$only"
    for file; do
        # The name that libFuzzer would give it, so that an input is kept once.
        cp -- "$file" "$kept/$(sha1sum <"$file" | cut -d ' ' -f 1)"
    done
    pack "$only" "$kept"
    exit
fi

out="$TARGET/fuzz"
mkdir -p "$out/found"

# The sanitizers need a nightly compiler; counting which branches were taken does not. Naming the host
# as the target keeps the counters out of build scripts and macros.
build() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
        -Cllvm-args=-sanitizer-coverage-trace-compares'
    (
        # A short run spends most of its time on the build.
        [ -n "$long" ] || export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
        unset CARGO_ENCODED_RUSTFLAGS
        export RUSTFLAGS="$coverage"
        cargo build --locked --release --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$out"
    )
    targets="$out/$host/release"
}

# Sets cpu to the CPU seconds of all child processes that this script has waited for.
measure_cpu() {
    # Not in a pipe or a substitution, where `times` would be that of a subshell.
    times >"$work/times"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += t[1] * 60 + t[2] } print int(sum) }' "$work/times")
}

# Runs one target. $1: its name, then the options of libFuzzer and the folders of inputs.
target() {
    name=$1
    shift
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    fresh="$out/corpus/$name"
    case $name in risk_*) dict=fuzz/risk.dict ;; *) dict=fuzz/$name.dict ;; esac
    # A short run starts from the kept corpus alone: what an earlier run found here does not matter.
    [ -n "$long" ] || fresh="$work/corpus/$name"
    # A short run looks for regressions first. Its seed is fixed, but no two runs are the same: the order of hash maps
    # differs, and so which inputs count as new.
    [ -n "$long" ] || set -- -seed=1 "$@"
    # The limit for one input is elapsed time, so a long run, which may share the machine, gets more.
    [ -z "$long" ] || set -- "$@" -timeout=60
    mkdir -p "$fresh"
    unpack "$name"
    : >"$out/$name.log"
    measure_cpu
    begin=$cpu
    used=0
    while [ "$used" -lt "$seconds" ]; do
        "$targets/$name" -max_total_time=$((seconds - used)) -rss_limit_mb=2048 -print_final_stats=1 \
            -artifact_prefix="$out/found/$name-" -dict="$dict" \
            "$fresh" "$kept" "$@" >>"$out/$name.log" 2>&1 || {
            tail -n 60 "$out/$name.log"
            # Last, because a log that is too long is often cut before its end.
            grep -aE -A 1 'panicked at|^SUMMARY|^Base64' "$out/$name.log" | cut -c -4000
            echo "$name: found something; to see it again: $targets/$name FILE, with the file named above"
            return 1
        }
        measure_cpu
        used=$((cpu - begin))
        # A short run lasts as long as it says; a long one makes up for a busy machine.
        [ -n "$long" ] || break
    done
    runs=$(awk '/^stat::number_of_executed_units/ { sum += $2 } END { print sum }' "$out/$name.log")
    seen=$(sed -n 's/.* cov: \([0-9]* ft: [0-9]*\) .*/\1/p' "$out/$name.log" | tail -n 1)
    echo "$name: nothing found in $runs runs, $used s of CPU time, cov: $seen"
    [ -z "$long" ] || minimise "$name" "$fresh" "$@"
}

# Keeps the smallest inputs that together have the same coverage.
minimise() {
    name=$1
    shift
    rm -rf "$work/minimal"
    mkdir -p "$work/minimal"
    "$targets/$name" -set_cover_merge=1 -use_counters=0 -rss_limit_mb=2048 "$work/minimal" "$kept" "$@" \
        >>"$out/$name.log" 2>&1 || {
        echo "$name: the inputs could not be merged, see $out/$name.log; those that are kept stay"
        return 1
    }
    pack "$name" "$work/minimal"
}

need_build
need_packages "To build the fuzzer" "$PACKAGES_FUZZ"
cargo fmt --check --manifest-path fuzz/Cargo.toml
build
status=0
target acp -timeout=5 -max_len=65536 || status=1
target parse_plan -timeout=5 -max_len=65536 tests/fixtures/plans assets/plans || status=1
target openers -timeout=5 -max_len=16384 || status=1
target preconditions -timeout=10 -max_len=8192 || status=1
target risk_scan -timeout=5 -max_len=70000 || status=1
target risk_first_reader -timeout=2 -max_len=4096 || status=1
target risk_second_reader -timeout=2 -max_len=4096 || status=1
target risk_classify -timeout=5 -max_len=4096 || status=1
exit "$status"
