#!/usr/bin/env python3
"""Which crates are in the program: their licences, and the bill of materials.

    python3 crates.py licences [TARGET]     every licence text with the crates that have it, as text
    python3 crates.py sbom [TARGET]         CycloneDX 1.6, as JSON

The crates are those that cargo links into the program for a target of Rust, by default this computer's (`cargo tree`),
without what only builds or tests use. C libraries that crates contain, the fonts and Rust's own library are named, too. Nothing depends on the time
or on this computer's folders: the date is SOURCE_DATE_EPOCH. A crate without a licence is an error.
"""

import datetime
import json
import os
import re
import struct
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files with licences, also below the root of a crate: those of fonts and of C libraries are in its folders.
LICENCE = re.compile(r"^(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE|OFL|UFL|.*-license\.txt$)", re.IGNORECASE)
NOT_READ = {"tests", "test", "benches", "examples", "fuzz", "testdata"}
SOURCE = re.compile(r"\.(rs|c|h|py|toml|json|html)$")
# The standard texts of crates that come without one, by crates that have it.
STANDARD = {
    "MIT": ("clap", "LICENSE-MIT"),
    "Apache-2.0": ("clap", "LICENSE-APACHE"),
    "Zlib": ("foldhash", "LICENSE"),
    "BSL-1.0": ("error-code", "LICENSE"),
}
# C libraries inside of crates: the crate, the library, its licence, the file with its version, and the version in it.
BUNDLED = [
    ("libsqlite3-sys", "SQLite", "blessing", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION +"([0-9.]+)"'),
    ("zstd-sys", "Zstandard", "BSD-3-Clause", "zstd/lib/zstd.h",
     r"#define ZSTD_VERSION_MAJOR +(\d+)\s+#define ZSTD_VERSION_MINOR +(\d+)\s+#define ZSTD_VERSION_RELEASE +(\d+)"),
    # Its headers, by the commit.
    ("tree-sitter", "ICU", "ICU", "src/unicode/ICU_SHA", r"([0-9a-f]{40})"),
]
# Fonts in assets/fonts, by the names of their licence files.
FONTS = [("Inter", "OFL-1.1"), ("JetBrainsMono", "OFL-1.1"), ("Phosphor", "MIT")]
# Fonts inside of crates whose own licence is another one: the crate, the file, the font, its licence. One that is missing
# here is an error.
CRATE_FONTS = [("sctk-adwaita", "src/title/Cantarell-Regular.ttf", "Cantarell", "OFL-1.1")]


def output(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} failed")
    return done.stdout


def rustc():
    said = dict(line.split(": ", 1) for line in output("rustc", "-vV").splitlines() if ": " in line)
    return said["release"], said["host"]


def linked(target):
    """Names and versions of the crates that are linked, besides the program itself."""
    tree = output("cargo", "tree", "--locked", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none",
                  "--format", "{p}")
    found = {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
    return {(name, version.removeprefix("v")) for name, version in found if name != "countersign"}


def crates(target):
    """What cargo knows of each of them, by name and version, sorted; and the edges between them."""
    wanted = linked(target)
    known = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    by_id = {it["id"]: it for it in known["packages"]}
    found = {(it["name"], it["version"]): it for it in known["packages"]}
    missing = wanted - found.keys()
    if missing:
        sys.exit(f"error: cargo metadata does not know {sorted(missing)}")
    edges = {}
    for node in known["resolve"]["nodes"]:
        name = by_id[node["id"]]
        normal = (dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"]))
        to = {(by_id[it]["name"], by_id[it]["version"]) for it in normal}
        edges[name["name"], name["version"]] = sorted(to & wanted)
    return {key: found[key] for key in sorted(wanted)}, edges, found


def expression(crate):
    """The licence as an SPDX expression; older crates write a slash."""
    licence = crate["license"]
    if not licence:
        sys.exit(f"error: {crate['name']} says no licence")
    return re.sub(r"\s*/\s*", " OR ", licence)


def texts_in(folder):
    """The licence files of a folder, as path below it and text."""
    found = []
    for path, folders, files in os.walk(folder):
        below = Path(path).relative_to(folder)
        folders[:] = sorted(it for it in folders if it not in NOT_READ and len(below.parts) < 4)
        for name in sorted(files):
            if LICENCE.match(name) and not SOURCE.search(name):
                text = (Path(path) / name).read_text(encoding="utf-8", errors="replace")
                text = "\n".join(line.rstrip() for line in text.replace("\r", "").splitlines()).strip("\n")
                # Some files only name another one.
                if len(text) > 100:
                    found.append((str(below / name), text))
    return found


def fonts_in(crate):
    """The fonts in a crate that its licence does not speak of: file, name, licence and text."""
    folder = Path(crate["manifest_path"]).parent
    files = {str(it.relative_to(folder)) for it in folder.rglob("*") if it.suffix.lower() in (".ttf", ".otf", ".ttc", ".woff")}
    files = {it for it in files if not NOT_READ & set(Path(it).parts)}
    if not files or "OFL" in expression(crate):
        return []
    named = [it for it in CRATE_FONTS if it[0] == crate["name"]]
    if files != {file for _, file, _, _ in named}:
        sys.exit(f"error: {crate['name']} has fonts of which no licence is known here: {sorted(files)}")
    return [(font, licence, licence_in(folder / file)) for _, file, font, licence in named]


def licence_in(font):
    """The copyright and the licence that a font says of itself in its table of names, with the terms of the OFL."""
    data = font.read_bytes()
    tables = (struct.unpack_from(">4sLLL", data, 12 + 16 * it) for it in range(struct.unpack_from(">H", data, 4)[0]))
    names = next(offset for tag, _, offset, _ in tables if tag == b"name")
    count, texts = struct.unpack_from(">HH", data, names + 2)
    said = {}
    for it in range(count):
        platform, _, _, name, length, offset = struct.unpack_from(">6H", data, names + 6 + 12 * it)
        # In the encoding of Windows.
        if platform == 3:
            start = names + texts + offset
            said[name] = data[start:start + length].decode("utf-16-be")
    # Copyright and licence, by their numbers.
    if "SIL Open Font License, Version 1.1" not in said.get(13, "") or not said.get(0):
        sys.exit(f"error: {font} does not say that its licence is the OFL")
    ofl = (ROOT / "assets/fonts/LICENSE-Inter.txt").read_text()
    terms = ofl[ofl.index("SIL OPEN FONT LICENSE Version 1.1"):]
    lines = f"{said[0]}\n\n{terms}".splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def licences(target):
    linked_crates, _, known = crates(target)
    by_name = {name: crate for (name, _), crate in known.items()}
    owners = {}
    rows = []

    def add(owner, text):
        # The same text with other line breaks is the same text.
        owners.setdefault(" ".join(text.split()), (text, []))[1].append(owner)

    for (name, version), crate in linked_crates.items():
        texts = texts_in(Path(crate["manifest_path"]).parent)
        rows.append((f"{name} {version}", expression(crate), f"https://crates.io/crates/{name}/{version}"))
        if not texts:
            # The texts of the first alternative whose texts are all known.
            choices = [re.findall(r"[A-Za-z0-9.-]+", it) for it in re.sub(r"[()]", "", expression(crate)).split(" OR ")]
            choice = next((it for it in choices if all(word in STANDARD or word == "AND" for word in it)), None)
            if choice is None:
                sys.exit(f"error: {name} has no licence text, and none is known for {expression(crate)}")
            for word in choice:
                if word != "AND":
                    source, file = STANDARD[word]
                    texts.append((file, (Path(by_name[source]["manifest_path"]).parent / file).read_text()))
        for _, text in texts:
            add(f"{name} {version}", text)
        for font, licence, text in fonts_in(crate):
            rows.append((f"{font} (font)", licence, f"https://crates.io/crates/{name}/{version}"))
            add(f"{font} (font)", text)
    for font, licence in FONTS:
        rows.append((f"{font} (font)", licence, "assets/fonts"))
        add(f"{font} (font)", (ROOT / f"assets/fonts/LICENSE-{font}.txt").read_text().strip("\n"))
    release, _ = rustc()
    rows.append((f"Rust standard library {release}", "MIT OR Apache-2.0", "https://github.com/rust-lang/rust"))

    print("The program contains the software and the fonts below, each under its own licence; the texts follow.")
    print("Of a crate, the unchanged source is the archive of this version at the address in its line.\n")
    width, licence_width = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    for name, licence, place in rows:
        print(f"{name:{width}}  {licence:{licence_width}}  {place}")
    for text, users in sorted(owners.values(), key=lambda it: it[1][0]):
        print(f"\n{'=' * 100}\n{', '.join(dict.fromkeys(users))}\n{'-' * 100}\n{text}")


def component(kind, name, version, licence, **more):
    ref = more.pop("ref", f"{kind}:{name}@{version}")
    return {"type": kind, "bom-ref": ref, "name": name, "version": version, "licenses": [{"expression": licence}], **more}


def sbom(target):
    release, _ = rustc()
    linked_crates, edges, _ = crates(target)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}
    own = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]

    def purl(key):
        return f"pkg:cargo/{key[0]}@{key[1]}".replace("+", "%2B")

    components, dependencies, contained = [], [], {}
    for key, crate in linked_crates.items():
        more = {"ref": purl(key), "purl": purl(key), "scope": "required"}
        if crate["description"]:
            more["description"] = " ".join(crate["description"].split())
        if checksums.get(key):
            more["hashes"] = [{"alg": "SHA-256", "content": checksums[key]}]
        if crate["repository"]:
            more["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
        components.append(component("library", *key, expression(crate), **more))
    for (name, version), crate in linked_crates.items():
        for owner, library, licence, file, pattern in BUNDLED:
            if owner == name:
                text = (Path(crate["manifest_path"]).parent / file).read_text(encoding="utf-8")
                found = re.search(pattern, text)
                if not found:
                    sys.exit(f"error: {file} of {name} says no version of {library}")
                made = component("library", library, ".".join(found.groups()), licence, scope="required")
                components.append(made)
                contained.setdefault((name, version), []).append(made["bom-ref"])
        for font, licence, _ in fonts_in(crate):
            components.append(component("file", font, version, licence))
            contained.setdefault((name, version), []).append(components[-1]["bom-ref"])
    main = purl((own["name"], own["version"]))
    beside = []
    for font, licence in FONTS:
        beside.append(component("file", font, own["version"], licence))
    beside.append(component("library", "rust-std", release, "MIT OR Apache-2.0", scope="required",
                            description=f"The standard library of Rust for {target}"))
    components += beside
    direct = [purl(key) for key in edges[own["name"], own["version"]]]
    dependencies.append({"ref": main, "dependsOn": sorted(direct + [it["bom-ref"] for it in beside])})
    for key in linked_crates:
        dependencies.append({"ref": purl(key), "dependsOn": sorted([*map(purl, edges[key]), *contained.get(key, [])])})
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        sys.exit("error: SOURCE_DATE_EPOCH is not set")
    time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "component": component("application", own["name"], own["version"], own["license"], ref=main, purl=main,
                                   description=own["description"]),
        },
        "components": components,
        "dependencies": dependencies,
    }
    # The same contents have the same number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    print(json.dumps({"serialNumber": f"urn:uuid:{serial}", **document}, indent=1, ensure_ascii=False))


def main():
    commands = {"licences": licences, "sbom": sbom}
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1] not in commands:
        sys.exit("usage: python3 crates.py licences|sbom [TARGET]")
    # The same bytes in every language.
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    commands[sys.argv[1]](sys.argv[2] if len(sys.argv) == 3 else rustc()[1])


main()
