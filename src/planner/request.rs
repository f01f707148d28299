//! The request of the loop to a planner, with the fields that the built-in planners use (SPEC §10).

use serde::Deserialize;
use serde_json::Value;

/// One request of the loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The goal of the loop.
    pub goal: String,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The complete request, which the chat planner passes to the model.
    pub json: Value,
}

/// The bytes are not a request.
#[derive(Debug, thiserror::Error)]
#[error("the input is not a planner request: {0}")]
pub struct RequestError(serde_json::Error);

#[derive(Deserialize)]
struct RequiredFields {
    goal: String,
    attempt: u32,
}

impl Request {
    /// Parses a request. All fields except `goal` and `attempt` are optional and unchecked.
    ///
    /// # Errors
    /// The bytes are not JSON, or the goal or the attempt is missing or has the wrong type.
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestError> {
        let json: Value = serde_json::from_slice(bytes).map_err(RequestError)?;
        let RequiredFields { goal, attempt } =
            RequiredFields::deserialize(&json).map_err(RequestError)?;
        Ok(Self { goal, attempt, json })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_needs_goal_and_attempt() {
        let request = Request::parse(br#"{"goal": "g", "attempt": 2, "more": {}}"#).unwrap();
        assert_eq!((request.goal.as_str(), request.attempt), ("g", 2));
        assert_eq!(request.json["more"], serde_json::json!({}));
        for bad in ["", "[]", "{}", r#"{"goal": "g"}"#, r#"{"goal": 1, "attempt": 1}"#] {
            assert!(Request::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
