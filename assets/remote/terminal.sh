#!/bin/sh
# Runs one command on a host, in the terminal of the session, and reports the process group and the exit status.
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

# This shell leads the session, and the command is in its process group. The kernel ignores a key that would stop such a
# group, which nobody could continue. Signals of other keys are for the command: this shell waits for it and reports.
trap : INT QUIT
printf '%s:begin:%s\n' "$countersign_nonce" "$$"
"$BASH" --noprofile --norc -c "$countersign_command"
printf '%s:end:%s\n' "$countersign_nonce" "$?"
