//! The icons, named by meaning. Each is one private use character of the font family [`super::theme::ICONS`]; other
//! fonts have no glyphs for these characters.

use egui::{FontFamily, FontId, RichText};

use super::theme::ICONS;

/// An icon: a character of the icon font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Icon(pub char);

impl Icon {
    /// The icon as text of this size in points.
    pub fn text(self, size: f32) -> RichText {
        RichText::new(self.0).font(self.font(size))
    }

    /// The icon's font at this size in points.
    pub fn font(self, size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(ICONS.into()))
    }
}

macro_rules! icons {
    ($($name:ident $code:literal;)+) => {
        $(#[doc = concat!("The icon `", stringify!($name), "`.")] pub const $name: Icon = Icon($code);)+

        /// All icons.
        #[cfg(test)]
        const ALL: &[Icon] = &[$($name,)+];
    };
}

icons! {
    SIGNATURE '\u{ebac}';
    PLAN '\u{eadc}';
    ENVELOPE '\u{e218}';
    QUEUE '\u{e6ac}';
    DATABASE '\u{e1de}';
    SEARCH '\u{e30c}';
    ZOOM_OUT '\u{e30e}';
    ZOOM_IN '\u{e310}';
    OPEN '\u{e256}';
    FILE_TEXT '\u{e23a}';
    FILE_PLUS '\u{e236}';
    FILE_MINUS '\u{e234}';
    FILES '\u{e710}';
    WARNING '\u{e4e0}';
    STOP_SIGN '\u{e4e4}';
    SHIELD_CHECK '\u{e40c}';
    REVERT '\u{e1a0}';
    AGAIN '\u{e036}';
    ROLL_BACK '\u{e6a8}';
    KEPT '\u{e00c}';
    REVIEW '\u{ebe0}';
    SIMULATE '\u{e79e}';
    RECONCILE '\u{e750}';
    BY_HAND '\u{eafa}';
    GUIDED '\u{ea88}';
    EDITOR '\u{e5de}';
    CONNECT '\u{eb5a}';
    HOST '\u{e2a0}';
    DONE '\u{e184}';
    FAILED '\u{e4f8}';
    HAND '\u{e57e}';
    WAITING '\u{e602}';
    RUNNING '\u{eb44}';
    PAUSE '\u{e39e}';
    PLAY '\u{e3d0}';
    STOP '\u{e46e}';
    CANCELLED '\u{e32c}';
    SKIP '\u{e5a6}';
    PROHIBIT '\u{e3de}';
    WALL '\u{e688}';
    SUN '\u{e472}';
    MOON '\u{e330}';
    SYSTEM '\u{e560}';
    MORE '\u{e1fe}';
    SETTINGS '\u{e272}';
    COPY '\u{e1ca}';
    RIGHT '\u{e13a}';
    LEFT '\u{e138}';
    LIST '\u{e2f0}';
    DOWN '\u{e136}';
    UP '\u{e13c}';
    SAVE '\u{e248}';
    EXPORT '\u{eaf0}';
    ERASE '\u{e21e}';
    HELP '\u{e3e8}';
    CLOCK '\u{e19a}';
    INFO '\u{e2ce}';
    CLOSE '\u{e4f6}';
    DIFF '\u{e27c}';
    WRITE '\u{ebc6}';
    TERMINAL '\u{eae8}';
    LINK '\u{e2e2}';
    CHECK '\u{e182}';
    SEAL '\u{e606}';
    BOOKMARK '\u{e0ea}';
    REPEAT '\u{e094}';
    DIAGNOSTICS '\u{e7ea}';
    ROBOT '\u{e762}';
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_have_the_same_icon() {
        let different: std::collections::HashSet<char> = ALL.iter().map(|icon| icon.0).collect();
        assert_eq!(different.len(), ALL.len());
    }

    #[test]
    fn the_font_has_every_icon() {
        let ctx = egui::Context::default();
        super::super::theme::install(&ctx);
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            for icon in ALL {
                let font = icon.font(16.0);
                assert!(ui.ctx().fonts_mut(|fonts| fonts.has_glyph(&font, icon.0)), "{icon:?}");
            }
        });
        output.textures_delta.clear();
    }
}
