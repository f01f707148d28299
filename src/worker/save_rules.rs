//! Adds and removes the person's rules for commands in the settings file.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};

use super::files::cannot_write;
use super::save_settings::{not_toml, replace};
use super::{Query, QueryContext, QueryError, read_policy};
use crate::risk::{UserRule, UserRules};

/// A change of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleChange {
    /// Add this rule after the others.
    Add(UserRule),
    /// Remove the rule with this id.
    Remove(String),
}

/// Changes the rules in the settings file, unless they are others there than the window knows. Comments and other
/// settings are kept.
pub struct SaveRules {
    /// The settings file. It is created if it does not exist.
    pub file: PathBuf,
    /// The rules that the window knows.
    pub known: UserRules,
    /// The change.
    pub change: RuleChange,
}

/// The rules that the settings file has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedRules {
    /// The rules.
    pub rules: UserRules,
    /// Whether the change was saved. If not, the rules had changed in the file.
    pub saved: bool,
}

impl SaveRules {
    /// Changes the file.
    ///
    /// # Errors
    /// When the file cannot be read or written, or its policy is invalid before or after the change. The file is then
    /// unchanged.
    pub fn save(&self) -> std::io::Result<SavedRules> {
        let rules_in = |text: &str| {
            let policy =
                read_policy(text).map_err(|why| Error::new(ErrorKind::InvalidData, why))?;
            Ok::<_, Error>(policy.command_rules)
        };
        let mut found = SavedRules { rules: UserRules::default(), saved: false };
        replace(&self.file, |text| {
            found.rules = rules_in(text)?;
            if found.rules != self.known {
                return Ok(None);
            }
            let changed = changed(text, &self.change)?;
            found = SavedRules { rules: rules_in(&changed)?, saved: true };
            Ok(Some(changed))
        })?;
        Ok(found)
    }
}

impl Query for SaveRules {
    type Answer = SavedRules;
    const FAILURE: &str = "The rules could not be saved.";

    fn run(self, context: &mut QueryContext) -> Result<SavedRules, QueryError> {
        let next = "Correct the settings file, then try again.";
        let found = self.save().map_err(|error| cannot_write(&self.file, &error, next))?;
        context.setup.policy.command_rules = found.rules.clone();
        Ok(found)
    }
}

