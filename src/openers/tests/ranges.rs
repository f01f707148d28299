//! Suggestions of the compiler, edits of language servers, fixes of analysers.

use super::*;

const TEXT: &str = "let a = 1;\nlet 😀 = \"ä\";\nend\n";

fn range(from: (u64, u64), to: (u64, u64)) -> Value {
    let position = |(line, character)| json!({"line": line, "character": character});
    json!({"start": position(from), "end": position(to)})
}

#[test]
fn edits_of_a_language_server_are_patches() {
    let edits = json!([
        {"range": range((1, 4), (1, 6)), "newText": "b"},
        {"range": range((0, 0), (0, 0)), "newText": "// x\n"},
        {"range": range((2, 3), (2, 99)), "newText": "!"},
    ]);
    let expected = "patch a b.rs: @@ -1,3 +1,4 @@\n+// x\n let a = 1;\n-let 😀 = \"ä\";\n-end\n+let b = \"ä\";\n+end!\n";
    let files = [("a b.rs", TEXT)];
    let uri = "file:///work%20space/a%20b.rs";
    let changes = json!({"changes": {uri: edits}});
    let document =
        json!({"documentChanges": [{"textDocument": {"uri": uri, "version": 3}, "edits": edits}]});
    for edit in [
        changes.clone(),
        document.clone(),
        json!({"jsonrpc": "2.0", "id": 1, "result": changes}),
        json!({"jsonrpc": "2.0", "method": "workspace/applyEdit", "params": {"label": "x", "edit": document}}),
        json!({"title": "x", "kind": "quickfix", "edit": changes}),
    ] {
        assert_eq!(shown(&edit.to_string(), &files), expected, "{edit}");
    }
    let new = json!([{"range": range((0, 0), (0, 0)), "newText": "x\n", "annotationId": "a"}]);
    let operations = json!({"documentChanges": [
        {"kind": "create", "uri": "file:///work%20space/new"},
        {"textDocument": {"uri": "file:///work%20space/new", "version": null}, "edits": new},
        {"kind": "rename", "oldUri": "file:///work%20space/old", "newUri": "file:///work%20space/to"},
        {"kind": "delete", "uri": "file:///work%20space/gone", "annotationId": "a"},
    ], "changeAnnotations": {"a": {"label": "Risky", "needsConfirmation": true, "description": "Look."}}});
    assert_eq!(
        shown(&operations.to_string(), &files),
        "create new: x\nrename old: to\ndelete gone: \nwarning 1: to be confirmed: Risky Look.\n\
         warning 1: to be confirmed: Risky Look.\n"
    );
}

#[test]
fn faulty_edits_of_a_language_server_are_errors() {
    const A: &str = "file:///work%20space/a";
    let one = |edit: Value| json!({"changes": {A: [edit]}});
    let text = |from, to| json!({"range": range(from, to), "newText": "x"});
    let insertion = json!({"textDocument": {"uri": A}, "edits": [text((0, 0), (0, 0))]});
    for (edit, expected) in [
        (one(text((1, 5), (1, 6))), "has no column 6"),
        (one(text((5, 0), (5, 0))), "has no line 6"),
        (one(text((1, 0), (0, 0))), "ends before it begins"),
        (
            one(json!({"range": range((0, 0), (0, 0)), "snippet": {"value": "x"}})),
            "\"snippet\" is not known",
        ),
        (one(json!({"newText": "x"})), "it has no range"),
        (json!({"changes": {"https://x/a": []}}), "no file of this computer"),
        (json!({"changes": {"file:///etc/passwd": []}}), "/etc/passwd is outside"),
        (json!({"changes": {"file:///work%20space/b": []}}), "b is not in the workspace"),
        (json!({"changes": {A: [text((0, 0), (0, 4)), text((0, 3), (0, 5))]}}), "the same text"),
        (json!({"documentChanges": [{"kind": "create", "uri": A}]}), "a is there already"),
        (
            json!({"documentChanges": [{"kind": "create", "uri": "n", "options": {"overwrite": true}}]}),
            "leaves open",
        ),
        (
            json!({"documentChanges": [insertion, {"kind": "delete", "uri": A}]}),
            "renamed or deleted, and edited",
        ),
        (json!({"edit": {"changes": {}}, "command": {"command": "x"}}), "not only an edit"),
        (json!({"changes": {}}), "changes no file"),
    ] {
        let found = shown(&edit.to_string(), &[("a", TEXT)]);
        assert!(found.starts_with("error ") && found.contains(expected), "{edit}\n{found}");
    }
}

