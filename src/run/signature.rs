//! Signatures of persons with their SSH keys, as the evidence has them (SPEC §14).

use serde::Serialize;
use uuid::Uuid;

use crate::plan::words::words;

words! {
    /// What a signature is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SignatureKind {
        /// The approval of a plan.
        Authorization = "authorization",
        /// The end of a run.
        RunEnd = "run_end",
        /// The head of the evidence.
        Head = "head",
        /// A plan that a second person was asked to look at.
        Review = "review",
    }
}

impl SignatureKind {
    /// The kind with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    /// The kind, for a person.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::RunEnd => "end of the run",
            Self::Head => "head",
            Self::Review => "review",
        }
    }
}

/// A recorded signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignatureRecord {
    /// The number of the record in the ledger.
    pub seq: i64,
    /// What the signature is about.
    pub kind: SignatureKind,
    /// The authorization, if it is about one.
    pub authorization_id: Option<Uuid>,
    /// The run whose end it is about.
    pub run_id: Option<Uuid>,
    /// The bytes that were signed.
    #[serde(skip)]
    pub document: String,
    /// The signature, as `ssh-keygen -Y sign` wrote it.
    #[serde(skip)]
    pub signature: String,
    /// The fingerprint of the key.
    pub fingerprint: String,
    /// Who signed, as the document says.
    pub principal: String,
    /// When, in Unix milliseconds.
    pub signed_at_ms: i64,
    /// Why the signature is not one of what the evidence has; `None` if it may be. Whether the key has made it, and whose
    /// the key is, only `ssh-keygen` with a list of allowed signers can tell.
    pub difference: Option<String>,
}

impl SignatureRecord {
    /// The signature in one line.
    pub fn sentence(&self) -> String {
        let Self { kind, principal, fingerprint, difference, .. } = self;
        let state = match difference {
            None => "not checked against a list of allowed signers".to_owned(),
            Some(difference) => format!("does not hold: {difference}"),
        };
        format!("the {} is signed by {principal} with {fingerprint}, {state}", kind.label())
    }
}
