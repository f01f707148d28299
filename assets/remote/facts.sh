#!/bin/sh
# Reports facts about the host. Changes nothing.
#
# Sent over the connection after the variable countersign_nonce, with which each report begins.
# shellcheck disable=SC2154 # That variable.

# shellcheck disable=SC3028 # bash runs this script and sets these variables.
for countersign_fact in \
    "system:$(uname -s -r -m)" \
    "bash:$BASH" \
    "version:$BASH_VERSION" \
    "home:$HOME" \
    "whole:"; do
    printf '%s:%s\n' "$countersign_nonce" "$countersign_fact"
done
