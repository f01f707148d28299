//! Paths outside the working folder, printed secrets, and folders of this program.

use std::path::PathBuf;

use super::*;

/// The commands that are not dangerous by this rule.
fn faults(rule: &str, commands: &[&str]) -> Vec<String> {
    let verdicts = commands.iter().map(|command| (command, verdict_on(command)));
    verdicts
        .filter(|(_, found)| found.level < RiskLevel::Dangerous || found.rule != rule)
        .map(|(command, found)| format!("{command}: {} by {}", found.level.as_str(), found.rule))
        .collect()
}

/// The commands that are dangerous, with the rule.
fn dangerous(commands: &[&str]) -> Vec<String> {
    let verdicts = commands.iter().map(|command| (command, verdict_on(command)));
    verdicts
        .filter(|(_, found)| found.level >= RiskLevel::Dangerous)
        .map(|(command, found)| format!("{command}: {}", found.rule))
        .collect()
}

const NONE: Vec<String> = Vec::new();

#[test]
fn outside_paths_are_dangerous_for_any_program() {
    let commands = [
        "frobnicate ~/Music",
        "frobnicate --report=/home/eve/x",
        "frobnicate --report /srv/x",
        "frobnicate -r/home/eve/x",
        "frobnicate -vr$HOME/x",
        "frobnicate out=/mnt/x",
        "frobnicate a,/var/lib/x",
        "frobnicate file:///home/eve/x",
        "frobnicate ../sibling/*.dat",
        "frobnicate a/../../b",
        "frobnicate $XDG_CONFIG_HOME/x",
        "frobnicate /tmp/.hidden/x",
        "frobnicate --plugin /tmp/x.so",
        "frobnicate $(ls -d ~/Music)",
        "frobnicate \"$(echo ~/Music)\"",
        "ls -d ~/Music/* | xargs frobnicate",
        "frobnicate - <<< /home/eve/x",
        "nice frobnicate ~/Music",
        "cd ~/Music && frobnicate",
        "cd; frobnicate",
        "(cd ../other; make)",
        "FROB_OUT=/home/eve/x frobnicate",
        "env FROB_OUT=~/x frobnicate",
        "export FROB_OUT=/srv/x",
        "for f in ~/Music/*; do frobnicate \"$f\"; done",
        "ls ~/Music | while read -r f; do frobnicate \"$f\"; done",
        "ln -s ~/Music m; frobnicate m/x",
        "echo x > ~/Music/x",
        "echo x > \"$(echo ~/x)\"",
        "cat a >> ../x",
        "gcc main.c -o ~/x",
        "cp a b ~/Music",
        "cp -t ~/Music a",
        "tar xf a.tar -C ~/Music",
        "tar -cf ../a.tar src",
        "tar --extract --file a.tar --directory=/home/eve",
        "unzip a.zip -d ~/Music",
        "git clone . ~/x",
        "docker run -v ~/Music:/m alpine",
        "python3 tool.py --out ~/x",
        "bash tool.sh ~/x",
        "sudo frobnicate /usr/lib/x",
    ];
    assert_eq!(faults("elsewhere", &commands), NONE);
}

#[test]
fn outside_paths_may_be_read() {
    let commands = [
        "cp ~/Downloads/a.csv data/",
        "cp --recursive ../template .",
        "rsync -a --progress ~/Pictures/trip/ trip/",
        "ln -s ../shared/a a",
        "tar xzf ~/Downloads/a.tgz",
        "tar czf /tmp/a.tgz src",
        "unzip ~/Downloads/a.zip -d vendor",
        "gcc -I../include -L/opt/x/lib -c ../src/a.c -o a.o",
        "cmake -S ../src -B build",
        "python3 ~/tools/report.py --out report.csv",
        "ffmpeg -i ~/Videos/a.mp4 a.mp3",
        "pandoc ~/a.md -o a.pdf",
        "pip install -r ../requirements.txt",
        "kubectl --kubeconfig ~/.kube/dev get pods",
        "ssh -i ~/.ssh/key host uptime",
        "docker run --rm -v \"$PWD\":/src -w /home/node/app node:20 npm test",
        "docker run -v ~/data:/data:ro alpine ls",
        "docker cp web:/var/log/a.log .",
        "frobnicate --input ~/Music/a",
        "frobnicate /usr/share/dict/words",
        "frobnicate --out /tmp/x",
        "frobnicate < ~/a",
        "frobnicate > /dev/null",
        "./configure --prefix=/usr/local",
        "cd src && cd .. && frobnicate",
        "mkdir -p build && cd build && cmake ..",
        "aws logs tail /aws/lambda/x",
        "gh api /repos/a/b",
        "bazel test //...",
        "curl https://example.com/etc/x",
        "git commit -m 'Read /etc/hosts'",
        "frobnicate HEAD~3 a~ main..next",
        "npm test -- -t '/home page'",
        "PYTHONPATH=src pytest",
        "export PATH=\"$PWD/node_modules/.bin:$PATH\"",
    ];
    assert_eq!(dangerous(&commands), NONE);
    for command in ["cat ~/notes.txt", "ls ..", "grep -rn x /etc/hosts", "find ~ -name '*.rs'"] {
        assert_eq!(level(command), RiskLevel::Safe, "{command}");
    }
}

