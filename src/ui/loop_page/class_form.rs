//! The form for a class of plans that is authorized in advance. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::faults::{MAX_ATTEMPTS, MAX_CLASS_MINUTES, number};
use crate::authorization::AuthorizationClass;
use crate::plan::RiskLevel;

/// The form for a class of plans that is authorized in advance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassForm {
    /// Whether a class is authorized in advance.
    pub on: bool,
    /// The tools that its plans may call.
    pub tools: BTreeSet<&'static str>,
    /// The paths that its steps may use, one per line.
    pub paths: String,
    /// The hosts on which its commands may run, separated by spaces or commas.
    pub hosts: String,
    /// The highest risk of a step.
    pub max_risk: RiskLevel,
    /// The number of attempts that the class covers.
    pub max_attempts: String,
    /// The time for which the class is valid, in minutes.
    pub minutes: String,
}

impl Default for ClassForm {
    fn default() -> Self {
        Self {
            on: false,
            tools: BTreeSet::new(),
            paths: ".".to_owned(),
            hosts: String::new(),
            max_risk: RiskLevel::Safe,
            max_attempts: "3".to_owned(),
            minutes: "30".to_owned(),
        }
    }
}

impl ClassForm {
    pub(super) fn paths(&self) -> Vec<String> {
        let lines = self.paths.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    /// The class that begins at `now_ms`; `None` if it is not valid.
    pub(super) fn class(&self, now_ms: i64) -> Option<AuthorizationClass> {
        let minutes = i64::from(number(&self.minutes, MAX_CLASS_MINUTES)?);
        let expiry = Timestamp::from_millisecond(now_ms.checked_add(minutes * 60_000)?).ok()?;
        let hosts = self.hosts.split([',', ' ', '\n']).filter(|host| !host.is_empty());
        let class = AuthorizationClass {
            tools: self.tools.iter().map(|&tool| tool.to_owned()).collect(),
            paths: self.paths(),
            hosts: hosts.map(str::to_owned).collect(),
            max_risk: self.max_risk,
            max_attempts: number(&self.max_attempts, MAX_ATTEMPTS)?,
            expires_at: expiry.to_string(),
            needs: Default::default(),
        };
        // The same rules apply as for a class read from a file.
        AuthorizationClass::read(serde_json::to_string(&class).ok()?.as_bytes()).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::loop_page::Field;
    use crate::ui::loop_page::form::tests::filled;

    #[test]
    fn class_fields_become_an_authorization_class() {
        let mut form = filled();
        form.class.on = true;
        assert_eq!(form.faults().len(), 1, "no tool");
        form.class.tools.insert("file_write");
        form.class.paths = "src\n ../out \n/etc".to_owned();
        let faults = form.faults();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(form.shown_fault(Field::ClassPaths).is_some_and(|it| it.contains("../out")));
        form.class.paths = "src\n\nbenches".to_owned();
        form.class.hosts = "a@b, c".to_owned();
        let class = form.settings(60_000).unwrap().class.unwrap();
        assert_eq!(class.paths, ["src", "benches"]);
        assert_eq!(class.hosts, ["a@b", "c"]);
        assert_eq!(class.expires_at_ms(), Some(31 * 60_000));
    }
}
