"""Makes an icon of Windows of an SVG: `python3 ico.py SVG ICO`. Needs rsvg-convert.

The format is a table of pictures, and the pictures after it. All of ours are PNG, which Windows reads since Vista.
"""

import struct
import subprocess
import sys

SIZES = [16, 24, 32, 48, 64, 128, 256]


def picture(svg, size):
    return subprocess.run(["rsvg-convert", "--width", str(size), "--height", str(size), svg], check=True,
                          stdout=subprocess.PIPE).stdout


svg, ico = sys.argv[1:]
pictures = [picture(svg, size) for size in SIZES]
table, at = struct.pack("<HHH", 0, 1, len(SIZES)), 6 + 16 * len(SIZES)
for size, data in zip(SIZES, pictures):
    # 256 is written as 0.
    table += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), at)
    at += len(data)
with open(ico, "wb") as file:
    file.write(table + b"".join(pictures))
