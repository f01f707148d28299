"""Checks the signatures in a case file of Countersign, for verify.py --allowed-signers FILE. Needs `ssh-keygen`.

Each signed document must repeat the record that it is about, as ledger.jsonl has it, and `ssh-keygen -Y verify` must find
its signer in FILE, at the time of the signature. verify.py has compared documents and signatures with the ledger before.
"""
import json, os, pathlib, subprocess, tempfile, time, zipfile

def lines(path):
    """The records of the ledger."""
    path = pathlib.Path(path)
    if path.is_dir(): return list(map(json.loads, (path / "ledger.jsonl").open(encoding="utf-8")))
    with zipfile.ZipFile(path) as zip: return list(map(json.loads, zip.open("ledger.jsonl")))

def expected(kind, document, rows, digests, seq):
    """What the document of a signature must be, made of the records again."""
    all_of = {key: document.get(key) for key in ("format", "evidence", "kind", "principal")}
    if kind == "review":  # Of another person, before the authorization was recorded.
        (row,) = rows["authorizations"].values()
        binding, digest = document["binding"], lambda name: f"sha256:{row[name]}"
        same = [document["decision"], document["plan_digest"], binding["policy"], binding["workspace"]] == [
            "sign", digest("plan_digest"), digest("policy_digest"), row["workspace"]]
        return document if same else None
    if kind == "authorization":
        id = document["record"]["id"]
        (row,) = [row for row in rows["authorizations"].values() if row["id"] == id]
        record = {key: value for key, value in row.items() if key != "row"}
        previous = document["previous"]["seq"]
        if not 0 <= previous < seq or digests.get(previous, document["previous"]["digest"]) != document["previous"]["digest"]:
            return None
        return all_of | {"binding_digest": document["binding_digest"], "previous": document["previous"], "record": record}
    (run,), ((number, record),) = rows["runs"].values(), rows["run_ends"].items()
    return all_of | {"authorization_id": run["authorization_id"], "plan_digest": run["plan_digest"], "record": record,
                     "link": {"seq": number, "digest": digests[number]}}

def difference(row, seq, rows, digests):
    """Why a signature is not one of the records; None if it is."""
    document = json.loads(row["document"])
    again = expected(row["kind"], document, rows, digests, seq)
    text = json.dumps(again, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    heads = {"format": "countersign/signed/v1", "kind": row["kind"], "principal": row["principal"]}
    if text != row["document"] or any(document[key] != value for key, value in heads.items()):
        return "what was signed is not what the records say"

def verify(row, signers):
    """Why ssh-keygen does not accept a signature; None if it does."""
    with tempfile.TemporaryDirectory() as folder:
        signature = os.path.join(folder, "signature")
        pathlib.Path(signature).write_text(row["signature"], encoding="utf-8")
        at = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(row["timestamp"] / 1000))
        call = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", row["principal"], "-n", "countersign", "-s", signature]
        done = subprocess.run([*call, f"-Overify-time={at}"], input=row["document"].encode(), capture_output=True)
    if done.returncode != 0:
        said = (done.stderr + done.stdout).decode(errors="replace").strip().replace("\n", "; ")
        return f"ssh-keygen refuses it for {row['principal']}: {said}"

def check(path, signers):
    """Whether all signatures are those of allowed signers, and what was found."""
    if pathlib.Path(path).suffix == ".db" or (pathlib.Path(path) / "execution_log.db").exists():
        return False, "signatures are checked in case files: write one with `countersign evidence case RUN`"
    rows, digests = {}, {0: "0" * 64}
    for record in lines(path):
        rows.setdefault(record["table"], {})[record["seq"]] = json.loads(record["entry"])["columns"]
        digests |= {record["seq"]: record["digest"], record["seq"] - 1: record["previous"]}
    found = rows.get("signatures", {})
    for seq, row in found.items():
        try: why = difference(row, seq, rows, digests) or verify(row, os.path.abspath(signers))
        except (KeyError, ValueError, TypeError) as error: why = f"it cannot be read: {type(error).__name__}: {error}"
        if why: return False, f"signature {seq} of the {row['kind'].replace('_', ' ')}: {why}"
    if not found: return False, "nothing in it is signed"
    signed = [f"{row['kind'].replace('_', ' ')} by {row['principal']} with {row['fingerprint']}" for row in found.values()]
    return True, "signed: " + ", ".join(signed)
