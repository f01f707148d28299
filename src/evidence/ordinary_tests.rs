//! Ordinary program output is rarely redacted: at most one in 200 texts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::secrets;

/// Crates that detect secrets, whose sources are full of examples. Nothing else is excluded.
const SCANNERS: &[&str] = &["keyhog", "kingfisher", "keyspoor", "secret", "stakpak"];

/// The maximum size of a file that is read, in bytes. Longer output is rare.
const MAX_BYTES: u64 = 400_000;

/// Fails if fewer than `at_least` texts are given, or more than one in 200 contains anything to redact.
fn assert_rarely_redacted(texts: impl Iterator<Item = (String, String)>, at_least: usize) {
    let (mut redacted, mut read) = (Vec::new(), 0);
    for (name, text) in texts {
        read += 1;
        if let Some(found) = secrets::find(&text).into_iter().map(|found| found.secret).next() {
            let end = text.ceil_char_boundary((found.end + 20).min(text.len()));
            let start = text.floor_char_boundary(found.start.saturating_sub(60));
            redacted.push(format!("{name}: {:?}", &text[start..end]));
        }
    }
    println!("{} of {read} texts contain something to redact", redacted.len());
    assert!(read >= at_least, "only {read} texts");
    assert!(redacted.len() * 200 <= read, "{} of {read}: {redacted:#?}", redacted.len());
}

/// The texts of all files below these folders.
fn texts_below(folders: Vec<PathBuf>) -> impl Iterator<Item = (String, String)> {
    let files = folders.into_iter().filter(|folder| folder.is_dir()).flat_map(|folder| {
        ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten()
    });
    files.filter_map(|entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let fits = is_file && entry.metadata().is_ok_and(|data| data.len() <= MAX_BYTES);
        let text = fits.then(|| std::fs::read_to_string(entry.path()).ok()).flatten()?;
        (!text.is_empty()).then(|| (entry.path().display().to_string(), text))
    })
}

#[test]
#[ignore = "reads every source that cargo has fetched"]
fn hardly_any_file_of_other_crates_has_secrets() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let files = texts_below(vec![home.unwrap().join("registry/src")]);
    let is_scanner = |path: &str| SCANNERS.iter().any(|it| path.contains(it));
    assert_rarely_redacted(files.filter(|(path, _)| !is_scanner(path)), 2_000);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "reads sources, documents and logs of the system"]
fn hardly_any_file_of_the_system_has_secrets() {
    let folders =
        ["/usr/share", "/usr/include", "/usr/lib/python3", "/usr/lib/node_modules", "/var/log"];
    // Private keys are secrets even in examples.
    let is_key =
        |path: &str| Path::new(path).extension().is_some_and(|it| it == "key" || it == "pem");
    assert_rarely_redacted(
        texts_below(folders.map(PathBuf::from).to_vec()).filter(|(path, _)| !is_key(path)),
        2_000,
    );
}

