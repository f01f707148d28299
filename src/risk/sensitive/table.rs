//! The table of sensitive paths.
//!
//! A pattern is a lowercase path that matches the end of a path. `*` stands for any part of a name. A pattern that ends
//! in `/**` matches a folder and everything below it, anywhere in a path. A pattern that starts with `/` or `~` must
//! match from the start of a path.

/// Why a file is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sensitivity {
    /// It configures other programs, so that its content can make them run something later.
    Configuration,
    /// It contains keys or passwords, so that reading it is dangerous, too.
    Secret,
}

/// Patterns with the same rule. The first group in the table with a matching pattern counts.
pub(in crate::risk) struct PatternGroup {
    /// Id of the rule.
    pub(in crate::risk) rule: &'static str,
    pub(super) kind: Sensitivity,
    /// What writing such a file does, as a sentence without its subject.
    pub(in crate::risk) reason: &'static str,
    /// Patterns, separated by `|`.
    pub(super) patterns: &'static str,
}

const fn configuration(
    rule: &'static str,
    reason: &'static str,
    patterns: &'static str,
) -> PatternGroup {
    PatternGroup { rule, kind: Sensitivity::Configuration, reason, patterns }
}

const fn secret(rule: &'static str, reason: &'static str, patterns: &'static str) -> PatternGroup {
    PatternGroup { rule, kind: Sensitivity::Secret, reason, patterns }
}

pub(super) static GROUPS: [PatternGroup; 20] = [
    configuration(
        "write-git-link",
        "says where Git finds its hooks and settings, which run programs",
        ".git",
    ),
    configuration(
        "write-git-internals",
        "writes inside .git, where hooks and settings run programs and history lives",
        ".git/**|*.git/hooks/**|*.git/config|.jj/**|.hg/**",
    ),
    configuration(
        "write-git-settings",
        "writes settings of Git, which name programs that Git runs",
        ".gitattributes|.gitmodules|.gitconfig|.config/git/**|/etc/gitconfig|.hgrc",
    ),
    configuration(
        "write-hook",
        "writes a hook definition, which runs at a later commit or start",
        ".githooks/**|.husky/**|.pre-commit-config.yaml|.pre-commit-hooks.yaml|lefthook.yml|\
         lefthook.yaml|.lefthook/**|.claude/**|.codex/**|.gemini/**|.cursor/**|.mcp.json",
    ),
    configuration(
        "write-cargo-config",
        "writes Cargo's settings, which decide what every later build runs",
        ".cargo/**",
    ),
    configuration(
        "write-toolchain",
        "says which toolchain later builds load and run",
        "rust-toolchain|rust-toolchain.toml|.tool-versions|mise.toml|.mise.toml",
    ),
    secret("write-ssh", "writes SSH keys or settings", ".ssh/id_*|/etc/ssh/ssh_host_*"),
    configuration("write-ssh", "writes SSH keys or settings", ".ssh/**"),
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
    configuration(
        "write-credentials",
        "writes settings of a program that keeps keys or passwords",
        ".aws/**|.kube/**|.gnupg/**",
    ),
    configuration(
        "write-package-manager",
        "writes settings of a package manager, which decide what it loads and runs",
        ".npmrc|.yarnrc|.yarnrc.yml|.yarn/**|.pnpmfile.cjs|.pnpmfile.mjs|pip.conf|.pip/**|\
         .config/pip/**|.config/uv/**|.config/pypoetry/**|.condarc|.gemrc|.bundle/**|.m2/**|\
         .gradle/init.d/**|.gradle/init.gradle|.gradle/gradle.properties|gradle/wrapper/**|\
         .mvn/**|nuget.config|.composer/**|.config/composer/**|.config/go/**|.terraformrc|\
         .docker/**|.config/containers/**",
    ),
    configuration(
        "write-ci",
        "writes a workflow that runs with the repository's secrets",
        ".github/workflows/**|.github/actions/**|.gitea/workflows/**|.forgejo/workflows/**|\
         .gitlab-ci.yml|.gitlab/ci/**|.circleci/**|.buildkite/**|.woodpecker/**|.woodpecker.yml|\
         .travis.yml|.drone.yml|.cirrus.yml|.build.yml|.builds/**|.azure-pipelines/**|\
         azure-pipelines.yml|bitbucket-pipelines.yml|appveyor.yml|.appveyor.yml|cloudbuild.yaml|\
         jenkinsfile",
    ),
    configuration(
        "write-startup-file",
        "writes a file that every new shell runs",
        ".bashrc|.bash_profile|.bash_login|.bash_logout|.bash_aliases|.bash_completion|.profile|\
         .zshrc|.zprofile|.zshenv|.zlogin|.zlogout|.oh-my-zsh/**|.cshrc|.tcshrc|.login|.logout|\
         .kshrc|.mkshrc|.inputrc|.config/fish/**|.config/nushell/**|.config/powershell/**|\
         .config/starship.toml|.pam_environment|.config/environment.d/**|/etc/profile|\
         /etc/profile.d/**|/etc/environment",
    ),
    configuration(
        "write-envrc",
        "writes a file that direnv runs when a shell enters the folder",
        ".envrc|.config/direnv/**",
    ),
    configuration(
        "write-autostart",
        "writes what the desktop or the system starts by itself",
        ".config/autostart/**|.config/autostart-scripts/**|.config/systemd/**|\
         .local/share/systemd/**|.local/share/dbus-1/**|.local/share/applications/**|\
         .config/mimeapps.list|.config/plasma-workspace/**|.kde/autostart/**|.config/i3/**|\
         .config/sway/**|.config/hypr/**|.xinitrc|.xserverrc|.xprofile|.xsession|.xsessionrc|\
         launchagents/**|launchdaemons/**|start menu/programs/startup/**|/etc/cron*/**|\
         /etc/crontab|/var/spool/cron/**|/etc/systemd/**|~/bin/**|.local/bin/**",
    ),
    configuration(
        "write-editor-tasks",
        "writes settings of an editor or debugger, which can start programs",
        ".vscode/**|.vscode-server/**|.config/code/**|.devcontainer/**|.devcontainer.json|\
         .idea/**|.zed/**|.config/zed/**|.helix/**|.config/helix/**|.vimrc|.gvimrc|.vim/**|.exrc|\
         .nvimrc|.config/nvim/**|.emacs|.emacs.el|.emacs.d/**|.config/emacs/**|.dir-locals.el|\
         .nanorc|.config/tmux/**|.tmux.conf|.screenrc|.gdbinit|.config/gdb/**|.lldbinit",
    ),
    configuration(
        "write-program-settings",
        "writes a file that a program runs or obeys when it starts",
        ".psqlrc|.sqliterc|.irbrc|.pryrc|.pythonrc|.pdbrc|.rprofile|.ghci|.curlrc|.wgetrc|\
         .lesskey|sitecustomize.py|usercustomize.py|*.pth|*_history",
    ),
    configuration(
        "write-build-script",
        "writes a build script, which the next build runs",
        "build.rs|build.zig|setup.py|conftest.py|noxfile.py|wscript|sconstruct|meson.build|\
         cmakelists.txt|rakefile|justfile|.justfile|taskfile.yml|taskfile.yaml|binding.gyp|\
         build.gradle|build.gradle.kts|settings.gradle|settings.gradle.kts|flake.nix|shell.nix",
    ),
    configuration(
        "write-makefile",
        "writes a Makefile, which the next make runs",
        "makefile|gnumakefile|*.mk",
    ),
    configuration(
        "write-workspace-commands",
        "says which commands verify, compile and run the program",
        "countersign.toml",
    ),
];
