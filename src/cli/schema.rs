//! `schema`: prints the JSON Schema of a plan dialect or of another document.

use std::borrow::Cow;

use super::args::DialectWord;
use super::output::Output;
use super::{Exit, args};
use crate::autonomy::REQUEST_SCHEMA;
use crate::evidence::VERIFY_SCHEMA;
use crate::export::{ATTESTATION_SCHEMA, MANIFEST_SCHEMA, PROOF_SCHEMA};
use crate::plan::Dialect;

/// The JSON Schema of a document of `evidence` by its name.
macro_rules! of_evidence {
    ($name:literal) => {
        include_str!(concat!("../../assets/schema/evidence-", $name, ".schema.json"))
    };
}

/// What the documents of `evidence` have in common.
const RECORDS: &str = of_evidence!("records");
/// How they refer to it.
const REFERENCE: &str = "evidence-records.schema.json#";

/// Prints the schema. It is JSON with or without `--json`.
pub(super) fn schema(command: &args::Schema, out: &mut Output) -> Exit {
    let text = match command.dialect {
        DialectWord::StepPlan => Dialect::StepPlan.schema(),
        DialectWord::CommandPlan => Dialect::CommandPlan.schema(),
        DialectWord::ActionPlan => Dialect::ActionPlan.schema(),
        DialectWord::PlannerRequest => REQUEST_SCHEMA,
        DialectWord::CaseManifest => MANIFEST_SCHEMA,
        DialectWord::Proof => PROOF_SCHEMA,
        DialectWord::RunAttestation => ATTESTATION_SCHEMA,
        DialectWord::Acp => include_str!("../../assets/schema/acp.schema.json"),
        DialectWord::Propose => include_str!("../../assets/schema/propose.schema.json"),
        DialectWord::Revise => include_str!("../../assets/schema/revise.schema.json"),
        DialectWord::Doctor => include_str!("../../assets/schema/doctor.schema.json"),
        DialectWord::Explain => include_str!("../../assets/schema/explain.schema.json"),
        DialectWord::InboxList => include_str!("../../assets/schema/inbox-list.schema.json"),
        DialectWord::InboxRemove => include_str!("../../assets/schema/inbox-remove.schema.json"),
        DialectWord::Settings => include_str!("../../assets/schema/settings.schema.json"),
        DialectWord::SettingsExport => {
            include_str!("../../assets/schema/settings-export.schema.json")
        }
        DialectWord::SettingsImport => {
            include_str!("../../assets/schema/settings-import.schema.json")
        }
        DialectWord::EvidenceAcceptHead => of_evidence!("accept-head"),
        DialectWord::EvidenceAttest => of_evidence!("attest"),
        DialectWord::EvidenceBackup => of_evidence!("backup"),
        DialectWord::EvidenceCheckpoint => of_evidence!("checkpoint"),
        DialectWord::EvidenceCompact => of_evidence!("compact"),
        DialectWord::EvidenceCompare => of_evidence!("compare"),
        DialectWord::EvidenceCounts => of_evidence!("counts"),
        DialectWord::EvidenceDurations => of_evidence!("durations"),
        DialectWord::EvidenceExport => of_evidence!("export"),
        DialectWord::EvidenceFile => of_evidence!("file"),
        DialectWord::EvidenceJudge => of_evidence!("judge"),
        DialectWord::EvidenceKey => of_evidence!("key"),
        DialectWord::EvidenceProve => of_evidence!("prove"),
        DialectWord::EvidencePush => of_evidence!("push"),
        DialectWord::EvidencePurge => of_evidence!("purge"),
        DialectWord::EvidenceQuery => of_evidence!("query"),
        DialectWord::EvidenceRestore => of_evidence!("restore"),
        DialectWord::EvidenceSearch => of_evidence!("search"),
        DialectWord::EvidenceSecrets => of_evidence!("secrets"),
        DialectWord::EvidenceShow => of_evidence!("show"),
        DialectWord::EvidenceSign => of_evidence!("sign"),
        DialectWord::EvidenceSizes => of_evidence!("sizes"),
        DialectWord::EvidenceTimeline => of_evidence!("timeline"),
        DialectWord::EvidenceTimes => of_evidence!("times"),
        DialectWord::EvidenceVerify => VERIFY_SCHEMA,
        DialectWord::EvidenceVerifySignature => of_evidence!("verify-signature"),
        DialectWord::ReviewRequest => {
            include_str!("../../assets/schema/review-request.schema.json")
        }
        DialectWord::ReviewSignature => {
            include_str!("../../assets/schema/review-signature.schema.json")
        }
        DialectWord::ReviewRequestMade => {
            include_str!("../../assets/schema/review-request-made.schema.json")
        }
        DialectWord::Sign => include_str!("../../assets/schema/sign.schema.json"),
        DialectWord::SignedDocument => {
            include_str!("../../assets/schema/signed-document.schema.json")
        }
    };
    out.exact(format!("{}\n", complete(text.trim_end())).as_bytes());
    Exit::Done
}

/// The schema with the records that it refers to, so that it needs no other file.
fn complete(schema: &str) -> Cow<'_, str> {
    const DEFINITIONS: &str = "\n  \"$defs\": {";
    if !schema.contains(REFERENCE) {
        return schema.into();
    }
    let records = RECORDS.trim_end().replace('\n', "\n    ");
    let records = format!("{DEFINITIONS}\n    \"records\": {records}");
    match schema.split_once(DEFINITIONS) {
        Some((before, after)) => format!("{before}{records},{after}"),
        None => {
            let open = schema.strip_suffix('}').unwrap_or(schema).trim_end();
            format!("{open},{records}\n  }}\n}}")
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_schema_gets_the_records_that_it_refers_to() {
        let records: Value = serde_json::from_str(RECORDS).unwrap();
        let refers = "\"$ref\": \"evidence-records.schema.json#/$defs/run\"";
        let none = format!("{{\n  {refers}\n}}");
        let some = format!("{{\n  {refers},\n  \"$defs\": {{\n    \"own\": {{}}\n  }}\n}}");
        for (schema, own) in [(none, Value::Null), (some, json!({}))] {
            let printed: Value = serde_json::from_str(&complete(&schema)).unwrap();
            assert_eq!((&printed["$defs"]["records"], &printed["$defs"]["own"]), (&records, &own));
            assert!(printed["$ref"].is_string());
        }
        assert_eq!(complete("{}"), "{}");
    }
}
