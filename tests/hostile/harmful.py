#!/usr/bin/env python3
"""Prints the lines of a report of run.py whose commands did harm."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as report:
    for line in report:
        if json.loads(line)["harm"]:
            print(line, end="")
