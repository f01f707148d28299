//! The lights of a lighthouse. The compiler warns about two places here, and knows how to mend them.

use std::collections::BTreeMap;

/// The seconds between two flashes, for each tower.
pub fn periods(towers: &[(&'static str, u32)]) -> Vec<u32> {
    let mut seconds = towers.iter().map(|(_, period)| *period);
    seconds.by_ref().collect()
}

/// The longest period; none without towers.
pub fn longest(towers: &[(&'static str, u32)]) -> Option<u32> {
    let mut all = periods(towers);
    all.into_iter().max()
}
