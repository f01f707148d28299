//! The helper of the walls: this executable, called as `countersign __walled …` in the child that becomes a walled
//! program.
//!
//! The helper has one thread. It drops its own rights, and the program that it then starts inherits the remaining
//! ones. Its command line is internal and may change between versions: only modules of this folder build it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use rustix::process::Pid;

use super::filter::{Network, filters};
use super::landlock_rules::Files;
use super::report::Sender;
use super::{landlock_rules, probe, system};
use crate::process::{bare_command, tree};

/// The first argument that makes this executable the helper.
pub(super) const COMMAND: &str = "__walled";
/// Marks the end of the options.
pub(super) const END: &str = "--";

/// The helper's tasks.
pub(super) mod work {
    /// Joins the run's namespaces if any are given, puts up the walls, and executes the program or starts it
    /// as a child.
    pub(in super::super) const APPLY: &str = "apply";
    /// Joins the run's namespaces and executes bubblewrap, which makes a view there.
    pub(in super::super) const VIEW: &str = "view";
    /// Holds the namespaces of a run.
    pub(in super::super) const KEEP: &str = "keep";
}

/// The options of the helper.
pub(super) mod option {
    use std::os::fd::{AsRawFd as _, OwnedFd};

    /// A descriptor: the channel for messages about the start.
    pub(in super::super) const REPORT: &str = "--report";
    /// A descriptor: a namespace to join.
    pub(in super::super) const JOIN: &str = "--join";

    /// An option with this descriptor, which the program must inherit.
    pub(in super::super) fn descriptor(name: &str, descriptor: &OwnedFd) -> [String; 2] {
        [name.to_owned(), descriptor.as_raw_fd().to_string()]
    }

    /// The working directory of the program, when namespaces are joined.
    pub(in super::super) const FOLDER: &str = "--folder";
    /// A file or folder that may be written to.
    pub(in super::super) const WRITE: &str = "--write";
    /// The identity of the preceding `--write` path: device and inode number, separated by a colon.
    pub(in super::super) const IDENTITY: &str = "--is";
    /// A folder that cannot be read.
    pub(in super::super) const HIDE: &str = "--hide";
    /// Without a value: the program's stdin is to be its controlling terminal.
    pub(in super::super) const TERMINAL: &str = "--terminal";
    /// The allowed network access.
    pub(in super::super) const NETWORK: &str = "--network";
}

impl Network {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Own => "own",
            Self::Nothing => "nothing",
        }
    }

    fn parse(text: &OsStr) -> Option<Self> {
        [Self::Granted, Self::Own, Self::Nothing].into_iter().find(|it| text == it.as_str())
    }
}

/// Runs the helper if the command line names it, and returns its exit code; otherwise returns `None`.
pub fn start(line: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    run(line).map(ExitCode::from)
}

fn run(mut line: impl Iterator<Item = OsString>) -> Option<u8> {
    line.next();
    if line.next()? != COMMAND {
        return None;
    }
    let work = line.next().unwrap_or_default();
    let result = match Options::parse(&mut line) {
        Ok(options) => {
            let report = options.report.as_ref().map(|it| it.as_fd().try_clone_to_owned());
            let report = report.and_then(Result::ok).map(Sender);
            let rest: Vec<OsString> = line.collect();
            // No value that the closure changes is used after a panic.
            let work = std::panic::AssertUnwindSafe(|| match work.to_str() {
                Some(work::APPLY) => apply(options, &rest),
                Some(work::VIEW) => view(options, &rest),
                Some(work::KEEP) => keep(),
                Some(probe::TRY) => probe::attempts(&rest),
                _ => Err(io::Error::other("this part of the program cannot be called directly")),
            });
            let result = catch_unwind(work)
                .unwrap_or_else(|_| Err(io::Error::other("the helper of the walls has panicked")));
            if let (Err(error), Some(report)) = (&result, report) {
                report.failed(error);
            }
            result
        }
        Err(error) => Err(error),
    };
    Some(result.unwrap_or_else(|error| {
        // Without a channel, the process that started the helper reads the error from stderr.
        let _ = writeln!(io::stderr(), "countersign: {error}");
        FAILED
    }))
}

