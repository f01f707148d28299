//! The rows of the table of sensitive paths.
//!
//! A pattern is a lowercase path that matches the end of a path; `*` stands for any part of one name, and a `**` at
//! the end for the folder and everything below it. A pattern with a leading `/` or `~` matches the whole path.

/// Why a file is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It configures other programs: what is written there runs later.
    Obeyed,
    /// It contains keys or passwords: reading it is dangerous, too.
    Secret,
}

/// Rows with the same rule, in the order in which they are tried.
pub(in crate::risk) struct Rows {
    /// Id of the rule.
    pub(in crate::risk) rule: &'static str,
    pub(super) used: Use,
    /// What writing such a file does, as the end of a sentence.
    pub(in crate::risk) reason: &'static str,
    /// Patterns, separated by `|`.
    pub(super) patterns: &'static str,
}

const fn obeyed(rule: &'static str, reason: &'static str, patterns: &'static str) -> Rows {
    Rows { rule, used: Use::Obeyed, reason, patterns }
}

const fn secret(rule: &'static str, reason: &'static str, patterns: &'static str) -> Rows {
    Rows { rule, used: Use::Secret, reason, patterns }
}

pub(super) static ROWS: [Rows; 20] = [
    obeyed(
        "write-git-link",
        "says where Git finds its hooks and settings, which run programs",
        ".git",
    ),
    obeyed(
        "write-git-internals",
        "writes inside .git, where hooks and settings run programs and history lives",
        ".git/**|*.git/hooks/**|*.git/config|.jj/**|.hg/**",
    ),
    obeyed(
        "write-git-settings",
        "writes settings of Git, which name programs that Git runs",
        ".gitattributes|.gitmodules|.gitconfig|.config/git/**|/etc/gitconfig|.hgrc",
    ),
    obeyed(
        "write-hook",
        "writes a hook definition, which runs at a later commit or start",
        ".githooks/**|.husky/**|.pre-commit-config.yaml|.pre-commit-hooks.yaml|lefthook.yml|\
         lefthook.yaml|.lefthook/**|.claude/**|.codex/**|.gemini/**|.cursor/**|.mcp.json",
    ),
    obeyed(
        "write-cargo-config",
        "writes Cargo's settings, which decide what every later build runs",
        ".cargo/**",
    ),
    obeyed(
        "write-toolchain",
        "says which toolchain later builds load and run",
        "rust-toolchain|rust-toolchain.toml|.tool-versions|mise.toml|.mise.toml",
    ),
    secret("write-ssh", "writes SSH keys or settings", ".ssh/id_*|/etc/ssh/ssh_host_*"),
    obeyed("write-ssh", "writes SSH keys or settings", ".ssh/**"),
    secret(
        "write-credentials",
        "writes a file that keeps keys or passwords",
        ".aws/credentials|.kube/config|.gnupg/private-keys*/**|.gnupg/secring*/**|\
         .password-store/**|.local/share/keyrings/**|.netrc|_netrc|.pgpass|.my.cnf|.mylogin.cnf|\
         .git-credentials|.config/git/credentials|.docker/config.json|\
         .config/containers/auth.json|.vault-token|.config/gh/hosts.yml|.config/gcloud/**|\
         .azure/accesstokens*|.azure/msal_token*|keychains/**|logins.json|key4.db|login data|\
         wallet.dat|*.kdbx|.pypirc|.cargo/credentials|.cargo/credentials.toml|/etc/shadow|\
         /etc/shadow-|/etc/gshadow|/etc/gshadow-|/etc/master.passwd|/etc/security/opasswd|\
         /etc/ssl/private/**|/etc/krb5.keytab|/var/run/secrets/**|/run/secrets/**",
    ),
    obeyed(
        "write-credentials",
        "writes settings of a program that keeps keys or passwords",
        ".aws/**|.kube/**|.gnupg/**",
    ),
    obeyed(
        "write-package-manager",
        "writes settings of a package manager, which decide what it loads and runs",
        ".npmrc|.yarnrc|.yarnrc.yml|.yarn/**|.pnpmfile.cjs|.pnpmfile.mjs|pip.conf|.pip/**|\
         .config/pip/**|.config/uv/**|.config/pypoetry/**|.condarc|.gemrc|.bundle/**|.m2/**|\
         .gradle/init.d/**|.gradle/init.gradle|.gradle/gradle.properties|gradle/wrapper/**|\
         .mvn/**|nuget.config|.composer/**|.config/composer/**|.config/go/**|.terraformrc|\
         .docker/**|.config/containers/**",
    ),
    obeyed(
        "write-ci",
        "writes a workflow that runs with the repository's secrets",
        ".github/workflows/**|.github/actions/**|.gitea/workflows/**|.forgejo/workflows/**|\
         .gitlab-ci.yml|.gitlab/ci/**|.circleci/**|.buildkite/**|.woodpecker/**|.woodpecker.yml|\
         .travis.yml|.drone.yml|.cirrus.yml|.build.yml|.builds/**|.azure-pipelines/**|\
         azure-pipelines.yml|bitbucket-pipelines.yml|appveyor.yml|.appveyor.yml|cloudbuild.yaml|\
         jenkinsfile",
    ),
    obeyed(
        "write-startup-file",
        "writes a file that every new shell runs",
        ".bashrc|.bash_profile|.bash_login|.bash_logout|.bash_aliases|.bash_completion|.profile|\
         .zshrc|.zprofile|.zshenv|.zlogin|.zlogout|.oh-my-zsh/**|.cshrc|.tcshrc|.login|.logout|\
         .kshrc|.mkshrc|.inputrc|.config/fish/**|.config/nushell/**|.config/powershell/**|\
         .config/starship.toml|.pam_environment|.config/environment.d/**|/etc/profile|\
         /etc/profile.d/**|/etc/environment",
    ),
    obeyed(
        "write-envrc",
        "writes a file that direnv runs when a shell enters the folder",
        ".envrc|.config/direnv/**",
    ),
    obeyed(
        "write-autostart",
        "writes what the desktop or the system starts by itself",
        ".config/autostart/**|.config/autostart-scripts/**|.config/systemd/**|\
         .local/share/systemd/**|.local/share/dbus-1/**|.local/share/applications/**|\
         .config/mimeapps.list|.config/plasma-workspace/**|.kde/autostart/**|.config/i3/**|\
         .config/sway/**|.config/hypr/**|.xinitrc|.xserverrc|.xprofile|.xsession|.xsessionrc|\
         launchagents/**|launchdaemons/**|start menu/programs/startup/**|/etc/cron*/**|\
         /etc/crontab|/var/spool/cron/**|/etc/systemd/**|~/bin/**|.local/bin/**",
    ),
    obeyed(
        "write-editor-tasks",
        "writes settings of an editor or debugger, which can start programs",
        ".vscode/**|.vscode-server/**|.config/code/**|.devcontainer/**|.devcontainer.json|\
         .idea/**|.zed/**|.config/zed/**|.helix/**|.config/helix/**|.vimrc|.gvimrc|.vim/**|.exrc|\
         .nvimrc|.config/nvim/**|.emacs|.emacs.el|.emacs.d/**|.config/emacs/**|.dir-locals.el|\
         .nanorc|.config/tmux/**|.tmux.conf|.screenrc|.gdbinit|.config/gdb/**|.lldbinit",
    ),
    obeyed(
        "write-program-settings",
        "writes a file that a program runs or obeys when it starts",
        ".psqlrc|.sqliterc|.irbrc|.pryrc|.pythonrc|.pdbrc|.rprofile|.ghci|.curlrc|.wgetrc|\
         .lesskey|sitecustomize.py|usercustomize.py|*.pth|*_history",
    ),
    obeyed(
        "write-build-script",
        "writes a build script, which the next build runs",
        "build.rs|build.zig|setup.py|conftest.py|noxfile.py|wscript|sconstruct|meson.build|\
         cmakelists.txt|rakefile|justfile|.justfile|taskfile.yml|taskfile.yaml|binding.gyp|\
         build.gradle|build.gradle.kts|settings.gradle|settings.gradle.kts|flake.nix|shell.nix",
    ),
    obeyed(
        "write-makefile",
        "writes a Makefile, which the next make runs",
        "makefile|gnumakefile|*.mk",
    ),
    obeyed(
        "write-workspace-commands",
        "says which commands verify, compile and run the program",
        "countersign.toml",
    ),
];
