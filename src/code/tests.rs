use super::*;

mod bounds;

fn source(language: Language, text: &str) -> Source<'_> {
    Source::parse(language, text, &|| false).unwrap()
}

fn defined(language: Language, text: &str) -> Vec<String> {
    let source = source(language, text);
    assert_eq!(source.syntax_errors(), []);
    source.definitions().iter().map(|it| format!("{} {}", it.kind.as_str(), it.fqn)).collect()
}

fn patched(language: Language, text: &str, symbol: &str, with: &str) -> Result<String, CodeError> {
    patch(&source(language, text), symbol, None, with, &|| false).map(|it| it.text)
}

#[test]
fn rust_definitions_have_full_names() {
    let text = "mod a { pub struct S<T> { f: T } impl<T> S<T> { const K: u8 = 1; fn m(&self) {} }
        impl<T> std::fmt::Debug for S<T> { fn fmt(&self) { fn inner() {} } }
        trait T { type A; fn sig(&self); } enum E { V(u8) } static X: u8 = 1; macro_rules! mm { () => {} } }";
    assert_eq!(
        defined(Language::Rust, text),
        [
            "module a",
            "struct a::S",
            "field a::S::f",
            "impl a::S",
            "constant a::S::K",
            "method a::S::m",
            "impl a::S",
            "method <a::S as std::fmt::Debug>::fmt",
            "function <a::S as std::fmt::Debug>::fmt::inner",
            "trait a::T",
            "type a::T::A",
            "method a::T::sig",
            "enum a::E",
            "variant a::E::V",
            "static a::X",
            "macro a::mm",
        ]
    );
}

#[test]
fn every_language_has_its_definitions() {
    for (language, text, expected) in [
        (
            Language::Python,
            "K = 1\nclass C(B):\n    x = 2\n    @property\n    def m(self):\n        def inner(): pass\n",
            &["variable K", "class C", "field C.x", "method C.m", "function C.m.inner"][..],
        ),
        (
            Language::JavaScript,
            "const k = 1; function f() {} export class C { #p = 1; m() {} static s() {} }\nexport const g = () => 1;",
            &["variable k", "function f", "class C", "field C.#p", "method C.m", "method C.s", "function g"],
        ),
        (
            Language::TypeScript,
            "interface I { a: string; m(): void } enum E { A } type T = I; namespace N { export function f() {} }
             abstract class C { private x = 1; abstract n(): void; m(): void {} }",
            &[
                "interface I", "field I.a", "method I.m", "enum E", "type T", "module N",
                "function N.f", "class C", "field C.x", "method C.n", "method C.m",
            ],
        ),
        (Language::Tsx, "export function View() { return <p>hi</p>; }", &["function View"]),
        (
            Language::Go,
            "package p\nconst K = 1\nvar v = 2\ntype S struct { f int }\ntype I interface { M() }\ntype A = S\ntype N int\nfunc (s *S) M() {}\nfunc F() {}\n",
            &[
                "constant K", "variable v", "struct S", "field S.f", "interface I", "method I.M",
                "type A", "type N", "method S.M", "function F",
            ],
        ),
        (
            Language::C,
            "#define K 1\n#define SQ(x) ((x)*(x))\nstruct s { int a; };\ntypedef struct s s_t;\nenum e { A };\nint g = 1;\nstatic char **f(int a) { return 0; }\nint h(void);\n",
            &["macro K", "macro SQ", "struct s", "type s_t", "enum e", "variable g", "function f"],
        ),
        (
            Language::Cpp,
            "namespace n { class C { public: C(); ~C() {} int m() { return 1; } }; }\nint C::k() { return 1; }\ntemplate <class T> T id(T t) { return t; }\n",
            &[
                "module n", "class n::C", "method n::C::~C", "method n::C::m", "method C::k",
                "function id",
            ],
        ),
        (
            Language::Java,
            "class C { int f = 1; C() {} @Override public String m() { return null; } enum E { A; } }\ninterface I { void n(); }\nrecord R(int a) {}",
            &[
                "class C", "field C.f", "constructor C.C", "method C.m", "enum C.E",
                "variant C.E.A", "interface I", "method I.n", "class R",
            ],
        ),
    ] {
        assert_eq!(defined(language, text), expected, "{}", language.name());
    }
}

