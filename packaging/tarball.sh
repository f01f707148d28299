#!/bin/sh
# Makes the archive for every other Linux, with its installer.
#
#   sh packaging/tarball.sh [--binary FILE] [--version VERSION] [--out DIR] [--level LEVEL]
#
# Without --binary the release is built. The archive is countersign-VERSION-linux-ARCHITECTURE.tar.gz in target/packages.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=packaging/stage.sh
. "$(dirname -- "$0")/stage.sh"
package_options "$@"
need_packages "To make packages" "$PACKAGES_STAGE"
need_binary

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
name="countersign-$VERSION-linux-$(uname -m)"
stage_files "$work/$name" share/zsh/site-functions
install -m 644 "$ROOT/LICENSE-MIT" "$ROOT/LICENSE-APACHE" "$work/$name/share/doc/countersign/"
# What the installer installs, and later removes.
(cd "$work/$name" && find bin share -type f | sort) >"$work/$name/files"
install -m 755 "$ROOT/packaging/linux/install.sh" "$work/$name/install.sh"
with_one_date "$work/$name"

package="$OUT/$name.tar.gz"
(cd "$work" && tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner -cf archive.tar "$name")
gzip "-$LEVEL" -n <"$work/archive.tar" >"$package"
say "$package"
