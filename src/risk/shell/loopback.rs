//! Uploads of project files to a server on this computer.
//!
//! Only closed forms are allowed: the host is literal and local, no option can send the request elsewhere,
//! redirects are not followed (they could forward the upload to another host), and only plain files below the
//! working folder without secrets are sent.

use super::classifier::Classifier;
use super::elsewhere::PathUse;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::readers::{self, ParsedArguments, known_form};
use super::syntax::{UNKNOWN, before};
use super::{SimpleCommand, path_kind};

/// Programs that can forward a local port to another host.
const TUNNELS: &str =
    "ssh autossh socat nc ncat netcat kubectl oc chisel frpc gost docker podman mitmproxy";

/// Parts of variables that redirect requests or select other settings files.
const REDIRECTING: &str = "_proxy curl_home wgetrc httpie_config xdg_config_home netrc";

impl Classifier<'_> {
    /// Whether a call only sends project files to a server on this computer.
    pub(super) fn stays_local(
        &self,
        command: &SimpleCommand,
        program: &str,
        arguments: &[(String, bool)],
    ) -> bool {
        if command.remote
            || command.raised
            || !command.assignments.is_empty()
            || self.may_be_redirected()
        {
            return false;
        }
        match program {
            "curl" => {
                let arguments = with_literal_headers(arguments);
                known_form("curl", &arguments).is_some_and(|it| self.allows_curl(command, &it))
            }
            "wget" => known_form("wget", arguments).is_some_and(|it| self.allows_wget(&it)),
            "http" | "xh" => {
                known_form("httpie", arguments).is_some_and(|it| self.allows_httpie(command, &it))
            }
            _ => false,
        }
    }

    fn allows_curl(&self, command: &SimpleCommand, parts: &ParsedArguments) -> bool {
        let file = |path: &str| match path {
            "-" => self.has_plain_input(command),
            path => self.is_plain_project_file(path),
        };
        let value = |(name, value): &(String, &str)| match name.as_str() {
            "X" | "request" => is_method(value),
            "H" | "header" => !value.starts_with('@'),
            "d" | "data" | "data-ascii" | "data-binary" | "json" => {
                value.strip_prefix('@').is_none_or(file)
            }
            "data-urlencode" => {
                let name = value.split('=').next().unwrap_or_default();
                name.split_once('@').is_none_or(|(_, path)| path == *value || file(path))
            }
            "F" | "form" => {
                let part = value.split_once('=').map_or(*value, |(_, part)| part);
                let path = part.strip_prefix(['@', '<']);
                path.is_none_or(|path| file(path.split(";type=").next().unwrap_or_default()))
            }
            "T" | "upload-file" => file(value),
            "o" | "output" => *value == "/dev/null" || self.is_plain_project_file(value),
            "w" | "write-out" => !value.starts_with('@') && !value.contains("%output"),
            _ => true,
        };
        !parts.operands.is_empty()
            && parts.operands.iter().all(|it| is_local_url(it.text))
            && parts.values.iter().all(value)
            && (command.input.is_none() || self.has_plain_input(command))
    }

    fn allows_wget(&self, parts: &ParsedArguments) -> bool {
        let value = |(name, value): &(String, &str)| match name.as_str() {
            "post-file" | "body-file" => self.is_plain_project_file(value),
            "method" => is_method(value),
            "O" | "output-document" => {
                matches!(*value, "-" | "/dev/null") || self.is_plain_project_file(value)
            }
            _ => true,
        };
        // Without `--max-redirect=0`, wget follows redirects.
        let mut redirects = parts.values.iter().filter(|(name, _)| name == "max-redirect");
        let stays = redirects.next().is_some_and(|(_, most)| *most == "0");
        stays
            && redirects.next().is_none()
            && !parts.operands.is_empty()
            && parts.operands.iter().all(|it| is_local_url(it.text))
            && parts.values.iter().all(value)
    }

    fn allows_httpie(&self, command: &SimpleCommand, parts: &ParsedArguments) -> bool {
        let mut operands = parts.operands.iter().map(|it| it.text).peekable();
        operands.next_if(|it| is_method(it));
        let Some(url) = operands.next() else { return false };
        let is_local = match url.strip_prefix(':') {
            Some(rest) => is_local_url(&format!(
                "localhost{}{rest}",
                if rest.starts_with('/') { "" } else { ":" }
            )),
            None => is_local_url(url),
        };
        let item = |item: &str| match item.find(['@', '=', ':']) {
            Some(index) => {
                let value = item.get(index..).unwrap_or_default().trim_start_matches(['=', ':']);
                value.strip_prefix('@').is_none_or(|path| {
                    self.is_plain_project_file(path.split(";type=").next().unwrap_or_default())
                })
            }
            None => false,
        };
        is_local && operands.all(item) && self.has_plain_input(command)
    }

    /// Whether anything in the command, such as a proxy setting, may send a local request to another host.
    fn may_be_redirected(&self) -> bool {
        let redirects = |text: &str| {
            let text = text.to_ascii_lowercase();
            REDIRECTING.split(' ').any(|it| text.contains(it))
        };
        let mut all = self.script.commands.iter().chain(&self.line_commands).chain(&self.commands);
        all.any(|it| {
            it.program().is_some_and(|it| listed(TUNNELS, &it))
                || it.assignments.iter().any(|(name, _)| redirects(name) || name == "HOME")
                || it
                    .words
                    .iter()
                    .any(|word| redirects(&word.text) || word.text.starts_with("HOME="))
        })
    }

    /// Whether a path is a plain file below the working folder without secrets.
    fn is_plain_project_file(&self, path: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
        let path = path.strip_prefix("./").unwrap_or(path);
        let settled = path_kind::normalize(path, &self.folder);
        !path.is_empty()
            && !names_secret(path)
            && path.chars().all(plain)
            && path.split('/').all(|part| !part.starts_with(['.', '-']) && !part.is_empty())
            && !path_kind::is_outside(&self.folder)
            && !self.folder.split('/').any(|part| part.starts_with('.'))
            && self.outside_path(path, PathUse::Written).is_none()
            && !path_kind::is_private(&settled)
    }

    /// Whether the input of a command is a project file, a literal text, or the output of `cat`, `jq`, `echo` or
    /// `printf` for these.
    fn has_plain_input(&self, command: &SimpleCommand) -> bool {
        let redirects = command.redirects.iter().all(|it| match it.operator {
            "<" => self.is_plain_project_file(&it.target.text),
            operator if operator.starts_with("<<") => readers::is_known(&it.target.text),
            operator => !operator.starts_with('<'),
        });
        let Some(input) = command.input.clone() else { return redirects };
        let sources = self.commands_in(input);
        let plain = |source: &SimpleCommand| {
            let Some((program, words)) = source.words.split_first() else { return false };
            let known = matches!(program.text.as_str(), "cat" | "jq" | "echo" | "printf");
            let prints = matches!(program.text.as_str(), "echo" | "printf");
            known
                && source
                    .redirects
                    .iter()
                    .all(|it| it.operator != "<" || self.is_plain_project_file(&it.target.text))
                && (source.input.is_none() || self.has_plain_input(source))
                && words.iter().all(|word| {
                    let file = path_kind::normalize(&word.text, &self.folder);
                    readers::is_known(&word.text)
                        && !word.glob
                        && (prints
                            || self.outside_path(&word.text, PathUse::Written).is_none()
                                && !path_kind::is_secret(&file)
                                && !path_kind::is_sensitive(&file)
                                && !word.text.starts_with("--rawfile")
                                && (program.text != "jq"
                                    || !(word.text.contains("env") || word.text.contains("ENV"))))
                })
        };
        redirects && !sources.is_empty() && sources.iter().all(plain)
    }
}

