//! Whose turn it is: known at ingress, carried along without an argument.

use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::CanvasSessionId;
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, PlatformIdentity, PlatformUserId, Resolved,
};

tokio::task_local! {
    static CURRENT: TurnContext;
}

/// What identity said of one sender.
type Answered = ((TenantId, PlatformUserId), Resolved);

/// The context of one turn. Everything may be absent: then nothing crosses channels, and nothing fails.
///
/// A task-local does not follow a spawned task (T-48). What the history needs of it is taken when `append`
/// is called; a task that the plugin spawns for itself gets it by [`TurnContext::current`] before and
/// [`TurnContext::enter`] inside.
#[derive(Clone, Default)]
pub struct TurnContext {
    /// The tenant.
    pub tenant: Option<TenantId>,
    /// Who spoke, as the channel names them: the sender, never the group.
    pub user_ref: Option<ChannelUser>,
    /// Who spoke, once they are resolved.
    pub user_id: Option<UserId>,
    /// The canvas the turn belongs to.
    pub canvas: Option<CanvasSessionId>,
    /// Shared by the clones of one turn's context and gone with them.
    resolved: Arc<Mutex<Vec<Answered>>>,
}

impl TurnContext {
    /// A turn of this tenant.
    pub fn of(tenant: TenantId) -> Self {
        Self {
            tenant: Some(tenant),
            ..Self::default()
        }
    }

    /// Said by this channel user.
    #[must_use]
    pub fn said_by(mut self, user: ChannelUser) -> Self {
        self.user_ref = Some(user);
        self
    }

    /// Said by this user.
    #[must_use]
    pub fn with_user(mut self, user: UserId) -> Self {
        self.user_id = Some(user);
        self
    }

    /// In this canvas.
    #[must_use]
    pub fn in_canvas(mut self, canvas: CanvasSessionId) -> Self {
        self.canvas = Some(canvas);
        self
    }

    /// Runs the turn in this context.
    pub async fn enter<F: Future>(self, turn: F) -> F::Output {
        CURRENT.scope(self, turn).await
    }

    /// The context of the turn this is called in; an empty one outside of any.
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// The user behind a channel user, asked once a turn for each sender. A failure is not remembered.
    pub async fn resolve(
        &self,
        identity: &dyn PlatformIdentity,
        tenant: &TenantId,
        user: &ChannelUser,
    ) -> Result<Resolved, IdentityError> {
        let key = (tenant.clone(), user.id.clone());
        let known = self
            .resolved
            .lock()
            .iter()
            .find(|(of, _)| *of == key)
            .cloned();
        if let Some((_, resolved)) = known {
            return Ok(resolved);
        }
        let resolved = identity.resolve(tenant, user).await?;
        self.resolved.lock().push((key, resolved));
        Ok(resolved)
    }
}
