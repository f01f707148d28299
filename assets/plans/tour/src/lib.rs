//! The hours at which the lantern burns.

/// Whether the lantern is lit in this hour of the day, from 0 to 23.
pub fn is_lit(hour: u8) -> bool {
    hour < 6 || hour >= 18
}

#[cfg(test)]
mod tests {
    use super::is_lit;

    #[test]
    fn the_lantern_burns_at_night() {
        assert!(is_lit(0));
        assert!(is_lit(5));
        assert!(!is_lit(6));
        assert!(!is_lit(17));
        assert!(is_lit(18));
    }
}