#[test]
fn printing_secrets_is_dangerous() {
    let variables = [
        "printenv STRIPE_API_KEY",
        "printenv STRIPE_API_KEY 2>/dev/null",
        "echo $SLACK_TOKEN",
        "printf '%s' \"$DB_PASSWORD\" | base64",
        "cat <<< \"$MY_SECRET\"",
        "declare -p GH_TOKEN",
        "awk 'BEGIN { print ENVIRON[\"NPM_TOKEN\"] }'",
        "jq -n 'env.NPM_TOKEN'",
        "env | grep -i secret",
        "set | grep PASSWORD",
    ];
    assert_eq!(faults("prints-secret", &variables), NONE);
    let files = [
        "wc -c ~/.aws/credentials",
        "nl ~/.netrc",
        "wc < ~/.ssh/id_rsa",
        "sha1sum ~/.pgpass 2> /dev/null",
    ];
    assert_eq!(faults("reads-secrets", &files), NONE);
    for command in ["env", "printenv", "set", "export -p", "declare -x", "jq -n env", "env | sort"]
    {
        assert_eq!(level(command), RiskLevel::Caution, "{command}");
    }
    for command in ["printenv PATH", "echo $HOME", "env | grep -i path", "ls -l ~/.ssh/id_rsa"] {
        assert_eq!(level(command), RiskLevel::Safe, "{command}");
    }
    let piped = [
        "echo \"$REGISTRY_TOKEN\" | docker login -u me --password-stdin",
        "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com",
        "[ -n \"$TOKEN\" ]",
    ];
    assert_eq!(dangerous(&piped), NONE);
}

#[test]
fn fetching_and_running_unknown_packages_is_dangerous() {
    let fetched = ["npx left-padder", "npx -y left-padder@2", "pnpm dlx x", "uvx x", "pipx run x"];
    assert_eq!(faults("runs-fetched", &fetched), NONE);
    let known = [
        "npx tsc",
        "npx -y prettier@3 -w src",
        "bunx vite",
        "uvx ruff check",
        "npx @angular/cli new a",
    ];
    assert_eq!(dangerous(&known), NONE);
}

#[test]
fn further_commands_that_run_or_delete_are_dangerous() {
    for command in [
        "git diff HEAD | git apply --reverse",
        "git show HEAD:a.rs > a.rs",
        "sort a.txt > a.txt",
        "git -c gpg.program=./x commit -S -m x",
        "git push --receive-pack='sh -c x' origin main",
        "git fetch origin +main:main",
        "sqlite3 a.db '.import x y'",
        "sqlite3 a.db \"select writefile('x', 'y')\"",
        "sqlite3 a.db \"vacuum into '/home/eve/x'\"",
        "pip uninstall -y requests",
        "npm rm -g typescript",
        "apt-get -o APT::Get::AllowUnauthenticated=true install x",
        "frobnicate queue remove main",
        "frobnicate --reset-offsets",
        "frobnicate serve --token=",
        "frobnicate run --pre-hook 'rm -rf build'",
        "x=a_b; eval \"${x//_/ }\"",
        "coproc bash; echo ls >&\"${COPROC[1]}\"",
        "typeset -i k; k='a[$(ls)]'",
        "shopt -s expand_aliases; alias w=rm\nw -rf src",
        "env -- A=1 chmod 0 ~/x",
        "octave --eval 'delete x'",
        "run-parts scripts",
    ] {
        assert!(level(command) >= RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
    let everyday = [
        "git apply fix.patch",
        "git show HEAD:a.rs > old.rs",
        "sort a.txt > b.txt",
        "git -c user.name=x commit -m y",
        "git fetch origin main",
        "sqlite3 a.db 'select 1'",
        "npm uninstall lodash",
        "frobnicate queue list",
        "echo ${BRANCH//\\//-}",
        "alias ll='ls -l'",
        "nodemon --exec 'ts-node src/index.ts'",
    ];
    assert_eq!(dangerous(&everyday), NONE);
}

#[test]
fn naming_an_own_folder_is_dangerous() {
    let own =
        [PathBuf::from("/home/u/.config/countersign"), "/home/u/.local/share/countersign".into()];
    let rules = UserRules::default();
    let surroundings = Surroundings { own_folders: &own, ..Surroundings::NONE };
    let rule =
        |command: &str| of_local_command(command, Shell::Bash, &rules, surroundings, &[]).rule;
    for command in [
        "cat ~/.config/countersign/settings.toml",
        "ls /home/u/.config/countersign",
        "ls /home/u//.config/./Countersign/",
        "ls $HOME/.config/countersign",
        "ls $XDG_CONFIG_HOME/countersign",
        "ls /home/*/.config/countersign",
        "ls ~/.config/counter*",
        "ls ../../.config/countersign",
        "cd ~/.config && cat countersign/key",
        "grep -r x --include=a ~/.local/share/countersign",
        "wc -l < ~/.config/countersign/key",
        "cat /proc/self/root/home/u/.config/countersign/key",
        "foo --db=/home/u/.local/share/countersign/evidence.db",
        "d=~/.config; ls $d/countersign",
        "python3 -c 'open(\"/home/u/.config/countersign/key\")'",
    ] {
        let found = of_local_command(command, Shell::Bash, &rules, surroundings, &[]);
        assert!(found.level >= RiskLevel::Dangerous, "{command}: {}", found.rule);
    }
    assert_eq!(rule("cat ~/.config/countersign/key"), "own-folder");
    for command in ["ls ~/.config", "cat /usr/share/countersign/x", "ls src/countersign", "ls ~"] {
        assert_ne!(rule(command), "own-folder", "{command}");
    }
}
