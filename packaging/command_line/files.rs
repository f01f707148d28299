//! The files that are made of the definition of the command line: man pages and completions of shells.

use std::io::{Result, Write};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

/// The name of the program.
const PROGRAM: &str = "countersign";

/// The date of the pages, which packages replace by theirs.
const DATE: &str = "1970-01-01";

/// What the main page says besides the definition.
const FILES: [(&str, &str); 5] = [
    (
        "~/.local/share/countersign/",
        "The evidence and the inbox, if no option and no setting names other folders.",
    ),
    ("~/.config/countersign/", "The settings (settings.toml), and the keys of the evidence."),
    ("~/.local/state/countersign/", "The last heads of the evidence."),
    ("~/.cache/countersign/", "Copies of workspaces for simulations."),
    ("countersign.toml", "The commands of a workspace, in its root."),
];
const ENVIRONMENT: [(&str, &str); 2] = [
    ("DISPLAY, WAYLAND_DISPLAY", "Where the window opens. The commands need neither."),
    (
        "XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME",
        "Other folders than those above, in which a folder countersign is made.",
    ),
];

/// Every file: its path below `packaging/linux`, and its contents.
pub fn files(command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for (shell, name) in [
        (Shell::Bash, "countersign.bash"),
        (Shell::Fish, "countersign.fish"),
        (Shell::Zsh, "_countersign"),
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), PROGRAM, &mut script);
        files.push((format!("completions/{name}"), script));
    }
    // A page for `help` would only say how to ask for help.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    pages(&command, None, &mut files)?;
    Ok(files)
}

/// Adds the pages of a command and of those below it.
fn pages(command: &Command, above: Option<&str>, files: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut below: Vec<&Command> =
        command.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    below.sort_by_key(|it| it.get_name());
    for command in &below {
        pages(command, Some(&name), files)?;
    }
    files.push((format!("man/{name}.1"), page(command, above)?));
    Ok(())
}

/// A page. The package that contains it fills in its date.
fn page(command: &Command, above: Option<&str>) -> Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .date(DATE)
        .source(format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|it| !it.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(|it| !it.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if let Some(above) = above {
        if !after.is_empty() {
            notes(&after, &mut page)?;
        }
        see_also(above, &mut page)?;
    } else {
        section("EXIT STATUS", &exit_codes(&after), &mut page)?;
        section("FILES", &FILES, &mut page)?;
        section("ENVIRONMENT", &ENVIRONMENT, &mut page)?;
    }
    Ok(tidy(&String::from_utf8_lossy(&page)))
}

/// Without blanks at ends of lines, and without the breaks beside blank lines that clap writes, which break nothing.
fn tidy(page: &str) -> Vec<u8> {
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let is = |index: Option<usize>, word: &str| {
        index.and_then(|index| lines.get(index)).is_some_and(|line| *line == word)
    };
    let kept = lines.iter().enumerate().filter(|(index, line)| {
        **line != ".br" || !is(index.checked_sub(1), "") && !is(index.checked_add(1), "")
    });
    let kept = kept.map(|(_, line)| if line.is_empty() { ".sp" } else { *line });
    kept.flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// The exit codes, of the help's text below a heading: `  CODE  meaning`.
fn exit_codes(help: &str) -> Vec<(&str, &str)> {
    help.lines().skip(1).filter_map(|line| line.trim().split_once("  ")).collect()
}

fn section(title: &str, entries: &[(&str, &str)], page: &mut dyn Write) -> Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", [title]);
    for (name, text) in entries {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(*text)]);
    }
    roff.to_writer(page)
}

/// What the help says below the options, with its lines as they are.
fn notes(text: &str, page: &mut dyn Write) -> Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", ["NOTES"]);
    roff.control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}

fn see_also(above: &str, page: &mut dyn Write) -> Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", ["SEE ALSO"]);
    let mut words: Vec<Inline> = vec![bold(above), roman("(1)")];
    if above != PROGRAM {
        words.extend([roman(", "), bold(PROGRAM), roman("(1)")]);
    }
    roff.text(words);
    roff.to_writer(page)
}
