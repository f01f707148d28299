//! Secrets in arguments after options whose names indicate no secret, such as `curl -u` and `mysql -p`, and in the
//! input of programs.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::Match;
use super::logins::password;
use super::scan::{
    MAX_VALUE, alphanumeric_or, any_of, at, back_while, forward_while, line_start, quoted,
    quoted_or_word, unspaced_except,
};

/// The position of an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValuePosition {
    /// The next word, or attached to the option.
    Any,
    /// Attached to the option: `-pX`. The next word is something else.
    Attached,
    /// The next word.
    Next,
    /// The third word after the option: `htpasswd -b FILE USER X`.
    Third,
}

/// The secret part of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretPart {
    All,
    /// The part after the first of this character; without the character there is no secret.
    After(u8),
}

/// An option whose value is or contains a secret.
struct Rule {
    /// The names of the programs, separated by spaces.
    programs: &'static str,
    option: &'static str,
    position: ValuePosition,
    part: SecretPart,
}

impl Rule {
    fn applies_to(&self, program: &str) -> bool {
        self.programs.split_ascii_whitespace().any(|it| it == program)
    }
}

const fn rule(
    programs: &'static str,
    option: &'static str,
    position: ValuePosition,
    part: SecretPart,
) -> Rule {
    Rule { programs, option, position, part }
}

use SecretPart::{After, All};
use ValuePosition::{Any, Attached, Next, Third};

const RULES: &[Rule] = &[
    rule("curl ab aria2c", "-u", Any, After(b':')),
    rule("curl", "--user", Any, After(b':')),
    rule("curl", "-U", Any, After(b':')),
    rule("curl", "--proxy-user", Any, After(b':')),
    rule("curl", "--oauth2-bearer", Next, All),
    rule("curl", "-b", Next, After(b'=')),
    rule("http https xh xhs httpie ab", "-a", Next, After(b':')),
    rule("ab", "-A", Next, After(b':')),
    rule("lftp lftpget", "-u", Any, After(b',')),
    rule("ncftp ncftpget ncftpput", "-p", Next, All),
    rule("sshpass", "-p", Any, All),
    rule(
        "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlcheck mysqlpump mysqlslap \
         mariadb mariadb-dump mariadb-admin mycli xtrabackup",
        "-p",
        Attached,
        All,
    ),
    rule(
        "docker podman buildah skopeo nerdctl helm oras crane regctl az twine cqlsh mongo \
         mongosh mongodump mongorestore mongoexport mongoimport mongostat rdesktop oc argocd \
         winexe influx hydra sshpass vncviewer jfrog cf ibmcloud snowsql bq vsql hdbsql usql \
         ipmitool 7z 7za 7zr rar unrar useradd usermod bw crackmapexec evil-winrm nxc pdftk \
         ansible-vault openconnect rclone quay",
        "-p",
        Any,
        All,
    ),
    rule(
        "sqlcmd bcp osql tsql isql unzip zip zipcloak ipmitool mosquitto_pub mosquitto_sub \
         ldapsearch coap-client zipinfo",
        "-P",
        Any,
        All,
    ),
    rule(
        "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare \
         ldapmodrdn kadmin security",
        "-w",
        Any,
        All,
    ),
    rule("ldappasswd", "-s", Any, All),
    rule(
        "smbclient rpcclient net smbget smbmap winexe nmblookup smbcacls wmic",
        "-U",
        Any,
        After(b'%'),
    ),
    rule("redis-cli redis-benchmark keydb-cli valkey-cli", "-a", Any, All),
    rule("snmpwalk snmpget snmpset snmpbulkwalk snmptable snmpgetnext", "-A", Any, All),
    rule("snmpwalk snmpget snmpset snmpbulkwalk snmptable snmpgetnext", "-X", Any, All),
    rule("htpasswd", "-b", Third, All),
    rule("openssl", "-k", Next, All),
    rule("openssl", "-K", Next, All),
    rule("openssl", "-hmac", Next, All),
    rule("openssl", "-macopt", Next, After(b':')),
    rule("xfreerdp wlfreerdp xfreerdp3", "/p:", Attached, All),
    rule("doctl ngrok flyctl fly wrangler vercel netlify railway snyk codecov", "-t", Next, All),
    rule("nuget dotnet", "-k", Next, All),
    rule("etcdctl", "--user", Any, After(b':')),
    rule("wget wget2", "--user", Next, After(b':')),
    rule("aws az", "--value", Any, All),
    rule("gh", "-b", Any, All),
    rule("svn cadaver elasticsearch es kafkacat", "-p", Next, All),
];

