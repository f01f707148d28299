//! What the window needs of a server: pages of hits, contents, and an end to what nobody waits for any more.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use countersign::plan::Digest;
use countersign::run::{SearchQuery, StopSignal};
use countersign::team::{Patience, Server, TeamError, TeamQuery, content, search};

use super::{origin, push};
use crate::harness::postgres::Postgres;

const LONG: Duration = Duration::from_secs(60);

/// A server whose socket needs no password.
fn server(postgres: &Postgres) -> Server {
    let (host, port) = (postgres.socket(), postgres.port());
    format!("postgres://reader@/team%20evidence?host={host}&port={port}").parse().unwrap()
}

#[test]
fn pages_have_every_hit_once() {
    let postgres = Postgres::start();
    let homes = [1, 2].map(|seed| origin(90, seed));
    homes.iter().for_each(|home| drop(push(&postgres, home)));
    let server = server(&postgres);
    let query = |limit| SearchQuery { limit, ..SearchQuery::default() };
    let all = TeamQuery { query: query(5_000), ..TeamQuery::default() };
    let all = search(&server, &all, LONG.into()).unwrap();
    assert_eq!((all.next, all.total), (None, all.hits.len() as u64));
    let mut wanted = TeamQuery { query: query(17), ..TeamQuery::default() };
    let (mut hits, mut pages) = (Vec::new(), 0);
    loop {
        let page = search(&server, &wanted, LONG.into()).unwrap();
        if pages == 0 {
            assert_eq!(page.total, all.total, "the first page counts all");
        }
        hits.extend(page.hits);
        pages += 1;
        match page.next {
            Some(next) => wanted.after = Some(next),
            None => break,
        }
    }
    assert_eq!(hits, all.hits);
    assert_eq!(pages, all.hits.len().div_ceil(17));
    let known = postgres.sql("SELECT encode(digest, 'hex') FROM countersign.contents LIMIT 1");
    for digest in known {
        let digest: Digest = digest.parse().unwrap();
        let text = content(&server, &digest, LONG.into()).unwrap().unwrap();
        assert_eq!(Digest::of(text.as_bytes()), digest);
    }
    assert_eq!(content(&server, &Digest::of(b"none"), LONG.into()).unwrap(), None);
}

/// The statement ends in the server, too, which would go on with it otherwise.
#[test]
fn a_stopped_search_ends_in_the_server() {
    let postgres = Postgres::start();
    let home = origin(20, 3);
    push(&postgres, &home);
    // The search waits for this lock.
    postgres.sql(
        "CREATE FUNCTION public.wait(text) RETURNS text LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_advisory_lock_shared(42); RETURN $1; END $$;
         ALTER TABLE countersign.executions RENAME TO kept;
         CREATE VIEW countersign.executions AS
             SELECT origin, sequence, id, timestamp, run_id, public.wait(tool_name) AS tool_name, outcome, risk_level, host, error_code
             FROM countersign.kept;
         GRANT SELECT ON countersign.executions TO countersign_reader;",
    );
    let paused = postgres.pause_second_batches();
    let stop = Arc::<StopSignal>::default();
    let patience = Patience { limit: LONG, stop: Arc::clone(&stop) };
    let server = server(&postgres);
    let (sender, ended) = sync_channel(1);
    let query = TeamQuery {
        query: SearchQuery { tool: Some("shell".to_owned()), ..SearchQuery::default() },
        ..TeamQuery::default()
    };
    let wait = move || {
        let _ = sender.send(search(&server, &query, patience));
    };
    let waiting = std::thread::Builder::new().name("waits".to_owned()).spawn(wait).unwrap();
    paused.wait_for(1);
    stop.set();
    let answer = ended.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(matches!(answer, Err(TeamError::Stopped)), "{answer:?}");
    waiting.join().unwrap();
    let running = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while postgres.number(running) > 0 {}
    drop(paused);
}
