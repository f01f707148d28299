//! Code in the command line: computing is caution, anything else is dangerous.

use super::{level, verdict_on};
use crate::plan::RiskLevel;

#[test]
fn computing_and_printing_code_is_caution() {
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
fn other_inline_code_is_dangerous() {
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

#[test]
fn code_may_import_modules_and_compute() {
    for command in [
        "python3 -c \"from shop.models import Order; print(Order.objects.count())\"",
        "python3 -c 'import torch; print(torch.cuda.is_available())'",
        "python3 -X dev -W ignore -c 'import inventory'",
        "python3 -c 'import http; print(http.HTTPStatus.OK.value)'",
        "python3 -m timeit -n 10 '[x for x in range(9)]'",
        "python3 manage.py shell -c 'from shop.models import Order; print(Order.objects.count())'",
        "python3 - <<'END'\nimport shop\nprint(shop.total([1, 2]))\nEND",
        "node -e 'require(\"./setup.js\")'",
        "node -e 'const c = require(\"./vite.config.js\"); console.log(c.server.port / 10)'",
        "ruby -Ilib -Itest test/cart_test.rb",
        "ruby -Ilib -e 'require \"shop\"; puts 1'",
        "julia --project=. -e 'using Shop; println(Shop.total([1, 2]))'",
        "Rscript --vanilla -e 'lintr::lint_dir(\"R\")'",
        "perl -ne '$n++ until /end/; END { print \"$n\\n\" }' notes.txt",
    ] {
        let verdict = verdict_on(command);
        assert_eq!(verdict.level, RiskLevel::Caution, "{command}: {}", verdict.rule);
    }
}

#[test]
fn code_with_effects_is_dangerous() {
    for command in [
        "python3 -c 'from shop.models import Order; Order.objects.all().delete()'",
        "python3 -c 'import requests; print(requests.get(\"h\").text)'",
        "python3 -c 'import requests as r; print(r)'",
        "python3 -c 'from http import client; client.HTTPConnection(\"h\")'",
        "python3 -c 'import socket; socket.create_connection((\"h\", 80))'",
        "python3 -c 'import shop; (shop.f if 1 else 0)(1)'",
        "python3 -c 'import shop; [shop.f][0](1)'",
        "python3 -c 'import shop; shop.run_all()'",
        "python3 -c 'import shop; shop.clearCache()'",
        "python3 -c 'import shop; print(shop.load(\"/srv/a\"))'",
        "python3 -c 'import shop; vars(shop)'",
        "python3 -c 'import shop; shop.show(\"~/.ssh/id_rsa\")'",
        "python3 -m timeit -s 'import shop' 'shop.wipe()'",
        "python3 manage.py shell -c 'from shop.models import Order; Order.objects.update(a=1)'",
        "python3 - <<'END'\nimport shop\nshop.destroy()\nEND",
        "node -e 'require(\"child_\" + \"process\")'",
        "node -e 'const x = require(\"rimraf\"); x(\"src\")'",
        "node -e 'require(process.argv[1])'",
        "node -e 'console.log(1)' -e 'process.chdir(\"x\")'",
        "node -e 'fetch(\"h\")'",
        "ruby -I/srv/lib -e 'puts 1'",
        "ruby -e 'require \"shop\"; send(:puts, 1)'",
        "python3 -c 'import os; os.replace(\"a\", \"b\")'",
        "python3 -c 'from os import replace as r; r(\"a\", \"b\")'",
        "python3 -c 'import io; io.FileIO(\"a\", \"w\")'",
        "python3 -c 'import numpy as np; np.savetxt(\"a\", [1])'",
        "node -e 'Object.values(require(\"fs\")).map(f => f(\"x\"))'",
        "Rscript -e 'cat(\"x\", file=\"b\")'",
        "julia -e 'rm(\"x\")'",
        "julia -e 'println(\"$(rm(1))\")'",
        "Rscript -e 'unlink(\"x\", recursive=TRUE)'",
        "Rscript -e 'get(\"system\")(\"id\")'",
        "lua -e 'os.remove(\"x\")'",
        "perl -MFile::Path -e 'rmtree(\"x\")'",
    ] {
        assert_eq!(level(command), RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
    let long = format!("python3 -c 'print(1){}'", "; print(1)".repeat(60));
    assert!(level(&long) <= RiskLevel::Caution, "what only computes may be long");
    let long = format!("python3 -c 'import shop; {}'", "shop.f(1); ".repeat(60));
    assert_eq!(level(&long), RiskLevel::Dangerous);
}

// Code that uses only harmless names, and still accesses files, hosts or other code.
#[test]
fn code_may_name_only_what_is_listed() {
    for command in [
        "python3 -c 'import logging; logging.basicConfig(filename=\"a.py\")'",
        "python3 -c 'import doctest; doctest.testfile(\"a\")'",
        "python3 -c 'import code; code.InteractiveConsole().runcode(\"1\")'",
        "python3 -c 'import compileall as c; c.compile_dir(\"src\")'",
        "python3 -c 'import xmlrpc.client as x; x.ServerProxy(\"h\").go()'",
        "python3 -c 'import numpy; numpy.memmap(\"a\", mode=\"w+\")'",
        "python3 -c 'import pandas as p; p.DataFrame().to_csv(\"a\")'",
        "python3 -c 'import pandas as p; p.DataFrame().to_string(\"a\")'",
        "python3 -c 'import pandas as p; p.DataFrame().query(\"@x.y()\")'",
        "python3 -c 'from pathlib import Path; Path(\"a\").replace(\"b\")'",
        "python3 -c 'import shop, mailbox; mailbox.mbox(\"a\").discard(1)'",
        "python3 -c 'import shop, os; os.nice(5)'",
        "python3 -c 'import shop, os; x = os; x.nice(5)'",
        "python3 -c 'import os; [f for f in dir(os)]'",
        "python3 -c 'import antigravity'",
        "node -e 'module.require(\"fs\")'",
        "node -e 'require(\"fs\").openSync(\"a\", \"w\")'",
        "node -e 'require(\"./a.js\"); process.umask(0)'",
        "node -e 'const f = require(\"fs\"); Object.values(f).forEach(g => g(\"a\"))'",
        "node -e 'setTimeout(\"x\", 1)'",
        "bun -e 'await Bun.write(\"a\", \"\")'",
        "perl -e 'print readpipe \"id\"'",
        "perl -pe 'mkdir \"x\"' notes.txt",
        "perl -ne 'BEGIN { @ARGV = (\"x\") } print' notes.txt",
        "perl -e 'tie @a, \"Tie::File\", \"a\"'",
        "perl -e '$SIG{ALRM} = \"x\"; print 1'",
        "ruby -e 'puts File.read(\"../a\")'",
        "ruby -e 'f = File; f.chmod(0, \"a\")'",
        "php -r 'echo file_get_contents(\"/etc/a\");'",
        "ruby -e 'File.new(\"a\", \"w\")'",
        "ruby -e 'require \"pstore\"; PStore.new(\"a\")'",
        "ruby -e 'require \"shop\"; Dir.chdir(\"a\")'",
        "php -r 'new SplFileObject(\"a\", \"w\");'",
        "php -r 'iterator_apply($x, \"y\");'",
        "lua -e 'io.output(\"a\")'",
        "lua -e 'for k, v in pairs(os) do v(\"a\") end'",
        "Rscript -e 'sapply(\"a\", file.create)'",
        "Rscript -e 'library(shop); pdf(\"a\")'",
        "Rscript -e 'tools::Rcmd(\"a\")'",
        "julia -e 'using Pkg; Pkg.add(\"x\")'",
        "julia -e 'include(\"a.jl\")'",
        "awk '{ print >> \"out/\" $1 }' notes.txt",
        "awk '{ print > \"out/../../a\" }' notes.txt",
    ] {
        assert_eq!(level(command), RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
}

#[test]
fn code_with_listed_names_is_caution() {
    for command in [
        "python3 -c 'import math; print(math.degrees(math.atan2(1, 2)))'",
        "python3 -c 'from pathlib import Path; print(len(Path(\"notes.txt\").read_text().split()))'",
        "python3 -c 'import pandas as p; d = p.read_parquet(\"d/a.parquet\"); print(d.dtypes, len(d))'",
        "python3 -c 'import statistics as s; print(s.quantiles([1, 2, 3]))'",
        "python3 -c 'import os; print(sorted(os.listdir(\"src\")))'",
        "node -p '[3, 1].toSorted().join()'",
        "node -e 'process.stdout.write(String(6 * 7))'",
        "perl -e 'print \"-\" x 40'",
        "ruby -e 'puts [1, 2].each_cons(2).to_a.inspect'",
        "ruby -rjson -e 'puts JSON.parse(File.read(\"a.json\")).size'",
        "php -r 'print_r(json_decode(file_get_contents(\"a.json\"), true));'",
        "node -p 'require.resolve(\"react\")'",
        "julia --project -e 'using Pkg; Pkg.test()'",
        "Rscript -e 'print(mean(c(1, 2, 3)))'",
        "julia -e 'println(sum([1, 2]))'",
        "awk '{ print > \"out.txt\" }' notes.txt",
    ] {
        assert_eq!(level(command), RiskLevel::Caution, "{command}: {}", verdict_on(command).rule);
    }
}

// A name bound in one part of the code keeps its original meaning in the rest.
#[test]
fn locally_bound_names_are_unknown_elsewhere() {
    for command in [
        "ruby -e '[1].each { |spawn| }; spawn \"id\"'",
        "lua -e 'do local load = 1 end load(\"x\")'",
        "node -e '(fetch => 1); fetch(\"h\")'",
        "python3 -c '[0 for help in [1]]; help()'",
        "python3 -c 'import os; [0 for getattr in [1]]; print(getattr(os.path, \"os\"))'",
        "perl -e 'print for unlink \"a\"'",
        "Rscript -e 'Map(\"file.create\", \"a\")'",
        "python3 -c 'from pathlib import Path; Path(\"a\").open(\"w\")'",
        "python3 -c 'from pathlib import Path; print(Path(\"a\").parent.parent.read_text())'",
        "node -e 'const a = require(\"./a.js\"); a.f(fs)'",
        "julia -e 'using Shop; Shop.Base.f()'",
    ] {
        assert_eq!(level(command), RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
    for command in [
        "python3 -c 'f = lambda x: x * 2; print(f(3))'",
        "python3 -c 'from math import sqrt; print(sqrt(2))'",
        "node -e 'const f = (x, y) => x * y; console.log(f(3, 4))'",
        "node -e 'const total = require(\"./total.js\"); console.log(total([1]))'",
    ] {
        assert_eq!(level(command), RiskLevel::Caution, "{command}: {}", verdict_on(command).rule);
    }
}

// Code in patterns, strings, comments, subscripts and skipped lines, and calls of names that are bound in another
// scope.
#[test]
fn hidden_inline_code_is_dangerous() {
    let commands = include_str!("../../../../tests/fixtures/risk/inline_code.txt");
    for command in commands.lines() {
        let verdict = verdict_on(command);
        assert!(verdict.level >= RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}
