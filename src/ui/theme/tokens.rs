//! The named colours: the only colour literals of the program.

use egui::Color32;

/// The colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the tokens by their names; what each is for stands in its uses")]
pub struct Theme {
    pub dark: bool,
    pub high_contrast: bool,
    pub background: Color32,
    pub panel: Color32,
    pub raised: Color32,
    pub line: Color32,
    pub text: Color32,
    pub dim: Color32,
    pub accent: Color32,
    pub on_accent: Color32,
    pub safe: Color32,
    pub caution: Color32,
    pub danger: Color32,
    pub added: Color32,
    pub added_text: Color32,
    pub removed: Color32,
    pub removed_text: Color32,
    pub keyword: Color32,
    pub type_name: Color32,
    pub selection: Color32,
    pub hover: Color32,
    pub backdrop: Color32,
}

#[expect(clippy::disallowed_methods, reason = "the one place for colours")]
pub(super) const fn rgb(hex: u32) -> Color32 {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

#[expect(clippy::disallowed_methods, reason = "the one place for colours")]
pub(super) const fn shade(alpha: u8) -> Color32 {
    Color32::from_black_alpha(alpha)
}

/// The dark theme.
pub const DARK: Theme = Theme {
    dark: true,
    high_contrast: false,
    background: rgb(0x16_18_1d),
    panel: rgb(0x1b_1e_24),
    raised: rgb(0x23_27_2f),
    line: rgb(0x2e_33_3d),
    text: rgb(0xe4_e7_ec),
    dim: rgb(0x98_a1_b0),
    accent: rgb(0x6e_a8_fe),
    on_accent: rgb(0x0c_14_20),
    safe: rgb(0x6c_c5_8b),
    caution: rgb(0xe3_b5_53),
    danger: rgb(0xf0_7f_78),
    added: rgb(0x17_30_1f),
    added_text: rgb(0xa6_e0_b8),
    removed: rgb(0x3a_1f_21),
    removed_text: rgb(0xf3_b1_ac),
    keyword: rgb(0xc9_a2_f2),
    type_name: rgb(0x6f_cf_d6),
    selection: rgb(0x26_34_4d),
    hover: rgb(0x1f_23_2b),
    backdrop: shade(140),
};

/// The light theme.
pub const LIGHT: Theme = Theme {
    dark: false,
    high_contrast: false,
    background: rgb(0xff_ff_ff),
    panel: rgb(0xf6_f7_f9),
    raised: rgb(0xff_ff_ff),
    line: rgb(0xdd_e1_e7),
    text: rgb(0x1c_23_30),
    dim: rgb(0x5b_66_75),
    accent: rgb(0x1f_5f_d0),
    on_accent: rgb(0xff_ff_ff),
    safe: rgb(0x1c_7a_43),
    caution: rgb(0x8f_62_00),
    danger: rgb(0xb3_26_1e),
    added: rgb(0xe4_f6_ea),
    added_text: rgb(0x14_53_2d),
    removed: rgb(0xfd_ea_ea),
    removed_text: rgb(0x7f_1d_1d),
    keyword: rgb(0x74_2f_b8),
    type_name: rgb(0x0d_65_70),
    selection: rgb(0xe3_ec_fc),
    hover: rgb(0xf1_f4_f8),
    backdrop: shade(90),
};

/// The dark theme with higher contrast: borders are as visible as text.
pub const DARK_HIGH_CONTRAST: Theme = Theme {
    dark: true,
    high_contrast: true,
    background: rgb(0x00_00_00),
    panel: rgb(0x08_09_0b),
    raised: rgb(0x12_14_18),
    line: rgb(0x8a_94_a4),
    text: rgb(0xff_ff_ff),
    dim: rgb(0xd3_d9_e2),
    accent: rgb(0xa3_c8_ff),
    on_accent: rgb(0x00_00_00),
    safe: rgb(0x8d_f0_ae),
    caution: rgb(0xff_d9_66),
    danger: rgb(0xff_ad_a8),
    added: rgb(0x05_2a_14),
    added_text: rgb(0xcb_ff_dc),
    removed: rgb(0x45_0d_10),
    removed_text: rgb(0xff_dc_da),
    keyword: rgb(0xdc_c0_ff),
    type_name: rgb(0x8c_ea_f0),
    selection: rgb(0x10_2d_57),
    hover: rgb(0x1b_1f_26),
    backdrop: shade(190),
};

/// The light theme with higher contrast.
pub const LIGHT_HIGH_CONTRAST: Theme = Theme {
    dark: false,
    high_contrast: true,
    background: rgb(0xff_ff_ff),
    panel: rgb(0xf7_f8_fa),
    raised: rgb(0xff_ff_ff),
    line: rgb(0x5b_66_75),
    text: rgb(0x00_00_00),
    dim: rgb(0x2c_34_40),
    accent: rgb(0x0a_3d_9c),
    on_accent: rgb(0xff_ff_ff),
    safe: rgb(0x0a_4f_26),
    caution: rgb(0x57_3a_00),
    danger: rgb(0x86_0d_08),
    added: rgb(0xd9_f6_e2),
    added_text: rgb(0x06_36_1a),
    removed: rgb(0xfd_e1_e1),
    removed_text: rgb(0x5a_0a_0a),
    keyword: rgb(0x56_17_94),
    type_name: rgb(0x07_48_51),
    selection: rgb(0xcf_e0_ff),
    hover: rgb(0xe9_ee_f6),
    backdrop: shade(150),
};

/// All themes.
pub const THEMES: [&Theme; 4] = [&DARK, &LIGHT, &DARK_HIGH_CONTRAST, &LIGHT_HIGH_CONTRAST];
