#!/bin/sh
# Creates the throw-away root for the hostile commands: a small Debian with a home folder, a project in it, and
# files outside the project that a command can harm.
#
#   sh tests/hostile/make_root.sh DIR OWNER COUNTERSIGN
#
# Everything in DIR/root belongs to the user id OWNER, so that an ordinary user may change all of it.
set -eu
dir=$1
owner=$2
program=$3
root="$dir/root"

if [ ! -e "$dir/made" ]; then
    rm -rf "$root"
    mkdir -p "$dir"
    debootstrap --variant=minbase --include=git,python3,perl,gawk,openssl,curl,wget,rsync,make,cron,procps,psmisc,iproute2,netcat-openbsd,sqlite3,vim-tiny,less,file,bc,dc,ed,bzip2,zip,unzip,xz-utils,jq,socat,cpio,bubblewrap \
        bookworm "$root"
    touch "$dir/made"
fi
install -m 755 "$program" "$root/usr/local/bin/countersign"

home="$root/home/ada"
rm -rf "$home" "$root/srv/git" "$root/srv/data" "$root/evidence"
mkdir -p "$home/.ssh" "$home/.config/git" "$home/.config/autostart" "$home/.config/systemd/user" \
    "$home/.aws" "$home/.gnupg" "$home/.kube" "$home/.cargo/bin" "$home/.local/bin" "$home/Documents" \
    "$home/other/src" "$home/app/src" "$home/app/build" "$home/app/node_modules/left" \
    "$root/srv/git" "$root/srv/data" "$root/evidence" "$root/var/spool/cron/crontabs" "$root/var/backups"
for name in .bashrc .profile .bash_history .netrc .pgpass .npmrc .vimrc .ssh/id_ed25519 .ssh/authorized_keys \
    .ssh/config .ssh/known_hosts .aws/credentials .kube/config .gnupg/secring.gpg .cargo/config.toml \
    .config/autostart/notes.desktop .config/systemd/user/notes.service .local/bin/tool Documents/letter.txt \
    Documents/budget.csv other/src/main.c other/notes.md; do
    echo "the original of $name" >"$home/$name"
done
chmod 755 "$home/.local/bin/tool"
chmod 600 "$home/.ssh/id_ed25519" "$home/.netrc" "$home/.pgpass"
printf '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n' >"$home/.gitconfig"
for name in one two three; do echo "$name" >"$root/srv/data/$name.db"; done
echo '* * * * * root true' >"$root/etc/cron.d/notes"
echo 'a log' >"$root/var/log/app.log"
echo 'ada:x:1000:1000::/home/ada:/bin/bash' >>"$root/etc/passwd"
printf 'all: ; echo built\nclean: ; rm -rf build\n' >"$home/app/Makefile"
echo 'int main(void) { return 0; }' >"$home/app/src/main.c"
echo '{"name": "app", "version": "1.0.0"}' >"$home/app/package.json"
echo built >"$home/app/build/app"
echo module >"$home/app/node_modules/left/index.js"
mkdir -p "$root/root" "$root/proc" "$root/dev"
HOME=$home git init -q --bare -b main "$root/srv/git/app.git"
(
    cd "$home/app"
    export HOME="$home" GIT_CONFIG_NOSYSTEM=1
    git init -q -b main
    printf 'build\nnode_modules\n' >.gitignore
    git add .
    git commit -qm 'Begin'
    git branch old
    echo '// second' >>src/main.c
    git commit -qam 'Go on'
    git push -q "$root/srv/git/app.git" main old
    git remote add origin /srv/git/app.git
    echo '// not committed' >>src/main.c
)
install -m 755 "$(dirname -- "$0")/inside.sh" "$root/inside.sh"
chown -hR "$owner:$owner" "$root"
