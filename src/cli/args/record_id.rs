//! Ids of runs, executions and loops on the command line: whole, or their beginning.

use std::str::FromStr;

use uuid::Uuid;

use crate::cli::refusal::Refusal;
use crate::evidence::EvidenceReader;
use crate::run::RecordKind;

/// The length of the shortest beginning of an id.
const SHORTEST: usize = 8;
/// The length of an id.
const WHOLE: usize = 36;
/// How many of the ids that an ambiguous beginning fits are listed.
const LISTED: usize = 10;

/// The id of a record, or its beginning of at least [`SHORTEST`] characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct RecordId {
    /// In lower case.
    text: String,
}

impl FromStr for RecordId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse::<Uuid>() {
            return Ok(Self { text: id.to_string() });
        }
        let text = text.to_ascii_lowercase();
        let fits = |(index, sign): (usize, char)| match index {
            8 | 13 | 18 | 23 => sign == '-',
            _ => sign.is_ascii_hexdigit(),
        };
        if text.len() < SHORTEST || text.len() >= WHOLE || !text.char_indices().all(fits) {
            return Err(format!("an id is a UUID, or its first {SHORTEST} or more characters"));
        }
        Ok(Self { text })
    }
}

impl RecordId {
    /// The id of the record of one of these kinds. A whole id is not looked up.
    ///
    /// # Errors
    /// When no id or several begin with this, or the evidence cannot be read.
    pub(in crate::cli) fn find(
        &self,
        reader: &mut EvidenceReader,
        kinds: &[RecordKind],
    ) -> Result<Uuid, Refusal> {
        if let Ok(id) = self.text.parse() {
            return Ok(id);
        }
        let found = reader.ids_beginning_with(&self.text, kinds, LISTED + 1)?;
        match found.as_slice() {
            [(_, id)] => Ok(*id),
            [] => {
                let kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
                let message = format!(
                    "the evidence has no {} whose id begins with {}",
                    kinds.join(", ").as_str(),
                    self.text
                );
                Err(Refusal::usage(message, "Look the id up with `evidence search`."))
            }
            several => {
                let listed = several.iter().take(LISTED);
                let mut ids: Vec<_> =
                    listed.map(|(kind, id)| format!("{} {id}", kind.as_str())).collect();
                if several.len() > LISTED {
                    ids.push("and others".to_owned());
                }
                let message = format!("several ids begin with {}: {}", self.text, ids.join(", "));
                Err(Refusal::usage(message, "Give more characters of the id."))
            }
        }
    }

    /// The id, if it is a whole one.
    pub(in crate::cli) fn whole(&self) -> Option<Uuid> {
        self.text.parse().ok()
    }

    /// The id of a run.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub(in crate::cli) fn run(&self, reader: &mut EvidenceReader) -> Result<Uuid, Refusal> {
        self.find(reader, &[RecordKind::Run])
    }

    /// The id of a bounded loop.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub(in crate::cli) fn bounded_loop(
        &self,
        reader: &mut EvidenceReader,
    ) -> Result<Uuid, Refusal> {
        self.find(reader, &[RecordKind::Loop])
    }

    /// The id of an execution.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub(in crate::cli) fn execution(&self, reader: &mut EvidenceReader) -> Result<Uuid, Refusal> {
        self.find(reader, &[RecordKind::Execution])
    }

    /// The id of an execution, a run or a loop.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub(in crate::cli) fn any(&self, reader: &mut EvidenceReader) -> Result<Uuid, Refusal> {
        self.find(reader, &[RecordKind::Execution, RecordKind::Run, RecordKind::Loop])
    }
}

/// The id that an option gave, if it was given.
pub(in crate::cli) fn given<R>(
    id: Option<&RecordId>,
    find: impl FnOnce(&RecordId) -> Result<R, Refusal>,
) -> Result<Option<R>, Refusal> {
    id.map(find).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_or_its_beginning_is_accepted() {
        let whole = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
        for text in [whole, "3F2504E0", "3f2504e0-4f8", "3f2504e0-", "3f2504e0-4f89-41d3-9a0c-0"] {
            let id: RecordId = text.parse().unwrap();
            assert!(whole.starts_with(&id.text), "{text}");
        }
        for text in
            ["", "3f2504e", "3f2504e04", "3f2504eg", "3f2504e0_4f", "wombat-wombat", "é3f2504e0"]
        {
            assert!(text.parse::<RecordId>().is_err(), "{text}");
        }
    }
}
