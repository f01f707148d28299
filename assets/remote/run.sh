#!/bin/sh
# Runs one command on a host, in its own process group, and reports its process group and its exit status.
#
# Sent over the connection after four variables: countersign_nonce, with which each report begins;
# countersign_folder, empty for the home folder; countersign_command; and countersign_inputs, the names of further
# variables, which the command gets in its environment. bash runs this script, because the
# command is for bash and because not every sh makes process groups without a terminal. The syntax is POSIX.
# shellcheck disable=SC2154 # The four variables.

# These variables change where `cd` goes, or name files that bash would run before the command.
unset CDPATH BASH_ENV ENV

cd || exit 125
if [ -n "$countersign_folder" ]; then
    cd -- "$countersign_folder" || exit 125
fi

# Reports go to the stderr of the session, also after this shell has discarded its own stderr.
exec 4>&2

# shellcheck disable=SC2016 # Expanded by the shell that the command replaces: its id is that of the group.
countersign_run() {
    # Only in this subshell, so that no other program gets the inputs.
    # shellcheck disable=SC2086,SC2163 # The names, which have no characters that would be expanded.
    [ -z "$countersign_inputs" ] || export $countersign_inputs
    exec "$BASH" --noprofile --norc -c '
        printf "%s:begin:%s\n" "$1" "$$"
        printf "%s:begin:%s\n" "$1" "$$" >&2
        exec "$BASH" --noprofile --norc -c "$2"
    ' bash "$countersign_nonce" "$countersign_command" </dev/null 4>&-
}

# Only the shell's list of jobs distinguishes `exit 143` from an end by signal 15, and only until `wait` returns.
trap 'printf "%s:job:" "$countersign_nonce" >&4; LC_ALL=C jobs %1 >&4' CHLD
set -m
countersign_run &
countersign_job=$!

# The shell would print a message about a job that a signal has ended.
exec 2>/dev/null
wait "$countersign_job"
countersign_status=$?
# `wait` also returns when the command was stopped, for example by SIGSTOP; it may continue later.
while kill -0 "$countersign_job"; do
    sleep 1
    wait "$countersign_job"
    countersign_status=$?
done
printf '%s:end:%s\n' "$countersign_nonce" "$countersign_status" >&4
