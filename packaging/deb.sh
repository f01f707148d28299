#!/bin/sh
# Makes the package for Debian and its relatives.
#
#   sh packaging/deb.sh [--binary FILE] [--version VERSION] [--out DIR] [--level LEVEL]
#
# Without --binary the release is built. The package is countersign_VERSION_ARCHITECTURE.deb in target/packages.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=packaging/stage.sh
. "$(dirname -- "$0")/stage.sh"
package_options "$@"
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_DEB"
need_binary

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root="$work/root"
stage_files "$root/usr" share/zsh/vendor-completions
doc="$root/usr/share/doc/countersign"
install -m 644 "$ROOT/packaging/linux/debian/copyright" "$doc/copyright"
# That of the program is beside it, as `changelog.gz` would be for a package that has no version of its own.
mv "$doc/changelog.gz" "$doc/CHANGELOG.md.gz"
{
    printf 'countersign (%s) unstable; urgency=medium\n\n' "$VERSION"
    printf '  * What users notice is in CHANGELOG.md.gz.\n\n'
    printf ' -- The Countersign authors <%s>  %s\n' "$MAINTAINER" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} >"$doc/changelog"
compress "$doc/changelog"

# What is linked, by dpkg. What the window loads when it opens is in no header of the program, so that it is named by the
# table of run.sh; the file picker needs a portal or zenity, and walls need bubblewrap, and the program reports where one
# is missing.
mkdir -p "$work/debian"
echo 'Source: countersign' >"$work/debian/control"
linked=$(cd "$work" && dpkg-shlibdeps -O -e"$root/usr/bin/countersign" | sed -n 's/^shlibs:Depends=//p')
[ -n "$linked" ] || die "dpkg-shlibdeps named no library"
loaded=$(printf '%s\n' "$PACKAGES_WINDOW" | sed -n 's/^lib:[^ ]* *\([^ ]*\).*/\1/p' | sort -u | tr '\n' ',' | sed 's/,$//; s/,/, /g')
architecture=$(dpkg --print-architecture)
# Of files alone: the size of a folder depends on the file system.
size=$(find "$root" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: countersign
Version: $VERSION
Architecture: $architecture
Maintainer: The Countersign authors <$MAINTAINER>
Installed-Size: $size
Depends: $linked, $loaded
Recommends: bubblewrap, openssh-client, xdg-desktop-portal | zenity
Suggests: ansible-core, git
Section: devel
Priority: optional
Description: review, authorize and run machine-written plans
 Countersign opens a plan that a program has written (edits, refactorings,
 commands), shows what each of its steps would do, and runs exactly that plan
 once a person has authorized it, step by step.
 .
 Everything that was asked, answered and done is kept in a searchable log in
 which later changes are detected. Diffs, patches of agents, tool calls of
 models, runbooks and other files can be opened as plans, too.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums"
with_one_date "$root"

package="$OUT/countersign_${VERSION}_$architecture.deb"
# More threads would cut the stream where their number says.
DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Zxz "-z$LEVEL" --build "$root" "$package" >/dev/null
say "$package"
