//! The places of a file in a patch, and in edit blocks.

use super::begin_patch::END_OF_FILE;
use super::lines::Lines;
use crate::plan::{Code, Finding, Severity};

/// The most lines that are compared for the places of one file.
const MAX_COMPARED: usize = 1 << 24;

/// Lines that a file has, and lines in their place.
pub(super) struct Place<'a> {
    /// The index of its first line in the patch.
    begun: usize,
    /// A line of the file above the place.
    anchor: Option<&'a str>,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    is_at_end: bool,
}

impl<'a> Place<'a> {
    /// A place that is named by its lines alone.
    pub(super) fn of_lines(begun: usize, old: &'a str, new: &'a str) -> Self {
        let (old, new) = (old.split_terminator('\n'), new.split_terminator('\n'));
        Self { begun, anchor: None, old: old.collect(), new: new.collect(), is_at_end: false }
    }

    /// The next place; `None` if there is no other one of this file.
    pub(super) fn read(lines: &mut Lines<'a>) -> Option<Result<Self, Finding>> {
        let is_header = |line: &str| line.starts_with("*** ");
        let line = lines.peek().filter(|line| line.trim() == END_OF_FILE || !is_header(line))?;
        let begun = lines.index();
        let anchor = line.trim_end().strip_prefix("@@");
        if anchor.is_some() {
            lines.take();
        }
        let mut place =
            Self { begun, anchor: None, old: Vec::new(), new: Vec::new(), is_at_end: false };
        let mut wrong = None;
        match anchor {
            None | Some("") => {}
            Some(anchor) => match anchor.strip_prefix(' ') {
                Some(anchor) if !anchor.starts_with('-') => place.anchor = Some(anchor),
                _ => {
                    wrong = Some(lines.error_at(
                        begun,
                        "behind `@@` stands a line of the file, and no line numbers",
                    ))
                }
            },
        }
        while let Some(line) =
            lines.peek().filter(|line| !is_header(line) && !line.starts_with("@@"))
        {
            let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            if !matches!(mark, " " | "-" | "+") && wrong.is_none() {
                wrong = Some(lines.error("a line of a place begins with a space, `-` or `+`"));
            }
            if mark != "+" {
                place.old.push(text);
            }
            if mark != "-" {
                place.new.push(text);
            }
            lines.take();
        }
        if lines.peek().is_some_and(|line| line.trim() == END_OF_FILE) {
            place.is_at_end = true;
            lines.take();
        }
        let wrong = wrong.or_else(|| {
            let message = match (place.old.is_empty(), place.old == place.new) {
                (true, true) => "a place without lines",
                (false, true) => "nothing is changed here",
                (true, false) if place.anchor.is_some() => {
                    "lines are added, but it is not said between which lines of the file: the original would put them \
                     at its end"
                }
                _ => return None,
            };
            Some(lines.error_at(begun, message))
        });
        Some(wrong.map_or(Ok(place), Err))
    }
}

