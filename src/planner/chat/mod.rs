//! `openai-compatible`: requests a plan from a model through the chat completions interface (SPEC §10), which Ollama,
//! llama.cpp, vLLM and hosted services implement.
//!
//! The API key is sent in one header only. Messages of the server, which may repeat it, are shown without it.

mod answer;
mod prompt;

use std::fmt;
use std::io::{BufRead as _, BufReader, Read};
use std::time::Duration;

use ureq::http::StatusCode;

use super::Request;
use super::reply::{Failure, error_message};
use crate::run::text::address_without_secrets;
use answer::{PartialAnswer, parse_document};

/// Maximum size of an answer, in bytes: 32 MiB, twice that of a plan.
const ANSWER_BYTES: u64 = 32 << 20;
/// Maximum number of bytes of a server's error message that are quoted.
const QUOTED_BYTES: usize = 500;
/// Time limit for connecting to the server. A shorter [`Server::timeout`] takes precedence.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a streamed answer between two progress messages.
const PROGRESS_BYTES: usize = 4096;

/// A server, and the settings of requests to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// The URL before `/chat/completions`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The API key.
    pub key: Option<String>,
    /// Time limit for the whole request and answer.
    pub timeout: Duration,
    /// Whether the answer is requested as a stream.
    pub stream: bool,
    /// Whether the model gets functions to call, with the schema of a plan, which some servers do not support.
    pub tools: bool,
}

impl fmt::Debug for Server {
    /// The settings without the key and without secrets in the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("url", &self.display_url())
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("timeout", &self.timeout)
            .field("stream", &self.stream)
            .field("tools", &self.tools)
            .finish()
    }
}

/// Requests a plan. Messages of failures do not contain the key.
pub(super) fn plan(
    request: &Request,
    server: &Server,
    progress: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    ask(request, server, progress).map_err(|failure| {
        let message = server.without_key(&failure.message);
        Failure { message, ..failure }
    })
}

fn ask(request: &Request, server: &Server, progress: &dyn Fn(&str)) -> Result<Vec<u8>, Failure> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(server.timeout))
        .timeout_connect(Some(CONNECT_TIMEOUT.min(server.timeout)))
        // The body of an error response is reported.
        .http_status_as_error(false)
        // The key must not be sent to another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into();
    let url = format!("{}/chat/completions", server.url.trim_end_matches('/'));
    progress(&format!("Asking {} at {}.\n", server.model, server.display_url()));
    let mut post = agent.post(&url).header("content-type", "application/json");
    if let Some(key) = &server.key {
        post = post.header("authorization", format!("Bearer {key}"));
    }
    let body = prompt::body(request, server).to_string();
    let mut response = post.send(&body).map_err(|error| server.send_failed(&error))?;
    let status = response.status();
    let is_stream = response
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut reader = response.body_mut().with_config().limit(ANSWER_BYTES).reader();
    if !status.is_success() {
        let mut text = Vec::new();
        // A partial message is better than none.
        let _ = reader.by_ref().take(64 << 10).read_to_end(&mut text);
        return Err(server.error_status(status, &text));
    }
    if is_stream {
        return server.read_stream(reader, progress);
    }
    let mut answer = Vec::new();
    reader.read_to_end(&mut answer).map_err(|error| server.read_failed(&error))?;
    parse_document(&answer)
}

impl Server {
    /// The plan in a streamed answer.
    fn read_stream(&self, reader: impl Read, progress: &dyn Fn(&str)) -> Result<Vec<u8>, Failure> {
        let (mut answer, mut reported) = (PartialAnswer::default(), 0);
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read =
                reader.read_until(b'\n', &mut line).map_err(|error| self.read_failed(&error))?;
            if read == 0 || answer.line(&line)? {
                return answer.finish();
            }
            if answer.bytes() >= reported + PROGRESS_BYTES {
                reported = answer.bytes();
                progress(&format!("{reported} bytes so far.\n"));
            }
        }
    }

    /// The URL for messages, without what may be secret in it.
    fn display_url(&self) -> String {
        address_without_secrets(&self.url)
    }

    /// The failure of a request that failed before the server answered.
    fn send_failed(&self, error: &ureq::Error) -> Failure {
        let url = self.display_url();
        let message = match error {
            ureq::Error::Timeout(_) => return self.timed_out(),
            ureq::Error::HostNotFound => format!("no host has the name in {url}"),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                // The error contains the URL with its secrets.
                return Failure::unavailable(format!("{url} is no address of a server"), false);
            }
            error => format!("no server answers at {url}: {error}"),
        };
        let next = "Start the server, or correct its address in the settings.";
        Failure::unavailable(format!("{message}. {next}"), true)
    }

    fn timed_out(&self) -> Failure {
        let seconds = self.timeout.as_secs();
        let message = format!(
            "{} gave no whole answer within {seconds} s. Give it more time in the settings, or take a \
             smaller model.",
            self.display_url()
        );
        Failure::unavailable(message, true)
    }

    /// The failure of reading an answer: a timeout, the size limit, or a lost connection.
    fn read_failed(&self, error: &std::io::Error) -> Failure {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match inner {
            Some(ureq::Error::Timeout(_)) => self.timed_out(),
            Some(ureq::Error::BodyExceedsLimit(limit)) => {
                Failure::no_plan(format!("the answer has more than {limit} bytes"))
            }
            _ => Failure::no_plan(format!("the answer was cut off: {error}")),
        }
    }

    /// The failure of a request to which the server answered with an error status.
    fn error_status(&self, status: StatusCode, body: &[u8]) -> Failure {
        // Removed before truncation, because part of a key would not be recognized.
        let message = self.without_key(&error_message(body));
        let message = message.get(..message.floor_char_boundary(QUOTED_BYTES)).unwrap_or(&message);
        let what = match status.as_u16() {
            401 | 403 => "does not accept the key",
            404 => "does not know the address or the model",
            429 => "is overloaded, or the account's limit is reached",
            300..=399 => "redirects to another address, which is not followed",
            500.. => "failed",
            _ => "refuses the request",
        };
        let retryable = matches!(status.as_u16(), 408 | 409 | 425 | 429 | 500..);
        let url = self.display_url();
        Failure::unavailable(format!("{url} {what} ({status}): {message}"), retryable)
    }

    /// The text without the key, which a server may repeat in its messages.
    fn without_key(&self, text: &str) -> String {
        match self.key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => text.replace(key, "(the key)"),
            None => text.to_owned(),
        }
    }
}
