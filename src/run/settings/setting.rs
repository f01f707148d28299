//! A row of the settings, and what it can say.

/// A group of settings, with a heading of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// How the window looks.
    Look,
    /// How the window is used.
    Window,
    /// What a person sees and answers before something runs.
    Asking,
    /// What a run may reach.
    Reach,
    /// The programs that are used.
    Programs,
    /// Others: their plans, their evidence.
    Others,
    /// Signatures with SSH keys.
    Signatures,
    /// Planners and their model.
    Planners,
    /// What the window remembers.
    Memory,
}

impl Group {
    /// All groups, in the order of the page.
    pub const ALL: [Self; 9] = [
        Self::Look,
        Self::Window,
        Self::Asking,
        Self::Reach,
        Self::Programs,
        Self::Others,
        Self::Signatures,
        Self::Planners,
        Self::Memory,
    ];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Look => "Appearance",
            Self::Window => "Window",
            Self::Asking => "Before something runs",
            Self::Reach => "What a run can reach",
            Self::Programs => "Programs",
            Self::Others => "Plans and evidence of others",
            Self::Signatures => "Signatures",
            Self::Planners => "Planners and agents",
            Self::Memory => "Remembered by the window",
        }
    }
}

/// The form of a value, which decides about its control and its check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// One of several words, each with its name for people.
    Choice(&'static [(&'static str, &'static str)]),
    /// On or off.
    Switch,
    /// A whole number within bounds, with its unit.
    Number(i64, i64, &'static str),
    /// The size of everything, as a factor.
    Zoom,
    /// A text; the field shows this example while it is empty.
    Text(&'static str),
    /// The absolute path of a file, or one that begins with `~/` if `home` is set.
    File {
        /// Whether it may begin with `~/`.
        home: bool,
    },
    /// Likewise of a folder.
    Folder {
        /// Whether it may begin with `~/`.
        home: bool,
    },
    /// Several of these words.
    Several(&'static [(&'static str, &'static str)]),
    /// Several tools of plans.
    Tools,
    /// Absolute paths of folders.
    Folders,
    /// A text that is never shown.
    Secret,
    /// A table or a list that has its own place in the window, or is changed in the file.
    Table,
}

/// When a changed value takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// At once, in every window.
    AtOnce,
    /// In windows that are opened later.
    NextStart,
}

/// Whether a value belongs to the person or to this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs {
    /// To the person: it is exported.
    Person,
    /// To this computer: it is not exported.
    Computer,
    /// A secret: it is not exported.
    Secret,
}

/// A row of the table: a key of the settings file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The key with its table, such as `policy.walls`. A `*` stands for any name.
    pub key: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The group.
    pub group: Group,
    /// What the value says, in one sentence.
    pub meaning: &'static str,
    /// What it costs, in one or two sentences.
    pub costs: &'static str,
    /// What it protects, in one or two sentences.
    pub protects: &'static str,
    /// The form of the value.
    pub kind: Kind,
    /// The default as TOML; empty if there is none.
    pub default: &'static str,
    /// When a change takes effect.
    pub effect: Effect,
    /// Whether it is exported.
    pub belongs: Belongs,
    /// Where more is said, relative to `docs/`; empty for nowhere.
    pub more: &'static str,
}

impl Setting {
    /// Whether the window changes the value. Others are changed in the file.
    pub fn is_changeable(&self) -> bool {
        self.kind != Kind::Table && self.kind != Kind::Secret
    }
}
