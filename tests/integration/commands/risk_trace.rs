//! The commands that bash really runs are among those that the classifier lists (SPEC §7.1).
//!
//! Random commands consist of programs that only log their arguments. Bash runs them in a folder of their
//! own, and every logged call must be one of the listed ones.

use crate::harness::set_mode;
use std::fs;
use std::path::Path;

use countersign::risk::{Shell, SimpleCommand, UserRules, of_command};

const PROGRAMS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "omega", "sigma"];
const MANY: usize = 2_000;

/// A small generator of random numbers (SplitMix64): the same seed gives the same commands.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn word(&mut self, depth: usize) -> String {
        const PLAIN: [&str; 16] = [
            "a1",
            "'b c'",
            "\"d e\"",
            "f\\ g",
            "$'h\\ti'",
            "j'k'\"l\"",
            "\"m;n\"",
            "'o|p'",
            "'#q'",
            "r#s",
            "{t,u}",
            "\"$V\"",
            "-x",
            "--y=z",
            "\"'\"",
            "\\\"",
        ];
        match self.below(if depth > 0 { 12 } else { 9 }) {
            9 => format!("\"$({})\"", self.command(depth - 1)),
            10 => format!("`{} a1`", self.of(&PROGRAMS)),
            11 => format!("x$({})y", self.simple(depth - 1)),
            _ => self.of(&PLAIN).to_owned(),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let name = self.of(&PROGRAMS);
        let (head, tail) = name.split_at(1);
        let mut text = match self.below(10) {
            0 => format!("'{name}'"),
            1 => format!("\\{name}"),
            2 => format!("{head}\"{tail}\""),
            3 => format!("$'{name}'"),
            4 => format!("{head}''{tail}"),
            5 => format!("A=b {name}"),
            6 => format!(">/dev/null {name}"),
            _ => name.to_owned(),
        };
        for _ in 0..self.below(4) {
            let gap = self.of(&[" ", " ", "  ", "\t", " \\\n"]);
            text.push_str(gap);
            text.push_str(&self.word(depth));
        }
        text.push_str(self.of(&[
            "",
            "",
            "",
            " 2>&1",
            " >/dev/null",
            " 2>/dev/null",
            " </dev/null",
        ]));
        text
    }

    fn wrapped(&mut self, depth: usize) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let plain = format!("{} {}", self.of(&PROGRAMS), self.word(0));
        match self.below(13) {
            0 => format!("env A=b {plain}"),
            1 => format!("nice -n 1 {plain}"),
            2 => format!("timeout 20 {plain}"),
            3 => format!("command {plain}"),
            4 => format!("(exec {plain})"),
            5 => format!(
                "sh -c {}",
                quoted(&format!("{} 'b c'; {}", self.of(&PROGRAMS), self.of(&PROGRAMS)))
            ),
            6 => format!("bash -c {}", quoted(&self.command(depth))),
            7 => format!("eval {}", quoted(&self.command(depth))),
            8 => format!("echo a b | xargs -n 1 {plain}"),
            9 => format!("find . -maxdepth 0 -exec {plain} {{}} \\;"),
            10 => format!("xargs {plain} <<< 'c d'"),
            11 => format!("nohup env -u V {plain}"),
            _ => format!("bash <<< {}", quoted(&plain)),
        }
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let mut part = || self.command(depth - 1);
        let (one, two) = (part(), part());
        match self.below(22) {
            0 => format!("{one}; {two}"),
            1 => format!("{one} && {two}"),
            2 => format!("{one} || {two}"),
            3 => format!("{one} | {{ {two}; }}"),
            4 => format!("( {one} )"),
            5 => format!("{{ {one}; }}"),
            6 => format!("if {one}; then {two}; else {one}; fi"),
            7 => format!("for v in 1 2; do {one}; sigma \"$v\"; done"),
            8 => format!("while ! {one}; do {two}; break; done"),
            9 => format!("case x in y) {two};; x|z) {one};; esac"),
            10 => format!("f() {{ {one}; sigma \"$1\"; }}; f a1"),
            11 => format!("! {one}"),
            12 => format!("{one} & wait"),
            13 => format!("[[ a == a ]] && {one}"),
            14 => format!("{one} < <({two})"),
            15 => format!("(( 1 + 1 )); {one}"),
            16 => format!("{one}\n{two}"),
            17 => format!("x=$({one}); gamma \"$x\""),
            18..=20 => self.wrapped(depth - 1),
            _ => self.simple(depth),
        }
    }

    fn whole(&mut self) -> String {
        let depth = self.below(4);
        let command = self.command(depth);
        match self.below(12) {
            0 => format!("cat <<E\n$({command}\n)\nE"),
            1 => format!("cat <<'E' >/dev/null\n$(alpha never)\nE\n{command}"),
            3 => format!("{command}\n"),
            2 => format!("{command} # alpha never"),
            _ => command,
        }
    }
}

