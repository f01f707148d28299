//! What a block leaves in its shell for the blocks below it. A reader of a Markdown text runs all blocks in one shell, and
//! each step of a plan has its own. So plain changes of the folder and of variables are repeated in front of later
//! blocks, where everybody sees them; whatever else a block changes in its shell cannot be said by a plan.

/// The commands of bash that change the shell in which they run. Programs cannot, and functions are found by their
/// definition.
const CHANGING: &str = "cd pushd popd dirs export declare typeset readonly local source . alias unalias set shopt \
    unset eval exec trap umask ulimit hash enable read mapfile readarray getopts let complete compopt bind disown \
    function return exit logout";

/// Words in front of a command that leave it in the same shell.
const IN_FRONT: [&str; 11] =
    ["then", "else", "do", "{", "!", "time", "builtin", "command", "if", "while", "until"];

/// Words at the beginning of a line that make it part of a larger command.
const COMPOUND: [&str; 18] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "{", "}", "(", ")", "[[",
];

/// Commands that are repeated in front of later blocks.
#[derive(Default)]
pub(super) struct State {
    commands: Vec<String>,
}

impl State {
    /// The commands to put in front of a block.
    pub(super) fn text(&self) -> String {
        self.commands.iter().map(|command| format!("{command}\n")).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Notes what a block leaves in the shell. `later` is the text of the blocks below it.
    ///
    /// # Errors
    /// The index of a line, and why it cannot be repeated.
    pub(super) fn add(&mut self, code: &str, later: &str) -> Result<(), (usize, String)> {
        let is_compound = code.lines().any(|line| {
            let first = line.split_whitespace().next().unwrap_or_default();
            let last = line.trim_end();
            COMPOUND.contains(&first.trim_end_matches(';'))
                || line.contains("<<")
                || last.ends_with(['\\', '{', '('])
                || quotes_are_open(line)
        });
        for (index, line) in code.lines().enumerate() {
            for (position, command) in commands(line).into_iter().enumerate() {
                if !changes(command) || is_unused(command, later) {
                    continue;
                }
                // A command behind `&&` runs only if the one before it succeeds.
                if is_compound || position > 0 || !is_plain(command) {
                    return Err((
                        index,
                        format!(
                            "\"{command}\" changes the shell for the blocks below it, and each step of a plan has a shell \
                         of its own: join these blocks into one"
                        ),
                    ));
                }
                // What cannot change into its folder must not run in another one.
                let end = if command.starts_with("cd ") { " || exit" } else { "" };
                self.commands.push(format!("{command}{end}"));
            }
        }
        Ok(())
    }
}

/// The commands of a line, where they are set apart by signs. A sign in quotes sets apart as well, which at worst finds
/// a change that is none.
fn commands(line: &str) -> Vec<&str> {
    let parts = line.split([';', '&', '|']).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|mut part| {
            while let Some((first, rest)) = part.split_once(char::is_whitespace) {
                if !IN_FRONT.contains(&first) {
                    break;
                }
                part = rest.trim_start();
            }
            part
        })
        .collect()
}

fn changes(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let is_function = || first.contains("()") || command.split_whitespace().nth(1) == Some("()");
    let is_printf = || first == "printf" && command.contains("-v");
    CHANGING.split_whitespace().any(|it| it == first)
        || assigned(command).is_some()
        || first.starts_with("((")
        || is_function()
        || is_printf()
}

/// The variable that a command sets, if it does nothing else.
fn assigned(command: &str) -> Option<&str> {
    let (name, value) = command.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    // With a command behind it, the variable is only that command's.
    let rest = behind_word(value);
    (is_name(name) && (rest.is_empty() || assigned(rest).is_some())).then_some(name)
}

/// What stands behind the first word.
fn behind_word(text: &str) -> &str {
    let (mut quote, mut depth) = (None, 0_usize);
    for (index, it) in text.char_indices() {
        match (quote, it) {
            (Some(open), _) if it == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(it),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, _) if it.is_whitespace() && depth == 0 => {
                return text.get(index..).unwrap_or_default().trim();
            }
            (None, _) => {}
        }
    }
    ""
}

/// Whether a change stands for itself, and is the same when it is made again.
fn is_plain(command: &str) -> bool {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let rest = rest.trim();
    let is_assignment = |text: &str| {
        text.split_once('=')
            .is_some_and(|(name, value)| is_name(name) && (value.is_empty() || is_word(value)))
    };
    match first {
        "cd" => is_word(rest) && !rest.starts_with('-'),
        "export" => is_assignment(rest),
        "set" => {
            !rest.is_empty()
                && rest.split_whitespace().all(|it| {
                    it == "pipefail" || it.len() > 1 && it.starts_with(['-', '+']) && it != "--"
                })
        }
        _ => is_assignment(command),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// Whether a text is one word in which bash replaces nothing but `~`.
fn is_word(text: &str) -> bool {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let is_plain = |it: char| it.is_alphanumeric() || "_-./:@%+,~".contains(it);
    !text.is_empty() && text.chars().all(is_plain)
        || inside('\'').is_some_and(|inside| !inside.contains('\''))
        || inside('"').is_some_and(|inside| !inside.contains(['"', '$', '`', '\\', '!']))
}

fn quotes_are_open(line: &str) -> bool {
    ['\'', '"'].into_iter().any(|quote| line.matches(quote).count() % 2 == 1)
}

/// Whether a command only sets a variable that no later block names and no program gets.
fn is_unused(command: &str, later: &str) -> bool {
    assigned(command).is_some_and(|name| !later.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn carried(code: &str, later: &str) -> Result<String, usize> {
        let mut state = State::default();
        state.add(code, later).map_err(|(line, _)| line)?;
        Ok(state.text())
    }

    #[test]
    fn plain_changes_are_repeated() {
        for (code, expected) in [
            ("make\ncargo test", ""),
            ("cd app\nmake", "cd app || exit\n"),
            ("cd 'my app' && make", "cd 'my app' || exit\n"),
            ("export A=1\nB=two\nset -euo pipefail", "export A=1\nB=two\nset -euo pipefail\n"),
            ("UNUSED=$(date)", ""),
            ("A=1 make", ""),
            ("A=\"1 2\" B=$(x y) make", ""),
            ("echo a && echo b", ""),
            ("(cd app && make)", ""),
        ] {
            assert_eq!(carried(code, "echo $A $B"), Ok(expected.to_owned()), "{code}");
        }
    }

    #[test]
    fn other_changes_are_errors() {
        for (code, line) in [
            ("make\ncd $DIR", 1),
            ("A=$(date)", 0),
            ("A=`date`", 0),
            ("export X=$(date)", 0),
            ("make && cd app", 0),
            ("if true; then\n  cd app\nfi", 1),
            ("if true; then cd app; fi", 0),
            ("source venv/bin/activate", 0),
            (". env", 0),
            ("cd -", 0),
            ("f() { echo; }", 0),
            ("f () { echo; }", 0),
            ("read A", 0),
            ("eval \"$(direnv hook bash)\"", 0),
            ("printf -v A x", 0),
            ("A+=x\"", 0),
            ("A=\"a b $C\"", 0),
            ("A=$(date +%s) B=1", 0),
        ] {
            assert_eq!(carried(code, "echo $A"), Err(line), "{code}");
        }
    }
}
