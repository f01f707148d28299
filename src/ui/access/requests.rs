//! Which requests of assistive technology count: the same as of mouse and keyboard.
//!
//! A request names a control and not a place in the window, so what keeps the mouse away does not stop it: a dialog in
//! front, or that a button has just been disabled. Each request is therefore judged by what the window showed last,
//! before any widget sees it. One that does not count is answered with its reason, as an announcement.

use std::collections::{HashMap, HashSet};

use egui::accesskit::{Action, ActionRequest, Live, Node, NodeId, TreeId, TreeUpdate};
use egui::{Context, Event, FullOutput, Id, Plugin, RawInput, Role};

use crate::plan::drawable_lines;

/// The time for which a control that has got another name is left alone, in seconds: a request may be meant for the one
/// that was there before. As long as a double click.
const SETTLES: f64 = 0.5;
/// The time for which an announcement stays in the tree, in seconds.
const ANNOUNCED: f64 = 20.0;

/// A space at which no line ends.
const NO_BREAK: &str = "\u{a0}";

/// Judges the requests of assistive technology.
#[derive(Debug, Default)]
pub(in crate::ui) struct Requests {
    /// What the window showed last.
    shown: Shown,
    /// The name of each control that can be pressed, and since when it has another name than before.
    names: HashMap<NodeId, (String, f64)>,
    /// Requests that wait for the next frame.
    later: Vec<Event>,
    /// Whether the window knows that a press was refused in this frame.
    noted: bool,
    /// What is announced, with a number of its own, and until when.
    said: Option<(u64, String, f64)>,
    count: u64,
}

/// The controls of one frame, as far as requests depend on them.
#[derive(Debug, Default)]
struct Shown {
    /// Why each disabled control is disabled.
    disabled: HashMap<NodeId, String>,
    /// What can be used now; `None` if everything can.
    in_front: Option<HashSet<NodeId>>,
    /// The name of the dialog in front.
    dialog: String,
}

impl Plugin for Requests {
    fn debug_name(&self) -> &'static str {
        "requests of assistive technology"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        let is_request = |event: &Event| matches!(event, Event::AccessKitActionRequest(_));
        if std::mem::take(&mut self.noted) {
            ctx.data_mut(|data| data.remove::<bool>(refused_id()));
        }
        if self.later.is_empty() && !input.events.iter().any(is_request) {
            return;
        }
        let now = input.time.unwrap_or_else(|| ctx.input(|input| input.time));
        let mut pressed = None;
        let later = std::mem::take(&mut self.later);
        for event in later.into_iter().chain(std::mem::take(&mut input.events)) {
            let Event::AccessKitActionRequest(request) = &event else {
                input.events.push(event);
                continue;
            };
            if pressed.is_some() {
                // What the first one did decides whether the next one counts. The same once more in one frame is one press,
                // as it is with a key: nobody has seen what the first one did.
                let last = self.later.last().or(pressed.as_ref());
                if !acts(request.action) || last != Some(&event) {
                    self.later.push(event);
                }
                continue;
            }
            match self.refusal(request, now) {
                None => {
                    pressed = acts(request.action).then(|| event.clone());
                    input.events.push(event);
                }
                Some(reason) => {
                    if acts(request.action) {
                        self.noted = true;
                        ctx.data_mut(|data| data.insert_temp(refused_id(), true));
                    }
                    self.say(reason, now);
                }
            }
        }
        if !self.later.is_empty() {
            ctx.request_repaint();
        }
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        let Some(update) = &mut output.platform_output.accesskit_update else { return };
        let now = ctx.input(|input| input.time);
        for (_, node) in &mut update.nodes {
            make_visible(node);
        }
        self.shown = Shown::of(update);
        self.note_names(update, now);
        if self.said.as_ref().is_some_and(|(.., until)| *until < now) {
            self.said = None;
        }
        if let Some((count, text, _)) = &self.said {
            add_announcement(update, *count, text);
        }
    }
}

impl Requests {
    /// Why a request does not count; `None` if it does.
    fn refusal(&self, request: &ActionRequest, now: f64) -> Option<String> {
        let id = request.target_node;
        if request.target_tree != TreeId::ROOT {
            return Some(String::new());
        }
        if self.shown.in_front.as_ref().is_some_and(|it| !it.contains(&id)) {
            let dialog = &self.shown.dialog;
            return Some(format!("Not while this is open: {dialog}. Answer or close it first."));
        }
        if !acts(request.action) {
            return None;
        }
        if let Some(why) = self.shown.disabled.get(&id) {
            return Some(why.clone());
        }
        let renamed = self.names.get(&id).filter(|(_, since)| now - since < SETTLES);
        renamed.map(|(name, _)| format!("This is {name} only since a moment. Nothing was done."))
    }

    fn say(&mut self, text: String, now: f64) {
        self.count += 1;
        self.said = (!text.is_empty()).then_some((self.count, text, now + ANNOUNCED));
    }

