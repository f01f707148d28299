//! Whether inline code can have effects beyond its output.
//!
//! Importing a module runs a file of the project, as its scripts do. What counts is what the code calls: every name
//! is split into words, and none of them may suggest more than reading.

use super::bindings::modest;
use super::imports::names_function;
use super::language::Inline;
use super::tokens::{Token, name, sign, tokens};
use crate::risk::shell::discloses::is_secret_name;
use crate::risk::shell::listed::listed;
use crate::risk::shell::place;

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 400;

/// Words in names that suggest more than reading, computing and printing.
const WORDS: &str = "exec execv execl execve execvp eval spawn system popen fork forkpty kill killpg remove \
    removedirs unlink rename renames rmdir rmtree rm rmi chmod chown lchown chroot chdir \
    fchmod write writelines delete del drop truncate destroy wipe purge clear flushall \
    flushdb send sendall sendto sendmail sendfile post put upload publish connect listen \
    serve subprocess shutil shell sh bash socketserver ctypes importlib imp getattr \
    setattr delattr globals locals vars binding dlopen constructor prototype proto fetch \
    download urlopen urlretrieve request https httplib ftplib ftp smtplib smtp telnetlib \
    telnet paramiko fabric pexpect pty pickle marshal shelve dill cloudpickle joblib runpy \
    builtins multiprocessing webbrowser boto boto3 antigravity pip ensurepip venv install \
    uninstall extract extractall move copy copyfile copytree copy2 cp symlink link hardlink \
    mount umount reboot shutdown poweroff sudo setuid setgid seteuid mail curl rimraf execa \
    shelljs zx child vm cluster worker inspector repl net tls dgram websocket axios got \
    superagent qx syscall passthru pcntl posix ssh ssh2 include callable fileutils kernel \
    objectspace tracepoint trap at_exit atexit load loadstring dofile loadfile ffi save \
    savefig dump tofile tocsv overwrite touch utime mknod mkfifo truncate64 commit rollback \
    execute executemany executescript update cursor migrate reset revoke grant terminate \
    stop abort home expanduser expand tilde userinfo passwd secret token password credential \
    credentials keyring keychain netrc breakpoint pdb putenv unsetenv setenv sink dyn invoke \
    run rpc remote deploy release upsert bulk merge evict expire restart sethook signal recv \
    accept sslsocket tcpsocket tcpserver udpsocket unixsocket restclient faraday typhoeus \
    mechanize openuri lwp ccall unsafe pointer setwd tarfile zipfile patch connection call \
    scp sftp";

/// Harmless names that contain such words.
const ONLY_SOUND: &str =
    "process const function class_methods re_compile public_methods define method_missing";

/// Names that are refused as a whole.
const NAMES: &str = "compile input __import__ require_relative autoload syswrite sysopen opendir readdir utime do glob \
    eval exec Function Proxy Reflect WebAssembly Worker globalThis global window mainModule _load createRequire \
    methods instance_variable_set instance_variable_get const_get send method proc_open mkfifo \
    file_put_contents fopen fwrite fputs mail dl extract parse_str create_function call_user_func call_user_func_array \
    array_map usort preg_replace_callback getenv_all phpinfo ENV GLOBALS _SERVER _ENV _G getfenv setfenv \
    Deno Bun Kernel IO Process Signal FileUtils Open3 Net URI Socket PTY Pathname loop setInterval gethostbyname gethostbyname_ex getaddrinfo gethostbyaddr lookup createServer make_server FileIO FileHandler startfile interact mv HTTPServer TCPServer";

/// Whether a name suggests an effect.
fn speaks(own: &str) -> bool {
    if listed(ONLY_SOUND, own) {
        return false;
    }
    let lower = own.to_ascii_lowercase();
    if listed(NAMES, own) || word(&lower) {
        return true;
    }
    let mut part = String::new();
    let mut upper = true;
    for c in own.chars().chain(std::iter::once('_')) {
        let ends = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && !upper);
        if ends {
            if word(&part) {
                return true;
            }
            part.clear();
        }
        if c.is_ascii_alphanumeric() {
            part.push(c.to_ascii_lowercase());
        }
        upper = c.is_ascii_uppercase();
    }
    false
}

fn word(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let singular = text.strip_suffix("sync").filter(|it| !it.is_empty()).unwrap_or(text);
    if text.starts_with("save") || text.ends_with("save") || text.starts_with("write") {
        return true;
    }
    WORDS.split_whitespace().any(|it| it == text || it == singular)
}

