//! Reading a JSON file so that every complaint names the field.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::dtype::Number;

/// A field that is missing, or is not what is required there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The path of the field from the root: `launch.grid[1]`; empty for the root itself.
    pub field: String,
    /// What is wrong with it, as the rest of a sentence: `required a list, actual 3`.
    pub problem: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            write!(f, "{}", self.problem)
        } else {
            write!(f, "field `{}`: {}", self.field, self.problem)
        }
    }
}

impl std::error::Error for FieldError {}

/// A value of a JSON file, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    /// The root of a file.
    pub(crate) fn root(value: &'a Value) -> Field<'a> {
        Field { path: String::new(), value }
    }

    /// A complaint about this field.
    pub(crate) fn error(&self, problem: impl Into<String>) -> FieldError {
        FieldError { field: self.path.clone(), problem: problem.into() }
    }

    /// What is wrong when something of another type stands here.
    pub(crate) fn mismatch(&self, required: impl fmt::Display) -> FieldError {
        let mut actual = self.value.to_string();
        if actual.chars().count() > 60 {
            actual = actual.chars().take(57).chain("...".chars()).collect();
        }
        self.error(format!("required {required}, actual {actual}"))
    }

    fn child(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The member `name`, unless it is missing or null.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<Field<'a>>, FieldError> {
        let Value::Object(members) = self.value else { return Err(self.mismatch("an object")) };
        let present = members.get(name).filter(|value| !value.is_null());
        Ok(present.map(|value| Field { path: self.child(name), value }))
    }

    /// The member `name`.
    pub(crate) fn get(&self, name: &str) -> Result<Field<'a>, FieldError> {
        self.optional(name)?.ok_or_else(|| FieldError {
            field: self.child(name),
            problem: "this field is missing".to_owned(),
        })
    }

    /// The members of an object, by name.
    pub(crate) fn members(&self) -> Result<Vec<(&'a str, Field<'a>)>, FieldError> {
        let Value::Object(members) = self.value else { return Err(self.mismatch("an object")) };
        Ok(members
            .iter()
            .map(|(name, value)| (name.as_str(), Field { path: self.child(name), value }))
            .collect())
    }

    /// The elements of a list.
    pub(crate) fn elements(&self) -> Result<Vec<Field<'a>>, FieldError> {
        let Value::Array(elements) = self.value else { return Err(self.mismatch("a list")) };
        Ok(elements
            .iter()
            .enumerate()
            .map(|(index, value)| Field { path: format!("{}[{index}]", self.path), value })
            .collect())
    }

    /// A text.
    pub(crate) fn text(&self) -> Result<&'a str, FieldError> {
        self.value.as_str().ok_or_else(|| self.mismatch("a text"))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Result<bool, FieldError> {
        self.value.as_bool().ok_or_else(|| self.mismatch("true or false"))
    }

    /// A number; `"NaN"`, `"Infinity"` and `"-Infinity"` are numbers too, and null is NaN.
    pub(crate) fn number(&self) -> Result<Number, FieldError> {
        if let Some(value) = self.value.as_i64() {
            return Ok(Number::Integer(value.into()));
        }
        if let Some(value) = self.value.as_u64() {
            return Ok(Number::Integer(value.into()));
        }
        if let Some(value) = self.value.as_f64() {
            return Ok(Number::Real(value));
        }
        match self.value {
            Value::Null => Ok(Number::Real(f64::NAN)),
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "nan" | "-nan" => Ok(Number::Real(f64::NAN)),
                "inf" | "infinity" => Ok(Number::Real(f64::INFINITY)),
                "-inf" | "-infinity" => Ok(Number::Real(f64::NEG_INFINITY)),
                _ => Err(self.mismatch("a number")),
            },
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(self.mismatch("a number"))
            }
        }
    }

    /// A number that is not infinite.
    pub(crate) fn finite(&self) -> Result<f64, FieldError> {
        let value = self.number()?.to_f64();
        if value.is_finite() { Ok(value) } else { Err(self.mismatch("a finite number")) }
    }

    /// An integer from `least` to `most`.
    pub(crate) fn integer<T>(&self, least: T, most: T) -> Result<T, FieldError>
    where
        T: Copy + Into<i128> + TryFrom<i128> + fmt::Display,
    {
        self.number()
            .ok()
            .and_then(Number::to_integer)
            .filter(|&value| least.into() <= value && value <= most.into())
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| self.mismatch(format_args!("an integer from {least} to {most}")))
    }

    /// A size or a count.
    pub(crate) fn size(&self) -> Result<u64, FieldError> {
        self.integer(0, 1 << 48)
    }

    /// A list of integers from `least` to `most`.
    pub(crate) fn integers<T>(&self, least: T, most: T) -> Result<Vec<T>, FieldError>
    where
        T: Copy + Into<i128> + TryFrom<i128> + fmt::Display,
    {
        self.elements()?.iter().map(|element| element.integer(least, most)).collect()
    }
}

/// The text with the words `NaN`, `Infinity` and `-Infinity`, which JSON lacks and Python writes, as quoted texts.
pub(crate) fn quote_special_numbers(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::with_capacity(text.len() + 64);
    let mut rest = text;
    let (mut inside, mut escaped) = (false, false);
    while let Some(first) = rest.chars().next() {
        if !inside && let Some(word) = WORDS.into_iter().find(|word| rest.starts_with(word)) {
            quoted.push('"');
            quoted.push_str(word);
            quoted.push('"');
            rest = &rest[word.len()..];
            continue;
        }
        if first == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && first == '\\' && !escaped;
        quoted.push(first);
        rest = &rest[first.len_utf8()..];
    }
    Cow::Owned(quoted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_complaint_names_the_path_and_what_stands_there() {
        let value = json!({"launch": {"grid": [1, "x", -3]}});
        let grid = Field::root(&value).get("launch").and_then(|launch| launch.get("grid"));
        let elements = grid.and_then(|grid| grid.elements()).expect("a list is there");
        assert_eq!(elements[0].integer(0_u32, 9).ok(), Some(1));
        let text = |index: usize| elements[index].integer(0_u32, 9).expect_err("no such integer");
        assert_eq!(
            text(1).to_string(),
            "field `launch.grid[1]`: required an integer from 0 to 9, actual \"x\""
        );
        assert_eq!(
            text(2).to_string(),
            "field `launch.grid[2]`: required an integer from 0 to 9, actual -3"
        );
    }

    #[test]
    fn a_missing_member_is_named_with_its_path() {
        let value = json!({"launch": {"grid": null}});
        let launch = Field::root(&value).get("launch").expect("launch is there");
        let missing = launch.get("grid").expect_err("null counts as missing");
        assert_eq!(missing.to_string(), "field `launch.grid`: this field is missing");
    }

    #[test]
    fn numbers_that_json_lacks_are_read_and_texts_stay_as_they_are() {
        let text = r#"{"NaN \" NaN": [NaN, -Infinity, Infinity, "NaN", 1]}"#;
        let value: Value =
            serde_json::from_str(&quote_special_numbers(text)).expect("now it is JSON");
        let list = Field::root(&value).get("NaN \" NaN").expect("the name is kept");
        let numbers: Vec<f64> = list
            .elements()
            .expect("a list")
            .iter()
            .map(|element| element.number().expect("a number").to_f64())
            .collect();
        assert!(numbers[0].is_nan() && numbers[3].is_nan());
        assert_eq!(numbers[1..3], [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(numbers[4..], [1.0]);
    }
}
