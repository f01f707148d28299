//! Texts that are hostile to the parser's time or memory.

use std::cell::Cell;

use super::*;

/// Unclosed brackets in every language: each text is parsed or reaches a limit, always the same one. Quadratic work
/// would never end.
#[test]
fn hostile_texts_reach_counted_limits() {
    let openings =
        ["(", "[", "{", "<", "\"", "'", "`", "/*", "([{<", "a(", "a<", "r#\"", "${", "!", "+(a)"];
    for language in Language::ALL {
        for opening in openings {
            let text = opening.repeat(20_000);
            if let Ok(source) = Source::parse(language, &text, &|| false) {
                assert!(source.steps() <= 1_000_000);
                source.definitions();
                source.references();
                source.syntax_errors();
            }
        }
    }
}

#[test]
fn limits_are_reported_and_reproducible() {
    let read = |text: &str| {
        let read = Source::parse(Language::Rust, text, &|| false);
        read.map(|source| source.steps()).map_err(|error| error.to_string())
    };
    let texts = [
        ("(".repeat(300_000), "22000 open brackets"),
        ("<".repeat(300_000), "50000000 comparisons of neighbouring nodes"),
        ("a,".repeat(2_000_000), "1000000 parser steps"),
        ("r#\"".repeat(100_000), "268435456 bytes read by the parser"),
    ];
    for (text, limit) in texts {
        let message = read(&text).unwrap_err();
        assert!(message.starts_with(&format!("it takes more than {limit}")), "{message}");
    }
    let easy = "fn f(a: u8) -> u8 { a + 1 }\n".repeat(2_000);
    let steps = read(&easy).unwrap();
    assert!((10_000..200_000).contains(&steps), "{steps}");
    // Enough other texts to remove the first one from the cache.
    for other in 0..10 {
        read(&format!("fn f{other}() {{}}")).unwrap();
    }
    assert_eq!(read(&easy), Ok(steps));
}

#[test]
fn long_enclosing_names_take_bounded_memory() {
    let name = "n".repeat(10_000);
    let text = format!(
        "fn before() {{}} mod {name} {{ fn inside() {{}} }} mod {} {{ fn last() {{}} }}",
        "m".repeat(900)
    );
    let source = Source::parse(Language::Rust, &text, &|| false).unwrap();
    let found: Vec<_> = source.definitions().into_iter().map(|it| it.name.len()).collect();
    assert_eq!(found, [6, 6, 900, 4], "a definition in an omitted module is listed without it");
}

#[test]
fn deeply_nested_text_is_not_highlighted() {
    assert_eq!(highlight(Language::Rust, &"(".repeat(200_000)), []);
}

#[test]
fn recent_texts_are_cached() {
    let polls = Cell::new(0);
    let stop = || {
        polls.set(polls.get() + 1);
        false
    };
    let text = "fn f(a: u8) -> u8 { a + 2 }\n".repeat(2_000);
    let first = Source::parse(Language::Rust, &text, &stop).unwrap();
    let once = polls.get();
    assert!(once > 10, "the parser polls `stop`: {once}");
    let again = Source::parse(Language::Rust, &text, &stop).unwrap();
    // A cached text is not parsed, but `stop` is polled once.
    assert_eq!((polls.get(), again.steps()), (once + 1, first.steps()));
    // Another language is another key. Stopped parses are not cached.
    assert!(Source::parse(Language::C, &text, &stop).is_ok() && polls.get() > once);
    let other = text.replace('2', "3");
    assert!(matches!(Source::parse(Language::Rust, &other, &|| true), Err(CodeError::Stopped)));
    assert!(Source::parse(Language::Rust, &other, &|| false).is_ok());
}

#[test]
fn deeply_nested_definitions_take_bounded_memory() {
    const DEEP: usize = 2_000;
    let text = format!("{}{} fn last() {{}}", "mod a {".repeat(DEEP), "}".repeat(DEEP));
    let source = Source::parse(Language::Rust, &text, &|| false).unwrap();
    let found = source.definitions();
    assert!(found.iter().all(|it| it.path.matches('\0').count() <= 65));
    assert_eq!((found.len(), found.last().map(|it| &*it.name)), (65, Some("last")));
}

#[test]
fn limits_and_stops_are_reported() {
    let long = "a".repeat(MAX_SOURCE_BYTES + 1);
    let error = Source::parse(Language::Rust, &long, &|| false).err().unwrap();
    assert!(matches!(error, CodeError::TooLarge { .. }));
    let text = "fn f() {}\n".repeat(20_000);
    assert_eq!(Source::parse(Language::Rust, &text, &|| true).err(), Some(CodeError::Stopped));
}

#[test]
fn maximally_nested_texts_are_parsed() {
    let text = "fn f() { ".to_owned() + &"(".repeat(20_000) + &")".repeat(20_000) + " }";
    let source = source(Language::Rust, &text);
    assert_eq!(source.definitions().len(), 1);
    assert!(source.references().is_empty());
    assert_eq!(source.syntax_errors(), []);
}

/// Deep nesting takes linear time. Looking up the parent of a node for every name would be quadratic: a
/// minute instead of a second.
#[test]
fn deep_nesting_takes_linear_time() {
    const DEEP: usize = 20_000;
    let nested = |open: &str, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    let texts = [
        nested("mod a { ", "fn f() { g(1); }", "}"),
        format!("fn f() {{ m!({}); }}", nested("(b(1) ", "c(2)", ")")),
    ];
    for text in texts {
        let began = std::time::Instant::now();
        let source = Source::parse(Language::Rust, &text, &|| false).unwrap();
        let references = source.references();
        assert!(!references.is_empty());
        assert!(references.iter().all(|it| it.symbol != "a"), "a defined name is no reference");
        source.references_to("x::g");
        assert!(source.syntax_errors().is_empty());
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn many_imports_and_errors_take_linear_time() {
    let text = "use a::b;\n".repeat(30_000);
    let began = std::time::Instant::now();
    let source = Source::parse(Language::Rust, &text, &|| false).unwrap();
    let references = source.references();
    assert_eq!(references.len(), 60_000);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(10), "{took:?}");
}

#[test]
fn long_texts_are_not_highlighted() {
    let line = "fn f() { \"s\" }\n";
    let short = line.repeat(MAX_COLOURED_BYTES / line.len());
    assert!(!highlight(Language::Rust, &short).is_empty());
    assert!(highlight(Language::Rust, &format!("{short}{line}")).is_empty());
}
