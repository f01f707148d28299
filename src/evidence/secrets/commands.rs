//! Secrets in arguments after options with neutral names: `curl -u`, `mysql -p`.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::logins::password;
use super::scan::{
    LONGEST, Match, alphanumeric_or, any_of, at, back_while, forward_while, line_start, quoted,
    quoted_or_word, unspaced_except,
};

/// How an option takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the next word, or attached.
    Any,
    /// Attached only: `-pX`. The next word is something else.
    Glued,
    /// As the next word only.
    Next,
    /// As the third word after it: `htpasswd -b FILE USER X`.
    Third,
}

/// The secret part of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    /// The part after this character; without the character there is no secret.
    Behind(u8),
}

struct Rule {
    programs: &'static str,
    option: &'static str,
    form: Form,
    part: Part,
}

impl Rule {
    fn is_of(&self, program: &str) -> bool {
        self.programs.split_ascii_whitespace().any(|it| it == program)
    }
}

const fn rule(programs: &'static str, option: &'static str, form: Form, part: Part) -> Rule {
    Rule { programs, option, form, part }
}

use Form::{Any, Glued, Next, Third};
use Part::{All, Behind};

const RULES: &[Rule] = &[
    rule("curl ab aria2c", "-u", Any, Behind(b':')),
    rule("curl", "--user", Any, Behind(b':')),
    rule("curl", "-U", Any, Behind(b':')),
    rule("curl", "--proxy-user", Any, Behind(b':')),
    rule("curl", "--oauth2-bearer", Next, All),
    rule("curl", "-b", Next, Behind(b'=')),
    rule("http https xh xhs httpie ab", "-a", Next, Behind(b':')),
    rule("ab", "-A", Next, Behind(b':')),
    rule("lftp lftpget", "-u", Any, Behind(b',')),
    rule("ncftp ncftpget ncftpput", "-p", Next, All),
    rule("sshpass", "-p", Any, All),
    rule(
        "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlcheck mysqlpump mysqlslap \
         mariadb mariadb-dump mariadb-admin mycli xtrabackup",
        "-p",
        Glued,
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
        Behind(b'%'),
    ),
    rule("redis-cli redis-benchmark keydb-cli valkey-cli", "-a", Any, All),
    rule("snmpwalk snmpget snmpset snmpbulkwalk snmptable snmpgetnext", "-A", Any, All),
    rule("snmpwalk snmpget snmpset snmpbulkwalk snmptable snmpgetnext", "-X", Any, All),
    rule("htpasswd", "-b", Third, All),
    rule("openssl", "-k", Next, All),
    rule("openssl", "-K", Next, All),
    rule("openssl", "-hmac", Next, All),
    rule("openssl", "-macopt", Next, Behind(b':')),
    rule("xfreerdp wlfreerdp xfreerdp3", "/p:", Glued, All),
    rule("doctl ngrok flyctl fly wrangler vercel netlify railway snyk codecov", "-t", Next, All),
    rule("nuget dotnet", "-k", Next, All),
    rule("etcdctl", "--user", Any, Behind(b':')),
    rule("wget wget2", "--user", Next, Behind(b':')),
    rule("aws az", "--value", Any, All),
    rule("gh", "-b", Any, All),
    rule("svn cadaver elasticsearch es kafkacat", "-p", Next, All),
];

/// The secret after the option at this position.
pub(super) fn at_option(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = forward_while(bytes, word.start, 1, |byte| byte == b' ');
    let rest = text.get(start..)?;
    let mut rules = RULES.iter().filter(|rule| rest.starts_with(rule.option)).peekable();
    let piped = rest.starts_with("-S") || rest.starts_with("-s");
    if rules.peek().is_none() && !piped {
        return None;
    }
    let (program, at_program) = program_before(text, start)?;
    if piped && program == "sudo" {
        return echoed(text, at_program);
    }
    rules
        .filter(|rule| rule.is_of(program))
        .find_map(|rule| value_of(text, rule, at_program, start + rule.option.len()))
}

