//! The address of a server, as libpq writes it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::TeamError;
use super::error::Result;

/// How the connection is encrypted, in the words of libpq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SslMode {
    /// Never.
    Disable,
    /// If the server can.
    Prefer,
    /// Always, with any certificate.
    Require,
    /// Always, with a trusted certificate of this host.
    VerifyFull,
}

impl SslMode {
    const WORDS: [(&str, Self); 4] = [
        ("disable", Self::Disable),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-full", Self::VerifyFull),
    ];

    pub(super) fn as_str(self) -> &'static str {
        Self::WORDS.iter().find(|(_, mode)| *mode == self).map_or("", |(word, _)| word)
    }
}

/// The parameters of an address, besides those for a password.
const PARAMETERS: [&str; 8] =
    ["host", "port", "user", "dbname", "sslmode", "sslrootcert", "password", "connect_timeout"];

/// A server and the login there. Shown without the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// A name, an address, or the folder of a socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) ssl: SslMode,
    pub(super) root_certificates: Option<PathBuf>,
    /// The password in the address itself.
    pub(super) password: Option<String>,
    /// How long connecting may take, in seconds.
    pub(super) connect_seconds: u64,
}

/// How long connecting may take, in seconds, if the address does not say it.
const CONNECT_SECONDS: u64 = 10;

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, user, database, .. } = self;
        if host.starts_with('/') {
            return write!(f, "postgres://{user}@:{port}/{database}?host={host}");
        }
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "postgres://{user}@{open}{host}{close}:{port}/{database}")
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Server {
    type Err = TeamError;

    /// Reads `postgres://[USER[:PASSWORD]@][HOST][:PORT][/DATABASE][?NAME=VALUE&…]`. What is missing is taken from the
    /// variables `PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGSSLMODE` and `PGSSLROOTCERT`.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }
}

impl Server {
    fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let scheme =
            ["postgres://", "postgresql://"].into_iter().find_map(|it| text.strip_prefix(it));
        let rest = scheme.ok_or_else(|| wrong("it does not begin with postgres://"))?;
        // Otherwise a part of a password would be taken for a port, a database or a parameter, and be shown as such.
        if rest.find('@') > rest.find(['/', '?', '#']) && rest.contains(['/', '?', '#']) {
            return Err(wrong(
                "it has a @ behind a / ? or #: write %40, %2F, %3F and %23 for these signs in a password or a name",
            ));
        }
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = split_port(place)?;
        let mut given = BTreeMap::new();
        let mut add = |name: &str, value: &str| -> Result<()> {
            if !value.is_empty() {
                given.insert(name.to_owned(), decoded(value)?);
            }
            Ok(())
        };
        add("user", user)?;
        add("password", password)?;
        add("host", host)?;
        add("port", port)?;
        add("dbname", database)?;
        for parameter in parameters.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !PARAMETERS.contains(&name) {
                return Err(wrong(format!(
                    "it has the parameter {name:?}, which is not supported"
                )));
            }
            add(name, value)?;
        }
        let of = |name: &str, by_variable: &str| {
            given.get(name).cloned().or_else(|| variable(by_variable))
        };
        let host = of("host", "PGHOST").unwrap_or_else(|| "localhost".to_owned());
        if host.contains(',') {
            return Err(wrong("it names several hosts, and one is supported"));
        }
        let user =
            of("user", "PGUSER").or_else(|| variable("USER")).or_else(|| variable("LOGNAME"));
        let user = user.ok_or_else(|| wrong("it names no user"))?;
        let port = of("port", "PGPORT").unwrap_or_else(|| "5432".to_owned());
        let word = of("sslmode", "PGSSLMODE").unwrap_or_else(|| "prefer".to_owned());
        let ssl = SslMode::WORDS.iter().find(|(it, _)| *it == word).map(|(_, mode)| *mode);
        let words = || SslMode::WORDS.map(|(word, _)| word).join(", ");
        let seconds = of("connect_timeout", "PGCONNECT_TIMEOUT");
        Ok(Self {
            database: of("dbname", "PGDATABASE").unwrap_or_else(|| user.clone()),
            port: port.parse().map_err(|_| wrong(format!("{port:?} is no port")))?,
            ssl: ssl.ok_or_else(|| {
                wrong(format!("sslmode={word} is not supported: use one of {}", words()))
            })?,
            root_certificates: of("sslrootcert", "PGSSLROOTCERT")
                .filter(|it| it != "system")
                .map(Into::into),
            password: given.get("password").cloned(),
            connect_seconds: match seconds.map(|it| it.parse()) {
                None => CONNECT_SECONDS,
                Some(Ok(seconds)) => u64::max(seconds, 1),
                Some(Err(_)) => return Err(wrong("connect_timeout is no number of seconds")),
            },
            host,
            user,
        })
    }

    /// Whether the address itself has a password.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Whether nobody can listen to the connection, because it does not leave this computer.
    pub(super) fn is_local(&self) -> bool {
        self.host.starts_with('/')
            || self.host == "localhost"
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
    }
}

