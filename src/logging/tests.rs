//! Each property of the log: what a line looks like, what is not in it, and what a faulty folder does.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use log::{Level, LevelFilter, Log as _, Record};

use super::file::{LogFile, MAX_SIZE};
use super::line::Message;
use super::queue::Queue;
use super::{LEVELS, Logger, level_named, panics};

/// A record of this target with the message `args`.
macro_rules! logged {
    ($logger:expr, $level:ident, $target:literal, $($args:tt)+) => {
        $logger.log(
            &Record::builder()
                .level(Level::$level)
                .target($target)
                .args(format_args!($($args)+))
                .build(),
        )
    };
}

/// The line for a message of the room `engine`.
fn line(text: &str) -> String {
    let args = format_args!("{text}");
    let record =
        Record::builder().level(Level::Warn).target("countersign::engine::x").args(args).build();
    Message::of(&record).line(7)
}

/// The end of a command waits less, which a busy computer may need for a line.
fn wait_until_written(logger: &Logger) {
    logger.queue.wait_until_written(Duration::from_secs(60));
}

fn read(folder: &std::path::Path) -> String {
    fs::read_to_string(folder.join("countersign.log")).unwrap_or_default()
}

#[test]
fn line_has_time_level_room_and_process() {
    let line = line("run begun run=1 steps=2");
    let (time, rest) = line.split_once(' ').unwrap();
    assert_eq!(rest, "warn engine run begun run=1 steps=2 pid=7\n");
    assert!(time.parse::<jiff::Timestamp>().is_ok() && time.len() == 24, "{time}");
}

#[test]
fn no_text_ends_or_hides_a_line() {
    for hidden in ["\n", "\r", "\u{85}", "\u{2028}", "\0", "\u{1b}[2K", "\u{202e}", "\u{200b}"] {
        let forged = format!("a{hidden}2026-11-29T14:29:30.123Z error engine forged");
        let line = line(&forged);
        assert_eq!(line.lines().count(), 1, "{line:?}");
        assert!(line.contains("a⟨") && line.ends_with(" pid=7\n"), "{line:?}");
        assert!(!line.trim_end().contains(|c: char| c.is_control()), "{line:?}");
    }
}

#[test]
fn message_of_a_library_is_one_quoted_value() {
    let args = format_args!("lost \" run=1\n2026 error");
    let record = Record::builder().level(Level::Warn).target("winit::x").args(args).build();
    let line = Message::of(&record).line(7);
    assert!(
        line.ends_with("warn winit message=\"lost \\\" run=1\\n2026 error\" pid=7\n"),
        "{line}"
    );
}

#[test]
fn only_own_messages_and_faults_of_the_window_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let logger = Logger::new(folder.path().join("log"));
    for (level, target, is_logged) in [
        (Level::Debug, "countersign::engine", true),
        (Level::Debug, "countersign", true),
        (Level::Error, "countersignature", false),
        (Level::Warn, "winit::platform", true),
        (Level::Info, "winit::platform", false),
        (Level::Error, "ureq::unit", false),
    ] {
        let metadata = log::Metadata::builder().level(level).target(target).build();
        assert_eq!(logger.enabled(&metadata), is_logged, "{level} {target}");
    }
}

#[test]
fn secrets_are_replaced_also_at_the_cut() {
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    for text in [format!("failed reason={TOKEN:?}"), format!("{}token {TOKEN}", "a ".repeat(1_010))]
    {
        let line = line(&text);
        assert!(!line.contains("ghp_16C7"), "{line}");
    }
    assert!(line(&format!("failed reason={TOKEN:?}")).contains("[secret:"));
    let line = line("not opened url=\"postgres://ada:letmein@db/team\"");
    assert!(!line.contains("letmein") && line.contains("db/team"), "{line}");
}

#[test]
fn huge_message_is_cut_and_the_rest_counted() {
    let line = line(&"heron ".repeat(1 << 20));
    assert!(line.len() < 3_000, "{}", line.len());
    let cut = line.split(" cut=").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(cut.parse::<usize>().unwrap(), (6 << 20) - 2_048);
}

