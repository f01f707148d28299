//! What walls are made of, what a step may get beyond them, and how they are chosen.

use super::{Entry, Section};
use crate::authorization::{WallLevel, WallSetting};

const fn level(level: WallLevel) -> (&'static str, &'static str) {
    match level {
        WallLevel::Full => (
            "made of bubblewrap, Landlock and seccomp",
            "A process reads what it may, but not Countersign's own folders; writes only below the workspace and in a temporary \
             folder that ends with the run; and has no network but its own loopback.",
        ),
        WallLevel::Files => (
            "made of Landlock and seccomp",
            "As full, without the metadata of files outside: their times, owners and modes. Protected files of the workspace \
             are compared before and after the step.",
        ),
        WallLevel::None => (
            "no walls",
            "Nothing is enforced, so a step of level caution asks. Systems other than Linux have no walls yet.",
        ),
    }
}

const fn setting(setting: WallSetting) -> &'static str {
    match setting {
        WallSetting::Required => {
            "No process is started on this computer without the level full, and no step may be open."
        }
        WallSetting::Preferred => {
            "The strongest walls that this computer has. Without any, more steps ask."
        }
        WallSetting::Off => "No walls. More steps ask.",
    }
}

/// What a step may ask for in `needs`.
const NEEDS: [(&str, &str, &str); 4] = [
    (
        "needs: network",
        "the network of this computer",
        "Granted with the signature; it raises the step to caution.",
    ),
    (
        "needs: write",
        "files and folders outside the workspace",
        "At most 32. Never the home folder, a folder of the system, a sensitive path or a folder of Countersign.",
    ),
    (
        "needs: terminal",
        "a terminal in the window, into which you type",
        "Refused without a window.",
    ),
    (
        "needs: open",
        "no walls at all",
        "For what needs sudo or the socket of a daemon. Such a step always asks.",
    ),
];

pub(super) fn entries() -> Vec<Entry> {
    let entry = |key: String, title: &'static str, text: &'static str| Entry {
        section: Section::Walls,
        key: key.into(),
        title: title.into(),
        text: text.into(),
        next: "".into(),
    };
    let levels = [WallLevel::Full, WallLevel::Files, WallLevel::None].map(|it| {
        let (title, text) = level(it);
        entry(format!("level {}", it.as_str()), title, text)
    });
    let needs = NEEDS.map(|(key, title, text)| entry(key.to_owned(), title, text));
    let settings = WallSetting::WORDS.iter().map(|(word, it)| {
        entry(format!("walls = {word:?}"), "in the settings, or --walls", setting(*it))
    });
    levels.into_iter().chain(needs).chain(settings).collect()
}
