//! Measures the parser's work between two progress callbacks by its memory allocations.
//!
//! A parser step is cheap in a correct text. During error recovery one step may try hundreds of alternatives and
//! store the results. The allocations for this are the same on every machine.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

thread_local! {
    /// Bytes allocated on this thread so far.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Installs the counting allocator for the parser on all threads. Must be called before the parser is first used.
pub fn count_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[expect(unsafe_code, reason = "the parser is not written in Rust")]
        // SAFETY: these functions forward to the system functions that the parser uses by default. Memory that was
        // allocated before can be freed by them.
        unsafe {
            tree_sitter::set_allocator(Some(Allocator {
                malloc: counting_malloc,
                calloc: counting_calloc,
                realloc: counting_realloc,
                free: libc::free,
            }));
        }
    });
}

/// Bytes allocated on this thread so far.
pub(super) fn allocated() -> u64 {
    ALLOCATED.get()
}

fn count(bytes: usize, memory: *mut c_void) -> *mut c_void {
    ALLOCATED.set(ALLOCATED.get().wrapping_add(bytes as u64));
    if memory.is_null() && bytes > 0 {
        handle_alloc_error(Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<u8>()));
    }
    memory
}

macro_rules! counting {
    ($name:ident, $call:ident, ($($argument:ident: $type:ty),+), $bytes:expr) => {
        #[expect(unsafe_code, reason = "called by a library that is not written in Rust")]
        unsafe extern "C" fn $name($($argument: $type),+) -> *mut c_void {
            // SAFETY: the arguments are passed on unchanged to the system function of the same contract.
            count($bytes, unsafe { libc::$call($($argument),+) })
        }
    };
}

counting!(counting_malloc, malloc, (bytes: usize), bytes);
counting!(counting_calloc, calloc, (count: usize, bytes: usize), count.saturating_mul(bytes));
counting!(counting_realloc, realloc, (memory: *mut c_void, bytes: usize), bytes);