/// Generates reproducible random output.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap()
    }

    fn of(&mut self, set: &str, length: usize) -> String {
        (0..length).map(|_| char::from(set.as_bytes()[self.next() % set.len()])).collect()
    }

    fn hex(&mut self, length: usize) -> String {
        self.of("0123456789abcdef", length)
    }

    fn base64(&mut self, length: usize) -> String {
        self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", length)
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|length| self.hex(length)).join("-")
    }

    fn word(&mut self) -> &'static str {
        const WORDS: &[&str] = &[
            "token",
            "key",
            "parser",
            "auth",
            "session",
            "request",
            "cache",
            "user",
            "password",
            "secret",
            "index",
            "table",
            "worker",
            "public",
            "lexer",
            "hash",
            "signature",
            "config",
            "client",
            "cookie",
            "store",
            "access",
            "digest",
            "buffer",
            "login",
            "credential",
        ];
        WORDS[self.next() % WORDS.len()]
    }

    fn number(&mut self, below: usize) -> usize {
        self.next() % below
    }

    /// Twenty lines of output of this kind.
    fn output(&mut self, kind: usize) -> String {
        let mut text = String::new();
        for _ in 0..20 {
            let line = self.line(kind % 20);
            writeln!(text, "{line}").unwrap();
        }
        text
    }

    fn line(&mut self, kind: usize) -> String {
        let (a, b, n) = (self.word(), self.word(), self.number(9_000));
        match kind {
            0 => format!("{}  target/{a}_{b}-{}.rlib", self.hex(64), self.hex(16)),
            1 => format!("{} {a}-{b} {}", self.uuid(), self.hex(40)),
            2 => format!(
                "name = \"{a}-{b}\"\nversion = \"0.{n}.1\"\nchecksum = \"{}\"",
                self.hex(64)
            ),
            3 => format!(
                "2026-11-23T10:{:02}:07Z INFO {a}: {b} accepted id={} in {n} ms",
                n % 60,
                self.uuid()
            ),
            4 => format!(
                "    let {a} = self.{b}_{a}(&{b}, {n})?;\n    if {a}.is_{b}() {{ return Err({a}) }}"
            ),
            5 => format!(
                "commit {}\nAuthor: Ada <ada@example.org>\n\n    Give the {a} its {b}",
                self.hex(40)
            ),
            6 => format!(
                "   Compiling {a}-{b} v1.{n}.0\ntest {a}::{b}::the_{a}_of_a_{b}_is_kept ... ok"
            ),
            7 => format!(
                "\"node_modules/{a}-{b}\": {{\"version\": \"{n}.0.1\", \"integrity\": \"sha512-{}==\"}},",
                self.base64(86)
            ),
            8 => format!("{a}-{b}=={n}.2 --hash=sha256:{}", self.hex(64)),
            9 => self.base64(76),
            10 => format!("function {a}(e,t){{var {b}=e.{a}||t.{b};return n({b},{n})}}e.{b}={a};",),
            11 => format!("src/{a}/{b}_{a}.rs:{n}:17: unused variable: `{b}_{a}`"),
            12 => format!(
                "{{\"{a}_id\": {n}, \"{b}\": null, \"etag\": \"{}\", \"public_key\": \"{}\"}}",
                self.hex(32),
                self.base64(44)
            ),
            13 => format!(
                "  {a}:\n    {b}: true\n    image: registry.example.org/{a}@sha256:{}",
                self.hex(64)
            ),
            14 => format!("-rw-r--r-- 1 root root {n} Nov 23 10:00 {a}.{b}.so.{n}"),
            15 => format!("  pub {a}_{b}: Option<{}{}>,", capital(a), capital(b)),
            16 => format!(
                "+    assert_eq!({a}.{b}(), \"{a}\", \"the {b} of {n}\");\n-    {a}_{b}: &str,"
            ),
            17 => {
                format!("GET /api/{a}/{} 200 {n} \"Mozilla/5.0\" next_page_token=null", self.uuid())
            }
            18 => format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} {a}@{b}", self.base64(43)),
            _ => format!("Enter the {a} for {b}: \nThe {a} was not found, so its {b} is used."),
        }
    }
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

#[test]
fn hardly_any_ordinary_output_has_secrets() {
    let mut generator = Generator(20_261_124);
    assert_rarely_redacted(
        (0..2_000).map(|kind| (format!("kind {}", kind % 20), generator.output(kind))),
        2_000,
    );
}

#[test]
fn public_host_keys_are_not_secret() {
    let mut generator = Generator(7);
    for _ in 0..2_000 {
        let digest = format!("ssh-ed25519 SHA256:{}", generator.base64(43));
        let key =
            format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} user@host", generator.base64(43));
        for value in [digest, key] {
            assert!(!super::secrets::is_secret_field("host_key", &value), "{value}");
            let line = format!("host_key = \"{value}\"");
            assert!(secrets::find(&line).is_empty(), "{line}");
        }
    }
    assert!(super::secrets::is_secret_field("host_key", "9f86d081884c7d659a2feaa0c55ad015"));
}
