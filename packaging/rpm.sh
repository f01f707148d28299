#!/bin/sh
# Makes the package for Fedora, openSUSE and their relatives.
#
#   sh packaging/rpm.sh [--binary FILE] [--version VERSION] [--out DIR] [--level LEVEL]
#
# Without --binary the release is built. The package is countersign-VERSION-1.ARCHITECTURE.rpm in target/packages.
set -eu
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=packaging/stage.sh
. "$(dirname -- "$0")/stage.sh"
package_options "$@"
need_packages "To make packages" "$PACKAGES_STAGE $PACKAGES_RPM"
need_binary

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root="$work/root"
stage_files "$root/usr" share/zsh/site-functions
install -D -m 644 -t "$root/usr/share/licenses/countersign" "$ROOT/LICENSE-MIT" "$ROOT/LICENSE-APACHE"
with_one_date "$root"

# What the window loads when it opens, by the names of the libraries, which are the same in every distribution.
case $(getconf LONG_BIT) in
64) bits='()(64bit)' ;;
*) bits='' ;;
esac
loaded=$(printf '%s\n' "$PACKAGES_WINDOW" | sed -n "s/^lib:\([^ ]*\).*/Requires: \1$bits/p")
# Folders that only this package has.
own='%dir /usr/share/doc/countersign
%dir /usr/share/doc/countersign/docs
%dir /usr/share/licenses/countersign'
files=$(cd "$root" && find usr -type f | LC_ALL=C sort |
    sed 's|^usr/share/doc/.*|%doc /&|; s|^usr/share/licenses/.*|%license /&|; s|^usr/|/usr/|')
cat >"$work/countersign.spec" <<END
Name: countersign
Version: $VERSION
Release: 1
Summary: Review, authorize and run machine-written plans
License: MIT OR Apache-2.0
BuildArch: $(uname -m)
$loaded
Recommends: bubblewrap
Recommends: (xdg-desktop-portal or zenity)
Recommends: openssh-clients
Suggests: ansible-core

%description
Countersign opens a plan that a program has written (edits, refactorings,
commands), shows what each of its steps would do, and runs exactly that plan
once a person has authorized it, step by step.

Everything that was asked, answered and done is kept in a searchable log in
which later changes are detected. Diffs, patches of agents, tool calls of
models, runbooks and other files can be opened as plans, too.

# The files are as they have to be: nothing is stripped, compressed or linked by the computer that makes the package.
%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global source_date_epoch_from_changelog 0
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost localhost
%global _binary_payload w$LEVEL.gzdio

%install
cp -a "$root/." "%{buildroot}/"

%files
%defattr(-, root, root)
$own
$files
END
rpmbuild --quiet -bb --define "_topdir $work/rpm" --define "_rpmdir $work/made" --buildroot "$work/buildroot" \
    --target "$(uname -m)" "$work/countersign.spec" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "rpmbuild failed"
}
package="$OUT/countersign-$VERSION-1.$(uname -m).rpm"
mv "$work"/made/*/*.rpm "$package"
say "$package"
