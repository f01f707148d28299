//! Options of any program whose value is written, and options whose value is a code file.

use super::paths;
use super::positions::Elsewhere;
use super::siblings::is_in_sibling;
use crate::risk::shell::listed::listed;
use crate::risk::shell::path_kind;

impl Elsewhere {
    /// Whether the value of an option is a path to which the program writes.
    pub(super) fn writes_to(&self, program: &str, option: Option<&str>) -> bool {
        // Output options of these programs name a folder that they read.
        let reads = ["pkg-config", "cmake", "meson"].contains(&program);
        // Programs whose `-o` has another, mostly harmless meaning.
        const OTHERS: &str = "grep egrep fgrep zgrep rg ag ack git ps ssh scp sftp sshfs mount find fd lsof lsblk findmnt apt \
            apt-get apt-cache unzip 7z tar ls test [ [[ set shopt ip rpm tree jq journalctl systemctl docker \
            kubectl diff";
        let Some(option) = option else { return false };
        let short = option == "-o" && !listed(OTHERS, program);
        !reads && (short || option == "-femit-bin" || self.outputs.is_match(option))
    }

    /// Whether an output option names another host.
    pub(in crate::risk::shell) fn sends(&self, option: &str, text: &str) -> bool {
        let schemes = ["http://", "https://", "s3://", "gs://", "ftp://", "sftp://", "ssh://"];
        let host = schemes.iter().find_map(|it| text.strip_prefix(it));
        let is_local = |it: &str| it.starts_with("localhost") || it.starts_with("127.");
        self.outputs.is_match(option) && host.is_some_and(|it| !is_local(it))
    }

    /// Whether an option loads a code file, which is recognized by its extension, or names the folder of a project to run.
    pub(super) fn loads_code(&self, option: &str, text: &str) -> bool {
        // These options name a project, which is built and run with the project's own settings.
        const PROJECTS: &str =
            "--project --package-path --project-directory --project-dir --working-dir";
        self.code_options.is_match(option) && self.code.is_match(text)
            || listed(PROJECTS, option) && text.contains('/')
    }

    /// Whether a word is a build folder beside the project or a file in it, after an output option or as the last word.
    pub(super) fn is_beside(
        &self,
        program: &str,
        option: Option<&str>,
        text: &str,
        (last, folder): (bool, &str),
    ) -> bool {
        let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |it| it.1);
        let named =
            option.is_some_and(|it| self.outputs.is_match(it) || matches!(it, "-o" | "-O" | "-B"));
        let plain = !value.contains('*') && is_in_sibling(value);
        let first = value.strip_prefix("../").and_then(|rest| rest.split('/').next());
        // A last word without an option may also be changed in place, so only pure build folders count.
        const BUILDS: &str = "build dist out output bin target artifacts release export";
        const CHANGES: &str = "sed gsed perl ruby tee sponge truncate patch chmod ed ex dd";
        let released = last
            && !listed(CHANGES, program)
            && value.trim_end_matches('/').matches('/').count() > 1
            && first.is_some_and(|it| listed(BUILDS, it));
        (named || released)
            && folder.is_empty()
            && plain
            && !path_kind::is_sensitive(value)
            && first.is_some_and(|it| self.build_folders.is_match(it))
    }
}

/// Whether an option of a configure step only names the later installation prefix.
pub(super) fn only_named(program: &str, option: Option<&str>, text: &str, raised: bool) -> bool {
    let configures = program == "configure" || program.ends_with("/configure");
    let prepares =
        configures && !program.starts_with(['/', '~']) || matches!(program, "meson" | "cmake");
    let value = text.rsplit('=').next().unwrap_or(text);
    let path = paths(value).into_iter().next().unwrap_or_default();
    const USUAL: &str = "~/.local ~/local ~/opt ~/apps ~/sw ~/usr ~/.opt";
    const NAMES: &str = "prefix exec-prefix bindir libdir includedir datadir mandir sysconfdir";
    let named = |it: &str| listed(NAMES, it.trim_start_matches('-'));
    !raised
        && prepares
        && option.is_some_and(|it| {
            it == "-DCMAKE_INSTALL_PREFIX"
                || program != "cmake" && it.starts_with("--") && named(it)
        })
        && (USUAL.split(' ').any(|it| path_kind::below(&path, it))
            || path.starts_with("/usr/")
            || path.starts_with("/opt/"))
        && !path.contains("..")
}
