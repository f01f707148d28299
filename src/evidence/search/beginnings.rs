//! The words of the index that begin alike. Given a beginning, FTS5 joins the lists of all these words before its first
//! hit; given the words themselves, it walks their lists side by side, so that a page costs only its own hits.

use rusqlite::Connection;

use crate::evidence::error::Result;
use crate::evidence::rows::find;

/// Most words that are searched for side by side. Finding each takes longer than it saves when there are more.
const MOST: usize = 40;

/// All words of the index that begin like this; `None` if there are many, or if only FTS5 knows how it would write this
/// one.
///
/// # Errors
/// Any error of the index.
pub(super) fn words_beginning(conn: &Connection, beginning: &str) -> Result<Option<Vec<String>>> {
    if !beginning.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let beginning = beginning.to_ascii_lowercase();
    let mut words: Vec<String> = Vec::new();
    let mut from = beginning.clone();
    // The table has a row for each occurrence, so it is asked for the first one of the next word each time.
    let sql = "SELECT term FROM vocabulary WHERE term >= ?1 LIMIT 1";
    while let Some(word) = find::<String>(conn, sql, [&from], |row| Ok(row.get(0)?))?
        .filter(|word| word.starts_with(&beginning))
    {
        if words.len() == MOST {
            return Ok(None);
        }
        // No word has this character, which comes before those of all words.
        from = format!("{word}\u{1}");
        words.push(word);
    }
    Ok(Some(words))
}
