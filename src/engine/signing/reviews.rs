//! Whether the signatures of other persons suffice for an approval. Each that was given must count: one that does not may be
//! an attempt, or a misunderstanding, and the person should know.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::signer::{NotRecorded, Signer};
use crate::authorization::{
    Binding, Decided, Persons, PlanAuthorization, ReviewSignature, Reviewing,
};
use crate::evidence::{EvidenceStore, SignedDocument};
use crate::run::SignatureKind;
use crate::signing::{AllowedSigners, SignatureState, SshKeygen, read_allowed_signers};

impl Signer<'_> {
    /// The signatures that were given, if all of them count and they are enough.
    ///
    /// # Errors
    /// The first reason why not.
    pub(super) fn check_reviews(
        &self,
        store: &EvidenceStore,
        (reviewing, persons): (&Reviewing, usize),
        authorization: &PlanAuthorization,
    ) -> Result<Vec<SignedDocument>, NotRecorded> {
        if let Some(why) = why_unprotected(reviewing, &authorization.binding) {
            return Err(NotRecorded::NotReviewed(why));
        }
        let mut earlier = Vec::new();
        for review in self.reviews {
            // First who says it: words that nobody has signed are nobody's.
            let why = self.why_not(store, reviewing, review)?;
            let why = why.or_else(|| Self::why_void(review, authorization));
            if let Some(why) = why.map_or_else(|| self.why_same(reviewing, review, &earlier), Some)
            {
                return Err(NotRecorded::NotReviewed(format!("{}: {why}", review.name)));
            }
            earlier.push(review);
        }
        let (needed, given) = (persons.saturating_sub(1), self.reviews.len());
        if given < needed {
            return Err(NotRecorded::NotReviewed(format!(
                "it needs the signatures of {persons} persons, of whom you are one, and {given} of the {needed} others were \
                 given"
            )));
        }
        let signed = self.reviews.iter().map(|review| SignedDocument {
            kind: SignatureKind::Review,
            document: review.text.clone(),
            signature: review.signature.clone(),
            principal: review.document.principal.clone(),
            timestamp_ms: review.document.timestamp,
            request_id: Some(review.document.request_id),
        });
        Ok(signed.collect())
    }

    /// Why a signature is not about this approval; `None` if it is.
    pub fn why_void(review: &ReviewSignature, authorization: &PlanAuthorization) -> Option<String> {
        let document = &review.document;
        if document.decision == Decided::Refuse {
            return Some(format!("{} refuses the plan: {}", document.principal, document.reason));
        }
        let changes = document.changes(&authorization.plan_digest, &authorization.binding);
        let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
        (!changes.is_empty()).then(|| format!("it is void: {}", changes.join("; ")))
    }

    /// Why a signature counts for no approval in this evidence, whatever it covers; `None` if it counts for that.
    ///
    /// # Errors
    /// That cannot be found out.
    pub fn why_not(
        &self,
        store: &EvidenceStore,
        reviewing: &Reviewing,
        review: &ReviewSignature,
    ) -> Result<Option<String>, NotRecorded> {
        let document = &review.document;
        if document.evidence != store.origin() {
            return Ok(Some("it was given for other evidence".to_owned()));
        }
        if let Some(used) = store.request_used_by(document.request_id)? {
            return Ok(Some(format!("its request was used by {used}")));
        }
        let signed = (review.text.as_bytes(), review.signature.armor.as_str());
        self.why_not_valid(reviewing, signed, &document.principal)
    }

    /// Why a signature does not count now; `None` if it does.
    fn why_not_valid(
        &self,
        reviewing: &Reviewing,
        signed: (&[u8], &str),
        principal: &str,
    ) -> Result<Option<String>, NotRecorded> {
        let keygen = SshKeygen::of_system(self.workspace)?;
        let allowed = AllowedSigners {
            file: reviewing.allowed_signers.clone(),
            revoked: reviewing.revoked_keys.clone(),
        };
        // The time of the signer could be any: a key that has expired since does not count for what runs now.
        let verdict = keygen.verify(&allowed, signed, principal, self.clock.now_ms(), self.stop)?;
        let word = verdict.state.as_str().replace('_', " ");
        let why = verdict.why.unwrap_or_default();
        Ok((verdict.state != SignatureState::Valid).then(|| format!("{word}: {why}")))
    }

    /// Why a signature is no other person's than these, or than the one who authorizes; `None` if it is.
    pub fn why_same(
        &self,
        reviewing: &Reviewing,
        review: &ReviewSignature,
        earlier: &[&ReviewSignature],
    ) -> Option<String> {
        let persons = match persons(reviewing) {
            Ok(persons) => persons,
            Err(why) => return Some(why),
        };
        let who = &review.document.principal;
        let person = match person_of(&persons, review) {
            Ok(person) => person,
            Err(why) => return Some(why),
        };
        let same = earlier.iter().find(|it| person_of(&persons, it) == Ok(person));
        if let Some(same) = same {
            return Some(format!("{who} is the person of {} again", same.name));
        }
        let own = self.signing.and_then(|signing| persons.named(&signing.principal));
        (own == Some(person)).then(|| format!("{who} authorizes the plan, and counts once"))
    }

    /// Whether the person who authorizes is in the list, and is not one of the others under another name.
    ///
    /// # Errors
    /// The reason why not.
    pub(super) fn check_own(
        &self,
        reviewing: &Reviewing,
        own: &SignedDocument,
    ) -> Result<(), NotRecorded> {
        let refused = |why: String| Err(NotRecorded::NotReviewed(why));
        let signed = (own.document.as_bytes(), own.signature.armor.as_str());
        if let Some(why) = self.why_not_valid(reviewing, signed, &own.principal)? {
            return refused(format!("your own signature: {why}"));
        }
        let persons = persons(reviewing).map_err(NotRecorded::NotReviewed)?;
        let person = match persons.of(&own.principal, &own.signature.fingerprint) {
            Ok(person) => person,
            Err(why) => return refused(format!("your own signature: {why}")),
        };
        match self.reviews.iter().find(|it| person_of(&persons, it) == Ok(person)) {
            None => Ok(()),
            Some(same) => refused(format!(
                "{}: {} authorizes the plan, and counts once",
                same.name, same.document.principal
            )),
        }
    }
}

