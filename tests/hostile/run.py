#!/usr/bin/env python3
"""Runs hostile commands in a throw-away root and tells which of them harm it.

    python3 run.py DIR FILE --walls off|full|files [--limit N] [--seconds S] > report.jsonl

DIR was made by make_root.sh. FILE has one JSON object with a "command" in each line. Each command gets the
root anew: an overlay in memory of limited size above it, with PID, network, IPC, mount and user namespaces
of its own, no capabilities, and a limited number of processes and seconds. Needs root, to mount the overlay;
the commands are run as an ordinary user who owns everything in that root.

Harm is what differs outside the project afterwards: the digest of each file or folder that was written
above the root is compared with the one below it. One line a command:
{"id", "command", "harm": [what differs], "ended": "as inside.sh says"}.
"""

import argparse
import hashlib
import json
import os
import stat
import subprocess
import sys

OWNER = 100_000
# The project itself, and what the program and the runner themselves write.
NOT_COUNTED = (
    "home/ada/app",
    "home/ada/.config/countersign",
    "home/ada/.local/share/countersign",
    "home/ada/.local/state/countersign",
    "home/ada/.cache/countersign",
    "evidence",
    "plan.json",
    "run.json",
    "run.log",
    "tmp",
    "var/tmp",
    "dev",
    "proc",
)
# Folders that only come into being as parents of the above.
PARENTS = {"home/ada/.local/share", "home/ada/.local/state", "home/ada/.cache"}
MOUNT = """
set -e
merged=$1
mount -t proc -o nosuid,nodev,noexec proc "$merged/proc"
mount -t tmpfs -o nosuid,mode=755,size=1m none "$merged/dev"
for name in null zero full random urandom tty; do
    touch "$merged/dev/$name"
    mount --bind "/dev/$name" "$merged/dev/$name"
done
ln -s /proc/self/fd "$merged/dev/fd"
mkdir -p "$merged/dev/shm"
chmod 1777 "$merged/dev/shm"
# Not chroot: inside of it nobody may make the user namespaces that walls need.
cd "$merged"
pivot_root . mnt
cd /
umount -l /mnt
exec env -i HOME=/home/ada USER=ada LOGNAME=ada PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 \\
    setpriv --reuid=OWNER --regid=OWNER --clear-groups --inh-caps=-all --bounding-set=-all \\
    prlimit --nproc=400 --fsize=200000000 --as=8000000000 --core=0 \\
    unshare --user --map-user=1000 --map-group=1000 /bin/sh /inside.sh "$2" "$3"
"""


def digest(path):
    """What a file, link or folder is: kind, mode, owner, attributes and content."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    said = [stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid]
    for name in sorted(os.listxattr(path, follow_symlinks=False)):
        if not name.startswith("trusted.overlay."):
            said.append((name, os.getxattr(path, name, follow_symlinks=False)))
    if stat.S_ISLNK(info.st_mode):
        said.append(os.readlink(path))
    elif stat.S_ISREG(info.st_mode):
        # Somebody's times are harm too, and a sparse file may be longer than anybody can read.
        said += [info.st_size, info.st_mtime_ns, info.st_nlink]
        with open(path, "rb") as file:
            said.append(hashlib.sha256(file.read(1 << 26)).hexdigest())
    elif stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode):
        said.append(info.st_rdev)
    return hashlib.sha256(repr(said).encode()).hexdigest()


def differences(upper, lower, merged):
    """Which paths outside the project differ between the root and what was made of it."""
    found = []
    for folder, folders, files in os.walk(upper):
        below = os.path.relpath(folder, upper)
        for name in folders + files:
            path = os.path.normpath(os.path.join(below, name))
            if any(path == no or path.startswith(no + "/") for no in NOT_COUNTED) or path in PARENTS:
                continue
            now = digest(os.path.join(merged, path))
            if now != digest(os.path.join(lower, path)):
                found.append(path)
            elif name in folders and now is not None:
                # A folder that was removed and made again hides what it held.
                was = set(os.listdir(os.path.join(lower, path)))
                found += [f"{path}/{gone}" for gone in was - set(os.listdir(os.path.join(merged, path)))]
        folders[:] = [
            name
            for name in folders
            if os.path.normpath(os.path.join(below, name)) not in NOT_COUNTED
            and not os.path.islink(os.path.join(folder, name))
        ]
    return sorted(set(found))


def run(directory, command, walls, seconds):
    """Runs one command in a fresh copy of the root; returns what was harmed and how it ended."""
    lower = os.path.join(directory, "root")
    layer = os.path.join(directory, "layer")
    upper, work, merged = (os.path.join(layer, name) for name in ("upper", "work", "merged"))
    os.makedirs(layer, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m,nr_inodes=200k,mode=755", "none", layer], check=True)
    try:
        for path in (upper, work, merged):
            os.mkdir(path)
        os.chown(upper, OWNER, OWNER)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "-o", options, "none", merged], check=True)
        try:
            for path, text in (
                ("home/ada/app/command.sh", command + "\n"),
                ("plan.json", json.dumps({"goal": "run it", "steps": [
                    {"command": "bash ./command.sh", "timeoutSeconds": seconds}]})),
            ):
                place = os.path.join(merged, path)
                with open(place, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(text)
                os.chown(place, OWNER, OWNER)
            script = MOUNT.replace("OWNER", str(OWNER))
            ended = "no answer"
            try:
                done = subprocess.run(
                    ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child",
                     "--propagation", "private", "sh", "-c", script, "sh", merged, walls, str(seconds)],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 40, check=False)
                ended = (done.stdout + done.stderr)[-400:].strip()
            except subprocess.TimeoutExpired:
                ended = "timeout"
            harm = differences(upper, lower, merged)
            if "bystander alive" not in ended:
                harm.append("process:bystander")
            result = None
            try:
                with open(os.path.join(merged, "run.json"), encoding="utf-8") as file:
                    result = file.read(2_000_000)
            except OSError:
                pass
            return harm, ended, result
        finally:
            subprocess.run(["umount", "-l", merged], check=True)
    finally:
        subprocess.run(["umount", "-l", layer], check=True)


def main():
    """Reads the commands, runs each, and prints a line for it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("file")
    parser.add_argument("--walls", choices=["off", "full", "files"], required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    harmed = count = unknown = 0
    with open(arguments.file, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    # What needs a tool or a service that the root does not have does no harm there.
    lines = [line for line in lines if line.get("runs_here", True)]
    for line in lines[: arguments.limit]:
        harm, ended, result = run(arguments.directory, line["command"], arguments.walls, arguments.seconds)
        count += 1
        harmed += bool(harm)
        report = {"id": line.get("id"), "command": line["command"], "harm": harm[:20], "ended": ended}
        if arguments.walls != "off":
            # A command that never ran proves nothing about walls.
            try:
                [step] = json.loads(result)["step_results"]
                report["outcome"] = step["outcome"]
                report["error"] = step.get("error_message")
            except (ValueError, KeyError, TypeError):
                unknown += 1
                report["outcome"] = None
                report["said"] = (result or "")[:600]
        print(json.dumps(report), flush=True)
    print(f"{arguments.walls}: {harmed} of {count} did harm outside the project; {unknown} did not run",
          file=sys.stderr)


main()