#[test]
fn panic_message_has_no_values() {
    let text = "heron_in_a_plan".to_owned();
    type Fails = Box<dyn Fn() + std::panic::UnwindSafe>;
    let fails: [(&str, Fails); 6] = [
        ("a literal", Box::new(|| panic!("a literal"))),
        (
            "…",
            Box::new({
                let text = text.clone();
                move || panic!("{text}")
            }),
        ),
        ("start byte index 1 is not a char boundary", Box::new(|| drop("éheron"[1..].to_owned()))),
        (
            "called `Result::unwrap()` on an `Err` value",
            Box::new({
                let text = text.clone();
                move || std::hint::black_box(Err::<(), _>(text.clone())).unwrap()
            }),
        ),
        ("assertion `left == right", Box::new(move || assert_eq!(text, "other"))),
        (
            "index out of bounds: the len is 0 but the index is 3",
            Box::new(|| drop(Vec::<String>::new()[std::hint::black_box(3)].clone())),
        ),
    ];
    for (kept, fail) in fails {
        let payload = std::panic::catch_unwind(fail).unwrap_err();
        let message = panics::without_contents(&*payload);
        assert!(message.starts_with(kept) && !message.contains("heron"), "{message} for {kept}");
    }
}

#[test]
fn level_is_known_by_its_name_alone() {
    for name in LEVELS {
        assert_eq!(level_named(name).unwrap().as_str().to_lowercase(), name);
    }
    for name in ["trace", "INFO", "", "3", "info "] {
        assert!(level_named(name).unwrap_err().contains("off, error, warn, info, debug"), "{name}");
    }
    assert_eq!(super::DEFAULT, LevelFilter::Info);
}

#[test]
fn line_after_half_a_line_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = LogFile::new(folder.path().to_owned());
    fs::write(folder.path().join("countersign.log"), "2026 info engine run beg").unwrap();
    file.append(b"whole\n").unwrap();
    assert_eq!(read(folder.path()), "2026 info engine run beg\nwhole\n");
    assert_eq!(file.last_lines(1).unwrap(), ["whole"]);
}

#[test]
fn older_files_are_kept_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let file = LogFile::with_max_size(folder.path().to_owned(), 100);
    for number in 0..100 {
        file.append(format!("line {number:05}\n").as_bytes()).unwrap();
    }
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["countersign.log", "countersign.log.1", "countersign.log.2"]);
    for name in names {
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() <= 100);
    }
    // The last lines begin in the file before.
    let last: Vec<_> = (90..100).map(|number| format!("line {number:05}")).collect();
    assert_eq!(file.last_lines(10).unwrap(), last);
    const { assert!(MAX_SIZE == 1 << 20) };
}

#[test]
fn locked_file_is_waited_for_by_the_thread_of_the_log_only() {
    let folder = tempfile::tempdir().unwrap();
    let logger = Logger::new(folder.path().to_owned());
    logged!(logger, Info, "countersign::cli", "before");
    wait_until_written(&logger);
    let other = fs::File::open(folder.path().join("countersign.log")).unwrap();
    other.lock().unwrap();
    logged!(logger, Info, "countersign::cli", "after");
    logger.queue.wait_until_written(Duration::from_millis(20));
    assert_eq!(read(folder.path()).lines().count(), 1);
    drop(other);
    wait_until_written(&logger);
    assert_eq!(read(folder.path()).lines().count(), 2);
}

