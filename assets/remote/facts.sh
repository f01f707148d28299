#!/bin/sh
# Reports what kind of host this is. Changes nothing.
#
# Sent over the connection with countersign_nonce set before it; a report begins with it.
# shellcheck disable=SC2154 # That variable.

# shellcheck disable=SC3028 # bash reads this, and says which bash it is.
for countersign_fact in \
    "system:$(uname -s -r -m)" \
    "bash:$BASH" \
    "version:$BASH_VERSION" \
    "home:$HOME" \
    "whole:"; do
    printf '%s:%s\n' "$countersign_nonce" "$countersign_fact"
done