#[test]
fn ambiguous_names_list_their_candidates() {
    let text = "struct A; struct B; impl A { fn new() {} } impl B { fn new() {} }
        impl Clone for A { fn clone(&self) -> A { A } } fn a() {} mod a {}";
    let source = source(Language::Rust, text);
    let error = source.definition("new", None).unwrap_err();
    let expected = "new is defined 2 times: method A::new (line 1), method B::new (line 1)";
    assert_eq!(error.to_string(), expected);
    assert_eq!(source.definition("B::new", None).unwrap().fqn, "B::new");
    assert_eq!(source.definition("<A as Clone>::clone", None).unwrap().name, "clone");
    let both = "trait T { fn m(&self); } struct A; impl T for A { fn m(&self) {} }";
    let both = self::source(Language::Rust, both);
    assert!(matches!(both.definition("m", None), Err(CodeError::Ambiguous { .. })));
    assert_eq!(both.definition("<A as T>::m", None).unwrap().span.byte_start, 50);
    assert!(source.definition("a", None).is_err());
    assert_eq!(source.definition("a", Some("fn")).unwrap().kind, SymbolKind::Function);
    assert_eq!(source.definition("a", Some("Module")).unwrap().kind, SymbolKind::Module);
    assert_eq!(source.definition("A", None).unwrap().kind, SymbolKind::Struct);
    let error = source.definition("A", Some("trait")).unwrap_err().to_string();
    assert!(error.contains("what has this name is a struct (line 1)"), "{error}");
    assert!(matches!(source.definition("A", Some("thing")), Err(CodeError::UnknownKind { .. })));
}

#[test]
fn missing_symbols_come_with_suggestions() {
    let text = "fn Alpha() {}\nmacro_rules! make { () => { fn made() {} } }\nmake!();\n";
    let source = source(Language::Rust, text);
    let hint = |name| source.definition(name, None).unwrap_err().to_string();
    assert_eq!(hint("alpha"), "no definition of alpha: did you mean Alpha");
    let expected =
        "no definition of made: the name stands in the macro make, whose output is not read";
    assert_eq!(hint("made"), expected);
    assert_eq!(hint("zzz"), "no definition of zzz");
    assert_eq!(hint(""), "no definition of ");
}

#[test]
fn definition_with_body_precedes_its_signatures() {
    let text =
        "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) {}\n";
    let source = source(Language::TypeScript, text);
    assert_eq!(source.definition("f", None).unwrap().span.start_line, 3);
    assert_eq!(source.definition("f", Some("function")).unwrap().span.start_line, 3);
}

#[test]
fn references_name_their_enclosing_definition() {
    let text = "use a::old;\nfn new() { old(1); let x = old; println!(\"{}\", old(2)); /* old */ }\nfn old(n: u8) {}\nstruct T { old: u8 }\n";
    let source = source(Language::Rust, text);
    let found: Vec<_> = source
        .references_to("old")
        .into_iter()
        .map(|it| (it.span.start_line, it.from_symbol))
        .collect();
    let new = Some("new".to_owned());
    assert_eq!(found, [(1, None), (2, new.clone()), (2, new.clone()), (2, new),]);
    assert!(source.references_to("").is_empty());
}

#[test]
fn qualified_references_exclude_other_types() {
    let text = "fn f(x: A) { A::new(); B::new(); x.new(); Self::new(); new(); }";
    assert_eq!(source(Language::Rust, text).references_to("A::new").len(), 4);
    assert_eq!(source(Language::Rust, text).references_to("new").len(), 5);
}

