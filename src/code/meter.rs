//! How much work the parser does between two looks at its watch, measured by the memory that it asks for.
//!
//! A step of the parser is short in a text without faults. In a faulty one it may try hundreds of ways to go on, and
//! keep what it found. All of that asks for memory, in the same order and size on every machine.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

thread_local! {
    /// All bytes that were asked for on this thread.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// Counts from here on, on every thread. Called first by whoever uses the parser, before there are others.
pub fn count_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[expect(unsafe_code, reason = "the parser is not written in Rust")]
        // SAFETY: these are the functions of the system that the parser uses by itself, with a count beside them;
        // what was allocated before can be given back to them.
        unsafe {
            tree_sitter::set_allocator(Some(Allocator {
                malloc: new,
                calloc: new_zeroed,
                realloc: resize,
                free: libc::free,
            }));
        }
    });
}

/// All bytes that were asked for on this thread until now.
pub(super) fn asked() -> u64 {
    ASKED.get()
}

fn counted(bytes: usize, memory: *mut c_void) -> *mut c_void {
    ASKED.set(ASKED.get().wrapping_add(bytes as u64));
    if memory.is_null() && bytes > 0 {
        handle_alloc_error(Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<u8>()));
    }
    memory
}

macro_rules! of_the_system {
    ($name:ident, $call:ident, ($($argument:ident: $type:ty),+), $bytes:expr) => {
        #[expect(unsafe_code, reason = "called by a library that is not written in Rust")]
        unsafe extern "C" fn $name($($argument: $type),+) -> *mut c_void {
            // SAFETY: what this is called with is what its name in the system wants.
            counted($bytes, unsafe { libc::$call($($argument),+) })
        }
    };
}

of_the_system!(new, malloc, (bytes: usize), bytes);
of_the_system!(new_zeroed, calloc, (count: usize, bytes: usize), count.saturating_mul(bytes));
of_the_system!(resize, realloc, (memory: *mut c_void, bytes: usize), bytes);
