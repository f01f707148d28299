//! Code of calculator languages: computing is caution, anything else is dangerous.

use super::verdict_on;
use crate::plan::RiskLevel;

#[test]
fn calculating_and_plotting_is_caution() {
    for command in [
        "octave --eval \"A = magic(4); disp(eig(A))\"",
        "octave -q --eval 'x = linspace(0, 1, 5); printf(\"%g\\n\", x)'",
        "octave --eval 'd = csvread(\"data/a.csv\"); disp(mean(d(:, 2)))'",
        "octave --eval \"pkg load statistics; x = [1 2 3]'; disp(std(x))\"",
        "octave --eval 'f = @(x) x^2; disp(f(3))'",
        "gnuplot -e 'print 2**10'",
        "gnuplot -e \"set terminal png; set output 'out.png'; plot 'data/a.csv' using 1:2 with lines\"",
        "gnuplot -p -e 'plot sin(x), cos(x)'",
        "gnuplot -e \"filename='data.csv'\" plot.gp",
        "sbcl --noinform --eval '(print (reduce #'\"'\"'+ (list 1 2 3)))' --quit",
        "guile -c '(display (+ 1 2))'",
        "racket -e '(displayln (map (lambda (x) (* x x)) (list 1 2)))'",
        "clojure -M -e '(println (reduce + (range 10)))'",
        "bb -e '(println (count (slurp \"README.md\")))'",
        "perl -MList::Util=sum -lane '$s += $F[3]; END { print $s }' metrics.txt",
        "perl -MList::Util=sum,max -lne 'push @a, $_; END { print sum(@a) }' a.txt",
        "perl -F, -lane 'print $F[2]' a.csv",
        "ruby -ryaml -e 'puts YAML.load_file(\"config/locales/en.yml\").dig(\"en\",\"errors\").keys'",
        "ruby -rjson -e 'puts JSON.parse(File.read(\"package.json\"))[\"name\"]'",
        "python -m timeit -s 'd=dict.fromkeys(range(1000))' '999 in d'",
        "python3 -m timeit -n 100 -s 'import math' 'math.sqrt(2)'",
        "pwsh -NoProfile -Command \"Get-ChildItem ./src -Recurse -Filter *.cs | Measure-Object -Line\"",
        "pwsh -c 'Get-Process | Where-Object { $_.CPU -gt 10 -and $_.Name -like \"dot*\" } | Sort-Object CPU | Select-Object -First 5'",
        "pwsh -c '$PSVersionTable.PSVersion'",
        "pwsh -NoProfile -File scripts/build.ps1",
    ] {
        let verdict = verdict_on(command);
        assert_eq!(verdict.level, RiskLevel::Caution, "{command}: {}", verdict.rule);
    }
}

#[test]
fn other_code_of_these_languages_is_dangerous() {
    for command in [
        "octave --eval 'system(\"id\")'",
        "octave --eval 'system(\"id\"); system = 1'",
        "octave --eval 'system = system(\"id\")'",
        "octave --eval 'if 0 system = 1; end; system(\"id\")'",
        "octave --eval 'f = @(system) 1; system(\"id\")'",
        "octave --eval 'f = @() disp(1, system = 2); system(\"id\")'",
        "octave --eval 'f = @system; f(\"id\")'",
        "octave --eval 'cellfun(\"system\", {\"id\"})'",
        "octave --eval \"a = 1; a '; system('id'); '\"",
        "octave --eval 'fileread(\"../a\")'",
        "octave --eval 'disp(1)' --eval 'system(\"id\")'",
        "octave --path x --eval 'disp(1)'",
        "gnuplot -e 'system(\"id\")'",
        "gnuplot -e \"plot '<id'\"",
        "gnuplot -e \"set output '|id'; plot x\"",
        "gnuplot -e \"set output '../a'; plot x\"",
        "gnuplot -e \"set print '.git/hooks/pre-commit'; print 1\"",
        "gnuplot -e \"l 'a.gp'\"",
        "gnuplot -e \"load 'a.gp'\"",
        "gnuplot -e '!id'",
        "gnuplot -e 'print `id`'",
        "gnuplot -e 'system = 1; print system(\"id\")'",
        "sbcl --eval '(run-program \"/bin/sh\" nil)' --quit",
        "sbcl --eval '(funcall (quote run-program) \"id\")'",
        "sbcl --eval '(print #.(sb-ext:run-program \"id\" nil))'",
        "sbcl --eval '(format t \"~/f/\" 1)'",
        "sbcl --noinform --load build.lisp --eval '(run-tests)' --quit",
        "guile -c '(system \"id\")'",
        "clojure -M -e '(sh \"id\")'",
        "bb -e '(slurp \"/etc/passwd\")'",
        "bb -e '(map slurp [\"a\"])'",
        "perl -MList::Util=sum -e 'system(\"id\")'",
        "perl -MPOSIX -e 'print 1'",
        "perl -MEvil=sum -e 'print 1'",
        "ruby -ryaml -e 'puts YAML.load_file(\"../a.yml\")'",
        "ruby -ropen3 -e 'puts 1'",
        "python -m timeit -s 'import os' 'os.system(\"id\")'",
        "pwsh -c 'Remove-Item a'",
        "pwsh -c 'Get-ChildItem | ForEach-Object { Remove-Item $_ }'",
        "pwsh -c 'Get-Content (iex id)'",
        "pwsh -c 'Get-ChildItem Env:'",
        "pwsh -c 'Get-Process | Where-Object { $_.Kill() }'",
        "pwsh -c 'Get-Content ~/.ssh/id_rsa'",
        "pwsh -c 'Get-Date; id'",
        "pwsh -c 'Get-Date > a'",
        "pwsh -File /tmp/a.ps1",
        "pwsh ../a.ps1",
    ] {
        let verdict = verdict_on(command);
        assert!(verdict.level >= RiskLevel::Dangerous, "{command}: {}", verdict.rule);
    }
}
