//! Reads the members of one object. Each known field is taken once; the remaining members are reported as unknown.

use std::ops::RangeInclusive;

use super::context::ParseContext;
use super::json::Json;
use super::positions::escape;
use crate::plan::{Code, Finding, limits};

/// The members of one object that are not taken yet.
pub(super) struct Fields<'r> {
    /// The state of parsing the plan.
    pub(super) context: &'r ParseContext<'r>,
    pointer: String,
    members: Vec<(String, Json)>,
    known: Vec<&'static str>,
}

impl<'r> Fields<'r> {
    /// The members of an object. Any other value is reported as `what`.
    pub(super) fn of(
        json: Json,
        pointer: &str,
        what: &str,
        context: &'r ParseContext<'r>,
    ) -> Option<Self> {
        match json {
            Json::Object(members) => {
                Some(Self { context, pointer: pointer.to_owned(), members, known: Vec::new() })
            }
            other => {
                let message = format!("{what} must be an object, not {}", other.kind());
                context.error(Code::BadValue, pointer, message);
                None
            }
        }
    }

    /// Whether this is the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.pointer.is_empty()
    }

    /// Whether the object has this member.
    pub(super) fn has(&self, name: &str) -> bool {
        self.has_value(name, |_| true)
    }

    /// Whether the object has this member, with a value that `fits` accepts.
    pub(super) fn has_value(&self, name: &str, fits: impl Fn(&Json) -> bool) -> bool {
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

    /// The pointer to a member, or to the object if there is no such member.
    pub(super) fn nearest(&self, name: &str) -> String {
        if self.has(name) { self.pointer_to(name) } else { self.pointer.clone() }
    }

    /// Adds an error about one member.
    pub(super) fn error(&self, code: Code, name: &str, message: impl Into<String>) {
        self.context.error(code, self.pointer_to(name), message);
    }

    /// A member that is not taken yet; of duplicates, the last one.
    pub(super) fn value_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.members.iter_mut().rfind(|(key, _)| key == name).map(|(_, json)| json)
    }

    /// Takes a member out. Of duplicates, which are reported in any case, the last one is returned.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Json> {
        self.known.push(name);
        let index = self.members.iter().rposition(|(key, _)| key == name)?;
        let (_, value) = self.members.remove(index);
        self.members.retain(|(key, _)| key != name);
        Some(value)
    }

    /// Takes members out without checking them.
    pub(super) fn take_all(&mut self, names: &[&'static str]) {
        names.iter().for_each(|name| drop(self.take(name)));
    }

    /// Takes a member out and converts it. A value of another kind is reported.
    fn take_as<T>(
        &mut self,
        name: &'static str,
        code: Code,
        expected: &str,
        read: impl FnOnce(Json) -> Result<T, Json>,
    ) -> Option<T> {
        read(self.take(name)?)
            .map_err(|got| {
                let message = format!("{name:?} must be {expected}, not {}", got.kind());
                self.error(code, name, message);
            })
            .ok()
    }

    /// The members of an optional object.
    pub(super) fn object(&mut self, name: &'static str) -> Option<Self> {
        let json = self.take(name)?;
        Self::of(json, &self.pointer_to(name), &format!("{name:?}"), self.context)
    }

    /// The members of an optional object whose members may have any name.
    pub(super) fn members(
        &mut self,
        name: &'static str,
        code: Code,
    ) -> Option<Vec<(String, Json)>> {
        self.take_as(name, code, "an object", |json| match json {
            Json::Object(members) => Ok(members),
            other => Err(other),
        })
    }

    /// An optional text. One over the size limit of an argument is reported and left out.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let text = self.take_as(name, Code::BadValue, "a string", |json| match json {
            Json::String(text) => Ok(text),
            other => Err(other),
        })?;
        if text.len() > limits::ARGUMENT_BYTES {
            let limit = limits::ARGUMENT_BYTES;
            let message = format!("{name:?} is {} bytes long; the limit is {limit}", text.len());
            self.error(Code::Limit, name, message);
            return None;
        }
        Some(text)
    }

    /// An optional text; `None` if it is blank.
    pub(super) fn text_unless_blank(&mut self, name: &'static str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// An optional id. A blank id is reported and left out; one over the length limit is reported and returned.
    pub(super) fn id(&mut self, name: &'static str) -> Option<String> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            let advice = "give it a value, or leave it out to have one made";
            self.error(Code::Missing, name, format!("{name:?} is empty; {advice}"));
            return None;
        }
        if text.len() > limits::ID_BYTES {
            let (length, limit) = (text.len(), limits::ID_BYTES);
            let message = format!("{name:?} is {length} bytes long; the limit for ids is {limit}");
            self.error(Code::Limit, name, message);
        }
        Some(text)
    }

    /// A boolean; false if it is left out.
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        let flag = self.take_as(name, Code::BadValue, "true or false", |json| match json {
            Json::Bool(flag) => Ok(flag),
            other => Err(other),
        });
        flag.unwrap_or(false)
    }

    /// An optional array.
    pub(super) fn array(&mut self, name: &'static str) -> Option<Vec<Json>> {
        self.take_as(name, Code::BadValue, "an array", |json| match json {
            Json::Array(items) => Ok(items),
            other => Err(other),
        })
    }

    /// A required text. A blank one is reported and returned.
    pub(super) fn non_blank(&mut self, name: &'static str) -> Option<String> {
        let text = self.required_text(name)?;
        if text.trim().is_empty() {
            self.error(Code::Missing, name, format!("{name:?} is empty"));
        }
        Some(text)
    }

    /// A required text; empty if it is missing. An empty one is reported, a blank one is accepted.
    pub(super) fn non_empty(&mut self, name: &'static str) -> String {
        let text = self.required_text(name);
        if text.as_deref() == Some("") {
            self.error(Code::Missing, name, format!("{name:?} is empty"));
        }
        text.unwrap_or_default()
    }

    fn required_text(&mut self, name: &'static str) -> Option<String> {
        self.require(name, "write it as a string");
        self.text(name)
    }

    /// An optional text that may also be a number, which keeps the spelling of the file.
    pub(super) fn text_or_number(&mut self, name: &'static str) -> Option<String> {
        if !self.has_value(name, |json| matches!(json, Json::Number(_))) {
            return self.text(name);
        }
        let Json::Number(number) = self.take(name)? else { return None };
        Some(self.context.number(&number, &self.pointer_to(name)))
    }

    /// An optional whole number within a range. Floating point notation is accepted if the value is whole.
    pub(super) fn whole_number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
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
                (least, limit) => format!("a whole number from {least} to {limit}"),
            };
            let got = match &json {
                Json::Number(number) => number.to_string(),
                other => other.kind().to_owned(),
            };
            self.error(Code::BadValue, name, format!("{name:?} must be {words}, not {got}"));
        }
        fits
    }

    /// An optional text that must be one of these words.
    pub(super) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(name)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            let message = format!("unknown {name} {text:?}{}", did_you_mean(&text, known.clone()));
            let finding = Finding::error(Code::BadValue, self.pointer_to(name), message);
            self.context.push(finding.allowing(known));
        }
        found
    }

    /// The texts of an optional array, each with its index.
    pub(super) fn texts(&mut self, name: &'static str) -> Vec<(usize, String)> {
        let pointer = self.pointer_to(name);
        let mut texts = Vec::new();
        for (index, item) in self.array(name).unwrap_or_default().into_iter().enumerate() {
            let (code, message) = match item {
                Json::String(text) if text.len() <= limits::ARGUMENT_BYTES => {
                    texts.push((index, text));
                    continue;
                }
                Json::String(text) => {
                    let (length, limit) = (text.len(), limits::ARGUMENT_BYTES);
                    (Code::Limit, format!("this is {length} bytes long; the limit is {limit}"))
                }
                other => {
                    let got = other.kind();
                    (Code::BadValue, format!("each of {name:?} must be a string, not {got}"))
                }
            };
            self.context.error_with(|| Finding::error(code, format!("{pointer}/{index}"), message));
        }
        texts
    }

    /// Reports a required member that is missing.
    pub(super) fn require(&self, name: &str, advice: &str) {
        if !self.has(name) {
            let message = format!("{name:?} is missing; {advice}");
            self.context.error(Code::Missing, &self.pointer, message);
        }
    }

    /// Reports every member that was not taken, so that a misspelt field is never ignored.
    pub(super) fn finish(self) {
        let known = || self.known.iter().copied();
        for (key, _) in &self.members {
            self.context.error_with(|| {
                let message = format!("unknown field {key:?}{}", did_you_mean(key, known()));
                Finding::error(Code::UnknownField, self.pointer_to(key), message).allowing(known())
            });
        }
    }
}

/// The end of a message that suggests the candidate limit similar to `word`; empty if none is similar enough.
pub(super) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    /// Similarity below which no suggestion is made.
    const MIN_SIMILARITY: f64 = 0.8;
    /// Longer words get no suggestion, because comparing them takes long.
    const MAX_BYTES: usize = 200;
    if word.len() > MAX_BYTES {
        return String::new();
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, candidate)| format!("; did you mean {candidate:?}?"))
}
