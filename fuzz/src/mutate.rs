//! Mutates a plan as JSON, because random changes of bytes seldom stay JSON.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value, json};

use crate::plan::{Dialect, Intent, PRECONDITION_WORDS, TOOLS};

/// Changes the first `size` bytes of `data`, which has room for `max_size`. Returns the new size.
///
/// Half of the changes, and every change of invalid JSON, are libFuzzer's own changes of bytes.
pub fn mutate_json(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed));
    if random.below(2) == 1
        && let Ok(mut value) = serde_json::from_slice::<Value>(&data[..size])
    {
        for _ in 0..=random.below(3) {
            change(&mut value, &mut random);
        }
        let pretty = random.below(4) == 0;
        let mut text = if pretty { format!("{value:#}") } else { value.to_string() };
        if random.below(8) == 0 {
            repeat_a_name(&mut text, &mut random);
        }
        if text.len() <= max_size {
            data[..text.len()].copy_from_slice(text.as_bytes());
            return text.len();
        }
    }
    fuzzer_mutate(data, size, max_size)
}

/// A small generator of random numbers (SplitMix64): the same seed gives the same change.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// Changes one randomly chosen node of the value.
fn change(value: &mut Value, random: &mut Random) {
    let count = count(value);
    let other = nth(value, &mut random.below(count)).map(|node| node.clone());
    let Some(node) = nth(value, &mut random.below(count)) else { return };
    match (random.below(6), node) {
        (0, Value::Object(object)) => {
            object.insert(key(random).to_owned(), leaf(random));
            // Large objects are parsed differently from small ones.
            let more = if random.below(4) == 0 { 20 } else { 0 };
            object.extend((0..more).map(|it| (format!("k{it}"), leaf(random))));
        }
        (0, Value::Array(items)) => {
            let item = if random.below(2) == 0 { step(random) } else { other.unwrap_or_default() };
            items.insert(random.below(items.len() + 1), item);
        }
        (1, Value::Object(object)) => {
            let name = object.keys().nth(random.below(object.len())).cloned();
            name.and_then(|name| object.remove(&name));
        }
        (1, Value::Array(items)) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        (2, Value::Object(object)) => {
            let name = object.keys().nth(random.below(object.len())).cloned();
            if let Some(moved) = name.and_then(|name| object.remove(&name)) {
                object.insert(key(random).to_owned(), moved);
            }
        }
        (0..=2, Value::String(text)) => {
            let places: Vec<usize> =
                (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            text.insert_str(places[random.below(places.len())], random.of(&PIECES));
        }
        (3, node) => *node = other.unwrap_or_default(),
        (_, node) => *node = leaf(random),
    }
}

/// Inserts a first member into an object, often with a duplicate name, which a [`Value`] cannot express.
fn repeat_a_name(text: &mut String, random: &mut Random) {
    let objects: Vec<usize> = text.match_indices("{\"").map(|(at, _)| at + 1).collect();
    if !objects.is_empty() {
        let at = objects[random.below(objects.len())];
        let mut names = text[at..].split('"').skip(1).step_by(4).take(20);
        let name =
            names.nth(random.below(20)).map_or_else(|| key(random).to_owned(), str::to_owned);
        text.insert_str(at, &format!("\"{name}\":{},", leaf(random)));
    }
}

/// Characters that make a text hard to read.
const PIECES: [&str; 16] =
    [" ", "\t", "\n", "\0", "\\", "\"", "/", "~", "~1", "é", "\u{202e}", "🙂", "[", "{", "*", "A"];

/// Every name that the published schemas give to a field, and names that only look like one.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        if let Some(Value::Object(fields)) = value.get("properties") {
            names.extend(fields.keys().cloned());
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            Value::Object(object) => object.values().for_each(|item| collect(item, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::from(["Requires_confirmation".to_owned(), "a/b~c".to_owned()]);
    for (_, dialect) in Dialect::WORDS {
        collect(&serde_json::from_str(dialect.schema()).expect("a schema is JSON"), &mut names);
    }
    names.into_iter().collect()
});

fn key(random: &mut Random) -> &'static str {
    let names: Vec<&str> = TOOLS
        .iter()
        .flat_map(|tool| tool.arguments)
        .flat_map(|argument| [Some(argument.name), argument.alias])
        .flatten()
        .collect();
    if random.below(3) == 0 { random.of(&names) } else { &KEYS[random.below(KEYS.len())] }
}

fn word(random: &mut Random) -> &'static str {
    const WORDS: [&str; 17] = [
        "local",
        "{{a}}",
        "x {{b}} {{a}}",
        "b",
        "a@b",
        "blocked",
        "teacher",
        "",
        " ",
        "Q1",
        "Q8",
        "a",
        "step_1",
        "a succeeded",
        "x.rs",
        "[",
        "(?i)\\w+",
    ];
    match random.below(4) {
        0 => random.of(PRECONDITION_WORDS),
        1 => TOOLS[random.below(TOOLS.len())].name,
        2 => Intent::WORDS[random.below(Intent::WORDS.len())].0,
        _ => random.of(&WORDS),
    }
}

fn leaf(random: &mut Random) -> Value {
    match random.below(10) {
        0 => Value::Null,
        1 => Value::Bool(random.below(2) == 0),
        2 => json!(random.below(3)),
        3 => json!([1.5, -0.0, 1e300, 1e-7][random.below(4)]),
        4 => json!([]),
        5 => json!({}),
        _ => json!(word(random)),
    }
}

/// A step with every argument that its tool takes.
fn step(random: &mut Random) -> Value {
    let tool = &TOOLS[random.below(TOOLS.len())];
    let name = |random: &mut Random, argument: &crate::plan::ArgumentSpec| {
        argument.alias.filter(|_| random.below(4) == 0).unwrap_or(argument.name).to_owned()
    };
    let arguments: Map<String, Value> =
        tool.arguments.iter().map(|it| (name(random, it), json!(word(random)))).collect();
    let mut step = json!({"tool": tool.name, "arguments": arguments});
    if random.below(2) == 0 {
        step["precondition"] = json!(random.of(PRECONDITION_WORDS));
    }
    if random.below(2) == 0 {
        step["requires_confirmation"] = json!(random.below(2) == 0);
    }
    step
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(object) => object.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// The value that is reached after `left` others.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(object) => object.values_mut().find_map(|item| nth(item, left)),
        _ => None,
    }
}
