#!/bin/sh
# Installs Countersign from the folder in which this script is, or removes what it has installed.
#
#   sh install.sh [--prefix DIR]               by default /usr/local for root, and ~/.local for everybody else
#   sh install.sh --uninstall [--prefix DIR]
#
# DESTDIR is put before every path, for those who make packages. An older version in the same place is replaced. What
# you have recorded, your settings and your keys are never touched; docs/files.md says where they are.
set -eu
# Every user may read what is installed for all.
umask 022

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

usage() {
    echo "usage: sh install.sh [--uninstall] [--prefix DIR]" >&2
    exit 5
}

uninstall=
if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -gt 1 ] || usage
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=1 ;;
    *) usage ;;
    esac
    shift
done
case $prefix in
/*) ;;
*) die "--prefix needs an absolute path, not $prefix" ;;
esac
prefix=${prefix%/}
case $prefix in
# They would mean something else in a desktop entry.
*[\"\`\$\\%\|\&]* | *"
"*) die "$prefix has a character that a desktop entry cannot have in a command" ;;
esac
source=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root="${DESTDIR:-}$prefix"
# The list of what was installed, one path below the prefix in each line; one of a folder that was made ends with a slash,
# and `./` is the prefix.
list=share/countersign/installed

# Removes what is in a list, of folders those that are empty then.
remove() {
    # A folder comes before what is in it.
    sed -n '1!G;h;$p' "$1" | while IFS= read -r path; do
        case $path in
        # Nothing but what this script has written there.
        /* | *..* | '') die "$root/$list is damaged" ;;
        # Made by the desktop of what is in `packages`, and nothing without it.
        share/mime/) [ -d "$root/${path}packages" ] || rm -rf "${root:?}/$path" ;;
        share/applications/)
            [ "$(ls -A "$root/$path" 2>/dev/null)" != mimeinfo.cache ] || rm -f "$root/${path}mimeinfo.cache"
            rmdir "$root/$path" 2>/dev/null || true
            ;;
        ./) rmdir "$root" 2>/dev/null || true ;;
        */) rmdir "$root/$path" 2>/dev/null || true ;;
        *) rm -f "$root/$path" ;;
        esac
    done
}

# Makes the folder of a path below the prefix, and notes which of its folders are new.
make_folder() {
    case $1 in
    */*) ;;
    *) return 0 ;;
    esac
    [ ! -d "$root/${1%/*}" ] || return 0
    make_folder "${1%/*}"
    mkdir "$root/${1%/*}"
    echo "${1%/*}/" >>"$notes"
}

# Desktops keep lists of their own of what is installed. Not for a package, whose installer does that.
refresh() {
    [ -z "${DESTDIR:-}" ] || return 0
    if [ -d "$root/share/applications" ] && command -v update-desktop-database >/dev/null 2>&1; then
        update-desktop-database -q "$root/share/applications" || true
    fi
    if [ -d "$root/share/mime/packages" ] && command -v update-mime-database >/dev/null 2>&1; then
        update-mime-database "$root/share/mime" >/dev/null 2>&1 || true
    fi
    # Where there is no such list, icons are found without it.
    if [ -e "$root/share/icons/hicolor/icon-theme.cache" ] && command -v gtk-update-icon-cache >/dev/null 2>&1; then
        gtk-update-icon-cache -q -t -f "$root/share/icons/hicolor" || true
    fi
}

if [ -n "$uninstall" ]; then
    [ -e "$root/$list" ] || die "nothing is installed in $root by this script"
    notes=$(mktemp)
    trap 'rm -f "$notes"' EXIT
    trap 'exit 1' HUP INT TERM
    cp "$root/$list" "$notes"
    remove "$notes"
    refresh
    echo "Countersign was removed from $root. Your evidence, settings and keys are still there."
    exit 0
fi

[ -e "$source/files" ] || die "$source is not the unpacked archive"
first=
[ -d "$root" ] || first=./
mkdir -p "$root" || die "$root cannot be written; choose another place with --prefix"
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
trap 'exit 1' HUP INT TERM
printf '%s' "${first:+$first
}" >"$notes"
make_folder "$list"
echo "$list" >>"$notes"
# What an interrupted installation leaves can be removed, too: the list has everything before it is there.
[ ! -e "$root/$list" ] || cp "$root/$list" "$notes"
while IFS= read -r file; do
    make_folder "$file"
    echo "$file" >>"$notes"
done <"$source/files"
# Of several, the first counts: folders come before what is in them.
awk '!seen[$0]++' "$notes" >"$root/$list.new"
mv "$root/$list.new" "$root/$list"
while IFS= read -r file; do
    # Renamed, so that a running program keeps its file.
    cp "$source/$file" "$root/$file.new"
    chmod u=rwX,go=rX "$root/$file.new"
    mv "$root/$file.new" "$root/$file"
done <"$source/files"
# The folder of the program is not in the PATH of every desktop session.
entry="$root/share/applications/io.github.countersign.Countersign.desktop"
sed "s|^Exec=countersign |Exec=\"$prefix/bin/countersign\" |" "$entry" >"$entry.new"
mv "$entry.new" "$entry"
# What the old version had and this one has not.
awk -v list="$list" 'NR == FNR { ours[$0]; next } !/\/$/ && !($0 in ours) && $0 != list' \
    "$source/files" "$root/$list" >"$notes"
remove "$notes"
awk -v list="$list" 'NR == FNR { ours[$0]; next } /\/$/ || $0 in ours || $0 == list' \
    "$source/files" "$root/$list" >"$notes"
cp "$notes" "$root/$list"
refresh
echo "Countersign is installed in $root."
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in PATH; add it there to use countersign in a terminal." ;;
esac