/// The secret after the option at this word; after `sudo -S`, the secret that is piped into the command.
pub(super) fn at_option(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = forward_while(bytes, word.start, 1, |byte| byte == b' ');
    let rest = text.get(start..)?;
    let mut rules = RULES.iter().filter(|rule| rest.starts_with(rule.option)).peekable();
    let may_be_sudo = rest.starts_with("-S") || rest.starts_with("-s");
    if rules.peek().is_none() && !may_be_sudo {
        return None;
    }
    let (program, program_start) = program_before(text, start)?;
    if may_be_sudo && program == "sudo" {
        return echoed(text, program_start);
    }
    rules
        .filter(|rule| rule.applies_to(program))
        .find_map(|rule| value_of(text, rule, program_start, start + rule.option.len()))
}

/// A password that is piped into the command with this word: `echo X | docker login --password-stdin`.
pub(super) fn piped_into(text: &str, word: Range<usize>) -> Option<Match> {
    let from = back_while(text.as_bytes(), word.start, 300, |byte| !matches!(byte, b'|' | b'\n'));
    (at(text.as_bytes(), from.wrapping_sub(1)) == b'|').then(|| echoed(text, from)).flatten()
}

/// The maximum distance between an option and its program, in bytes.
const MAX_PROGRAM_DISTANCE: usize = 768;

/// Every program with a rule.
static PROGRAMS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let programs = RULES.iter().flat_map(|rule| rule.programs.split_ascii_whitespace());
    programs.chain(["sudo"]).collect()
});

/// The last known program before this position in the same command, with its position.
fn program_before(text: &str, position: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, position).max(position.saturating_sub(MAX_PROGRAM_DISTANCE));
    let mut end = position;
    while end > line {
        let here = at(bytes, end - 1);
        let is_word = alphanumeric_or(b"-_.");
        if matches!(here, b';' | b'|' | b'\n') || (here == b'&' && at(bytes, end) == b'&') {
            return None;
        }
        if !is_word(here) {
            end -= 1;
            continue;
        }
        let start = back_while(bytes, end, 64, is_word);
        let word = text.get(start..end)?;
        let known = !word.starts_with('-') && PROGRAMS.contains(word);
        let before = at(bytes, start.wrapping_sub(1));
        let is_command = start == line
            || matches!(before, b' ' | b'/' | b'"' | b'\'' | b'`' | b'(' | b'\t' | b'=');
        if known && is_command && !(before == b' ' && at(bytes, start.wrapping_sub(2)) == b'-') {
            return Some((word, start));
        }
        end = start;
    }
    None
}

