//! A source text with its syntax tree.

use tree_sitter::{Node, Parser, Tree};

use super::{CodeError, Language, ParsedText, Span, bounds, count_memory, recent};

/// Size limit for a text, in bytes. Its tree takes about ten times as much memory.
pub const MAX_SOURCE_BYTES: usize = 32 << 20;

/// A text parsed as one language.
pub struct Source<'t> {
    pub(super) language: Language,
    pub(super) text: &'t str,
    pub(super) tree: Tree,
    steps: u64,
}

impl<'t> Source<'t> {
    /// Parses the text; `stop` is polled. A text with syntax errors is parsed as far as possible.
    ///
    /// # Errors
    ///
    /// The text is larger than [`MAX_SOURCE_BYTES`] or exceeds a limit of the parser, or parsing was stopped.
    pub fn parse(
        language: Language,
        text: &'t str,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, CodeError> {
        if text.len() > MAX_SOURCE_BYTES {
            return Err(CodeError::TooLarge { bytes: text.len(), limit: MAX_SOURCE_BYTES });
        }
        let open_brackets = bounds::check_open_brackets(text, language.has_casts())?;
        // A stop also counts where the result is cached.
        if stop() {
            return Err(CodeError::Stopped);
        }
        let (tree, steps) = recent::get_or_parse(language, text, || {
            count_memory();
            let mut parser = Parser::new();
            // Grammar and runtime are built together. A mismatch would fail every test of the language.
            parser.set_language(&language.grammar()).map_err(|_| CodeError::Stopped)?;
            let (tree, steps) = bounds::parse(&mut parser, text, open_brackets, stop)?;
            if let Some(query) = language.query() {
                bounds::check_query(query, tree.root_node(), text, stop)?;
            }
            Ok((tree, steps))
        })?;
        Ok(Self { language, text, tree, steps })
    }

    /// The approximate number of parser steps, which is the same for the same text.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the text has a syntax error.
    pub fn has_syntax_error(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// Syntax errors in text order: error nodes, and missing nodes, which the parser inserted. A compiler may accept the
    /// text nevertheless, because a grammar may lag behind its language.
    pub fn syntax_errors(&self) -> Vec<Span> {
        let mut syntax_errors = Vec::new();
        visit_nodes(self.tree.root_node(), |node| {
            let is_error = node.is_error() || node.is_missing();
            if is_error {
                syntax_errors.push(Span::of(node));
            }
            !is_error && node.has_error()
        });
        syntax_errors
    }

    /// Turns a syntax error into a [`CodeError`]; `what` names the text.
    pub(super) fn syntax_error(&self, what: ParsedText, span: Span) -> CodeError {
        CodeError::Syntax {
            what,
            language: self.language.name(),
            line: span.start_line,
            column: span.start_col + 1,
        }
    }

    /// The text of a node.
    pub(super) fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// Calls `visit` for the nodes of a tree in text order; the children of a node are visited if it returns true. Without
/// recursion, because a text may be nested as deep as it is long.
pub(super) fn visit_nodes(root: Node<'_>, mut visit: impl FnMut(Node<'_>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
