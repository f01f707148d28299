#!/bin/sh
# Ends a process group on a host: asks, waits two seconds, kills, and reports whether any of it is left.
#
# Sent over the connection with two variables set before it: countersign_nonce (a report begins with it) and
# countersign_group (its number).
# shellcheck disable=SC2154 # The two variables.

# Whether any process of the group lives. One that has ended and that nobody has asked for its status still
# has its number, so a signal alone cannot tell; where ps is missing, or knows no such columns, it has to.
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

# Waits until none lives, at most so many tenths of a second.
wait_for_end() {
    left=$1
    while lives; do
        [ "$left" -gt 0 ] || return 1
        if sleep 0.1 2>/dev/null; then
            left=$((left - 1))
        else
            # This sleep knows whole seconds only.
            sleep 1
            left=$((left - 10))
        fi
    done
}

kill -TERM -- "-$countersign_group" 2>/dev/null
# One that was halted would not hear it.
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
