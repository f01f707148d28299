#!/usr/bin/env python3
"""Checks a proof of `countersign evidence prove` without Countersign:
python3 verify_proof.py PROOF [--key KEY] [--checkpoint FILE]

Exit code 0: the records are those of the checkpoint in the proof. 1: what differs is printed. 2: a file or the key cannot
be used. verify.py checks the proof in a case file by this program.

A proof is worth as much as its checkpoint. KEY is what `countersign evidence key` prints on the computer of the evidence:
then the checkpoint must be signed by it. FILE has the checkpoint as you got it in another way, for instance from a witness:
then the proof must lead to that one. Without both, the signatures of the checkpoint are NOT checked.
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

def visible(text):
    """A text without characters that are invisible, or that change how a terminal shows it."""
    return "".join(c if c.isprintable() and c != "\u27e8" else f"\u27e8U+{ord(c):04X}\u27e9" for c in text)

def fields(what, names): differ("the list of fields", sorted(what), sorted(names.split()))

def checkpoint(note):
    """The origin, the size and the root of a checkpoint."""
    text, found, signatures = note.rpartition("\n\n")
    if not found or not signatures.startswith("\u2014 "): raise Difference("a checkpoint is no signed note")
    origin, size, root = (text + "\n").split("\n")[:3]
    differ("the size of a checkpoint", size, str(int(size)))
    return origin, int(size), decode(root, 32)

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519, as RFC 8032, section 5.1, has it.
CURVE, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)

def add(one, other):
    a, b = (one[1] - one[0]) * (other[1] - other[0]), (one[1] + one[0]) * (other[1] + other[0])
    c, d = 2 * one[3] * other[3] * CURVE, 2 * one[2] * other[2]
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P

def times(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1: total = add(total, point)
        number, point = number >> 1, add(point, point)
    return total

def point(data):
    y = int.from_bytes(data, "little")
    y, sign = y & ((1 << 255) - 1), y >> 255
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P: x = x * ROOT % P
    if y >= P or (x * x - square) % P or (sign and not x): raise Difference("an Ed25519 key is no point of the curve")
    if x & 1 != sign: x = P - x
    return x, y, 1, x * y % P

def is_signed(public, text, signature):
    """Whether this is the signature that the key has made of the text."""
    if len(signature) != 64 or int.from_bytes(signature[32:], "little") >= ORDER: return False
    base, (x, y, _, t) = point((4 * pow(5, -1, P) % P).to_bytes(32, "little")), point(public)
    hash = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % ORDER
    x, y, z, _ = add(times(int.from_bytes(signature[32:], "little"), base), times(hash, (P - x, y, 1, P - t)))
    x, y = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]

def verifier_key(text):
    """The name, the id and the bytes of a key as `countersign evidence key` prints it. ValueError if it is none."""
    name, id, key = (text.strip().split("+", 2) + ["", ""])[:3]
    key = base64.b64decode(key, validate=True)
    if not name or len(key) != 33 or key[0] != 1 or sha256(f"{name}\n".encode(), key)[:4].hex() != id:
        raise ValueError("a key is NAME+ID+KEY, for Ed25519, as `countersign evidence key` prints it")
    return name, bytes.fromhex(id), key[1:]

def check_signature(note, key):
    """Whether the key has signed the note. Signatures of others, for instance of witnesses, are ignored."""
    name, id, public = verifier_key(key)
    text, _, lines = note.rpartition("\n\n")
    differ("the end of the checkpoint", lines[-1:], "\n")
    signatures = [line[2:].split(" ") for line in lines[:-1].split("\n")]
    found = [decode(it[1]) for it in signatures if len(it) == 2 and it[0] == name]
    found = [it[4:] for it in found if it[:4] == id]
    if checkpoint(note)[0] != name: raise Difference("the checkpoint is one of other evidence than the key")
    if not found: raise Difference("the checkpoint is not signed by the key")
    if not all(is_signed(public, f"{text}\n".encode(), it) for it in found):
        raise Difference("the signature of the checkpoint is not one of the key")

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

def check(proof, known=None, key=None):
    """What the proof says, if it holds."""
    fields(proof, "format program about checkpoint since later records")
    fields(proof["about"], "kind id")
    differ("the format", proof["format"], 1)
    differ("the number of later records", isinstance(proof["later"], int) and proof["later"] >= 0, True)
    if key is not None: check_signature(proof["checkpoint"], key)
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

def check_case(proof, records, run_id, key=None):
    """Whether the proof in a case file is one of all its records, and of no others."""
    check(proof, None, key)
    differ("what the proof is about", proof["about"], {"kind": "run", "id": run_id})
    names = "seq table previous digest entry".split()
    proven, stored = ([[record[name] for name in names] for record in list] for list in (proof["records"], records))
    for one, other in zip(proven, stored): differ(f"record {other[0]}", other, one)
    differ("the number of records", len(stored), len(proven))
    differ("the size of the checkpoint", checkpoint(proof["checkpoint"])[1], stored[-1][0])

def main(arguments):
    options = dict(zip(arguments[1::2], arguments[2::2]))
    known, key = options.pop("--checkpoint", None), options.pop("--key", None)
    if not arguments or len(arguments) % 2 == 0 or arguments[0].startswith("-") or options:
        print(__doc__)
        return 2
    try:
        if key is not None: verifier_key(key)
        with open(arguments[0], encoding="utf-8", newline="") as file: text = file.read()
        if known is not None:
            with open(known, encoding="utf-8", newline="") as file: known = file.read()
    except (OSError, ValueError) as error:
        print(visible(f"UNUSABLE: {error}"))
        return 1 if isinstance(error, UnicodeDecodeError) else 2
    try:
        found = check(json.loads(text), known, key)
    except (Difference, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        print(visible(f"CHANGED: {error if isinstance(error, Difference) else f'this is no proof ({error!r:.100})'}"))
        return 1
    said = ["that checkpoint is yours"] * (known is not None) + ["the checkpoint is signed by that key"] * (key is not None)
    print(visible(f"OK: {found}. Signatures: {'; '.join(said) or 'NOT CHECKED, see --help'}"))
    return 0

if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
