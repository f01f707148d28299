#!/bin/sh
# Installs the Debian package in a bare Debian 12, drives the tour through the window to its end there, upgrades, removes,
# and compares the files before and after.
#
#   sh packaging/install-test.sh [PROGRAM]
#
# Without PROGRAM the release is built. Needs root, for mounts, and Debian's packages, which are kept in
# /var/tmp/countersign-install (or $INSTALL_ROOT). Exit status 0 only when everything was as it should be.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"
[ "$(id -u)" = 0 ] || die "this needs root, to mount the root of another system"
need_packages "To make the root of another system" "$PACKAGES_HOSTILE"
place=${INSTALL_ROOT:-/var/tmp/countersign-install}
root="$place/root"
out="$TARGET/install-test"
mkdir -p "$place/archives" "$out"
rm -f "$out"/*

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
newer="$version+upgrade1"
if [ $# -gt 0 ]; then set -- --binary "$1"; fi
say "making packages $version and $newer"
sh packaging/deb.sh "$@" --level 1 --out "$out"
if [ $# -eq 0 ]; then set -- --binary "$TARGET/release/countersign"; fi
sh packaging/deb.sh "$@" --level 1 --out "$out" --version "$newer"

if [ ! -e "$place/base" ]; then
    say "making a bare Debian 12 in $place"
    rm -rf "$place/base.new"
    debootstrap --variant=minbase bookworm "$place/base.new"
    mv "$place/base.new" "$place/base"
fi
rm -rf "$root"
cp -a "$place/base" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$out"/*.deb "$root/"
cp packaging/install/drive.py packaging/install/desktop.sh "$root/"
# Downloads are kept for the next time.
# shellcheck disable=SC2016 # the inner shell has its own arguments
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        mount --make-rprivate / && mount --bind "$1" "$2/var/cache/apt/archives" && shift && exec sh packaging/install/inside.sh "$@"
    ' inside "$place/archives" "$root" "$@"
}
as_tester() { inside setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/tester USER=tester "$@"; }
# Everything that packages could leave: not what a user has, what apt and logs say of the past, and the index of man.
files() {
    (cd "$root" && find . -xdev \( -path ./home -o -path ./tmp -o -path ./var/cache/apt -o -path ./var/cache/man -o -path ./var/lib/apt \
        -o -path ./var/log -o -path ./var/lib/dpkg \) -prune -o \( -type f -exec sha256sum {} + \) -o -print) | sort -k 2
}
fail() {
    [ ! -e "$root/tmp/screen/end" ] || cp "$root/tmp/screen/end" "$out/screen.xwd"
    die "$*; what was shown is in $out"
}

package=$(cd "$out" && echo countersign_"${version}"_*.deb)
upgrade=$(cd "$out" && echo countersign_"${newer}"_*.deb)
install='apt-get -q install -y --no-install-recommends'
say "installing $package with nothing but what it depends on"
inside apt-get -q update >"$out/update.log" 2>&1 || fail "apt-get update"
# shellcheck disable=SC2086 # a command with its options
inside $install "./$package" >"$out/first.log" 2>&1 || fail "the package cannot be installed"
known=$(inside ldconfig -p)
printf '%s\n' "$PACKAGES_WINDOW" | sed -n 's/^lib:\([^ ]*\).*/\1/p' >"$out/loaded"
while read -r library; do
    printf '%s\n' "$known" | grep -q -F "$library " || fail "$library is not there after the installation"
done <"$out/loaded"
inside countersign --version

say "removing it, and adding a display and the services of screen readers"
inside apt-get -q purge -y countersign >>"$out/first.log" 2>&1 || fail "the package cannot be removed"
# With those that keep lists of what is installed.
# shellcheck disable=SC2086
inside $install bubblewrap xvfb openbox xdotool at-spi2-core dbus dbus-daemon python3-gi libgl1-mesa-dri \
    shared-mime-info desktop-file-utils hicolor-icon-theme gtk-update-icon-cache man-db bash-completion \
    >"$out/display.log" 2>&1 || fail "the display cannot be installed"
inside useradd --create-home --uid 1000 tester
cp -R assets/plans/tour "$root/home/tester/harbour-lantern"
chown -R 1000:1000 "$root/home/tester"
files >"$out/before"

say "installing it again, and driving the tour"
inside dpkg -i "./$package" >"$out/second.log" 2>&1 || fail "dpkg cannot install the package"
files >"$out/installed"
inside man -w countersign countersign-evidence-search
as_tester sh /desktop.sh /home/tester/harbour-lantern "$version" || fail "the tour did not end"
cp "$root/tmp/screen/end" "$out/screen.xwd"
as_tester countersign evidence verify

say "upgrading to $upgrade"
# shellcheck disable=SC2086
inside $install "./$upgrade" >"$out/upgrade.log" 2>&1 || fail "the package cannot be upgraded"
# shellcheck disable=SC2016 # a format of dpkg
[ "$(inside dpkg-query -W -f '${Version}' countersign)" = "$newer" ] || fail "the newer version is not installed"
as_tester countersign evidence search lantern | grep -q file_write || fail "the newer version does not find the evidence"

say "removing it"
kept=$(cd "$root/home/tester" && find .local .config .cache -type f | sort)
inside apt-get -q remove -y countersign >"$out/remove.log" 2>&1 || fail "the package cannot be removed"
files >"$out/after"
diff "$out/before" "$out/after" || fail "the package leaves or changes files of the system"
[ "$kept" = "$(cd "$root/home/tester" && find .local .config .cache -type f | sort)" ] || fail "the user's own data changed"
[ -e "$root/home/tester/.local/share/countersign/evidence/execution_log.db" ] || fail "the evidence is not there"
inside dpkg-query -W countersign 2>/dev/null && fail "the package is still known"
say "$(diff "$out/before" "$out/installed" | grep -c '^>') files came and went; the user keeps:"
printf '%s\n' "$kept"
