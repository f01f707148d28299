//! `openai-compatible`: asks a model behind the chat completions interface (SPEC §10), as Ollama, llama.cpp,
//! vLLM and hosted services have it.
//!
//! The key goes into one header and nowhere else: not into messages, not into what the loop keeps.

mod answer;
mod prompt;

use std::fmt;
use std::io::{BufRead as _, BufReader, Read};
use std::time::Duration;

use ureq::http::StatusCode;

use super::reply::Failure;
use super::request::Request;
use answer::{Pieces, whole};

/// Largest answer, in bytes: 32 MiB, twice the largest plan.
const ANSWER_BYTES: u64 = 32 << 20;
/// Most characters of a server's own words that a message repeats.
const SAID: usize = 500;
/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// After so many bytes of an answer that comes in pieces, a person is told.
const TOLD_BYTES: usize = 4096;

/// A server and how it is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// The address in front of `/chat/completions`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The API key.
    pub key: Option<String>,
    /// How long an answer may take in all.
    pub timeout: Duration,
    /// Whether the answer is wanted in pieces as it is made.
    pub stream: bool,
    /// Whether the plan's form is given as a function to call; some servers know none.
    pub tools: bool,
}

impl fmt::Debug for Server {
    /// Everything but what is secret.
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

/// The plan.
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
    /// The plan in an answer that comes in pieces.
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

    /// The address for messages: without user, password and query, which can be secret.
    fn place(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') {
            // The password cannot be told from the path.
            return format!("{scheme}…");
        }
        let host = authority.rsplit('@').next().unwrap_or_default();
        let place = if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") };
        let end = place.find(['?', '#']).unwrap_or(place.len());
        format!("{scheme}{}", place.get(..end).unwrap_or_default().trim_end_matches('/'))
    }

    /// The request did not get as far as an answer.
    fn failed(&self, error: &ureq::Error) -> Failure {
        let url = self.place();
        let message = match error {
            ureq::Error::Timeout(_) => return self.slow(),
            ureq::Error::HostNotFound => format!("no host has the name in {url}"),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                // The error repeats the address as it is.
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

    /// The answer broke off while it was read.
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

    /// The server says no.
    fn refused(&self, status: StatusCode, said: &[u8]) -> Failure {
        // Before truncation: part of a key would not be recognized.
        let said = self.without_key(&answer::complaint(said));
        let said = said.get(..said.floor_char_boundary(SAID)).unwrap_or(&said);
        let what = match status.as_u16() {
            401 | 403 => "does not accept the key",
            404 => "does not know the address or the model",
            429 => "has too much to do, or the account's limit is reached",
            300..=399 => "sends to another address, which is not followed",
            500.. => "failed",
            _ => "refuses the request",
        };
        let retryable = matches!(status.as_u16(), 408 | 409 | 425 | 429 | 500..);
        let url = self.place();
        Failure::unavailable(format!("{url} {what} ({status}): {said}"), retryable)
    }

    /// The text without the key, which a server may repeat in what it says.
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
