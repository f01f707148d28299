//! The size of a terminal.

/// The size of a terminal in cells: at least two columns, which a wide character needs, and one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct TerminalSize {
    /// The number of columns.
    columns: u16,
    /// The number of rows.
    rows: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

impl TerminalSize {
    /// The limit of both numbers, which bounds the memory of a screen.
    const MAX: u16 = 1000;
    /// With fewer columns a wide character has no place, and wrapping the lines would never end.
    const MIN_COLUMNS: u16 = 2;

    /// The nearest size of at least two columns and one row, and at most 1000 of each.
    pub const fn new(columns: u16, rows: u16) -> Self {
        let columns = if columns < Self::MIN_COLUMNS { Self::MIN_COLUMNS } else { columns };
        let rows = if rows < 1 { 1 } else { rows };
        Self {
            columns: if columns > Self::MAX { Self::MAX } else { columns },
            rows: if rows > Self::MAX { Self::MAX } else { rows },
        }
    }

    /// The number of columns.
    pub const fn columns(self) -> u16 {
        self.columns
    }

    /// The number of rows.
    pub const fn rows(self) -> u16 {
        self.rows
    }
}
