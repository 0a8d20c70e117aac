//! Whose turn it is (R-093, R-120, R-051, T-48).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use throughline_conversation_memory::CanvasSessionId;
use throughline_domain::TenantId;
use throughline_durable_history::{ConversationHistory, FinishedTurn, TurnContext};
use throughline_platform_identity::PlatformIdentity;

use crate::world::{World, sender};

// T-48: what is queued was captured in the turn, and is written by a task that has no context.
#[tokio::test(start_paused = true)]
async fn the_context_is_the_one_at_append() {
    let world = World::new().await;
    let history = world.history();
    let canvas = CanvasSessionId::parse("canvas-1").unwrap();
    let first = world.context().in_canvas(canvas.clone());
    first
        .enter(async { history.append("c", FinishedTurn::new("in a canvas", "")) })
        .await;
    world.say(&history, "c", "outside").await;
    history.flush().await;
    let turns = world.all_stored().await;
    let canvases: Vec<_> = turns.iter().map(|turn| turn.canvas.clone()).collect();
    assert_eq!(canvases, [Some(canvas), None]);
    assert!(turns.iter().all(|turn| turn.user_id == world.mina));
}

// T-48: a plugin's own task takes the context along.
#[tokio::test(start_paused = true)]
async fn a_spawned_task_enters_the_context_it_was_given() {
    let world = World::new().await;
    let history = Arc::new(world.history());
    let tasks = tokio_util::task::TaskTracker::new();
    let (bare, carried) = (history.clone(), history.clone());
    world
        .context()
        .enter(async {
            let context = TurnContext::current();
            tasks.spawn(async move { bare.append("c", FinishedTurn::new("bare", "")) });
            let append = async move { carried.append("c", FinishedTurn::new("carried", "")) };
            tasks.spawn(context.enter(append));
        })
        .await;
    tasks.close();
    tasks.wait().await;
    history.flush().await;
    assert_eq!(world.stored("c").await, ["carried"]);
}

// no error, no durable work, and the plain history all the same.
#[tokio::test(start_paused = true)]
async fn without_a_tenant_or_a_user_nothing_reaches_the_store() {
    let world = World::new().await;
    let history = world.history();
    let contexts = [
        TurnContext::default(),
        TurnContext::of(world.tenant.clone()),
        TurnContext::default().with_user(world.mina),
        TurnContext::default().said_by(sender("42")),
    ];
    for context in contexts {
        let turn = async {
            history.append("c", FinishedTurn::new("hi", ""));
            history.get("c").await.len()
        };
        assert!(context.enter(turn).await > 0);
    }
    history.append("c", FinishedTurn::new("outside of any turn", ""));
    history.flush().await;
    assert_eq!(world.memory.appends.load(Ordering::SeqCst), 0);
    assert_eq!(world.memory.histories.load(Ordering::SeqCst), 0);
}

// A channel that could not resolve at ingress: the turn is stored once the user is known.
#[tokio::test(start_paused = true)]
async fn a_channel_user_is_resolved_before_the_turn_is_stored() {
    let world = World::new().await;
    let history = world.history();
    let context = TurnContext::of(world.tenant.clone()).said_by(sender("42"));
    context
        .enter(async { history.append("c", FinishedTurn::new("hi", "")) })
        .await;
    history.flush().await;
    assert_eq!(world.all_stored().await.len(), 1);
}

//
#[tokio::test(start_paused = true)]
async fn a_user_is_resolved_once_a_turn_and_again_in_the_next() {
    let world = World::new().await;
    let counting = Arc::new(Counting::over(world.store.clone()));
    let turn = || async {
        let context = TurnContext::current();
        for id in ["42", "43", "42", "43", "42"] {
            let found = context
                .resolve(&*counting, &world.tenant, &sender(id))
                .await;
            found.unwrap();
        }
    };
    world.context().enter(turn()).await;
    assert_eq!(
        counting.asked.load(Ordering::SeqCst),
        2,
        "one entry a sender"
    );
    world.context().enter(turn()).await;
    assert_eq!(
        counting.asked.load(Ordering::SeqCst),
        4,
        "dropped with the turn"
    );
    let other = TenantId::parse("other").unwrap();
    let context = world.context();
    let mina = sender("42");
    let ask = |tenant| context.resolve(&*counting, tenant, &mina);
    assert!(ask(&world.tenant).await.is_ok());
    assert!(
        ask(&other).await.is_err(),
        "one tenant's answer is not another's"
    );
}

