"""Makes an icon of macOS of an SVG: `python3 icns.py SVG ICNS`. Needs rsvg-convert.

The format is a list of pictures, each with four letters that name its size, and its length. All of ours are PNG.
"""

import struct
import subprocess
import sys

# The sizes that macOS asks for; of some there is one for displays with twice as many pixels.
KINDS = {b"icp4": 16, b"icp5": 32, b"ic11": 32, b"ic12": 64, b"ic07": 128, b"ic13": 256, b"ic08": 256, b"ic14": 512,
         b"ic09": 512, b"ic10": 1024}


def picture(svg, size):
    return subprocess.run(["rsvg-convert", "--width", str(size), "--height", str(size), svg], check=True,
                          stdout=subprocess.PIPE).stdout


svg, icns = sys.argv[1:]
pictures = {size: picture(svg, size) for size in sorted(set(KINDS.values()))}
body = b"".join(kind + struct.pack(">I", len(pictures[size]) + 8) + pictures[size] for kind, size in KINDS.items())
with open(icns, "wb") as file:
    file.write(b"icns" + struct.pack(">I", len(body) + 8) + body)
