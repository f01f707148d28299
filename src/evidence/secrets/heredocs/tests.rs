//! Here documents of secret names are hidden whole, others stay.

use crate::evidence::secrets::blocks::tests::assert_hides;
use crate::evidence::secrets::find;

#[test]
fn here_documents_of_secret_names_are_hidden() {
    assert_hides(&[
        "DB_PASSWORD=$(cat <<EOF\n«swordfish\nand the second\n\nlast»\nEOF\n)\nUSER=ada\n",
        "export API_TOKEN=\"$(cat <<-'END'\n\t«q7RtY8uIoP9aSdF0\n\tgHjKlZxC»\n\tEND\n)\"\n",
        "password = <<~PW\n    «hunter2!\n    second»\n  PW\nuser = 1\n",
        "  password = <<-EOT\n    «swordfish»\n  EOT\n",
        "read -r -d '' DB_PASSWORD << \"EOF\"\n«swordfish\nsecond»\nEOF\n",
        "cat > /run/secrets/db_password <<EOF\n«swordfish\nsecond»\nEOF\n",
        "cat <<EOF >db_password\n«swordfish\nsecond»\nEOF\n",
        "sudo tee /etc/app/api_token <<'EOF' >/dev/null\n«q7RtY8uIoP9a»\nEOF\n",
        "$password = <<<EOT\n«hunter2!\nsecond»\nEOT;\n",
        r#"{"command": "PASSWORD=$(cat <<'EOF'\n«swordfish\nsecond»\nEOF\n)\necho done"}"#,
        "PASSWORD=$(cat <<EOF\r\n«swordfish\r\nsecond»\r\nEOF\r\n)\r\n",
    ]);
}

#[test]
fn here_documents_without_secrets_stay() {
    for text in [
        "cat > notes.txt <<EOF\nThe password is in the safe.\nEOF\n",
        "TOKEN=$(cat <<EOF\n$(vault read token)\nEOF\n)\n",
        "password = <<EOF\n${var.password}\nEOF\n",
        "PASSWORD=$(cat <<EOF\nswordfish\nand it never ends\n",
        "cat > reset_password <<EOF\nDear person,\n\nplease choose another one.\nEOF\n",
        "let key = 1 << n;\nlet other = 2;\n",
        "echo \"$TOKEN\" | kubectl apply -f - <<EOF\nkind: Pod\nimage: grus@sha256:0123456789abcdef\nEOF\n",
    ] {
        assert!(find(text).is_empty(), "{text:?}: {:?}", find(text));
    }
}
