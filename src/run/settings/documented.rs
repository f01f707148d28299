//! The table of the settings in the documentation.

use super::{Belongs, COMMANDS, Effect, Group, SETTINGS};

/// The rows as tables in Markdown, one for each group.
pub fn documented() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let rows: Vec<_> = SETTINGS.iter().filter(|row| row.group == group).collect();
        text.push_str(&format!("### {}\n\n", group.title()));
        text.push_str("| key | meaning | what it costs | what it protects | default |\n|---|---|---|---|---|\n");
        for row in rows {
            let more = match row.more {
                "" => String::new(),
                more => format!(" [More]({more})."),
            };
            let effect = match row.effect {
                Effect::AtOnce => "",
                Effect::NextStart => " Takes effect at the next start.",
            };
            let kept = match row.belongs {
                Belongs::Person => "",
                Belongs::Computer => " Not exported: it is about this computer.",
                Belongs::Secret => " Not exported: it is a secret.",
            };
            let default = match row.default {
                "" => "none".to_owned(),
                default => format!("`{default}`"),
            };
            text.push_str(&format!(
                "| `{}` | {}{effect}{kept}{more} | {} | {} | {default} |\n",
                row.key, row.meaning, row.costs, row.protects
            ));
        }
        text.push('\n');
    }
    text
}

/// The names of the commands with their usual keys as a table in Markdown.
pub fn documented_commands() -> String {
    let rows = COMMANDS.iter().map(|(name, keys)| match *keys {
        "" => format!("| `{name}` | none |\n"),
        keys => format!("| `{name}` | {keys} |\n"),
    });
    format!("| command | usual keys |\n|---|---|\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_every_command() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md");
        let file = std::fs::read_to_string(path).unwrap();
        let commands = documented_commands();
        assert!(file.contains(&commands), "docs/keys.md must contain:\n{commands}");
    }

    #[test]
    fn the_documentation_has_every_row() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/files.md");
        let file = std::fs::read_to_string(path).unwrap();
        assert!(file.contains(&documented()), "docs/files.md must contain:\n{}", documented());
    }

    #[test]
    fn every_row_says_what_it_costs_and_protects() {
        for row in SETTINGS {
            for text in [row.meaning, row.costs, row.protects] {
                assert!(text.ends_with('.') && !text.contains('|'), "{}: {text}", row.key);
                assert!(
                    text.matches(". ").count() <= 2,
                    "{}: one or two sentences: {text}",
                    row.key
                );
            }
            assert!(row.name.chars().next().is_some_and(char::is_uppercase), "{}", row.name);
        }
    }

    #[test]
    fn each_key_has_one_row() {
        let keys: std::collections::BTreeSet<_> = SETTINGS.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), SETTINGS.len());
    }
}
