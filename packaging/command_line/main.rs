//! Writes the man pages and the completions of shells into `packaging/linux`, after a change of the command line:
//!
//! `cargo run --locked --features inspection --example command_line`
//!
//! Packages contain these files as they are committed. The test `packages::command_line` compares them with the definition.

mod files;

use std::io::Result;
use std::path::Path;

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/linux");
    for name in ["man", "completions"] {
        let old = folder.join(name);
        if old.exists() {
            std::fs::remove_dir_all(&old)?;
        }
        std::fs::create_dir_all(&old)?;
    }
    for (name, contents) in files::files(countersign::cli::command_line())? {
        std::fs::write(folder.join(name), contents)?;
    }
    Ok(())
}
