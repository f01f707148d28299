//! Logs panics with their place. A panic also prints its message, as before.

use std::any::Any;
use std::panic;

/// Logs panics from now on.
pub(super) fn log_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        let message = without_contents(info.payload());
        log::error!("panic at={place:?} thread={thread:?} message={message:?}");
        print(info);
        // A panic of the main thread ends the program.
        log::logger().flush();
    }));
}

/// The forms of messages with values that this and other programs cause by the standard library, each by its beginning and
/// by what follows the part without values; an empty text if all of it is numbers.
const FORMS: [(&str, &str); 9] = [
    ("index out of bounds: ", ""),
    ("range start index ", ""),
    ("range end index ", ""),
    ("slice index starts at ", ""),
    ("byte index ", " of `"),
    ("start byte index ", " of `"),
    ("end byte index ", " of `"),
    ("called `", ": "),
    ("assertion `", "` failed"),
];

/// The message of a panic without values that may come from a plan, a file or an output. A literal is a part of the program.
/// Of other messages only known forms are kept, up to their first value; the place of the panic says the rest.
pub(super) fn without_contents(payload: &(dyn Any + Send)) -> String {
    if let Some(literal) = payload.downcast_ref::<&'static str>() {
        return (*literal).to_owned();
    }
    let text = payload.downcast_ref::<String>().map_or("", String::as_str);
    let form = FORMS.iter().find(|(begin, _)| text.starts_with(begin));
    let kept = match form {
        Some((_, "")) => Some(text),
        // A character that is not at a boundary is named, too.
        Some((_, end)) => text.split(end).next().map(|it| it.split("; it is").next().unwrap_or(it)),
        None => None,
    };
    kept.map_or_else(|| "…".to_owned(), |kept| kept.lines().next().unwrap_or_default().to_owned())
}
