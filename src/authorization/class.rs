//! A class of plans that a person authorizes in advance (SPEC §10): a bounded loop runs plans inside the class without
//! a decision about each plan. A class does not cover confirmations of single steps.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StepWalls;
use crate::plan::{Needs, RiskLevel, TOOLS};

/// Maximum size of a class file, in bytes: 64 KiB.
pub const CLASS_BYTES: usize = 64 << 10;

/// A class of plans. All fields except `hosts` and `needs` are required, so that a missing field never allows
/// anything. Files that a command opens by itself are not compared with `paths`.
///
/// | field | allows |
/// |---|---|
/// | `tools` | steps that call these tools |
/// | `paths` | paths that steps name or write, and working folders, at or below these; `.` is the workspace |
/// | `hosts` | commands on these SSH destinations; if left out, only commands on this computer |
/// | `max_risk` | plans whose steps have at most this risk: `safe`, `caution` or `dangerous` |
/// | `max_attempts` | the first attempts of a loop, up to this number |
/// | `expires_at` | attempts before this time (RFC 3339) |
/// | `needs` | access of steps beyond their walls; if left out, none |
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizationClass {
    /// The names of the tools that may be called.
    pub tools: Vec<String>,
    /// Files and folders that steps may name or write, relative to the workspace, separated by `/`.
    pub paths: Vec<String>,
    /// The SSH destinations on which commands may run.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The highest risk of a step.
    pub max_risk: RiskLevel,
    /// The maximum number of attempts of a loop.
    pub max_attempts: u32,
    /// The time at which the class expires (RFC 3339).
    pub expires_at: String,
    /// Access that a step may have beyond its walls. Paths of `write` are absolute or below `~/`.
    #[serde(default, skip_serializing_if = "Needs::is_empty")]
    pub needs: Needs,
}

/// Why a file cannot be used as an authorization class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the authorization class cannot be used: {message}")]
pub struct ClassError {
    /// The reason, for a person.
    pub message: String,
}

/// The properties of a plan and its attempt that are compared with a class.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanProperties<'a> {
    /// The tools of the plan's steps, including simulated steps.
    pub tools: &'a [&'a str],
    /// The paths that the plan's steps name or write, both as written and canonical.
    pub paths: &'a [String],
    /// The SSH destination of the plan's commands; `None` for this computer.
    pub host: Option<&'a str>,
    /// The highest risk of the plan's steps; `None` if there is none.
    pub worst: Option<RiskLevel>,
    /// The walls of the plan's steps, from the binding that an approval would cover.
    pub walls: &'a [&'a StepWalls],
    /// The user's home folder, which replaces `~` in `needs.write`. Without it such paths allow nothing.
    pub home: Option<&'a str>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The current time, in Unix milliseconds.
    pub now_ms: i64,
}

impl AuthorizationClass {
    /// Parses a class file and checks its values. Unknown fields are refused.
    ///
    /// # Errors
    /// The first error: the file is larger than [`CLASS_BYTES`], it is not JSON of this form, or a value is empty,
    /// unknown, outside the workspace, zero or blocked.
    pub fn read(bytes: &[u8]) -> Result<Self, ClassError> {
        let refuse = |message: String| Err(ClassError { message });
        if bytes.len() > CLASS_BYTES {
            return refuse(format!("it has more than {CLASS_BYTES} bytes"));
        }
        let class: Self = match serde_json::from_slice(bytes) {
            Ok(class) => class,
            Err(error) => return refuse(error.to_string()),
        };
        if class.tools.is_empty() || class.paths.is_empty() {
            return refuse("tools and paths must each have at least one entry".to_owned());
        }
        for tool in &class.tools {
            if !TOOLS.iter().any(|spec| spec.name == tool) {
                let known = TOOLS.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
                return refuse(format!("there is no tool {tool:?}; tools are {known}"));
            }
        }
        for path in &class.paths {
            let is_outside = path.starts_with('/')
                || path.contains(['\\', '\0'])
                || path.split('/').any(|part| part == "..")
                || path.is_empty();
            if is_outside {
                return refuse(format!("{path:?} is no path inside the workspace"));
            }
        }
        for path in &class.needs.write {
            let is_plain = (path.starts_with('/') || path.starts_with("~/"))
                && !path.contains('\0')
                && path.split('/').all(|part| !matches!(part, ".." | "."))
                && path.split('/').any(|part| !matches!(part, "" | "~"));
            if !is_plain {
                return refuse(format!(
                    "needs.write names {path:?}, which is neither an absolute path nor one below ~/"
                ));
            }
        }
        if class.hosts.iter().any(|host| host.trim().is_empty()) {
            return refuse("a host has no name".to_owned());
        }
        if class.max_risk == RiskLevel::Blocked {
            return refuse("max_risk is blocked, which nobody can authorize".to_owned());
        }
        if class.max_attempts == 0 {
            return refuse("max_attempts is 0, which allows nothing".to_owned());
        }
        if class.expires_at_ms().is_none() {
            let text = &class.expires_at;
            return refuse(format!(
                "expires_at is {text:?}, not a time such as 2026-01-31T12:00:00Z"
            ));
        }
        Ok(class)
    }

