//! One limit per field, in bytes, checked before any store is asked (T-59).

/// A user's message: 256 KiB.
pub const MAX_USER_MESSAGE_BYTES: usize = 256 * 1024;
/// The assistant's answer: 1 MiB.
pub const MAX_ASSISTANT_ANSWER_BYTES: usize = 1024 * 1024;
/// Tool calls, as canonical JSON: 512 KiB.
pub const MAX_TOOL_CALLS_BYTES: usize = 512 * 1024;
/// Metadata, as canonical JSON: 16 KiB.
pub const MAX_METADATA_BYTES: usize = 16 * 1024;
/// Levels of nesting in tool calls and metadata.
pub const JSON_DEPTH: usize = 8;
/// Turns in one batch.
pub const BATCH_TURNS: usize = 500;
