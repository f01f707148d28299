//! Enums whose variants are words in plan files, evidence and `--json`: each word is declared once.

/// Declares an enum with the word of each variant. Serde derives its names from an attribute; a test compares them
/// with the words.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            /// Every variant, by its word.
            $visibility const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$variant),)+];

            /// The variant's word.
            $visibility const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;

    use crate::authorization::{Signed, WallLevel};
    use crate::plan::{Dialect, Intent, Mode, OptLevel, RiskLevel, Severity, VerifyScope};
    use crate::risk::{EngineChoice, WallSetting};
    use crate::run::{
        ActionErrorCode, ActionStatus, Control, Decision, EdgeType, Outcome, RunStatus, TargetKind,
    };

    fn same<T: Copy + Debug + Serialize>(words: &[(&str, T)]) {
        for (word, value) in words {
            assert_eq!(serde_json::to_value(value).unwrap(), *word, "{value:?}");
        }
    }

    #[test]
    fn words_equal_serde_names() {
        same(ActionErrorCode::WORDS);
        same(ActionStatus::WORDS);
        same(Control::WORDS);
        same(Decision::WORDS);
        same(Dialect::WORDS);
        same(EdgeType::WORDS);
        same(EngineChoice::WORDS);
        same(Intent::WORDS);
        same(Mode::WORDS);
        same(OptLevel::WORDS);
        same(Outcome::WORDS);
        same(RiskLevel::WORDS);
        same(RunStatus::WORDS);
        same(Severity::WORDS);
        same(Signed::WORDS);
        same(TargetKind::WORDS);
        same(VerifyScope::WORDS);
        same(WallLevel::WORDS);
        same(WallSetting::WORDS);
    }
}
