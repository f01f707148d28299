#!/bin/sh
# Runs one command on a host, in the terminal of the session, and reports its process group and its exit status.
#
# Sent on the command line of the session, because its stdin is the terminal, after three variables:
# countersign_nonce, with which each report begins; countersign_folder, empty for the home folder; and
# countersign_command. bash runs this script. The syntax is POSIX.
# shellcheck disable=SC2154 # The three variables.

# These variables change where `cd` goes, or name files that bash would run before the command.
unset CDPATH BASH_ENV ENV

cd || exit 125
if [ -n "$countersign_folder" ]; then
    cd -- "$countersign_folder" || exit 125
fi

# With job control the command gets a process group of its own, which the terminal's keys reach.
set -m
# shellcheck disable=SC2016 # Expanded by the shell that the command replaces: its id is that of the group.
"$BASH" --noprofile --norc -c '
    printf "%s:begin:%s\n" "$1" "$$"
    exec "$BASH" --noprofile --norc -c "$2"
' bash "$countersign_nonce" "$countersign_command"
countersign_status=$?
# Nobody could continue a command that the terminal's keys have stopped.
while [ -n "$(jobs -s)" ]; do
    fg %% >/dev/null 2>&1
    countersign_status=$?
done
printf '%s:end:%s\n' "$countersign_nonce" "$countersign_status"