/// Whether a file name suggests a key, a password or the like.
fn names_secret(path: &str) -> bool {
    static NAMES: LazyRegex = LazyRegex::new(
        r"(?i)(secret|passw|credential|token|private|(^|/)id_[a-z0-9]+$|\.(pem|key|p12|pfx|jks|keystore|kdbx?|gpg|asc|age|env|tfstate)$)",
    );
    NAMES.is_match(path)
}

/// Whether an HTTP method is known and does not delete.
fn is_method(text: &str) -> bool {
    matches!(text, "GET" | "POST" | "PUT" | "PATCH")
}

/// Whether a URL is local and does not have the port of a daemon or a store.
fn is_local_url(text: &str) -> bool {
    static LOCAL_URL: LazyRegex = LazyRegex::new(
        r"^(https?://)?(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?(/([A-Za-z0-9.~%+,-][A-Za-z0-9._~%+,:-]*/?)*)?(\?[A-Za-z0-9._~%+,=&-]*)?$",
    );
    // Ports of daemons that start programs or keep the state of clusters.
    const DAEMON_PORTS: &str = ":2375 :2376 :2379 :4243 :6443 :8500 :9222 :10250";
    let is_daemon = |port: &str| {
        let rest = text.split_once(port).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    LOCAL_URL.is_match(text) && !DAEMON_PORTS.split(' ').any(is_daemon)
}

/// The arguments of a call, with unknown header values replaced by a literal. Headers are sent to this computer
/// only.
fn with_literal_headers(arguments: &[(String, bool)]) -> Vec<(String, bool)> {
    let mut replaced = arguments.to_vec();
    for index in 1..replaced.len() {
        let header = before(arguments, index).is_some_and(|(text, _)| listed("--header -H", text));
        if let Some((text, _)) = replaced.get_mut(index).filter(|_| header)
            && let Some((name, value)) = text.split_once(": ")
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
            && value.contains(UNKNOWN)
        {
            *text = format!("{name}: x");
        }
    }
    replaced
}
