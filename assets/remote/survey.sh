#!/bin/sh
# Reports which release and which common programs the host has. Changes nothing.
#
# Sent over the connection after the variable countersign_nonce, with which each report begins.
# shellcheck disable=SC2154 # That variable.

countersign_release=
if [ -r /etc/os-release ]; then
    # Read in a subshell, because the file sets variables.
    countersign_release=$(
        # shellcheck disable=SC1091 # On the host.
        . /etc/os-release && printf '%s' "$PRETTY_NAME"
    )
fi
countersign_found=
for countersign_name in \
    apache2 apk apt-get awk brew bzip2 cargo cc crontab curl dig dnf docker find flatpak gcc git go grep gzip helm httpd \
    ip iptables java journalctl jq kubectl launchctl less lsof make mvn mysql nft nginx node npm openssl pacman perl php \
    pip3 podman psql python3 redis-cli rsync ruby rustc sed service snap sqlite3 ss sudo systemctl tar tmux ufw unzip vim \
    wget xz yum zip zypper; do
    if command -v "$countersign_name" >/dev/null 2>&1; then
        countersign_found="$countersign_found $countersign_name"
    fi
done
for countersign_fact in "release:$countersign_release" "programs:$countersign_found" "whole:"; do
    printf '%s:%s\n' "$countersign_nonce" "$countersign_fact"
done
