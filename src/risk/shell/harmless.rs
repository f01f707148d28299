//! Code in a command line that is known to do nothing but print or replace text.

use regex::Regex;
use serde::Deserialize;

/// Programs and the code that is harmless for them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    /// A program, which may end in `*`, and a pattern for the whole of its code.
    harmless: Vec<(String, String)>,
    #[serde(skip)]
    compiled: Vec<(String, Regex)>,
}

impl Code {
    pub(super) fn compile(&mut self) -> Result<(), String> {
        self.compiled = self
            .harmless
            .iter()
            .map(|(program, text)| {
                let regex = Regex::new(text).map_err(|error| format!("{text}: {error}"))?;
                Ok((program.clone(), regex))
            })
            .collect::<Result<_, String>>()?;
        Ok(())
    }

    /// Whether a program may be given this code without a question.
    pub(super) fn harmless(&self, program: &str, code: &str) -> bool {
        self.compiled
            .iter()
            .any(|(name, regex)| super::table::wild(name, program) && regex.is_match(code.trim()))
    }
}
