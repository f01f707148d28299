//! Parses SARIF 2.1.0, the common log format of static analysers.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::Problem;

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    #[serde(default)]
    results: Vec<ResultObject>,
    tool: Option<Tool>,
    #[serde(default)]
    original_uri_base_ids: BTreeMap<String, ArtifactLocation>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Option<Driver>,
}

#[derive(Deserialize)]
struct Driver {
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: Option<String>,
    default_configuration: Option<Configuration>,
    #[serde(default)]
    message_strings: BTreeMap<String, Message>,
}

#[derive(Deserialize)]
struct Configuration {
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject {
    level: Option<String>,
    kind: Option<String>,
    rule_id: Option<String>,
    rule_index: Option<i64>,
    message: Option<Message>,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    suppressions: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
    id: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: Option<String>,
    uri_base_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u32>,
    start_column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

/// The problems of the log, in order.
///
/// # Errors
/// Why the text is not a SARIF log.
pub(in crate::tools::program) fn parse(text: &[u8]) -> Result<Vec<Problem>, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let log: Log = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok(log.runs.iter().flat_map(Run::problems).collect())
}

impl Run {
    fn problems(&self) -> Vec<Problem> {
        let rules = self.tool.as_ref().and_then(|tool| tool.driver.as_ref());
        let rules = rules.map_or(&[][..], |driver| &driver.rules);
        let named = rules.iter().filter_map(|rule| Some((rule.id.as_deref()?, rule))).collect();
        let rules = Rules { all: rules, named };
        self.results.iter().filter_map(|result| self.problem(result, &rules)).collect()
    }

    fn problem(&self, result: &ResultObject, rules: &Rules<'_>) -> Option<Problem> {
        // Results that passed or were suppressed are not problems.
        let is_problem =
            result.kind.as_deref().is_none_or(|kind| kind == "fail" || kind == "review");
        if !is_problem || !result.suppressions.is_empty() {
            return None;
        }
        let rule = rules.of(result);
        let default_level = || rule?.default_configuration.as_ref()?.level.clone();
        let level = result.level.clone().or_else(default_level);
        let physical = result.locations.first();
        let physical = physical.and_then(|location| location.physical_location.as_ref());
        let region = physical.and_then(|location| location.region.as_ref());
        let end_line =
            region.and_then(|region| region.end_line.or(region.end_column.and(region.start_line)));
        Some(Problem {
            file: physical.and_then(|location| self.file(location.artifact_location.as_ref()?)),
            line: region.and_then(|region| region.start_line),
            column: region.and_then(|region| region.start_column),
            end: end_line.map(|line| (line, region.and_then(|region| region.end_column))),
            // The specification defines a warning as the default.
            severity: Some(level.unwrap_or_else(|| "warning".to_owned())),
            code: result.rule_id.clone().or_else(|| rule?.id.clone()),
            message: message(result.message.as_ref(), rule),
        })
    }

    /// The path of a file, relative to the folder of the command or absolute.
    fn file(&self, location: &ArtifactLocation) -> Option<String> {
        let uri = location.uri.as_deref()?;
        let base = location.uri_base_id.as_ref().and_then(|id| self.original_uri_base_ids.get(id));
        let base = base.and_then(|base| base.uri.as_deref()).filter(|_| !uri.contains("://"));
        let uri = format!("{}{uri}", base.unwrap_or_default());
        let path = uri.strip_prefix("file://").unwrap_or(&uri);
        Some(percent_decoded(path)).filter(|path| !path.is_empty())
    }
}

/// The rules of a tool, by index and by id.
struct Rules<'a> {
    all: &'a [Rule],
    named: HashMap<&'a str, &'a Rule>,
}

impl<'a> Rules<'a> {
    fn of(&self, result: &ResultObject) -> Option<&'a Rule> {
        let by_index =
            result.rule_index.and_then(|index| self.all.get(usize::try_from(index).ok()?));
        by_index.or_else(|| self.named.get(result.rule_id.as_deref()?).copied())
    }
}

/// The text of a message, with the text of the rule and the arguments inserted.
fn message(message: Option<&Message>, rule: Option<&Rule>) -> String {
    let text = message.and_then(|message| {
        let by_id = || {
            let template = rule?.message_strings.get(message.id.as_ref()?)?;
            template.text.clone()
        };
        let mut text = message.text.clone().or_else(by_id)?;
        for (index, argument) in message.arguments.iter().enumerate().take(10) {
            text = text.replacen(&format!("{{{index}}}"), argument, 10);
        }
        Some(text)
    });
    text.unwrap_or_else(|| "(no message)".to_owned())
}

/// Decodes the percent-encoding of a path.
fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = match after {
            [high, low, ..] if *first == b'%' => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
