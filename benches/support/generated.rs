//! Generated evidence for benches, and searches of it.
//!
//! `EVIDENCE_EXECUTIONS` sets the number of executions instead of 100,000, and `EVIDENCE_FOLDER` a folder in which the
//! evidence stays for the next call and for other benches.

#[path = "../../examples/evidence/generate.rs"]
mod generate;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign::evidence::{EvidenceReader, EvidenceStore};
use countersign::run::{SearchQuery, StopSignal};
use rustix::time::{ClockId, clock_gettime};

/// The hits of a page, as in the window.
pub const PAGE: usize = 100;

/// The number of executions in the large evidence.
pub fn executions() -> usize {
    let set = std::env::var("EVIDENCE_EXECUTIONS").map(|it| it.parse::<usize>());
    set.map_or(100_000, |it| it.expect("a number"))
}

/// A folder with generated evidence in `evidence` and its key in `keys`.
pub struct Generated {
    folder: PathBuf,
    /// Deletes the folder at the end.
    _temporary: Option<tempfile::TempDir>,
}

impl Generated {
    /// The large evidence, in the folder that the environment sets.
    pub fn large() -> Self {
        let folder = std::env::var_os("EVIDENCE_FOLDER").map(PathBuf::from);
        Self::filled(folder, executions())
    }

    pub fn of(executions: usize) -> Self {
        Self::filled(None, executions)
    }

    fn filled(folder: Option<PathBuf>, executions: usize) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        let temporary =
            folder.is_none().then(|| tempfile::tempdir_in(root).expect("a temporary folder"));
        let folder = folder.or_else(|| temporary.as_ref().map(|it| it.path().to_owned()));
        let made = Self { folder: folder.expect("a folder"), _temporary: temporary };
        if !made.evidence().exists() {
            let started = Instant::now();
            let mut store = EvidenceStore::open(&made.evidence(), &*made.keys()).expect("evidence");
            generate::generate(&mut store, executions, 1, |_| {});
            println!("{executions} executions generated in {:.1?}", started.elapsed());
        }
        made
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn evidence(&self) -> PathBuf {
        self.folder.join("evidence")
    }

    pub fn keys(&self) -> PathBuf {
        self.folder.join("keys")
    }

    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::open(&self.evidence(), &*self.keys()).expect("evidence")
    }
}

/// The processor time of `work`, which does not depend on what else the machine does. Nothing here waits: the files are in
/// the cache of the system.
pub fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
    };
    let start = now();
    std::hint::black_box(work());
    now() - start
}

/// The searches: a name, the query, and the expression for the plain table.
pub fn searches() -> Vec<(&'static str, SearchQuery, String)> {
    let all = SearchQuery::default;
    let words = |words: &str| SearchQuery { words: words.into(), ..all() };
    let rare = generate::word(19_000);
    let text = |text: &str| Some(text.to_owned());
    vec![
        ("everything", all(), String::new()),
        ("a common word", words("\"error\""), "error".into()),
        ("a rare word", words(&format!("\"{rare}\"")), rare.clone()),
        ("two common words", words("error \"warning\""), "error AND warning".into()),
        (
            "a common and a rare word",
            words(&format!("error \"{rare}\"")),
            format!("error AND {rare}"),
        ),
        ("a phrase", words("\"error warning\""), "\"error warning\"".into()),
        ("a prefix", words("expec* \"line\""), "expec * AND line".into()),
        ("the typed beginning of a common word", words("erro"), "erro *".into()),
        ("a typed letter", words("e"), "e *".into()),
        ("a word without another", words("error -warning"), "error NOT warning".into()),
        ("everything without a word", words("-error"), "xany NOT error".into()),
        ("nothing", words("\"nosuchword\""), "nosuchword".into()),
        ("tool", SearchQuery { tool: text("shell"), ..all() }, "xtoolshell".into()),
        ("outcome", SearchQuery { outcome: text("failed"), ..all() }, "xoutcomefailed".into()),
        ("risk", SearchQuery { risk: text("dangerous"), ..all() }, "xriskdangerous".into()),
        ("host", SearchQuery { host: text("db.internal"), ..all() }, "xhostdbinternal".into()),
        ("plan", SearchQuery { plan_id: text("plan-7"), ..all() }, "xplanplan7".into()),
        ("code", SearchQuery { code: text("E0308"), ..all() }, "xcodee0308".into()),
        ("by", SearchQuery { by: text("window"), ..all() }, "xmethodwindow".into()),
        ("written files", SearchQuery { wrote: text("*"), ..all() }, "xwrote".into()),
        ("path", SearchQuery { path: text("src/parser"), ..all() }, "\"psrc pparser\" *".into()),
        (
            "a tool and a word",
            SearchQuery { tool: text("file_write"), ..words("\"error\"") },
            "xtoolfilewrite AND error".into(),
        ),
    ]
}

/// A word that few executions have.
pub fn word_of_few() -> String {
    generate::word(19_000)
}

pub fn first_page(reader: &mut EvidenceReader, query: &SearchQuery) -> Duration {
    let query = SearchQuery { limit: PAGE, ..query.clone() };
    let (now, stop) = (Duration::ZERO, StopSignal::default());
    time(|| reader.search_within(&query, now, now, &stop).expect("a page").expect("no stop"))
}