/// The text of a settings file after the change.
fn changed(text: &str, change: &RuleChange) -> std::io::Result<String> {
    let no_list = || Error::new(ErrorKind::InvalidData, "command_rules is no list of tables");
    let mut settings: DocumentMut = text.parse().map_err(not_toml)?;
    let policy = settings.entry("policy").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    // A table in one line can only contain a list in one line.
    let in_line = policy.is_value();
    let policy = policy.as_table_like_mut().ok_or_else(no_list)?;
    match change {
        RuleChange::Add(rule) => {
            let rule = toml::to_string(rule).map_err(not_toml)?;
            let mut rule = rule.parse::<DocumentMut>().map_err(not_toml)?.into_table();
            rule.set_position(None);
            let rules = policy.entry("command_rules").or_insert_with(|| match in_line {
                true => Item::Value(Value::Array(Array::new())),
                false => Item::ArrayOfTables(ArrayOfTables::new()),
            });
            match rules {
                Item::ArrayOfTables(tables) => tables.push(rule),
                Item::Value(Value::Array(values)) => values.push(rule.into_inline_table()),
                _ => return Err(no_list()),
            }
        }
        RuleChange::Remove(id) => {
            let is_other = |found: Option<&str>| found != Some(id);
            match policy.get_mut("command_rules") {
                Some(Item::ArrayOfTables(tables)) => {
                    tables.retain(|table| is_other(table.get("id").and_then(Item::as_str)));
                }
                Some(Item::Value(Value::Array(values))) => values.retain(|value| {
                    let table = value.as_inline_table();
                    is_other(table.and_then(|table| table.get("id")).and_then(Value::as_str))
                }),
                _ => return Err(no_list()),
            }
        }
    }
    Ok(settings.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::RiskLevel;

    fn rule(id: &str) -> UserRule {
        UserRule {
            id: id.to_owned(),
            prefix: vec!["make".to_owned(), "deploy".to_owned()],
            level: RiskLevel::Blocked,
            reason: "Only the \"pipeline\" deploys.".to_owned(),
            must_match: vec!["make deploy".to_owned()],
            must_not_match: vec!["make test".to_owned()],
        }
    }

    /// Comments and other keys stay, in each form of the list.
    #[test]
    fn rules_are_added_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let in_line = "{ id = 'x', prefix = ['ls'], level = 'blocked', reason = 'r', must_match = ['ls'], must_not_match = [] }";
        for (text, count) in [
            ("".to_owned(), 0),
            ("# mine\nzoom = 2.0 # big\n\n[policy] # strict\nconfirm_tools = [\"shell\"]\n\n[model]\nkey = 'k'\n".to_owned(), 0),
            (format!("# mine\npolicy = {{ command_rules = [{in_line}] }} # all\n"), 1),
            (format!("[policy]\ncommand_rules = [\n  # first\n  {in_line},\n]\n"), 1),
            ("zoom = 2.0\n\n# why\n[[policy.command_rules]]\nid = 'x' # name\nprefix = ['ls']\nlevel = 'blocked'\nreason = 'r'\nmust_match = ['ls']\nmust_not_match = []\n\n[model]\nkey = 'k'\n".to_owned(), 1),
        ] {
            std::fs::write(&file, &text).unwrap();
            let known = read_policy(&text).unwrap().command_rules;
            let save = |known, change| SaveRules { file: file.clone(), known, change }.save();
            let added = save(known.clone(), RuleChange::Add(rule("new"))).unwrap();
            assert!(added.saved && added.rules.len() == count + 1, "{text}");
            assert_eq!(added.rules.iter().last(), Some(&rule("new")));
            let after = std::fs::read_to_string(&file).unwrap();
            assert_eq!(read_policy(&after).unwrap().command_rules, added.rules);
            let comments = |text: &str| text.matches('#').count();
            assert_eq!(comments(&after), comments(&text), "{after}");
            let removed = save(added.rules, RuleChange::Remove("new".to_owned())).unwrap();
            assert_eq!((removed.rules, removed.saved), (known, true));
            let after = std::fs::read_to_string(&file).unwrap();
            assert_eq!(comments(&after), comments(&text), "{after}");
            let keys = |text: &str| {
                let mut table: toml::Table = text.parse().unwrap();
                table.remove("policy");
                table
            };
            assert_eq!(keys(&after), keys(&text));
        }
    }

    /// Neither a file whose rules have changed meanwhile nor a bad rule is written.
    #[test]
    fn other_rules_and_bad_rules_leave_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let add = |known: &UserRules, rule| {
            SaveRules { file: file.clone(), known: known.clone(), change: RuleChange::Add(rule) }
                .save()
        };
        let none = UserRules::default();
        add(&none, rule("first")).unwrap();
        let before = std::fs::read_to_string(&file).unwrap();
        let conflict = add(&none, rule("second")).unwrap();
        assert!(!conflict.saved);
        assert_eq!(conflict.rules.iter().map(|rule| &*rule.id).collect::<Vec<_>>(), ["first"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        let same_name = add(&conflict.rules, rule("first")).unwrap_err();
        assert!(same_name.to_string().contains("two risk rules"), "{same_name}");
        let contradicted = UserRule { must_match: vec!["make test".to_owned()], ..rule("bad") };
        assert!(add(&conflict.rules, contradicted).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        std::fs::write(&file, "zoom = = 1").unwrap();
        assert!(add(&none, rule("x")).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "zoom = = 1");
    }
}
