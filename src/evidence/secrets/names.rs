//! Names that indicate a secret value.
//!
//! Names are split into words (`DB_PASS`, `accountKey`, `spring.datasource.password`). The last word decides, because a
//! `passwordFile` is a path; for `key`, the word before it decides too, because a `cache-key` is not secret.

use std::ops::Deref;
use std::sync::OnceLock;

/// A list of words, split on first use.
struct WordList {
    text: &'static str,
    list: OnceLock<Vec<&'static str>>,
}

const fn words(text: &'static str) -> WordList {
    WordList { text, list: OnceLock::new() }
}

impl Deref for WordList {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.list.get_or_init(|| self.text.split_ascii_whitespace().collect())
    }
}

/// The maximum number of words of a name. Longer texts are not names.
const MAX_WORDS: usize = 12;

/// The class of a name, which determines what its value must look like to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The value is chosen by a person: it may be almost any text.
    Password,
    /// The value is usually random, but may be the name of a stored secret (`secret: my-secret`).
    Secret,
    /// The value is random. Source code also uses such names for other things (`token`, `key`).
    Key,
    /// Connection data, which may contain a user and a password.
    Login,
    /// Cookies, some of which identify a session.
    Cookie,
    /// A URL that grants access to anyone who knows it.
    Link,
}

impl Class {
    /// Whether values have parts, of which some may be secret.
    pub(super) fn is_structured(self) -> bool {
        matches!(self, Self::Login | Self::Cookie | Self::Link)
    }
}

static PASSWORDS: WordList = words(
    "password passwd passphrase passcode passwort pwd pass pw psw pswd kennwort senha \
     requirepass masterauth psk mnemonic pgpassword",
);
static SECRETS: WordList = words("secret secrets credential credentials cred creds passkey");
static KEYS: WordList = words(
    "token apikey jwt bearer auth sessionid phpsessid jsessionid session sessid sid psid \
     authkey authtoken pat otp totp salt",
);
/// Suffixes of words that mean a password: `PGPASSWORD`.
const PASSWORD_SUFFIXES: &[&str] = &["password", "passwd", "passphrase", "passcode", "passwort"];
/// Prefixes of `pass` and `pw` in words that mean a password. `bypass` and `compass` do not.
static PASS_OWNERS: WordList = words(
    "db my user root admin sql ftp smtp mail store key auth proxy sudo become ldap bind \
     master http imap redis mongo login ssh vault rpc pg pgsql mysql mariadb postgres \
     oracle jdbc keystore truststore trust cert wifi wlan vpn pop sasl svn git zip priv \
     sys docker registry client server service account",
);
/// WordList before `key` that make it secret.
static KEY_OWNERS: WordList = words(
    "api access secret private priv encryption encrypt encrypted decryption decrypt \
     crypto cipher aes des hmac rsa ssh gpg pgp ssl tls signing signature sign master \
     root account storage shared auth app application service subscription consumer \
     client session jwt license licence deploy admin token webhook integration ingest \
     preshared wep wpa security bot maps google stripe sendgrid mailgun twilio openai \
     anthropic aws azure gcp datadog github gitlab algolia recovery vault unseal cookie \
     webpush vapid fastly metrics private upload server host node validator wallet backup sas bus eventhub cosmos \
     functions instrumentation write publish psk validation authorization authentication \
     rails django flask laravel pairing",
);
/// WordList that are skipped at the end of a name.
static NEUTRAL: WordList = words(
    "prod production dev development staging stage test live main primary secondary base \
     value val plain plaintext text raw default old new current backup hash hashed \
     encrypted enc b64 base64 hex string str data clear cleartext real me env override \
     1password a b one two pem material",
);
/// Names of webhooks. Anyone who knows the URL of a webhook can use it.
static HOOKS: WordList = words("hook hooks webhook webhooks hookurl webhookurl hookuri webhookuri");
/// WordList before the last one that make a name public.
static PUBLIC: WordList = words(
    "public pub page next continuation cursor primary foreign placeholder label hint \
     prompt tokenizer nocase sort cache idempotency sync lexer design comma separator no \
     without disable forgot reset is has ssh-rsa websocket surrogate partition routing \
     list delete lib expires expiry length",
);

/// The class of a name; `None` if it does not indicate a secret.
pub(super) fn classify(name: &str) -> Option<Class> {
    let mut words = [""; MAX_WORDS];
    let mut count = 0;
    for word in words_of(name) {
        *words.get_mut(count)? = word;
        count += 1;
    }
    let mut words = words.get(..count)?;
    while let [before @ .., last] = words
        && !before.is_empty()
        && (is_in(&NEUTRAL, last) || is_number(last))
    {
        words = before;
    }
    let (last, before) = words.split_last()?;
    let class = class_of(last, before.last().copied())?;
    // `libsecret` is a library.
    if last.len() > 3 && last.get(..3).is_some_and(|it| it.eq_ignore_ascii_case("lib")) {
        return None;
    }
    // `public_key` and `next_page_token` are public.
    let is_public = before.iter().any(|word| is_in(&PUBLIC, word));
    (!is_public).then_some(class)
}

