//! What is drawn of a text is what its characters say, in their order, in every script.

use std::sync::{Arc, Once};

use countersign::plan::{drawable, is_hidden};
use countersign::ui::{glyphs, theme};
use egui::text::LayoutJob;
use egui::{Color32, Context, FontId, MissingGlyphPolicy, TextFormat};
use egui_system_font_provider::SystemFontProvider;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

/// A window with the fonts of the system. A character that would be a box panics.
fn context() -> Context {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| glyphs::use_system_fonts(Arc::new(SystemFontProvider::new())));
    let ctx = Context::default();
    theme::install(&ctx);
    ctx.set_missing_glyph_policy(MissingGlyphPolicy::Panic);
    ctx.run_ui(egui::RawInput::default(), |_| ()).textures_delta.clear();
    ctx
}

/// Lays the text out in a narrow column and compares each drawn glyph with the characters of the text: the same ones
/// in the same order, each cluster to the right of the one before it (but for rounding) or on a later row, each painted.
fn assert_drawn_as_it_is(ctx: &Context, text: &str) {
    let shown = drawable(text);
    for font in [FontId::monospace(12.5), FontId::proportional(14.0)] {
        let format = TextFormat::simple(font.clone(), Color32::WHITE);
        let mut job = LayoutJob::single_section(shown.to_string(), format);
        job.wrap.max_width = 160.0;
        let galley = ctx.fonts_mut(|fonts| fonts.layout_job(job));
        let glyphs = galley
            .rows
            .iter()
            .enumerate()
            .flat_map(|(row, placed)| placed.row.glyphs.iter().map(move |glyph| (row, glyph)));
        let glyphs: Vec<_> = glyphs.collect();
        // egui leaves out a space at which it breaks a row.
        let drawn: String = glyphs.iter().map(|(_, glyph)| glyph.chr).collect();
        let without = |text: &str| text.replace(' ', "");
        assert_eq!(without(&drawn), without(&shown), "{text:?} {font:?}");

        let mut rest = glyphs.as_slice();
        let mut end = (0, f32::NEG_INFINITY);
        for cluster in drawn.graphemes(true) {
            let ((row, first), after) = rest.split_first().unwrap();
            rest = &after[cluster.chars().count() - 1..];
            assert!(
                (*row, first.pos.x) >= (end.0, end.1 - 1.6),
                "{cluster:?} in {text:?} at {row} {} before {end:?}",
                first.pos.x
            );
            end = (*row, first.pos.x + first.advance_width);
            if cluster != " " {
                assert!(first.advance_width > 1.0, "{cluster:?} in {text:?} has no width");
                assert!(!first.uv_rect.is_nothing(), "{cluster:?} in {text:?} is not painted");
            }
        }
        assert!(rest.is_empty(), "{text:?}");
    }
}

#[test]
fn texts_that_deceived_are_drawn_in_their_order() {
    let ctx = context();
    for text in [
        "א/sr.bil/crs",
        "אeurt = nimda ;eslaf = dekcehc",
        "rm -rf ./build א && echo done",
        "a long line whose second row starts with ש, which mirrored everything after it = true",
        "العربية = true; // שלום",
        "\u{202E}txt.exe",
        "pаypal.com раураl.com",
        "用户/数据库/迁移.sql",
        "日本語のファイル名.rs",
        "한국어 텍스트",
        "ภาษาไทย ที่นี่",
        "हिन्दी में क्षि",
        "😀 👨\u{200D}👩\u{200D}👧 🇩🇪 ⚠\u{FE0F} 1\u{FE0F}\u{20E3} 👍🏽",
        "e\u{301} a\u{308}\u{301}\u{302}\u{303}\u{304} \u{301}x q\u{0489}",
        "𐎀𐎁 𓀀 ꙮ ﷽",
        "-> >= != === fi ffi",
        "क्ष्म्य क्क्क्क्क्क्क्क्क्क्क्क्क्क्क",
        "👩🏽\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👨🏿",
    ] {
        assert_drawn_as_it_is(&ctx, text);
    }
}

#[test]
fn system_fonts_draw_the_common_scripts() {
    context();
    for (cluster, columns) in [
        ("中", 2),
        ("の", 2),
        ("한", 2),
        ("א", 2),
        ("ش", 2),
        ("ก", 2),
        ("ж", 1),
        ("क", 2),
        ("😀", 2),
    ] {
        assert!(glyphs::columns(cluster) <= columns, "{cluster}: {}", glyphs::columns(cluster));
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z/._=; -]{1,6}",
        2 => "[\u{5D0}-\u{5EA}]{1,4}",
        2 => "[\u{620}-\u{64A}\u{64B}-\u{652}]{1,4}",
        2 => "[\u{430}-\u{44F}\u{3B1}-\u{3C9}]{1,4}",
        1 => "[\u{300}-\u{36F}]{1,6}",
        1 => "[\u{4E00}-\u{9FFF}\u{3040}-\u{30FF}\u{AC00}-\u{D7A3}]{1,3}",
        1 => "[\u{900}-\u{97F}\u{E01}-\u{E5B}]{1,4}",
        1 => "[\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FE0F}]{1,2}",
        1 => "[\u{1F300}-\u{1F64F}\u{1F3FB}-\u{1F3FF}\u{200D}]{1,4}",
        1 => proptest::char::any().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_text_is_drawn_in_its_order(text in any_text()) {
        thread_local!(static CONTEXT: Context = context());
        CONTEXT.with(|ctx| assert_drawn_as_it_is(ctx, &text));
    }

    #[test]
    fn nothing_hidden_is_left_but_what_joins_emoji(text in any_text()) {
        let left: Vec<char> = drawable(&text).chars().filter(|c| is_hidden(*c)).collect();
        prop_assert!(left.iter().all(|c| ['\u{200D}', '\u{FE0F}'].contains(c)), "{left:?}");
    }
}
