"""Whether a bill of materials is valid by the schema of CycloneDX 1.6, with licences that SPDX knows.

    python3 check_sbom.py FILE      with the library that lib.sh names
"""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing

text = open(sys.argv[1], encoding="utf-8").read()
problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
if problem:
    sys.exit(f"error: {problem}")
document = json.loads(text)
licensing = get_spdx_licensing()
for expression in sorted({it["expression"] for component in document["components"] for it in component["licenses"]}):
    if errors := licensing.validate(expression).errors:
        sys.exit(f"error: {expression}: {errors}")
known = {it["bom-ref"] for it in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
named = {ref for it in document["dependencies"] for ref in [it["ref"], *it.get("dependsOn", [])]}
if named - known:
    sys.exit(f"error: dependencies name {sorted(named - known)}")
print(f"valid: {len(document['components'])} components")
