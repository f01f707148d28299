#!/bin/sh
# Runs one command of a plan on one of several hosts. The lines without comments are the text that ansible's module `raw`
# gets as its shell, followed by `-c` and the command: $1 is the folder, empty for the home folder; $2 the time limit in
# seconds; $3 the text of the marks; $5 the command after a `_`.
#
# On stderr are a mark before the command begins, what it prints to stderr in hexadecimal, and a mark with its exit status.
# So nothing that a command prints can be taken for a message of ssh, by ansible or by Countersign. ssh ends with 255 when
# the connection fails, so a status of 255 becomes 254 for ssh. A command that prints more than 16 MiB to stdout or 4 MiB
# to stderr gets SIGPIPE.
unset CDPATH BASH_ENV ENV
printf "\n%s:begin\n" "$3" >&2
exec 3>&1 4>&2
status=$(
    exec 5>&1
    {
        {
            status=125
            if { cd && { [ -z "$1" ] || cd -- "$1"; }; } 2>&1; then
                exec 7>&5 5>&- 3>&- 4>&-
                if command -v timeout >/dev/null; then
                    timeout -k 2 "$2" bash --noprofile --norc -c "${5#_}" </dev/null 2>&1 >&6 6>&- 7>&-
                else
                    bash --noprofile --norc -c "${5#_}" </dev/null 2>&1 >&6 6>&- 7>&-
                fi
                status=$?
                exec 5>&7
            fi
            echo "$status" >&5
        } | head -c 4194305 | od -An -v -tx1 >&4
    } 6>&1 | head -c 16777217 >&3
)
printf "\n%s:%s\n" "$3" "$status" >&2
[ "$status" -lt 255 ] || exit 254
exit "$status"
