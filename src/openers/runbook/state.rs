//! What a block leaves in its shell for the blocks below it. A reader of a Markdown text runs all blocks in one shell, and
//! each step of a plan has its own. So plain changes of the folder and of variables are repeated in front of later
//! blocks, where everybody sees them. Any other command must be one that cannot change its shell: its name is written
//! plainly, it is none of bash's own, and nothing in its words changes a variable. Whatever is not understood is an error.

use super::words::{Command, commands};

/// The commands of bash itself, and the words of its grammar, but for those that change nothing: `echo`, `false`, `pwd`,
/// `true` and `type`.
const OF_BASH: &str = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs \
    disown enable eval exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd printf \
    pushd read readarray readonly return set shift shopt source suspend test times trap typeset ulimit umask unalias \
    unset wait if then else elif fi case esac for select while until do done in function time coproc";

/// Programs that begin a shell or another program for commands, in which a reader would type the blocks below, or that
/// are functions which change the shell. The second list is of those that do so only without an argument.
const OPENS: &str = "su chroot screen tmux newgrp conda mamba nvm sdk module workon deactivate direnv asdf rvm fvm \
    nix-shell pipenv poetry distrobox toolbox toolbx machinectl nsenter unshare login script expect telnet";
const OPENS_ALONE: &str = "bash sh zsh fish dash ksh csh tcsh python python2 python3 ipython node irb php psql mysql \
    mariadb sqlite3 mongo mongosh redis-cli ftp sftp R julia ghci scala clojure erl iex gdb lldb bc ed";
/// Options that keep a program waiting for what is typed.
const INTERACTIVE: [&str; 8] =
    ["-i", "-t", "-it", "-ti", "--interactive", "--tty", "-s", "--login"];
/// Programs that run others elsewhere, and open a shell there if they are asked for it.
const ELSEWHERE: &str = "sudo doas docker podman kubectl oc nerdctl lxc incus multipass limactl flatpak vagrant nix bash sh zsh gcloud";

/// Commands that are repeated in front of later blocks.
#[derive(Default)]
pub(in crate::openers) struct State {
    text: String,
}

impl State {
    /// The commands to put in front of a block, each in a line.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(in crate::openers) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Notes what commands leave in the shell for those below them.
    ///
    /// # Errors
    /// The index of a line, and why it cannot be repeated.
    pub(in crate::openers) fn add(&mut self, code: &str) -> Result<(), (usize, String)> {
        let mut lines = code.lines().enumerate();
        while let Some((index, first)) = lines.next() {
            // A line that goes on, as the shell reads it.
            let mut line = first.to_owned();
            while line.ends_with('\\') && !line.ends_with("\\\\") && !line.contains('#') {
                let Some((_, next)) = lines.next() else { break };
                line.pop();
                line.push_str(next);
            }
            let line = line.as_str();
            let error = |why: &str| {
                let shown: String = line.trim().chars().take(60).collect();
                Err((
                    index,
                    format!(
                        "\"{shown}\" {why}, and each step of a plan has a shell of its own: join this block and those below into one"
                    ),
                ))
            };
            let Some(commands) = commands(line) else {
                return error("may change the shell for the blocks below it");
            };
            for (position, command) in commands.iter().enumerate() {
                if let Some(repeated) = repeated(command) {
                    // A command behind another one may not run.
                    let is_plain = position == 0
                        && !command.is_piped
                        && commands.iter().all(|it| !it.is_piped);
                    if !is_plain {
                        return error("may change the shell for the blocks below it");
                    }
                    self.text.push_str(&repeated);
                    self.text.push('\n');
                } else if changes(command) {
                    return error("may change the shell for the blocks below it");
                } else if opens(command) {
                    return error("may begin another shell for the blocks below it");
                }
            }
        }
        Ok(())
    }
}

