#!/bin/sh
# Ends a process group on a host: sends SIGTERM, waits at most two seconds, sends SIGKILL if a process is still
# running, and reports whether one is left.
#
# Sent over the connection after two variables: countersign_nonce, with which each report begins, and
# countersign_group, the id of the group.
# shellcheck disable=SC2154 # The two variables.

# Whether a process of the group is running. A zombie still has its process id, so that signal 0 reaches it like a
# running process. The signal is used only where ps is missing or does not support these columns.
lives() {
    if processes=$(ps -A -o pgid= -o stat= 2>/dev/null) && [ -n "$processes" ]; then
        while read -r group state; do
            case $group:$state in
            "$countersign_group":[ZX]*) ;;
            "$countersign_group":*) return 0 ;;
            esac
        done <<PROCESSES
$processes
PROCESSES
        return 1
    fi
    kill -0 -- "-$countersign_group" 2>/dev/null
}

# Waits until no process of the group is running, for at most this many tenths of a second.
wait_for_end() {
    left=$1
    while lives; do
        [ "$left" -gt 0 ] || return 1
        if sleep 0.1 2>/dev/null; then
            left=$((left - 1))
        else
            # This sleep accepts only whole seconds.
            sleep 1
            left=$((left - 10))
        fi
    done
}

kill -TERM -- "-$countersign_group" 2>/dev/null
# A stopped process handles SIGTERM only when it continues.
kill -CONT -- "-$countersign_group" 2>/dev/null
if ! wait_for_end 20; then
    kill -KILL -- "-$countersign_group" 2>/dev/null
    wait_for_end 20
fi
if lives; then
    printf '%s:left:%s\n' "$countersign_nonce" "$countersign_group"
else
    printf '%s:gone:%s\n' "$countersign_nonce" "$countersign_group"
fi
