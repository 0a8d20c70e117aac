//! One person is taken out of this process.

use throughline_domain::{TenantId, UserId};

use super::DurableConversationHistory;

/// What was taken out of this process for a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Turns of the hot ring.
    pub turns: u64,
    /// Turns that waited to be written, in this process or on its disk.
    pub waiting: u64,
}

impl DurableConversationHistory {
    /// Takes everything this process holds of a user out of it: their turns in every scope, and those
    /// that wait to be written. Others' turns in the same scopes stay. For whoever erases a user in this
    /// process (D-09, T-29, T-37); elsewhere the erasure epoch does the same with a broader brush.
    pub async fn clear_hot_cache_for_user(&self, tenant: &TenantId, user: UserId) -> Purged {
        let mut waiting = self.shared.line.forget_user(tenant, user);
        let turns = self.shared.hot.forget_user(tenant, user);
        if let Some(spool) = &self.shared.spool {
            match spool.forget_user(tenant, user).await {
                Ok(removed) => waiting += usize::try_from(removed).unwrap_or(0),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(
                        tenant.id = %tenant, error,
                        "a user's turns could not be taken from the spool; the store will refuse them"
                    );
                }
            }
            spool.show(&self.shared.metrics);
        }
        self.shared.show_levels();
        let count = |count| u64::try_from(count).unwrap_or(u64::MAX);
        Purged {
            turns: count(turns),
            waiting: count(waiting),
        }
    }
}