    fn note_names(&mut self, update: &TreeUpdate, now: f64) {
        let before = std::mem::take(&mut self.names);
        for (id, node) in &update.nodes {
            let Some(name) = node.label().filter(|_| node.role() == Role::Button) else { continue };
            let since = match before.get(id) {
                Some((old, since)) if old == name => *since,
                Some(_) => now,
                None => f64::NEG_INFINITY,
            };
            self.names.insert(*id, (name.to_owned(), since));
        }
    }
}

fn refused_id() -> Id {
    Id::unique("a refused press")
}

/// Whether assistive technology asked for something in this frame that does not count.
pub(in crate::ui) fn refused_press(ctx: &Context) -> bool {
    ctx.data(|data| data.get_temp(refused_id())).unwrap_or(false)
}

/// Whether an event is a request of assistive technology to do something.
pub(in crate::ui) fn is_press(event: &Event) -> bool {
    matches!(event, Event::AccessKitActionRequest(request) if acts(request.action))
}

/// Whether a request does more than look somewhere else.
fn acts(action: Action) -> bool {
    !matches!(
        action,
        Action::Focus
            | Action::Blur
            | Action::ScrollDown
            | Action::ScrollLeft
            | Action::ScrollRight
            | Action::ScrollUp
            | Action::ScrollIntoView
            | Action::ScrollToPoint
            | Action::SetScrollOffset
            | Action::SetTextSelection
            | Action::ShowTooltip
            | Action::HideTooltip
    )
}

impl Shown {
    fn of(update: &TreeUpdate) -> Self {
        let disabled = update.nodes.iter().filter(|(_, node)| node.is_disabled());
        let disabled = disabled.map(|(id, node)| (*id, why_disabled(node))).collect();
        let modal = update.nodes.iter().rfind(|(_, node)| node.is_modal());
        let Some((modal, node)) = modal else {
            return Self { disabled, in_front: None, dialog: String::new() };
        };
        let title = node.labelled_by().first();
        let title = update.nodes.iter().find(|(id, _)| Some(id) == title);
        let dialog = node.label().or(title.and_then(|(_, title)| title.label()));
        let dialog = dialog.unwrap_or("a dialog").to_owned();
        Self { disabled, in_front: Some(in_front(update, *modal)), dialog }
    }
}

/// The dialog with all that is in it, and what was opened after it, such as the menu of one of its controls.
fn in_front(update: &TreeUpdate, modal: NodeId) -> HashSet<NodeId> {
    let nodes: HashMap<NodeId, &Node> = update.nodes.iter().map(|(id, it)| (*id, it)).collect();
    let root = update.tree.as_ref().and_then(|tree| nodes.get(&tree.root));
    let areas = root.map_or(&[][..], |root| root.children());
    let later = areas.iter().position(|it| *it == modal).and_then(|at| areas.get(at..));
    let mut stack = later.map_or_else(|| vec![modal], <[NodeId]>::to_vec);
    let mut found = HashSet::new();
    while let Some(id) = stack.pop() {
        if found.insert(id) {
            stack.extend(nodes.get(&id).map_or(&[][..], |node| node.children()));
        }
    }
    found
}

fn why_disabled(node: &Node) -> String {
    let name = node.label().or(node.value()).unwrap_or("This");
    match node.description() {
        Some(why) => format!("{name} is not available. {why}"),
        None => format!("{name} is not available now."),
    }
}

/// Replaces hidden characters in what the node says. Views do this themselves; this is for a view that forgot it, and for
/// what egui adds. The text in a field stays as it is, because its places are counted in characters.
fn make_visible(node: &mut Node) {
    // An icon beside the words that say the same.
    let is_icon = |text: &str| text.chars().count() == 1 && text.chars().all(is_icon);
    if node.role() == Role::Label && node.value().is_some_and(is_icon) {
        node.set_hidden();
        return;
    }
    let shown = |text: Option<&str>| {
        let text = text?;
        if text.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte)) {
            return None;
        }
        // Texts of the window itself have spaces at which no line ends. They are heard as spaces.
        let parts: Vec<_> = text.split(NO_BREAK).map(drawable_lines).collect();
        let shown = parts.join(NO_BREAK);
        (shown != text).then_some(shown)
    };
    // The name of a button without words is its tooltip, too.
    if node.description().is_some() && node.description() == node.label() {
        node.clear_description();
    }
    if let Some(text) = shown(node.label()) {
        node.set_label(text);
    }
    if let Some(text) = shown(node.description()) {
        node.set_description(text);
    }
    if let Some(text) = shown(node.value()).filter(|_| node.role() == Role::Label) {
        node.set_value(text);
    }
}

/// Whether a character is one of the font of icons. In any other text it has a mark by now.
fn is_icon(c: char) -> bool {
    ('\u{E000}'..='\u{F8FF}').contains(&c)
}

fn add_announcement(update: &mut TreeUpdate, count: u64, text: &str) {
    let Some(root) = update.tree.as_ref().map(|tree| tree.root) else { return };
    let id = Id::unique(("announcement", count)).accesskit_id();
    let mut node = Node::new(Role::Status);
    node.set_label(text);
    node.set_live(Live::Assertive);
    if let Some((_, root)) = update.nodes.iter_mut().find(|(id, _)| *id == root) {
        root.push_child(id);
    }
    update.nodes.push((id, node));
}
