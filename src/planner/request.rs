//! What a planner is asked, as far as the planners here look at it (SPEC §10).

use serde::Deserialize;
use serde_json::Value;

/// One request of the loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What is to be reached.
    pub goal: String,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The whole request, for a planner that passes it on.
    pub whole: Value,
}

/// The bytes are no request.
#[derive(Debug, thiserror::Error)]
#[error("what came on stdin is no planner request: {0}")]
pub struct RequestError(serde_json::Error);

#[derive(Deserialize)]
struct Known {
    goal: String,
    attempt: u32,
}

impl Request {
    /// Reads a request. Fields that no planner here looks at may come and go.
    ///
    /// # Errors
    /// Bytes that are no JSON, or without a goal or an attempt.
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestError> {
        let whole: Value = serde_json::from_slice(bytes).map_err(RequestError)?;
        let Known { goal, attempt } = Known::deserialize(&whole).map_err(RequestError)?;
        Ok(Self { goal, attempt, whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_its_goal_and_attempt() {
        let request = Request::parse(br#"{"goal": "g", "attempt": 2, "more": {}}"#).unwrap();
        assert_eq!((request.goal.as_str(), request.attempt), ("g", 2));
        assert_eq!(request.whole["more"], serde_json::json!({}));
        for bad in ["", "[]", "{}", r#"{"goal": "g"}"#, r#"{"goal": 1, "attempt": 1}"#] {
            assert!(Request::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
