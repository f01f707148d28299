#!/bin/sh
# Makes the installer for Windows of a program that was built there, or for it, with NSIS.
#
#   sh packaging/windows/installer.sh PROGRAM [FOLDER]
#
# The installer is in FOLDER, by default target/packages. It is not signed. The program itself has not been built for
# Windows by those who wrote this: they made the installer with a stand-in for it, and no test does so.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/../lib.sh"
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ $# -ge 1 ] || die "usage: sh packaging/windows/installer.sh PROGRAM [FOLDER]"
need_rust
need_cargo_home
need_packages "To make the installer" "$PACKAGES_STAGE $PACKAGES_NSIS"
program=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
out=${2:-$ROOT/target/packages}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# The target of Rust for which the program was built.
windows=${WINDOWS_TARGET:-x86_64-pc-windows-msvc}
python3 "$ROOT/packaging/windows/ico.py" "$ROOT/assets/icon/countersign.svg" "$work/countersign.ico"
python3 "$ROOT/packaging/crates.py" licences "$windows" >"$work/third-party.txt"
python3 "$ROOT/packaging/crates.py" sbom "$windows" >"$work/countersign.cdx.json"
makensis -V2 -WX "-DROOT=$ROOT" "-DVERSION=$version" "-DPROGRAM=$program" "-DICON=$work/countersign.ico" \
    "-DTHIRD_PARTY=$work/third-party.txt" "-DSBOM=$work/countersign.cdx.json" \
    "-DOUT=$out/countersign-$version-setup.exe" "$ROOT/packaging/windows/countersign.nsi"
say "$out/countersign-$version-setup.exe"
