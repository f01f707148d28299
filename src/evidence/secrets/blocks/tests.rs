//! Values of several lines are hidden whole, and what follows them is not.

use std::ops::Range;

use crate::evidence::secrets::{find, is_secret_field};

/// The text without the marks « and » around its secret, and the range of the secret.
fn marked(text: &str) -> (String, Range<usize>) {
    let (before, rest) = text.split_once('«').unwrap();
    let (secret, after) = rest.split_once('»').unwrap();
    (format!("{before}{secret}{after}"), before.len()..before.len() + secret.len())
}

pub(in crate::evidence::secrets) fn assert_hides(samples: &[&str]) {
    for sample in samples {
        let (text, secret) = marked(sample);
        let found = find(&text);
        let all = found
            .iter()
            .map(|it| it.secret.clone())
            .reduce(|all, it| all.start.min(it.start)..all.end.max(it.end));
        assert_eq!(all, Some(secret.clone()), "{text:?}: {:?}", text.get(secret));
        assert!(found.iter().any(|it| Some(&it.secret) == all.as_ref()), "{text:?}: in pieces");
    }
}

#[test]
fn all_lines_of_a_yaml_block_are_hidden() {
    assert_hides(&[
        "password: |\n  «swordfish\n  and the second line\n\n  and the last»\nuser: ada\n",
        "db:\n  password: >-\n    «q9w8e7r6\n      t5y4u3\n    plain»\n  user: ada\n",
        "key: a\nclient_secret: >+\n  «q9w8e7r6t5y4u3i2\n\n  second\n\n»user: ada\n"
            .replace("\n\n»", "»\n\n")
            .as_str(),
        "passphrase: |2\n    «correct horse battery staple\n   more»\nuser: ada",
        "api_token: | # of the build\n  «first line of it\n  q7RtY8uIoP9aSdF0gHjKlZxC»\n# end\n",
        "\"password\": |\n  «hunter2!\n  rest»\nuser: ada\n",
        "secret: !!binary |\n  «cTdSdFk4dUlvUDlhU2RGMGdIaktsWnhD\n  SGo=»\nuser: ada\n",
        "password: &main >-\n\n  «swordfish\n  tail»\r\nuser: ada\r\n",
        "accounts:\n- password: |\n    «hunter2!\n    second\n   third»\n  user: ada\n- user: bob\n",
        "password: |\n\t«hunter2!\n\tsecond»\nuser: ada\n",
    ]);
}

#[test]
fn lists_of_blocks_are_hidden() {
    assert_hides(&[
        "secrets:\n  - |\n    «q9w8e7r6t5\n    second\n  - >-\n    third line»\nuser: ada\n",
        "credentials:\n- |\n  «q9w8e7r6t5\n  second»\nuser: ada\n",
    ]);
}

#[test]
fn blocks_in_other_output_are_hidden() {
    assert_hides(&[
        // In a diff.
        "@@ -1,2 +1,4 @@\n user: ada\n+password: |\n+  «swordfish\n+  second\n+\n+  third»\n+host: db\n",
        " password: |\n-  «swordfish\n+  heronfish\n   rest»\n host: db\n",
        "--- a\n-  password: |\n-    «swordfish\n-    second»\n-  host: db\n",
        // With line numbers.
        "9:password: |\n10-  «swordfish\n11-  second»\n12-user: ada\n",
        "     1\tpassword: |\n     2\t  «swordfish\n     3\t  second»\n     4\tuser: ada\n",
        // In a JSON string.
        r#"{"contents": "a: 1\npassword: |\n  «swordfish\n  a \"quoted\" line»\nuser: ada\n"}"#,
        r#"{"contents": "password: |\n  «swordfish\n  second»", "user": "ada"}"#,
        r#"{"a": "{\"contents\": \"password: |\\n  «swordfish\\n  second»\\nuser: ada\"}"}"#,
    ]);
}