/// Input that is piped into a program that reads a password: `echo X | sudo -S`, `… --password-stdin`.
pub(super) fn piped_into(text: &str, word: Range<usize>) -> Option<Match> {
    let from = back_while(text.as_bytes(), word.start, 300, |byte| !matches!(byte, b'|' | b'\n'));
    (at(text.as_bytes(), from.wrapping_sub(1)) == b'|').then(|| echoed(text, from)).flatten()
}

/// Limit for the distance between an option and its program.
const REACH: usize = 768;

/// Every program with a rule.
static PROGRAMS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let programs = RULES.iter().flat_map(|rule| rule.programs.split_ascii_whitespace());
    programs.chain(["sudo"]).collect()
});

/// The last known program before this position in the same command.
fn program_before(text: &str, place: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let line = line_start(bytes, place).max(place.saturating_sub(REACH));
    let mut end = place;
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

fn value_of(text: &str, rule: &Rule, program: usize, behind: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let mut start = behind;
    let glued = !matches!(at(bytes, behind), b' ' | b'=' | b'"' | b'\'' | b'\t' | b'\n' | 0);
    match rule.form {
        Third => {
            for _ in 0..3 {
                start = forward_while(bytes, start, LONGEST, |byte| !byte.is_ascii_whitespace());
                start = forward_while(bytes, start, 8, |byte| byte == b' ');
            }
        }
        // A longer option with the same start.
        Next if glued => return None,
        Glued if !glued && !matches!(at(bytes, behind), b'"' | b'\'') => return None,
        Any if glued && rule.option.starts_with("--") => return None,
        _ if !glued => {
            start = forward_while(bytes, start, 3, any_of(b" =\t"));
        }
        Any | Glued | Next => {}
    }
    let value = match quoted(text, start) {
        Some(value) if rule.form == Third || start > behind || !glued => value,
        _ => start..forward_while(bytes, start, LONGEST, unspaced_except(b"\"'`|;\\\0")),
    };
    let all = text.get(value.clone())?;
    if all.starts_with('-') || all.starts_with('/') && glued {
        return None;
    }
    let secret = match rule.part {
        All => value.clone(),
        Behind(mark) => {
            let offset = all.find(char::from(mark))?;
            value.start + offset + 1..value.end
        }
    };
    let inner = text.get(secret.clone())?;
    // Some values are secret only with another word in the command.
    let stored = rule.option != "--value" && !rule.is_of("gh")
        || ["SecureString", "secret set"].iter().any(|it| {
            text.get(program..text.len().min(behind + 400)).is_some_and(|all| all.contains(it))
        });
    if !stored {
        return None;
    }
    // A port, a network, or a path: `docker run -p 8080:80`, `podman -p 127.0.0.1:80:80`.
    let ports = rule.part == All && inner.bytes().all(any_of(b"0123456789:.-/tcpud"));
    let named = inner.bytes().all(|byte| byte.is_ascii_alphabetic()) && glued && inner.len() < 6;
    if ports || named || inner.contains("://") {
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

/// The argument of `echo` or `printf` before the pipe that ends here.
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
    // `echo user:X | chpasswd`.
    if let Some((user, _)) = text.get(secret.clone())?.split_once(':') {
        secret.start += user.len() + 1;
    }
    password(text, line + offset, secret)
}

/// The arguments of a program that contain secrets, with the range of each secret. `each_match` finds the
/// secrets of a text.
pub(super) fn in_arguments(
    arguments: &[&str],
    each_match: impl Fn(&str, &mut dyn FnMut(Match)),
) -> Vec<(usize, Range<usize>)> {
    // Joined to one line, so that the same rules apply.
    let mut line = String::new();
    let mut places = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        let start = line.len();
        line.extend(argument.chars().map(|it| if it.is_ascii_whitespace() { '\u{1}' } else { it }));
        places.push(start..line.len());
    }
    let mut all = Vec::new();
    each_match(&line, &mut |found| {
        for (number, place) in places.iter().enumerate() {
            let (start, end) =
                (found.secret.start.max(place.start), found.secret.end.min(place.end));
            if start < end {
                all.push((number, start - place.start..end - place.start));
            }
        }
    });
    all
}
