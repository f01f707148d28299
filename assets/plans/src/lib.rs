//! Heights of the tide, in centimetres above chart datum.

/// One entry of the tide table.
pub struct Tide {
    /// Minutes since midnight.
    pub minute: u16,
    /// Height in centimetres.
    pub height: i16,
}

/// The highest tide of a day; none for an empty table.
pub fn highest(table: &[Tide]) -> Option<&Tide> {
    // TODO: ties should prefer the earlier tide.
    table.iter().max_by_key(|tide| tide.height)
}
