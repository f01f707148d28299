//! The hook in the settings of an agent: added, found and removed, while everything else in the file stays as it is, with
//! its order and its comments.

use std::collections::BTreeSet;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

use super::Agent;

/// How much longer than a person is waited for the agent waits for its hook, in seconds.
const MARGIN: u64 = 60;
/// The setting of Gemini CLI that has the switches of its hooks.
const GEMINI_SWITCHES: &str = "hooksConfig";
/// The name of the hook there.
const GEMINI_NAME: &str = "countersign";

/// Why a settings file cannot be changed. It is then left as it is.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFault {
    /// It is no JSON.
    #[error("it is no JSON: {0}")]
    NotJson(String),
    /// Something in it is of another type than agents want it to be.
    #[error("{0} is not of the type that the agent wants it to be")]
    Type(String),
    /// It has a name twice, so that it depends on the reader which one counts.
    #[error("it has \"{0}\" twice")]
    Twice(String),
    /// It turns hooks off, so that an installed one would not run.
    #[error("by its {0}, the hook does not run")]
    Off(&'static str),
}

/// The hook as it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// The command of the hook.
    pub command: String,
    /// How long a person is waited for, in seconds.
    pub timeout: u64,
}

impl HookEntry {
    /// The hook of an agent. `program` is this program as a word of a shell, `timeout` in seconds.
    pub fn new(agent: Agent, program: &str, timeout: u64, unsandboxed: bool) -> Self {
        let flag = if unsandboxed { " --unsandboxed" } else { "" };
        let word = agent.as_str();
        let command = format!("{program} hook --agent {word} --timeout {timeout}{flag}");
        Self { command, timeout }
    }

    fn fields(&self, agent: Agent) -> Vec<(String, CstInputValue)> {
        let seconds = self.timeout.saturating_add(MARGIN);
        let field = |name: &str, value: CstInputValue| (name.to_owned(), value);
        let text = |text: &str| CstInputValue::String(text.to_owned());
        let number = |number: u64| CstInputValue::Number(number.to_string());
        let mut fields =
            vec![field("type", text("command")), field("command", text(&self.command))];
        match agent {
            Agent::Claude => {
                fields.push(field("timeout", number(seconds)));
                fields.push(field("onFailure", text("block")));
            }
            Agent::Codex => fields.push(field("timeout", number(seconds))),
            Agent::Gemini => {
                fields.insert(0, field("name", text(GEMINI_NAME)));
                fields.push(field("timeout", number(seconds.saturating_mul(1_000))));
            }
        }
        fields
    }
}

/// The settings with the hook, in place of an older one of this program; `None` if they have it already.
///
/// # Errors
/// The file has another form, or turns hooks off.
pub fn install(
    agent: Agent,
    text: &str,
    entry: &HookEntry,
) -> Result<Option<String>, SettingsFault> {
    let root = parse(text)?;
    must_be_on(agent, &root, &entry.command)?;
    let settings = root.object_value_or_create().ok_or_else(|| wrong("the file"))?;
    let hooks = settings.object_value_or_create("hooks").ok_or_else(|| wrong("\"hooks\""))?;
    let event = agent.event();
    let groups = hooks.array_value_or_create(event).ok_or_else(|| wrong(event))?;
    let wanted = entry.fields(agent);
    let own = own_hooks(agent, &groups);
    if let [(_, only)] = own.as_slice()
        && is_same(only, &wanted)
    {
        return Ok(None);
    }
    take_out(own);
    let hook = CstInputValue::Object(wanted);
    let group = vec![("hooks".to_owned(), CstInputValue::Array(vec![hook]))];
    groups.append(CstInputValue::Object(group));
    Ok(Some(with_end(root.to_string())))
}

/// The settings without the hook; `None` if they have none.
///
/// # Errors
/// The file has another form.
pub fn remove(agent: Agent, text: &str) -> Result<Option<String>, SettingsFault> {
    let root = parse(text)?;
    let Some(hooks) = root.object_value().and_then(|it| it.object_value("hooks")) else {
        return Ok(None);
    };
    let Some(groups) = hooks.array_value(agent.event()) else { return Ok(None) };
    let own = own_hooks(agent, &groups);
    if own.is_empty() {
        return Ok(None);
    }
    take_out(own);
    // What was only there for the hook goes with it.
    if groups.elements().is_empty()
        && let Some(property) = hooks.get(agent.event())
    {
        property.remove();
    }
    if hooks.properties().is_empty()
        && let Some(property) = root.object_value().and_then(|it| it.get("hooks"))
    {
        property.remove();
    }
    Ok(Some(with_end(root.to_string())))
}

