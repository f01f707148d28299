#!/bin/sh
# Inside of the root, as an ordinary user: a display with a window manager, and the tour on it.
#
#   desktop.sh FOLDER VERSION
set -eu
export XDG_RUNTIME_DIR=/tmp/runtime LIBGL_ALWAYS_SOFTWARE=1 HOME=/home/tester
mkdir -m 700 "$XDG_RUNTIME_DIR"
# What is on the screen is in a file, of which a picture can be made from outside.
mkdir /tmp/screen
Xvfb -screen 0 1280x800x24 -fbdir /tmp/screen -displayfd 3 3>/tmp/display 2>/tmp/Xvfb.log &
display=$!
trap 'kill $display' EXIT
for _ in $(seq 100); do
    [ ! -s /tmp/display ] || break
    kill -0 "$display"
    sleep 0.1
done
DISPLAY=":$(cat /tmp/display)"
export DISPLAY
openbox >/tmp/openbox.log 2>&1 &
dbus-run-session -- python3 /drive.py "$1" "$2"
