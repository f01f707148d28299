//! Rewriting a command without changing its meaning never lowers its verdict.

use super::*;

/// A text with every character rewritten.
fn letters(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

/// Ways to write a command differently, or to run it through another one.
fn mutations(command: &str) -> Vec<(&'static str, String)> {
    let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
    let quoted = command.replace('\'', r"'\''");
    let mut rewritten = vec![
        ("newline", format!("true\n{command}\n")),
        ("crlf", format!("true\r\n{command}\r\n")),
        ("list", format!("true && {command}")),
        ("subshell", format!("( {command}\n)")),
        ("group", format!("{{ {command}\n}}")),
        ("condition", format!("if true; then {command}\nfi")),
        ("sh -c", format!("sh -c '{quoted}'")),
        ("nested sh -c", format!("env A=b bash -lc '{quoted}'")),
        ("substitution", format!("echo \"$({command}\n)\"")),
        ("eval", format!("eval '{quoted}'")),
        ("ssh", format!("ssh -p 22 host '{quoted}'")),
        ("background", format!("true & {command}")),
        ("negation", format!("! {command}")),
        ("or", format!("false || {command}")),
        ("loop", format!("for i in 1; do {command}\ndone")),
        ("while", format!("while true; do {command}\nbreak; done")),
        ("case", format!("case a in a) {command}\n;; esac")),
        ("function", format!("f() {{ {command}\n}}; f")),
        ("backquote", format!("echo `true`; {command}")),
        ("here-document", format!("bash <<'END'\n{command}\nEND")),
        ("here-string", format!("bash <<< '{quoted}'")),
        ("process substitution", format!("cat <( {command}\n)")),
        ("printed into a shell", format!("printf '%s\\n' '{quoted}' | sh")),
        ("three shells", format!("sh -c 'bash -c \"$0\"' '{quoted}'")),
        ("unicode space", format!("{program}\u{a0}{rest}")),
        ("zero width", format!("{program} \u{200b}{rest}")),
        ("other blanks", format!("\t {program}\t \t{rest}")),
        ("comment", format!("{command} # only a test")),
        ("condition after", format!("[ -n a ] && {command}")),
    ];
    let plain = !program.is_empty() && program.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let keyword = ["for", "if", "while", "until", "case", "select", "function", "time", "coproc"];
    if plain && !keyword.contains(&program) {
        let (head, tail) = program.split_at(1);
        rewritten.extend([
            ("redirection first", format!("2>/dev/null {command}")),
            ("quotes", format!("'{program}' {rest}")),
            ("double quotes", format!("{head}\"{tail}\" {rest}")),
            ("backslash", format!("\\{program} {rest}")),
            ("ansi-c", format!("$'{program}' {rest}")),
            ("empty quotes", format!("{head}''{tail} {rest}")),
            ("assignment", format!("A=b {command}")),
            ("line joined", format!("{program} \\\n {rest}")),
            ("every letter quoted", format!("{} {rest}", letters(program, |c| format!("'{c}'")))),
            ("every letter escaped", format!("{} {rest}", letters(program, |c| format!("\\{c}")))),
            ("hex", format!("$'{}' {rest}", letters(program, |c| format!("\\x{:02x}", c as u32)))),
            ("octal", format!("$'{}' {rest}", letters(program, |c| format!("\\{:03o}", c as u32)))),
            ("joined inside", format!("{head}\\\n{tail} {rest}")),
            ("variable", format!("X={program}; $X {rest}")),
            ("part in a variable", format!("X={head}; ${{X}}{tail} {rest}")),
            ("command substitution", format!("$(echo {program}) {rest}")),
            ("parameter default", format!("${{NONE:-{program}}} {rest}")),
            ("empty variable", format!("{head}$@{tail} {rest}")),
            ("assignment and export", format!("export A=b; A=c {command}")),
        ]);
        let builtin = [
            "export", "unset", "history", "set", "trap", "eval", "source", "alias", "declare",
            "exec", "read", "printf", "fc", "hash", "enable", "local", "cd", "typeset", "readonly",
            "shopt", "mapfile", "getopts", "bind", "complete", "compgen", "function", "command",
            "builtin",
        ];
        if !builtin.contains(&program) {
            rewritten.extend([
                ("sudo", format!("sudo -u root -- {command}")),
                ("env", format!("env -i A=b {command}")),
                ("timeout", format!("timeout -k 5 10 {command}")),
                ("nested", format!("nohup nice -n 5 setsid {command}")),
                ("path", format!("/usr/bin/{command}")),
                ("path of the system", format!("/bin/{command}")),
                ("path with a pattern", format!("/???/{program} {rest}")),
                ("doas", format!("doas {command}")),
                ("command", format!("command -- {command}")),
                ("stdbuf", format!("stdbuf -oL -eL {command}")),
                ("ionice", format!("ionice -c 3 {command}")),
                ("env split", format!("env A=b C=d {command}")),
                ("sudo env", format!("sudo env A=b nice {command}")),
                ("exec", format!("exec -a name {command}")),
                ("container", format!("docker exec -it web {command}")),
                ("busybox", format!("setsid -w nohup {command}")),
            ]);
            let nests = command.starts_with("find") || command.contains("{}");
            if !nests && !command.contains(['|', ';', '&', '<', '>', '(', '#']) {
                rewritten.extend([
                    ("xargs", format!("echo a | xargs -I% {command}")),
                    ("find", format!("find . -maxdepth 0 -exec {command} \\;")),
                    ("sh in xargs", format!("xargs -I% sh -c '{quoted}' < list")),
                    ("sh in find", format!("find . -exec bash -c '{quoted}' \\;")),
                ]);
            }
        }
    }
    rewritten
}

#[test]
fn rewriting_a_command_never_lowers_its_verdict() {
    let lines =
        corpus(include_str!("../../../../tests/fixtures/risk/destructive.jsonl"), "at_least");
    let mut faults = Vec::new();
    let mut tried = 0;
    for (line, _) in &lines {
        let command = line["command"].as_str().unwrap();
        // Here-documents and unparsable lines cannot be embedded.
        if line["syntax"] == "invalid"
            || command.contains("<<")
            || command.ends_with('&')
            || command.contains('\n')
        {
            continue;
        }
        let before = verdict_on(command).level;
        for (name, mutated) in mutations(command) {
            tried += 1;
            let after = verdict_on(&mutated);
            if after.level < before.min(RiskLevel::Dangerous) {
                faults.push(format!("{name}: {mutated} ({})", after.rule));
            }
        }
    }
    println!("{tried} mutations, {} lower", faults.len());
    assert!(tried > 10_000);
    assert_eq!(faults, Vec::<String>::new());
}
