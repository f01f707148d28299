//! The rules: which room may use which others, and which paths only some files may use.

use std::path::{Component, Path};

use super::source::{Reference, Source};

/// The longest allowed file, in lines without tests.
const LONGEST: usize = 400;

/// The rooms without clock, disk, process, window or database.
const PURE: [&str; 12] = [
    "plan",
    "authorization",
    "risk",
    "run",
    "openers",
    "help",
    "hooks",
    "mcp",
    "acp",
    "code",
    "grammars",
    "proof",
];

/// The other rooms that each room may use. `lib` and `main` are the files of that name.
const ARROWS: [(&str, &[&str]); 32] = [
    ("lib", &[]),
    ("main", &["app", "cli"]),
    ("app", &["ui", "worker", "run", "risk", "authorization", "plan"]),
    ("ui", &["code", "help", "run", "risk", "authorization", "plan"]),
    // From the worker only the user's folders and the reading of plan files; from the processes only the helper
    // of the walls and the name of a variable.
    (
        "cli",
        &[
            "worker",
            "planner",
            "autonomy",
            "engine",
            "export",
            "team",
            "evidence",
            "tools",
            "signing",
            "remote",
            "process",
            "openers",
            "help",
            "hooks",
            "mcp",
            "acp",
            "code",
            "proof",
            "logging",
            "run",
            "risk",
            "authorization",
            "plan",
        ],
    ),
    (
        "worker",
        &[
            "autonomy",
            "engine",
            "export",
            "team",
            "evidence",
            "tools",
            "remote",
            "openers",
            "hooks",
            "acp",
            "logging",
            "run",
            "risk",
            "authorization",
            "plan",
        ],
    ),
    ("planner", &["tools", "cargo", "run", "risk", "plan"]),
    (
        "autonomy",
        &["engine", "evidence", "tools", "process", "run", "risk", "authorization", "plan"],
    ),
    (
        "engine",
        &[
            "tools",
            "evidence",
            "signing",
            "remote",
            "process",
            "workspace",
            "run",
            "risk",
            "authorization",
            "plan",
        ],
    ),
    (
        "tools",
        &[
            "symbols",
            "cargo",
            "remote",
            "process",
            "workspace",
            "code",
            "run",
            "risk",
            "authorization",
            "plan",
        ],
    ),
    ("symbols", &["process", "workspace", "code", "run", "risk", "authorization", "plan"]),
    ("cargo", &["process", "workspace", "run", "authorization", "plan"]),
    ("remote", &["process", "run", "risk", "authorization", "plan"]),
    ("signing", &["process", "run", "authorization", "plan"]),
    ("process", &["run", "authorization", "plan"]),
    ("workspace", &["code", "run", "risk", "authorization", "plan"]),
    ("export", &["evidence", "proof", "run", "authorization", "plan"]),
    ("logging", &["evidence", "plan"]),
    ("team", &["evidence", "run", "risk", "plan"]),
    ("evidence", &["proof", "run", "risk", "authorization", "plan"]),
    ("run", &["risk", "authorization", "plan"]),
    ("risk", &["grammars", "authorization", "plan"]),
    ("authorization", &["plan"]),
    ("openers", &["plan"]),
    ("help", &["run", "risk", "authorization", "plan"]),
    ("hooks", &["plan"]),
    ("mcp", &[]),
    ("acp", &["plan"]),
    ("proof", &["plan"]),
    ("plan", &[]),
    ("code", &["grammars"]),
    ("grammars", &[]),
];

/// A path that only some files may use.
struct RestrictedPath {
    /// Consecutive names anywhere in the path.
    names: &'static [&'static str],
    allowed: fn(&str, &Path) -> bool,
    why: &'static str,
}

/// An external crate or a part of `std` that only some rooms may use.
struct Library {
    /// The beginning of the path.
    names: &'static [&'static str],
    allowed: fn(&str, &Path) -> bool,
    why: &'static str,
}

fn is_pure(room: &str) -> bool {
    PURE.contains(&room)
}

