#!/bin/sh
# Runs one command of a plan on one of several hosts. The lines without comments are the text that ansible's module `raw`
# gets as its shell, followed by `-c` and the command: $1 is the folder, empty for the home folder; $2 the time limit in
# seconds; $3 the text before the exit status; $5 the command.
#
# ssh ends with 255 when the connection fails. So the exit status of the command is printed at the end of stderr, and
# a status of 255 becomes 254 for ssh.
unset CDPATH BASH_ENV ENV
status=125
if cd && { [ -z "$1" ] || cd -- "$1"; }; then
    if command -v timeout >/dev/null; then
        timeout -k 2 "$2" bash --noprofile --norc -c "$5" </dev/null
    else
        bash --noprofile --norc -c "$5" </dev/null
    fi
    status=$?
fi
printf "\n%s:%s\n" "$3" "$status" >&2
[ "$status" -lt 255 ] || exit 254
exit "$status"