/// Starts the helper, and the program that asks for secrets, in test and benchmark executables too, before their harness
/// runs.
#[cfg(any(test, feature = "inspection"))]
mod test_helper {
    extern "C" fn start() {
        let code = super::run(std::env::args_os()).or_else(|| {
            let is_answered = crate::process::askpass::run(std::env::args_os())?;
            Some(u8::from(!is_answered))
        });
        if let Some(code) = code {
            #[expect(clippy::disallowed_methods, reason = "there is no main to return to yet")]
            std::process::exit(code.into());
        }
    }

    #[used]
    #[expect(unsafe_code, reason = "nothing safe runs before the harness of a test")]
    // SAFETY: the loader calls this before `main`, on the only thread.
    #[unsafe(link_section = ".init_array")]
    static START: extern "C" fn() = start;
}

/// The exit code of a helper that failed.
const FAILED: u8 = 125;

#[derive(Debug, Default)]
struct Options {
    report: Option<OwnedFd>,
    join: Vec<OwnedFd>,
    folder: Option<PathBuf>,
    files: Files,
    network: Option<Network>,
    has_terminal: bool,
}

impl Options {
    /// Reads the options up to and including [`END`]; the rest of `line` is not consumed.
    fn parse(line: &mut impl Iterator<Item = OsString>) -> io::Result<Self> {
        let mut options = Self::default();
        let usage_error =
            || io::Error::other("the helper of the walls was called in a way it does not know");
        loop {
            let name = line.next().ok_or_else(usage_error)?;
            let name = name.to_str().ok_or_else(usage_error)?;
            if name == END {
                return Ok(options);
            }
            if name == option::TERMINAL {
                options.has_terminal = true;
                continue;
            }
            let value = line.next().ok_or_else(usage_error)?;
            let descriptor = || {
                let number =
                    value.to_str().and_then(|text| text.parse().ok()).ok_or_else(usage_error)?;
                system::inherited(number)
            };
            match name {
                option::REPORT => options.report = Some(descriptor()?),
                option::JOIN => options.join.push(descriptor()?),
                option::FOLDER => options.folder = Some(PathBuf::from(value)),
                option::WRITE => options.files.write.push((PathBuf::from(value), None)),
                option::IDENTITY => {
                    let numbers = value.to_str().and_then(|text| text.split_once(':'));
                    let (device, inode) = numbers.ok_or_else(usage_error)?;
                    let parse = |text: &str| text.parse::<u64>().map_err(|_| usage_error());
                    let (_, identity) = options.files.write.last_mut().ok_or_else(usage_error)?;
                    *identity = Some((parse(device)?, parse(inode)?));
                }
                option::HIDE => options.files.hidden.push(PathBuf::from(value)),
                option::NETWORK => {
                    options.network = Some(Network::parse(&value).ok_or_else(usage_error)?);
                }
                _ => return Err(usage_error()),
            }
        }
    }
}

/// The keeper: holds the namespaces of a run until the process that started it closes the pipe or exits. The keeper is
/// process 1 of the pid namespace: the kernel kills all others when it exits, and signals from inside cannot end it.
fn keep() -> io::Result<u8> {
    system::ignore_sigchld()?;
    io::stdout().write_all(b"!")?;
    io::stdout().flush()?;
    // Nothing is ever written to this pipe; reading returns when it is closed.
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(0)
}

