#!/bin/sh
# Runs one command on a host, in a process group of its own, and reports how it began and how it ended.
#
# Sent over the connection with three variables set before it: countersign_nonce (a report begins with it),
# countersign_folder (none: the home folder) and countersign_command. bash reads this, because the command is
# one of bash and because not every sh makes process groups without a terminal; it is POSIX all the same.
# shellcheck disable=SC2154 # The three variables.

# What would change where `cd` leads, or be read before the command.
unset CDPATH BASH_ENV ENV

cd || exit 125
if [ -n "$countersign_folder" ]; then
    cd -- "$countersign_folder" || exit 125
fi

# Reports go to the standard error of the session, also while this shell says nothing there itself.
exec 4>&2

# shellcheck disable=SC2016 # Expanded by the shell that becomes the command: its id is the group's.
countersign_run() {
    exec "$BASH" --noprofile --norc -c '
        printf "%s:begin:%s\n" "$1" "$$"
        printf "%s:begin:%s\n" "$1" "$$" >&2
        exec "$BASH" --noprofile --norc -c "$2"
    ' bash "$countersign_nonce" "$countersign_command" </dev/null 4>&-
}

# A shell tells `exit 143` from an end by signal 15 in its list of jobs only, and only until it has waited.
trap 'printf "%s:job:" "$countersign_nonce" >&4; LC_ALL=C jobs %1 >&4' CHLD
set -m
countersign_run &
countersign_job=$!

# A shell remarks on a job that a signal has ended.
exec 2>/dev/null
wait "$countersign_job"
countersign_status=$?
# It does not wait for one that was halted, as by SIGSTOP; that one may go on later.
while kill -0 "$countersign_job"; do
    sleep 1
    wait "$countersign_job"
    countersign_status=$?
done
printf '%s:end:%s\n' "$countersign_nonce" "$countersign_status" >&4
