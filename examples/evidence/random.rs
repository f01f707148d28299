//! Pseudo-random words, lines, paths and ids.

use uuid::Uuid;

/// The number of different words; the first ones are frequent, the last ones are rare.
const WORDS: u64 = 20_000;
const COMMON: [&str; 24] = [
    "the",
    "error",
    "warning",
    "test",
    "result",
    "function",
    "value",
    "file",
    "line",
    "module",
    "type",
    "expected",
    "found",
    "compiling",
    "finished",
    "running",
    "passed",
    "failed",
    "build",
    "target",
    "debug",
    "unused",
    "variable",
    "help",
];
const FOLDERS: [&str; 12] = [
    "src",
    "src/parser",
    "src/lexer",
    "src/net",
    "tests",
    "benches",
    "docs",
    "crates/core/src",
    "crates/cli/src",
    "crates/store/src",
    "examples",
    "assets",
];
/// A sequence of pseudo-random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        let index = self.below(all.len() as u64);
        all.get(index as usize).copied().unwrap_or_default()
    }

    /// Whether something happens that happens once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn id(&mut self) -> Uuid {
        let bytes = u128::from(self.next()) << 64 | u128::from(self.next());
        uuid::Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid()
    }

    /// A word, more often one of the first ones: half of all are common, and the rest becomes ever rarer.
    pub fn word(&mut self) -> String {
        if self.once_in(2) {
            return self.one_of(&COMMON).to_owned();
        }
        let end = 1 + self.below(WORDS);
        word(self.below(end))
    }

    pub fn line(&mut self, words: u64) -> String {
        let words: Vec<_> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }

    pub fn path(&mut self) -> String {
        let folder = self.one_of(&FOLDERS);
        let end = 1 + self.below(WORDS / 20);
        format!("{folder}/{}.rs", word(self.below(end)))
    }
}

/// A word that can be pronounced, by its number.
pub fn word(number: u64) -> String {
    const FIRST: [&str; 16] =
        ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"];
    const SECOND: [&str; 5] = ["a", "e", "i", "o", "u"];
    let mut word = String::new();
    let mut rest = number + 80;
    while rest > 0 {
        word.push_str(FIRST[(rest % 16) as usize]);
        word.push_str(SECOND[(rest / 16 % 5) as usize]);
        rest /= 80;
    }
    word
}
