use super::*;
use crate::run::{AnsiStyle, CellColor, Hue};

fn screen(columns: u16, rows: u16, text: &str) -> TerminalScreen {
    let mut screen = TerminalScreen::new(TerminalSize::new(columns, rows));
    screen.feed(text);
    screen
}

fn texts(screen: TerminalScreen) -> Vec<String> {
    screen.into_lines().lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn a_progress_bar_is_one_line() {
    let text = "10 %\r20 %\r\x1b[K30 % done\r\nready\r\n";
    assert_eq!(texts(screen(80, 24, text)), ["30 % done", "ready"]);
}

#[test]
fn wrapped_rows_are_one_line_and_earlier_lines_are_kept() {
    let mut text: String = (0..40).map(|line| format!("line {line}\r\n")).collect();
    text.push_str(&"x".repeat(25));
    let lines = texts(screen(10, 5, &text));
    assert_eq!(lines.len(), 41);
    assert_eq!((lines[0].as_str(), lines[40].len()), ("line 0", 25));
}

#[test]
fn the_alternate_screen_leaves_no_trace_when_it_is_left() {
    let full = "before\r\n\x1b[?1049h\x1b[2J\x1b[Hediting\x1b[3;2Hrow";
    let open = screen(20, 4, full);
    assert!(open.modes().alternate_screen);
    assert_eq!(open.visible_text(), "editing\n\n row");
    assert_eq!(texts(open), ["before", "editing", "", " row"]);
    let mut left = screen(20, 4, full);
    left.feed("\x1b[?1049lafter");
    assert_eq!(texts(left), ["before", "after"]);
}

#[test]
fn a_new_size_keeps_the_text() {
    let mut it = screen(10, 4, "kingfisher and heron\r\n$ ");
    it.resize(TerminalSize::new(30, 6));
    assert_eq!(it.visible_text(), "kingfisher and heron\n$");
    it.resize(TerminalSize::new(0, 0));
    it.feed("日本\r\n");
    it.resize(TerminalSize::new(40, 10));
    assert!(it.visible_text().contains("kingfisher and heron"));
}

#[test]
fn only_queries_about_the_terminal_are_answered() {
    let mut it = screen(20, 4, "ab\x1b[6n\x1b[5n\x1b[c");
    assert_eq!(it.take_replies(), b"\x1b[1;3R\x1b[0n\x1b[?6c");
    assert!(it.take_replies().is_empty());
    // Title, clipboard (write and read), colours, and the title back as input.
    it.feed("\x1b]0;evil\x07\x1b]52;c;ZXZpbA==\x07\x1b]52;c;?\x07\x1b]10;?\x07\x1b[21t");
    assert!(it.take_replies().is_empty());
    assert_eq!(it.visible_text(), "ab");
    it.feed(&"\x1b[6n".repeat(10_000));
    assert!(it.take_replies().len() <= MAX_REPLIES);
}

#[test]
fn styles_and_colours_are_those_of_a_terminal() {
    let it =
        screen(20, 2, "\x1b[1;31ma\x1b[0;7mb\x1b[0;4;38;5;16mc\x1b[0;48;2;1;2;3md\x1b[0m\x1b(0q");
    let cells: Vec<Cell<'_>> = it.row(0).map(|(_, cell)| cell).collect();
    assert_eq!((cells[0].text, cells[0].bold), (CellColor::Hue(Hue::Red), true));
    assert_eq!((cells[1].text, cells[1].background), (CellColor::Background, CellColor::Text));
    assert_eq!((cells[2].text, cells[2].underlined), (CellColor::Rgb(0, 0, 0), true));
    assert_eq!(cells[3].background, CellColor::Rgb(1, 2, 3));
    assert_eq!(cells[4].character, '─', "line drawing");
    let lines = it.into_lines().lines;
    let style = AnsiStyle { hue: Some(Hue::Red), ..AnsiStyle::default() };
    assert_eq!(lines[0].styles.first(), Some(&(0..1, style)));
}

#[test]
fn wide_characters_take_two_cells() {
    let it = screen(10, 2, "日a");
    let cells: Vec<_> = it.row(0).take(2).map(|(column, cell)| (column, cell.is_wide)).collect();
    assert_eq!(cells, [(0, true), (2, false)]);
}

/// Characters that cannot be seen take a cell, and marks on one character are limited, also over several chunks.
#[test]
fn hidden_characters_are_visible() {
    let it = screen(20, 2, "a\u{202E}b\u{200B}c");
    assert_eq!(it.visible_text(), "a\u{FFFD}b\u{FFFD}c");
    let mut it = screen(20, 2, "e");
    for _ in 0..100 {
        it.feed("\u{301}\u{301}");
    }
    assert_eq!(it.row(0).next().unwrap().1.marks.len(), MAX_MARKS);
}

#[test]
fn cursor_is_found_only_in_sight() {
    let mut it = screen(10, 3, "a\r\nb\r\nc\r\nd\r\nee");
    assert_eq!(it.cursor(), Some(Cursor { row: 2, column: 2, is_beam: false }));
    it.scroll(1);
    assert_eq!((it.lines_below(), it.cursor()), (1, None));
    assert_eq!(it.visible_text(), "b\nc\nd");
    it.scroll_to_end();
    it.feed("\x1b[?25l");
    assert_eq!(it.cursor(), None);
}

/// A program that begins a synchronized update and never ends it does not freeze the screen.
#[test]
fn updates_are_shown_at_once() {
    assert_eq!(screen(20, 2, "\x1b[?2026hshown").visible_text(), "shown");
}

proptest::proptest! {
    #[test]
    fn any_output_and_size_is_accepted(
        pieces in proptest::collection::vec(("(\\PC|\\x1b\\[[0-9;?]{0,8}[A-Za-z]|[\\x00-\\x1f]){0,40}", 1..60_u16, 1..30_u16), 0..12)
    ) {
        let mut it = TerminalScreen::new(TerminalSize::default());
        for (text, columns, rows) in pieces {
            it.feed(&text);
            it.resize(TerminalSize::new(columns, rows));
            it.scroll(i32::from(rows) - 10);
            it.visible_text();
            it.cursor();
            it.resynchronize();
        }
        it.into_lines();
    }
}
