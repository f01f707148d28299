//! The signatures of other persons under an approval (SPEC §14). Pure.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Binding, Change, SshSignature};
use crate::plan::{Digest, canonical_json};

/// Whose signatures count for an approval, and how many it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewing {
    /// The number of persons for every plan, with the one who authorizes; 1 if a plan alone can ask for more.
    pub required: usize,
    /// Who may sign with which key, as `ssh-keygen(1)` describes it. Absolute.
    pub allowed_signers: PathBuf,
    /// Keys that do not count any more. Absolute.
    pub revoked_keys: Option<PathBuf>,
    /// The folder in which the signatures of other persons come back. Absolute.
    pub folder: Option<PathBuf>,
}

impl Reviewing {
    /// How many persons must have signed, and who may, for the settings.
    pub(super) fn sentence(&self) -> String {
        let Self { required, allowed_signers, revoked_keys, .. } = self;
        let revoked =
            revoked_keys.as_ref().map(|it| format!(", without the keys in {}", it.display()));
        let persons = format!("{}{}", allowed_signers.display(), revoked.unwrap_or_default());
        match required {
            0 | 1 => format!(
                "only a plan asks for the signatures of others (required = 1), of {persons}"
            ),
            _ => format!(
                "before a run, {required} persons must have signed (required = {required}), of {persons}"
            ),
        }
    }
}

/// The format of signatures of requests.
const SIGNATURE: &str = "countersign/review-signature/v1";
/// The format of the documents that are signed.
const DOCUMENT: &str = "countersign/signed/v1";

/// What a second person has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// The plan may run.
    Sign,
    /// The plan may not run.
    Refuse,
}

/// What a second person signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewDocument {
    format: String,
    kind: String,
    /// The evidence in which the authorization is recorded.
    pub evidence: String,
    /// Who signs.
    pub principal: String,
    /// The request that is answered.
    pub request_id: Uuid,
    /// The digest of the plan.
    pub plan_digest: Digest,
    /// Everything else that the approval covers.
    pub binding: Binding,
    /// What was decided.
    pub decision: Decided,
    /// The words of a refusal.
    pub reason: String,
    /// When, in Unix milliseconds.
    pub timestamp: i64,
}

impl ReviewDocument {
    /// The answer of this person to a request for evidence, about a plan and what its approval would cover.
    pub fn new(
        (request_id, evidence): (Uuid, String),
        (plan_digest, binding): (Digest, Binding),
        principal: String,
        (decision, reason): (Decided, String),
        now_ms: i64,
    ) -> Self {
        Self {
            format: DOCUMENT.to_owned(),
            kind: "review".to_owned(),
            evidence,
            principal,
            request_id,
            plan_digest,
            binding,
            decision,
            reason,
            timestamp: now_ms,
        }
    }

    /// The bytes that are signed.
    pub fn text(&self) -> String {
        canonical_json(&serde_json::to_value(self).unwrap_or_default())
    }

    /// What differs from an approval of this plan with this binding; empty if it covers the same.
    pub fn changes(&self, plan: &Digest, binding: &Binding) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.plan_digest != *plan {
            changes.push(Change {
                what: "plan bytes".to_owned(),
                approved: self.plan_digest.to_string(),
                now: plan.to_string(),
            });
        }
        changes.extend(self.binding.changes(binding));
        // What is granted and chosen is shown to the person, and the comparison of bindings leaves it to the walls.
        let (theirs, ours) = (&self.binding, binding);
        if changes.is_empty() && (&theirs.grants, &theirs.choices) != (&ours.grants, &ours.choices)
        {
            changes.push(Change {
                what: "what is granted and chosen".to_owned(),
                approved: format!("{}; {}", theirs.grants, theirs.choices),
                now: format!("{}; {}", ours.grants, ours.choices),
            });
        }
        changes
    }
}

/// The signature of a second person, as it comes back in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSignature {
    /// The name of the file, for messages.
    pub name: String,
    /// The bytes that were signed.
    pub text: String,
    /// What they say.
    pub document: ReviewDocument,
    /// The signature.
    pub signature: SshSignature,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureFile {
    format: String,
    document: String,
    signature: String,
}

impl ReviewSignature {
    /// The text of the file with a signature of this document.
    pub fn file(document: &str, signature: &SshSignature) -> String {
        let file = SignatureFile {
            format: SIGNATURE.to_owned(),
            document: document.to_owned(),
            signature: signature.armor.clone(),
        };
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Whether a text could be the file of a signature, judged by its beginning.
    pub fn is_named_in(text: &[u8]) -> bool {
        let begin = text.get(..text.len().min(256)).unwrap_or_default();
        String::from_utf8_lossy(begin).contains(&format!("\"{SIGNATURE}\""))
    }

    /// Reads the text of a file with a signature. Whether the signature is genuine is not checked.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let SignatureFile { format, document: text, signature } = parse(text)?;
        if format != SIGNATURE {
            return Err(format!("its format is {format:?} and not {SIGNATURE:?}"));
        }
        let document: ReviewDocument = parse(&text)?;
        if document.format != DOCUMENT || document.kind != "review" || document.text() != text {
            return Err("what was signed is no document of this program about a review".to_owned());
        }
        let signature = SshSignature::parse(&signature)
            .ok_or_else(|| "it has no signature of ssh-keygen".to_owned())?;
        Ok(Self { name: name.to_owned(), text, document, signature })
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
