//! Who is who in a list of allowed signers (`ssh-keygen(1)`): which names and keys are one person. Pure.
//!
//! Whether a signature is valid, `ssh-keygen` alone decides. This only counts persons, and fails where the list does not say
//! who somebody is: a name that is a pattern, and a certificate, can be anybody. Of all lines that `ssh-keygen` reads, only those
//! of the plainest form are accepted, so that none means something else to it: names without quotes, known options with plain
//! values, the one text of a key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::signing::{field, why_no_principal};

/// The persons of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Persons {
    /// The person of each name, in lower case, and of each fingerprint, as a number.
    persons: BTreeMap<String, usize>,
    /// The names with their keys, as the lines have them.
    pairs: Vec<(String, String)>,
    /// The keys of lines with patterns.
    of_pattern: BTreeSet<String>,
}

impl Persons {
    /// Reads a list. Names of one key are one person, and so are keys of one name.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn read(list: &str) -> Result<Self, String> {
        let mut persons = Self::default();
        for (index, line) in list.lines().enumerate() {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let signer = Signer::read(line);
            let Signer { names, key, is_authority } = signer
                .ok_or_else(|| format!("line {} of the list cannot be understood", index + 1))?;
            if is_authority {
                continue;
            }
            // Such a key can be anybody's.
            if names.iter().any(|name| name.contains(['*', '?', '!'])) {
                persons.of_pattern.insert(key.clone());
            }
            let named = names.into_iter().filter(|name| !name.contains(['*', '?', '!']));
            let named: Vec<String> = named.collect();
            persons.join(named.iter().map(|name| name.to_lowercase()).chain([key.clone()]));
            persons.pairs.extend(named.into_iter().map(|name| (name, key.clone())));
        }
        Ok(persons)
    }

    /// Makes these names and keys one person.
    fn join(&mut self, known_as: impl Iterator<Item = String>) {
        let known_as: Vec<String> = known_as.collect();
        let number = self.persons.values().max().map_or(0, |last| last + 1);
        let before: Vec<usize> =
            known_as.iter().filter_map(|it| self.persons.get(it).copied()).collect();
        for person in self.persons.values_mut().filter(|person| before.contains(person)) {
            *person = number;
        }
        self.persons.extend(known_as.into_iter().map(|it| (it, number)));
    }

    /// The number of the person with this name and the key with this fingerprint.
    ///
    /// # Errors
    /// Why the list does not say who that is.
    pub fn of(&self, name: &str, fingerprint: &str) -> Result<usize, String> {
        let is_it = |(of_list, key): &&(String, String)| of_list == name && key == fingerprint;
        let pair = self.pairs.iter().find(is_it).ok_or_else(|| {
            format!(
                "the list of allowed signers has no line with exactly the name {name} and the key {fingerprint}; a pattern \
                 or a certificate does not say which person it is"
            )
        })?;
        if self.of_pattern.contains(fingerprint) {
            return Err(format!(
                "the list of allowed signers has {fingerprint} with a pattern, too"
            ));
        }
        Ok(self.persons.get(&pair.1).copied().unwrap_or_default())
    }

    /// The number of the person with this name; `None` if the list has no such name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.persons.get(&name.to_lowercase()).copied()
    }
}

/// A line of the list.
struct Signer {
    names: Vec<String>,
    /// The fingerprint.
    key: String,
    is_authority: bool,
}

impl Signer {
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split([' ', '\t']).filter(|field| !field.is_empty());
        let is_odd = |sign: char| sign.is_control() && sign != '\t' || sign == '\u{feff}';
        let (names, second) = (fields.next()?, fields.next()?);
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        let is_name = |name: &String| {
            let name = name.strip_prefix('!').unwrap_or(name).replace(['*', '?'], "x");
            why_no_principal(&name).is_none()
        };
        if line.contains(is_odd) || !names.iter().all(is_name) {
            return None;
        }
        let (options, kind) = match KINDS.contains(&second) {
            true => ("", second),
            false => (second, fields.next()?),
        };
        let is_authority = is_authority(options)?;
        let blob = blob_of(kind, fields.next()?)?;
        let key = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob)));
        Some(Self { names, key, is_authority })
    }
}