#[test]
fn quoted_values_of_several_lines_are_hidden() {
    assert_hides(&[
        "password = \"\"\"\n«swordfish\nwith a \" and \"\" in it\nlast»\"\"\"\nuser = 'ada'\n",
        "secret = '''\n«q9w8e7r6t5\nit's the second»'''\n",
        "let api_key = \"\"\"«q7RtY8uIoP9aSdF0\nsecond of it»\"\"\";",
        r#"{"text": "password = \"\"\"«swordfish\nsecond \\\" line»\"\"\"\n", "user": "ada"}"#,
        "export DB_PASSWORD=\"«swordfish\nsecond line\n  third \\\" line»\"\nexport USER=ada\n",
        "password: '«hunter2!\n  second»'\nuser: ada\n",
        r#"{"passphrase": "«correct horse battery\nstaple and much more of it»", "user": "ada"}"#,
        r#"password = "«ends1234\\»" # and more"#,
    ]);
    assert!(is_secret_field("passphrase", "correct horse battery\nstaple and much more of it"));
    assert!(is_secret_field("token", "of the build\nand q7RtY8uIoP9aSdF0gHjKlZxC in it"));
}

// Written when the rules for the others stood.
#[test]
fn further_values_of_several_lines_are_hidden() {
    assert_hides(&[
        "env:\n  - name: DB_PASSWORD\n    value: |\n      «hunter2!\n      second»\n  - name: HOST\n",
        "- name: DB_PASSWORD\n  value: \"«hunter2!\n    second»\"\n",
        "password :  |-  \n  «swordfish\n  second»",
        "```yaml\n  auth:\n    adminPassword: |\n      «swordfish\n      second»\n```\nthen\n",
        "{\"a\": \"password: |\\r\\n  «swordfish\\r\\n  second»\\r\\nuser: ada\\r\\n\"}",
        "jobs:\n  env:\n    DEPLOY_TOKEN: >-\n      «q7RtY8uIoP9a\n      SdF0gHjKlZxC»\n    USER: ada\n",
        "password: |\n  «pässwörd1é\n  ünïcode “x”\n  zwölf»\nuser: ada\n",
        "password: |\n  «swordfish\n  password: inner1234\n  token: |\n    deeper\n  tail»\nuser: ada\n",
        "{\"a\": \"secrets:\\n- |\\n  «q9w8e7r6t5\\n  second»\\nuser: ada\\n\"}",
        "  99-    password: |\n 100-      «swordfish\n 101-      second»\n 102-    user: ada\n",
        "val password = \"\"\"\n«    |swordfish\n    |second»\"\"\".trimMargin()",
        "db_password := \"«hunter2!\nsecond»\"\n",
        "PASSWORD='«line1 of it\nq9w8e7r6t5y4»';",
        "password: >\r\n  «swordfish\r\n\r\n  second»\r\n\r\nuser: ada\r\n",
        "+- password: |\n+    «hunter2!\n+    second»\n+  user: ada\n",
        "? password\n: |\n  swordfish\npassword: |\n  «swordfish\n  b»\nuser: x\n",
    ]);
    let long =
        format!("password: |\n  «{}  end»\nuser: ada\n", "swordfish and more\n".repeat(9_000));
    assert_hides(&[&long.replace("\nswordfish", "\n  swordfish")]);
}

#[test]
fn blocks_of_prose_stay_as_they_are() {
    for text in [
        "password: |\n  Choose a good one. It needs 8 characters\n  or more.\nuser: ada\n",
        "token: >-\n  The token with which the build\n  logs in.\nuser: ada\n",
        "password: |\nuser: ada\nhost: db.example.org\n",
        "secrets:\n  - name: registry\n    key: |\n      none\nuser: ada\n",
        "{\"reset_password\": \"Hi there,\\n\\nclick the link below.\\nYour team\"}",
        "password = \"\"\"\nThe field in which a person\ntypes it.\n\"\"\"\n",
        "say 'password: \"a\nb\" is wrong'",
        // A quote only after the name.
        "token\": |\n  of the build\n",
    ] {
        assert!(find(text).is_empty(), "{text:?}: {:?}", find(text));
    }
    assert!(!is_secret_field("password", "Must contain:\n- 8 characters\n- one sign"));
}

