#!/usr/bin/env python3
"""Checks evidence of Countersign without Countersign:
python3 verify.py PATH [--key KEY] [--head DIGEST] [--allowed-signers FILE [--revoked FILE]]

PATH: a case file (the zip, or its unpacked folder) or an evidence database (execution_log.db, or its folder). Exit
code 0: nothing was changed. 1: the first difference is printed, or what is not signed. 2: something cannot be used.

Every record has a SHA-256 digest of the digest before it and of its text: a chain, which is computed anew here. One
that was computed anew as a whole is sound in itself: pass --head with a digest that you got in another way. A case file
lacks records of others; what stands before such a gap is bound to the rest by its proof alone: pass --key with what
`countersign evidence key` printed. verify_*.py, which must be beside this file, check what else a case file has, with
`ssh-keygen` its signatures. Not checked: what needs the user's key (keyed digests, encrypted contents).
"""
import hashlib, json, os, pathlib, sqlite3, struct, sys, zipfile

sys.dont_write_bytecode = True  # A case file must not get more members.
GENESIS = bytes(32)
SCHEMAS = {  # The digest of all tables, indexes and triggers of each format.
    1: "beadde1591794809cf7da06a0d3c0ac4e7ab707a8d5294b74e34b0f998fe3eec",
    2: "e93161a1f559eb12e0f2039b39d1bba05767ef54c07163dc7eababe123a7e6ce",
    3: "190bf1e5394eb94754b063aaf3fcf1c326e45f27b65a592b824d4101e98fe7a4",
    4: "9f42fce7040e6bbd68615d7bea39dbe6141daa2943a729872ae633fef58b5d4d",
    5: "7e5494cf3887b127d5e0e39e37df54e6d7a58e07b5c5ce98a573223fd18c72b8",
    6: "2558732cb8497ed228eab49a8451b2c3243fe2da8c7256cf5500e79df4a92b04",
    7: "4837df4bb12d04fa51beca0d832527d01998c6827c2ae368c3391342eddede2f"}
PURGEABLE = ("edges diagnostics execution_artifacts file_contents decisions executions intents blobs planner_looks "
             "attempt_ends loop_ends loops plans").split()

class Difference(Exception): """What differs."""
class Text(bytes): """A value of the type TEXT, which may be no valid UTF-8."""

def sha256(data): return hashlib.sha256(data).hexdigest()
def visible(text):
    return "".join(c if c.isprintable() and c != "\u27e8" else f"\u27e8U+{ord(c):04X}\u27e9" for c in text)
def unusable(why): sys.exit(print(visible(f"UNUSABLE: {why}"), file=sys.stderr) or 2)
def link(previous, entry): return hashlib.sha256(previous + entry.encode()).digest()
def differ(what, one, other, source="the ledger"):
    if one != other: raise Difference(f"{what} is not what {source} says: {one!r:.120}")

def cell(value):
    """A column as it is hashed."""
    if isinstance(value, Text):
        try: return value.decode()
        except UnicodeDecodeError: return {"not_text": sha256(value)}
    if isinstance(value, bytes): return {"sha256": sha256(value)}
    return {"real": struct.unpack("<Q", struct.pack("<d", value))[0]} if isinstance(value, float) else value

