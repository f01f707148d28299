//! Batches on a real folder.

mod apply;
mod edits;
mod model;
mod patch;

use crate::plan::{Edit, MutateBatch, ToolCall};

fn batch(edits: Vec<Edit>) -> ToolCall {
    ToolCall::MutateBatch(MutateBatch {
        edits,
        expected_hashes: std::collections::BTreeMap::new(),
        dry_run: false,
    })
}

fn write(path: &str, contents: &str) -> Edit {
    Edit::Write { path: path.to_owned(), contents: contents.to_owned() }
}

fn create(path: &str, contents: &str) -> Edit {
    Edit::Create { path: path.to_owned(), contents: contents.to_owned() }
}

fn delete(path: &str) -> Edit {
    Edit::Delete { path: path.to_owned() }
}

fn rename(path: &str, to: &str) -> Edit {
    Edit::Rename { path: path.to_owned(), to: to.to_owned() }
}

fn replace(path: &str, old: &str, new: &str) -> Edit {
    Edit::Replace { path: path.to_owned(), old: old.to_owned(), new: new.to_owned() }
}

fn patch(path: &str, diff: &str) -> Edit {
    Edit::Patch { path: path.to_owned(), diff: diff.to_owned() }
}

fn splice(path: &str, symbol: &str, contents: &str) -> Edit {
    Edit::Splice {
        path: path.to_owned(),
        symbol: symbol.to_owned(),
        contents: contents.to_owned(),
        kind: None,
    }
}