/// The secret in the value of an option. `program` is the start of the program, `option_end` the end of the option.
fn value_of(text: &str, rule: &Rule, program: usize, option_end: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut start = option_end;
    let is_attached =
        !matches!(at(bytes, option_end), b' ' | b'=' | b'"' | b'\'' | b'\t' | b'\n' | 0);
    match rule.position {
        Third => {
            for _ in 0..3 {
                start = forward_while(bytes, start, MAX_VALUE, |byte| !byte.is_ascii_whitespace());
                start = forward_while(bytes, start, 8, |byte| byte == b' ');
            }
        }
        // A longer option that begins with this one.
        Next if is_attached => return None,
        Attached if !is_attached && !matches!(at(bytes, option_end), b'"' | b'\'') => return None,
        Any if is_attached && rule.option.starts_with("--") => return None,
        _ if !is_attached => {
            start = forward_while(bytes, start, 3, any_of(b" =\t"));
        }
        Any | Attached | Next => {}
    }
    let value = match quoted(text, start) {
        Some(value) if rule.position == Third || start > option_end || !is_attached => value,
        _ => start..forward_while(bytes, start, MAX_VALUE, unspaced_except(b"\"'`|;\\\0")),
    };
    let all = text.get(value.clone())?;
    if all.starts_with('-') || all.starts_with('/') && is_attached {
        return None;
    }
    let secret = match rule.part {
        All => value.clone(),
        After(separator) => {
            let offset = all.find(char::from(separator))?;
            value.start + offset + 1..value.end
        }
    };
    let inner = text.get(secret.clone())?;
    // The values of these options are secret only in commands that store a secret.
    let stores_secret = rule.option != "--value" && !rule.applies_to("gh")
        || ["SecureString", "secret set"].iter().any(|it| {
            text.get(program..text.len().min(option_end + 400)).is_some_and(|all| all.contains(it))
        });
    if !stores_secret {
        return None;
    }
    // Published ports: `docker run -p 8080:80`, `podman run -p 127.0.0.1:80:80/tcp`.
    let is_port = rule.part == All && inner.bytes().all(any_of(b"0123456789:.-/tcpud"));
    // An option of several letters, such as `-path`.
    let is_option =
        inner.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_attached && inner.len() < 6;
    if is_port || is_option || inner.contains("://") {
        return None;
    }
    password(text, program, secret)
}

/// A password that is piped into a program for encrypted volumes: `echo X | cryptsetup open …`.
pub(super) fn piped_to_volume(text: &str, word: Range<usize>) -> Option<Match> {
    let bar = back_while(text.as_bytes(), word.start, 8, any_of(b" \t"));
    let sudo = if text.get(..bar)?.ends_with("sudo") { bar - 4 } else { bar };
    let bar = back_while(text.as_bytes(), sudo, 4, |byte| byte == b' ');
    (at(text.as_bytes(), bar.wrapping_sub(1)) == b'|').then(|| echoed(text, bar)).flatten()
}

/// The password that `echo` or `printf` prints into the last pipe before this position.
fn echoed(text: &str, pipe: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, pipe);
    let before = text.get(line..pipe)?;
    let bar = before.rfind('|')?;
    let command = before.get(..bar)?;
    let (name, offset) =
        ["echo ", "printf "].into_iter().find_map(|name| Some((name, command.rfind(name)?)))?;
    let mut start = line + offset + name.len();
    for option in ["-n ", "-e ", "-en ", "'%s\\n' ", "'%s' ", "\"%s\\n\" ", "\"%s\" ", "%s "] {
        if text.get(start..)?.starts_with(option) {
            start += option.len();
        }
    }
    let mut secret = quoted_or_word(text, start, b"|");
    // In `echo user:X | chpasswd`, the password follows the user.
    if let Some((user, _)) = text.get(secret.clone())?.split_once(':') {
        secret.start += user.len() + 1;
    }
    password(text, line + offset, secret)
}

/// The ranges of the secrets in the arguments of a program, each with the index of its argument. `each_match` finds the
/// secrets in a text.
pub(super) fn in_arguments(
    arguments: &[&str],
    each_match: impl Fn(&str, &mut dyn FnMut(Match)),
) -> Vec<(usize, Range<usize>)> {
    // Joined to one line, so that the same rules apply. White space inside an argument becomes U+0001.
    let mut line = String::new();
    let mut ranges = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        let start = line.len();
        line.extend(argument.chars().map(|it| if it.is_ascii_whitespace() { '\u{1}' } else { it }));
        ranges.push(start..line.len());
    }
    let mut all = Vec::new();
    each_match(&line, &mut |found| {
        for (index, argument) in ranges.iter().enumerate() {
            let (start, end) =
                (found.secret.start.max(argument.start), found.secret.end.min(argument.end));
            if start < end {
                all.push((index, start - argument.start..end - argument.start));
            }
        }
    });
    all
}
