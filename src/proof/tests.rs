//! The formats against published test data, and against readers that were not written here.

use std::cell::RefCell;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use signed_note::{Note, Signer as _, StandardSigner, StandardVerifier, VerifierList};
use tlog_tiles::tlog::{self, Hash, HashReader};

use super::*;
use crate::plan::Digest;

/// The leaves and roots of the test data of Certificate Transparency (RFC 6962).
const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];
const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

#[test]
fn roots_are_those_of_published_test_data() {
    let mut all = Tree::default();
    (0..=8).for_each(|size| all.want_root(size));
    let mut growing = Tree::default();
    assert_eq!(growing.root().hex(), ROOTS[0]);
    for (size, leaf) in (1..).zip(LEAVES) {
        growing.push(leaf);
        all.push(leaf);
        assert_eq!((growing.size(), growing.root().hex().as_str()), (size, ROOTS[size as usize]));
    }
    for size in 0..=8 {
        assert_eq!(all.root_at(size).unwrap().hex(), ROOTS[size as usize], "{size}");
    }
    assert_eq!(all.root_at(9), None);
    assert_eq!(growing.root_at(5), None, "it was not asked for");
}

/// All hashes of a tree, for the other implementation.
#[derive(Default)]
struct Stored(RefCell<Vec<Hash>>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, tlog::Error> {
        let stored = self.0.borrow();
        Ok(indexes.iter().map(|index| stored[*index as usize]).collect())
    }
}

fn theirs(digest: &Digest) -> Hash {
    Hash(*digest.as_bytes())
}

/// For all trees up to this size, which has each shape of the right edge several times, every proof is that of the other
/// implementation, and its check accepts it.
#[test]
fn proofs_are_those_of_another_implementation() {
    const SIZE: u64 = 70;
    let data = |index: u64| Digest::of(&index.to_be_bytes());
    let (stored, mut tree) = (Stored::default(), Tree::default());
    for size in 0..=SIZE {
        tree.want_root(size);
        (0..size).for_each(|index| tree.want_inclusion(index, size));
        (0..=size).for_each(|before| tree.want_consistency(before, size));
    }
    for index in 0..SIZE {
        tree.push(data(index).as_bytes());
        let hashes = tlog::stored_hashes(index, data(index).as_bytes(), &stored).unwrap();
        stored.0.borrow_mut().extend(hashes);
    }
    for size in 1..=SIZE {
        let root = tree.root_at(size).unwrap();
        assert!(tlog::tree_hash(size, &stored).unwrap() == theirs(&root), "{size}");
        for index in 0..size {
            let proof = tree.inclusion_proof(index, size).unwrap();
            let proof: Vec<Hash> = proof.iter().map(theirs).collect();
            assert!(
                proof == tlog::prove_record(size, index, &stored).unwrap(),
                "{index} of {size}"
            );
            let leaf = tlog::record_hash(data(index).as_bytes());
            tlog::check_record(&proof, size, theirs(&root), index, leaf).unwrap();
        }
        for before in 1..=size {
            let proof = tree.consistency_proof(before, size).unwrap();
            let proof: Vec<Hash> = proof.iter().map(theirs).collect();
            assert!(proof == tlog::prove_tree(size, before, &stored).unwrap(), "{before} {size}");
            let old = theirs(&tree.root_at(before).unwrap());
            tlog::check_tree(&proof, size, theirs(&root), before, old).unwrap();
        }
        assert_eq!(tree.consistency_proof(0, size), Some(Vec::new()));
    }
    assert_eq!(tree.inclusion_proof(SIZE, SIZE), None);
    assert_eq!(tree.inclusion_proof(0, SIZE + 1), None);
    assert_eq!(tree.consistency_proof(2, 1), None);
    assert_eq!(tree.consistency_proof(1, SIZE + 1), None);
}

/// The example of the specification of notes, with its key.
const EXAMPLE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\n\
    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const EXAMPLE_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
/// The seed of the private key of the example.
const EXAMPLE_SEED: &str = "gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=";

fn example_key() -> SigningKey {
    SigningKey::from_seed(&encoding::from_base64(EXAMPLE_SEED).unwrap()).unwrap()
}

