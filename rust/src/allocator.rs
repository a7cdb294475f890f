//! Where does memory come from, and when is it given back?

use std::ffi::{c_int, c_long};

/// The masks of a format are thousands of small pieces, freed together. The system's allocator of Linux merges and sorts them when
/// the next compile first asks for memory: a fifth of the time to the first mask.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Have the allocator keep what is freed for a second before the system gets it back, and not for its usual 10 ms.
///
/// PERF: a server compiles a format now and then, and its memory came back empty each time: 2 MB to clear in a compile of 0.2 ms,
/// a tenth of it at the median and a quarter on average.
pub fn keep_freed_memory() {
    /// `mi_option_purge_delay`, in milliseconds.
    const PURGE_DELAY: c_int = 15;
    const USUAL: c_long = 10;
    // SAFETY: options are plain numbers, and this is called once, while the module is imported and before it has any
    // thread. Another value than the usual one was set by the user's environment, or is that of another option.
    unsafe {
        if libmimalloc_sys::mi_option_get(PURGE_DELAY) == USUAL {
            libmimalloc_sys::mi_option_set(PURGE_DELAY, 1_000);
        }
    }
}
