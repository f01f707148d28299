//! Refused symbols, numbers in other bases, slashes, skipped and continued lines.

use super::*;
use crate::risk::shell::table::TABLE;

const LANGUAGES: [Language; 8] = [
    Language::Python,
    Language::JavaScript,
    Language::Lua,
    Language::Ruby,
    Language::Php,
    Language::Perl,
    Language::R,
    Language::Julia,
];

fn refused(language: Language) -> &'static [String] {
    let rows = &TABLE.as_ref().unwrap().inline;
    &rows.iter().find(|it| it.language == language).unwrap().refused
}

fn tokens(code: &str, language: Language) -> Option<Vec<Token>> {
    super::tokens(code, language, refused(language))
}

/// Code with one refused symbol and no other one.
fn sample(language: Language, refused: &str) -> &'static str {
    match (language, refused) {
        (Language::Lua, "--") => "a = 1 -- b",
        (Language::Lua, "[[") => "print([[a]])",
        (Language::Lua, "[=") => "print([=a=])",
        (Language::R, "%") => "a %in% b",
        (Language::Julia, "@") => "@show a",
        (Language::JavaScript, "/*") => "1/*a",
        (Language::JavaScript, "<!--") => "a <!-- b",
        (Language::JavaScript, "-->") => "a --> b",
        (Language::Ruby, "<<") => "a <<A",
        (Language::Ruby, "::") => "A::B",
        (Language::Php, "//") => "echo 1; // a",
        (Language::Php, "/*") => "echo 1; /* a",
        (Language::Php, "<<") => "echo <<A",
        (Language::Php, "?>") => "echo 1; ?> a",
        (Language::Php, "->") => "$a->b",
        (Language::Php, "::") => "A::b",
        (Language::Php, "{$") => "if (1) {$a = 1; }",
        (Language::Perl, "<") => "print <F>",
        (Language::Perl, "->") => "$a->b",
        (Language::Perl, "::") => "A::b",
        (Language::Perl, "*{") => "*{b}",
        (Language::Perl, "&") => "&b",
        _ => panic!("no sample for {language:?} {refused}"),
    }
}

// An entry that never matches would look like a check.
#[test]
fn every_refused_sign_is_needed() {
    for language in LANGUAGES {
        for entry in refused(language) {
            let code = sample(language, entry);
            let mut others = refused(language).to_vec();
            others.retain(|it| it != entry);
            assert_eq!(tokens(code, language), None, "{language:?} {entry}");
            let read = super::tokens(code, language, &others);
            assert!(read.is_some(), "{language:?} {entry}");
        }
    }
}

#[test]
fn numbers_in_other_bases_have_their_value() {
    for (code, value) in
        [("0x7fffffff", 2_147_483_647.0), ("0b101", 5.0), ("0o17", 15.0), ("1_000", 1000.0)]
    {
        assert_eq!(tokens(code, Language::Python), Some(vec![Token::Number(value)]), "{code}");
    }
    for code in ["0x", "0b2", "0x1or", "1if", "5.times"] {
        assert_eq!(tokens(code, Language::Ruby), None, "{code}");
    }
}

#[test]
fn slashes_are_read_as_the_language_does() {
    let texts = |code: &str, language: Language| {
        let all = tokens(code, language)?;
        let only = all.into_iter().filter_map(|it| match it {
            Token::Text(text) => Some(text),
            _ => None,
        });
        Some(only.collect::<Vec<_>>())
    };
    for (code, language) in [
        ("print if /a+/", Language::Perl),
        ("print split /a+/", Language::Perl),
        ("$a =~ /a+/", Language::Perl),
        ("f(/a+/)", Language::Perl),
        ("f(/a+/)", Language::JavaScript),
        ("a.split /a+/", Language::Ruby),
        ("puts 1 if /a+/", Language::Ruby),
    ] {
        assert_eq!(texts(code, language), Some(vec!["a+".to_owned()]), "{code}");
    }
    for (code, language) in [
        ("print 1\n/2;b;1/3", Language::Perl),
        ("print $if /2;b;1/3", Language::Perl),
        ("print $;/2;b;1/3", Language::Perl),
        ("split /2;b;1/3", Language::Ruby),
        ("a.split/2;b;1/3", Language::Ruby),
        ("a.split / 2;b;1/3", Language::Ruby),
        ("a.if /2;b;1/3", Language::Ruby),
        ("puts :=~/2;b;1/3", Language::Ruby),
        ("f(// a\n)", Language::JavaScript),
        ("f(/[/,],/,b,/1/)", Language::JavaScript),
        ("reduce(/,[1]);b;reduce(/,[1])", Language::Julia),
        ("f(/,1/)", Language::R),
    ] {
        assert_eq!(texts(code, language), None, "{code}");
    }
}

#[test]
fn skipped_lines_are_refused() {
    for (code, language) in [
        ("a\n=begin\nb\n=end\n", Language::Ruby),
        ("a\n__END__\nb", Language::Ruby),
        ("a\n=pod\nb\n=cut\n", Language::Perl),
        ("a\n=head1\nb\n=cut\n", Language::Perl),
        ("a\n\u{4}\nb", Language::Ruby),
        ("a\n\u{1a}\nb", Language::Perl),
        ("a = 1\r b", Language::Python),
    ] {
        assert_eq!(tokens(code, language), None, "{code:?}");
    }
}

#[test]
fn continued_lines_are_refused() {
    for (code, language) in [
        ("f\n[b]", Language::JavaScript),
        ("f\n(b)", Language::Php),
        ("f\n(b)", Language::Lua),
        ("(f\n(b))", Language::Python),
        ("(f\n(b))", Language::R),
        ("(f.\nb)", Language::Python),
        ("f.b\n= c", Language::JavaScript),
        ("{\n[b]: c}", Language::JavaScript),
        ("{'b'\n: c}", Language::JavaScript),
    ] {
        assert_eq!(tokens(code, language), None, "{code:?}");
    }
    for (code, language) in [
        ("f\n(b)", Language::Python),
        ("f\n[b]", Language::Ruby),
        ("f(\n[b],\n(c))", Language::Python),
        ("f()\n.b()", Language::JavaScript),
    ] {
        assert!(tokens(code, language).is_some(), "{code:?}");
    }
}

#[test]
fn quotes_that_depend_on_their_place_are_refused() {
    for (code, language) in [
        ("[1]'; b; [1]'", Language::Julia),
        ("1'; b; 1'", Language::Julia),
        ("puts(% \" ); b; puts(% \" )", Language::Ruby),
        ("x if % a ", Language::Ruby),
        ("$@ b", Language::Perl),
        ("puts ?a", Language::Ruby),
    ] {
        assert_eq!(tokens(code, language), None, "{code}");
    }
    assert!(tokens("puts 7 % 3", Language::Ruby).is_some());
}