#[test]
fn replacements_keep_comments_and_attributes() {
    let text = "/// Old.\n#[inline]\nfn f() {}\n\n// apart\n\nfn g() {}\n";
    let new = |with| patched(Language::Rust, text, "f", with).unwrap();
    let tail = "\n\n// apart\n\nfn g() {}\n";
    assert_eq!(new("fn f() { 1; }\n"), format!("/// Old.\n#[inline]\nfn f() {{ 1; }}{tail}"));
    assert_eq!(new("\n/// New.\nfn f() {}"), format!("#[inline]\n/// New.\nfn f() {{}}{tail}"));
    assert_eq!(new("#[cold]\nfn f() {}"), format!("/// Old.\n#[cold]\nfn f() {{}}{tail}"));
    assert_eq!(
        new("/// New.\n#[cold]\nfn f() {}\n\n"),
        format!("/// New.\n#[cold]\nfn f() {{}}{tail}")
    );
    let g = patched(Language::Rust, text, "g", "/// G.\nfn g() {}").unwrap();
    assert_eq!(g, "/// Old.\n#[inline]\nfn f() {}\n\n// apart\n\n/// G.\nfn g() {}\n");
}

#[test]
fn wrappers_are_replaced_only_by_wrappers() {
    let js = |with| patched(Language::JavaScript, "export function f() {}\n", "f", with).unwrap();
    assert_eq!(js("function f() { 1; }"), "export function f() { 1; }\n");
    assert_eq!(js("export function f() { 1; }"), "export function f() { 1; }\n");
    let py = |with| patched(Language::Python, "@old\ndef f():\n    pass\n", "f", with).unwrap();
    assert_eq!(py("def f():\n    return 1\n"), "@old\ndef f():\n    return 1\n");
    assert_eq!(py("@new\ndef f():\n    return 1\n"), "@new\ndef f():\n    return 1\n");
    let text = "class C {\n    @Override\n    public int m() { return 1; }\n}\n";
    let java = |with| patched(Language::Java, text, "C.m", with).unwrap();
    assert_eq!(java("public int m() { return 2; }"), text.replace("return 1", "return 2"));
    assert_eq!(
        java("@Deprecated public int m() { return 1; }"),
        text.replace("@Override\n    ", "@Deprecated ")
    );
    let cpp = |with| {
        patched(Language::Cpp, "template <class T> T f(T t) { return t; }\n", "f", with).unwrap()
    };
    assert_eq!(
        cpp("template <class U> U f(U u) { return u; }"),
        "template <class U> U f(U u) { return u; }\n"
    );
}

#[test]
fn replacements_adopt_indentation_and_line_breaks() {
    let text =
        "\u{feff}class C:\r\n    def m(self):\r\n        return 1\r\n\r\n    def n(self): pass";
    let with = "def m(self):\n    text = \"\"\"a\nb\"\"\"\n\n    return text\n";
    assert_eq!(
        patched(Language::Python, text, "C::m", with).unwrap(),
        "\u{feff}class C:\r\n    def m(self):\r\n        text = \"\"\"a\r\nb\"\"\"\r\n\r\n        return text\r\n\r\n    def n(self): pass"
    );
    let text = "impl A {\n    fn m() {}\n}";
    // Replacements with the indentation of the file, without any, and in the form that the program `splice` expects.
    for with in [
        "    fn m() {\n        1;\n    }\n",
        "fn m() {\n    1;\n}\n",
        "fn m() {\n        1;\n    }",
    ] {
        assert_eq!(
            patched(Language::Rust, text, "m", with).unwrap(),
            "impl A {\n    fn m() {\n        1;\n    }\n}"
        );
    }
    let text = "class C:\n    def m(self):\n        pass\n";
    let with = "def m(self):\n    return {\n        1: 2\n    }\n";
    assert_eq!(
        patched(Language::Python, text, "m", with).unwrap(),
        "class C:\n    def m(self):\n        return {\n            1: 2\n        }\n"
    );
}

#[test]
fn the_line_break_after_a_macro_stays() {
    for end in ["\n", "\r\n"] {
        let text = format!("#define A 1{end}#define B 2{end}int x;{end}");
        let now = patched(Language::C, &text, "A", "#define A 3\n").unwrap();
        assert_eq!(now, text.replace("A 1", "A 3"));
    }
}

