//! Reads what the plugin reports: one line of JSON for each event.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{FleetEvent, HostEnd, HostEnded};

/// Maximum sizes of what a command prints, in bytes, as in `assets/fleet/run.sh`.
const STDOUT_BYTES: usize = 16 << 20;
const STDERR_BYTES: usize = 4 << 20;

/// A line of the plugin.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
enum Line {
    Began { ansible: String },
    Task { step: String },
    Started { host: String, step: String },
    Ended(Box<Ended>),
}

#[derive(Deserialize)]
struct Ended {
    host: String,
    step: String,
    kind: Kind,
    exit: Option<i64>,
    timed_out: bool,
    message: String,
    stdout: String,
    stderr: String,
    ms: i64,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Ok,
    Failed,
    Unreachable,
}

/// Reads events of one run.
pub(super) struct Reader {
    /// The text before an exit status.
    pub(super) mark: String,
    /// The time limit of each step, in seconds.
    pub(super) timeouts: Vec<u32>,
    pub(super) hosts: usize,
}

impl Reader {
    /// The event of a line.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub(super) fn event(&self, line: &[u8]) -> Result<FleetEvent, String> {
        let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        Ok(match line {
            Line::Began { ansible } => FleetEvent::Began { ansible },
            Line::Task { step } => FleetEvent::Task { step_index: self.step(&step)? },
            Line::Started { host, step } => {
                FleetEvent::Started { host: self.host(&host)?, step_index: self.step(&step)? }
            }
            Line::Ended(ended) => FleetEvent::Ended(Box::new(self.ended(*ended)?)),
        })
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        number(name.strip_prefix("target_"), self.hosts).ok_or_else(|| format!("the host {name:?}"))
    }

    fn step(&self, name: &str) -> Result<usize, String> {
        number(Some(name), self.timeouts.len()).ok_or_else(|| format!("the step {name:?}"))
    }

    fn ended(&self, ended: Ended) -> Result<HostEnded, String> {
        let (host, step_index) = (self.host(&ended.host)?, self.step(&ended.step)?);
        let bytes = |text: &str| STANDARD.decode(text).map_err(|error| error.to_string());
        let (mut stdout, raw) = (bytes(&ended.stdout)?, bytes(&ended.stderr)?);
        let Some(marked) = self.marked(&raw) else {
            // Not even the mark before the command has arrived.
            let end = match ended.timed_out {
                true => HostEnd::TimedOut { is_over: false },
                false => not_begun(&ended, &raw),
            };
            let duration_ms = ended.ms;
            return Ok(HostEnded { host, step_index, end, stdout, stderr: raw, duration_ms });
        };
        let Marked { status, printed: mut stderr, messages } = marked;
        let limit = self.timeouts.get(step_index).copied().unwrap_or_default();
        let took_long = ended.ms >= i64::from(limit).saturating_mul(1000);
        let end = match status {
            // `timeout` ends with 124, or with 137 if it had to kill the command.
            Some(124 | 137) if took_long => HostEnd::TimedOut { is_over: true },
            Some(_) if stdout.len() > STDOUT_BYTES || stderr.len() > STDERR_BYTES => {
                HostEnd::TooMuch
            }
            Some(status) => HostEnd::Exited(status),
            None if ended.timed_out => HostEnd::TimedOut { is_over: false },
            None => HostEnd::Unknown { message: with_exit(messages, ended.exit) },
        };
        stdout.truncate(STDOUT_BYTES);
        stderr.truncate(STDERR_BYTES);
        Ok(HostEnded { host, step_index, end, stdout, stderr, duration_ms: ended.ms })
    }

    /// What is between the marks in stderr (`assets/fleet/run.sh`); `None` if not even the first mark has arrived.
    fn marked(&self, stderr: &[u8]) -> Option<Marked> {
        let mut lines = stderr.split(|byte| *byte == b'\n');
        let mark_of = |line: &[u8]| {
            let line = std::str::from_utf8(line).ok()?;
            line.strip_prefix(&self.mark)?.strip_prefix(':').map(str::to_owned)
        };
        lines.find(|line| mark_of(line).as_deref() == Some("begin"))?;
        let mut marked = Marked::default();
        for line in lines {
            if let Some(status) = mark_of(line) {
                marked.status = status.parse().ok();
            } else if let Some(bytes) = hexadecimal(line) {
                marked.printed.extend(bytes);
            } else {
                marked.messages += &String::from_utf8_lossy(line);
                marked.messages.push('\n');
            }
        }
        marked.messages = marked.messages.trim().to_owned();
        Some(marked)
    }
}

/// What arrived after the mark before the command.
#[derive(Debug, Default)]
struct Marked {
    /// The exit status of the command; `None` if it did not arrive.
    status: Option<i32>,
    /// What the command printed to stderr.
    printed: Vec<u8>,
    /// Messages of `ssh`.
    messages: String,
}

/// The bytes in a line such as ` 6f 6b 0a`; `None` for any other line.
fn hexadecimal(line: &[u8]) -> Option<Vec<u8>> {
    let byte = |word: &[u8]| {
        let word = std::str::from_utf8(word).ok().filter(|word| word.len() == 2)?;
        u8::from_str_radix(word, 16).ok()
    };
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).map(byte).collect()
}

/// A number from 1 to `count`, counted from 0.
fn number(text: Option<&str>, count: usize) -> Option<usize> {
    text?.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < count)
}

