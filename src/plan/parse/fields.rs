//! Reading the members of one object: each known field once, everything else is a finding.

use std::ops::RangeInclusive;

use super::findings::Findings;
use super::json::Json;
use super::places::{Places, escape};
use crate::plan::{Code, Finding, limits};

/// The members of one object, taken out one by one.
pub(super) struct Fields {
    pointer: String,
    members: Vec<(String, Json)>,
    known: Vec<&'static str>,
}

impl Fields {
    /// The members of an object, or a finding that it is none.
    pub(super) fn of(
        json: Json,
        pointer: &str,
        what: &str,
        findings: &mut Findings,
    ) -> Option<Self> {
        match json {
            Json::Object(members) => {
                Some(Self { pointer: pointer.to_owned(), members, known: Vec::new() })
            }
            other => {
                findings.push(Finding::error(
                    Code::BadValue,
                    pointer,
                    format!("{what} must be an object, not {}", other.kind()),
                ));
                None
            }
        }
    }

    /// Whether this is the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.pointer.is_empty()
    }

    /// Whether there is such a member.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| key == name)
    }

    /// Whether there is such a member, and it is a text.
    pub(super) fn is_text(&self, name: &str) -> bool {
        self.is(name, |json| matches!(json, Json::String(_)))
    }

    /// Whether there is such a member, and it is a number.
    pub(super) fn is_number(&self, name: &str) -> bool {
        self.is(name, |json| matches!(json, Json::Number(_)))
    }

    /// Whether there is such a member, and it is an array.
    pub(super) fn is_array(&self, name: &str) -> bool {
        self.is(name, |json| matches!(json, Json::Array(_)))
    }

    fn is(&self, name: &str, fits: impl Fn(&Json) -> bool) -> bool {
        self.members.iter().any(|(key, json)| key == name && fits(json))
    }

    /// The pointer to the object itself.
    pub(super) fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The pointer to one member.
    pub(super) fn pointer_to(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, escape(name))
    }

    /// Takes a member out; of a duplicate the last one counts, and the plan is refused anyway.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Json> {
        self.known.push(name);
        let index = self.members.iter().rposition(|(key, _)| key == name)?;
        let (_, value) = self.members.remove(index);
        self.members.retain(|(key, _)| key != name);
        Some(value)
    }

    /// Takes members out about which nothing more is to be said.
    pub(super) fn take_all(&mut self, names: &[&'static str]) {
        names.iter().for_each(|name| drop(self.take(name)));
    }

    /// An optional text.
    pub(super) fn text(&mut self, name: &'static str, findings: &mut Findings) -> Option<String> {
        match self.take(name)? {
            Json::String(text) if text.len() > limits::ARGUMENT_BYTES => {
                findings.push(Finding::error(
                    Code::Limit,
                    self.pointer_to(name),
                    format!(
                        "{name:?} is {} bytes long; the limit is {}",
                        text.len(),
                        limits::ARGUMENT_BYTES
                    ),
                ));
                None
            }
            Json::String(text) => Some(text),
            other => {
                self.wrong_kind(name, "a text", &other, findings);
                None
            }
        }
    }

    /// An optional id: a text that is not blank and not longer than an id may be.
    pub(super) fn id(&mut self, name: &'static str, findings: &mut Findings) -> Option<String> {
        let text = self.text(name, findings)?;
        if text.trim().is_empty() {
            findings.push(Finding::error(
                Code::Missing,
                self.pointer_to(name),
                format!("{name:?} is empty; give it a value, or leave it out to have one made"),
            ));
            return None;
        }
        if text.len() > limits::ID_BYTES {
            findings.push(Finding::error(
                Code::Limit,
                self.pointer_to(name),
                format!(
                    "{name:?} is {} bytes long; the limit for ids is {}",
                    text.len(),
                    limits::ID_BYTES
                ),
            ));
        }
        Some(text)
    }

    /// An optional boolean.
    pub(super) fn flag(&mut self, name: &'static str, findings: &mut Findings) -> Option<bool> {
        match self.take(name)? {
            Json::Bool(flag) => Some(flag),
            other => {
                self.wrong_kind(name, "true or false", &other, findings);
                None
            }
        }
    }

    /// An optional array.
    pub(super) fn array(
        &mut self,
        name: &'static str,
        findings: &mut Findings,
    ) -> Option<Vec<Json>> {
        match self.take(name)? {
            Json::Array(items) => Some(items),
            other => {
                self.wrong_kind(name, "an array", &other, findings);
                None
            }
        }
    }

    /// A required text that is not blank.
    pub(super) fn filled(&mut self, name: &'static str, findings: &mut Findings) -> Option<String> {
        if !self.has(name) {
            self.missing(name, "write it as a text", findings);
        }
        let text = self.text(name, findings)?;
        if text.trim().is_empty() {
            findings.push(Finding::error(
                Code::Missing,
                self.pointer_to(name),
                format!("{name:?} is empty"),
            ));
        }
        Some(text)
    }

    /// A required text that is not empty; it may be blank.
    pub(super) fn filled_exactly(&mut self, name: &'static str, findings: &mut Findings) -> String {
        if !self.has(name) {
            self.missing(name, "write it as a text", findings);
        }
        let text = self.text(name, findings);
        if text.as_deref() == Some("") {
            let message = format!("{name:?} is empty");
            findings.push(Finding::error(Code::Missing, self.pointer_to(name), message));
        }
        text.unwrap_or_default()
    }

    /// An optional text that may also be written as a number; of that, the text in the file.
    pub(super) fn text_or_number(
        &mut self,
        name: &'static str,
        places: &Places<'_>,
        findings: &mut Findings,
    ) -> Option<String> {
        if !self.is_number(name) {
            return self.text(name, findings);
        }
        let Json::Number(number) = self.take(name)? else { return None };
        Some(places.number(&self.pointer_to(name)).unwrap_or_else(|| number.to_string()))
    }

    /// An optional whole number within a range. Floating point notation may be whole, too.
    pub(super) fn whole_number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
        findings: &mut Findings,
    ) -> Option<u64> {
        let json = self.take(name)?;
        let whole = match &json {
            Json::Number(number) => number.as_u64().or_else(|| {
                let float = number.as_f64()?;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is whole and not negative; above the range it stays above"
                )]
                (float.fract() == 0.0 && float >= 0.0).then_some(float as u64)
            }),
            _ => None,
        };
        let fits = whole.filter(|number| range.contains(number));
        if fits.is_none() {
            let words = match (*range.start(), *range.end()) {
                (0, u64::MAX) => "a whole number".to_owned(),
                (least, most) => format!("a whole number from {least} to {most}"),
            };
            let got = match &json {
                Json::Number(number) => number.to_string(),
                other => other.kind().to_owned(),
            };
            findings.push(Finding::error(
                Code::BadValue,
                self.pointer_to(name),
                format!("{name:?} must be {words}, not {got}"),
            ));
        }
        fits
    }

    /// An optional text that is one of these words.
    pub(super) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
        findings: &mut Findings,
    ) -> Option<T> {
        let text = self.text(name, findings)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            let advice = suggest(&text, known.clone())
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            findings.push(
                Finding::error(
                    Code::BadValue,
                    self.pointer_to(name),
                    format!("unknown {name} {text:?}{advice}"),
                )
                .allowing(known),
            );
        }
        found
    }

    /// The texts of an optional array, each with its index.
    pub(super) fn texts(
        &mut self,
        name: &'static str,
        findings: &mut Findings,
    ) -> Vec<(usize, String)> {
        let pointer = self.pointer_to(name);
        let items = self.array(name, findings).unwrap_or_default();
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let (code, message) = match item {
                Json::String(text) if text.len() <= limits::ARGUMENT_BYTES => {
                    texts.push((index, text));
                    continue;
                }
                Json::String(text) => (
                    Code::Limit,
                    format!(
                        "this is {} bytes long; the limit is {}",
                        text.len(),
                        limits::ARGUMENT_BYTES
                    ),
                ),
                other => (
                    Code::BadValue,
                    format!("each of {name:?} must be a text, not {}", other.kind()),
                ),
            };
            findings.error(|| Finding::error(code, format!("{pointer}/{index}"), message));
        }
        texts
    }

    /// Says that a required member is missing.
    pub(super) fn missing(&self, name: &str, advice: &str, findings: &mut Findings) {
        findings.push(Finding::error(
            Code::Missing,
            &self.pointer,
            format!("{name:?} is missing; {advice}"),
        ));
    }

    /// A finding for each member that nobody took: a misspelt field must never be ignored.
    pub(super) fn finish(self, findings: &mut Findings) {
        for (key, _) in &self.members {
            findings.error(|| {
                let advice = suggest(key, self.known.iter().copied())
                    .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                Finding::error(
                    Code::UnknownField,
                    self.pointer_to(key),
                    format!("unknown field {key:?}{advice}"),
                )
                .allowing(self.known.iter().copied())
            });
        }
    }

    fn wrong_kind(&self, name: &str, expected: &str, got: &Json, findings: &mut Findings) {
        findings.push(Finding::error(
            Code::BadValue,
            self.pointer_to(name),
            format!("{name:?} must be {expected}, not {}", got.kind()),
        ));
    }
}

/// The candidate that someone who wrote `word` most likely meant.
pub(super) fn suggest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// Below this likeness a suggestion would only confuse.
    const ENOUGH: f64 = 0.8;
    /// Nobody meant one of our words by more than this, in bytes; comparing it would take long.
    const LONGEST: usize = 200;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