#[test]
fn several_writers_keep_lines_whole() {
    let folder = tempfile::tempdir().unwrap();
    // All lines fit into one file; or only the latest into three.
    for max_size in [MAX_SIZE, 2_000] {
        let folder = folder.path().join(max_size.to_string());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = LogFile::with_max_size(folder.clone(), max_size);
                scope.spawn(move || {
                    for number in 0..200 {
                        file.append(format!("<{writer} {number:04}>\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        let texts = ["", ".1", ".2"].map(|it| {
            fs::read_to_string(folder.join(format!("countersign.log{it}"))).unwrap_or_default()
        });
        let all = texts.concat();
        assert!(all.lines().all(|it| it.len() == 8 && it.starts_with('<')), "{all}");
        // A line has 9 bytes.
        let counts = texts.map(|it| it.lines().count());
        let expected = if max_size == MAX_SIZE { [800, 0, 0] } else { [800 % 222, 222, 222] };
        assert_eq!(counts, expected, "{all}");
    }
}

#[test]
fn messages_that_wait_have_a_limit() {
    let queue = Queue::default();
    let args = format_args!("{}", "x".repeat(16 << 10));
    let record = Record::builder().level(Level::Warn).target("countersign").args(args).build();
    for _ in 0..200 {
        queue.add(Message::of(&record));
    }
    assert!((100..150).contains(&queue.lost()), "{}", queue.lost());
    let began = Instant::now();
    queue.wait_until_written(Duration::from_millis(20));
    assert!(began.elapsed() < Duration::from_secs(5), "nobody writes, and it is not waited for");
}

#[test]
fn lost_messages_are_counted_once_the_folder_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "in the way").unwrap();
    let logger = Logger::new(log.clone());
    for number in 0..3 {
        logged!(logger, Info, "countersign::cli", "started number={number}");
        wait_until_written(&logger);
    }
    assert!(logger.queue.fault().is_some());
    fs::remove_file(&log).unwrap();
    logged!(logger, Info, "countersign::cli", "ended");
    wait_until_written(&logger);
    let text = read(&log);
    let lines: Vec<_> = text.lines().map(|it| it.split_once(' ').unwrap().1).collect();
    let pid = std::process::id();
    let expected = [
        format!("warn logging messages lost count=3 pid={pid}"),
        format!("info cli ended pid={pid}"),
    ];
    assert_eq!(lines, expected);
    assert_eq!(logger.queue.fault(), None);
}

#[test]
fn repeated_message_is_written_once_with_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let logger = Logger::new(folder.path().to_owned());
    for _ in 0..500 {
        logged!(logger, Warn, "egui::context", "again");
    }
    logged!(logger, Warn, "egui::context", "other");
    wait_until_written(&logger);
    let text = read(folder.path());
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("info logging the line before came again times=499 pid="), "{text}");
}

#[test]
fn logger_outlives_those_who_log() {
    let folder = tempfile::tempdir().unwrap();
    let logger = Arc::new(Logger::new(folder.path().to_owned()));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let logger = &logger;
            scope.spawn(move || {
                for number in 0..100 {
                    logged!(
                        logger,
                        Info,
                        "countersign::ui",
                        "frame thread={thread} number={number}"
                    );
                }
            });
        }
    });
    wait_until_written(&logger);
    assert_eq!(read(folder.path()).lines().count(), 400);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &std::path::Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_this_user_can_read_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("state/log");
        let file = LogFile::new(log.clone());
        file.append(b"a\n").unwrap();
        let path = log.join("countersign.log");
        assert_eq!([mode(&log), mode(&path)], [0o700, 0o600]);
        // Wider modes are corrected.
        fs::set_permissions(&log, fs::Permissions::from_mode(0o777)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        file.append(b"b\n").unwrap();
        assert_eq!([mode(&log), mode(&path)], [0o700, 0o600]);
    }

    #[test]
    fn nothing_is_written_through_links_or_into_other_files() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("victim"), "mine\n").unwrap();
        symlink(at("elsewhere"), at("linked")).unwrap();
        for name in ["to-file", "to-nothing", "to-full", "hard", "pipe", "folder"] {
            fs::create_dir(at(name)).unwrap();
        }
        let log = |name: &str| at(name).join("countersign.log");
        symlink(at("victim"), log("to-file")).unwrap();
        symlink(at("new"), log("to-nothing")).unwrap();
        symlink("/dev/full", log("to-full")).unwrap();
        fs::hard_link(at("victim"), log("hard")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            log("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        fs::create_dir(log("folder")).unwrap();
        for name in ["linked", "to-file", "to-nothing", "to-full", "hard", "pipe", "folder"] {
            let file = LogFile::new(at(name));
            assert!(file.append(b"a line\n").is_err(), "{name}");
            assert!(file.last_lines(5).is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "mine\n");
        assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 0);
        assert!(!at("new").exists());
    }
}