/// Whether a call matches a listed command. A word that is unknown before the shell runs matches any words.
fn is_call(listed: &SimpleCommand, call: &[String]) -> bool {
    fn matches(words: &[Option<&str>], call: &[String]) -> bool {
        match (words.split_first(), call.split_first()) {
            (None, None) => true,
            (Some((None, words)), _) => (0..=call.len()).any(|at| matches(words, &call[at..])),
            (Some((Some(word), words)), Some((first, call))) => {
                word == first && matches(words, call)
            }
            _ => false,
        }
    }
    let words: Vec<Option<&str>> = listed.words().iter().map(|word| word.known()).collect();
    // A listed command without a known program name would match any call.
    words.first().is_some_and(Option::is_some) && matches(&words, call)
}

/// Runs a command in bash and reads the log of calls.
fn trace(command: &str, folder: &Path, log: &Path) -> Vec<Vec<String>> {
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    assert_cmd::Command::new("bash")
        .args(["--noprofile", "--norc", "-c", command])
        .env_clear()
        .env("PATH", path)
        .env("TRACE", log)
        .current_dir(folder.join("empty"))
        .output()
        .expect("bash, by which commands are run");
    let text = fs::read_to_string(log).unwrap_or_default();
    text.split_terminator('\x02')
        .map(|call| call.split_terminator('\x01').map(str::to_owned).collect())
        .collect()
}

#[test]
fn listed_commands_include_what_bash_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    fs::create_dir(folder.join("bin")).unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    for name in PROGRAMS {
        // One write per call, so that simultaneous calls do not mix.
        let stub = format!(
            "#!/bin/sh\nt='{name}\x01'\nfor a; do t=\"$t$a\x01\"; done\n\
             printf '%s\\002' \"$t\" >>\"$TRACE\"\n"
        );
        let file = folder.join("bin").join(name);
        fs::write(&file, stub).unwrap();
        set_mode(&file, 0o755);
    }
    let commands: Vec<String> = {
        let mut random = Random(1);
        (0..MANY).map(|_| random.whole()).collect()
    };
    let halves: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = commands
            .chunks(MANY / 2)
            .enumerate()
            .map(|(number, half)| {
                let (folder, log) = (&folder, folder.join(format!("log{number}")));
                scope.spawn(move || compare(half, folder, &log))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let calls: usize = halves.iter().map(|(calls, _)| calls).sum();
    let faults: Vec<String> = halves.into_iter().flat_map(|(_, faults)| faults).collect();
    println!("{MANY} commands, {calls} calls, {} not listed", faults.len());
    assert!(calls > MANY, "only {calls} calls");
    assert_eq!(faults, Vec::<String>::new());
}

fn compare(commands: &[String], folder: &Path, logs: &Path) -> (usize, Vec<String>) {
    let (mut calls, mut faults) = (0, Vec::new());
    for (number, command) in commands.iter().enumerate() {
        // The log of one command must not be read as that of the next.
        let log = logs.with_extension(number.to_string());
        let verdict = of_command(command, Shell::Bash, &UserRules::default());
        if verdict.commands.is_empty() {
            faults.push(format!("{} by {}: {command}", verdict.level.as_str(), verdict.rule));
            continue;
        }
        for call in trace(command, folder, &log) {
            calls += 1;
            if !verdict.commands.iter().any(|listed| is_call(listed, &call)) {
                faults.push(format!("{call:?} of {command}"));
            }
        }
    }
    (calls, faults)
}

#[test]
fn unlisted_call_is_recognized() {
    let verdict = of_command("alpha 'b c' \"$V\"", Shell::Bash, &UserRules::default());
    let is = |call: &[&str]| {
        let call: Vec<String> = call.iter().map(|word| (*word).to_owned()).collect();
        verdict.commands.iter().any(|listed| is_call(listed, &call))
    };
    assert!(is(&["alpha", "b c", ""]));
    assert!(!is(&["alpha", "b", "c"]));
    assert!(!is(&["beta", "b c", ""]));
}
