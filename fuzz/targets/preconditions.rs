#![no_main]
//! x
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = countersign_fuzz::plan::parse(data);
});
