//! Adds, changes and removes the person's rules for commands in the settings file.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::files::cannot_write;
use super::save_settings::{not_toml, replace};
use super::{Query, QueryContext, QueryError, read_policy};
use crate::risk::{UserRule, UserRules};

/// A change of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleChange {
    /// Add this rule after the others.
    Add(UserRule),
    /// Put this rule, which was removed, back at this place in the list.
    Restore(usize, UserRule),
    /// Put this rule in the place of that with this id.
    Replace(String, UserRule),
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

fn rules_in(text: &str) -> std::io::Result<UserRules> {
    let policy = read_policy(text).map_err(|why| Error::new(ErrorKind::InvalidData, why))?;
    Ok(policy.command_rules)
}

impl SaveRules {
    /// Changes the file.
    ///
    /// # Errors
    /// When the file cannot be read or written, or its policy is invalid before or after the change. The file is then
    /// unchanged.
    pub fn save(&self) -> std::io::Result<SavedRules> {
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
        RuleChange::Add(rule) => insert(policy, in_line, usize::MAX, rule)?,
        RuleChange::Restore(place, rule) => insert(policy, in_line, *place, rule)?,
        RuleChange::Replace(id, rule) => match with_id(policy, id) {
            Some(old) => set_values(old, as_table(rule)?),
            None => insert(policy, in_line, usize::MAX, rule)?,
        },
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

fn no_list() -> Error {
    Error::new(ErrorKind::InvalidData, "command_rules is no list of tables")
}

fn as_table(rule: &UserRule) -> std::io::Result<Table> {
    let rule = toml::to_string(rule).map_err(not_toml)?;
    let mut table = rule.parse::<DocumentMut>().map_err(not_toml)?.into_table();
    table.set_position(None);
    Ok(table)
}

/// Adds a rule at this place of the list, at most at its end. `in_line` says whether the list is in one line.
fn insert(
    policy: &mut dyn TableLike,
    in_line: bool,
    place: usize,
    rule: &UserRule,
) -> std::io::Result<()> {
    let mut rule = as_table(rule)?;
    let rules = policy.entry("command_rules").or_insert_with(|| match in_line {
        true => Item::Value(Value::Array(Array::new())),
        false => Item::ArrayOfTables(ArrayOfTables::new()),
    });
    match rules {
        Item::ArrayOfTables(tables) => {
            // Tables are written in the order of their positions; of two with the same one, in that of the list.
            rule.set_position(tables.get(place).and_then(Table::position));
            let mut all: Vec<_> = std::mem::take(tables).into_iter().collect();
            all.insert(place.min(all.len()), rule);
            tables.extend(all);
        }
        Item::Value(Value::Array(values)) => {
            values.insert(place.min(values.len()), rule.into_inline_table());
        }
        _ => return Err(no_list()),
    }
    Ok(())
}

/// The table of the rule with this id.
fn with_id<'a>(policy: &'a mut dyn TableLike, id: &str) -> Option<&'a mut dyn TableLike> {
    let has_id = |table: &dyn TableLike| table.get("id").and_then(Item::as_str) == Some(id);
    match policy.get_mut("command_rules")? {
        Item::ArrayOfTables(tables) => {
            let mut tables = tables.iter_mut().map(|table| -> &mut dyn TableLike { table });
            tables.find(|table| has_id(&**table))
        }
        Item::Value(Value::Array(values)) => {
            let tables = values.iter_mut().filter_map(Value::as_inline_table_mut);
            let mut tables = tables.map(|table| -> &mut dyn TableLike { table });
            tables.find(|table| has_id(&**table))
        }
        _ => None,
    }
}

/// Sets the values of a rule, and keeps the comments beside the old ones.
fn set_values(rule: &mut dyn TableLike, values: Table) {
    for (key, value) in values {
        match (rule.get_mut(&key), value) {
            (Some(Item::Value(old)), Item::Value(mut new)) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            (_, value) => {
                rule.insert(&key, value);
            }
        }
    }
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

    /// A changed rule keeps its place, the comments around it and its keys, in each form of the list; a removed one gets its
    /// place back.
    #[test]
    fn rules_change_in_place_and_come_back() {
        let in_line = |id: &str| {
            format!(
                "{{ id = '{id}', prefix = ['ls'], level = 'blocked', reason = 'r', must_match = ['ls'], must_not_match = [] }}"
            )
        };
        let table = |id: &str| {
            format!(
                "# about {id}\n[[policy.command_rules]]\nid = '{id}' # name\nprefix = ['ls']\nlevel = 'blocked' # why\n\
                 reason = 'r'\nmust_match = ['ls']\nmust_not_match = []\n"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        for text in [
            format!(
                "policy = {{ command_rules = [{}, {}, {}] }} # all\n",
                in_line("a"),
                in_line("b"),
                in_line("c")
            ),
            format!("zoom = 2.0\n{}{}{}[model]\nkey = 'k'\n", table("a"), table("b"), table("c")),
        ] {
            std::fs::write(&file, &text).unwrap();
            let known = read_policy(&text).unwrap().command_rules;
            let save = |known: &UserRules, change| {
                SaveRules { file: file.clone(), known: known.clone(), change }.save().unwrap().rules
            };
            let ids =
                |rules: &UserRules| rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>();
            let changed = save(&known, RuleChange::Replace("b".to_owned(), rule("new")));
            assert_eq!(ids(&changed), ["a", "new", "c"], "{text}");
            assert_eq!(changed.iter().nth(1), Some(&rule("new")));
            let after = std::fs::read_to_string(&file).unwrap();
            assert_eq!(after.matches('#').count(), text.matches('#').count(), "{after}");
            for place in [0, 1, 2] {
                let rule = known.iter().nth(place).unwrap().clone();
                std::fs::write(&file, &text).unwrap();
                let fewer = save(&known, RuleChange::Remove(rule.id.clone()));
                assert_eq!(fewer.len(), 2);
                assert_eq!(save(&fewer, RuleChange::Restore(place, rule)), known, "{text}");
            }
            assert_eq!(
                read_policy(&std::fs::read_to_string(&file).unwrap()).unwrap().command_rules,
                known
            );
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
