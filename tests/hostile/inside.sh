#!/bin/sh
# The first process of the throw-away root: runs one command and prints whether another process survived it.
#
#   /inside.sh off|full|files SECONDS
#
# The command is in /home/ada/app/command.sh. With `off` bash runs it; otherwise countersign runs it behind walls.
cd /home/ada/app || exit 3
sleep 1000 &
bystander=$!
case $1 in
off) setsid timeout -k 1 "$2" bash ./command.sh </dev/null >/dev/null 2>&1 ;;
*)
    mkdir -p /home/ada/.config/countersign
    walls=preferred
    [ "$1" != full ] || walls=required
    printf '[policy]\nwalls = "%s"\n' "$walls" >/home/ada/.config/countersign/settings.toml
    timeout -k 1 $(($2 + 10)) countersign run /plan.json --yes --confirm approve --json \
        --workspace /home/ada/app --evidence /evidence </dev/null >/run.json 2>/run.log
    # Prints the exit status for the report.
    echo "exit $?"
    ;;
esac
# A signal may arrive late. A killed process remains a zombie until it is waited for, so its state is read.
sleep 0.2
read -r _ _ state _ 2>/dev/null <"/proc/$bystander/stat" && [ "$state" != Z ] && echo bystander alive
exit 0
