#!/bin/sh
# Makes an AppImage: one file that runs without being installed.
#
#   APPIMAGE_RUNTIME=FILE sh packaging/appimage.sh [--binary FILE] [--version VERSION] [--out DIR] [--level LEVEL]
#
# FILE is the runtime of the AppImage project for this processor ("type 2"), a program of its releases, which no
# registry of packages has: download it yourself, and compare its digest. Like every Countersign, the AppImage needs the
# libraries of the display that every desktop has, and bubblewrap for walls; it contains none of them.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=packaging/stage.sh
. "$(dirname -- "$0")/stage.sh"
[ -n "${APPIMAGE_RUNTIME:-}" ] || die "an AppImage begins with the runtime of the AppImage project, a program for this processor named runtime-$(uname -m) in the releases of its type2-runtime. Download it, and name it with APPIMAGE_RUNTIME=FILE"
# An ELF file with the mark of the second format.
[ "$(od -A n -t x1 -N 11 "$APPIMAGE_RUNTIME" | tr -d ' \n' | sed 's/^7f454c46........414902$/runtime/')" = runtime ] ||
    die "$APPIMAGE_RUNTIME is no runtime of an AppImage of type 2"
package_options "$@"
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_APPIMAGE"
need_binary

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root="$work/AppDir"
stage_files "$root/usr" share/zsh/site-functions
install -m 644 -t "$root/usr/share/doc/countersign" "$ROOT/LICENSE-MIT" "$ROOT/LICENSE-APACHE"
ln -s usr/bin/countersign "$root/AppRun"
ln -s "usr/share/applications/$APP.desktop" "$root/$APP.desktop"
ln -s "usr/share/icons/hicolor/256x256/apps/$APP.png" "$root/$APP.png"
ln -s "$APP.png" "$root/.DirIcon"
with_one_date "$root"
# It takes its dates from SOURCE_DATE_EPOCH, and its order from no folder.
mksquashfs "$root" "$work/files" -quiet -no-progress -all-root -no-xattrs -comp gzip -Xcompression-level "$LEVEL" -processors 1
package="$OUT/Countersign-$VERSION-$(uname -m).AppImage"
cat "$APPIMAGE_RUNTIME" "$work/files" >"$package"
chmod 755 "$package"
say "$package"