    /// The expiry in Unix milliseconds; `None` if the text is not a time, which [`Self::read`] refuses.
    pub fn expires_at_ms(&self) -> Option<i64> {
        self.expires_at.parse::<Timestamp>().ok().map(|time| time.as_millisecond())
    }

    /// Every property of a plan that the class does not allow, each in a few words; empty if the plan is inside the
    /// class.
    pub fn violations(&self, plan: &PlanProperties<'_>) -> Vec<String> {
        let mut violations = Vec::new();
        let mut add = |what: String| {
            if !violations.contains(&what) {
                violations.push(what);
            }
        };
        if self.expires_at_ms().is_none_or(|at| plan.now_ms >= at) {
            add(format!("the class expired at {}", self.expires_at));
        }
        if plan.attempt > self.max_attempts {
            add(format!("attempt {} of {} attempts", plan.attempt, self.max_attempts));
        }
        for tool in plan.tools {
            if !self.tools.iter().any(|allowed| allowed == tool) {
                add(format!("the tool {tool}"));
            }
        }
        for path in plan.paths {
            if !self.paths.iter().any(|allowed| is_in(path, allowed)) {
                add(format!("the path {path}"));
            }
        }
        if let Some(host) = plan.host
            && !self.hosts.iter().any(|allowed| allowed == host)
        {
            add(format!("the host {host}"));
        }
        if let Some(worst) = plan.worst.filter(|worst| *worst > self.max_risk) {
            add(format!("the risk {}", worst.as_str()));
        }
        for walls in plan.walls {
            let needs = &self.needs;
            if walls.open && !needs.open {
                add("a step without walls".to_owned());
            }
            if walls.network && !needs.network {
                add("the network".to_owned());
            }
            if walls.terminal && !needs.terminal {
                add("a terminal".to_owned());
            }
            for path in &walls.write {
                if !needs.write.iter().any(|allowed| is_below(path, allowed, plan.home)) {
                    add(format!("writing {path}"));
                }
            }
        }
        violations
    }
}

/// Whether the absolute path `path` is `allowed` or below it. A leading `~/` of `allowed` stands for `home`; without
/// `home` such a path allows nothing.
fn is_below(path: &str, allowed: &str, home: Option<&str>) -> bool {
    let expanded = match (allowed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        (Some(_), None) => return false,
        (None, _) => allowed.to_owned(),
    };
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    parts(path).starts_with(&parts(&expanded))
}

