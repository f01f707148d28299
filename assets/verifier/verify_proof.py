#!/usr/bin/env python3
"""Checks a proof of `countersign evidence prove` without Countersign: python3 verify_proof.py PROOF [--checkpoint FILE]

Exit code 0: the records are those of the checkpoint in the proof. 1: what differs is printed. 2: a file cannot be used.

A proof is worth as much as its checkpoint. The signatures of the checkpoint are NOT checked, because Python's standard
library has no Ed25519: check them with a program for signed notes (C2SP), or name a file with --checkpoint that has the
checkpoint as you got it in another way, for instance from a witness; then the proof must lead to that one.
"""
import base64, hashlib, json, sys

class Difference(Exception): """What differs."""

def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()
def node(left, right): return sha256(b"\x01", left, right)
def decode(text, size=None):
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text or size not in (None, len(data)): raise Difference(f"no hash: {text:.60}")
    return data
def differ(what, one, other):
    if one != other or type(one) is not type(other): raise Difference(f"{what} is not what it should be: {one!r:.120}")

def fields(what, names): differ("the list of fields", sorted(what), sorted(names.split()))

def checkpoint(note):
    """The origin, the size and the root of a checkpoint."""
    text, found, signatures = note.rpartition("\n\n")
    if not found or not signatures.startswith("\u2014 "): raise Difference("a checkpoint is no signed note")
    origin, size, root = (text + "\n").split("\n")[:3]
    differ("the size of a checkpoint", size, str(int(size)))
    return origin, int(size), decode(root, 32)

def root_from(index, size, leaf, proof):
    """The root to which an inclusion proof leads (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size: raise Difference(f"leaf {index} is not one of {size}")
    last, hash = size - 1, leaf
    for other in proof:
        if last == 0: raise Difference("a proof is too long")
        if index & 1 or index == last:
            hash = node(other, hash)
            while not index & 1 and index: index, last = index >> 1, last >> 1
        else: hash = node(hash, other)
        index, last = index >> 1, last >> 1
    if last: raise Difference("a proof is too short")
    return hash

def check_consistency(before, old, size, new, proof):
    """Whether a tree continues an earlier one (RFC 9162, section 2.1.4.2)."""
    if before > size: raise Difference(f"the earlier checkpoint has {before} records, the later one {size}")
    if before in (0, size):
        differ("the consistency proof", proof, [])
        return differ("the earlier root", old, new if before else sha256())
    path = proof if before & (before - 1) else [old, *proof]
    if not path: raise Difference("the consistency proof is too short")
    index, last = before - 1, size - 1
    while index & 1: index, last = index >> 1, last >> 1
    one = two = path[0]
    for other in path[1:]:
        if last == 0: raise Difference("the consistency proof is too long")
        if index & 1 or index == last:
            one, two = node(other, one), node(other, two)
            while not index & 1 and index: index, last = index >> 1, last >> 1
        else: two = node(two, other)
        index, last = index >> 1, last >> 1
    differ("the consistency proof", (one, two, last), (old, new, 0))

def check(proof, known=None):
    """What the proof says, if it holds."""
    fields(proof, "format program about checkpoint since later records")
    fields(proof["about"], "kind id")
    differ("the format", proof["format"], 1)
    origin, size, root = checkpoint(proof["checkpoint"])
    if known is not None: differ("the checkpoint", (origin, size, root), checkpoint(known))
    since = ""
    if proof["since"] is not None:
        fields(proof["since"], "checkpoint consistency_proof")
        earlier, before, old = checkpoint(proof["since"]["checkpoint"])
        differ("the origin of the earlier checkpoint", earlier, origin)
        hashes = [decode(hash, 32) for hash in proof["since"]["consistency_proof"]]
        check_consistency(before, old, size, root, hashes)
        since = f", which continues that of {before} records"
    last, about, is_there = 0, proof["about"], False
    tables = {"run": ["runs"], "execution": ["executions", "intents"], "record": None}[about["kind"]]
    for record in proof["records"]:
        fields(record, "seq table previous digest entry inclusion_proof")
        seq, entry = record["seq"], json.loads(record["entry"])
        columns, name = entry["columns"], f"record {seq}"
        differ("the order of the records", seq > last, True)
        previous = bytes.fromhex(record["previous"])
        differ(f"the link before {name}", record["previous"], previous.hex())
        link = sha256(previous, record["entry"].encode())
        differ(f"the digest of {name}", record["digest"], link.hex())
        differ(f"the table of {name}", record["table"], entry["table"])
        differ(f"the number of {name}", columns.get("row", columns.get("id")), seq)
        hashes = [decode(hash, 32) for hash in record["inclusion_proof"]]
        differ(f"the root that {name} leads to", root_from(seq - 1, size, sha256(b"\x00", link), hashes), root)
        is_there |= about["id"] == (str(seq) if tables is None else record["table"] in tables and columns.get("id"))
        last = seq
    differ("the records", is_there, True)
    later = f"; {proof['later']} later records are not in it" if proof["later"] else ""
    return (f"{len(proof['records'])} records of {about['kind']} {about['id']} are in the checkpoint of {size} records of "
            f"{origin}{since}{later}; root {base64.b64encode(root).decode()}")

def main(arguments):
    known = None
    if len(arguments) == 3 and arguments[1] == "--checkpoint": arguments, known = arguments[:1], arguments[2]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        with open(arguments[0], encoding="utf-8", newline="") as file: text = file.read()
        if known is not None:
            with open(known, encoding="utf-8", newline="") as file: known = file.read()
    except (OSError, UnicodeDecodeError) as error:
        print(f"UNUSABLE: {error}")
        return 1 if isinstance(error, UnicodeDecodeError) else 2
    try:
        found = check(json.loads(text), known)
    except (Difference, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        print(f"CHANGED: {error if isinstance(error, Difference) else f'this is no proof ({error!r:.100})'}")
        return 1
    print(f"OK: {found}. Signatures: {'that checkpoint is yours' if known is not None else 'NOT CHECKED, see --help'}")
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
