//! Tests of what assistive technology gets and may do, over all scenes of the gallery.

mod focus;
mod hidden;
mod names;
mod requests;

use std::collections::HashMap;

use egui::accesskit::{
    Action as Request, ActionData, ActionRequest, Node, NodeId, TreeId, TreeUpdate,
};
use egui::{Context, Event, FullOutput, Plugin};
use egui_kittest::Harness;

use crate::ui::tests::Window;

/// Keeps the tree of the last frame, as assistive technology gets it.
#[derive(Default)]
struct Capture(Option<TreeUpdate>);

impl Plugin for Capture {
    fn debug_name(&self) -> &'static str {
        "capture"
    }

    fn output_hook(&mut self, _ctx: &Context, output: &mut FullOutput) {
        self.0.clone_from(&output.platform_output.accesskit_update);
    }
}

/// The tree of one frame.
struct Tree {
    nodes: HashMap<NodeId, Node>,
    parents: HashMap<NodeId, NodeId>,
    /// In the order of the tree.
    order: Vec<NodeId>,
}

impl Tree {
    /// Draws another frame and returns its tree.
    fn of(harness: &mut Harness<'_, Window>) -> Self {
        harness.ctx.add_plugin(Capture::default());
        harness.step();
        Self::last(harness)
    }

    /// The tree of the last frame, after [`Self::of`].
    fn last(harness: &Harness<'_, Window>) -> Self {
        let update = harness.ctx.with_plugin::<Capture, _>(|it| it.0.clone()).flatten().unwrap();
        let root = update.tree.as_ref().unwrap().root;
        let nodes: HashMap<_, _> = update.nodes.into_iter().collect();
        let mut parents = HashMap::new();
        for (id, node) in &nodes {
            parents.extend(node.children().iter().map(|child| (*child, *id)));
        }
        let (mut order, mut stack) = (Vec::new(), vec![root]);
        while let Some(id) = stack.pop() {
            order.push(id);
            stack.extend(nodes.get(&id).map_or(&[][..], |it| it.children()).iter().rev());
        }
        Self { nodes, parents, order }
    }

    /// The name of a node: its own, that of its label, or the text of a label.
    fn name(&self, id: NodeId) -> Option<&str> {
        let node = self.nodes.get(&id)?;
        let beside = || {
            let label = self.nodes.get(node.labelled_by().first()?)?;
            label.label().or(label.value())
        };
        let own = node.label().filter(|it| !it.trim().is_empty());
        let text = || node.value().filter(|_| node.role() == egui::Role::Label);
        own.or_else(beside).or_else(text)
    }

    fn ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.order.iter().filter_map(|id| Some((*id, self.nodes.get(id)?)))
    }

    /// The first node with this name.
    fn id(&self, name: &str) -> NodeId {
        let found = self.ids().find(|(id, node)| {
            self.name(*id) == Some(name) && node.supports_action(Request::Click)
        });
        found.unwrap_or_else(|| panic!("no {name}")).0
    }

    fn parent(&self, id: NodeId) -> Option<(NodeId, &Node)> {
        let parent = self.parents.get(&id)?;
        Some((*parent, self.nodes.get(parent)?))
    }
}

fn request(target_node: NodeId, action: Request, data: Option<ActionData>) -> Event {
    Event::AccessKitActionRequest(ActionRequest {
        action,
        target_tree: TreeId::ROOT,
        target_node,
        data,
    })
}

/// What was announced as the answer to a request.
fn announced(tree: &Tree) -> Option<String> {
    let mut answers = tree.ids().filter(|(_, node)| {
        node.role() == egui::Role::Status && node.live() == Some(egui::accesskit::Live::Assertive)
    });
    answers.next()?.1.label().map(str::to_owned)
}
