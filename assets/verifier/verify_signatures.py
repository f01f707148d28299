"""Checks the signatures in a case file of Countersign, for verify.py --allowed-signers FILE. Needs `ssh-keygen`.

Each signed document must repeat the record that it is about, as ledger.jsonl has it, and `ssh-keygen -Y verify` must find
its signer in FILE, at the time that the document has. verify.py has compared documents and signatures with the ledger
before. The authorization and the end of the run must be signed, and nothing that a signed authorization names be missing.
"""
import base64, hashlib, json, os, pathlib, shutil, subprocess, tempfile, time, zipfile

def sha256(text): return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
def canonical(value): return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
def label(kind): return {"run_end": "end of the run"}.get(kind, kind.replace("_", " "))

def lines(path, name="ledger.jsonl"):
    """The JSON documents in the lines of a member; none if it is missing."""
    path = pathlib.Path(path)
    if path.is_dir(): return list(map(json.loads, (path / name).open(encoding="utf-8"))) if (path / name).exists() else []
    with zipfile.ZipFile(path) as zip: return list(map(json.loads, zip.open(name))) if name in zip.namelist() else []

def read(path):
    """The records by table and number, the digests of links by number, and the name of the evidence if a proof has it."""
    rows, digests = {}, {0: "0" * 64}
    for record in lines(path):
        rows.setdefault(record["table"], {})[record["seq"]] = json.loads(record["entry"])["columns"]
        digests |= {record["seq"]: record["digest"], record["seq"] - 1: record["previous"]}
    return rows, digests, {proof["checkpoint"].split("\n")[0] for proof in lines(path, "proof.json")}

def fingerprints(armor):
    """Those of the key of a signature: of what ssh-keygen has signed with, and, of a certificate, of the key in it."""
    data = base64.b64decode("".join(armor.strip().split("\n")[1:-1]), validate=True)
    def parts(data):
        while data:
            size = int.from_bytes(data[:4], "big")
            yield data[4:4 + size]
            data = data[4 + size:]
    blob = next(parts(data[10:]))  # Behind "SSHSIG" and the version.
    kind, *fields = (part for _, part in zip(range(6), parts(blob)))
    keys = [blob]
    if kind.endswith(b"-cert-v01@openssh.com"):  # The type, a nonce, the numbers of the key, and more.
        plain = kind.replace(b"-cert-v01", b"") if kind.startswith(b"sk-") else kind[:-len(b"-cert-v01@openssh.com")]
        count = 1 if kind.startswith(b"ssh-ed25519") else 3 if kind.startswith(b"sk-ecdsa") else 2
        keys.append(b"".join(len(part).to_bytes(4, "big") + part for part in [plain, *fields[1:1 + count]]))
    return ["SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=") for key in keys]

def reviews(rows):
    return [row for _, row in sorted(rows.get("signatures", {}).items()) if row["kind"] == "review"]

def expected(kind, document, rows, digests, seq, row):
    """What the document of a signature must be, made of the records again; None if it cannot be one of them."""
    all_of = {key: document.get(key) for key in ("format", "evidence", "kind", "principal")}
    if kind == "review":  # Of another person, before the authorization was recorded.
        (record,) = rows["authorizations"].values()
        approvals = [json.loads(it["document"]) for it in rows["signatures"].values() if it["kind"] == "authorization"]
        if not approvals: return None  # Nothing says what was approved.
        binding, digest = document["binding"], lambda name: f"sha256:{record[name]}"
        found = [document["decision"], document["plan_digest"], binding["policy"], binding["workspace"], document["request_id"],
                 sha256(canonical(binding)), document["timestamp"], record["id"]]
        same = found == ["sign", digest("plan_digest"), digest("policy_digest"), record["workspace"], row["request_id"],
                         approvals[0]["binding_digest"], row["timestamp"], row["authorization_id"]]
        return document if same else None
    if kind == "authorization":
        (record,) = [it for it in rows["authorizations"].values() if it["id"] == row["authorization_id"]]
        previous, more = document["previous"], {}
        if not 0 <= previous["seq"] < seq or digests.get(previous["seq"], previous["digest"]) != previous["digest"]: return None
        if "reviews" in document:  # Older documents do not name them.
            given = [sha256(it["document"]) for it in reviews(rows)]
            more = {"required": document["required"], "reviews": given}
            if document["required"] > len(given) + 1: return None
        record = {key: value for key, value in record.items() if key != "row"}
        return all_of | more | {"binding_digest": document["binding_digest"], "previous": previous, "record": record}
    (run,), ((number, record),) = rows["runs"].values(), rows["run_ends"].items()
    more = {"timestamp": document["timestamp"]} if "timestamp" in document else {}  # Older documents have none.
    if row["run_id"] != record["run_id"]: return None
    return all_of | more | {"authorization_id": run["authorization_id"], "plan_digest": run["plan_digest"], "record": record,
                            "link": {"seq": number, "digest": digests[number]}}

