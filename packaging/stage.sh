# shellcheck shell=sh
# What the packages have in common: the program, built so that every build of a commit has the same bytes, and which
# files they contain. Sourced by the scripts that make packages, after lib.sh.

# The id of the application: names of the desktop entry, the icons and the metadata.
APP=io.github.countersign.Countersign
# Packages have to name an address for mail. The project has none, which this one says.
MAINTAINER=maintainers@countersign.invalid
# The version in Cargo.toml.
program_version() { sed -n 's/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml" | head -n 1; }

# Reads the options of every script that makes a package.
#   --binary FILE     this program instead of a release that is built here
#   --version VERSION another version than that of Cargo.toml, for tests of upgrades
#   --out DIR         where packages are written; by default target/packages
#   --level LEVEL     how hard archives are compressed, 1 to 9; by default 9
package_options() {
    BINARY='' VERSION=$(program_version) OUT="$TARGET/packages" LEVEL=9
    while [ $# -gt 0 ]; do
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
        --binary) BINARY=$2 ;;
        --version) VERSION=$2 ;;
        --out) OUT=$2 ;;
        --level) LEVEL=$2 ;;
        *) die "unknown option $1; known are --binary FILE, --version VERSION, --out DIR and --level LEVEL" ;;
        esac
        shift 2
    done
    mkdir -p "$OUT"
    OUT=$(cd "$OUT" && pwd)
    # All dates in packages: that of the last commit, unless another one is given.
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct)} ||
        die "the date of the last commit is needed, or SOURCE_DATE_EPOCH"
    export SOURCE_DATE_EPOCH
    # Sorting, dates and modes of files are the same for everybody.
    export LC_ALL=C TZ=UTC
    umask 022
}

# Builds the release, unless a program is given, and names it in BINARY. No path of this computer gets into it.
need_binary() {
    # Before a long build. The bill of materials is made by crates.py, which asks cargo.
    python3 -c 'import tomllib' 2>/dev/null || die "packages need Python 3.11 or newer to be made"
    need_rust
    need_cargo_home
    if [ -n "$BINARY" ]; then
        [ -x "$BINARY" ] || die "$BINARY is no program"
        return
    fi
    need_packages "To build" "$PACKAGES_BUILD"
    find_build_folder
    build_release
    BINARY="$TARGET/release/countersign"
}

build_release() {
    say "building the release"
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    sysroot=$(rustc --print sysroot)
    commit=$(rustc -vV | sed -n 's/^commit-hash: //p')
    # Of several that match, the last one counts. Paths may have spaces, so RUSTFLAGS will not do.
    flags=$(printf -- '--remap-path-prefix=%s=%s\037' "$ROOT" /countersign "$cargo_home" /cargo \
        "$sysroot/lib/rustlib/src/rust" "/rustc/$commit" "$TARGET" /target)
    # Read as by a shell, with the next variable.
    c_flags=$(printf -- "'-ffile-prefix-map=%s=%s' " "$ROOT" /countersign "$cargo_home" /cargo "$TARGET" /target)
    # A sixteenth of the size for the addresses that are adjusted at the start, where the C library knows how.
    relocations=
    glibc=$(ldd --version 2>/dev/null | sed -n '1s/.* //p')
    if at_least "${glibc:-0.0}" 2.36; then relocations='-C link-arg=-Wl,-z,pack-relative-relocs'; fi
    # A linker that happens to be installed, and settings of the user, would change the bytes.
    (
        cd "$ROOT"
        unset RUSTFLAGS CARGO_BUILD_TARGET
        # Empty, because settings of cargo count where they are not set.
        RUSTC_WRAPPER='' RUSTC_WORKSPACE_WRAPPER='' CARGO_ENCODED_RUSTFLAGS=${flags%?} CC_SHELL_ESCAPED_FLAGS=1 CFLAGS=$c_flags CXXFLAGS=$c_flags CARGO_INCREMENTAL=0 \
            cargo rustc --release --locked --bin countersign -- $relocations
    )
}

# Sets the time of everything in a folder to the date of packages.
with_one_date() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# Compresses without name and date.
compress() { gzip -9 -n "$@"; }

# The icon in one size.
icon() {
    folder="$1/share/icons/hicolor/$2x$2/apps"
    mkdir -p "$folder"
    rsvg-convert --width "$2" --height "$2" "$ROOT/assets/icon/countersign.svg" --output "$folder/$APP.png"
}

# Puts every file of the program below a folder, as below /usr. $1: the folder, $2: where zsh looks for completions.
stage_files() {
    usr=$1
    linux="$ROOT/packaging/linux"
    install -D -m 755 "$BINARY" "$usr/bin/countersign"
    strip --strip-unneeded --remove-section=.comment "$usr/bin/countersign"
    install -D -m 644 "$linux/$APP.desktop" "$usr/share/applications/$APP.desktop"
    install -D -m 644 "$linux/$APP.mime.xml" "$usr/share/mime/packages/$APP.xml"
    install -D -m 644 "$linux/$APP.metainfo.xml" "$usr/share/metainfo/$APP.metainfo.xml"
    for size in 16 22 24 32 48 64 128 256 512; do icon "$usr" "$size"; done
    install -D -m 644 "$ROOT/assets/icon/countersign.svg" "$usr/share/icons/hicolor/scalable/apps/$APP.svg"

    install -D -m 644 "$linux/completions/countersign.bash" "$usr/share/bash-completion/completions/countersign"
    install -D -m 644 "$linux/completions/countersign.fish" "$usr/share/fish/vendor_completions.d/countersign.fish"
    install -D -m 644 "$linux/completions/_countersign" "$usr/$2/_countersign"
    day=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
    mkdir -p "$usr/share/man/man1"
    for page in "$linux"/man/*.1; do
        sed "s/^\(\.TH [^ ]* 1\) 1970-01-01 /\1 $day /" "$page" >"$usr/share/man/man1/${page##*/}"
    done
    compress "$usr"/share/man/man1/*.1

    doc="$usr/share/doc/countersign"
    mkdir -p "$doc/docs"
    install -m 644 "$ROOT/README.md" "$doc/README.md"
    install -m 644 "$ROOT"/docs/*.md "$doc/docs/"
    install -m 644 "$ROOT/CHANGELOG.md" "$doc/changelog"
    compress "$doc/changelog"
    python3 "$ROOT/packaging/crates.py" licences >"$doc/third-party.txt"
    compress "$doc/third-party.txt"
    python3 "$ROOT/packaging/crates.py" sbom >"$doc/countersign.cdx.json"
    chmod -R u=rwX,go=rX "$usr"
}