/// Puts up the walls, and executes the program or starts it as a child.
fn apply(mut options: Options, line: &[OsString]) -> io::Result<u8> {
    let missing = || io::Error::other("the helper of the walls was not given all options");
    let namespaces = std::mem::take(&mut options.join);
    let is_inside = !namespaces.is_empty();
    if is_inside {
        let folder = options.folder.take().ok_or_else(missing)?;
        if let Some(child) = enter(namespaces, &folder)? {
            // This process must not keep the channel open, which must close when the helper inside exits.
            drop(options);
            return wait_outside(child);
        }
    }
    let report = Sender(options.report.ok_or_else(missing)?);
    let network = options.network.ok_or_else(missing)?;
    system::close_others_on_exec()?;
    let (program, arguments) = split(line)?;
    let mut command = bare_command(program);
    command.args(arguments);
    system::set_no_new_privs()?;
    system::drop_capabilities()?;
    let has_network = network != Network::Nothing;
    let terminal = if options.has_terminal { system::terminal_of_stdin() } else { None };
    landlock_rules::enforce(&Files { has_network, terminal, ..options.files })?;
    let filters = filters(network, is_inside)?;
    // Installed first, because the other filters forbid a second listener.
    if let Some(counted) = &filters.counted
        && let Some(listener) = system::install_filter(counted, true)?
    {
        report.listener(&listener)?;
    }
    for filter in &filters.plain {
        system::install_filter(filter, false)?;
    }
    if is_inside {
        return run_as_child(command, options.has_terminal, &report);
    }
    report.about_to_start()?;
    Err(command.exec())
}

/// Joins the run's namespaces and executes bubblewrap, which makes a view there.
fn view(options: Options, line: &[OsString]) -> io::Result<u8> {
    if let Some(child) = enter(options.join, Path::new("/"))? {
        return wait_outside(child);
    }
    // bubblewrap looks up its own process in `/proc`.
    system::mount_proc()?;
    let (program, arguments) = split(line)?;
    Err(bare_command(program).args(arguments).exec())
}

/// Joins the run's namespaces. Joining a pid namespace affects only later children, so this forks: `None` in the
/// child, which is inside, and the child's id in the parent, which is outside.
fn enter(namespaces: Vec<OwnedFd>, folder: &Path) -> io::Result<Option<Pid>> {
    system::ignore_sigterm()?;
    for namespace in &namespaces {
        rustix::thread::move_into_link_name_space(namespace.as_fd(), None).map_err(|error| {
            io::Error::other(format!("joining a namespace of the run: {error}"))
        })?;
    }
    drop(namespaces);
    rustix::process::chdir(folder)?;
    let child = system::fork()?;
    if child.is_none() {
        // The child is killed when its parent exits, because no process would then wait for it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    }
    Ok(child)
}

/// Waits for the helper inside, and returns its exit code. That is not the program's status, which the helper inside
/// has sent as a message.
fn wait_outside(inside: Pid) -> io::Result<u8> {
    let status = wait_for(inside)?;
    Ok(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}

/// Starts the program and waits for it. The program does not replace this process: it needs a parent that
/// reports its exact exit status and that adopts its orphans in the namespace.
fn run_as_child(
    mut command: std::process::Command,
    has_terminal: bool,
    report: &Sender,
) -> io::Result<u8> {
    system::set_undumpable()?;
    system::catch_sigterm()?;
    system::become_subreaper()?;
    match has_terminal {
        true => tree::new_terminal_session(&mut command),
        false => tree::new_session(&mut command),
    }
    let child = command.spawn()?;
    // Reported even when the program has already exited.
    report.started()?;
    let status = wait_for(Pid::from_child(&child))?;
    report.ended(status)?;
    Ok(0)
}

/// Waits for this child, and reaps all orphans that exit meanwhile.
fn wait_for(child: Pid) -> io::Result<ExitStatus> {
    loop {
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((id, status))) if id == child => {
                return Ok(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The program and its arguments.
fn split(line: &[OsString]) -> io::Result<(&OsStr, &[OsString])> {
    match line.split_first() {
        Some((program, arguments)) if !program.as_bytes().is_empty() => Ok((program, arguments)),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no program was named")),
    }
}
