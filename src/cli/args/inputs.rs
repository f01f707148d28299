//! The options with the inputs of a plan.

use std::str::FromStr;

use clap::Args;

/// The values of the plan's inputs.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Inputs {
    /// Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest
    /// of its own
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) input: Vec<InputWord>,
    /// Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no
    /// plan and no record
    #[arg(long, value_name = "NAME=FILE")]
    pub(in crate::cli) secret_input: Vec<InputWord>,
}

/// The name of an input, and its value or the name of a file with it.
#[derive(Debug, Clone)]
pub(in crate::cli) struct InputWord {
    pub(in crate::cli) name: String,
    pub(in crate::cli) value: String,
}

impl FromStr for InputWord {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) =
            text.split_once('=').ok_or("write the name of the input, = and its value")?;
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}
