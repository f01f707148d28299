//! A hundred kinds of secrets, planted in every place that the program writes: none is readable there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::cli_home::Done;
use crate::scripted::{Answer, Scripted, command};

const KINDS: &str = include_str!("../fixtures/secrets/kinds.txt");
/// The kinds that stay in clear; the README names each.
const IN_CLEAR: &[&str] = &[];
/// The variable whose value is secret wherever it stands.
const VARIABLE: (&str, &str) = ("APP_SECRET", "ENVVALUE-a8Kq2Lw9Xz4Pm");

/// One kind: its text, and the part of it that is secret.
struct Planted {
    name: String,
    text: String,
    secret: String,
}

/// Random characters that are the same each time.
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
                // A brace of the text itself.
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

fn planted() -> Vec<Planted> {
    let mut filling = Filling(20_261_123);
    KINDS
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

/// The parts of a secret by which it is recognised in any writing: without line breaks, quotes and escapes.
fn needles(secret: &str) -> Vec<&str> {
    secret
        .split(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\'' | '\\' | '[' | ';' | ','))
        .filter(|part| part.len() >= 10)
        .collect()
}

/// Every text in the evidence folder with where it stands, also behind compression.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(everything(&path));
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        all.push((name.clone(), fs::read(&path).unwrap()));
        if name.ends_with(".db") {
            all.extend(cells(&path, &name));
        }
    }
    all
}

fn cells(path: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let database = Connection::open(path).unwrap();
    let mut names =
        database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut all = Vec::new();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (index, column) in columns.iter().enumerate() {
                let bytes = match row.get_ref(index).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                    _ => continue,
                };
                let place = format!("{name}: {table}.{column}");
                if let Ok(plain) = zstd::decode_all(bytes.as_slice()) {
                    all.push((format!("{place}, unpacked"), plain));
                }
                all.push((place, bytes));
            }
        }
    }
    all
}

fn run(planner: &Scripted, arguments: &[&str]) -> Done {
    let mut command = planner.home.command();
    command.env(VARIABLE.0, VARIABLE.1).args(arguments).arg("--json");
    command.arg("--evidence").arg(planner.home.evidence());
    Done::of(&mut command)
}

#[test]
fn no_planted_secret_is_readable_anywhere() {
    let kinds = planted();
    assert_eq!(kinds.len(), 100);
    let planner = Scripted::new([
        Answer::Script("cat space/all.txt >&2; exit 1"),
        command("cat all.txt; cat all.txt >&2; exit 3"),
        command("exit 4"),
    ]);
    let home = &planner.home;
    let all = kinds.iter().map(|kind| kind.text.as_str()).collect::<Vec<_>>().join("\n\n");
    // Contents, arguments, differences, previews and what is read of them: each kind in steps of its own.
    let steps: Vec<Value> = kinds
        .iter()
        .enumerate()
        .flat_map(|(number, kind)| {
            let path = format!("k{number}.txt");
            [
                json!({"step_id": format!("c{number}"), "tool": "file_create", "reason": kind.text,
                    "arguments": {"path": path, "contents": kind.text}}),
                json!({"step_id": format!("r{number}"), "tool": "file_read", "title": kind.text,
                    "arguments": {"path": path}}),
            ]
        })
        .collect();
    let plan = json!({"plan_id": "p", "intent": "MUTATE", "title": all, "steps": steps});
    home.write("steps.json", plan.to_string());
    run(&planner, &["run", "space/steps.json", "--yes"]).exits(0);
    // What a program prints, and the words of a command.
    let steps: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| {
            let text = kind.text.replace('\u{1b}', "");
            json!({"command": format!(
                "cat k{number}.txt; cat k{number}.txt >&2; cat > copy.txt <<'END OF TEXT'\n{text}\nEND OF TEXT"
            )})
        })
        .collect();
    home.write("commands.json", json!({"goal": all, "steps": steps}).to_string());
    let ran =
        run(&planner, &["run", "space/commands.json", "--yes", "--confirm", "approve-dangerous"]);
    let refused = run(&planner, &["run", "space/commands.json", "--yes", "--workspace", "nowhere"]);
    // A loop: its goal, what its planner is asked, prints and answers.
    home.write("all.txt", &all);
    let command = planner.planner();
    let words = ["loop", "--goal", &all, "--workspace", "space", "--planner", &command, "--yes"];
    let looped = run(&planner, &words);
    assert!(looped.code == 1, "{looped:?}");
    // The index is filled before a search answers.
    run(&planner, &["evidence", "search", "example"]).exits(0);

    let mut places = everything(&home.evidence());
    assert!(places.iter().any(|(place, _)| place.contains("execution_artifacts.content_json")));
    assert!(places.iter().any(|(place, _)| place.contains("unpacked")));
    assert!(places.iter().any(|(place, _)| place.starts_with("search_index.db")));
    for number in 1..=planner.asked() {
        let request = planner.request(number).to_string();
        places.push((format!("request {number}"), request.into_bytes()));
    }
    assert!(planner.asked() >= 2, "the planner was asked again after it had printed them");
    let _ = (ran, refused);
    let mut found = BTreeSet::new();
    let texts: Vec<(String, String)> = places
        .into_iter()
        .map(|(place, bytes)| (place, String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    for kind in &kinds {
        let needles = needles(&kind.secret);
        assert!(!needles.is_empty(), "{}", kind.name);
        for (place, text) in &texts {
            if needles.iter().any(|needle| text.contains(needle)) {
                found.insert((kind.name.as_str(), place.as_str()));
            }
        }
    }
    let clear: BTreeSet<&str> = found.iter().map(|(name, _)| *name).collect();
    let allowed: BTreeSet<&str> = IN_CLEAR.iter().copied().collect();
    assert!(clear.len() <= 5 && clear == allowed, "{found:#?}");
}