// Written by another reader of the rules.
#[test]
fn unusual_values_of_several_lines_are_hidden() {
    assert_hides(&[
        // Quoted keys in a JSON string are indented without their backslashes.
        r#"{"a": "db:\n  \"password\": |\n    «swordfish\n    second»\n  \"user\": ada\n"}"#,
        r#"{"a": "x: \"y\"\ndb: {z: \"1\"}\npassword: |\n  «swordfish\n  second»\nuser: ada\n"}"#,
        // A key of the same indentation as its list item, and a comment inside.
        "users:
  - user: ada
    password: |
      «hunter2!
      # no comment
      x»
    # one
    uid: 7
",
        // The first line is empty.
        "password: |\n\n  «hunter2!\n  ---\n  rest»\n---\nuser: ada\n",
        "stringData:\n  password: |\n    «p4ss:word{}\n    \"[x]\n    q»\n  user: ada\n",
        "spring.datasource.password: >-\n  «q9w8e7r6\n  t5y4»\n",
        "'db-password': |\n  «hunter2!\n  rest»\n'user': ada\n",
        "[db]\npassword = '''\n«hunter2!\nrest»'''\nuser = 1\n",
        "{\"password\": \"«hunter2!\\r\\nrest\\tof it»\"}",
        "password: \"«hunter2! \\\n  rest»\"\nuser: ada\n",
        "PASSWORD='«hunter2!\n\nrest»'\n",
    ]);
}

/// Keys of caches, tokens that are expressions, and scripts are not secrets, whatever they are called.
#[test]
fn workflows_and_manifests_stay_as_they_are() {
    for text in [
        "      - uses: actions/cache@v4
        with:
          key: |
            cargo-${{ runner.os }}-${{ hashFiles('**/Cargo.lock') }}-v2
          restore-keys: |
            cargo-${{ runner.os }}-
            cargo-
",
        "        with:\n          token: |\n            ${{ secrets.GITHUB_TOKEN }}\n          path: x\n",
        "  steps:
    - name: Get token
      run: |
        echo \"token: |\"
        curl -fsSL https://example.org/v1/things?page=2 | jq '.items[0]'
        make test
",
        "spec:\n  secrets:\n    - source: db\n      target: /run/db\n  ports:\n    - 8080:80\n",
        "passwordPolicy: |\n  min length 12\n  1 digit\n",
        "password:
  description: >
    The password of the user, see https://example.org/a/b2c3.
  type: string
",
        "tokens: |\n  IDENT = [a-z]+\n  NUMBER = [0-9]+\n  STRING = /\\w+/\n",
        "token: |\n  # The token of the build, which is made\n  # by the server.\n",
        "password = \"\"\"Asks for the password, and returns it.

    :param prompt: what to show
    \"\"\"
",
        "key: |\n  SELECT a, b FROM t WHERE c = 1\n  ORDER BY a\n",
    ] {
        assert!(find(text).is_empty(), "{text:?}: {:?}", find(text));
    }
}

/// Each name could make a block of all lines after it, or examine all of its line.
#[test]
fn many_names_take_linear_time() {
    let nested: String = (0..1_500).map(|n| format!("{}token: |\n", " ".repeat(n))).collect();
    let values = "{\"name\":\"PASSWORD\",\"value\":\"a\"},".repeat(20_000);
    let documents = "api_token=<<A\n".repeat(1_000);
    let returns = "{\"token\": \\\\r".repeat(10_000);
    for text in [nested, values, documents, returns] {
        let started = std::time::Instant::now();
        assert!(find(&text).is_empty());
        assert!(started.elapsed().as_secs() < 30, "{:?} {text:.40}", started.elapsed());
    }
}