/// Whether `path`, relative to the workspace, is `allowed` or below it.
fn is_in(path: &str, allowed: &str) -> bool {
    fn parts(path: &str) -> impl Iterator<Item = &str> {
        path.split('/').filter(|part| !matches!(*part, "" | "."))
    }
    // A class allows nothing outside the workspace. Paths in additional roots are absolute.
    if path.starts_with('/') || parts(path).any(|part| part == "..") {
        return false;
    }
    let mut path = parts(path);
    parts(allowed).all(|part| path.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn text() -> Value {
        json!({
            "tools": ["file_read", "mutate_batch"],
            "paths": ["src", "./docs/a.md"],
            "hosts": ["build"],
            "max_risk": "caution",
            "max_attempts": 2,
            "expires_at": "2026-01-31T12:00:00Z",
        })
    }

    fn class() -> AuthorizationClass {
        AuthorizationClass::read(text().to_string().as_bytes()).unwrap()
    }

    const INSIDE: PlanProperties<'static> = PlanProperties {
        tools: &["file_read"],
        paths: &[],
        host: None,
        worst: Some(RiskLevel::Caution),
        walls: &[],
        home: Some("/home/ada"),
        attempt: 2,
        now_ms: 1_769_860_799_999,
    };

    #[test]
    fn each_part_of_a_plan_is_compared() {
        let class = class();
        let paths =
            |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let inside = paths(&["src/lib.rs", "src", "docs/a.md", "./src/./x"]);
        let properties = PlanProperties { paths: &inside, host: Some("build"), ..INSIDE };
        assert_eq!(class.violations(&properties), Vec::<String>::new());
        let out = paths(&["srcs/a", "docs", "docs/b.md", "src/../x", "/src/a", "."]);
        let cases: [(PlanProperties<'_>, &[&str]); 6] = [
            (
                PlanProperties { tools: &["shell", "file_read", "shell"], ..INSIDE },
                &["the tool shell"],
            ),
            (
                PlanProperties { paths: &out, ..INSIDE },
                &[
                    "the path srcs/a",
                    "the path docs",
                    "the path docs/b.md",
                    "the path src/../x",
                    "the path /src/a",
                    "the path .",
                ],
            ),
            (PlanProperties { host: Some("other"), ..INSIDE }, &["the host other"]),
            (
                PlanProperties { worst: Some(RiskLevel::Dangerous), ..INSIDE },
                &["the risk dangerous"],
            ),
            (PlanProperties { attempt: 3, ..INSIDE }, &["attempt 3 of 2 attempts"]),
            (
                PlanProperties { now_ms: INSIDE.now_ms + 1, ..INSIDE },
                &["the class expired at 2026-01-31T12:00:00Z"],
            ),
        ];
        for (properties, expected) in cases {
            assert_eq!(class.violations(&properties), expected);
        }
    }

    #[test]
    fn wider_walls_than_the_class_has_are_outside() {
        let step =
            |walls: StepWalls| class().violations(&PlanProperties { walls: &[&walls], ..INSIDE });
        let with = |needs: Needs, walls: &StepWalls| {
            let class = AuthorizationClass { needs, ..class() };
            class.violations(&PlanProperties { walls: &[walls], ..INSIDE })
        };
        let wide = StepWalls {
            network: true,
            open: true,
            terminal: true,
            write: vec!["/home/ada/.npm/_cacache".to_owned(), "/srv".to_owned()],
            ..StepWalls::default()
        };
        let all = [
            "a step without walls",
            "the network",
            "a terminal",
            "writing /home/ada/.npm/_cacache",
            "writing /srv",
        ];
        assert_eq!(step(wide.clone()), all);
        assert_eq!(step(StepWalls { writes_repository: true, ..StepWalls::default() }), [""; 0]);
        let write = vec!["~/.npm".to_owned(), "/srv/".to_owned()];
        let needs = Needs { network: true, write, terminal: true, open: true };
        assert_eq!(with(needs.clone(), &wide), [""; 0]);
        assert_eq!(with(Needs { open: false, ..needs.clone() }, &wide), ["a step without walls"]);
        let near = StepWalls { write: vec!["/srv2".to_owned()], ..StepWalls::default() };
        assert_eq!(with(needs, &near), ["writing /srv2"]);
    }

    #[test]
    fn the_needs_of_a_class_are_read_strictly() {
        let read = |needs: Value| {
            let mut text = text();
            text["needs"] = needs;
            AuthorizationClass::read(text.to_string().as_bytes())
        };
        let needs = read(json!({"network": true, "write": ["~/.npm", "/srv/a"]})).unwrap().needs;
        assert!(needs.network && !needs.open);
        for write in ["", "a", "../a", "~", "~/", "/", "~ada/x", "/a/../b"] {
            let error = read(json!({ "write": [write] })).unwrap_err();
            assert!(error.message.contains("needs.write"), "{write}: {error}");
        }
        assert!(read(json!({"net": true})).unwrap_err().message.contains("unknown field"));
    }

    #[test]
    fn dot_covers_the_whole_workspace() {
        let class = AuthorizationClass { paths: vec![".".to_owned()], ..class() };
        let paths = ["a".to_owned(), "a/b".to_owned(), ".".to_owned()];
        assert!(class.violations(&PlanProperties { paths: &paths, ..INSIDE }).is_empty());
        let paths = ["/elsewhere".to_owned()];
        assert_eq!(class.violations(&PlanProperties { paths: &paths, ..INSIDE }).len(), 1);
    }

    #[test]
    fn a_class_is_read_strictly() {
        let broken: [(&str, Value, &str); 10] = [
            ("tools", json!([]), "at least one"),
            ("tools", json!(["rm"]), "no tool \"rm\""),
            ("paths", json!([]), "at least one"),
            ("paths", json!(["../x"]), "no path inside"),
            ("paths", json!(["/etc"]), "no path inside"),
            ("max_risk", json!("blocked"), "nobody can authorize"),
            ("max_risk", json!("mild"), "unknown variant"),
            ("max_attempts", json!(0), "allows nothing"),
            ("expires_at", json!("tomorrow"), "not a time"),
            ("path", json!(["."]), "unknown field"),
        ];
        for (field, value, message) in broken {
            let mut text = text();
            text[field] = value;
            let error = AuthorizationClass::read(text.to_string().as_bytes()).unwrap_err();
            assert!(error.message.contains(message), "{field}: {error}");
        }
        for field in ["tools", "paths", "max_risk", "max_attempts", "expires_at"] {
            let mut text = text();
            text.as_object_mut().unwrap().remove(field);
            let error = AuthorizationClass::read(text.to_string().as_bytes()).unwrap_err();
            assert!(error.message.contains("missing field"), "{field}: {error}");
        }
        let twice = text().to_string().replacen('{', "{\"max_attempts\":9,", 1);
        assert!(
            AuthorizationClass::read(twice.as_bytes()).unwrap_err().message.contains("duplicate")
        );
        let mut local = text();
        local.as_object_mut().unwrap().remove("hosts");
        let local = AuthorizationClass::read(local.to_string().as_bytes()).unwrap();
        assert_eq!(local.violations(&PlanProperties { host: Some("build"), ..INSIDE }).len(), 1);
        assert!(AuthorizationClass::read(&vec![b' '; CLASS_BYTES + 1]).is_err());
    }
}
