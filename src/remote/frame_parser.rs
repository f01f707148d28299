//! Extracts the wrapper's reports from the output of a session.
//!
//! A report is `NONCE:kind:value` up to the end of the line, with the nonce of the session; output may
//! precede it on that line. Output before the first report comes from the login shell and not from the
//! command.

/// Maximum length of a report with its nonce, in bytes; more bytes without an end of line are output.
const REPORT_BYTES: usize = 8 << 10;
/// Maximum number of bytes that are kept of the output before the first report.
const BEFORE_BYTES: usize = 64 << 10;

/// One report of the wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) kind: String,
    pub(super) value: String,
}

/// Parser for one stream of a session.
#[derive(Default)]
pub(super) struct FrameParser {
    nonce: String,
    /// Whether the stream has only one report, so that all bytes after it are output.
    once: bool,
    /// Whether a report was found.
    has_report: bool,
    /// The output before the first report.
    before: Vec<u8>,
    /// The last bytes, held back while they may be the beginning of a report.
    held: Vec<u8>,
    reports: Vec<Report>,
}

impl FrameParser {
    /// A parser for a stream with any number of reports.
    pub(super) fn new(nonce: &str) -> Self {
        Self { nonce: nonce.to_owned(), ..Self::default() }
    }

    /// A parser for a stream with a single report before the command's output.
    pub(super) fn once(nonce: &str) -> Self {
        Self { once: true, ..Self::new(nonce) }
    }

    /// Parses the next bytes, and returns the output of the command in them and in bytes that were held back.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.held);
        rest.extend_from_slice(bytes);
        let mut clean = Vec::new();
        loop {
            if self.once && self.has_report {
                clean.append(&mut rest);
                break;
            }
            let Some(start) = find(&rest, self.nonce.as_bytes()) else {
                let count = partial_match(&rest, self.nonce.as_bytes());
                self.held = rest.split_off(rest.len() - count);
                self.add_output(&mut clean, &rest);
                break;
            };
            let report = rest.split_off(start);
            self.add_output(&mut clean, &rest);
            let text = report.get(self.nonce.len()..).unwrap_or_default();
            // An empty list of jobs has no end of line; then the next nonce ends the report.
            let line = text.iter().position(|byte| *byte == b'\n');
            let next = find(
                text.get(..line.unwrap_or(text.len())).unwrap_or_default(),
                self.nonce.as_bytes(),
            );
            match next.map(|end| (end, end)).or(line.map(|end| (end, end + 1))) {
                Some((end, after)) => {
                    self.add_report(text.get(..end).unwrap_or_default());
                    rest = text.get(after..).unwrap_or_default().to_vec();
                }
                None if report.len() > REPORT_BYTES => {
                    self.add_output(&mut clean, &report);
                    break;
                }
                None => {
                    self.held = report;
                    break;
                }
            }
        }
        clean
    }

    /// Ends the stream. Returns the bytes that were held back: an incomplete report, which counts as output.
    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut clean = Vec::new();
        let held = std::mem::take(&mut self.held);
        self.add_output(&mut clean, &held);
        clean
    }

    /// The reports found so far, in order.
    pub(super) fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The value of the last report of a kind; `None` if there is none.
    pub(super) fn report(&self, kind: &str) -> Option<&str> {
        self.reports.iter().rev().find(|it| it.kind == kind).map(|it| it.value.as_str())
    }

    /// The output before the first report.
    pub(super) fn before(&self) -> &[u8] {
        &self.before
    }

    /// Adds output to `clean`, or to the output before the first report.
    fn add_output(&mut self, clean: &mut Vec<u8>, bytes: &[u8]) {
        if self.has_report {
            clean.extend_from_slice(bytes);
        } else {
            let remaining = BEFORE_BYTES.saturating_sub(self.before.len());
            self.before.extend_from_slice(bytes.get(..remaining).unwrap_or(bytes));
        }
    }

    fn add_report(&mut self, report: &[u8]) {
        self.has_report = true;
        // A terminal ends lines with a carriage return, too.
        let text = String::from_utf8_lossy(report.strip_suffix(b"\r").unwrap_or(report));
        let text = text.strip_prefix(':').unwrap_or(&text);
        let (kind, value) = text.split_once(':').unwrap_or((text, ""));
        self.reports.push(Report { kind: kind.to_owned(), value: value.to_owned() });
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The number of bytes at the end of `bytes` that could be the beginning of `wanted`.
fn partial_match(bytes: &[u8], wanted: &[u8]) -> usize {
    let max = bytes.len().min(wanted.len().saturating_sub(1));
    let is_beginning = |count: &usize| {
        bytes.len().checked_sub(*count).and_then(|start| bytes.get(start..)) == wanted.get(..*count)
    };
    (1..=max).rev().find(is_beginning).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONCE: &str = "countersign-42";

    fn parsed(chunks: &[&[u8]]) -> (FrameParser, Vec<u8>) {
        let mut parser = FrameParser::new(NONCE);
        let mut clean: Vec<u8> = chunks.iter().flat_map(|chunk| parser.push(chunk)).collect();
        clean.extend(parser.end());
        (parser, clean)
    }

    proptest! {
        /// However the stream is cut into chunks, the reports are found, no output of the command is lost, and the
        /// output before the first report is separated.
        #[test]
        fn only_reports_are_taken_out(
            before in prop::collection::vec(any::<u8>(), 0..40),
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..20),
                    Just(b"countersign-".to_vec()),
                    Just(b"count".to_vec()),
                ],
                1..8,
            ),
            cut in 1usize..30,
        ) {
            let whole = pieces.concat();
            let mut sent = before.clone();
            sent.extend(format!("{NONCE}:begin:7\n").as_bytes());
            for piece in &pieces {
                sent.extend(piece);
                sent.extend(format!("{NONCE}:job:[1]+  Done: x\n").as_bytes());
            }
            let chunks: Vec<_> = sent.chunks(cut).collect();
            let (parser, clean) = parsed(&chunks);
            prop_assert_eq!(clean, whole);
            prop_assert_eq!(parser.before(), before);
            prop_assert_eq!(parser.report("begin"), Some("7"));
            prop_assert_eq!(parser.report("job"), Some("[1]+  Done: x"));
            prop_assert_eq!(parser.reports().len(), pieces.len() + 1);
        }
    }

    #[test]
    fn a_report_ends_where_the_next_begins() {
        let (parser, clean) = parsed(&[b"countersign-42:job:countersi", b"gn-42:end:9\nrest"]);
        assert_eq!(clean, b"rest");
        assert_eq!((parser.report("job"), parser.report("end")), (Some(""), Some("9")));
    }

    #[test]
    fn nonce_without_line_end_is_output() {
        let (parser, clean) = parsed(&[b"countersign-42:begin:1\n", b"a countersign-42:beg"]);
        assert_eq!(clean, b"a countersign-42:beg");
        assert_eq!(parser.reports().len(), 1);
        let endless = vec![b'x'; REPORT_BYTES];
        let (_, clean) = parsed(&[b"countersign-42:begin:1\n", b"countersign-42:", &endless, b"y"]);
        assert_eq!(clean.len(), "countersign-42:".len() + REPORT_BYTES + 1);
    }
}
