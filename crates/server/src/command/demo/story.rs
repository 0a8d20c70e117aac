//! The story: one morning of one person, on three channels.

/// One turn of it.
pub(super) struct Scene {
    /// Where, in words.
    pub(super) place: &'static str,
    /// The channel.
    pub(super) kind: &'static str,
    /// The conversation within it.
    pub(super) scope: &'static str,
    /// The canvas, on the desk.
    pub(super) canvas: Option<&'static str>,
    /// How long ago.
    pub(super) minutes_ago: u64,
    /// What Mina says.
    pub(super) mina: &'static str,
    /// What the assistant answers.
    pub(super) assistant: &'static str,
}

/// Who speaks, as Telegram knows her.
pub(super) const TELEGRAM_ID: &str = "48213377";
/// The canvas that the last scene plays on.
pub(super) const CANVAS: &str = "quote-2041";

const fn telegram(minutes_ago: u64, mina: &'static str, assistant: &'static str) -> Scene {
    Scene {
        place: "Telegram, on the train",
        kind: "telegram-chat",
        scope: "private-48213377",
        canvas: None,
        minutes_ago,
        mina,
        assistant,
    }
}

const fn teams(minutes_ago: u64, mina: &'static str, assistant: &'static str) -> Scene {
    Scene {
        place: "Teams, in the lobby",
        kind: "teams-aad",
        scope: "19:mina-assistant",
        canvas: None,
        minutes_ago,
        mina,
        assistant,
    }
}

/// On the way.
pub(super) const TRAIN: [Scene; 3] = [
    telegram(
        52,
        "Morning! The 7:32 to Zurich stands still before Olten. Do I still make my nine o'clock?",
        "Just about. The 7:32 runs 14 minutes late and reaches Zurich HB at 8:41. The office is a \
         nine-minute walk.",
    ),
    telegram(
        49,
        "Good. We will be eight now instead of six, is the room big enough?",
        "Säntis seats six. Rigi on floor 2 seats ten and is free from 9:00 to 10:30, so I moved the \
         booking there and told the guests.",
    ),
    telegram(
        44,
        "Perfect. And before I forget: 8% discount on the Brunner quote instead of 5%.",
        "Noted for quote 2041, Brunner AG: 8% brings it from CHF 48,450 to CHF 46,920. I have not \
         sent it.",
    ),
];

/// In the house.
pub(super) const LOBBY: [Scene; 2] = [
    teams(
        12,
        "I'm downstairs. Where do I have to go?",
        "Floor 2, room Rigi. You are eight today, so it is no longer Säntis.",
    ),
    teams(
        10,
        "Is Petra coming?",
        "Petra accepted. Jonas joins by video; the screen in Rigi is set up for him.",
    ),
];

/// At the desk, after the assistant has read what was said elsewhere.
pub(super) const DESK: Scene = Scene {
    place: "Desktop canvas, at the desk",
    kind: "desktop",
    scope: "mina-desk",
    canvas: Some(CANVAS),
    minutes_ago: 0,
    mina: "Open the Brunner quote, please.",
    assistant: "Here is quote 2041 with the 8% you asked for on the train: CHF 46,920. Shall I send it?",
};
