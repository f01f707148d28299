//! The grammars of the languages that are read, from the packages of their authors.
//!
//! Uncompressed, their tables would be a fifth of the program. `build.rs` links each grammar with empty tables and
//! stores their bytes compressed; the first use of a grammar fills them, in milliseconds. Where it could not do so, the
//! grammars are linked as they are.

use tree_sitter::Language;

#[cfg(test)]
mod tests;

#[cfg(packed_grammars)]
mod packed;
#[cfg(packed_grammars)]
use packed as source;

#[cfg(not(packed_grammars))]
mod source {
    use tree_sitter::Language;

    macro_rules! grammar {
        ($($name:ident, $language:expr;)*) => {
            $(pub(super) fn $name() -> Language { $language.into() })*
        };
    }

    grammar! {
        bash, tree_sitter_bash::LANGUAGE;
        c, tree_sitter_c::LANGUAGE;
        cpp, tree_sitter_cpp::LANGUAGE;
        go, tree_sitter_go::LANGUAGE;
        java, tree_sitter_java::LANGUAGE;
        javascript, tree_sitter_javascript::LANGUAGE;
        python, tree_sitter_python::LANGUAGE;
        rust, tree_sitter_rust::LANGUAGE;
        tsx, tree_sitter_typescript::LANGUAGE_TSX;
        typescript, tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
    }
}

macro_rules! language {
    ($($name:ident: $text:literal;)*) => {
        $(#[doc = concat!("The grammar of ", $text, ".")]
        pub fn $name() -> Language { source::$name() })*
    };
}

language! {
    bash: "Bash";
    c: "C";
    cpp: "C++";
    go: "Go";
    java: "Java";
    javascript: "JavaScript";
    python: "Python";
    rust: "Rust";
    tsx: "TypeScript with JSX";
    typescript: "TypeScript";
}
