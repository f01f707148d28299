use super::*;
use crate::remote::fleet::run::write_ssh_files;

/// A folder with files, in which `DIR` is the folder.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let content = content.replace("DIR", folder.path().to_str().unwrap());
        fs::write(path, content).unwrap();
    }
    folder
}

fn read_in(folder: &Path) -> Result<Read, RemoteError> {
    let client = SshClient::at(Path::new("/usr/bin/ssh"), Some(&folder.join("config")));
    read(&client, &Destination::parse("web").unwrap(), &StopSignal::default())
}

/// What `ssh -G` prints for a host with these settings.
fn resolved(config: &Path, host: &str) -> String {
    let client = SshClient::at(Path::new("/usr/bin/ssh"), Some(config));
    let destination = Destination::parse(host).unwrap();
    let call = Call::new(vec!["-G"], &destination, Path::new("/"));
    let finished = client.run(&call, &StopSignal::default(), &|_, _| {}).unwrap();
    assert!(finished.is_success(), "{}", String::from_utf8_lossy(&finished.stderr));
    String::from_utf8(finished.stdout).unwrap()
}

#[test]
fn copies_mean_the_same_to_ssh() {
    let folder = folder(&[
        (
            "config",
            "# first\nCompression yes\nHost web*\n\tinclude DIR/conf.d/*.conf DIR/none DIR/absent/*\n\
             Port 2201\nHost db\nINCLUDE=DIR/db\nUser last\nHost *\nUser everyone\nPort 2299",
        ),
        ("conf.d/b.conf", "User b\nHost web2\nUser inner\nPort 2202"),
        ("conf.d/a.conf", "Port 2203\nMatch host web3\nInclude DIR/deep\n"),
        ("conf.d/.hidden.conf", "User hidden\n"),
        ("conf.d/other.txt", "User other\n"),
        ("deep", "IdentityFile DIR/key\nUser deep\n"),
        ("db", "Host db\nHostName db.example.org\n"),
    ]);
    let read = read_in(folder.path()).unwrap();
    let names: Vec<_> =
        read.settings.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
    let expected = ["config", "conf.d/a.conf", "deep", "conf.d/b.conf", "db"].map(Path::new);
    assert_eq!(names, expected);
    let copies = tempfile::tempdir().unwrap();
    write_ssh_files(copies.path(), &read.files).unwrap();
    for host in ["web", "web2", "web3", "db", "x"] {
        let [original, copy] = [folder.path().join("config"), copies.path().join("ssh_settings")]
            .map(|config| resolved(&config, host));
        assert_eq!(original, copy, "{host}");
    }
    assert!(resolved(&folder.path().join("config"), "web3").contains("user deep\n"));
}

#[test]
fn every_included_file_is_covered() {
    let folder = folder(&[
        ("config", "Host no\nInclude DIR/conf.d/*\n"),
        ("conf.d/a", "Include DIR/b\n"),
        ("b", "User ada\n"),
    ]);
    let digest = || read_in(folder.path()).unwrap().settings_digest;
    let first = digest();
    assert_eq!(digest(), first);
    fs::write(folder.path().join("b"), "User eve\n").unwrap();
    let changed = digest();
    assert_ne!(changed, first);
    fs::write(folder.path().join("conf.d/new"), "").unwrap();
    assert_ne!(digest(), changed);
}

#[test]
fn include_that_is_not_followed_is_refused() {
    for line in [
        "Include \"DIR/b\"",
        "\"Include\" DIR/b",
        "Include ${HOME}/b",
        "Include DIR/[ab]",
        "Include DIR/*/b",
        "Include DIR/b # more",
        "Include ~root/b",
        "Include DIR/conf\\.d",
        "Include DIR/config",
        "Include DIR/folder",
    ] {
        let folder = folder(&[("config", line), ("b", "User eve\n"), ("folder/b", "")]);
        let error = read_in(folder.path()).err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{line} is taken"));
        let is_refused = error.contains("cannot be covered") || error.contains("cannot be reached");
        assert!(is_refused, "{line}: {error}");
    }
}

#[test]
fn what_ssh_reads_besides_is_refused() {
    let folder = folder(&[("config", "User ada\n"), ("other", "")]);
    let config = folder.path().join("config");
    let follow = |listed: &[&Path]| {
        let listed: Vec<PathBuf> = listed.iter().map(|path| path.to_path_buf()).collect();
        Reader::follow(Some(&config), &listed).map(|reader| reader.files.len())
    };
    let other = folder.path().join("other");
    assert_eq!(follow(&[&config]).unwrap(), 2);
    assert_eq!(follow(&[&config, &config]).unwrap(), 2, "a second pass reads it again");
    assert!(follow(&[&config, &other]).is_err());
    assert!(follow(&[]).is_err());
    assert!(Reader::follow(None, &[other.clone(), config]).is_err(), "two files of the system");
    assert_eq!(Reader::follow(None, &[]).unwrap().files.len(), 1);
}
