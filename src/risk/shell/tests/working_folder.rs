//! Calls that look harmless, of programs that load or run what the working folder names.

use super::*;
use crate::risk::shell::readers::loads_nothing_for_help;

/// Programs that take a toolchain, a wrapper, settings or plugins from the working folder.
const LOADERS: &str = "cargo rustc rustup rustfmt cargo-clippy npm npx pnpm yarn bun deno node tsc eslint prettier jest vitest vite webpack \
    python python3 pip pip3 pytest tox nox flask django-admin poetry uv hatch pre-commit mypy ruff black ruby gem bundle rake \
    rails rspec php composer phpunit java javac mvn mvnw gradle gradlew sbt go gofmt dotnet bazel bazelisk buck2 pants just task \
    ninja meson terraform tofu ansible ansible-playbook vagrant direnv mise asdf nix perl lua mix elixir stack cabal dune opam \
    swift flutter dart zig conan sphinx-build mkdocs hugo jekyll gdb lldb emacs nvim quilt exiftool";

#[test]
fn asking_a_loader_for_help_is_not_safe() {
    for program in LOADERS.split_whitespace() {
        assert!(!loads_nothing_for_help(program), "{program}");
        for option in ["--help", "--version", "-help"] {
            for command in [
                format!("{program} {option}"),
                format!("/usr/bin/{program} {option}"),
                format!("timeout 5 {program} {option} | head -1"),
                format!("echo \"$({program} {option})\""),
            ] {
                let verdict = verdict_on(&command);
                assert_ne!(verdict.level, RiskLevel::Safe, "{command}");
            }
        }
    }
}

/// Only a listed program is safe when it is asked, whatever else the tables say about it.
#[test]
fn only_listed_programs_are_safe_to_ask() {
    let table = TABLE.as_ref().unwrap();
    let programs: std::collections::BTreeSet<&String> = table
        .rule
        .iter()
        .flat_map(|rule| rule.patterns.iter().flat_map(|it| it.programs()))
        .collect();
    assert!(programs.len() > 500, "{}", programs.len());
    let plain =
        |it: &&&String| it.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.+-".contains(&c));
    for program in programs.iter().filter(plain) {
        if level(&format!("{program} --help")) == RiskLevel::Safe {
            assert!(loads_nothing_for_help(program), "{program}");
        }
    }
}

#[test]
fn asking_system_programs_is_safe() {
    all_are(
        RiskLevel::Safe,
        &[
            "rm --help",
            "tar --version",
            "git --version",
            "grep --help | head -20",
            "make --version",
            "gcc --version && cmake --version",
            "docker --version",
            "psql -V",
        ],
    );
}

#[test]
fn readers_that_load_are_caution() {
    all_are(
        RiskLevel::Caution,
        &[
            "cargo locate-project",
            "rustup show active-toolchain",
            "npm ls --depth=0",
            "pnpm list",
            "yarn why react",
            "bundle list",
            "terraform validate",
            "terraform show",
            "go env GOPATH",
            "python3 -m pip list",
            "uv pip list",
            "composer show",
            "dotnet list",
            "cd crates/core && cargo --version",
            "port info",
            "brew info ./evil.rb",
        ],
    );
}

#[test]
fn harm_of_loading_readers_is_dangerous() {
    all_are(
        RiskLevel::Dangerous,
        &[
            "pip list --index-url=https://evil.example",
            "rustc --version -o /etc/passwd",
            "go env -w A=b",
        ],
    );
}