fn sarif(run: &Value) -> String {
    json!({"version": "2.1.0", "runs": [run]}).to_string()
}

fn fix(uri: &str, region: &Value, text: &str) -> Value {
    let replacement = json!({"deletedRegion": region, "insertedContent": {"text": text}});
    json!({"artifactChanges": [{"artifactLocation": {"uri": uri}, "replacements": [replacement]}]})
}

#[test]
fn fixes_of_an_analyser_are_patches() {
    for (kind, to) in [("utf16CodeUnits", 7), ("unicodeCodePoints", 6)] {
        let place = json!({"startLine": 2, "startColumn": 5, "endColumn": to});
        let run = json!({"columnKind": kind, "results": [{"fixes": [fix("a.rs", &place, "b")]}]});
        let expected =
            "patch a.rs: @@ -1,3 +1,3 @@\n let a = 1;\n-let 😀 = \"ä\";\n+let b = \"ä\";\n end\n";
        assert_eq!(shown(&sarif(&run), &[("a.rs", TEXT)]), expected, "{kind}");
    }
    let region = json!({"deletedRegion": {"startLine": 3}});
    let based =
        json!({"artifactChanges": [{"artifactLocation": {"index": 0}, "replacements": [region]}]});
    let bytes = |offset: u64, text: &str| {
        fix("b.rs", &json!({"byteOffset": offset, "byteLength": 3}), text)
    };
    let run = json!({
        "originalUriBaseIds": {
            "SRC": {"uri": "src/", "uriBaseId": "ROOT"},
            "ROOT": {"uri": "file:///work%20space/"},
        },
        "artifacts": [{"location": {"uri": "a.rs", "uriBaseId": "SRC"}}],
        "results": [
            {"fixes": [based]},
            {"fixes": [bytes(0, "LET"), bytes(0, "x")]},
            {"fixes": [bytes(0, "Let")]},
            {"fixes": [bytes(2, "y")]},
            {"fixes": [bytes(0, "Let")]},
            {"message": {"text": "nothing to fix"}},
        ],
    });
    assert_eq!(
        shown(&sarif(&run), &[("src/a.rs", TEXT), ("b.rs", "let\nmore\n")]),
        "patch b.rs: @@ -1,2 +1,2 @@\n-let\n+Let\n more\n\
         patch src/a.rs: @@ -1,3 +1,3 @@\n let a = 1;\n let 😀 = \"ä\";\n-end\n+\n\
         warning 1: the fixes of this result are left out: there are 2, of which one would have to be chosen\n\
         warning 1: this fix is left out: it changes the same text as one before it\n"
    );
}