/// Why nothing came from a host, recognized by OpenSSH's messages.
fn not_begun(ended: &Ended, stderr: &[u8]) -> HostEnd {
    let printed = String::from_utf8_lossy(stderr);
    let message = format!("{}\n{printed}", ended.message);
    let message = message.trim().to_owned();
    let has = |part: &str| message.contains(part);
    if has("HOST IDENTIFICATION HAS CHANGED") || has("REVOKED HOST KEY DETECTED") {
        HostEnd::ChangedKey { message }
    } else if has("Host key verification failed") {
        HostEnd::UnknownKey { message }
    } else if has("Permission denied (") || has("Too many authentication failures") {
        HostEnd::Refused { message }
    } else if ended.kind == Kind::Unreachable && NOT_CONNECTED.iter().any(|part| has(part)) {
        HostEnd::Unreachable { message }
    } else {
        HostEnd::Unknown { message: with_exit(message, ended.exit) }
    }
}

/// Messages of the client before a connection exists, so that nothing was sent.
const NOT_CONNECTED: [&str; 4] = [
    "ssh: connect to host",
    "Could not resolve hostname",
    "kex_exchange_identification",
    "Connection timed out during banner exchange",
];

fn with_exit(message: String, exit: Option<i64>) -> String {
    match exit {
        Some(exit) if message.is_empty() => format!("ssh ended with {exit}"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> Reader {
        Reader { mark: "mark".to_owned(), timeouts: vec![3, 3], hosts: 2 }
    }

    fn ended(kind: &str, exit: i64, ms: i64, message: &str, stderr: &[u8]) -> HostEnded {
        let stderr = STANDARD.encode(stderr);
        let line = serde_json::json!({
            "event": "ended", "host": "target_2", "step": "1", "kind": kind, "exit": exit,
            "timed_out": false, "message": message, "stdout": "/w==", "stderr": stderr, "ms": ms,
        });
        match reader().event(line.to_string().as_bytes()).unwrap() {
            FleetEvent::Ended(ended) => *ended,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn marks_surround_what_a_command_printed() {
        let done = ended("failed", 3, 10, "x", b"banner\n\nmark:begin\n 6f 68 0a\n ff\n\nmark:3\n");
        assert_eq!((done.host, done.step_index, done.end), (1, 0, HostEnd::Exited(3)));
        assert_eq!((done.stdout, done.stderr), (vec![0xff], b"oh\n\xff".to_vec()));
        let end = |exit, ms, status: &str| {
            ended("failed", exit, ms, "", format!("\nmark:begin\n\nmark:{status}\n").as_bytes()).end
        };
        assert_eq!(end(254, 10, "255"), HostEnd::Exited(255));
        assert_eq!(end(124, 10, "124"), HostEnd::Exited(124));
        assert_eq!(end(124, 3_000, "124"), HostEnd::TimedOut { is_over: true });
        assert!(matches!(end(255, 10, ""), HostEnd::Unknown { .. }), "no status");
    }

    /// What a command prints is not there as text, and what `ssh` says after its begin does not tell that it never ran.
    #[test]
    fn lost_connection_after_the_begin_is_unknown() {
        for message in [
            "root@web: Permission denied (publickey).",
            "Host key verification failed.",
            "ssh: connect to host web port 22: Connection refused",
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @",
            "kex_exchange_identification: closed",
        ] {
            let stderr = format!("\nmark:begin\n 6f 6b\n{message}\nConnection to web closed.\n");
            let lost = ended("unreachable", 255, 10, message, stderr.as_bytes());
            let HostEnd::Unknown { message: told } = &lost.end else { panic!("{:?}", lost.end) };
            assert_eq!(told, &format!("{message}\nConnection to web closed."));
            assert!(lost.end.may_have_run());
            assert_eq!(lost.stderr, b"ok");
        }
    }

    #[test]
    fn output_beyond_the_limit_is_an_error() {
        let hexadecimal = " 78".repeat(STDERR_BYTES + 1);
        let stderr = format!("\nmark:begin\n{hexadecimal}\n\nmark:141\n");
        let done = ended("failed", 141, 10, "", stderr.as_bytes());
        assert_eq!((done.end, done.stderr.len()), (HostEnd::TooMuch, STDERR_BYTES));
    }

    #[test]
    fn connection_that_never_was_differs_from_one_that_was_lost() {
        let none =
            "Failed to connect to the host via ssh: ssh: connect to host web port 22: refused";
        assert!(matches!(ended("unreachable", 255, 1, none, b"").end, HostEnd::Unreachable { .. }));
        let lost =
            "Failed to connect to the host via ssh: Connection to web closed by remote host.";
        assert!(matches!(ended("unreachable", 255, 1, lost, b"").end, HostEnd::Unknown { .. }));
        let changed =
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.";
        assert!(matches!(
            ended("unreachable", 255, 1, changed, b"").end,
            HostEnd::ChangedKey { .. }
        ));
        let unknown = "Host key verification failed.";
        assert!(matches!(
            ended("unreachable", 255, 1, unknown, b"").end,
            HostEnd::UnknownKey { .. }
        ));
        let refused = "ada@web: Permission denied (publickey).";
        assert!(matches!(ended("unreachable", 255, 1, refused, b"").end, HostEnd::Refused { .. }));
    }

    #[test]
    fn foreign_lines_are_errors() {
        let reader = reader();
        for line in [
            "text",
            r#"{"event":"other"}"#,
            r#"{"event":"task","step":"3"}"#,
            r#"{"event":"started","host":"target_0","step":"1"}"#,
            r#"{"event":"started","host":"localhost","step":"1"}"#,
        ] {
            assert!(reader.event(line.as_bytes()).is_err(), "{line}");
        }
    }
}