fn is_drawn(room: &str) -> bool {
    matches!(room, "app" | "ui" | "main")
}

/// The code graph is another program's database, which tools only read. It has nothing to do with the
/// evidence.
fn reads_foreign_sql(path: &Path) -> bool {
    path.ends_with("symbols/codegraph.rs")
        || path.ends_with("symbols/codegraph/bounds.rs")
        || path.ends_with("symbols/codegraph/summary.rs")
}

const LIBRARIES: &[Library] = &[
    Library {
        names: &["std", "fs"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no file system here",
    },
    Library {
        names: &["std", "process"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no processes here",
    },
    Library {
        names: &["std", "thread"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no threads here",
    },
    Library {
        names: &["std", "net"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no network here",
    },
    Library {
        names: &["std", "env"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no environment here",
    },
    Library {
        names: &["std", "sync", "mpsc"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no channels here",
    },
    Library {
        names: &["std", "time", "Instant"],
        allowed: |room, _| !is_pure(room),
        why: "no clock here",
    },
    Library {
        names: &["std", "time", "SystemTime"],
        allowed: |room, _| !is_pure(room) && room != "ui",
        why: "no clock here",
    },
    Library {
        names: &["cap_std"],
        allowed: |room, _| matches!(room, "tools" | "workspace"),
        why: "only tools touch the workspace",
    },
    Library {
        names: &["tree_sitter"],
        allowed: |room, path| {
            matches!(room, "code" | "grammars") || path.ends_with("risk/shell/second_parser.rs")
        },
        why: "only code and the second reader of commands know grammars",
    },
    Library {
        names: &["rusqlite"],
        allowed: |room, path| room == "evidence" || reads_foreign_sql(path),
        why: "only evidence knows SQL",
    },
    Library {
        names: &["postgres_protocol"],
        allowed: |room, _| room == "team",
        why: "only team knows PostgreSQL",
    },
    Library {
        names: &["egui"],
        allowed: |room, _| is_drawn(room),
        why: "only app and ui know the window",
    },
    Library {
        names: &["eframe"],
        allowed: |room, _| matches!(room, "app" | "main"),
        why: "only app knows the window's frame",
    },
    Library {
        names: &["rfd"],
        allowed: |room, _| room == "app",
        why: "file dialogs belong to app/file_dialog.rs",
    },
    Library {
        names: &["clap"],
        allowed: |room, _| matches!(room, "cli" | "main"),
        why: "only cli reads the command line",
    },
];

const RESTRICTED_PATHS: &[RestrictedPath] = &[
    RestrictedPath {
        names: &["Command", "new"],
        // The window and the worker have message types named `Command`, but without `new`.
        allowed: |_, path| path.parent().is_some_and(|folder| folder.ends_with("src/process")),
        why: "programs are started in process only",
    },
    RestrictedPath {
        names: &["FileDialog", "new"],
        allowed: |_, path| path.ends_with("app/file_dialog.rs"),
        why: "file dialogs are opened in app/file_dialog.rs only",
    },
];

/// The ways to write a colour as a literal.
const COLOURS: [&str; 7] = [
    "from_rgb",
    "from_gray",
    "from_rgba_unmultiplied",
    "from_rgba_premultiplied",
    "from_black_alpha",
    "from_white_alpha",
    "from_rgb_additive",
];

/// The beginnings of SQL texts.
const SQL: [&str; 9] = [
    "SELECT ",
    "INSERT ",
    "UPDATE ",
    "DELETE FROM",
    "CREATE TABLE",
    "CREATE TRIGGER",
    "PRAGMA ",
    "BEGIN IMMEDIATE",
    "WITH RECURSIVE",
];

/// Words that the repository must not contain. They are split, so that this file does not contain them.
pub const REPOSITORY_WORDS: [[&str; 2]; 5] = [
    ["/wor", "k/main"],
    ["/wor", "k/wt"],
    ["/wor", "k/shared"],
    ["/root/", ".cargo"],
    ["/work/", "target"],
];

/// The violations in a file, each as `file:line: what`.
pub fn check_source(source: &Source) -> Vec<String> {
    let Some(room) = room_of(&source.path) else {
        return vec![format!("{}: no room of this name is on the map", source.path.display())];
    };
    let at = |line: usize, what: String| format!("{}:{line}: {what}", source.path.display());
    let mut faults = Vec::new();
    for reference in &source.references {
        if let Some(what) = wrong_arrow(room, &source.path, reference) {
            faults.push(at(reference.line, what));
        } else if let Some(what) = restricted_path(room, &source.path, reference) {
            faults.push(at(reference.line, what));
        }
    }
    for (text, line) in &source.texts {
        let content = text.trim_start_matches(['r', 'b', '#', '"']).trim_start();
        if !matches!(room, "evidence" | "team")
            && !reads_foreign_sql(&source.path)
            && SQL.iter().any(|start| content.starts_with(start))
        {
            faults.push(at(*line, "SQL stands in evidence and team only".to_owned()));
        }
    }
    for line in &source.empty_docs {
        faults.push(at(*line, "a doc comment that says nothing".to_owned()));
    }
    if source.lines > LONGEST {
        faults
            .push(at(1, format!("{} lines without tests; {LONGEST} are the limit", source.lines)));
    }
    faults
}

/// The room of a file: the folder below `src`, or the name of a file directly in it.
fn room_of(path: &Path) -> Option<&'static str> {
    let name = path.components().nth(1).map(Component::as_os_str)?;
    let name = Path::new(name).file_stem()?.to_str()?;
    ARROWS.iter().map(|(room, _)| *room).find(|room| *room == name)
}

/// The room that a path refers to, with `super` resolved. `None` if it stays in the room or leaves the crate.
fn target_room(path: &Path, reference: &Reference) -> Option<String> {
    let names = &reference.names;
    match names.first()?.as_str() {
        "crate" | "countersign" => names.get(1).cloned(),
        "super" | "self" => {
            let ups = names.iter().take_while(|name| *name == "super" || *name == "self");
            let ups = ups.filter(|name| *name == "super").count();
            // The module depth of the file: 1 for src/plan/mod.rs, 2 for src/plan/parse.rs.
            let parts = path.components().count() - 1;
            let is_mod = path.file_stem().is_some_and(|stem| stem == "mod");
            let depth = parts - usize::from(is_mod) + reference.depth;
            let rest = names.iter().find(|name| *name != "super" && *name != "self");
            (ups > 0 && ups == depth).then(|| rest.cloned()).flatten()
        }
        _ => None,
    }
}

fn wrong_arrow(room: &str, path: &Path, reference: &Reference) -> Option<String> {
    let target = target_room(path, reference)?;
    if target == room || room == "lib" {
        return None;
    }
    let allowed = ARROWS.iter().find(|(from, _)| *from == room).map(|(_, to)| *to)?;
    if allowed.contains(&target.as_str()) {
        return None;
    }
    Some(format!("{room} must not know {target} (`{}`)", reference.names.join("::")))
}

fn restricted_path(room: &str, path: &Path, reference: &Reference) -> Option<String> {
    let names: Vec<&str> = reference.names.iter().map(String::as_str).collect();
    let contains = |wanted: &[&str]| names.windows(wanted.len()).any(|part| part == wanted);
    let written = names.join("::");
    if let Some(word) =
        RESTRICTED_PATHS.iter().find(|word| contains(word.names) && !(word.allowed)(room, path))
    {
        return Some(format!("`{written}`: {}", word.why));
    }
    if let Some(library) = LIBRARIES
        .iter()
        .find(|library| names.starts_with(library.names) && !(library.allowed)(room, path))
    {
        return Some(format!("`{written}` in {room}: {}", library.why));
    }
    let is_theme = path.starts_with("src/ui/theme") || path.ends_with("ui/theme.rs");
    if !is_theme && COLOURS.iter().any(|colour| contains(&["Color32", colour])) {
        return Some(format!("`{written}`: colours stand in ui/theme.rs only"));
    }
    None
}
