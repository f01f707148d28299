//! What a block takes from the commands above it without naming them.

/// Variables of a shell that are about its earlier commands, its folder before, or itself. Each step of a plan has a shell
/// of its own, in which they are something else.
const VARIABLES: [&str; 5] = ["!", "$", "OLDPWD", "PIPESTATUS", "DIRSTACK"];
/// Those of the command just before, which only the first command of a block takes from above.
const OF_LAST: [&str; 2] = ["_", "?"];

/// The variable by which this block would take something from the commands above it; `None` if there is none. Text in
/// single quotes is no code of the shell.
pub(in crate::openers) fn looks_back(code: &str) -> Option<String> {
    let (mut is_first, mut quoted, mut chars) = (true, false, code.char_indices().peekable());
    let mut in_double = false;
    while let Some((at, char)) = chars.next() {
        match char {
            '\'' if !in_double => quoted = !quoted,
            _ if quoted => {}
            '\\' => drop(chars.next()),
            '"' => in_double = !in_double,
            ';' | '&' | '|' | '\n' if !in_double => is_first = false,
            // The folder before, as a word of its own.
            '~' if code.get(at..).is_some_and(|rest| rest.starts_with("~-"))
                && code.get(..at).is_none_or(|before| {
                    before.is_empty() || before.ends_with(char::is_whitespace)
                }) =>
            {
                return Some("~-".to_owned());
            }
            '$' => {
                let rest = code.get(at + 1..).unwrap_or_default();
                let name = rest.trim_start_matches(['{', '#']);
                let is = |it: &&&str| {
                    let end = name.strip_prefix(**it);
                    let is_word = it.ends_with(|it: char| it.is_alphanumeric() || it == '_');
                    let goes_on = |end: &str| {
                        end.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_')
                    };
                    end.is_some_and(|end| !(is_word && goes_on(end)))
                };
                let of_last = OF_LAST.iter().filter(|_| is_first);
                if let Some(found) = VARIABLES.iter().chain(of_last).find(is) {
                    return Some(format!("${found}"));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_above_is_found() {
        for (code, expected) in [
            ("ls -d $_", Some("$_")),
            ("echo \"${_}\"", Some("$_")),
            ("mkdir -p zz && ls $_", None),
            ("test $? = 0", Some("$?")),
            ("false; echo $?", None),
            ("kill $!", Some("$!")),
            ("true; wait ${!}", Some("$!")),
            ("cat /tmp/x.$$", Some("$$")),
            ("cd $OLDPWD", Some("$OLDPWD")),
            ("ls ~-", Some("~-")),
            ("true | cat; echo ${PIPESTATUS[@]}", Some("$PIPESTATUS")),
            ("perl -ne 'print $_ if $?'", None),
            ("echo $_x $RANDOMLY \\$_", None),
            ("echo it\\'s $_", Some("$_")),
            ("echo \"it's $_\"", Some("$_")),
            ("echo $HOME ~/x a~-b", None),
        ] {
            assert_eq!(looks_back(code).as_deref(), expected, "{code}");
        }
    }
}
