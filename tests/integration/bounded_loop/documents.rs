//! What the guide says about loops.

#[test]
fn the_user_guide_explains_each_stop_reason() {
    let page = include_str!("../../../docs/loop.md");
    for code in countersign::run::StopCode::ALL {
        let row = format!("| `{}` | {} | {} |", code.as_str(), code.meaning(), code.next());
        assert!(page.contains(&row), "docs/loop.md lacks:\n{row}");
    }
}
