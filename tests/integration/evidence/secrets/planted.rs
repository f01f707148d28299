//! Reads the kinds of secrets from a file of texts, and fills in their random parts.

/// An environment variable whose value is a secret everywhere.
pub const VARIABLE: (&str, &str) = ("APP_SECRET", "ENVVALUE-a8Kq2Lw9Xz4Pm");

/// One kind: its text, and the part of it that is secret.
pub struct Planted {
    pub name: String,
    pub text: String,
    pub secret: String,
}

/// Pseudorandom characters, the same in each run.
struct Filling(u64);

impl Filling {
    fn of(&mut self, set: &str, length: usize) -> String {
        let set: Vec<char> = set.chars().collect();
        (0..length).map(|_| set[self.next() % set.len()]).collect()
    }

    fn next(&mut self) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap()
    }

    fn filled(&mut self, text: &str) -> String {
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const DIGITS: &str = "0123456789";
        let alnum = [UPPER, LOWER, DIGITS].concat();
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let (name, after_name) = after.split_once('}').unwrap_or((after, ""));
            let (set, length) = name.split_once(':').unwrap_or((name, "0"));
            let length = length.parse().unwrap_or(0);
            let value = match set {
                "alnum" => self.of(&alnum, length),
                "hex" => self.of("0123456789abcdef", length),
                "b64" => self.of(&format!("{alnum}+/"), length),
                "url" => self.of(&format!("{alnum}-_"), length),
                "crypt" => self.of(&format!("{alnum}./"), length),
                "digits" => self.of(DIGITS, length),
                "upper" => self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length),
                "pw" => {
                    [self.of(LOWER, 6), self.of("!_.-", 1), self.of(&alnum, 5), self.of(DIGITS, 2)]
                        .concat()
                }
                "uuid" => [8, 4, 4, 4, 12].map(|n| self.of("0123456789abcdef", n)).join("-"),
                "env" => VARIABLE.1.to_owned(),
                "esc" => "\u{1b}".to_owned(),
                "KEY" => "KEY".to_owned(),
                // A literal brace.
                _ => {
                    filled.push('{');
                    rest = after;
                    continue;
                }
            };
            filled.push_str(&value);
            rest = after_name;
        }
        filled + rest
    }
}

/// The kinds in a file's text, with their random parts generated from `seed`.
pub fn planted(kinds: &str, seed: u64) -> Vec<Planted> {
    let mut filling = Filling(seed);
    kinds
        .split("\n## ")
        .skip(1)
        .map(|kind| {
            let (name, text) = kind.split_once('\n').unwrap();
            let marked = filling.filled(text.trim_end());
            let (_, secret) = marked.split_once('«').unwrap_or_else(|| panic!("{name}"));
            let (secret, _) = secret.split_once('»').unwrap();
            let (text, secret) = (marked.replace(['«', '»'], ""), secret.to_owned());
            Planted { name: name.to_owned(), text, secret }
        })
        .collect()
}

/// The parts of a secret that look the same in every encoding: without line breaks, quotes and escapes.
pub fn needles(secret: &str) -> Vec<&str> {
    secret
        .split(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\'' | '\\' | '[' | ';' | ','))
        .filter(|part| part.len() >= 10)
        .collect()
}
