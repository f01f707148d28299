//! A stream is redacted like the whole text, wherever it is cut.

use super::*;
use crate::evidence::EvidenceStore;

/// The text as a stream whose chunks are taken after each `size` bytes.
fn in_chunks(vault: &Vault, text: &str, size: usize) -> String {
    let (mut chunks, known) = (Chunks::default(), KnownSecrets::default());
    let (mut redacted, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        chunks.push(piece);
        redacted += &chunks.take(&known, after.is_empty()).redacted(vault);
        rest = after;
    }
    redacted
}

#[test]
fn values_of_several_lines_are_not_split() {
    let folder = tempfile::tempdir().unwrap();
    let store = EvidenceStore::open(folder.path(), folder.path().join("keys")).unwrap();
    let known = KnownSecrets::default();
    let block = |lines: usize| "    h3ron and more of it\n".repeat(lines);
    let values = [
        format!("db:\n  password: |\n{}  user: ada\n", block(3)),
        format!("db:\n  password: |\n{}  user: ada\n", block(5_000)),
        format!("password: \"h3ron\n{}  x\"\nuser: ada\n", block(2_000)),
        format!("password = \"\"\"\nh3ron\n{}\"\"\"\nuser = 'ada'\n", block(2_000)),
        format!("PASSWORD=$(cat <<EOF\nh3ron\n{}EOF\n)\n", block(100)),
        format!("db:\n  \"password\": |\n{}  user: ada\n", block(5_000)),
    ];
    let filler = |lines: usize| "      - name: grüs, of the marsh\n".repeat(lines);
    for value in &values {
        let plain = format!("{}{value}{}", filler(2_500), filler(2_500));
        // The same in one long line of JSON.
        let json = serde_json::json!({ "text": plain }).to_string();
        for text in [plain, json] {
            let whole = known.redact(&store.vault, &text);
            assert!(!whole.contains("h3ron"), "{value:.40}");
            assert_eq!(whole.matches("[secret:").count(), 1, "{value:.40}");
            for size in [20_011, 65_536, 77_777, 400_009] {
                let stream = in_chunks(&store.vault, &text, size);
                assert!(stream == whole, "{value:.40}, {size}");
            }
        }
    }
}
