//! Code in the command line: what only computes is caution, and whatever could do more is dangerous.

use super::{level, verdict_on};
use crate::risk::RiskLevel;

#[test]
fn code_that_only_computes_and_prints_does_not_ask() {
    for command in [
        "python3 -c 'import math; print(math.pi)'",
        "python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'",
        "python3 -c \"import pandas as pd; print(pd.__version__)\"",
        "python3 -c \"print(f'{2 + 3:>5}')\"",
        "python3 -c \"rows = [r.split(',') for r in open('data/a.csv')]; print(len(rows))\"",
        "node -p 'Math.max(1, 2)'",
        "node -e \"const {length} = [1]; console.log(1)\" --version",
        "node -p \"require('./package.json').name\"",
        "deno eval 'console.log(Deno.build.os)'",
        "ruby -e 'puts [3, 1].sort.inspect'",
        "perl -i.bak -pe 's/old/new/g; s/a+/b/' notes.txt",
        "perl -e 'print 6 * 7, \"\\n\"'",
        "lua -e 'print(string.rep(\"ab\", 3))'",
        "php -r 'echo strtoupper(\"a\");'",
    ] {
        let verdict = verdict_on(command);
        let wanted = command.contains("length}");
        assert_eq!(verdict.level >= RiskLevel::Dangerous, wanted, "{command}: {}", verdict.rule);
        assert_ne!(verdict.level, RiskLevel::Safe, "{command}");
    }
}

#[test]
fn code_that_could_do_more_asks() {
    for command in [
        "python3 -c 'import os as platform; platform.system(\"id\")'",
        "python3 -c 'from os import system as print; print(\"id\")'",
        "python3 -c 'import sys; sys.path.insert(0, \"/tmp/x\"); import y'",
        "python3 -c 'print(open(\"a\", \"w\"))'",
        "python3 -c 'print(open(\"../a\").read())'",
        "python3 -c 'print(open(\".env.local\").read())'",
        "python3 -c 'o = open; o(\"a\", \"w\")'",
        "python3 -c 'print(().__class__)'",
        "python3 -c 'import os; print(os.environ)'",
        "python3 -c 'import os; print(os.environ[\"DB_PASSWORD\"])'",
        "python3 -c 'import notes; notes.clear()'",
        "python3 -c 'print(9**9**9)'",
        "python3 -c 'print(\"a\" * 10**10)'",
        "node -e '[].at.constructor(\"return 1\")()'",
        "node -e 'console[\"con\" + \"structor\"](\"x\")'",
        "node -e 'JSON.parse = console.log'",
        "node -e '(1 ? eval : 0)(\"x\")'",
        "node -e 'console.log(process.env.NPM_TOKEN)'",
        "node -e \"console.log(1) // it's\nprocess.kill(1) //'\"",
        "node -e 'require(\"./setup.js\")'",
        "node --require ./a.js -e 'console.log(1)'",
        "ruby -e 'puts \"#{`id`}\"'",
        "ruby -e 'puts %x(id)'",
        "ruby -ne 'print' '|id'",
        "lua -e 'os[\"exec\" .. \"ute\"](\"id\")'",
        "php -r '$f = \"system\"; $f(\"id\");'",
        "php -r '(\"sys\" . \"tem\")(\"id\");'",
        "perl -pi -e 's/a/b/' ~/notes.txt",
        "cd .. && perl -pi -e 's/a/b/' notes.txt",
        "perl -pe 's/a/unlink $_/e' notes.txt",
        "perl -pe 's/a/@{[`id`]}/' notes.txt",
        "perl -e 'print <*>'",
        "perl -e '&system(\"id\")'",
    ] {
        assert_eq!(level(command), RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
}
