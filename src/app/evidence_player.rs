//! The player of a recorded run on the evidence page: its place, and whether it goes on by itself.

use super::evidence_page::EvidencePage;
use crate::run::EvidenceAnswer;
use crate::ui::action::PlayerAction;
use crate::ui::evidence::PlayerView;

/// The state of the player.
#[derive(Debug, Clone, Copy)]
pub(super) struct Player {
    /// The time of the playback, in milliseconds, when it was started or moved last.
    from_ms: i64,
    /// When it was started or moved last while it plays, in Unix milliseconds.
    since_ms: Option<i64>,
    speed: u8,
}

impl Default for Player {
    fn default() -> Self {
        Self { from_ms: 0, since_ms: None, speed: 1 }
    }
}

impl Player {
    /// The time of the playback of this length, in milliseconds, and whether it still plays.
    fn at(&self, now_ms: i64, length_ms: i64) -> (i64, bool) {
        let Some(since) = self.since_ms else { return (self.from_ms.min(length_ms), false) };
        let played = (now_ms - since).max(0).saturating_mul(i64::from(self.speed));
        let at = self.from_ms.saturating_add(played).min(length_ms);
        (at, at < length_ms)
    }

    fn apply(&mut self, action: PlayerAction, now_ms: i64, length_ms: i64) {
        let (at, is_playing) = self.at(now_ms, length_ms);
        let (mut from_ms, mut plays) = (at, is_playing);
        match action {
            PlayerAction::Toggle => {
                plays = !is_playing;
                // At the end, it begins again.
                from_ms = if plays && at >= length_ms { 0 } else { at };
            }
            PlayerAction::Seek(to_ms) => from_ms = to_ms.clamp(0, length_ms),
            PlayerAction::Speed(speed) => self.speed = speed.max(1),
        }
        self.from_ms = from_ms;
        self.since_ms = plays.then_some(now_ms);
    }
}

impl EvidencePage {
    fn length_ms(&self) -> i64 {
        match &self.answer {
            Some(EvidenceAnswer::Replay(Some(playback))) => playback.length_ms(),
            _ => 0,
        }
    }

    pub(super) fn play(&mut self, action: PlayerAction, now_ms: i64) {
        let length_ms = self.length_ms();
        self.player.apply(action, now_ms, length_ms);
    }

    pub(super) fn player_view(&self, now_ms: i64) -> PlayerView {
        let (at_ms, is_playing) = self.player.at(now_ms, self.length_ms());
        PlayerView { at_ms, is_playing, speed: self.player.speed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_player_goes_on_until_the_end() {
        let mut player = Player::default();
        let mut act = |action, now_ms| {
            player.apply(action, now_ms, 1_000);
            player.at(now_ms + 100, 1_000)
        };
        assert_eq!(act(PlayerAction::Toggle, 5_000), (100, true));
        assert_eq!(act(PlayerAction::Speed(4), 5_100), (500, true));
        assert_eq!(act(PlayerAction::Toggle, 5_150), (300, false));
        assert_eq!(act(PlayerAction::Seek(9_999), 6_000), (1_000, false));
        assert_eq!(act(PlayerAction::Toggle, 7_000), (400, true), "it begins again");
        assert_eq!(act(PlayerAction::Seek(900), 7_050), (1_000, false));
    }
}
