#!/bin/sh
# Builds the packages of the last commit twice, in folders with different names, each with downloads of cargo, a home and
# a build folder of its own, and compares them byte by byte.
#
#   sh packaging/reproducible.sh [FOLDER]
#
# The folder, by default target/reproducible, is emptied before. Two releases are built, which takes long:
# CARGO_PROFILE_RELEASE_OPT_LEVEL=0 shows the same of paths and dates in less time. Exit status 0 only when every
# package is the same.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=packaging/stage.sh
. "$(dirname -- "$0")/stage.sh"
place=${1:-$TARGET/reproducible}
rm -rf "$place"
mkdir -p "$place"
place=$(cd "$place" && pwd)
need_packages "To build" "$PACKAGES_BUILD"
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_DEB $PACKAGES_RPM"
need_rust
need_cargo_home
cargo fetch --locked --manifest-path "$ROOT/Cargo.toml"

# One build. $1: the folder, $2: the time zone, $3: the language, $4: the umask.
build() {
    say "building in $1"
    downloads=${CARGO_HOME:-$HOME/.cargo}/registry
    rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
    (
        umask "$4"
        mkdir -p "$1/home" "$1/cargo/registry"
        git clone -q "$ROOT" "$1/source"
        # The same archives of crates, unpacked once more.
        cp -R "$downloads/index" "$downloads/cache" "$1/cargo/registry/"
        unset SOURCE_DATE_EPOCH RUSTFLAGS CARGO_TARGET_DIR
        export TZ="$2" LANG="$3" HOME="$1/home" CARGO_HOME="$1/cargo" RUSTUP_HOME="$rustup_home"
        [ -z "${5:-}" ] || export CARGO_TARGET_DIR="$5"
        # Another file system, where there is one.
        [ -z "${5:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
        sh "$1/source/packaging/deb.sh" --out "$1/packages"
        built="${CARGO_TARGET_DIR:-$1/source/target}/release/countersign"
        for kind in rpm tarball; do
            sh "$1/source/packaging/$kind.sh" --binary "$built" --out "$1/packages"
        done
    )
}

build "$place/one" UTC C.UTF-8 022
build "$place/the second, elsewhere" Asia/Kathmandu POSIX 077 "$place/build"

same=0
for package in "$place/one/packages"/*; do
    other="$place/the second, elsewhere/packages/${package##*/}"
    if cmp "$package" "$other"; then
        sha256sum "$package"
    else
        same=1
    fi
done
[ "$(ls "$place/one/packages")" = "$(ls "$place/the second, elsewhere/packages")" ] || same=1
[ "$same" = 0 ] || die "the packages differ"
say "the packages are the same"
