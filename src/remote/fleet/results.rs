//! Reads what the plugin reports: one line of JSON for each event.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{FleetEvent, HostEnd, HostEnded};

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
        let (stdout, mut stderr) = (bytes(&ended.stdout)?, bytes(&ended.stderr)?);
        let status = self.take_status(&mut stderr);
        let limit = self.timeouts.get(step_index).copied().unwrap_or_default();
        let took_long = ended.ms >= i64::from(limit).saturating_mul(1000);
        let end = match status {
            // `timeout` ends with 124, or with 137 if it had to kill the command.
            Some(124 | 137) if took_long => HostEnd::TimedOut { is_over: true },
            Some(status) => HostEnd::Exited(status),
            None if ended.timed_out => HostEnd::TimedOut { is_over: false },
            None => lost(&ended, &stderr),
        };
        Ok(HostEnded { host, step_index, end, stdout, stderr, duration_ms: ended.ms })
    }

    /// Removes the exit status at the end of stderr.
    fn take_status(&self, stderr: &mut Vec<u8>) -> Option<i32> {
        let line = stderr.strip_suffix(b"\n")?;
        let begin = line.iter().rposition(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(line.get(begin + 1..)?).ok()?;
        let status = line.strip_prefix(&self.mark)?.strip_prefix(':')?.parse().ok()?;
        stderr.truncate(begin);
        Some(status)
    }
}

/// A number from 1 to `count`, counted from 0.
fn number(text: Option<&str>, count: usize) -> Option<usize> {
    text?.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < count)
}

/// Why a host did not say how the command ended, recognized by OpenSSH's messages.
fn lost(ended: &Ended, stderr: &[u8]) -> HostEnd {
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
    fn status_is_taken_from_the_end_of_stderr() {
        let done = ended("failed", 3, 10, "non-zero return code", b"oh\n\nmark:3\n");
        assert_eq!((done.host, done.step_index, done.end), (1, 0, HostEnd::Exited(3)));
        assert_eq!((done.stdout, done.stderr), (vec![0xff], b"oh\n".to_vec()));
        let forged = ended("ok", 0, 10, "", b"\nmark:0\n\nmark:7\n");
        assert_eq!((forged.end, forged.stderr), (HostEnd::Exited(7), b"\nmark:0\n".to_vec()));
        assert_eq!(ended("failed", 254, 10, "", b"\nmark:255\n").end, HostEnd::Exited(255));
        assert_eq!(ended("failed", 124, 10, "", b"\nmark:124\n").end, HostEnd::Exited(124));
        let late = ended("failed", 124, 3_000, "", b"\nmark:124\n").end;
        assert_eq!(late, HostEnd::TimedOut { is_over: true });
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