/// Functions that build texts, which could hide a name.
const BUILDS: &str = "join concat replace fromCharCode fromCodePoint atob Buffer reverse decodeURIComponent slice substring \
    substr chr bytes decode toString raw unescape";

impl Inline {
    /// Whether code may import modules, but calls nothing with effects beyond its output.
    pub(super) fn stays(&self, code: &str) -> bool {
        if code.len() > MAX_LENGTH {
            return false;
        }
        let Some(all) = tokens(code, &self.language) else { return false };
        let builds = all.iter().enumerate().any(|(at, token)| match token {
            Token::Name(own) => listed(BUILDS, own),
            Token::Text(_) => {
                let before = at.checked_sub(1).and_then(|at| all.get(at));
                [before, all.get(at + 1)].into_iter().any(|it| sign(it, '+'))
            }
            _ => false,
        });
        all.len() > 1
            && modest(&all)
            && !names_function(&all, &self.language)
            && self.closed(&all)
            && (0..all.len()).all(|at| self.stays_at(&all, at, builds))
    }

    fn stays_at(&self, all: &[Token], at: usize, builds: bool) -> bool {
        let get = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
        let (before, next) = (get(1), all.get(at + 1));
        let script = self.language == "javascript";
        match all.get(at) {
            Some(Token::Text(text)) => text_stays(text),
            Some(Token::Sign('(')) if self.language == "php" => {
                !(matches!(before, Some(Token::Text(_))) || sign(before, ')') || sign(before, ']'))
            }
            // The result of an expression is called, which could be any function.
            Some(Token::Sign('(')) if sign(before, ']') || sign(before, ')') => false,
            Some(Token::Sign('[')) if script || self.language == "lua" => {
                let follows = matches!(before, Some(Token::Name(_) | Token::Text(_)))
                    || sign(before, ')')
                    || sign(before, ']');
                let plain = match next {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => !text.contains('\\'),
                    Some(Token::Name(_)) => !builds && !has_files(all),
                    _ => false,
                };
                let word = name(before).is_some_and(|it| matches!(it, "return" | "of" | "in"));
                !(script && sign(before, '{'))
                    && (!follows || word || (plain && sign(all.get(at + 2), ']')))
            }
            Some(Token::Name(own)) => self.name_stays(all, at, own),
            _ => true,
        }
    }