/// The class of a name with this last word and the word before it.
fn class_of(last: &str, before: Option<&str>) -> Option<Class> {
    if last.eq_ignore_ascii_case("key") || last.eq_ignore_ascii_case("keys") {
        return before.filter(|owner| is_key_owner(owner)).map(|_| Class::Key);
    }
    let words = [(&PASSWORDS, Class::Password), (&SECRETS, Class::Secret), (&KEYS, Class::Key)];
    let class = words.into_iter().find_map(|(words, class)| is_in(words, last).then_some(class));
    if let Some(class) = class.or_else(|| structured_class(last, before)) {
        return Some(class);
    }
    let prefix_before = |suffix: &str| {
        let length = last.len().checked_sub(suffix.len())?;
        let (prefix, rest) = last.split_at_checked(length)?;
        (rest.eq_ignore_ascii_case(suffix) && !prefix.is_empty()).then_some(prefix)
    };
    if PASSWORD_SUFFIXES.iter().any(|suffix| prefix_before(suffix).is_some())
        || prefix_before("pass").is_some_and(|prefix| is_in(&PASS_OWNERS, prefix))
        || prefix_before("pw").is_some_and(|prefix| is_in(&PASS_OWNERS, prefix))
        || prefix_before("pwd").is_some_and(|prefix| !prefix.eq_ignore_ascii_case("old"))
    {
        return Some(Class::Password);
    }
    if prefix_before("secret").is_some() {
        return Some(Class::Secret);
    }
    (prefix_before("token").is_some() || prefix_before("key").is_some_and(is_key_owner))
        .then_some(Class::Key)
}

/// The class of a name with structured values.
fn structured_class(last: &str, before: Option<&str>) -> Option<Class> {
    let is = |known: &[&str]| is_in(known, last);
    let follows = |known: &[&str]| before.is_some_and(|word| is_in(known, word));
    if is(&["cookie", "cookies"]) {
        return Some(Class::Cookie);
    }
    if is_in(&HOOKS, last) || (is(&["url", "uri", "endpoint", "address"]) && follows(&HOOKS)) {
        return Some(Class::Link);
    }
    // Other connection data needs no class: it is a URL, or has named parts such as `Password=X;`.
    is(&["dsn"]).then_some(Class::Login)
}

/// Whether the value of this variable may consist of a user and a password: `HTTP_AUTH`.
pub(super) fn is_login(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && words_of(name).last().is_some_and(|last| is_in(&["AUTH", "LOGIN", "USERPWD"], last))
}

/// Whether this variable contains the path of a working folder: `PWD` is also a name for passwords.
pub(super) fn is_working_folder(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("oldpwd")
        || (name.eq_ignore_ascii_case("pwd") && value.starts_with(['/', '~']))
}

/// Whether a key with this word before it is secret.
fn is_key_owner(owner: &str) -> bool {
    // The word may be several without a separator: `sharedaccesskey`.
    is_in(&KEY_OWNERS, owner)
        || (owner.len() > 6
            && KEY_OWNERS.iter().any(|known| {
                let start = owner.len().checked_sub(known.len()).filter(|_| known.len() > 4);
                let suffix = start.and_then(|start| owner.get(start..));
                suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(known))
            }))
}

/// Whether a list contains a word in any case.
pub(super) fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches(['v', 'V']).bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a name, split at separators, before capital letters and around digits.
pub(super) fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let end = word_end(rest)?;
            let (word, tail) = rest.split_at_checked(end)?;
            rest = tail;
            Some(word)
        })
    })
}

/// The end of the first word; `None` for an empty text. Digits are words of their own.
fn word_end(part: &str) -> Option<usize> {
    let bytes = part.as_bytes();
    let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
    if bytes.is_empty() {
        return None;
    }
    let mut end = 1;
    while end < bytes.len() {
        let (before, here, after) = (byte(end - 1), byte(end), byte(end + 1));
        let starts = here.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        if starts || here.is_ascii_digit() != before.is_ascii_digit() {
            break;
        }
        end += 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_decides() {
        for name in words(
            "password DB_PASS dbPass PGPASSWORD MYSQL_PWD user.passwd rootPassword1 \
             spring.datasource.password --http-password passphrase DB_PASSWORD_PROD sshpass",
        )
        .iter()
        {
            assert_eq!(classify(name), Some(Class::Password), "{name}");
        }
        for name in words("client_secret clientsecret credential SECRET app.secret").iter() {
            assert_eq!(classify(name), Some(Class::Secret), "{name}");
        }
        for name in words(
            "ENCRYPTION_KEY PRIVATE_KEY api-key X-Api-Key apiKey AccountKey token \
             sharedAccessKey client-key-data _authToken GITHUB_TOKEN SECRET_KEY_BASE \
             aws_secret_access_key PresharedKey accesskey",
        )
        .iter()
        {
            assert_eq!(classify(name), Some(Class::Key), "{name}");
        }
        for name in words(
            "key cache-key cache_key public_key primaryKey keyboard monkey hotkey \
             passwordFile password_file secretName secret-id token_count tokens \
             next_page_token publicKeyToken bypass compass OLDPWD passing author \
             PasswordAuthentication token_type tokenizer sort_key foreign_key",
        )
        .iter()
        {
            assert_eq!(classify(name), None, "{name}");
        }
    }
}
