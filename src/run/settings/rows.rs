//! The rows of the settings.

use super::{Belongs, Effect, Group, Kind, Setting};

impl Setting {
    const fn new(group: Group, key: &'static str, name: &'static str, kind: Kind) -> Self {
        Self {
            key,
            name,
            group,
            kind,
            meaning: "",
            costs: "",
            protects: "",
            default: "",
            effect: Effect::AtOnce,
            belongs: Belongs::Person,
            more: "",
        }
    }

    const fn says(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    const fn costs(self, costs: &'static str) -> Self {
        Self { costs, ..self }
    }

    const fn protects(self, protects: &'static str) -> Self {
        Self { protects, ..self }
    }

    const fn usually(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    const fn next_start(self) -> Self {
        Self { effect: Effect::NextStart, ..self }
    }

    const fn of(self, belongs: Belongs) -> Self {
        Self { belongs, ..self }
    }

    const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }
}

const NOTHING: &str = "Nothing.";
const EYES: &str = "Your eyes: what cannot be read well is signed unread.";

/// Every key of the settings file, by group.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        Group::Look,
        "theme",
        "Theme",
        Kind::Choice(&[("system", "Same as the system"), ("light", "Light"), ("dark", "Dark")]),
    )
    .says("The colours of the window.")
    .costs(NOTHING)
    .protects(EYES)
    .usually("\"system\""),
    Setting::new(Group::Look, "high_contrast", "High contrast", Kind::Switch)
        .says("Stronger colours and borders: every text has a contrast of at least 7 to 1.")
        .costs("Less difference between what is important and what is not.")
        .protects(EYES)
        .usually("false"),
    Setting::new(Group::Look, "zoom", "Size", Kind::Zoom)
        .says("The size of everything, from 0.5 to 3.")
        .costs("Less is on screen at a time.")
        .protects(EYES)
        .usually("1.0"),
    Setting::new(
        Group::Look,
        "motion",
        "Motion",
        Kind::Choice(&[("system", "Same as the system"), ("reduced", "Reduced"), ("full", "Full")]),
    )
    .says("Whether something may move: fading, sliding, smooth scrolling.")
    .costs("With reduced motion, changes on the page are less easy to follow with the eyes.")
    .protects("Persons whom motion makes dizzy or distracts.")
    .usually("\"system\""),
    Setting::new(Group::Window, "notifications", "Notifications", Kind::Switch)
        .says("The desktop tells you that a run or a plan in the inbox waits or a run has ended while the window is not in front (Linux).")
        .costs("A short interruption. It does not say what it is about, because others may see the screen.")
        .protects("Your time: a question is answered before it is forgotten.")
        .usually("true"),
    Setting::new(
        Group::Window,
        "editor_command",
        "Editor",
        Kind::Text("code -g {file}:{line}:{column}"),
    )
    .says("The program that opens a file at a place, with its arguments; {file}, {line} and {column} are filled in. No shell runs it.")
    .costs("The program runs with your rights, outside of walls.")
    .protects("Your attention: a finding is one key away from its line.")
    .usually("\"\""),
    Setting::new(
        Group::Window,
        "log",
        "Log",
        Kind::Choice(&[
            ("off", "Off"),
            ("error", "Failures"),
            ("warn", "Also what is unusual"),
            ("info", "Also what happens"),
            ("debug", "In detail"),
        ]),
    )
    .says("How much of what happens in the program itself is logged.")
    .costs("Up to 3 MiB of disk.")
    .protects("Your time: with the log, a fault of the program can be found.")
    .usually("\"info\"")
    .more("#the-log")
    .next_start(),
    Setting::new(Group::Window, "shortcuts", "Keys of commands", Kind::Table)
        .says("Other keys for commands: the name of a command and its keys, such as palette = \"Ctrl+Shift+K\", or \"\" for none.")
        .costs("Help of others that names a key may not fit your window.")
        .protects("Your hands. Keys that stop a run or answer a question stay as they are.")
        .more("keys.md"),
    Setting::new(
        Group::Asking,
        "must_see",
        "Steps to look at",
        Kind::Choice(&[("everything", "Everything"), ("careful", "What needs care"), ("nothing", "Nothing")]),
    )
    .says("The steps that must be looked at before a plan can be authorized: all (`everything`), those that ask, are dangerous or start a process without walls (`careful`), or none (`nothing`).")
    .costs("The time to look at them.")
    .protects("You from authorizing what you have not seen.")
    .usually("\"careful\""),
    Setting::new(Group::Asking, "policy.confirm_tools", "Tools that always ask", Kind::Tools)
        .says("Each step of these tools asks, whatever its risk is.")
        .costs("A question at each of their steps. Many questions are answered with less care.")
        .protects("What these tools can change, also where the step is rated safe.")
        .usually("[]"),
    Setting::new(
        Group::Asking,
        "policy.authorization_minutes",
        "Validity of an authorization",
        Kind::Number(1, 1_440, "minutes"),
    )
    .says("How long an authorization counts if no run has begun.")
    .costs("A short time means to authorize again after a pause.")
    .protects("A plan from being run long after you looked at it, by whoever is at the computer.")
    .usually("30"),
    Setting::new(Group::Asking, "policy.command_rules", "Your rules for commands", Kind::Table)
        .says("Commands that are judged more strictly than the built-in rules judge them.")
        .costs("More questions, or refusals, where a rule matches.")
        .protects("What the built-in rules cannot know, such as what your scripts do.")
        .usually("[]")
        .more("rules.md"),
    Setting::new(Group::Asking, "agents.session_rules", "Rules for identical calls", Kind::Switch)
        .says("The window offers to answer calls of an agent that are identical with one that you authorized.")
        .costs("Identical calls then run without a question, for as long as you say, at most 8 hours.")
        .protects("Your attention from the same question again and again. Off, every call asks.")
        .usually("false")
        .more("agents.md#rules-for-identical-calls"),
    Setting::new(
        Group::Reach,
        "policy.walls",
        "Walls",
        Kind::Choice(&[("required", "Required"), ("preferred", "Preferred"), ("off", "Off")]),
    )
    .says("Whether programs of a run are started behind walls: only with the strongest ones, with those that this computer has, or without.")
    .costs("Some programs need a grant before they work behind walls. Without walls, more steps ask.")
    .protects("Your files, keys and network from what a program does besides its task.")
    .usually("\"preferred\"")
    .more("walls.md#settings"),
    Setting::new(Group::Reach, "policy.extra_roots", "Folders besides the workspace", Kind::Folders)
        .says("Tools of a plan may also use these folders, named with absolute paths.")
        .costs("Every plan can read and change files there, also one about another project.")
        .protects("Nothing. Without them, tools stay in the workspace.")
        .usually("[]")
        .of(Belongs::Computer),
    Setting::new(
        Group::Programs,
        "policy.engine",
        "Code engine",
        Kind::Choice(&[("auto", "Automatic"), ("embedded", "Embedded"), ("external", "External")]),
    )
    .says("What finds symbols and replaces definitions: the external programs where their graph is up to date, else the embedded one; or always one of them.")
    .costs("The external programs know more, and have to be installed and kept up to date.")
    .protects("Plans from being read differently on another computer, if it is not automatic.")
    .usually("\"auto\"")
    .more("plans.md#symbols-and-code-graphs"),
    Setting::new(Group::Programs, "policy.splice_program", "Program splice", Kind::File { home: false })
        .says("The program `splice` of the external engine, instead of the one in `PATH`.")
        .costs("This program is run when a plan is reviewed.")
        .protects("The review from another program of that name in `PATH`.")
        .of(Belongs::Computer),
    Setting::new(Group::Programs, "policy.ssh_config", "Settings of ssh", Kind::File { home: false })
        .says("Another settings file for `ssh`.")
        .costs("The file decides which hosts and keys are used, and may name programs that ssh runs.")
        .protects("Runs on other hosts from changes of your own file.")
        .more("remote-hosts.md")
        .of(Belongs::Computer),
    Setting::new(Group::Others, "inbox", "Inbox", Kind::Folder { home: false })
        .says("The folder in which plans of others wait, instead of the one in the data folder.")
        .costs("Whoever can write there can propose plans. None of them runs before you authorize it.")
        .protects("Nothing.")
        .more("plans.md#inbox")
        .next_start()
        .of(Belongs::Computer),
    Setting::new(Group::Others, "team", "Database of the team", Kind::Text("postgres://ada@db.example.org/team"))
        .says("The address of the database of a team, without a password.")
        .costs("What you push there can be read by all members of the team.")
        .protects("The evidence from loss of this computer, and from changes on it after the push.")
        .more("team.md#the-address")
        .next_start(),
    Setting::new(
        Group::Signatures,
        "signatures.required",
        "Persons who must sign",
        Kind::Number(1, 20, "persons"),
    )
    .says("How many persons must have signed before a run, with the one who authorizes it.")
    .costs("Every plan waits for the signatures of others.")
    .protects("What plans can change, from the mistake of one person.")
    .usually("1")
    .more("evidence.md#the-signature-of-a-second-person"),
    Setting::new(
        Group::Signatures,
        "signatures.allowed_signers",
        "Who may sign",
        Kind::File { home: true },
    )
    .says("The list of persons and their keys, as `ssh-keygen` reads it.")
    .costs("Somebody has to keep the list.")
    .protects("Signatures from being given by anybody who has a key.")
    .of(Belongs::Computer)
    .more("evidence.md#the-signature-of-a-second-person"),
    Setting::new(
        Group::Signatures,
        "signatures.revoked_keys",
        "Keys that do not count any more",
        Kind::File { home: true },
    )
    .says("The keys that were lost or stolen, as `ssh-keygen` reads them.")
    .costs("Somebody has to keep the list.")
    .protects("Signatures from being given with a stolen key.")
    .of(Belongs::Computer)
    .more("evidence.md#the-signature-of-a-second-person"),
    Setting::new(Group::Signatures, "signatures.folder", "Folder for answers", Kind::Folder { home: true })
        .says("The folder in which the signatures of other persons come back.")
        .costs(NOTHING)
        .protects("Nothing: an answer counts by its signature, not by its place.")
        .of(Belongs::Computer)
        .more("evidence.md#the-signature-of-a-second-person"),
    Setting::new(Group::Signatures, "signatures.key", "Your key", Kind::File { home: true })
        .says("The SSH key that signs; its private half may be in an agent or in a hardware key.")
        .costs("A passphrase or a touch for each signature, if the key asks for it.")
        .protects("Nothing by itself; see what is signed.")
        .of(Belongs::Computer)
        .more("evidence.md#signatures"),
    Setting::new(Group::Signatures, "signatures.principal", "Your name", Kind::Text("ada@example.org"))
        .says("Who you are, as lists of allowed signers name you.")
        .costs(NOTHING)
        .protects("Others from taking your signature for that of somebody else.")
        .usually("\"\"")
        .more("evidence.md#signatures"),
    Setting::new(
        Group::Signatures,
        "signatures.sign",
        "What is signed",
        Kind::Several(&[
            ("authorizations", "Authorizations"),
            ("run_ends", "Ends of runs"),
            ("heads", "Heads of the evidence"),
        ]),
    )
    .says("What your key signs.")
    .costs("A signature each time, which may ask for a passphrase or a touch.")
    .protects("The evidence: that you authorized something can be checked by others, and denied by nobody.")
    .usually("[]")
    .more("evidence.md#signatures"),
    Setting::new(
        Group::Signatures,
        "signatures.seconds",
        "Time for a signature",
        Kind::Number(1, 600, "seconds"),
    )
    .says("How long one signature may take.")
    .costs("A longer time lets a run wait longer for a key that does not answer.")
    .protects("A run from waiting for ever.")
    .usually("60")
    .more("evidence.md#signatures"),
    Setting::new(Group::Planners, "planners.*.network", "Planner: network", Kind::Table)
        .says("Whether the planner of this name may use the network.")
        .costs("What the planner reads may leave this computer.")
        .protects("The workspace from being sent somewhere, if it is false.")
        .usually("false")
        .more("planners.md#what-a-planner-may-do"),
    Setting::new(Group::Planners, "planners.*.write", "Planner: writes", Kind::Table)
        .says("The paths that the planner may write; `.` is the workspace.")
        .costs("What it writes there is in no plan, and nobody authorizes it.")
        .protects("Files from being changed without a plan, if it is empty.")
        .usually("[]")
        .more("planners.md#what-a-planner-may-do"),
    Setting::new(Group::Planners, "planners.*.read", "Planner: reads", Kind::Table)
        .says("Whether the planner sees the workspace.")
        .costs("A planner that sees nothing knows only the goal and the request.")
        .protects("The workspace from the planner, if it is false.")
        .usually("true")
        .more("planners.md#what-a-planner-may-do"),
    Setting::new(Group::Planners, "model.url", "Model: address", Kind::Text("http://localhost:8080/v1"))
        .says("The address of the server of a model, to which /chat/completions is appended.")
        .costs("What the planner looks at in the workspace goes to this server.")
        .protects("Nothing. Without an address, nothing is sent.")
        .more("planners.md#the-planners-that-ship"),
    Setting::new(Group::Planners, "model.name", "Model: name", Kind::Text("the name that the server knows"))
        .says("The name of the model.")
        .costs("What the server asks for it.")
        .protects("Nothing.")
        .more("planners.md#the-planners-that-ship"),
    Setting::new(Group::Planners, "model.key", "Model: key", Kind::Secret)
        .says("The key for the server. An environment variable is safer than this file.")
        .costs("Whoever reads the file has the key.")
        .protects("Nothing.")
        .of(Belongs::Secret)
        .more("planners.md#the-planners-that-ship"),
    Setting::new(
        Group::Planners,
        "model.timeout_seconds",
        "Model: time for an answer",
        Kind::Number(0, 4_294_967_295, "seconds"),
    )
    .says("How long the model may take for an answer.")
    .costs("A longer time lets an attempt wait longer for a server that does not answer.")
    .protects("A loop from waiting for ever.")
    .usually("100")
    .more("planners.md#the-planners-that-ship"),
    Setting::new(Group::Planners, "model.stream", "Model: in pieces", Kind::Switch)
        .says("Whether the answer is asked for in pieces, as it is made.")
        .costs("Some servers cannot do it.")
        .protects("Nothing; you see earlier that something comes.")
        .usually("true")
        .more("planners.md#the-planners-that-ship"),
    Setting::new(Group::Planners, "model.tools", "Model: plan as a function", Kind::Switch)
        .says("Whether the schema of a plan is sent as a function that the model calls.")
        .costs("Some servers cannot do it.")
        .protects("Attempts from answers that are no plan.")
        .usually("true")
        .more("planners.md#the-planners-that-ship"),
    Setting::new(Group::Memory, "window", "Size of the window", Kind::Table)
        .says("The width and height of the window, in points.")
        .costs(NOTHING)
        .protects("Nothing.")
        .usually("[1280.0, 800.0]")
        .of(Belongs::Computer),
    Setting::new(Group::Memory, "panels", "Sizes of panels", Kind::Table)
        .says("The sizes that you gave to panels, by their names.")
        .costs(NOTHING)
        .protects("Nothing.")
        .usually("{}")
        .of(Belongs::Computer),
    Setting::new(Group::Memory, "recent", "Recent plans", Kind::Table)
        .says("The plans that were opened last, and those that are pinned.")
        .costs("Whoever reads the file sees where your plans are.")
        .protects("Nothing.")
        .usually("[]")
        .of(Belongs::Computer),
    Setting::new(Group::Memory, "searches", "Saved searches", Kind::Table)
        .says("The searches of the evidence that you saved.")
        .costs("Whoever reads the file sees what you searched for.")
        .protects("Nothing.")
        .usually("[]")
        .of(Belongs::Computer),
];