mod counting {
    use std::sync::atomic::AtomicUsize;

    use async_trait::async_trait;
    use throughline_domain::{Actor, MergeId, ReviewId, Timestamp, UserId};
    use throughline_platform_identity::{
        ChannelUser, DecisionReason, IdentityError, MergeRecord, MergeSource, Merged,
        NormalizedEmail, PlatformUserId, Resolved, Review, ReviewQuery, RevokedClaim, Undone, User,
        Verdict,
    };

    use super::*;

    /// Counts how often it is asked who somebody is.
    pub(super) struct Counting {
        inner: Arc<dyn PlatformIdentity>,
        pub(super) asked: AtomicUsize,
    }

    impl Counting {
        pub(super) fn over(inner: Arc<dyn PlatformIdentity>) -> Self {
            Self {
                inner,
                asked: AtomicUsize::new(0),
            }
        }
    }

    #[async_trait]
    impl PlatformIdentity for Counting {
        async fn resolve(
            &self,
            tenant: &TenantId,
            user: &ChannelUser,
        ) -> Result<Resolved, IdentityError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.inner.resolve(tenant, user).await
        }

        async fn resolve_said(
            &self,
            tenant: &TenantId,
            user: &ChannelUser,
            said_at: Timestamp,
        ) -> Result<Resolved, IdentityError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.inner.resolve_said(tenant, user, said_at).await
        }

        async fn resolve_queued(
            &self,
            tenant: &TenantId,
            user: &ChannelUser,
            queued_at: Timestamp,
        ) -> Result<Resolved, IdentityError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.inner.resolve_queued(tenant, user, queued_at).await
        }

        async fn revoke_claim(
            &self,
            tenant: &TenantId,
            email: &NormalizedEmail,
            actor: &Actor,
        ) -> Result<RevokedClaim, IdentityError> {
            self.inner.revoke_claim(tenant, email, actor).await
        }

        async fn lookup(
            &self,
            tenant: &TenantId,
            id: &PlatformUserId,
        ) -> Result<Option<UserId>, IdentityError> {
            self.inner.lookup(tenant, id).await
        }

        async fn user(
            &self,
            tenant: &TenantId,
            user: UserId,
        ) -> Result<Option<User>, IdentityError> {
            self.inner.user(tenant, user).await
        }

        async fn merge(
            &self,
            tenant: &TenantId,
            primary: UserId,
            secondary: UserId,
            source: MergeSource,
            actor: &Actor,
        ) -> Result<Merged, IdentityError> {
            self.inner
                .merge(tenant, primary, secondary, source, actor)
                .await
        }

        async fn undo_merge(
            &self,
            tenant: &TenantId,
            merge: MergeId,
            actor: &Actor,
        ) -> Result<Undone, IdentityError> {
            self.inner.undo_merge(tenant, merge, actor).await
        }

        async fn merges(
            &self,
            tenant: &TenantId,
            user: UserId,
        ) -> Result<Vec<MergeRecord>, IdentityError> {
            self.inner.merges(tenant, user).await
        }

        async fn propose_merge(
            &self,
            tenant: &TenantId,
            primary: UserId,
            secondary: UserId,
            proposer: &Actor,
        ) -> Result<ReviewId, IdentityError> {
            self.inner
                .propose_merge(tenant, primary, secondary, proposer)
                .await
        }

        async fn reviews(
            &self,
            tenant: &TenantId,
            query: &ReviewQuery,
        ) -> Result<Vec<Review>, IdentityError> {
            self.inner.reviews(tenant, query).await
        }

        async fn decide_review(
            &self,
            tenant: &TenantId,
            review: ReviewId,
            verdict: Verdict,
            reason: &DecisionReason,
            actor: &Actor,
        ) -> Result<Review, IdentityError> {
            self.inner
                .decide_review(tenant, review, verdict, reason, actor)
                .await
        }
    }
}

use counting::Counting;
