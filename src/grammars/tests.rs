//! The compressed grammars against those of their authors.

use tree_sitter::{Language, Parser};

/// The tree of a source, with its errors.
fn tree(language: &Language, source: &str) -> String {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    parser.parse(source, None).unwrap().root_node().to_sexp()
}

#[test]
fn a_compressed_grammar_reads_as_its_author_made_it() {
    let typescript =
        "export class A<T> extends B { #x?: T = <T>1; get y(): string { return `${this.#x}` } }";
    let cpp =
        "template <typename T> auto f(T&& t) -> decltype(t) { return [&]{ return R\"x(a)x\"; }; }";
    let cases: [(Language, Language, &str); 10] = [
        (
            super::bash(),
            tree_sitter_bash::LANGUAGE.into(),
            "for i in $(ls); do cat <<E | sort > \"$i\"; done\nx\nE\n",
        ),
        (super::c(), tree_sitter_c::LANGUAGE.into(), "#if A\nstatic int x[] = {1};\n#endif\n"),
        (super::cpp(), tree_sitter_cpp::LANGUAGE.into(), cpp),
        (
            super::go(),
            tree_sitter_go::LANGUAGE.into(),
            "package a\nfunc (t *T[K]) F() { go func() {}() }",
        ),
        (
            super::java(),
            tree_sitter_java::LANGUAGE.into(),
            "@A record R(int x) { R { switch (x) { case 1 -> {} } } }",
        ),
        (
            super::javascript(),
            tree_sitter_javascript::LANGUAGE.into(),
            "const a = async () => <b c={1}>{/d/g}</b>",
        ),
        (
            super::python(),
            tree_sitter_python::LANGUAGE.into(),
            "@a\nasync def f(*, x: int = 1):\n  return f'{x!r:>{x}}'\n",
        ),
        (super::rust(), tree_sitter_rust::LANGUAGE.into(), include_str!("mod.rs")),
        (super::tsx(), tree_sitter_typescript::LANGUAGE_TSX.into(), "let a = <b<C> d>{e as f}</b>"),
        (super::typescript(), tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), typescript),
    ];
    for (ours, author, source) in cases {
        assert_eq!(ours.parse_state_count(), author.parse_state_count());
        assert!(tree(&author, source).len() > 100, "the source has a tree: {source}");
        // Every prefix is faulty in another way, and leads through other parts of the tables.
        for (end, _) in source.char_indices() {
            assert_eq!(
                tree(&ours, &source[..end]),
                tree(&author, &source[..end]),
                "{end} {source}"
            );
        }
        assert_eq!(tree(&ours, source), tree(&author, source));
    }
}

#[test]
fn grammars_are_compressed_on_linux() {
    assert_eq!(cfg!(packed_grammars), cfg!(target_os = "linux"), "the build said why not");
}