def entry_of(table, row):
    """The hashed text of a row: canonical JSON of its table and its columns that are not null."""
    columns = {name: cell(row[name]) for name in row.keys() if row[name] is not None}
    return json.dumps({"columns": columns, "table": table}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

def is_purged(conn, stored):  # Before format 5, only content may be missing, and only if its purge is recorded.
    digest = json.loads(stored)["columns"]["digest"] if json.loads(stored)["table"] == "blobs" else None
    return conn.execute("SELECT 1 FROM purges WHERE digest = ?", (digest,)).fetchone() is not None

class PurgedRows:
    """Rows that may be missing, because a later row records their purge with a digest of their links."""
    def __init__(self, conn, tables):
        sql = "SELECT id, first_row, last_row, links_digest FROM purged_rows ORDER BY first_row DESC"
        self.left, self.hash, self.begun = conn.execute(sql).fetchall() if b"purged_rows" in tables else [], None, 0
    def has(self, seq):
        while self.left and self.left[-1][2] < seq: self.left.pop()
        return bool(self.left) and self.left[-1][1] <= seq < self.left[-1][0]
    def take(self, seq, table, digest):
        if self.hash is None: self.hash, self.begun = hashlib.sha256(), seq
        self.hash.update(f"{seq} {table} {digest}\n".encode())
        _, first, last, links = self.left[-1]
        if seq == last:
            found, self.hash = self.hash.hexdigest().encode(), None
            if (self.begun, found) != (first, links):
                raise Difference(f"the links of the purged rows {first} to {last} are not what was purged")

def schema_digest(conn):
    objects = {}
    for kind, name, table, sql in conn.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        differ("an object of the schema", {type(it) for it in (kind, name, table, sql or Text())}, {Text}, "a text")
        while (kind, name) in objects: name = Text(name + b" (again)")
        objects[kind, name] = [kind, name, table, sql or b""]
    return sha256(b"".join(b"%d:%s" % (len(part), part) for key in sorted(objects) for part in objects[key]))

def check_chain(conn, known):
    """Computes every link. Returns the number of records and the last digest."""
    tables = conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'ledger'").fetchall()
    count = lambda table: conn.execute(f'SELECT count(*) FROM "{table}" NOT INDEXED').fetchone()[0]
    left = {name.decode(): count(name.decode()) for (name,) in tables}
    cursor = conn.cursor()
    cursor.row_factory = sqlite3.Row
    purged, gone = PurgedRows(conn, {name for (name,) in tables}), 0
    head, rows, seen = GENESIS, 0, known in (None, GENESIS.hex())
    for seq, table, digest, stored in conn.execute("SELECT seq, table_name, digest, entry FROM ledger ORDER BY seq"):
        if seq != rows + 1: raise Difference(f"link {rows + 1} of the ledger is missing")
        differ(f"link {seq}", {type(it) for it in (table, digest, stored or Text())}, {Text}, "a text")
        table, digest, stored = table.decode(), digest.decode(), None if stored is None else stored.decode()
        if table not in left: raise Difference(f"row {seq} of {table}: there is no such table")
        row = cursor.execute(f'SELECT * FROM "{table}" WHERE rowid = ?', (seq,)).fetchone()
        is_gone = purged.has(seq) and table in PURGEABLE
        if is_gone and row is not None: raise Difference(f"row {seq} of {table} was purged, and is there")
        if row is None and not is_gone and not (table == "blobs" and stored and is_purged(conn, stored)):
            raise Difference(f"row {seq} of {table} is missing")
        if is_gone: purged.take(seq, table, digest)
        entry = stored if row is None else entry_of(table, row)
        head = bytes.fromhex(digest) if is_gone else link(head, entry)
        if head.hex() != digest or not (is_gone or stored in (None, entry)):
            raise Difference(f"row {seq} of {table} is not what was written")
        rows, gone, left[table] = seq, gone + is_gone, left[table] - (row is not None)
        seen = seen or digest == known
    if purged.hash: raise Difference(f"the purge of the rows from {purged.begun} does not end with them")
    for table in sorted(table for table in left if left[table]):
        more = f'SELECT min(rowid) FROM "{table}" WHERE rowid NOT IN (SELECT seq FROM ledger WHERE table_name = ?)'
        raise Difference(f"row {conn.execute(more, (table,)).fetchone()[0]} of {table} is not in the ledger")
    if not seen: raise Difference(f"the known head is not in the chain of {rows} links: it was truncated or rewritten")
    return f"{rows} records{f', of which {gone} were purged' if gone else ''}, head sha256:{head.hex()}"

def check_database(path, known):
    open_as = lambda mode: sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    try:
        conn = open_as("ro")
        conn.execute("SELECT 1 FROM sqlite_schema")
    except sqlite3.OperationalError:  # A folder in which SQLite cannot write: without a log, the file alone is enough.
        if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0: raise
        conn = open_as("ro&immutable=1")
    conn.text_factory = Text
    conn.execute("BEGIN")
    number = lambda sql: conn.execute(sql).fetchone()[0]
    application, version = number("PRAGMA application_id"), number("PRAGMA user_version")
    if application == version == number("SELECT count(*) FROM sqlite_schema") == 0:
        differ("the head of empty evidence", GENESIS.hex(), known or GENESIS.hex(), "the known head")
        return "0 records"
    differ("application_id", application, 0x4373676E, "an evidence database")
    differ("its schema", schema_digest(conn), SCHEMAS.get(version), f"format {version} of this program")
    found = check_chain(conn, known)
    differ("the database", number("PRAGMA integrity_check(1)"), b"ok", "its integrity check")
    return found

def check_case(members, known, key):
    """Checks a case file. `members`: what opens each member, by its name."""
    import verify_documents
    manifest = json.load(members["manifest.json"]())
    listed = {member["name"]: member for member in manifest["members"]}
    differ("the list of members", sorted(listed), sorted(set(members) - {"manifest.json"}), "the archive")
    for name, member in listed.items():
        digest, file = hashlib.sha256(), members[name]()
        size = sum(digest.update(part) or len(part) for part in iter(lambda: file.read(1 << 20), b""))
        differ(name, [digest.hexdigest(), size], [member["sha256"], member["bytes"]], "the manifest")
        differ(name, name.startswith("artifacts/") and digest.hexdigest() != name[10:], False, "its name")
    rows, records, last = {}, [], {"seq": 0, "digest": GENESIS.hex()}
    for record in map(json.loads, members["ledger.jsonl"]()):
        seq, entry = record["seq"], json.loads(record["entry"])
        computed = link(bytes.fromhex(record["previous"]), record["entry"]).hex()
        differ(f"row {seq} of {record['table']}", computed, record["digest"], "its link")
        follows = record["previous"] == last["digest"] if seq == last["seq"] + 1 else seq > last["seq"]
        differ(f"the place of link {seq}", follows, True, "the link before")
        columns = rows.setdefault(record["table"], {})[seq] = entry["columns"]
        differ(f"link {seq}", [record["table"], seq], [entry["table"], columns.get("row", columns.get("id"))])
        records.append(record)
        last = record
    differ("the last link", {"seq": last["seq"], "digest": last["digest"]}, manifest["head"], "the manifest")
    if known not in {record["digest"] for record in records} | {None}:
        raise Difference("the known head is not among the links of this case file")
    verify_documents.check(manifest, rows, members, differ)
    return verify_documents.found(manifest, rows, records, members, known, key)

def check(path, known=None, key=None):
    """Whether nothing was changed, and what was found."""
    path = pathlib.Path(path)
    try:
        if (path / "manifest.json").exists():
            files = {it.relative_to(path).as_posix(): it for it in path.rglob("*") if not it.is_dir()}
            return True, check_case({name: lambda it=it: it.open("rb") for name, it in files.items()}, known, key)
        path = path / "execution_log.db" if path.is_dir() else path
        if path.stat().st_size and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zip:
                names = zip.namelist()
                differ("the list of members", len(set(names)), len(names), "a sound archive")
                return True, check_case({name: lambda name=name: zip.open(name) for name in names}, known, key)
        if key: unusable("only a case file has a proof for --key")
        return True, check_database(path, known)
    except ImportError: raise
    except Exception as error:  # What cannot be read is not what was written.
        is_difference = type(error).__name__ == "Difference"  # Of this file, or of one beside it.
        return False, str(error) if is_difference else f"it cannot be read: {type(error).__name__}: {error}"

if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    head, key, signers, revoked = map(options.pop, ("--head", "--key", "--allowed-signers", "--revoked"), [None] * 4)
    if len(sys.argv) % 2 or options or (revoked and not signers) or not os.path.exists(sys.argv[1]):
        sys.exit(print(__doc__, "\nThe arguments are wrong, or there is no such file.", file=sys.stderr) or 2)
    try:
        if key: __import__("verify_proof").verifier_key(key)
        is_sound, found = check(sys.argv[1], head and head.removeprefix("sha256:"), key)
        if is_sound and signers:
            import verify_signatures
            is_sound, signed = verify_signatures.check(sys.argv[1], signers, revoked, unusable)
            found = f"{found}; {signed}" if is_sound else signed
    except (ImportError, ValueError) as error:
        unusable(error if isinstance(error, ValueError) else f"{error.name}.py must be beside this file")
    word = "" if found.startswith(("PARTLY BOUND: ", "UNSIGNED: ")) else "OK: " if is_sound else "CHANGED: "
    sys.exit(print(visible(word + found)) or int(not is_sound))
