//! Grammars whose tables `build.rs` compressed.

use std::sync::Once;

use tree_sitter::{Language, ffi};

/// Defines the function of a grammar: the language of its C source, whose tables it fills at the first call.
macro_rules! grammar {
    ($name:ident, $language:ident, $fill:ident, $size:literal, $file:literal) => {
        pub(super) fn $name() -> Language {
            #[expect(unsafe_code, reason = "a grammar is C")]
            unsafe extern "C" {
                safe fn $language() -> *const ffi::TSLanguage;
                fn $fill(bytes: *const u8);
            }
            static FILL: Once = Once::new();
            FILL.call_once(|| {
                let bytes = unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/", $file)), $size);
                #[expect(unsafe_code, reason = "it copies as many bytes as its tables have")]
                // SAFETY: `unpacked` returns that many, and nobody else reads or writes the tables before this is done.
                unsafe {
                    $fill(bytes.as_ptr());
                }
            });
            #[expect(unsafe_code, reason = "tree-sitter takes grammars as pointers")]
            // SAFETY: it points to the static description of a grammar that tree-sitter's own program made.
            unsafe {
                Language::from_raw($language())
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

/// The bytes of the tables of a grammar.
#[expect(clippy::expect_used, reason = "the bytes are part of the program")]
fn unpacked(packed: &[u8], size: usize) -> Vec<u8> {
    let bytes = zstd::bulk::decompress(packed, size).expect("tables that the build compressed");
    assert_eq!(bytes.len(), size, "the size of a grammar's tables");
    bytes
}