#[test]
fn published_note_is_read_and_signed_alike() {
    let note = SignedNote::parse(EXAMPLE.as_bytes()).unwrap();
    let key: VerifierKey = EXAMPLE_KEY.parse().unwrap();
    assert_eq!(note.verify(&key), Ok(()));
    assert_eq!(note.to_string(), EXAMPLE);
    assert_eq!(example_key().verifier_key("PeterNeumann"), Some(key));
    let signed = SignedNote::sign(note.text().to_owned(), &example_key(), "PeterNeumann");
    assert_eq!(signed.unwrap().to_string(), EXAMPLE);
}

#[test]
fn key_is_that_of_published_test_data() {
    // RFC 8032, section 7.1, test 1: the signature of nothing.
    let bytes = |hex: &str| -> Vec<u8> {
        let digits: Vec<u8> =
            hex.bytes().map(|it| (it as char).to_digit(16).unwrap() as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    };
    let seed = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    let key = SigningKey::from_seed(&seed).unwrap();
    let expected = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                    d25bf5f0595bbe24655141438e7a100b";
    assert_eq!(key.sign(b""), bytes(expected));
    let public = bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    let text = key.verifier_key("a").unwrap().to_string();
    let text = text.splitn(3, '+').last().unwrap();
    assert_eq!(encoding::from_base64(text).unwrap(), [vec![1], public].concat());
    assert!(SigningKey::from_seed(&seed[1..]).is_none());
    assert_eq!(format!("{key:?}"), "SigningKey", "no secret is printed");
}

#[test]
fn what_is_no_key_is_refused() {
    assert!(EXAMPLE_KEY.parse::<VerifierKey>().is_ok());
    for text in [
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AhpC2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10T",
    ] {
        assert_eq!(text.parse::<VerifierKey>(), Err(NoteError::Key), "{text}");
    }
    for name in ["", "a b", "a+b", "a\u{a0}b", "a\nb"] {
        assert_eq!(example_key().verifier_key(name), None, "{name:?}");
    }
}

#[test]
fn other_forms_are_no_checkpoint() {
    let key = example_key().verifier_key("log").unwrap();
    let root = base64([7; 32]);
    let parsed = |text: &str| {
        let note = SignedNote::sign(text.to_owned(), &example_key(), "log").unwrap();
        SignedCheckpoint::parse(note.to_string().as_bytes(), &key)
    };
    let checkpoint =
        Checkpoint { origin: "log".into(), size: 12, root: Digest::from_bytes([7; 32]) };
    assert_eq!(parsed(&format!("log\n12\n{root}\n")).unwrap().checkpoint, checkpoint);
    let extended = parsed(&format!("log\n12\n{root}\nmore\n")).unwrap();
    assert_eq!(extended.checkpoint, checkpoint);
    for text in [
        "log\n12\n".to_owned(),
        format!("log\n012\n{root}\n"),
        format!("log\n+12\n{root}\n"),
        format!("log\n-1\n{root}\n"),
        format!("log\n18446744073709551616\n{root}\n"),
        format!("log\n12\n{}\n", base64([7; 31])),
        format!("log\n12\n{}\n", root.trim_end_matches('=')),
        format!("log\n12\n{root}\n\nmore\n"),
    ] {
        assert_eq!(parsed(&text), Err(NoteError::NoCheckpoint), "{text:?}");
    }
    let other = parsed(&format!("other\n12\n{root}\n"));
    assert_eq!(other, Err(NoteError::OtherLog("other".into())));
}

#[test]
fn a_witness_may_sign_too() {
    let checkpoint = Checkpoint { origin: "log".into(), size: 3, root: Digest::of(b"root") };
    let signed = checkpoint.sign(&example_key()).unwrap();
    let text = signed.note.to_string();
    let mut note = Note::from_bytes(text.as_bytes()).unwrap();
    let private = format!("PRIVATE+KEY+{}", {
        let key = encoding::from_base64(EXAMPLE_SEED).unwrap();
        let verifier = example_key().verifier_key("witness").unwrap().to_string();
        let id = verifier.split('+').nth(1).unwrap().to_owned();
        format!("witness+{id}+{}", base64([vec![1], key].concat()))
    });
    let witness = StandardSigner::new(&private).unwrap();
    assert_eq!(witness.name(), "witness");
    note.add_sigs(&[&witness]).unwrap();
    let both = note.to_bytes();
    let key = example_key().verifier_key("log").unwrap();
    let read = SignedCheckpoint::parse(&both, &key).unwrap();
    assert_eq!(read.checkpoint, signed.checkpoint);
    assert_eq!(read.note.signers().collect::<Vec<_>>(), ["log", "witness"]);
    assert_eq!(read.note.to_string().into_bytes(), both);
    let stranger = example_key().verifier_key("stranger").unwrap();
    assert_eq!(read.note.verify(&stranger), Err(NoteError::NotSigned(stranger.to_string())));
}

/// Numbers that look random and are the same each time.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 += 1;
        let hash: [u8; 32] = Sha256::digest(self.0.to_be_bytes()).into();
        (u64::from_be_bytes(hash[..8].try_into().unwrap()) % end as u64) as usize
    }

    /// The bytes with one changed, removed, inserted or twice.
    pub(crate) fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        loop {
            let mut changed = bytes.to_vec();
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => changed[at] ^= 1 << self.below(8),
                1 => drop(changed.remove(at)),
                2 => changed.insert(at, b"\n +=A0"[self.below(6)]),
                _ => changed.insert(at, bytes[at]),
            }
            if changed != bytes {
                return changed;
            }
        }
    }
}