/// The kinds of keys. A certificate is none.
const KINDS: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// Whether the options of a line say that its key signs certificates; `None` for options that are not known, or have values
/// that are not plain.
fn is_authority(options: &str) -> Option<bool> {
    let mut rest = options;
    let mut is_authority = false;
    while !rest.is_empty() {
        let end = rest.find([',', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end)?;
        let name = name.to_ascii_lowercase();
        rest = match (name.as_str(), after.strip_prefix("=\"")) {
            ("cert-authority", None) if !after.starts_with('=') => {
                is_authority = true;
                after
            }
            ("namespaces" | "valid-after" | "valid-before", Some(value)) => {
                let (value, after) = value.split_once('"')?;
                let is_plain =
                    |sign: char| sign.is_ascii_alphanumeric() || ".,:@+-_/*".contains(sign);
                if value.is_empty() || !value.chars().all(is_plain) {
                    return None;
                }
                after
            }
            _ => return None,
        };
        rest = match (rest, rest.strip_prefix(',')) {
            ("", _) => "",
            (_, Some(following)) if !following.is_empty() => following,
            _ => return None,
        };
    }
    Some(is_authority)
}

/// The bytes of a key of this kind, if the text is the only one of them.
fn blob_of(kind: &str, text: &str) -> Option<Vec<u8>> {
    if !KINDS.contains(&kind) {
        return None;
    }
    let blob = STANDARD.decode(text).ok().filter(|blob| STANDARD.encode(blob) == text)?;
    let mut rest = blob.as_slice();
    let mut fields = Vec::new();
    while !rest.is_empty() {
        fields.push(field(&mut rest)?);
    }
    let [of_kind, parts @ ..] = fields.as_slice() else { return None };
    // A number has one form: no more zeros than its sign needs.
    let is_number = |number: &&[u8]| match number {
        [0, next, ..] => *next >= 0x80,
        [first, ..] => *first != 0 && *first < 0x80,
        [] => false,
    };
    let is_form = match (kind, parts) {
        ("ssh-ed25519", [key]) => key.len() == 32,
        ("ssh-rsa", numbers @ [_, _]) => numbers.iter().all(is_number),
        ("sk-ssh-ed25519@openssh.com", [key, _]) => key.len() == 32,
        ("sk-ecdsa-sha2-nistp256@openssh.com", [b"nistp256", point, _]) => {
            point.first() == Some(&4)
        }
        (kind, [curve, point]) => {
            kind.as_bytes().strip_prefix(b"ecdsa-sha2-") == Some(curve) && point.first() == Some(&4)
        }
        _ => false,
    };
    (*of_kind == kind.as_bytes() && is_form).then_some(blob)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key with this letter in it, and its fingerprint.
    fn key(letter: u8) -> (String, String) {
        let mut blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20".to_vec();
        blob.extend([letter; 32]);
        let fingerprint = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&blob)));
        (format!("ssh-ed25519 {}", STANDARD.encode(&blob)), fingerprint)
    }

    /// A key of RSA with this exponent.
    fn rsa(exponent: &[u8]) -> String {
        let mut blob = Vec::new();
        for part in [b"ssh-rsa".as_slice(), exponent, &[0, 0xc0, 1]] {
            blob.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            blob.extend(part);
        }
        STANDARD.encode(blob)
    }

    fn persons(lines: &[(&str, u8)]) -> Persons {
        let line = |(names, letter): &(&str, u8)| format!("{names} {}\n", key(*letter).0);
        Persons::read(&lines.iter().map(line).collect::<String>()).unwrap()
    }

    fn are_one(lines: &[(&str, u8)], one: (&str, u8), other: (&str, u8)) -> bool {
        let persons = persons(lines);
        let of = |(name, letter): (&str, u8)| persons.of(name, &key(letter).1).unwrap();
        of(one) == of(other)
    }

    #[test]
    fn names_and_keys_are_joined_to_persons() {
        let apart = [("ada", b'a'), ("bob", b'b')];
        assert!(!are_one(&apart, ("ada", b'a'), ("bob", b'b')));
        // Lines that say nothing new.
        let again = [("ada", b'a'), ("ada", b'a'), ("bob", b'b'), ("ada", b'a'), ("carol", b'c')];
        assert!(!are_one(&again, ("ada", b'a'), ("bob", b'b')));
        assert!(!are_one(&again, ("ada", b'a'), ("carol", b'c')));
        for joined in [
            &[("ada,ada2", b'a'), ("ada,ada2", b'b')][..],
            &[("ada", b'a'), ("ada2", b'b'), ("ada", b'b')],
            &[("ada", b'a'), ("ada2", b'b'), ("x", b'b'), ("x", b'c'), ("ada", b'c')],
            &[("ada2", b'b'), ("ADA2", b'a'), ("ada", b'a')],
            &[
                ("ada,ada2 cert-authority", b'z'),
                ("ada,ada2", b'a'),
                ("ada2 namespaces=\"a,b\"", b'b'),
            ],
        ] {
            assert!(are_one(joined, ("ada", b'a'), ("ada2", b'b')), "{joined:?}");
        }
    }

    #[test]
    fn a_pattern_or_another_name_is_nobody() {
        let list = [
            ("*@x.org", b'a'),
            ("* cert-authority", b'b'),
            ("ada", b'c'),
            ("ad?", b'd'),
            ("ada", b'e'),
            ("b*", b'e'),
        ];
        let persons = persons(&list);
        for (name, letter) in [
            ("zed@x.org", b'a'),
            ("zed", b'b'),
            ("eve", b'c'),
            ("Ada", b'c'),
            ("ada", b'd'),
            ("ada", b'e'),
        ] {
            assert!(persons.of(name, &key(letter).1).is_err(), "{name}");
        }
        assert!(persons.of("ada", &key(b'c').1).is_ok());
    }

    #[test]
    fn a_line_that_is_not_understood_is_an_error() {
        let known = key(b'a').0;
        let blob = known.split_once(' ').unwrap().1;
        // Most of these mean another name or key to ssh-keygen.
        for line in [
            "ada".to_owned(),
            "ada ssh-ed25519".to_owned(),
            "ada ssh-rsa AAAA".to_owned(),
            format!("ada ssh-rsa {blob}"),
            format!("ada x {known}"),
            format!("\"ada {known}"),
            format!("\"ada,bob\"namespaces=\"a\" {known}"),
            format!("ad\"a@x\" {known}"),
            format!("ada,bob\rnamespaces=\"a\" {known}"),
            format!("ada {known}\r\r"),
            format!("\u{feff}ada {known}"),
            format!("ada namespaces=\"a,\\\" {known} \" {known}"),
            format!("ada namespaces=\"a b\" {known}"),
            format!("ada namespaces= {known}"),
            format!("ada cert-authority=\"x\" {known}"),
            format!("ada cert-authority, {known}"),
            format!("ada no-such-option {known}"),
            format!("ada ssh-ed25519 {}", blob.replacen('A', "A\u{b}", 1)),
            format!("ada ssh-ed25519 {blob}="),
            format!("ada ssh-ed25519-cert-v01@openssh.com {blob}"),
            format!("ada rsa-sha2-512 {}", rsa(&[1, 0, 1])),
            format!("ada ssh-rsa {}", rsa(&[0, 1, 0, 1])),
        ] {
            let list = format!("# note\n\n{line}\n");
            let why = Persons::read(&list).unwrap_err();
            assert_eq!(why, "line 3 of the list cannot be understood", "{line:?}");
        }
        assert!(Persons::read(&format!("ada ssh-rsa {}\n", rsa(&[1, 0, 1]))).is_ok());
        assert_eq!(is_authority("namespaces=\"countersign,cert-authority\""), Some(false));
        let options = format!("ada valid-before=\"20300101\",NAMESPACES=\"a,b\"\t{known} a note\n");
        assert!(Persons::read(&options).unwrap().of("ada", &key(b'a').1).is_ok());
    }
}
