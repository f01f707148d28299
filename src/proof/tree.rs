//! The Merkle tree of RFC 6962 over the links of the chain, with its proofs of inclusion and consistency.
//!
//! Each hash of a proof is that of a range of leaves, and each such range consists of complete subtrees. So a tree of any
//! size is read leaf by leaf: one subtree for each bit of the size is kept, and those that were asked for before.

use std::collections::BTreeMap;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::plan::Digest;

/// A complete subtree: it has `1 << level` leaves, beginning with leaf `index << level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Subtree {
    level: u32,
    index: u64,
}

/// A tree that is read leaf by leaf. What shall be known afterwards is to be asked for before: roots at smaller sizes with
/// [`want_root`](Self::want_root), proofs with [`want_inclusion`](Self::want_inclusion) and
/// [`want_consistency`](Self::want_consistency).
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The number of leaves.
    size: u64,
    /// The complete subtrees of which the tree consists, the largest first.
    complete: Vec<Digest>,
    /// The subtrees that were asked for.
    wanted: BTreeMap<Subtree, Option<Digest>>,
}

impl Tree {
    /// Adds the next leaf, with this data.
    pub fn push(&mut self, data: &[u8]) {
        let mut subtree = Subtree { level: 0, index: self.size };
        let mut hash = hashed(&[&[0], data]);
        self.note(subtree, hash);
        // Each set bit of the size is a complete subtree, which the next leaf completes to a larger one.
        while subtree.index & 1 == 1
            && let Some(left) = self.complete.pop()
        {
            hash = node(&left, &hash);
            subtree = Subtree { level: subtree.level + 1, index: subtree.index >> 1 };
            self.note(subtree, hash);
        }
        self.complete.push(hash);
        self.size += 1;
    }

    /// The number of leaves.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root of all leaves so far.
    pub fn root(&self) -> Digest {
        root_of(self.complete.iter().copied().rev()).unwrap_or_else(empty_root)
    }

    /// Asks for the root of the first `size` leaves.
    pub fn want_root(&mut self, size: u64) {
        self.want(&(0..size));
    }

    /// The root of the first `size` leaves; `None` if there are fewer, or it was not asked for.
    pub fn root_at(&self, size: u64) -> Option<Digest> {
        if size == 0 { Some(empty_root()) } else { self.hash(&(0..size)) }
    }

    /// Asks for the proof that leaf `index` is one of the first `size` leaves.
    pub fn want_inclusion(&mut self, index: u64, size: u64) {
        inclusion(index, size).iter().for_each(|range| self.want(range));
    }

    /// The hashes that lead from leaf `index` to the root of the first `size` leaves (RFC 6962, section 2.1.1), the
    /// leaf's sibling first; `None` if there are fewer leaves, or they were not asked for.
    pub fn inclusion_proof(&self, index: u64, size: u64) -> Option<Vec<Digest>> {
        (index < size && size <= self.size).then_some(())?;
        inclusion(index, size).iter().map(|range| self.hash(range)).collect()
    }

    /// Asks for the proof that the first `size` leaves begin with the first `before` leaves.
    pub fn want_consistency(&mut self, before: u64, size: u64) {
        consistency(before, size).iter().for_each(|range| self.want(range));
    }

    /// The hashes that lead from the root of the first `before` leaves to that of the first `size` leaves (RFC 6962,
    /// section 2.1.2); none if one of them is trivial. `None` if there are fewer leaves, or they were not asked for.
    pub fn consistency_proof(&self, before: u64, size: u64) -> Option<Vec<Digest>> {
        (before <= size && size <= self.size).then_some(())?;
        consistency(before, size).iter().map(|range| self.hash(range)).collect()
    }

    fn want(&mut self, range: &Range<u64>) {
        self.wanted.extend(subtrees(range).into_iter().map(|subtree| (subtree, None)));
    }

    fn note(&mut self, subtree: Subtree, hash: Digest) {
        if let Some(wanted) = self.wanted.get_mut(&subtree) {
            *wanted = Some(hash);
        }
    }

    /// The hash of a range; `None` if it is not known.
    fn hash(&self, range: &Range<u64>) -> Option<Digest> {
        let subtrees = subtrees(range);
        let hashes: Option<Vec<Digest>> =
            subtrees.iter().rev().map(|subtree| *self.wanted.get(subtree)?).collect();
        root_of(hashes?.into_iter())
    }
}

/// The hash of a leaf is one of `0` and its data, that of a node one of `1` and its children, so that no leaf is a node.
fn node(left: &Digest, right: &Digest) -> Digest {
    hashed(&[&[1], left.as_bytes(), right.as_bytes()])
}

fn hashed(parts: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    Digest::from_bytes(hash.finalize().into())
}

fn empty_root() -> Digest {
    Digest::of(b"")
}

/// The hash of neighbouring complete subtrees, of which the last and smallest is the first.
fn root_of(mut hashes: impl Iterator<Item = Digest>) -> Option<Digest> {
    let last = hashes.next()?;
    Some(hashes.fold(last, |right, left| node(&left, &right)))
}

/// The complete subtrees of which a range consists, the largest first. A range of a proof begins at a multiple of the size
/// of its largest subtree.
fn subtrees(range: &Range<u64>) -> Vec<Subtree> {
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(level) = range.end.saturating_sub(at).checked_ilog2() {
        found.push(Subtree { level, index: at >> level });
        at += 1 << level;
    }
    found
}

/// Where a range of at least two leaves is split: its left part is the largest power of two that leaves something.
fn middle(range: &Range<u64>) -> u64 {
    let leaves = range.end - range.start;
    range.start + (1 << (leaves - 1).ilog2())
}

/// The ranges of an inclusion proof, the leaf's sibling first.
fn inclusion(index: u64, size: u64) -> Vec<Range<u64>> {
    let mut path = Vec::new();
    let mut range = 0..size;
    while index < size && range.end - range.start > 1 {
        let middle = middle(&range);
        let (left, right) = (range.start..middle, middle..range.end);
        let is_left = index < middle;
        path.push(if is_left { right.clone() } else { left.clone() });
        range = if is_left { left } else { right };
    }
    path.reverse();
    path
}

/// The ranges of a consistency proof, the smallest first.
fn consistency(before: u64, size: u64) -> Vec<Range<u64>> {
    let mut path = Vec::new();
    if before == 0 || before > size {
        return path;
    }
    let mut range = 0..size;
    while before != range.end {
        let middle = middle(&range);
        let (left, right) = (range.start..middle, middle..range.end);
        let is_left = before <= middle;
        path.push(if is_left { right.clone() } else { left.clone() });
        range = if is_left { left } else { right };
    }
    // The whole smaller tree is known to whoever checks the proof.
    if range.start != 0 {
        path.push(range);
    }
    path.reverse();
    path
}
