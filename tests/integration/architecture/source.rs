//! The paths, strings and doc comments of one source file.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A path such as `std::fs::File`. Groups of a `use` are expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its names, without a leading `::`.
    pub names: Vec<String>,
    /// Line, from 1.
    pub line: usize,
    /// The number of inline modules around it.
    pub depth: usize,
    /// Whether a `use` names it.
    pub is_use: bool,
}

/// A source file without its tests.
#[derive(Debug)]
pub struct Source {
    /// Relative to the repository.
    pub path: PathBuf,
    /// Every path in it.
    pub references: Vec<Reference>,
    /// Every string literal in it, with its line.
    pub texts: Vec<(String, usize)>,
    /// The lines of empty doc comments.
    pub empty_docs: Vec<usize>,
    /// The number of lines without tests.
    pub lines: usize,
    /// Whether the walk is inside a `use`.
    in_use: bool,
}

impl Source {
    /// Parses a file's text. A file named `tests.rs` or in a folder `tests` consists of tests.
    pub fn read(path: &Path, text: &str) -> Self {
        let mut source = Self {
            path: path.to_owned(),
            references: Vec::new(),
            texts: Vec::new(),
            empty_docs: Vec::new(),
            lines: text.lines().count(),
            in_use: false,
        };
        if path.file_stem().is_some_and(|stem| stem == "tests")
            || path.components().any(|part| part.as_os_str() == "tests")
        {
            source.lines = 0;
            return source;
        }
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        source.walk(tokens, 0);
        source
    }

    fn walk(&mut self, tokens: TokenStream, depth: usize) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut docs: Vec<(String, usize)> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some((attribute, end)) = attribute(&tokens, at) {
                if let Some(text) = doc_text(&attribute) {
                    docs.push((text, line_of(token)));
                } else if is_cfg_test(&attribute) {
                    let after = skip_item(&tokens, end);
                    self.lines -= lines_between(&tokens, at, after);
                    self.end_docs(&mut docs);
                    at = after;
                    continue;
                } else {
                    self.walk(attribute, depth);
                }
                at = end;
                continue;
            }
            self.end_docs(&mut docs);
            at = match token {
                // The name that `mod` declares is not an import.
                TokenTree::Ident(word) if word == "mod" => at + 2,
                // Nor is the path in `pub(super)`.
                TokenTree::Ident(word) if word == "pub" && is_parenthesis(tokens.get(at + 1)) => {
                    at + 2
                }
                TokenTree::Ident(word) => {
                    self.in_use |= word == "use";
                    self.path_at(&tokens, at, &[], depth)
                }
                TokenTree::Group(group) => {
                    let inline_module = at >= 2
                        && matches!(&tokens[at - 2], TokenTree::Ident(word) if word == "mod")
                        && group.delimiter() == Delimiter::Brace;
                    self.walk(group.stream(), depth + usize::from(inline_module));
                    at + 1
                }
                TokenTree::Literal(literal) => {
                    self.texts.push((literal.to_string(), line_of(token)));
                    at + 1
                }
                TokenTree::Punct(punct) => {
                    self.in_use &= punct.as_char() != ';';
                    at + 1
                }
            };
        }
        self.end_docs(&mut docs);
    }

    /// Collects the path that begins at an identifier, and every path of a trailing `{…}`. Returns the index
    /// after it.
    fn path_at(
        &mut self,
        tokens: &[TokenTree],
        start: usize,
        before: &[String],
        depth: usize,
    ) -> usize {
        let mut names = before.to_vec();
        let line = line_of(&tokens[start]);
        let mut at = start;
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            names.push(name.to_string());
            at += 1;
            if !is_double_colon(tokens, at) {
                break;
            }
            match tokens.get(at + 2) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let mut place = 0;
                    while place < inner.len() {
                        place = match inner[place] {
                            TokenTree::Ident(_) => self.path_at(&inner, place, &names, depth),
                            _ => place + 1,
                        };
                    }
                    return at + 3;
                }
                Some(TokenTree::Ident(_)) => at += 2,
                _ => break,
            }
        }
        self.references.push(Reference { names, line, depth, is_use: self.in_use });
        at
    }

    /// Ends a sequence of doc comments, and records its line if no comment has text.
    fn end_docs(&mut self, docs: &mut Vec<(String, usize)>) {
        if let Some((_, line)) = docs.first()
            && docs.iter().all(|(text, _)| text.is_empty())
        {
            self.empty_docs.push(*line);
        }
        docs.clear();
    }
}

fn line_of(token: &TokenTree) -> usize {
    token.span().start().line
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(colon)) if colon.as_char() == ':' && colon.spacing() == Spacing::Joint)
        && is_punct(tokens.get(at + 1), ':')
}

/// The content of an attribute that begins here, and the index after it.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<(TokenStream, usize)> {
    if !is_punct(tokens.get(at), '#') {
        return None;
    }
    let inner = if is_punct(tokens.get(at + 1), '!') { at + 2 } else { at + 1 };
    match tokens.get(inner)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream(), inner + 1))
        }
        _ => None,
    }
}

/// The text of `#[doc = "…"]`, which is what a doc comment is in tokens.
fn doc_text(attribute: &TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(doc), TokenTree::Punct(_), TokenTree::Literal(text)] if doc == "doc" => {
            Some(text.to_string().trim_matches(['r', '"']).trim().to_owned())
        }
        _ => None,
    }
}

fn is_cfg_test(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "cfg(test)" || text == "test" || text.starts_with("cfg(all(test,")
}

/// The index after the item that begins here: after its `{…}` or `;`.
fn skip_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // `use a::{b};` has a semicolon after its braces.
                return if is_punct(tokens.get(at), ';') { at + 1 } else { at };
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => return at,
            _ => {}
        }
    }
    at
}

fn lines_between(tokens: &[TokenTree], from: usize, after: usize) -> usize {
    let last = tokens[after - 1].span().end().line;
    last + 1 - line_of(&tokens[from])
}