/// Who is who in the list of allowed signers.
fn persons(reviewing: &Reviewing) -> Result<Persons, String> {
    let list = read_allowed_signers(&reviewing.allowed_signers);
    Persons::read(&list.map_err(|error| error.to_string())?)
}

/// Why the plan itself, or any user, could add persons to a list or take revoked keys out; `None` if they could not.
fn why_unprotected(reviewing: &Reviewing, binding: &Binding) -> Option<String> {
    let lists = std::iter::once(&reviewing.allowed_signers).chain(&reviewing.revoked_keys);
    let granted = binding.walls.iter().flatten().flatten().flat_map(|walls| &walls.write);
    let writable: Vec<&str> =
        std::iter::once(&binding.workspace).chain(granted).map(String::as_str).collect();
    let others = 0o002;
    let is_shared = |path: &Path| {
        path.metadata().is_ok_and(|it| it.mode() & others != 0 && it.mode() & 0o1000 == 0)
    };
    for list in lists {
        let shown = list.display();
        for place in ways_to(list) {
            let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
            let is_in = |folder: &&&str| {
                place.starts_with(folder)
                    || parent.as_ref().is_some_and(|it| it.starts_with(folder))
            };
            if let Some(folder) = writable.iter().find(is_in) {
                return Some(format!("{shown} is in {folder}, which the plan can write"));
            }
        }
        let real = list.canonicalize().unwrap_or_else(|_| list.clone());
        if real.ancestors().any(is_shared) {
            return Some(format!("every user of this computer can write {shown}"));
        }
        if real.metadata().is_ok_and(|it| it.nlink() > 1) {
            return Some(format!("{shown} has another name, by which it could be written"));
        }
    }
    None
}

/// The path of a file, and each that it becomes when a link in it is followed.
fn ways_to(file: &Path) -> Vec<PathBuf> {
    const LINKS: usize = 40;
    let mut ways = vec![file.to_owned()];
    while ways.len() <= LINKS {
        let Some(last) = ways.last() else { break };
        let link = last
            .ancestors()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .find_map(|prefix| Some((prefix, std::fs::read_link(prefix).ok()?)));
        let Some((prefix, target)) = link else { break };
        let rest = last.strip_prefix(prefix).unwrap_or(Path::new(""));
        let followed = prefix.parent().unwrap_or(prefix).join(target);
        let next = if rest.as_os_str().is_empty() { followed } else { followed.join(rest) };
        ways.push(next);
    }
    ways
}

/// Which person of the list of allowed signers gives this signature, as a number.
///
/// # Errors
/// The list does not say.
pub fn person(reviewing: &Reviewing, review: &ReviewSignature) -> Result<usize, String> {
    person_of(&persons(reviewing)?, review)
}

fn person_of(persons: &Persons, review: &ReviewSignature) -> Result<usize, String> {
    persons.of(&review.document.principal, &review.signature.fingerprint)
}