def signed_at(document):
    """When it was signed, as the document says."""
    return document["timestamp"] if "timestamp" in document else document["record"]["timestamp"]

def difference(row, seq, rows, digests):
    """Why a signature is not one of the records; None if it is."""
    document = json.loads(row["document"])
    again = expected(row["kind"], document, rows, digests, seq, row)
    heads = {"format": "countersign/signed/v1", "kind": row["kind"], "principal": row["principal"]}
    if again is None or canonical(again) != row["document"] or any(document[key] != heads[key] for key in heads):
        return "what was signed is not what the records say"
    if signed_at(document) > row["timestamp"]: return "its record has an earlier time than what was signed"
    if row["fingerprint"] not in fingerprints(row["signature"]): return "it is of another key than its record says"

def verify(row, signers, revoked=None):
    """Why ssh-keygen does not accept a signature; None if it does."""
    with tempfile.TemporaryDirectory() as folder:
        signature = os.path.join(folder, "signature")
        pathlib.Path(signature).write_text(row["signature"], encoding="utf-8")
        at = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(signed_at(json.loads(row["document"])) / 1000))
        call = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", row["principal"], "-n", "countersign", "-s", signature,
                f"-Overify-time={at}", *(["-r", revoked] if revoked else [])]
        done = subprocess.run(call, input=row["document"].encode(), capture_output=True)
    if done.returncode != 0:
        said = "; ".join((done.stderr + done.stdout).decode(errors="replace").split("\n")).replace("\r", "").strip("; ")
        return f"ssh-keygen refuses it for {row['principal']}: {said}"

def check(path, signers, revoked, unusable):
    """Whether all signatures are those of allowed signers, and what was found. `unusable` ends the program."""
    if pathlib.Path(path).suffix == ".db" or (pathlib.Path(path) / "execution_log.db").exists():
        unusable("signatures are checked in case files: write one with `countersign evidence case RUN`")
    for file in filter(None, (signers, revoked)):
        try: open(file, "rb").close()
        except OSError as error: unusable(f"the list cannot be read: {error}")
    if not shutil.which("ssh-keygen"): unusable("there is no ssh-keygen in PATH, which checks signatures")
    rows, digests, evidence = read(path)
    found = rows.get("signatures", {})
    for seq, row in found.items():
        try:
            why = difference(row, seq, rows, digests)
            why = why or verify(row, os.path.abspath(signers), revoked and os.path.abspath(revoked))
            evidence.add(json.loads(row["document"])["evidence"])
            if len(evidence) > 1: why = why or f"it was given for other evidence: {', '.join(sorted(evidence))}"
        except (KeyError, ValueError, TypeError, IndexError, StopIteration) as error:
            why = f"it cannot be read: {type(error).__name__}: {error}"
        if why: return False, f"signature {seq} of the {label(row['kind'])}: {why}"
    signed = ", ".join(f"{label(row['kind'])} by {row['principal']} with {row['fingerprint']}" for row in found.values())
    missing = [label(kind) for kind in ("authorization", "run_end") if kind not in {row["kind"] for row in found.values()}]
    if missing: return False, f"UNSIGNED: the {' and the '.join(missing)}; signed: {signed or 'nothing'}"
    return True, f"signed: {signed}; revoked keys: {'none of them' if revoked else 'NOT CHECKED, pass --revoked'}"
