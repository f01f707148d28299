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

use super::reply::Failure;
use super::request::Request;
use answer::{Pieces, whole};

/// Maximum size of an answer, in bytes: 32 MiB, twice that of a plan.
const ANSWER_BYTES: u64 = 32 << 20;
/// Maximum bytes of a server's error message that a message quotes.
const SAID: usize = 500;
/// Time limit for connecting to the server. A shorter [`Server::timeout`] takes precedence.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of a streamed answer between two progress messages.
const TOLD_BYTES: usize = 4096;

/// A server, and the settings of requests to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// The address before `/chat/completions`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The API key.
    pub key: Option<String>,
    /// Time limit for the whole request and answer.
    pub timeout: Duration,
    /// Whether the answer is requested as a stream.
    pub stream: bool,
    /// Whether the schema of a plan is passed as a function to call, which some servers do not support.
    pub tools: bool,
}

impl fmt::Debug for Server {
    /// The settings without the key and without secrets in the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("url", &self.place())
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
    tell: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    ask(request, server, tell).map_err(|failure| {
        let message = server.without_key(&failure.message);
        Failure { message, ..failure }
    })
}

fn ask(request: &Request, server: &Server, tell: &dyn Fn(&str)) -> Result<Vec<u8>, Failure> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(server.timeout))
        .timeout_connect(Some(CONNECT.min(server.timeout)))
        // The body of an error response is reported.
        .http_status_as_error(false)
        // The key must not be sent to another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into();
    let url = format!("{}/chat/completions", server.url.trim_end_matches('/'));
    tell(&format!("Asking {} at {}.\n", server.model, server.place()));
    let mut post = agent.post(&url).header("content-type", "application/json");
    if let Some(key) = &server.key {
        post = post.header("authorization", format!("Bearer {key}"));
    }
    let body = prompt::body(request, server).to_string();
    let mut response = post.send(&body).map_err(|error| server.failed(&error))?;
    let status = response.status();
    let in_pieces = response
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut reader = response.body_mut().with_config().limit(ANSWER_BYTES).reader();
    if !status.is_success() {
        let mut said = Vec::new();
        // A partial message is better than none.
        let _ = reader.by_ref().take(64 << 10).read_to_end(&mut said);
        return Err(server.refused(status, &said));
    }
    if in_pieces {
        return server.pieces(reader, tell);
    }
    let mut answer = Vec::new();
    reader.read_to_end(&mut answer).map_err(|error| server.broken(&error))?;
    whole(&answer)
}

impl Server {
    /// The plan in a streamed answer.
    fn pieces(&self, reader: impl Read, tell: &dyn Fn(&str)) -> Result<Vec<u8>, Failure> {
        let (mut pieces, mut told) = (Pieces::default(), 0);
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(|error| self.broken(&error))?;
            if read == 0 || pieces.line(&line)? {
                return pieces.finish();
            }
            if pieces.bytes() >= told + TOLD_BYTES {
                told = pieces.bytes();
                tell(&format!("{told} bytes so far.\n"));
            }
        }
    }

    /// The address for messages, without user, password, query and fragment, which may be secret.
    fn place(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') {
            // The password may contain a slash, so that its end is unknown.
            return format!("{scheme}…");
        }
        let host = authority.rsplit('@').next().unwrap_or_default();
        let place = if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") };
        let end = place.find(['?', '#']).unwrap_or(place.len());
        format!("{scheme}{}", place.get(..end).unwrap_or_default().trim_end_matches('/'))
    }

    /// The request failed before the server answered.
    fn failed(&self, error: &ureq::Error) -> Failure {
        let url = self.place();
        let message = match error {
            ureq::Error::Timeout(_) => return self.slow(),
            ureq::Error::HostNotFound => format!("no host has the name in {url}"),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                // The error contains the address with its secrets.
                return Failure::unavailable(format!("{url} is no address of a server"), false);
            }
            error => format!("no server answers at {url}: {error}"),
        };
        let next = "Start the server, or correct its address in the settings.";
        Failure::unavailable(format!("{message}. {next}"), true)
    }

    fn slow(&self) -> Failure {
        let seconds = self.timeout.as_secs();
        let message = format!(
            "{} gave no whole answer within {seconds} s. Give it more time in the settings, or take a \
             smaller model.",
            self.place()
        );
        Failure::unavailable(message, true)
    }

    /// Reading the answer failed: a timeout, the size limit, or a lost connection.
    fn broken(&self, error: &std::io::Error) -> Failure {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match inner {
            Some(ureq::Error::Timeout(_)) => self.slow(),
            Some(ureq::Error::BodyExceedsLimit(limit)) => {
                Failure::no_plan(format!("the answer has more than {limit} bytes"))
            }
            _ => Failure::no_plan(format!("the answer was cut off: {error}")),
        }
    }

    /// The server answered with an error status.
    fn refused(&self, status: StatusCode, said: &[u8]) -> Failure {
        // Removed before truncation, because part of a key would not be recognized.
        let said = self.without_key(&answer::complaint(said));
        let said = said.get(..said.floor_char_boundary(SAID)).unwrap_or(&said);
        let what = match status.as_u16() {
            401 | 403 => "does not accept the key",
            404 => "does not know the address or the model",
            429 => "is overloaded, or the account's limit is reached",
            300..=399 => "redirects to another address, which is not followed",
            500.. => "failed",
            _ => "refuses the request",
        };
        let retryable = matches!(status.as_u16(), 408 | 409 | 425 | 429 | 500..);
        let url = self.place();
        Failure::unavailable(format!("{url} {what} ({status}): {said}"), retryable)
    }

    /// The text without the key, which a server may repeat in its messages.
    fn without_key(&self, text: &str) -> String {
        match self.key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => text.replace(key, "(the key)"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (url, told) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("https://me:hunter2@example.com/v1/", "https://example.com/v1"),
            ("https://example.com/v1?key=hunter2", "https://example.com/v1"),
            ("http://me:hunter2@exa mple/v1?key=hunter2", "http://exa mple/v1"),
            ("https://me:hun/hunter2@example.com/v1", "https://…"),
            ("https://me:hun#hunter2@example.com/v1", "https://example.com/v1"),
            ("localhost:11434", "localhost:11434"),
        ] {
            let server = Server {
                url: url.to_owned(),
                model: "m".to_owned(),
                key: None,
                timeout: Duration::from_secs(1),
                stream: false,
                tools: false,
            };
            assert_eq!(server.place(), told);
            assert!(!format!("{server:?}").contains("hunter2"));
        }
    }
}
