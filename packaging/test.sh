#!/bin/sh
# Installs what the tests need, runs every one of them, and prints how long each stage took.
#
#   sh packaging/test.sh            all tests
#   sh packaging/test.sh --long     the same with more cases per property, and the slow tests
#
# Exit status 0 only when every stage passed.
set -eu
long=
case ${1:-} in
'') ;;
--long) long=1 ;;
*)
    echo "usage: sh packaging/test.sh [--long]" >&2
    exit 5
    ;;
esac
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"

logs="$ROOT/target/test-logs"
mkdir -p "$logs"
summary="$logs/summary"
: >"$summary"
started=$(date +%s)

# Runs one stage, shows and stores its output, and records its status. Later stages run even if it fails.
stage() {
    name=$1
    shift
    say "$name"
    begin=$(date +%s)
    # A pipe hides the exit status of its left side, so a file carries it.
    { "$@" && echo 0 >"$logs/status" || echo $? >"$logs/status"; } 2>&1 | tee "$logs/$name.log"
    took=$(($(date +%s) - begin))
    if [ "$(cat "$logs/status")" = 0 ]; then result=passed; else result=FAILED; fi
    printf '%-12s %-8s %6s s\n' "$name" "$result" "$took" >>"$summary"
    say "$name $result after $took s"
}

# Reports a check whose tool is not installed.
not_run() {
    say "$1 was not run: $2"
    printf '%-12s %-8s %s\n' "$1" "not run" "$2" >>"$summary"
}

# One set of features everywhere, so that each dependency is built only once.
FEATURES='--locked --features inspection'

scripts() {
    for script in packaging/*.sh packaging/*/*.sh tests/hostile/*.sh assets/remote/*.sh assets/fleet/*.sh; do
        sh -n "$script" || return 1
    done
    # The branches of other package managers cannot run here, so only their printed commands are checked.
    for manager in apt dnf pacman; do
        planned=$(env -u DISPLAY -u WAYLAND_DISPLAY sh packaging/run.sh "--dry-run=$manager") || return 1
        case $manager in
        apt) expected='would run: env DEBIAN_FRONTEND=noninteractive apt-get -q install -y' ;;
        dnf) expected='would run: dnf install -y' ;;
        pacman) expected='would run: pacman -S --needed' ;;
        esac
        for words in "$expected" bubblewrap xdotool 'cargo build' rustup-init.sh; do
            printf '%s\n' "$planned" | grep -q -F -- "$words" || {
                echo "run.sh --dry-run=$manager does not print: $words"
                return 1
            }
        done
    done
    echo "the apt, dnf and pacman branches print their commands"
}

# shellcheck disable=SC2086 # FEATURES is a list of words.
build() { cargo test $FEATURES --no-run; }
# shellcheck disable=SC2086
clippy() { cargo clippy $FEATURES --all-targets -- -D warnings; }
# shellcheck disable=SC2086
docs() { RUSTDOCFLAGS='-D warnings' cargo doc $FEATURES --no-deps --lib; }
# shellcheck disable=SC2086
tests() { cargo test $FEATURES --no-fail-fast --lib --bins --test integration; }
# shellcheck disable=SC2086
doc_tests() { cargo test $FEATURES --doc; }
# One at a time: each starts its own display, and several at once would time out on a slow machine.
# shellcheck disable=SC2086
window() { cargo test $FEATURES --test window -- --test-threads=1; }
# What run.sh does without a display.
# shellcheck disable=SC2086
tour() {
    cargo build $FEATURES --bin countersign --example tour || return 1
    set -- "$TARGET/debug/countersign" assets/plans/tour
    "$TARGET/debug/examples/tour" "$@" "$TARGET/tour" &&
        "$TARGET/debug/examples/tour" --keyboard "$@" "$TARGET/tour-keyboard" &&
        "$TARGET/debug/examples/tour" --wayland "$@" "$TARGET/tour-wayland"
}
fuzz() { sh packaging/fuzz.sh; }
# shellcheck disable=SC2086
slow() { cargo test $FEATURES --no-fail-fast --lib --bins --test integration -- --ignored; }
# A million executions would take hours to make without optimisation.
# shellcheck disable=SC2086
million() { EVIDENCE_EXECUTIONS=1000000 cargo test --release $FEATURES --test integration evidence::grown; }
hostile() { sh packaging/hostile.sh; }
# Of the program that the tests use: what is checked is the packages.
packages() { sh packaging/check-packages.sh "$TARGET/debug/countersign"; }
# Of a release.
install_test() { sh packaging/install-test.sh; }
# Not advisories: their database is a git repository that has to be fetched from its server.
deny() { cargo deny --locked check bans licenses sources; }
desktop() { desktop-file-validate packaging/linux/*.desktop; }
metainfo() { appstreamcli validate --no-net packaging/linux/*.metainfo.xml; }

need_build
need_packages "For walls around commands" "$PACKAGES_PROGRAM"
need_packages "For the window" "$PACKAGES_WINDOW"
need_packages "For the virtual display" "$PACKAGES_VIRTUAL"
need_packages "To test it from outside" "$PACKAGES_TESTS"
need_packages "To build the fuzzer" "$PACKAGES_FUZZ"
# No other stage needs these tools, so a missing one is reported and not fatal.
(need_packages "To check scripts and desktop files" "$PACKAGES_CHECKS") || say "going on without them"
need_code_tools any
need_cargo_deny
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_DEB $PACKAGES_RPM $PACKAGES_APPIMAGE $PACKAGES_LINT"
need_sbom_reader
need_agents
need_mcp_sdk
need_proof_readers
need_readers
need_ansible
[ -z "$long" ] || need_litellm
[ -z "$long" ] || need_packages "To open reports in a browser" "$PACKAGES_BROWSER"
prepared=$(($(date +%s) - started))
printf '%-12s %-8s %6s s\n' prepare passed "$prepared" >>"$summary"

if [ -n "$long" ]; then
    export PROPTEST_CASES=4096 KILLS=200 ROUNDS=20 EVIDENCE_CHANGES=10000 SOAK_RUNS=1000
fi

# Runs a stage if its tool is installed. $1: the tool.
stage_with() {
    tool=$1
    shift
    if has "$tool"; then
        stage "$@"
    else
        not_run "$1" "$tool is not here"
    fi
}

stage scripts scripts
# Following `source` from the scripts checks lib.sh too.
stage_with shellcheck shellcheck shellcheck -x packaging/run.sh packaging/test.sh packaging/bench.sh packaging/fuzz.sh packaging/hostile.sh packaging/pictures.sh packaging/scripts.sh packaging/deb.sh packaging/rpm.sh packaging/tarball.sh packaging/appimage.sh packaging/check-packages.sh packaging/install-test.sh packaging/reproducible.sh packaging/*/*.sh tests/hostile/*.sh assets/remote/*.sh assets/fleet/*.sh
stage_with desktop-file-validate desktop desktop
stage_with appstreamcli metainfo metainfo
stage format cargo fmt --check
stage clippy clippy
stage docs docs
stage deny deny
stage build build
stage tests tests
stage doc-tests doc_tests
stage packages packages
stage window window
stage tour tour
stage fuzz fuzz
if [ -n "$long" ]; then
    stage slow slow
    stage million million
    stage hostile hostile
    stage install install_test
fi

say "test results"
grep -h '^test result:' "$logs/tests.log" "$logs/doc-tests.log" "$logs/window.log" || true
say "stages"
cat "$summary"
printf '%-12s %-8s %6s s\n' total '' "$(($(date +%s) - started))"
if grep -q FAILED "$summary"; then
    die "a stage failed; its output is in $logs"
fi
