//! The texts of the turns: plain English, the same for both sides.

const PARAGRAPH: &str = "The delivery of the second pallet was moved to the week after next because \
    the warehouse counted again and found the labels mixed up. Please ask the customer whether the \
    smaller boxes can come first, and tell the driver to ring at the gate. We agreed that the price \
    stays as it was in the offer, and that the old stock goes back without a fee. ";

/// What the user says in each turn: 400 bytes.
pub(crate) fn said() -> String {
    of(400)
}

/// What the assistant answers: 1,200 bytes.
pub(crate) fn answered() -> String {
    of(1_200)
}

fn of(bytes: usize) -> String {
    PARAGRAPH.chars().cycle().take(bytes).collect()
}
