//! Values of statements and of their rows, in PostgreSQL's binary form.

use bytes::{BufMut as _, Bytes, BytesMut};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::DataRowBody;
use postgres_protocol::types::array_to_sql;

use super::TeamError;
use super::error::Result;

/// The numbers of PostgreSQL's types.
const TEXT: u32 = 25;
const INT8: u32 = 20;
const BYTEA: u32 = 17;

type Written = std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

/// A value for a statement, which names its type: `$1::bigint[]`.
pub(super) enum Param<'v> {
    /// A text, or null.
    Text(Option<&'v str>),
    Int(i64),
    Texts(Vec<Option<&'v str>>),
    Ints(Vec<i64>),
    BytesOf(Vec<&'v [u8]>),
}

impl Param<'_> {
    /// Every value is in binary form.
    pub(super) fn format(&self) -> i16 {
        1
    }

    pub(super) fn write(&self, out: &mut BytesMut) -> Written {
        match self {
            Self::Text(None) => return Ok(IsNull::Yes),
            Self::Text(Some(text)) => out.put_slice(text.as_bytes()),
            Self::Int(number) => out.put_i64(*number),
            Self::Texts(texts) => array(texts, TEXT, out, |text, out| match text {
                None => IsNull::Yes,
                Some(text) => {
                    out.put_slice(text.as_bytes());
                    IsNull::No
                }
            })?,
            Self::Ints(numbers) => array(numbers, INT8, out, |number, out| {
                out.put_i64(*number);
                IsNull::No
            })?,
            Self::BytesOf(all) => array(all, BYTEA, out, |bytes, out| {
                out.put_slice(bytes);
                IsNull::No
            })?,
        }
        Ok(IsNull::No)
    }
}

fn array<T>(
    items: &[T],
    oid: u32,
    out: &mut BytesMut,
    mut write: impl FnMut(&T, &mut BytesMut) -> IsNull,
) -> Result<(), Box<dyn std::error::Error + Sync + Send>> {
    use postgres_protocol::types::ArrayDimension;
    let len = i32::try_from(items.len())?;
    let dimension = ArrayDimension { len, lower_bound: 1 };
    array_to_sql([dimension], oid, items, |item, out| Ok(write(item, out)), out)
}

/// A row of an answer.
pub(super) struct Row(Vec<Option<Bytes>>);

impl Row {
    /// # Errors
    /// When the message is no row.
    pub(super) fn of(body: &DataRowBody) -> Result<Self> {
        let all = body.buffer_bytes();
        let columns = body.ranges().map(|range| Ok(range.map(|range| all.slice(range)))).collect();
        columns.map(Self).map_err(|error| TeamError::Answer(error.to_string()))
    }

    /// The bytes of a column; `None` if it is null.
    pub(super) fn bytes(&self, column: usize) -> Option<&[u8]> {
        self.0.get(column)?.as_deref()
    }

    /// The text of a column; `None` if it is null.
    pub(super) fn text(&self, column: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(column)?).ok()
    }

    /// The text of a column, empty if it is null.
    pub(super) fn owned(&self, column: usize) -> String {
        self.text(column).unwrap_or_default().to_owned()
    }

    /// The number in a column of 4 or 8 bytes; `None` if it is null.
    pub(super) fn int(&self, column: usize) -> Option<i64> {
        let bytes = self.bytes(column)?;
        match bytes.len() {
            4 => Some(i64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
            8 => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// Whether a column is true.
    pub(super) fn flag(&self, column: usize) -> bool {
        self.bytes(column) == Some(&[1])
    }
}
