#!/bin/sh
# Makes Countersign.app of a program that was built on macOS.
#
#   sh packaging/macos/bundle.sh PROGRAM [FOLDER]
#
# The bundle is in FOLDER, by default target/packages. It is not signed: `codesign` needs the certificate of whoever
# hands it out. The program itself has not been built for macOS by those who wrote this: they made the bundle with a
# stand-in for it, and no test does so.
set -eu
[ $# -ge 1 ] || {
    echo "usage: sh packaging/macos/bundle.sh PROGRAM [FOLDER]" >&2
    exit 5
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
program=$1
out=${2:-$root/target/packages}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
contents="$out/Countersign.app/Contents"
rm -rf "$out/Countersign.app"
mkdir -p "$contents/MacOS" "$contents/Resources"
cp "$program" "$contents/MacOS/countersign"
chmod 755 "$contents/MacOS/countersign"
sed "s/@VERSION@/$version/" "$here/Info.plist" >"$contents/Info.plist"
printf 'APPL????' >"$contents/PkgInfo"
cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$contents/Resources/"
python3 "$here/icns.py" "$root/assets/icon/countersign.svg" "$contents/Resources/Countersign.icns"
# The target of Rust for which the program was built.
target=${MACOS_TARGET:-aarch64-apple-darwin}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
python3 "$root/packaging/crates.py" licences "$target" >"$contents/Resources/third-party.txt"
python3 "$root/packaging/crates.py" sbom "$target" >"$contents/Resources/countersign.cdx.json"
echo "$out/Countersign.app"
