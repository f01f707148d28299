//! Who is who in a list of allowed signers (`ssh-keygen(1)`): which names and keys are one person. Pure.
//!
//! Whether a signature is valid, `ssh-keygen` alone decides. This only counts persons, and fails where the list does not say
//! who somebody is: a name that is a pattern, and a certificate, can be anybody.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

/// The persons of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Persons {
    /// The person of each name, in lower case, and of each fingerprint, as a number.
    persons: BTreeMap<String, usize>,
    /// The names with their keys, as the lines have them.
    pairs: Vec<(String, String)>,
}

impl Persons {
    /// Reads a list. Names of one key are one person, and so are keys of one name.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn read(list: &str) -> Result<Self, String> {
        let mut persons = Self::default();
        for (index, line) in list.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let signer = Signer::read(line);
            let Signer { names, key, is_authority } = signer
                .ok_or_else(|| format!("line {} of the list cannot be understood", index + 1))?;
            if is_authority {
                continue;
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
        let number = self.persons.len();
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
        let (names, rest) = field(line)?;
        let names = names.trim_matches('"').split(',').map(str::to_owned).collect();
        let (second, after) = field(rest)?;
        // Options are left out where there are none. No type of key has these signs.
        let (options, blob) = match field(after) {
            Some((blob, _)) if blob_of(second, blob).is_some() => ("", blob_of(second, blob)),
            Some((of_key, after)) => (second, field(after).and_then(|(it, _)| blob_of(of_key, it))),
            None => return None,
        };
        let key = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob?)));
        // ssh-keygen reads options without regard to case.
        let is_authority = options.to_ascii_lowercase().contains("cert-authority");
        Some(Self { names, key, is_authority })
    }
}

/// The bytes of a key, if its text begins with its type.
fn blob_of(kind: &str, text: &str) -> Option<Vec<u8>> {
    let blob = STANDARD.decode(text).ok()?;
    let (length, rest) = blob.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    (rest.get(..length)? == kind.as_bytes()).then_some(blob)
}

/// The first field and the rest of a line; spaces in double quotes are no ends of a field.
fn field(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches([' ', '\t']);
    let mut is_quoted = false;
    let end = line.char_indices().find(|(_, sign)| {
        is_quoted ^= *sign == '"';
        !is_quoted && matches!(sign, ' ' | '\t')
    });
    let end = end.map_or(line.len(), |(end, _)| end);
    let (field, rest) = line.split_at_checked(end)?;
    (!field.is_empty()).then_some((field, rest))
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
        for joined in [
            &[("ada,ada2", b'a'), ("ada,ada2", b'b')][..],
            &[("ada", b'a'), ("ada2", b'b'), ("ada", b'b')],
            &[("ada", b'a'), ("ada2", b'b'), ("x", b'b'), ("x", b'c'), ("ada", b'c')],
            &[("ada2", b'b'), ("ADA2", b'a'), ("ada", b'a')],
            &[
                ("\"ada,ada2\" cert-authority", b'z'),
                ("\"ada,ada2\"", b'a'),
                ("ada2 namespaces=\"a b\"", b'b'),
            ],
        ] {
            assert!(are_one(joined, ("ada", b'a'), ("ada2", b'b')), "{joined:?}");
        }
    }

    #[test]
    fn a_pattern_or_another_name_is_nobody() {
        let list =
            [("*@x.org", b'a'), ("* cert-authority", b'b'), ("ada,!eve", b'c'), ("ad?", b'd')];
        let persons = persons(&list);
        for (name, letter) in
            [("zed@x.org", b'a'), ("zed", b'b'), ("eve", b'c'), ("Ada", b'c'), ("ada", b'd')]
        {
            assert!(persons.of(name, &key(letter).1).is_err(), "{name}");
        }
        assert!(persons.of("ada", &key(b'c').1).is_ok());
    }

    #[test]
    fn a_line_that_is_not_understood_is_an_error() {
        let known = key(b'a').0;
        for line in
            ["ada", "ada ssh-ed25519", "ada ssh-rsa AAAA", "ada x y z", &format!("\"ada {known}")]
        {
            let list = format!("# note\n\n{line}\n");
            assert_eq!(
                Persons::read(&list).unwrap_err(),
                "line 3 of the list cannot be understood"
            );
        }
        let options =
            format!("ada valid-before=\"20300101\",namespaces=\"a,b c\"\t{known} a note\n");
        assert!(Persons::read(&options).unwrap().of("ada", &key(b'a').1).is_ok());
    }
}
