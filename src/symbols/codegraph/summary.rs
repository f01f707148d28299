//! Statistics of a code graph.

use serde_json::Value;

use super::{Codegraph, Symbol, SymbolsError};
use crate::run::StopSignal;

/// A kind or type, and its number of occurrences.
type Count = (String, Value);

impl Codegraph {
    /// The number of entities of each kind, and of edges of each type.
    ///
    /// # Errors
    /// A database that cannot be read completely.
    pub(crate) fn counts(
        &self,
        stop: &StopSignal,
    ) -> Result<(Vec<Count>, Vec<Count>), SymbolsError> {
        let count = |sql| {
            self.query_all(sql, [], stop, |row| {
                Ok((row.get(0)?, Value::from(row.get::<_, i64>(1)?)))
            })
        };
        Ok((
            count("SELECT kind, count(*) FROM graph_entities GROUP BY kind ORDER BY kind")?,
            count(
                "SELECT edge_type, count(*) FROM graph_edges GROUP BY edge_type ORDER BY edge_type",
            )?,
        ))
    }

    /// Every symbol with its number of references, the most referenced first.
    ///
    /// # Errors
    /// As [`Self::counts`].
    pub(crate) fn symbols_by_references(
        &self,
        stop: &StopSignal,
    ) -> Result<Vec<(Symbol, i64)>, SymbolsError> {
        let sql = "SELECT s.name, s.file_path, s.data,
                     (SELECT count(*) FROM graph_edges AS e
                      WHERE e.to_id = s.id AND e.edge_type = 'REFERENCES') AS named
                   FROM graph_entities AS s WHERE s.kind = 'Symbol'
                   ORDER BY named DESC, s.name, s.id";
        self.query_all(sql, [], stop, |row| Ok((self.symbol(row)?, row.get(3)?)))
    }
}
