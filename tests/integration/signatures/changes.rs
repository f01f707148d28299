//! A thousand random changes of what is signed and of signatures: ssh-keygen refuses each of them, or the text has another
//! form than that of ssh-keygen, which this program refuses.

use countersign::authorization::SshSignature;
use countersign::run::StopSignal;
use countersign::signing::{AllowedSigners, SignatureState, SshKeygen};

use super::*;

/// Random numbers (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Changes a byte, inserts or removes some, or exchanges two.
    fn change(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        let at = self.below(bytes.len());
        match self.below(5) {
            0 => changed[at] ^= 1 << self.below(8),
            1 => changed.insert(at, self.below(256) as u8),
            2 => {
                let end = (at + 1 + self.below(40)).min(bytes.len());
                changed.drain(at..end);
            }
            3 => changed.swap(at, self.below(bytes.len())),
            _ => {
                let end = (at + 1 + self.below(40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                changed.extend(part);
            }
        }
        changed
    }
}

#[test]
fn a_thousand_random_changes_are_refused() {
    let (home, key) = signing_home();
    let result = run(&home).exits(0).document();
    let case = case(&home, result["run_id"].as_str().unwrap());
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let files = signed(&case);
    let keygen = SshKeygen::of_system(None).unwrap();
    let list = AllowedSigners { file: signers.clone().into(), revoked: None };
    let ours = |document: &[u8], signature: &str| {
        let now = countersign::worker::Clock::now_ms(&countersign::worker::SystemClock::default());
        let stop = StopSignal::default();
        keygen.verify(&list, (document, signature), ADA, now, &stop).unwrap().state
    };
    for (name, document, signature) in &files {
        assert_eq!(ours(document, signature), SignatureState::Valid, "{name}");
    }
    let (mut random, mut changes, mut by_form) = (Random(0x2545_f491_4f6c_dd1d), 0, 0);
    let path = home.path().join("changed.sig");
    let shown = path.to_str().unwrap();
    while changes < 1_000 {
        let (name, document, signature) = &files[random.below(files.len())];
        let (mut document, mut signature) = (document.clone(), signature.clone().into_bytes());
        let changed = if random.below(2) == 0 { &mut document } else { &mut signature };
        let before = changed.clone();
        *changed = random.change(changed);
        if *changed == before {
            continue;
        }
        changes += 1;
        std::fs::write(&path, &signature).unwrap();
        let line = ["-Y", "verify", "-f", &signers, "-I", ADA, "-n", "countersign", "-s", shown];
        let accepted = program("ssh-keygen", &line, &document).status.success();
        let signature = String::from_utf8_lossy(&signature).into_owned();
        if accepted {
            by_form += 1;
            assert_eq!(SshSignature::parse(&signature), None, "{name}: {signature}");
        }
        if accepted || changes % 25 == 0 {
            assert_eq!(ours(&document, &signature), SignatureState::BytesDiffer, "{name}");
        }
    }
    // What follows a signature, and where its lines break: nothing else.
    assert!(by_form < 200, "{by_form}");
}