/// The command as it is repeated, if it is a plain change of the shell.
fn repeated(command: &Command<'_>) -> Option<String> {
    let words: Vec<&str> = command.words.iter().map(|word| word.text).collect();
    let is_assignment = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, value)| is_name(name) && (value.is_empty() || is_word(value)))
    };
    match words.as_slice() {
        // What cannot change into its folder must not run in another one.
        ["cd", folder] if is_word(folder) && !folder.starts_with('-') => {
            Some(format!("cd {folder} || exit"))
        }
        ["export", rest @ ..] if !rest.is_empty() && rest.iter().all(is_assignment) => {
            Some(words.join(" "))
        }
        ["set", rest @ ..] if !rest.is_empty() && rest.iter().all(|word| is_option(word)) => {
            Some(words.join(" "))
        }
        all if !all.is_empty() && all.iter().all(is_assignment) => Some(words.join(" ")),
        _ => None,
    }
}

/// An option of `set`, or the name behind `-o`.
fn is_option(word: &str) -> bool {
    let letters = word.strip_prefix(['-', '+']).unwrap_or_default();
    word == "pipefail" || !letters.is_empty() && letters.chars().all(|it| it.is_ascii_alphabetic())
}

/// Whether a command may change the shell: its name is not plain, or it is one of bash's own.
fn changes(command: &Command<'_>) -> bool {
    let mut words = command.words.iter().map(|word| word.text);
    // Variables in front of a program are only that program's.
    let name = words.find(|word| !word.split_once('=').is_some_and(|(name, _)| is_name(name)));
    name.is_none_or(|name| !is_program(name) || OF_BASH.split_whitespace().any(|it| it == name))
}

/// Whether a command may begin a shell or another program that takes the commands below.
fn opens(command: &Command<'_>) -> bool {
    let words: Vec<&str> = command.words.iter().map(|word| word.text).collect();
    let is_in = |list: &str, word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        list.split_whitespace().any(|it| it == name)
    };
    let mut rest = words.as_slice();
    while let [first, behind @ ..] = rest {
        let alone = behind.iter().all(|word| word.starts_with('-') && !is_script_option(word));
        if is_in(OPENS, first) || is_in(OPENS_ALONE, first) && alone {
            return true;
        }
        if is_in("ssh mosh", first) && has_no_command(behind) {
            return true;
        }
        if is_in(ELSEWHERE, first)
            && behind.iter().any(|word| {
                INTERACTIVE.contains(word)
                    || ["ssh", "shell", "develop", "attach", "enter"].contains(word)
            })
        {
            return true;
        }
        if behind.contains(&"compose") && (behind.contains(&"run") || behind.contains(&"exec")) {
            return true;
        }
        let is_wrapper = is_in("sudo doas env nice nohup exec timeout ssh", first);
        if !is_wrapper && !first.contains('=') {
            return false;
        }
        // Behind it stands the program, perhaps after options, their values, numbers, variables and a host.
        rest = behind;
        while let [word, more @ ..] = rest {
            let has_value = is_wrapper
                && word.len() == 2
                && word.chars().nth(1).is_some_and(|it| "ugpCrtUTDRhno".contains(it));
            rest = match word {
                _ if word.starts_with('-') && has_value => more.get(1..).unwrap_or_default(),
                _ if word.starts_with('-') || word.contains('=') => more,
                _ if word.starts_with(|it: char| it.is_ascii_digit()) => more,
                _ => break,
            };
        }
        if is_in("ssh", first) {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    false
}

/// Whether these arguments of `ssh` name a host and no command.
fn has_no_command(arguments: &[&str]) -> bool {
    let (mut operands, mut words) = (0, arguments.iter());
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            // The value of the option is a word of its own.
            Some(option) if option.len() == 1 && "bcDEeFIiJLlmOopQRSWw".contains(option) => {
                words.next();
            }
            Some(_) => {}
            None => operands += 1,
        }
    }
    operands < 2
}

/// An option whose argument is the script of an interpreter.
fn is_script_option(word: &str) -> bool {
    ["-c", "-e", "-f", "-m", "-r", "--version", "-V", "--help", "-h"].contains(&word)
}

