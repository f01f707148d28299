//! Programs, code and pipes in options and operands.

use super::verdict_on;
use crate::plan::RiskLevel;

#[test]
fn embedded_programs_and_code_are_dangerous() {
    for command in [
        "svn log --diff --diff-cmd=/tmp/x.sh",
        "gpg --photo-viewer 'cp %i ~/.config/autostart/x' --list-keys",
        "tar xf a.tar --to-comm=sh",
        "tar xf a.tar --to-comm sh",
        "hg --config alias.st='!id' st",
        "hg --config extensions.e=/tmp/e.py log",
        "hg --config ui.color=never --config alias.st=log st",
        "jj --config ui.pager=/tmp/x log",
        "sometool --config hooks.post='!rm x' run",
        "strace -qo '|sh -c id' true",
        "perf record -o '|sh' ls",
        "cmake -P <(echo 'x')",
        "pandoc -L <(echo 'x') a.md",
        "nvim --headless -l <(echo 'x')",
        "pylint --init-hook='import os;os.system(\"id\")' pkg",
        "groff -U <<< '.sy rm -rf ~/x'",
        "gp -q <<< 'system(\"rm -rf ~/x\")'",
        "fzf --bind 'start:execute-silent(rm -rf ~/x)+abort'",
        "fzf --preview 'rm -rf ~/x'",
        "chezmoi execute-template '{{ output \"rm\" \"-rf\" \"/home/me/x\" }}'",
        "tcpserver 0 9999 sh",
        "inetsh 9999 /bin/bash",
        "launchx 'rm -rf ~/x' y",
        "mosh --ssh='sh -c \"rm -rf ~/x\"' host",
        "gh extension install someone/gh-log && gh log",
        "hyperfine --export-json ~/.bashrc true",
        "luarocks install --tree=/usr/local json",
    ] {
        let verdict = verdict_on(command);
        assert!(verdict.level >= RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}

#[test]
fn similar_options_without_embedded_code() {
    for command in [
        "svn diff --diff-cmd colordiff",
        "hg --config ui.color=never log",
        "hg log --config extensions.graphlog= -G",
        "jj --config ui.paginate=never log",
        "cargo --config net.offline=true build",
        "pandoc --filter pandoc-crossref a.md -o a.pdf",
        "pandoc --lua-filter filters/x.lua a.md -o a.html",
        "pylint --init-hook='import sys; sys.path.append(\"src\")' pkg",
        "fzf --bind 'ctrl-o:execute(vim {})' --preview 'bat --color=always {}'",
        "mytool completion bash",
        "foo init zsh",
        "nix develop --command bash",
        "apptainer exec --bind /data tools.sif samtools view in.bam",
        "gh extension install dlvhdr/gh-dash",
        "gh extension install github/gh-copilot && gh copilot",
        "hyperfine --export-json out.json 'ls' 'ls -la'",
        "gh issue create --title x --body 'it calls system(\"rm -rf ~/x\")'",
    ] {
        let verdict = verdict_on(command);
        assert!(verdict.level < RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}
