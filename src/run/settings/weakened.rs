//! Which changes of a settings file weaken protection, as far as that depends on more than one key: a planner gets the first
//! table that names it, so that a table can loosen what another one says of the same planner, by coming or by going.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::weaker::of_planner;
use super::{Weaker, found_in, leaves, weaker};
use crate::risk::PlannerNeeds;

/// The tables of planners, by name.
type Planners = BTreeMap<String, PlannerNeeds>;

/// What the change of a key in this file gives up; `None` if nothing. Without a value, the key is taken away.
pub fn weaker_in(file: &Table, key: &str, value: Option<&Value>) -> Option<Weaker> {
    let Some((name, field)) = of_planner_key(key) else {
        return weaker(key, found_in(file, key), value);
    };
    let mut changed = file.clone();
    let planners = changed.entry("planners").or_insert_with(|| Value::Table(Table::new()));
    let planners = planners.as_table_mut()?;
    if value.is_none() && !planners.contains_key(name) {
        return None;
    }
    let table = planners.entry(name).or_insert_with(|| Value::Table(Table::new()));
    match value {
        Some(value) => drop(table.as_table_mut()?.insert(field.to_owned(), value.clone())),
        None => drop(table.as_table_mut()?.remove(field)),
    }
    let found = loosened(file, &changed);
    // What the key itself says is said first.
    let own = found.iter().find(|(of, it)| of == name && *it == field);
    own.or_else(|| found.first()).map(|(_, field)| of_planner(field))
}

/// What the change of a file gives up, each with its key.
pub fn weakened(old: &Table, new: &Table) -> Vec<(String, Weaker)> {
    let keys = leaves(old).into_iter().chain(leaves(new)).map(|(key, _)| key);
    let keys: BTreeSet<String> = keys.filter(|key| of_planner_key(key).is_none()).collect();
    let found = keys.into_iter().filter_map(|key| {
        let found = weaker(&key, found_in(old, &key), found_in(new, &key))?;
        Some((key, found))
    });
    let planners = loosened(old, new).into_iter();
    found
        .chain(
            planners.map(|(name, field)| (format!("planners.{name}.{field}"), of_planner(field))),
        )
        .collect()
}

/// The name of the planner and the field, if the key is one of a planner.
fn of_planner_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("planners.")?.rsplit_once('.')
}

/// The planners that may do more in the new file, with the field of their table.
fn loosened(old: &Table, new: &Table) -> BTreeSet<(String, &'static str)> {
    // What cannot be read may do nothing before, and everything after.
    let (nothing, everything) = (
        PlannerNeeds { read: false, ..PlannerNeeds::default() },
        PlannerNeeds { network: true, write: vec![".".to_owned()], ..PlannerNeeds::default() },
    );
    let (old, new) = (planners(old, &nothing), planners(new, &everything));
    let mut found = BTreeSet::new();
    for name in old.keys().chain(new.keys()) {
        for names in lookups(name) {
            let first = |all: &Planners| names.iter().find_map(|it| all.get(*it)).cloned();
            let (before, after) = (first(&old), first(&new));
            if before == after {
                continue;
            }
            // Of a planner that no table names, the least before and the most after.
            let before = before.unwrap_or_default();
            let after = after.unwrap_or_else(|| PlannerNeeds::at_most_unnamed(name));
            let writes_more = after.write.iter().any(|path| !before.write.contains(path));
            for (field, is_looser) in [
                ("network", after.network && !before.network),
                ("write", writes_more),
                ("read", after.read && !before.read),
            ] {
                if is_looser {
                    found.insert((name.clone(), field));
                }
            }
        }
    }
    found
}

fn planners(file: &Table, unreadable: &PlannerNeeds) -> Planners {
    let tables = file.get("planners").and_then(Value::as_table).into_iter().flatten();
    let needs = |value: &Value| value.clone().try_into().unwrap_or_else(|_| unreadable.clone());
    tables.map(|(name, value)| (name.clone(), needs(value))).collect()
}

/// The names under which the tables of a planner are looked up, in each way in which this name can be meant: as a command,
/// as a program whose path has spaces, and as a built-in planner with its argument.
fn lookups(name: &str) -> Vec<[&str; 3]> {
    fn file(program: &str) -> &str {
        program.rsplit('/').next().unwrap_or(program)
    }
    let program = name.split_whitespace().next().unwrap_or(name);
    let built_in = name.split_once(':').map(|(built_in, _)| [name, built_in, built_in]);
    let commands = [[name, program, file(program)], [name, name, file(name)]];
    commands.into_iter().chain(built_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    /// The keys that the change from the one file to the other weakens.
    fn of(old: &str, new: &str) -> Vec<String> {
        weakened(&table(old), &table(new)).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_more_specific_table_does_not_hide_a_stricter_one() {
        const STRICT: &str = "planners.'plan.py'.read = false\n";
        for (name, key) in [
            ("'/abs/plan.py'", "planners./abs/plan.py.read"),
            ("'./plan.py --fast'", "planners../plan.py --fast.read"),
            ("'/my tools/plan.py'", "planners./my tools/plan.py.read"),
        ] {
            let new = format!("{STRICT}planners.{name}.network = false");
            assert_eq!(of(STRICT, &new), [key]);
            let network = key.replace(".read", ".network");
            // Whatever key makes the table.
            let found = weaker_in(&table(STRICT), &network, Some(&Value::from(false)));
            assert_eq!(found, Some(of_planner("read")));
            // The table as a whole is as strict.
            let whole = format!("{new}\nplanners.{name}.read = false");
            assert_eq!(of(STRICT, &whole), [""; 0]);
        }
        let built_in = "planners.openai-compatible.network = false";
        let new = format!("{built_in}\nplanners.'openai-compatible:m'.network = true");
        assert_eq!(of(built_in, &new), ["planners.openai-compatible:m.network"]);
    }

    #[test]
    fn a_table_that_goes_leaves_another_one() {
        let both = "planners.'plan.py'.network = true\nplanners.'/a/plan.py'.read = true";
        let general = "planners.'plan.py'.network = true";
        assert_eq!(of(both, general), ["planners./a/plan.py.network"]);
        assert_eq!(of(general, both), [""; 0]);
        // Without a table, an agent of this name uses the network, and `cargo-fix` writes.
        assert_eq!(of("planners.codex.network = false", ""), ["planners.codex.network"]);
        let found = of("planners.cargo-fix.write = []", "");
        assert!(found.contains(&"planners.cargo-fix.write".to_owned()), "{found:?}");
        assert_eq!(of(general, ""), [""; 0]);
    }

    #[test]
    fn each_field_counts_by_itself() {
        for (old, new, keys) in [
            ("", "planners.a.network = true", &["planners.a.network"][..]),
            ("", "planners.a.write = ['.']", &["planners.a.write"]),
            ("planners.a.read = false", "planners.a.read = true", &["planners.a.read"]),
            ("planners.a.read = false", "[planners.a]", &["planners.a.read"]),
            ("", "planners.'x.read'.network = true", &["planners.x.read.network"]),
            ("", "planners.a.read = false", &[]),
            ("", "[planners.a]", &[]),
            ("policy.walls = 'required'", "policy.walls = 'off'", &["policy.walls"]),
        ] {
            assert_eq!(of(old, new), keys, "{old} {new}");
        }
        let file = table("planners.a.read = false");
        assert!(weaker_in(&file, "planners.a.read", None).is_some());
        assert!(weaker_in(&file, "planners.b.read", None).is_none());
        assert!(weaker_in(&file, "policy.walls", Some(&Value::from("off"))).is_some());
    }
}
