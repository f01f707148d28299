//! Reads values of other programs' JSON, with a finding for each that is not as it must be.

use serde_json::{Map, Value};

use crate::plan::{Code, Finding, Severity, has_duplicate_keys, locate};

/// The value of a text.
///
/// # Errors
/// It is no JSON, or an object has two fields of one name, of which readers take different ones.
pub(super) fn read(text: &str) -> Result<Value, Vec<Finding>> {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let finding = Finding::error(Code::NotJson, "", format!("not JSON: {error}"));
        vec![Finding { line: error.line().max(1), column: error.column().max(1), ..finding }]
    })?;
    if has_duplicate_keys(text) {
        let message =
            "an object has two fields of the same name, and programs differ in which one they take";
        return Err(vec![Finding::error(Code::DuplicateKey, "", message)]);
    }
    Ok(value)
}

/// A value and where it is.
#[derive(Clone)]
pub(super) struct At<'v> {
    pub(super) value: &'v Value,
    pub(super) pointer: String,
}

impl<'v> At<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Self { value, pointer: String::new() }
    }

    /// The value of a field; `None` if there is none, or it is `null`.
    pub(super) fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let name = name.replace('~', "~0").replace('/', "~1");
        Some(Self { value, pointer: format!("{}/{name}", self.pointer) })
    }

    /// The elements of a list in a field; none if there is none.
    ///
    /// # Errors
    /// It is no list.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Self>, Finding> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(list) => list.elements(),
        }
    }

    /// The elements of a list in a field that must be there.
    ///
    /// # Errors
    /// It is not, or no list.
    pub(super) fn must_list(&self, name: &str) -> Result<Vec<Self>, Finding> {
        self.get(name)
            .ok_or_else(|| self.error(format!("the field \"{name}\" is missing")))?
            .elements()
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn elements(&self) -> Result<Vec<Self>, Finding> {
        let list = self.value.as_array().ok_or_else(|| self.error("this must be a list"))?;
        let pointer = &self.pointer;
        let at = |(index, value)| Self { value, pointer: format!("{pointer}/{index}") };
        Ok(list.iter().enumerate().map(at).collect())
    }

    /// The fields of an object.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn object(&self) -> Result<&'v Map<String, Value>, Finding> {
        self.value.as_object().ok_or_else(|| self.error("this must be an object"))
    }

    /// The text in a field; `None` if there is none.
    ///
    /// # Errors
    /// It is no text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&'v str>, Finding> {
        let Some(it) = self.get(name) else { return Ok(None) };
        it.value.as_str().map(Some).ok_or_else(|| it.error("this must be a text"))
    }

    /// The text in a field that must be there.
    ///
    /// # Errors
    /// It is not, or no text.
    pub(super) fn must(&self, name: &str) -> Result<&'v str, Finding> {
        self.text(name)?.ok_or_else(|| self.error(format!("the field \"{name}\" is missing")))
    }

    /// The whole number in a field; `None` if there is none.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, Finding> {
        let Some(it) = self.get(name) else { return Ok(None) };
        let number = it.value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| it.error("this must be a whole number"))
    }

    /// The whole number in a field that must be there.
    ///
    /// # Errors
    /// It is not, or none.
    pub(super) fn must_number(&self, name: &str) -> Result<usize, Finding> {
        self.number(name)?.ok_or_else(|| self.error(format!("the field \"{name}\" is missing")))
    }

    /// Whether a field is `true`.
    ///
    /// # Errors
    /// It is neither `true` nor `false`.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Finding> {
        let Some(it) = self.get(name) else { return Ok(false) };
        it.value.as_bool().ok_or_else(|| it.error("this must be true or false"))
    }

    /// An error for each field that is not one of these: what it means is not known.
    ///
    /// # Errors
    /// The first such field.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Finding> {
        match self.object()?.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let at = self.get(name).map_or_else(|| self.pointer.clone(), |it| it.pointer);
                let message =
                    format!("the field \"{name}\" is not known here, and so not what it asks for");
                Err(Finding::error(Code::UnknownField, at, message).allowing(known.iter().copied()))
            }
        }
    }

    /// Refuses `null` anywhere below, for formats that do not have it.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn without_null(&self) -> Result<(), Finding> {
        fn has_null(value: &Value) -> bool {
            match value {
                Value::Null => true,
                Value::Array(list) => list.iter().any(has_null),
                Value::Object(fields) => fields.values().any(has_null),
                _ => false,
            }
        }
        if has_null(self.value) { Err(self.error("null has no meaning here")) } else { Ok(()) }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Finding {
        Finding::error(Code::BadValue, self.pointer.clone(), message)
    }

    pub(super) fn warning(&self, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Warning, Code::BadValue, self.pointer.clone(), message)
    }

    pub(super) fn note(&self, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Note, Code::BadValue, self.pointer.clone(), message)
    }
}

/// Sets the places of findings.
pub(super) fn located(text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
    locate(text.as_bytes(), &mut findings);
    findings
}