    fn name_stays(&self, all: &[Token], at: usize, own: &str) -> bool {
        let get = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
        let (before, next) = (get(1), all.get(at + 1));
        let of = name(get(2)).unwrap_or_default();
        let dotted = sign(before, '.');
        let text = |from: usize| match all.get(from) {
            Some(Token::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let closes = |from: usize| sign(all.get(from), ')');
        let files = has_files(all);
        if own.starts_with("__") {
            return dotted
                && matches!(own, "__version__" | "__file__" | "__name__" | "__doc__")
                && !sign(next, '[');
        }
        // An assigned attribute would be visible to other code.
        let assigned =
            sign(next, '=') && !sign(all.get(at + 2), '=') && !sign(all.get(at + 2), '>');
        if dotted && assigned && self.language != "r" {
            return false;
        }
        if sign(before, '$') || (sign(before, '@') && self.language == "perl") {
            return !sign(next, '(')
                && !own.starts_with('_')
                && !own.contains("ENV")
                && own != "GLOBALS";
        }
        let secret = |it: &str| {
            is_secret_name(it) || !it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        match own {
            // On a text this returns a copy; on a path it overwrites a file.
            "replace" if self.language == "python" => {
                let file = |it: &Token| matches!(name(Some(it)), Some("Path" | "pathlib"));
                return dotted && of != "os" && !all.iter().any(file);
            }
            "file" if self.language == "r" && sign(next, '=') => return false,
            "values" | "entries" if files => return false,
            "while" | "until" => {
                return !endless(all, at);
            }
            "requests" | "urllib" | "urllib3" | "http" | "httpx" => {
                return self.language == "python" && only_named(all, at);
            }
            "environ" | "getenv" | "env" | "ENV" | "fetchenv" => {
                let script = self.language == "javascript";
                let named = (1..=4).find_map(|back| text(at + back));
                let named =
                    if script { name(all.get(at + 2)).filter(|_| sign(next, '.')) } else { named };
                return named.is_some_and(|it| !secret(it));
            }
            "argv" | "glob" if self.language == "python" => return true,
            "platform" | "json" | "sys" | "tomllib" | "yaml" => {
                return !sign(next, '=') || self.language == "python";
            }
            "load" => return matches!(of, "json" | "tomllib" | "toml" | "tomli"),
            "compile" => return dotted && of == "re",
            "write" => return matches!(of, "stdout" | "stderr") && dotted,
            "path" if of == "sys" => return sign(next, ')') || sign(next, ',') || next.is_none(),
            // A module with a literal name.
            "require" | "import" | "library" | "use" | "using"
                if matches!(self.language.as_str(), "javascript" | "ruby" | "php" | "lua") =>
            {
                let bracket = usize::from(sign(next, '('));
                let known = text(at + 1 + bracket);
                if self.language == "php" || known.is_none() && sign(next, '(') {
                    return false;
                }
                return match known {
                    Some(module) => !module.contains("..") && !speaks_module(module),
                    None => {
                        own != "require"
                            || sign(next, '.') && name(all.get(at + 2)) == Some("resolve")
                    }
                };
            }
            _ => {}
        }
        if own == "open"
            || listed(&self.reads, own)
            || listed("readFile read File readlines readLines loadtxt file_get_contents file", own)
        {
            if !sign(next, '(') {
                // An imported class, or a method of an open file.
                let imported =
                    own == "Path" && (name(before) == Some("import") || sign(before, ','));
                return imported || matches!(own, "File" | "file" | "read" | "readlines");
            }
            let given = text(at + 2).is_some_and(reads_inside);
            let read = |mode: &str| matches!(mode, "r" | "rb" | "rt" | "utf8" | "utf-8");
            let mode =
                sign(all.get(at + 3), ',') && text(at + 4).is_some_and(read) && closes(at + 5);
            let stdin = own == "read" && closes(at + 2);
            let path = dotted && own == "open" && closes(at + 2);
            return stdin || path || given && (closes(at + 3) || mode);
        }
        if own == "function" || own == "const" {
            return true;
        }
        !speaks(own)
    }
}

/// Whether the condition of a loop is constant.
pub(super) fn endless(all: &[Token], at: usize) -> bool {
    let from = at + 1 + usize::from(sign(all.get(at + 1), '('));
    matches!(all.get(from), Some(Token::Number(_)))
        || name(all.get(from)).is_some_and(|it| it.eq_ignore_ascii_case("true"))
        || sign(all.get(from), '!')
}

/// Whether the code only mentions a network module, without calling, renaming or storing any of it.
fn only_named(all: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| all.get(at));
    let mut end = at + 1;
    while sign(all.get(end), '.') && name(all.get(end + 1)).is_some() {
        end += 2;
    }
    let kept = sign(before, '=') || matches!(name(before), Some("from" | "return" | "lambda"));
    let ends =
        all.get(end).is_none() || [',', ')', ';'].into_iter().any(|it| sign(all.get(end), it));
    ends && !kept
}

/// Whether the file module of JavaScript is loaded.
fn has_files(all: &[Token]) -> bool {
    let is = |it: &Token| matches!(it, Token::Text(text) if matches!(text.trim_start_matches("node:"), "fs" | "fs/promises"));
    all.iter().any(is)
}

/// Whether the name of a module suggests an effect.
fn speaks_module(module: &str) -> bool {
    let bare = module.trim_start_matches("node:").trim_start_matches("./");
    bare.starts_with('/') || bare == "module" || bare.split(['/', '-', '.', '@']).any(speaks)
}

/// Whether a text contains no outside path, no secret file and no name that could be called.
fn text_stays(text: &str) -> bool {
    let path = place::normalize(text, "");
    let called = text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.:".contains(&it))
        && text.split(['.', ':']).any(speaks);
    let escapes = text.contains("\\x")
        || text.contains("\\u")
        || text.contains("\\0")
        || text.contains("\\1");
    let leaves =
        text.starts_with(['/', '~']) && text.len() > 1 || text.contains("../") || text == "..";
    let hides = place::is_secret(&path)
        || place::is_keys(&path)
        || path.rsplit('/').next().is_some_and(|it| it.starts_with(".env"));
    let runs = text.contains("://") || text.contains("$(") || text.contains('`');
    !(called || escapes || leaves || hides || runs)
}

fn reads_inside(text: &str) -> bool {
    !text.is_empty() && text_stays(text) && is_inside_to_read(text)
}

fn is_inside_to_read(text: &str) -> bool {
    let path = place::normalize(text, "");
    place::is_project_file(&path)
        || !place::is_outside(&path) && !path.contains(['*', '|', '<', '>', ':', '\\'])
}