#[test]
fn faulty_fixes_are_errors() {
    let one = |region: Value| sarif(&json!({"results": [{"fixes": [fix("a", &region, "x")]}]}));
    let binary = json!({"deletedRegion": {"startLine": 1}, "insertedContent": {"binary": "AA=="}});
    let binary =
        json!({"artifactChanges": [{"artifactLocation": {"uri": "a"}, "replacements": [binary]}]});
    for (text, expected) in [
        (
            one(json!({"startLine": 2, "startColumn": 7, "endColumn": 8})),
            "does not say which (columnKind)",
        ),
        (one(json!({"startLine": 0})), "count from 1"),
        (one(json!({"startLine": 9})), "no line 9"),
        (one(json!({"startLine": 1, "startColumn": 5, "endColumn": 2})), "ends before it begins"),
        (one(json!({"byteOffset": 16, "byteLength": 1})), "they cut a character"),
        (one(json!({"charOffset": 1})), "neither lines nor bytes"),
        (sarif(&json!({"results": [{"fixes": [binary]}]})), "bytes that are no text"),
        (sarif(&json!({"results": []})), "changes no file"),
        (json!({"version": "2.0.0", "runs": []}).to_string(), "only 2.1.0"),
    ] {
        let found = shown(&text, &[("a", TEXT)]);
        assert!(found.starts_with("error ") && found.contains(expected), "{text}\n{found}");
    }
    // The other fixes are made.
    let fixes = [fix("a", &json!({"startLine": 9}), "x"), fix("a", &json!({"startLine": 3}), "x")];
    let found = shown(
        &sarif(&json!({"results": fixes.map(|fix| json!({"fixes": [fix]}))})),
        &[("a", TEXT)],
    );
    assert!(
        found.starts_with("patch a: ")
            && found.contains("warning 1: this fix is left out: the file has no line 9")
    );
}

/// A message of cargo with one suggestion: its places in bytes, with the line of each and the new text.
fn message(path: &str, places: &[(u64, u64, usize, &str)], applicability: &str) -> String {
    let span = |(start, end, line, new): &(u64, u64, usize, &str)| {
        let text = TEXT.lines().nth(line - 1).unwrap();
        json!({"file_name": path, "byte_start": start, "byte_end": end, "line_start": line, "line_end": line,
               "text": [{"text": text}], "suggested_replacement": new, "suggestion_applicability": applicability})
    };
    let spans: Vec<Value> = places.iter().map(span).collect();
    let child = json!({"message": "remove it", "spans": spans, "children": []});
    let context =
        json!({"file_name": path, "byte_start": 0, "byte_end": 9, "line_start": 1, "text": []});
    let message = json!({"message": "unused", "spans": [context], "children": [child]});
    json!({"reason": "compiler-message", "message": message}).to_string()
}

#[test]
fn sure_suggestions_of_the_compiler_are_patches() {
    let sure = |places: &[_]| message("a", places, "MachineApplicable");
    let text = [
        json!({"reason": "compiler-artifact"}).to_string(),
        sure(&[(4, 5, 1, "_a")]),
        "    Finished `dev`".to_owned(),
        sure(&[(4, 5, 1, "_a")]),
        sure(&[(4, 5, 1, "b")]),
        sure(&[(8, 9, 1, "2"), (28, 31, 3, "END")]),
        sure(&[(28, 31, 3, "x"), (28, 31, 3, "y")]),
        message("a", &[(28, 31, 3, "x")], "MaybeIncorrect"),
    ];
    let expected = "patch a: @@ -1,3 +1,3 @@\n-let a = 1;\n+let _a = 2;\n let 😀 = \"ä\";\n-end\n+END\n\
        warning 5: left out: \"remove it\": it changes the same text as one before it\n\
        warning 7: left out: \"remove it\": its places are alternatives, of which one would have to be chosen\n\
        warning 8: left out: \"remove it\": the compiler does not say that it can be applied as it is\n";
    assert_eq!(shown(&text.join("\n"), &[("a", TEXT)]), expected);
}

#[test]
fn suggestions_for_other_texts_are_errors() {
    let sure = |path, place| message(path, &[place], "MachineApplicable");
    for (text, expected) in [
        (sure("a", (4, 5, 3, "x")), "a has changed since the check"),
        (sure("b", (4, 5, 1, "x")), "b has changed since the check"),
        (sure("c", (4, 5, 1, "x")), "c is not in the workspace"),
        (sure("/outside/x", (4, 5, 1, "x")), "is outside"),
        (format!("{}\n{{\n", sure("a", (4, 5, 1, "x"))), "this is no message of cargo"),
        (message("a", &[(4, 5, 1, "x")], "Unspecified"), "changes no file"),
    ] {
        let found = shown(&text, &[("a", TEXT), ("b", "let b = 1;\n")]);
        assert!(found.contains("error ") && found.contains(expected), "{text}\n{found}");
    }
}
