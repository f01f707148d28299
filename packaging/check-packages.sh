#!/bin/sh
# Makes every package of a program that is built already, and checks them: what is in them, by lintian, by installing and
# removing each in an empty folder, and the man pages, completions, types of files and bill of materials in them.
#
#   sh packaging/check-packages.sh PROGRAM
#
# Part of test.sh. Exit status 0 only when everything is as it should be. That the installed program works is shown by
# install-test.sh.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$ROOT"
[ $# = 1 ] || die "usage: sh packaging/check-packages.sh PROGRAM"
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_DEB $PACKAGES_RPM $PACKAGES_APPIMAGE"
need_packages "To check packages" "$PACKAGES_LINT $PACKAGES_CHECKS"
need_sbom_reader
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
out="$work/packages"

# Symbols would only be copied, once for each package.
strip --strip-unneeded -o "$work/program" "$1"
say "making packages"
for kind in deb rpm tarball; do
    sh "packaging/$kind.sh" --binary "$work/program" --level 1 --out "$out"
done
(sh packaging/appimage.sh 2>&1 || true) | grep -q 'Download it' || die "appimage.sh does not say what it needs"
# Any program with the mark of a runtime stands in for it: what follows it is the same.
{
    head -c 8 /bin/true
    printf 'AI\002'
    tail -c +12 /bin/true
} >"$work/runtime"
APPIMAGE_RUNTIME="$work/runtime" sh packaging/appimage.sh --binary "$work/program" --level 1 --out "$out"
deb=$(echo "$out"/*.deb) rpm=$(echo "$out"/*.rpm) tarball=$(echo "$out"/*.tar.gz) appimage=$(echo "$out"/*.AppImage)

say "lintian"
lintian --fail-on error,warning,info,pedantic --tag-display-limit 0 "$deb"

say "the same files in every package"
unpacked() { (cd "$1" && find . ! -type d | sort); }
dpkg-deb -x "$deb" "$work/deb"
mkdir "$work/rpm" "$work/tar"
rpm2cpio "$rpm" | (cd "$work/rpm" && cpio -idm --quiet)
(umask 077 && tar -xzf "$tarball" -C "$work/tar" --strip-components=1 --no-same-permissions)
unsquashfs -quiet -no-progress -offset "$(stat -c %s "$work/runtime")" -d "$work/appimage" "$appimage" >/dev/null
# Where distributions differ: completions of zsh, licences, and the changelog.
common() {
    unpacked "$1" | grep -v -i -e zsh -e license -e /copyright -e changelog
}
common "$work/deb/usr" >"$work/files"
for other in rpm/usr tar appimage/usr; do
    common "$work/$other" | grep -v -x -e ./install.sh -e ./files | diff "$work/files" - || die "$other has other files"
done
for file in ./bin/countersign "./share/applications/io.github.countersign.Countersign.desktop" \
    ./share/icons/hicolor/scalable/apps/io.github.countersign.Countersign.svg ./share/man/man1/countersign-run.1.gz \
    ./share/doc/countersign/third-party.txt.gz ./share/doc/countersign/countersign.cdx.json; do
    grep -q -x -F "$file" "$work/files" || die "no package has $file"
done
"$work/deb/usr/bin/countersign" --version

say "installing and removing"
# $1: a folder that has to be as it was before.
same() { (cd "$1" && find . | sort) | diff "$work/before" - || die "$2 leaves something"; }
# A prefix that is there, and one that is not.
mkdir -p "$work/prefixes/there/bin"
(cd "$work/prefixes" && find . | sort) >"$work/before"
for prefix in "$work/prefixes/there" "$work/prefixes/absent"; do
    (umask 077 && sh "$work/tar/install.sh" --prefix "$prefix") >/dev/null
    [ -z "$(find "$prefix" ! -perm -444)" ] || die "install.sh installs what others cannot read"
    sh "$work/tar/install.sh" --prefix "$prefix" >/dev/null
    "$prefix/bin/countersign" --version
    desktop-file-validate "$prefix"/share/applications/*.desktop
    sh "$work/tar/install.sh" --uninstall --prefix "$prefix"
    same "$work/prefixes" install.sh
done
# For dpkg and rpm as far as that goes without the system they are made for.
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/root/var/lib/dpkg/updates" "$work/root/var/lib/dpkg/info"
    : >"$work/root/var/lib/dpkg/status"
    dpkg --root="$work/root" --force-depends -i "$deb" >"$work/log" 2>&1 || die "$(cat "$work/log")"
    "$work/root/usr/bin/countersign" --version
    dpkg --root="$work/root" -P countersign >"$work/log" 2>&1 || die "$(cat "$work/log")"
    left=$(find "$work/root" ! -type d ! -path "$work/root/var/*")
    [ -z "$left" ] || die "dpkg leaves $left"
    rpm --root "$work/rpmroot" --nodeps --noscripts -i "$rpm"
    "$work/rpmroot/usr/bin/countersign" --version
    rpm --root "$work/rpmroot" -V --nodeps countersign
    rpm --root "$work/rpmroot" --nodeps -e countersign
    left=$(find "$work/rpmroot/usr" ! -type d ! -path '*/lib/sysimage/*')
    [ -z "$left" ] || die "rpm leaves $left"
else
    say "not checked, because only root can: installing and removing with dpkg and rpm"
fi

say "man pages"
gzip -d "$work"/tar/share/man/man1/*.gz
# Long lines are the text of --help.
mandoc -Tlint -Wstyle "$work"/tar/share/man/man1/*.1 | grep -v 'input text line longer than' >"$work/lint" || true
[ ! -s "$work/lint" ] || die "$(cat "$work/lint")"
for page in "$work"/tar/share/man/man1/*.1; do
    MANWIDTH=100 man -l --warnings "$page" 2>>"$work/lint" >/dev/null
done
[ ! -s "$work/lint" ] || die "$(cat "$work/lint")"

say "completions"
# shellcheck disable=SC2016 # for bash
completed=$(bash -c '. "$1"; COMP_WORDS=(countersign evi) COMP_CWORD=1; _countersign countersign evi countersign; echo "${COMPREPLY[@]}"' \
    bash "$work/tar/share/bash-completion/completions/countersign")
[ "$completed" = evidence ] || die "bash completes evi to: $completed"
completed=$(HOME="$work" fish --no-config -c "source $work/tar/share/fish/vendor_completions.d/countersign.fish; complete -C 'countersign evi'")
case $completed in
evidence*) ;;
*) die "fish completes evi to: $completed" ;;
esac
zsh -n "$work/tar/share/zsh/site-functions/_countersign"

say "types of files"
mkdir -p "$work/data" "$work/typed"
cp -R "$work/tar/share/mime" "$work/data/mime"
XDG_DATA_HOME="$work/data" update-mime-database "$work/data/mime" 2>/dev/null
while read -r name type; do
    echo text >"$work/typed/$name"
    found=$(XDG_DATA_HOME="$work/data" gio info -a standard::content-type "$work/typed/$name" | sed -n 's/ *standard::content-type: //p')
    [ "$found" = "$type" ] || die "$name is $found and not $type"
    grep -q "^MimeType=.*$type;" packaging/linux/*.desktop || die "the desktop entry does not open $type"
done <<'END'
a.plan.json application/vnd.countersign.plan+json
a.plan.request.json application/vnd.countersign.review-request+json
a.json application/json
other.request.json application/json
a.patch text/x-patch
a.diff text/x-patch
a.md text/markdown
a.sarif application/sarif+json
a.atrb application/vnd.atuin.runbook+yaml
END

say "bill of materials"
"$SBOM_PYTHON" packaging/check_sbom.py "$work/tar/share/doc/countersign/countersign.cdx.json"
say "the packages are as they should be"
