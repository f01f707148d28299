//! Any bytes as a file of another program (SPEC §13): whatever they are, a plan that is made of them is one that the parser
//! takes, and what is refused is refused with a reason at a line of the file.

#![no_main]

use std::sync::LazyLock;

use countersign_fuzz::openers::{Beside, Files, Format, open, open_as};
use countersign_fuzz::plan::{Digest, is_valid, parse};
use libfuzzer_sys::fuzz_target;

/// A workspace in which files have the texts that the dictionary names.
struct Memory;

impl Files for Memory {
    fn workspace(&self) -> &str {
        "/w"
    }

    fn text(&self, path: &str) -> Result<Option<String>, String> {
        Ok(match path {
            "a" => Some("fn a() {\n    x\n}\nfn b() {\n    x\n}\n".to_owned()),
            "b" => Some("ä😀\r\nb\n\nb".to_owned()),
            "e" => Some(String::new()),
            _ if path.starts_with('/') => return Err("outside".to_owned()),
            _ => None,
        })
    }

    fn beside(&self, ending: &str) -> Result<Option<Beside>, String> {
        let beside =
            || Beside { folder: String::new(), name: "plan".to_owned(), digest: Digest::of(b"") };
        Ok((ending == ".plan").then(beside))
    }
}

/// The format that the variable names, for a run that spends all its time on one opener.
static ONLY: LazyLock<Option<Format>> = LazyLock::new(|| {
    let word = std::env::var("COUNTERSIGN_FUZZ_FORMAT").ok()?;
    Some(Format::WORDS.iter().find(|(it, _)| *it == word).expect("the name of a format").1)
});

// The first byte chooses the format, so that each of them gets its share.
fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = data.split_first() else { return };
    let formats = Format::WORDS;
    let by_byte = || formats.get(usize::from(*first) % (formats.len() + 1)).map(|(_, it)| *it);
    let opened = match ONLY.or_else(by_byte) {
        Some(format) => Some(open_as(format, data, &Memory)),
        None => open(data, &Memory),
    };
    let Some(opened) = opened else { return };
    assert_eq!(opened.plan.is_some(), is_valid(&opened.findings), "{:?}", opened.findings);
    let lines = String::from_utf8_lossy(data).split('\n').count();
    for finding in &opened.findings {
        assert!((1..=lines).contains(&finding.line) && finding.column > 0, "{finding:?}");
    }
    let Some(plan) = opened.plan else { return };
    let parsed = parse(&plan);
    assert!(
        is_valid(&parsed.findings),
        "{:?}\n{}",
        parsed.findings,
        String::from_utf8_lossy(&plan)
    );
});