#[test]
fn unparsable_results_are_refused() {
    let text = "fn f() {}\nfn g() {}\n";
    for (text, with, part) in [
        (text, "fn f() {", "the result does not parse as Rust: line"),
        (text, "}", "the result does not parse"),
        ("fn f() { let }\n", "fn f() {}", "the file does not parse as Rust: line 1, column 10"),
        (
            "fn f() {}\nfn g() { let }\n",
            "fn f() { let }",
            "the result does not parse as Rust: line 1",
        ),
        (text, "", "the replacement holds no code"),
        (text, " \n\t// only words\n", "the replacement holds no code"),
        (text, "\u{feff}\n", "the replacement holds no code"),
    ] {
        let error = patched(Language::Rust, text, "f", with).unwrap_err().to_string();
        assert!(error.contains(part), "{with:?}: {error}");
    }
}

#[test]
fn syntax_errors_elsewhere_do_not_prevent_replacement() {
    let text = "fn a() { let }\nfn f() {}\nfn z() { let }\n";
    let with = "fn f() {\n    1;\n}";
    assert_eq!(patched(Language::Rust, text, "f", with).unwrap(), text.replace("fn f() {}", with));
    assert_eq!(source(Language::Rust, text).syntax_errors().len(), 2);
}

#[test]
fn statements_with_two_definitions_are_not_replaced() {
    let error = patched(Language::Java, "class C { int a, b; }", "C.a", "int a;").unwrap_err();
    assert_eq!(error, CodeError::Shared { symbol: "C.a".into(), others: "C.b".into() });
    let js = "const a = 1, b = 2;\n";
    assert_eq!(patched(Language::JavaScript, js, "a", "a = 3").unwrap(), "const a = 3, b = 2;\n");
}

#[test]
fn replacements_with_another_name_are_reported() {
    let text = "fn f() {}\nfn g() {}\n";
    let patched = |with| patch(&source(Language::Rust, text), "f", None, with, &|| false).unwrap();
    assert_eq!(patched("fn f() {}").defines_instead, None);
    assert_eq!(patched("fn h() {}").defines_instead.as_deref(), Some("h"));
    assert_eq!(patched("fn h() {}").replaced, 0..9);
}

#[test]
fn colours_are_in_order_and_inside_the_text() {
    for language in Language::ALL {
        let text = "// fn class\nfn main() { let x = \"a\"; return 1; }\n";
        let pieces = highlight(language, text);
        assert!(!pieces.is_empty(), "{}", language.name());
        assert!(pieces.windows(2).all(|two| two[0].0.end <= two[1].0.start));
        assert!(pieces.iter().all(|(range, _)| text.get(range.clone()).is_some()));
    }
    let rust = highlight(Language::Rust, "fn f() { \"s\" }");
    assert_eq!(rust[0], (0..2, Class::Keyword));
    assert!(rust.contains(&(9..12, Class::String)));
}

#[test]
fn calls_are_told_from_other_uses() {
    let cases = [
        (
            Language::Rust,
            "fn m() { a(b); x.c::<u8>(d); e::f(); g!(h); let i = j; K { l: 1 }; }",
            "a c f g",
        ),
        (Language::Python, "a(b)\nx.c(d)\n@e\ndef f(): pass\ng(h)(i)\n", "a c g"),
        (Language::JavaScript, "a(b); x.c(d); new E(f); g;", "a c E"),
        (Language::TypeScript, "a<T>(b); new x.C<T>(d);", "a C"),
        (Language::Go, "package p\nfunc m() { a(b); x.c(d); go e() }\n", "a c e"),
        (Language::C, "int m() { a(b); x->c(d); return e; }", "a c"),
        (Language::Cpp, "int m() { n::a(b); x.c(d); new E(f); t<int>(g); }", "a c E t"),
        (Language::Java, "class Z { void m() { a(b); x.c(d); new E<F>(g); } }", "a c E"),
    ];
    for (language, text, calls) in cases {
        let references = source(language, text).references();
        let called: Vec<_> =
            references.iter().filter(|it| it.is_call).map(|it| it.symbol.as_str()).collect();
        assert_eq!(called.join(" "), calls, "{language:?}: {references:#?}");
    }
}