#[test]
fn every_change_of_a_checkpoint_is_refused() {
    let checkpoint = Checkpoint {
        origin: "countersign/evidence/x".into(),
        size: 109,
        root: Digest::of(b"root"),
    };
    let text = checkpoint.sign(&example_key()).unwrap().note.to_string();
    let key = example_key().verifier_key("countersign/evidence/x").unwrap();
    let list = || {
        let verifier = StandardVerifier::new(&key.to_string()).unwrap();
        VerifierList::new(vec![Box::new(verifier)])
    };
    let theirs = |bytes: &[u8]| {
        let note = Note::from_bytes(bytes).ok()?;
        note.verify(&list()).ok()?;
        tlog_tiles::Checkpoint::from_bytes(note.text()).ok()
    };
    let read = theirs(text.as_bytes()).unwrap();
    assert_eq!((read.origin(), read.size()), ("countersign/evidence/x", 109));
    assert!(*read.hash() == self::theirs(&Digest::of(b"root")) && read.extension().is_empty());
    let mut chance = Chance::new();
    for _ in 0..1_000 {
        let changed = chance.changed(text.as_bytes());
        let shown = String::from_utf8_lossy(&changed);
        assert!(SignedCheckpoint::parse(&changed, &key).is_err(), "{shown}");
        assert!(theirs(&changed).is_none(), "{shown}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in any::<Vec<u8>>(), text in "(\u{2014} |\\n|a|=|\\+| ){0,20}") {
        let key = EXAMPLE_KEY.parse().unwrap();
        prop_assert!(SignedCheckpoint::parse(&bytes, &key).is_err());
        if let Ok(note) = SignedNote::parse(text.as_bytes()) {
            prop_assert_eq!(note.to_string(), text);
        }
    }
}

#[test]
fn too_many_signatures_are_refused() {
    let (text, signature) = EXAMPLE.rsplit_once("\n\n").unwrap();
    let with = |count| format!("{text}\n\n{}", signature.repeat(count));
    assert!(SignedNote::parse(with(100).as_bytes()).is_ok());
    assert_eq!(SignedNote::parse(with(101).as_bytes()), Err(NoteError::NoNote));
    let large = format!("{}{EXAMPLE}", "a".repeat(1_000_000));
    assert_eq!(SignedNote::parse(large.as_bytes()), Err(NoteError::NoNote));
}

#[test]
fn envelope_signs_type_and_payload() {
    // The example of the specification of DSSE.
    let signed = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
    let envelope = envelope("http://example.com/HelloWorld", b"hello world", &example_key());
    assert_eq!(envelope["payload"], "aGVsbG8gd29ybGQ=");
    assert_eq!(envelope["signatures"][0]["sig"], base64(example_key().sign(signed)));
    assert_eq!(envelope["signatures"][0]["keyid"], example_key().id());
}
