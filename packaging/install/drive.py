#!/usr/bin/env python3
"""Drives the tour to its end through the window of the installed program, as a person with a screen reader would: by
the names of controls in the accessibility tree (AT-SPI), and by the keyboard.

    dbus-run-session -- python3 drive.py FOLDER VERSION

FOLDER is a copy of the tour's folder; the last picture is left in /tmp/screen/end. Needs DISPLAY, a window manager,
xdotool, at-spi2-core and python3-gi. Prints what it does. The exit status is 0 only at the end of the tour.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from gi.repository import Gio, GLib

SECONDS = 300
ENABLED = 1 << 8
ROOT = "/org/a11y/atspi/accessible/root"
REGISTRY = "org.a11y.atspi.Registry"


class Tree:
    """The controls and texts of all programs on the bus of assistive technology."""

    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None,
                                    Gio.DBusCallFlags.NONE, 10_000, None).unpack()[0]
        # What a screen reader sets; without it programs build no tree.
        value = GLib.Variant("(ssv)", ("org.a11y.Status", "IsEnabled", GLib.Variant("b", True)))
        session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.freedesktop.DBus.Properties", "Set", value, None,
                          Gio.DBusCallFlags.NONE, 10_000, None)
        flags = Gio.DBusConnectionFlags
        self.bus = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)

    def call(self, owner, path, interface, method, arguments=None):
        try:
            answer = self.bus.call_sync(owner, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, 10_000, None)
        except GLib.Error:
            # What has gone meanwhile is no longer a part of the window.
            return None
        return answer.unpack()

    def objects(self):
        """Each as its owner, its path and its name."""
        found, stack = [], [(REGISTRY, ROOT)]
        while stack:
            owner, path = stack.pop()
            if (owner, path) != (REGISTRY, ROOT):
                name = self.call(owner, path, "org.freedesktop.DBus.Properties", "Get",
                                 GLib.Variant("(ss)", ("org.a11y.atspi.Accessible", "Name")))
                if name is None:
                    continue
                found.append((owner, path, name[0]))
            children = self.call(owner, path, "org.a11y.atspi.Accessible", "GetChildren")
            stack.extend(reversed(children[0] if children else []))
        return found

    def enabled(self, owner, path):
        states = self.call(owner, path, "org.a11y.atspi.Accessible", "GetState")
        return bool(states and states[0][0] & ENABLED)

    def control(self, name, objects=None):
        """The first control with this name that can be pressed now."""
        for owner, path, other in objects or self.objects():
            if other == name and self.enabled(owner, path):
                interfaces = self.call(owner, path, "org.a11y.atspi.Accessible", "GetInterfaces")
                if interfaces and "org.a11y.atspi.Action" in interfaces[0]:
                    return owner, path
        return None

    def has(self, name):
        return any(other == name for _, _, other in self.objects())

    def shows(self, text):
        return any(text in other for _, _, other in self.objects())


class Tour:
    def __init__(self, tree):
        self.tree = tree

    def wait(self, what, look):
        """Asks until the answer is not empty."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if answer := look():
                print(f"{what}: yes", flush=True)
                return answer
            time.sleep(0.1)
        names = [name for _, _, name in self.tree.objects() if name]
        sys.exit(f"error: {what}: not within {SECONDS} s; the window shows {names}")

    def press(self, name, is_done):
        """Presses a control until that has its effect: one that has just got its name is left alone."""

        def pressed():
            if is_done():
                return True
            if found := self.tree.control(name):
                self.tree.call(*found, "org.a11y.atspi.Action", "DoAction", GLib.Variant("(i)", (0,)))
            return False

        self.wait(f"{name} is pressed", pressed)

    @staticmethod
    def keys(*names):
        subprocess.run(["xdotool", "key", "--clearmodifiers", *names], check=True)

    def look(self):
        """One step that has not been seen, from its beginning to its end; whether all have been."""
        for key in ("F4", "Home", *["Next"] * 5):
            # Between two keys the window has to draw: what was not on screen was not seen. Reading the tree waits for it.
            objects = self.tree.objects()
            if self.tree.control("Authorize…", objects):
                return True
            if any(name == "Next unseen" for _, _, name in objects):
                self.keys(key)
        return False

    def drive(self, folder):
        self.wait("the plan is open", lambda: self.tree.has("Next unseen"))
        self.wait("every step that matters was looked at", self.look)
        self.press("Authorize…", lambda: self.tree.has("Authorize"))
        self.press("Authorize", lambda: self.tree.control("Run"))
        self.press("Run", lambda: self.tree.shows("Execute step"))
        asked = set()

        def question():
            names = {name for _, _, name in self.tree.objects()}
            titles = {name for name in names if name.startswith("Execute step")} - asked
            return titles.pop() if titles else "Completed" if "Completed" in names else ""

        while (title := self.wait("the run asks something new, or ends", question)) != "Completed":
            asked.add(title)
            print(title, flush=True)
            self.press("Approve this step", lambda title=title: not self.tree.has(title))
        if not asked:
            sys.exit("error: the tour asked nothing")
        if "month" not in (folder / "src/lib.rs").read_text():
            sys.exit("error: the plan changed nothing")
        self.press("Evidence", lambda: self.tree.control("Search evidence"))
        owner, path = self.wait("there is a search", lambda: self.tree.control("Search evidence"))
        self.tree.call(owner, path, "org.a11y.atspi.Component", "GrabFocus")
        # Of the steps, only those know this word that write the decision and read it.
        subprocess.run(["xdotool", "type", "pier"], check=True)
        self.keys("Return")
        self.wait("the search has found them", lambda: self.tree.shows("file_create notes/") and not self.tree.shows("file_glob "))


def main():
    folder, version = Path(sys.argv[1]), sys.argv[2]
    said = subprocess.run(["countersign", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if said.split() != ["countersign", version]:
        sys.exit(f"error: this is {said}, not {version}")
    tree = Tree()
    with subprocess.Popen(["countersign", str(folder / "tour.plan.json")]) as program:
        try:
            tour = Tour(tree)
            tour.drive(folder)
            shutil.copy("/tmp/screen/Xvfb_screen0", "/tmp/screen/end")
            # The window manager asks the window to close, as for a click on its cross.
            tour.keys("alt+F4")
            if (code := program.wait(SECONDS)) != 0:
                sys.exit(f"error: the program ended with {code}")
        finally:
            # As long as there is a window, also where something was not as it should be.
            if program.poll() is None:
                shutil.copy("/tmp/screen/Xvfb_screen0", "/tmp/screen/end")
            program.kill()
    print("the tour is done", flush=True)


main()