/// What in the settings keeps an installed hook from running, as an error.
///
/// # Errors
/// The file has another form, or turns hooks off.
pub fn check_on(agent: Agent, text: &str, command: &str) -> Result<(), SettingsFault> {
    must_be_on(agent, &parse(text)?, command)
}

/// The commands of the hooks of this program in the settings.
///
/// # Errors
/// The file is no JSON, or has a name twice.
pub fn commands(agent: Agent, text: &str) -> Result<Vec<String>, SettingsFault> {
    let root = parse(text)?;
    let hooks = root.object_value().and_then(|it| it.object_value("hooks"));
    let groups = hooks.and_then(|hooks| hooks.array_value(agent.event()));
    let own = groups.map(|groups| own_hooks(agent, &groups)).unwrap_or_default();
    Ok(own.iter().filter_map(|(_, hook)| text_in(hook, "command")).collect())
}

fn parse(text: &str) -> Result<CstRootNode, SettingsFault> {
    let root = CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| SettingsFault::NotJson(error.to_string()))?;
    let settings = root.object_value();
    let inner = |name| settings.as_ref().and_then(|it| it.object_value(name));
    for object in [settings.clone(), inner("hooks"), inner(GEMINI_SWITCHES)].into_iter().flatten() {
        let mut names = BTreeSet::new();
        for name in object.properties().iter().filter_map(|it| it.name()?.decoded_value().ok()) {
            if !names.insert(name.clone()) {
                return Err(SettingsFault::Twice(name));
            }
        }
    }
    Ok(root)
}

fn must_be_on(agent: Agent, root: &CstRootNode, command: &str) -> Result<(), SettingsFault> {
    let settings = root.object_value();
    let switches = settings.as_ref().and_then(|it| it.object_value(GEMINI_SWITCHES));
    let is = |object: &Option<CstObject>, name, wanted| {
        let value = object.as_ref().and_then(|it| it.get(name)?.value()?.as_boolean_lit());
        value.is_some_and(|it| it.value() == wanted)
    };
    let names_it = || {
        let list = switches.as_ref()?.array_value("disabled")?;
        let names = list.elements().into_iter();
        let mut names = names.filter_map(|it| it.as_string_lit()?.decoded_value().ok());
        Some(names.any(|it| it == GEMINI_NAME || it == command))
    };
    let off = match agent {
        Agent::Claude if is(&settings, "disableAllHooks", true) => "\"disableAllHooks\"",
        Agent::Gemini if is(&switches, "enabled", false) => "\"hooksConfig.enabled\"",
        Agent::Gemini if names_it() == Some(true) => "\"hooksConfig.disabled\"",
        _ => return Ok(()),
    };
    Err(SettingsFault::Off(off))
}

fn wrong(what: &str) -> SettingsFault {
    SettingsFault::Type(what.to_owned())
}

/// The hooks of this program, each with its group.
fn own_hooks(agent: Agent, groups: &CstArray) -> Vec<(CstObject, CstObject)> {
    let mark = format!(" hook --agent {}", agent.as_str());
    let groups = groups.elements().into_iter().filter_map(|group| group.as_object());
    groups
        .flat_map(|group| {
            let hooks = group.array_value("hooks");
            let hooks = hooks.map(|hooks| hooks.elements()).unwrap_or_default();
            let hooks: Vec<CstObject> =
                hooks.into_iter().filter_map(|hook| hook.as_object()).collect();
            hooks.into_iter().map(move |hook| (group.clone(), hook))
        })
        .filter(|(_, hook)| text_in(hook, "command").is_some_and(|command| command.contains(&mark)))
        .collect()
}

/// Removes hooks, and the groups that have no other.
fn take_out(hooks: Vec<(CstObject, CstObject)>) {
    for (group, hook) in hooks {
        hook.remove();
        let others = group.array_value("hooks").map(|hooks| hooks.elements().len());
        if others == Some(0) {
            group.remove();
        }
    }
}

