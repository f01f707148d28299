//! Compresses the schemas, and the tables of the grammars, which would be a fifth of the program and shrink to a
//! fifteenth.
//!
//! The C source of a grammar is compiled twice: as its author made it, of which only the bytes of the large tables are
//! read, and with empty tables, which is linked. `src/grammars/` fills the tables when the grammar is first used. Where
//! this cannot be done, because the target does not use ELF or the sources are not found, the grammars are linked as
//! their authors made them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::MetadataCommand;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The folder of the JSON Schemas that `countersign schema` prints.
const SCHEMAS: &str = "assets/schema";

/// The packages of the grammars: the name of the language function after `tree_sitter_`, its package, and the folder of
/// its sources there.
const GRAMMARS: [(&str, &str, &str); 10] = [
    ("bash", "tree-sitter-bash", "src"),
    ("c", "tree-sitter-c", "src"),
    ("cpp", "tree-sitter-cpp", "src"),
    ("go", "tree-sitter-go", "src"),
    ("java", "tree-sitter-java", "src"),
    ("javascript", "tree-sitter-javascript", "src"),
    ("python", "tree-sitter-python", "src"),
    ("rust", "tree-sitter-rust", "src"),
    ("tsx", "tree-sitter-typescript", "tsx/src"),
    ("typescript", "tree-sitter-typescript", "typescript/src"),
];

/// The tables that are large and have no pointers.
const TABLES: [&str; 6] = [
    "ts_parse_table",
    "ts_small_parse_table",
    "ts_small_parse_table_map",
    "ts_parse_actions",
    "ts_lex_modes",
    "ts_primary_state_ids",
];

fn main() -> Outcome<()> {
    println!("cargo::rustc-check-cfg=cfg(packed_grammars)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed={SCHEMAS}");
    pack_schemas()?;
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    match pack_all() {
        Ok(()) => println!("cargo::rustc-cfg=packed_grammars"),
        Err(error) => println!("cargo::warning=the grammars are not compressed: {error}"),
    }
    Ok(())
}

/// Writes a compressed JSON object: for each schema, its text by its name.
fn pack_schemas() -> Outcome<()> {
    let mut schemas = BTreeMap::new();
    for entry in fs::read_dir(SCHEMAS)? {
        let name = entry?.file_name().into_string().map_err(|_| "a file's name is not UTF-8")?;
        if let Some(schema) = name.strip_suffix(".schema.json") {
            let text = fs::read_to_string(Path::new(SCHEMAS).join(&name))?;
            schemas.insert(schema.to_owned(), text);
        }
    }
    let packed = zstd::encode_all(&*serde_json::to_vec(&schemas)?, 19)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("schemas.zst"), packed)?;
    Ok(())
}

fn pack_all() -> Outcome<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let folders = folders_of_packages()?;
    let mut list = String::new();
    for (name, package, sources) in GRAMMARS {
        let folder = folders.iter().find(|(it, _)| it == package).ok_or(package)?.1.join(sources);
        let size = pack(name, &folder, &out).map_err(|error| format!("{package}: {error}"))?;
        writeln!(
            list,
            "grammar!({name}, countersign_{name}, fill_{name}, {size}, \"{name}.zst\");"
        )?;
    }
    fs::write(out.join("grammars.rs"), list)?;
    Ok(())
}

/// The name and folder of every package in the tree.
fn folders_of_packages() -> Outcome<Vec<(String, PathBuf)>> {
    let target = env::var("TARGET")?;
    let ask = |more: Option<&str>| {
        let options = ["--locked", "--filter-platform", &target].into_iter().chain(more);
        MetadataCommand::new().other_options(options.map(str::to_owned).collect::<Vec<_>>()).exec()
    };
    // Asking needs the packages of tests, too, which may still have to be loaded.
    let metadata = ask(Some("--offline")).or_else(|_| ask(None))?;
    let folder = |package: cargo_metadata::Package| {
        let folder = package.manifest_path.parent()?.as_std_path().to_owned();
        Some((package.name.to_string(), folder))
    };
    Ok(metadata.packages.into_iter().filter_map(folder).collect())
}

/// Writes the compressed tables of a grammar and compiles the rest of it. Returns the size of the tables in bytes.
fn pack(name: &str, sources: &Path, out: &Path) -> Outcome<usize> {
    let parser = sources.join("parser.c");
    let compiler = || {
        let mut build = cc::Build::new();
        build.std("c11").include(sources).warnings(false).cargo_warnings(false);
        build
    };
    let original = compiler()
        .opt_level(0)
        .out_dir(out.join(format!("original-{name}")))
        .file(&parser)
        .try_compile_intermediates()?;
    let original = fs::read(original.first().ok_or("the compiler made no object file")?)?;
    let original = object::File::parse(&*original)?;

    let mut source = fs::read_to_string(&parser)?;
    let mut tables = Vec::new();
    let mut fill = String::new();
    for table in TABLES {
        let bytes = bytes_of(&original, table).ok_or_else(|| format!("{table} has no bytes"))?;
        source = without_initializer(&source, table, bytes.len())
            .ok_or_else(|| format!("{table} is not defined as expected"))?;
        writeln!(
            fill,
            "    memcpy({table}, bytes, sizeof {table});\n    bytes += sizeof {table};"
        )?;
        tables.extend_from_slice(bytes);
    }
    let source = format!(
        "#include <string.h>\n#define tree_sitter_{name} countersign_{name}\n{source}\n\
         void fill_{name}(const unsigned char *bytes) {{\n{fill}}}\n"
    );
    let rest = out.join(format!("{name}.c"));
    fs::write(&rest, source)?;
    fs::write(out.join(format!("{name}.zst")), zstd::encode_all(&*tables, 19)?)?;

    let mut build = compiler();
    let scanner = sources.join("scanner.c");
    build.file(rest).files(scanner.exists().then_some(scanner));
    build.try_compile(&format!("countersign-{name}"))?;
    Ok(tables.len())
}

/// The bytes of a table of an object file.
fn bytes_of<'a>(file: &object::File<'a>, table: &str) -> Option<&'a [u8]> {
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(table))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    section.data_range(symbol.address(), symbol.size()).ok()?.filter(|bytes| !bytes.is_empty())
}

/// The source with a table that has the same size and can be filled.
fn without_initializer(source: &str, table: &str, bytes: usize) -> Option<String> {
    const CONSTANT: &str = "static const ";
    let name = source.find(&format!(" {table}["))?;
    let (before, definition) = source.split_at(source.get(..name)?.rfind('\n')? + 1);
    let (bounds, initializer) = definition.strip_prefix(CONSTANT)?.split_once(" = {\n")?;
    let (_, after) = initializer.split_once("\n};\n")?;
    let (entry, _) = bounds.split_once(' ')?;
    let bounds = bounds.replacen("[]", &format!("[{bytes} / sizeof({entry})]"), 1);
    let check = format!("_Static_assert(sizeof {table} == {bytes}, \"the size of {table}\");");
    Some(format!("{before}static {bounds};\n{check}\n{after}"))
}
