//! The named colours: the only colour literals of the program.

use egui::Color32;

/// The colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each token is described by its name and its uses")]
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

/// A column of the table in [`Column::theme`].
#[derive(Clone, Copy)]
enum Column {
    Dark,
    Light,
    DarkHighContrast,
    LightHighContrast,
}

impl Column {
    const fn of<T: Copy>(self, [dark, light, dark_high, light_high]: [T; 4]) -> T {
        match self {
            Self::Dark => dark,
            Self::Light => light,
            Self::DarkHighContrast => dark_high,
            Self::LightHighContrast => light_high,
        }
    }

    /// The colours of this column. With higher contrast, borders are much more visible.
    const fn theme(self) -> Theme {
        Theme {
            dark: self.of([true, false, true, false]),
            high_contrast: self.of([false, false, true, true]),
            background: rgb(self.of([0x16_18_1d, 0xff_ff_ff, 0x00_00_00, 0xff_ff_ff])),
            panel: rgb(self.of([0x1b_1e_24, 0xf6_f7_f9, 0x08_09_0b, 0xf7_f8_fa])),
            raised: rgb(self.of([0x23_27_2f, 0xff_ff_ff, 0x12_14_18, 0xff_ff_ff])),
            line: rgb(self.of([0x2e_33_3d, 0xdd_e1_e7, 0x8a_94_a4, 0x5b_66_75])),
            text: rgb(self.of([0xe4_e7_ec, 0x1c_23_30, 0xff_ff_ff, 0x00_00_00])),
            dim: rgb(self.of([0x98_a1_b0, 0x5b_66_75, 0xd3_d9_e2, 0x2c_34_40])),
            accent: rgb(self.of([0x6e_a8_fe, 0x1f_5f_d0, 0xa3_c8_ff, 0x0a_3d_9c])),
            on_accent: rgb(self.of([0x0c_14_20, 0xff_ff_ff, 0x00_00_00, 0xff_ff_ff])),
            safe: rgb(self.of([0x6c_c5_8b, 0x1c_7a_43, 0x8d_f0_ae, 0x0a_4f_26])),
            caution: rgb(self.of([0xe3_b5_53, 0x8f_62_00, 0xff_d9_66, 0x57_3a_00])),
            danger: rgb(self.of([0xf0_7f_78, 0xb3_26_1e, 0xff_ad_a8, 0x86_0d_08])),
            added: rgb(self.of([0x17_30_1f, 0xe4_f6_ea, 0x05_2a_14, 0xd9_f6_e2])),
            added_text: rgb(self.of([0xa6_e0_b8, 0x14_53_2d, 0xcb_ff_dc, 0x06_36_1a])),
            removed: rgb(self.of([0x3a_1f_21, 0xfd_ea_ea, 0x45_0d_10, 0xfd_e1_e1])),
            removed_text: rgb(self.of([0xf3_b1_ac, 0x7f_1d_1d, 0xff_dc_da, 0x5a_0a_0a])),
            keyword: rgb(self.of([0xc9_a2_f2, 0x74_2f_b8, 0xdc_c0_ff, 0x56_17_94])),
            type_name: rgb(self.of([0x6f_cf_d6, 0x0d_65_70, 0x8c_ea_f0, 0x07_48_51])),
            selection: rgb(self.of([0x26_34_4d, 0xe3_ec_fc, 0x10_2d_57, 0xcf_e0_ff])),
            hover: rgb(self.of([0x1f_23_2b, 0xf1_f4_f8, 0x1b_1f_26, 0xe9_ee_f6])),
            backdrop: shade(self.of([140, 90, 190, 150])),
        }
    }
}

/// The dark theme.
pub const DARK: Theme = Column::Dark.theme();

/// The light theme.
pub const LIGHT: Theme = Column::Light.theme();

/// All themes.
pub const THEMES: [&Theme; 4] =
    [&DARK, &LIGHT, &Column::DarkHighContrast.theme(), &Column::LightHighContrast.theme()];