/// The host and the port, which may be empty.
fn split_port(place: &str) -> Result<(&str, &str)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(|| wrong("it has a [ without a ]"))?;
        return Ok((host, rest.strip_prefix(':').unwrap_or(rest)));
    }
    Ok(place.split_once(':').unwrap_or((place, "")))
}

/// The text without `%` and two digits for signs that have a meaning in an address.
fn decoded(text: &str) -> Result<String> {
    let invalid = || wrong("it has a % without two hexadecimal digits");
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit =
            || rest.next().and_then(|it| char::from(it).to_digit(16)).ok_or_else(invalid);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| invalid())?);
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
    if text.contains('\0') { Err(wrong("it has a NUL")) } else { Ok(text) }
}

fn wrong(why: impl Into<String>) -> TeamError {
    TeamError::Address(why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Server> {
        Server::parse(text, &|name| (name == "USER").then(|| "ada".to_owned()))
    }

    #[test]
    fn addresses_are_read_as_libpq_does() {
        for (text, shown) in [
            ("postgres://", "postgres://ada@localhost:5432/ada"),
            ("postgresql://eve:secret@db.example/team", "postgres://eve@db.example:5432/team"),
            ("postgres://e%40x:p%3aq@[::1]:6000/a%20b", "postgres://e@x@[::1]:6000/a b"),
            ("postgres:///team?host=/run/pg&port=7", "postgres://ada@:7/team?host=/run/pg"),
            ("postgres://%2Frun%2Fpg/team", "postgres://ada@:5432/team?host=/run/pg"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown);
        }
        let server = parse("postgres://a:b%3Ac@h?sslmode=verify-full&sslrootcert=/ca.pem").unwrap();
        assert_eq!((server.ssl, server.password.as_deref()), (SslMode::VerifyFull, Some("b:c")));
        assert_eq!(server.root_certificates, Some("/ca.pem".into()));
    }

    #[test]
    fn the_password_is_never_shown() {
        for text in ["postgres://a:hidden@h/d", "postgres://a@h/d?password=hidden"] {
            let server = parse(text).unwrap();
            assert!(!format!("{server} {server:?}").contains("hidden"));
        }
        for text in
            ["postgres://a:hidden@h:x/d", "postgres://a:hidden@h/d?sslmode=allow", "x://a:hidden@h"]
        {
            assert!(!parse(text).unwrap_err().to_string().contains("hidden"), "{text}");
        }
    }

    #[test]
    fn what_is_not_supported_is_said() {
        for (text, why) in [
            ("mysql://h/d", "postgres://"),
            ("postgres://h/d?sslmode=verify-ca", "verify-full"),
            ("postgres://h/d?options=-c", "options"),
            ("postgres://h,i/d", "several hosts"),
            ("postgres://h:0x1/d", "no port"),
            ("postgres://h/%zz", "%"),
            ("postgres://h/%00", "NUL"),
            ("postgres://ada:SeCrEt/x@h/d", "%2F"),
            ("postgres://ada:1SeCrEt?y@h/d", "%3F"),
            ("postgres://ada:5432/SeCrEt@h:1/d", "%2F"),
            ("postgres://ada:SeCrEt#z@h/d", "%23"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
            assert!(!error.contains("SeCrEt"), "{error}");
        }
        // The last @ ends the name and the password.
        assert_eq!(parse("postgres://a@b:c@h/d").unwrap().to_string(), "postgres://a@b@h:5432/d");
    }
}