fn text_in(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn is_same(hook: &CstObject, wanted: &[(String, CstInputValue)]) -> bool {
    let same = |(name, value): &(String, CstInputValue)| {
        let found = hook.get(name).and_then(|property| property.value());
        match (found, value) {
            (Some(found), CstInputValue::String(text)) => {
                found.as_string_lit().and_then(|it| it.decoded_value().ok()).as_ref() == Some(text)
            }
            (Some(found), CstInputValue::Number(number)) => {
                found.as_number_lit().is_some_and(|it| CstNode::from(it).to_string() == *number)
            }
            _ => false,
        }
    };
    hook.properties().len() == wanted.len() && wanted.iter().all(same)
}

fn with_end(text: String) -> String {
    if text.ends_with('\n') { text } else { text + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"{
  // What I like.
  "theme": "dark",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint.sh" }] }
    ],
    "Stop": []
  },
  "zoom": 1,
}
"#;

    fn entry(agent: Agent) -> HookEntry {
        HookEntry::new(agent, "/opt/countersign", 540, false)
    }

    #[test]
    fn the_hook_is_added_and_removed_and_the_rest_stays() {
        let entry = entry(Agent::Claude);
        let with = install(Agent::Claude, SETTINGS, &entry).unwrap().unwrap();
        for kept in ["// What I like.", "\"theme\": \"dark\"", "lint.sh", "\"Stop\": []", "zoom"] {
            assert!(with.contains(kept), "{with}");
        }
        assert!(with.contains("\"onFailure\": \"block\"") && with.contains("\"timeout\": 600"));
        assert!(with.find("theme") < with.find("zoom"), "the order stays");
        assert_eq!(commands(Agent::Claude, &with).unwrap(), std::slice::from_ref(&entry.command));
        assert_eq!(install(Agent::Claude, &with, &entry).unwrap(), None, "it is there once");
        let without = remove(Agent::Claude, &with).unwrap().unwrap();
        assert_eq!(
            without.split_whitespace().collect::<String>(),
            SETTINGS.split_whitespace().collect::<String>()
        );
        assert_eq!(remove(Agent::Claude, &without).unwrap(), None);
    }

    #[test]
    fn an_older_hook_is_replaced() {
        let old = HookEntry::new(Agent::Codex, "/old/countersign", 60, false);
        let with = install(Agent::Codex, "", &old).unwrap().unwrap();
        let new = HookEntry::new(Agent::Codex, "/opt/countersign", 540, true);
        let with = install(Agent::Codex, &with, &new).unwrap().unwrap();
        assert_eq!(commands(Agent::Codex, &with).unwrap(), [new.command]);
        assert_eq!(remove(Agent::Codex, &with).unwrap().unwrap().trim(), "{}");
    }

    #[test]
    fn gemini_counts_milliseconds() {
        let with = install(Agent::Gemini, "{}", &entry(Agent::Gemini)).unwrap().unwrap();
        let value: serde_json::Value = serde_json::from_str(&with).unwrap();
        let hook = &value["hooks"]["BeforeTool"][0]["hooks"][0];
        assert_eq!(
            *hook,
            serde_json::json!({"name": "countersign", "type": "command",
            "command": "/opt/countersign hook --agent gemini --timeout 540", "timeout": 600_000})
        );
    }

    #[test]
    fn settings_that_turn_hooks_off_or_name_something_twice_are_refused() {
        for (agent, text, said) in [
            (Agent::Claude, r#"{"disableAllHooks": true}"#, "disableAllHooks"),
            (Agent::Gemini, r#"{"hooksConfig": {"enabled": false}}"#, "hooksConfig.enabled"),
            (
                Agent::Gemini,
                r#"{"hooksConfig": {"disabled": ["a", "countersign"]}}"#,
                "hooksConfig.disabled",
            ),
            (Agent::Codex, r#"{"hooks": {}, "hooks": {}}"#, "\"hooks\" twice"),
            (Agent::Claude, r#"{"hooks": {}, "h\u006foks": {}}"#, "\"hooks\" twice"),
            (
                Agent::Claude,
                r#"{"hooks": {"PreToolUse": [], "PreToolUse": []}}"#,
                "\"PreToolUse\" twice",
            ),
            (Agent::Claude, r#"{"disableAllHooks": false, "disableAllHooks": true}"#, "twice"),
        ] {
            let fault = install(agent, text, &entry(agent)).unwrap_err().to_string();
            assert!(fault.contains(said), "{text}: {fault}");
            assert!(check_on(agent, text, "x").is_err(), "{text}");
        }
        let others =
            r#"{"disableAllHooks": false, "hooksConfig": {"enabled": true, "disabled": ["a"]}}"#;
        for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
            assert!(install(agent, others, &entry(agent)).unwrap().is_some());
            check_on(agent, others, "x").unwrap();
        }
    }

    #[test]
    fn a_file_of_another_form_is_left() {
        for text in ["{", "[]", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "no"] {
            assert!(install(Agent::Claude, text, &entry(Agent::Claude)).is_err(), "{text}");
        }
    }
}
