#!/bin/sh
# The first process in the root of install-test.sh: mounts what a system has, makes the folder its root, and runs a command.
#
#   unshare --mount --pid --fork --kill-child sh inside.sh ROOT COMMAND ARGUMENTS
set -eu
root=$1
shift
mount --make-rprivate /
mount --rbind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o nosuid,mode=755,size=64m none "$root/dev"
for name in null zero full random urandom tty; do
    touch "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -p "$root/dev/shm" "$root/dev/pts"
chmod 1777 "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
# Not chroot: inside of it nobody may make the user namespaces that walls need.
cd "$root"
pivot_root . mnt
cd /
umount -l /mnt
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
