//! Where the words stand without which no rule for secrets matches: hardly any text has one, and one fast
//! look says so.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, Span, packed};

/// Characters outside ASCII that a pattern without regard to case takes for `s` and `k`. A text with
/// one of them is looked at by every rule.
pub(super) const FOLDED: [&str; 2] = ["\u{17f}", "\u{212a}"];
/// How much of a text is looked at for all words once any is found.
const BLOCK: usize = 4 << 10;
/// A text has a name for each so many bytes at most; else it is faster to read it whole.
const SPARSE: usize = 1 << 10;

/// Rules by their place, a bit for each.
pub(super) type RuleSet = u32;

/// The words of all rules.
pub(super) struct Words {
    /// Whether any word is in a text in lower case; ten times as fast as telling which. Not every
    /// processor can do it.
    any: Option<packed::Searcher>,
    /// `None` when it cannot be made: then every rule reads every text.
    all: Option<AhoCorasick>,
    /// For each word the rules that need it.
    rules_of_word: Vec<RuleSet>,
    /// The rules whose matches begin with their words.
    named: RuleSet,
    longest: usize,
}

/// What the words in a text say.
pub(super) struct Places {
    /// The rules that can match in it; all others cannot.
    pub(super) rules: RuleSet,
    /// Where the words of named rules stand, in order; none when those read the whole text.
    pub(super) names: Option<Vec<Range<usize>>>,
}

impl Places {
    /// Every rule reads the whole text.
    pub(super) const EVERYWHERE: Self = Self { rules: RuleSet::MAX, names: None };
}

impl Words {
    /// The words of each rule, and whether its matches begin with them.
    pub(super) fn new<'w>(rules: impl Iterator<Item = (&'w [&'w str], bool)>) -> Self {
        let mut rules_of_word = BTreeMap::from(FOLDED.map(|word| (word, RuleSet::MAX)));
        let mut named = 0;
        for (place, (words, is_named)) in rules.enumerate() {
            named |= RuleSet::from(is_named) << place;
            for word in words {
                *rules_of_word.entry(word).or_default() |= 1 << place;
            }
        }
        let (words, rules_of_word): (Vec<_>, _) = rules_of_word.into_iter().unzip();
        let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
        let any = packed::Searcher::new(&words);
        let all = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Self { any, all, rules_of_word, named, longest }
    }

    /// What the words in this text say. Looks at each byte once where there are none.
    pub(super) fn places(&self, text: &str) -> Places {
        let Some(all) = &self.all else { return Places::EVERYWHERE };
        let mut places = Places { rules: 0, names: Some(Vec::new()) };
        match &self.any {
            None => self.add(&mut places, all, text, 0..text.len()),
            Some(any) => {
                let (lower, mut start) = (text.to_ascii_lowercase(), 0);
                while let Some(first) = any.find_in(&lower, Span { start, end: lower.len() }) {
                    start = lower.len().min(first.start() + BLOCK);
                    self.add(&mut places, all, text, first.start()..start);
                }
            }
        }
        if places.names.as_ref().is_some_and(|names| names.len() > 8 + text.len() / SPARSE) {
            places.names = None;
        }
        places
    }

    /// Adds the words that begin in this part of the text.
    fn add(&self, places: &mut Places, all: &AhoCorasick, text: &str, part: Range<usize>) {
        let end = text.len().min(part.end + self.longest);
        for found in all.find_overlapping_iter(Input::new(text.as_bytes()).range(part.start..end)) {
            if found.start() >= part.end {
                continue;
            }
            // A word that is not in the list would be a fault here; then every rule looks.
            let rules = self.rules_of_word.get(found.pattern().as_usize());
            let rules = *rules.unwrap_or(&RuleSet::MAX);
            places.rules |= rules;
            if rules == RuleSet::MAX {
                places.names = None;
            } else if rules & self.named != 0
                && let Some(names) = &mut places.names
            {
                names.push(found.range());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn are_made(&self) -> (bool, bool) {
        (self.any.is_some(), self.all.is_some())
    }
}
