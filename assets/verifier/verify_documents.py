"""Compares what a case file of Countersign has for people with its records, for verify.py, which has checked their chain.

`differ` of verify.py takes what is compared, how it is, how it has to be, and says the first difference.
"""
import hashlib, json

def sha256(data): return hashlib.sha256(data).hexdigest()

def check(manifest, rows, members, differ):
    """Compares each document with the records, `rows`. `members`: what opens each member, by its name."""
    (run,) = rows["runs"].values()
    for name, column in [("run_id", "id"), ("plan_id", "plan_id"), ("plan_digest", "plan_digest")]:
        differ(f"{name} of the manifest", manifest[name], run[column])
    plan = {sha256(members[name]().read()) for name in members if name == "plan.json"}
    differ("its approval", [len(rows.get(it, ())) for it in ("plans", "authorizations", "authorization_uses")], [1] * 3)
    blobs = {(row["digest"], row["encoding"] == "zstd") for row in rows.get("blobs", {}).values()}
    plain = {digest for digest, is_plain in blobs if is_plain}
    purged = {row["digest"] for row in rows.get("purges", {}).values()}
    purged |= {row["content"] for row in rows.get("purged_subjects", {}).values() if "content" in row}
    hidden = ({digest for digest, _ in blobs} | purged) - plain
    named = {row.get("blob") for table in ("execution_artifacts", "decisions") for row in rows.get(table, {}).values()}
    differ("the list of contents", {it[10:] for it in members if it.startswith("artifacts/")} | plan, plain)
    differ("the list of contents that are left out", {content["digest"] for content in manifest["left_out"]}, hidden)
    differ("a content", (named | {run["plan_digest"]}) - plain - hidden - {None}, set())
    signed = {f"signatures/{row['kind']}-{seq}.{end}": row[column] for seq, row in rows.get("signatures", {}).items()
              for end, column in (("json", "document"), ("sig", "signature"))}
    differ("the signatures", {it: members[it]().read().decode() for it in members if it[:11] == "signatures/"}, signed)
    tables = ["authorization_classes", "authorizations", "decisions"]
    decided = [{"columns": row, "seq": seq, "table": it} for it in tables for seq, row in rows.get(it, {}).items()]
    differ("decisions.json", json.load(members["decisions.json"]()), sorted(decided, key=lambda row: row["seq"]))
    steps = {row["id"]: row for table in ("intents", "executions") for row in rows.get(table, {}).values()}
    parts = {}
    for table in ("execution_artifacts", "edges"):
        for row in rows.get(table, {}).values(): parts.setdefault((table, row["execution_id"]), []).append(row)
    for step in map(json.loads, members["executions.jsonl"]()):
        id = step["execution_id"]
        row = {"outcome": step["outcome"]} | steps.pop(id, {})  # Without an outcome: interrupted, or under way.
        for name in ("id tool_name timestamp step_id step_index about run_id outcome exit_code error_code "
                     "error_message duration_ms risk_level risk_rule risk_reason").split():
            shown = {"id": "execution_id", "timestamp": "timestamp_ms", "risk_level": "risk"}.get(name, name)
            differ(f"{shown} of execution {id}", step[shown], row.get(name))
        differ(f"the arguments of execution {id}", step["arguments"], json.loads(row["arguments_json"]))
        part = lambda table: parts.get((table, id), [])
        outputs = [it | {"content": json.loads(it["content_json"])} for it in part("execution_artifacts")]
        for name, recorded, keys in [("artifacts", outputs, "artifact_type content bytes"),
                                     ("edges", part("edges"), "edge_type target_kind target")]:
            shown, stored = ([[it[key] for key in keys.split()] for it in items] for items in (step[name], recorded))
            differ(f"{name} of execution {id}", shown, stored)
    differ("executions.jsonl", list(steps), [])

def found(manifest, rows, records, members, known, key):
    """What was found if nothing differs: above all, which records are bound to what the reader knows."""
    import verify_proof
    if key and "proof.json" not in members:
        raise verify_proof.Difference("it has no proof.json, so that no record of it is bound to the key")
    if "proof.json" in members:
        verify_proof.check_case(json.load(members["proof.json"]()), records, manifest["run_id"], key)
    numbers = [record["seq"] for record in records]
    end = [index for index, it in enumerate(records) if known in (None, it["digest"])][-1]
    begin = end
    while begin and numbers[begin - 1] == numbers[begin] - 1: begin -= 1
    loose = len(records) - (end + 1 - begin)
    text, link = f"{len(records)} records of run {manifest['run_id']}", f"link {numbers[end]} sha256:{records[end]['digest']}"
    if key: text = f"{text}, all of which the key has signed as records of the evidence; the last is {link}"
    elif not loose: text = f"{text} in an unbroken chain, which ends with {link}"
    else:
        where = [f"{count} {place}" for count, place in
                 ((begin, "before a gap"), (loose - begin, "behind the known head")) if count]
        text = (f"PARTLY BOUND: of {text}, {end + 1 - begin} (number {numbers[begin]} to {numbers[end]}) are bound to {link} by an "
                f"unbroken chain; {' and '.join(where)} are bound to nothing, and may have been invented, changed or taken out: "
                "pass --key to check all")
    if not known and not key: text += "; nothing from outside of this file confirms that link"
    # What was purged is missing, too; where it was, a record says.
    first, last = numbers[0], numbers[-1]
    purged = sum(len(range(max(first, it["first_row"]), min(last, it["last_row"]) + 1))
                 for it in rows.get("purged_rows", {}).values())
    others = last + 1 - first - len(numbers) - purged
    text += f"; between the first and the last, {others} other records are left out"
    return (text + (f", and {purged} were purged" if purged else "")
            + "".join(f"; not included: {it['digest']} ({it['reason']})" for it in manifest["left_out"]))