/// The text with these places changed, and what has to be known about them.
pub(super) fn apply(
    lines: &Lines<'_>,
    before: &str,
    places: &[Place<'_>],
) -> (String, Vec<Finding>) {
    let mut of_file: Vec<&str> = before.split('\n').collect();
    if of_file.last() == Some(&"") {
        of_file.pop();
    }
    if places.len().saturating_mul(of_file.len()) > MAX_COMPARED {
        let message = "its places and lines are too many to look for each place";
        let begun = places.first().map_or(0, |place| place.begun);
        let error = Finding { code: Code::Limit, ..lines.error_at(begun, message) };
        return (before.to_owned(), vec![error]);
    }
    let has_carriage_returns = of_file.iter().any(|line| line.ends_with('\r'));
    let (mut after, mut from, mut findings): (Vec<&str>, _, _) = (Vec::new(), 0, Vec::new());
    for place in places {
        let mut add = |severity, message: String| {
            findings.push(Finding { severity, ..lines.error_at(place.begun, message) });
        };
        let mut added = place.new.iter().filter(|line| !place.old.contains(line));
        if has_carriage_returns && added.any(|line| !line.ends_with('\r')) {
            let message =
                "lines of the file end with CR and LF, and those that are added with LF alone";
            add(Severity::Error, message.to_owned());
            continue;
        }
        match find(&of_file, place, from) {
            Ok((index, note)) => {
                if let Some(note) = note {
                    add(Severity::Warning, note);
                }
                after.extend(of_file.get(from..index).unwrap_or_default());
                after.extend(&place.new);
                from = index + place.old.len();
            }
            Err(message) => add(Severity::Error, message),
        }
    }
    after.extend(of_file.get(from..).unwrap_or_default());
    let mut text = after.join("\n");
    if !after.is_empty() {
        text.push('\n');
    }
    (text, findings)
}

/// The index of the line at which the old lines of a place begin, and what has to be known about it.
fn find(
    of_file: &[&str],
    place: &Place<'_>,
    from: usize,
) -> Result<(usize, Option<String>), String> {
    let old = &place.old;
    if old.is_empty() {
        return Ok((of_file.len(), None));
    }
    let mut begin = from;
    if let Some(anchor) = place.anchor {
        let at = occurrences(of_file, &[anchor], from);
        begin = match at.as_slice() {
            [at] => at + 1,
            [] if of_file.contains(&anchor) => {
                return Err(format!("the line {anchor:?} stands only above the place before"));
            }
            [] => return Err(format!("the file has no line {anchor:?}")),
            many => {
                return Err(format!("the file has the line {anchor:?} {} times", many.len()));
            }
        };
    }
    let at = occurrences(of_file, old, begin);
    if place.is_at_end {
        let end = of_file.len().saturating_sub(old.len());
        return match at.last() {
            Some(at) if *at == end => Ok((end, None)),
            _ => Err("the file does not end with these lines".to_owned()),
        };
    }
    match (at.as_slice(), place.anchor) {
        ([at], _) => Ok((*at, None)),
        ([], _) => Err(absent(of_file, old, begin)),
        ([first, ..], Some(anchor)) => {
            let note = format!(
                "these lines are there {} times behind {anchor:?}: the first are meant, at line {}",
                at.len(),
                first + 1
            );
            Ok((*first, Some(note)))
        }
        (many, None) => Err(format!(
            "these lines are there {} times, at the lines {}: give more of the lines around \
             them",
            many.len(),
            many.iter().take(5).map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// Why the lines are not there.
fn absent(of_file: &[&str], old: &[&str], from: usize) -> String {
    if !occurrences(of_file, old, 0).is_empty() {
        return "these lines stand only above the place before".to_owned();
    }
    let spaces =
        |lines: &[&str]| lines.iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let (file, old) = (spaces(of_file), spaces(old));
    match occurrences(&file, &old, from).first() {
        Some(at) => format!(
            "the file has these lines only with other spaces or line ends, at line {}: a plan changes nothing that \
             only looks alike",
            at + 1
        ),
        None => "the file does not have these lines".to_owned(),
    }
}

/// Where these lines stand, from a line on. Looks at each line of the file once (Knuth, Morris and Pratt), so that a file
/// whose lines are all alike does not take long.
fn occurrences<T: AsRef<str>>(of_file: &[T], lines: &[T], from: usize) -> Vec<usize> {
    let is_same =
        |line: Option<&T>, other: &T| line.is_some_and(|it| it.as_ref() == other.as_ref());
    // How many of the first lines are also the last ones, of the lines up to each.
    let mut borders = vec![0; lines.len()];
    for (index, line) in lines.iter().enumerate().skip(1) {
        let mut length = borders.get(index - 1).copied().unwrap_or(0);
        while length > 0 && !is_same(lines.get(length), line) {
            length = borders.get(length - 1).copied().unwrap_or(0);
        }
        length += usize::from(is_same(lines.get(length), line));
        if let Some(border) = borders.get_mut(index) {
            *border = length;
        }
    }
    let (mut found, mut length) = (Vec::new(), 0);
    for (index, line) in of_file.iter().enumerate().skip(from) {
        while length > 0 && !is_same(lines.get(length), line) {
            length = borders.get(length - 1).copied().unwrap_or(0);
        }
        length += usize::from(is_same(lines.get(length), line));
        if length == lines.len() && length > 0 {
            found.push(index + 1 - length);
            length = borders.get(length - 1).copied().unwrap_or(0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_found_wherever_they_stand(
            file in prop::collection::vec("[ab]?", 0..40),
            lines in prop::collection::vec("[ab]?", 1..5),
            from in 0_usize..10,
        ) {
            let windows = file.windows(lines.len()).enumerate().skip(from);
            let expected: Vec<_> =
                windows.filter(|(_, it)| *it == lines).map(|(index, _)| index).collect();
            prop_assert_eq!(occurrences(&file, &lines, from), expected);
        }
    }
}
