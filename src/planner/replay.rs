//! `replay:DIR`: returns the plan files of a folder in the order of their names, one for each attempt. For plans that
//! were written beforehand, and for testing the loop.

use std::fs;
use std::path::{Path, PathBuf};

use super::Request;
use super::reply::Failure;
use crate::plan::limits;

/// The content of the file for this attempt, which is not parsed here.
pub(super) fn plan(request: &Request, folder: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |path: &Path, error: std::io::Error| {
        Failure::unavailable(format!("cannot read {}: {error}", path.display()), false)
    };
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let mut plans: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    plans.sort();
    let index = request.attempt.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    let Some(path) = index.and_then(|index| plans.get(index)) else {
        let message = format!(
            "{} holds {} plans (*.json), and this is attempt {}",
            folder.display(),
            plans.len(),
            request.attempt
        );
        return Err(Failure::unavailable(message, false));
    };
    let bytes = fs::metadata(path).map_err(|error| unreadable(path, error))?.len();
    if bytes > limits::PLAN_BYTES as u64 {
        return Err(Failure::no_plan(format!("{} is too large for a plan", path.display())));
    }
    fs::read(path).map_err(|error| unreadable(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    fn request(attempt: u32) -> Request {
        Request { goal: "g".to_owned(), attempt, json: serde_json::Value::Null }
    }

    #[test]
    fn plans_are_replayed_in_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("02.json", "second"), ("01.json", "first"), ("notes.txt", "no plan")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(plan(&request(1), folder.path()).unwrap(), b"first");
        assert_eq!(plan(&request(2), folder.path()).unwrap(), b"second");
        for (attempt, folder) in [(3, folder.path().to_owned()), (1, folder.path().join("none"))] {
            let parsed = parse(&plan(&request(attempt), &folder).unwrap_err().bytes("g"));
            assert!(parsed.is_valid(), "{:?}", parsed.findings);
            let failure = parsed.plan.unwrap().failure.unwrap();
            assert_eq!((failure.code.as_str(), failure.retryable), ("planner_unavailable", false));
        }
    }
}
