//! A search of the evidence, and its answer (SPEC §8).

use std::ops::Range;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::{Execution, ListedExecution, RunSummary};

/// A search. Every field that is set narrows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the filters of SPEC §8 by their names")]
pub struct SearchQuery {
    /// Words and `"phrases"` that must all occur, in any case; empty finds everything. `word*` is the beginning of a
    /// word, as is the last word, which may still be typed. What follows a `-` must not occur.
    pub words: String,
    pub run_id: Option<Uuid>,
    pub loop_id: Option<Uuid>,
    pub plan_id: Option<String>,
    pub tool: Option<String>,
    pub outcome: Option<String>,
    pub risk: Option<String>,
    pub host: Option<String>,
    /// Words of the path of a file that was touched, in their order; `*` for any file.
    pub path: Option<String>,
    /// Words of the path of a file that was written, in their order; `*` for any file.
    pub wrote: Option<String>,
    pub code: Option<String>,
    /// The name of a user who decided about the run or the step, or the place where that was decided.
    pub by: Option<String>,
    pub since_ms: Option<i64>,
    pub until_ms: Option<i64>,
    /// At most this many hits; 0 means the default of 200.
    pub limit: usize,
    /// Only hits after the page whose [`next`](SearchPage::next) this is.
    pub after: Option<i64>,
}

/// One execution that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The execution.
    pub listed: ListedExecution,
    /// Where the words were found: `arguments`, `error`, `stdout`, …; empty for a search without words.
    pub found_in: String,
    /// One line around the first match.
    pub excerpt: String,
    /// The byte ranges of `excerpt` that matched.
    pub marks: Vec<Range<usize>>,
}

impl Serialize for SearchHit {
    /// The fields in the order of earlier versions, in which `changed` is the last one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            row: &'a Execution,
            found_in: &'a str,
            excerpt: &'a str,
            marks: &'a [Range<usize>],
            changed: bool,
        }
        let Self { listed: ListedExecution { row, changed }, found_in, excerpt, marks } = self;
        Fields { row, found_in, excerpt, marks, changed: *changed }.serialize(serializer)
    }
}

/// How often each value of a facet occurs among all hits: the 200 most frequent values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the facets by their names; most frequent first")]
pub struct Facets {
    pub outcome: Vec<(String, u64)>,
    pub tool: Vec<(String, u64)>,
    pub risk: Vec<(String, u64)>,
    pub host: Vec<(String, u64)>,
    pub plan: Vec<(String, u64)>,
    pub by: Vec<(String, u64)>,
    pub code: Vec<(String, u64)>,
    pub path: Vec<(String, u64)>,
}

/// The number of all hits of a search, and how they are distributed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SearchCounts {
    /// The number of hits on all pages.
    pub total: u64,
    /// Whether there may be more hits than `total`: the newest ones were counted, and not yet all.
    pub is_partial: bool,
    /// The frequency of each value among the counted hits.
    pub facets: Facets,
    /// The counted hits over time; empty if there are none.
    pub timeline: Vec<TimeBucket>,
}

/// One bar of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeBucket {
    /// Start of the bucket, in Unix milliseconds.
    pub from_ms: i64,
    /// End of the bucket, exclusive, in Unix milliseconds.
    pub to_ms: i64,
    /// The number of hits in it that are not counted in `bad`.
    pub fine: u64,
    /// The number of hits in it that failed, were denied or were interrupted.
    pub bad: u64,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SearchPage {
    /// The hits of this page, newest first, and those of one millisecond in the order of recording, the last one first.
    pub hits: Vec<SearchHit>,
    /// The runs of these hits.
    pub runs: Vec<RunSummary>,
    /// The number of all hits.
    pub counts: SearchCounts,
    /// For [`SearchQuery::after`]: where the next page begins; `None` if this is the last one.
    pub next: Option<i64>,
    /// The number of executions in the index.
    pub of: u64,
    /// The number of records that are not in the index yet and were therefore not searched.
    pub not_indexed: u64,
    /// The number of rejected plans with the words of the search in their reason or name, which are no executions.
    pub rejections: u64,
    /// Whether the query names a tool that does not exist and that no record has.
    pub unknown_tool: bool,
    /// How long the search took, in microseconds.
    pub took_us: u64,
    /// Why this evidence is read-only, or `None`.
    pub read_only: Option<String>,
    /// A remark about the head outside the evidence folder that is no error, or `None`.
    pub note: Option<String>,
}
