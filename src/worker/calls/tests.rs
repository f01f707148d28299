//! Tests of the channel, without the program of the hook.