fn is_program(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric() || "./_~".contains(first))
        && name.chars().all(|it| it.is_ascii_alphanumeric() || "._+/~-@".contains(it))
        && name != "."
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn carried(code: &str) -> Result<String, usize> {
        let mut state = State::default();
        state.add(code).map_err(|(line, _)| line)?;
        Ok(state.text)
    }

    #[test]
    fn plain_changes_are_repeated() {
        for (code, expected) in [
            ("make\ncargo test -- --nocapture", ""),
            ("cd app\nmake", "cd app || exit\n"),
            ("cd 'my app' && make", "cd 'my app' || exit\n"),
            ("cd app # go there", "cd app || exit\n"),
            ("export A=1\nB=two\nset -euo pipefail", "export A=1\nB=two\nset -euo pipefail\n"),
            ("OUT=dist # where it goes", "OUT=dist\n"),
            ("A=1 make", ""),
            ("A=\"1 2\" B=$(x y) make", ""),
            ("echo a && echo \"$B\" | tee x > y", ""),
            ("# only a comment\n\n", ""),
            ("ssh host uptime\nsudo apt install x\ndocker run --rm x ls", ""),
            ("python3 x.py\npsql -f x.sql", ""),
            ("curl -sS 'https://x/y?a=1&b=2' -o \"$HOME/x\"", ""),
        ] {
            assert_eq!(carried(code), Ok(expected.to_owned()), "{code}");
        }
    }

    #[test]
    fn everything_else_is_an_error() {
        for code in [
            "cd $DIR",
            "make && cd app",
            "cd -",
            "cd",
            "FOO=1 cd x",
            "\\cd x",
            "\"cd\" x",
            "c\"d\" x",
            ">/dev/null cd x",
            "C=cd; $C app",
            "${X:-cd} x",
            "$(echo cd) x",
            "cd$IFS x",
            "c\\",
            "command -p cd x",
            "command -- cd x",
            "case x in x) cd app;; esac",
            "pushd x",
            "cd app | cat",
            "cd app &",
            "Z=9 | cat",
            "Z=9 &",
            "set -e | cat",
            "A=$(date)",
            "A=`date`",
            "export X=$(date)",
            "PATH=$PWD/bin:$PATH",
            "DIR=my\\ dir",
            "Z=9 >x",
            ">x Z=9",
            "for i in 1; do x; done",
            "echo ${A:=x}",
            "echo $((A=7))",
            "echo x[Z=9]=1 $((Z++))",
            "IFS= read Z",
            ": {Z}>/dev/null",
            "coproc x",
            "echo $?",
            "echo $_",
            "\"export\" A=1",
            "X=1 export A=1",
            ". ./env",
            "source env",
            "FOO=1 . ./env",
            "eval x",
            "\"let\" a=1",
            "printf -v A x",
            "if true; then cd x; fi",
            "f() { echo; }",
            "f () { echo; }",
            "function f { x; }",
            "read A",
            "A+=x\"",
            "A=\"a b $C\"",
            "(cd x",
            "cat <<E",
            "cat <<< x",
            "echo 'a",
            "x &",
            "kill %1",
            "x \\",
            "cat >x <(y)",
            "! x",
            "[ a ] && x",
            "[[ a ]]",
            "ssh user@host",
            "ssh host bash",
            "sudo -u x bash",
            "sudo -- bash",
            "A=1 bash",
            "timeout 5 sh",
            "docker compose run x sh",
            "ssh -p 22 host",
            "sudo -i",
            "sudo su -",
            "su - x",
            "docker run -it x sh",
            "kubectl exec -it p -- sh",
            "chroot /x",
            "nix-shell",
            "vagrant ssh",
            "python3",
            "zsh",
            "bash -l",
            "conda activate x",
            "nvm use 1",
            "exit",
            "exec >log",
            "umask 0",
            "trap x EXIT",
            "alias a=b",
            "time -p Z=9",
            "echo {a,b}",
            "echo `x`",
            "echo $!",
            "{ cd x; }",
            "echo \u{0}",
        ] {
            assert!(carried(code).is_err(), "{code}");
        }
    }
}
