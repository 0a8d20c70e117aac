//! The look-up cache in front of two replicas of one store (D-20).

use std::sync::Arc;

use throughline_conversation_memory::ConversationMemory;
use throughline_conversation_memory::contract::turn;
use throughline_domain::Actor;
use throughline_erasure::{Erasure, Mode};
use throughline_platform_identity::{
    Cached, ChannelUser, MergeSource, PlatformIdentity, PlatformKind,
};
use throughline_tenancy::TenantConfig;

use crate::subject::subject;

fn who(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::Custom, id).expect("a plain id")
}

#[tokio::test]
async fn a_stale_entry_of_another_replica_delays_and_breaks_nothing() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let (here, there) = (
        Cached::new(subject.store.clone()),
        Cached::new(subject.store.clone()),
    );
    let operator = Actor::parse("olga").expect("a plain name");
    let mina = here
        .resolve(&acme, &who("mina"))
        .await
        .expect("resolves")
        .user_id;
    let other = here
        .resolve(&acme, &who("other"))
        .await
        .expect("resolves")
        .user_id;
    let seen = there.lookup(&acme, &who("other").id).await.expect("reads");
    assert_eq!(seen, Some(other));
    here.merge(&acme, mina, other, MergeSource::Manual, &operator)
        .await
        .expect("merged");
    // This process knows at once, the other one still has the old id, and that id still answers.
    let fresh = here.lookup(&acme, &who("other").id).await.expect("reads");
    assert_eq!(fresh, Some(mina));
    let stale = there.lookup(&acme, &who("other").id).await.expect("reads");
    let stale = stale.expect("a known user");
    let user = there
        .user(&acme, stale)
        .await
        .expect("reads")
        .expect("known");
    assert_eq!(user.user_id, mina);
    let stored = subject.store.append(&acme, turn(stale, "k1").build()).await;
    assert_eq!(stored.expect("stored").user_id, mina);
    // Resolving heals.
    there.resolve(&acme, &who("other")).await.expect("resolves");
    let healed = there.lookup(&acme, &who("other").id).await.expect("reads");
    assert_eq!(healed, Some(mina));
}

#[tokio::test]
async fn an_append_never_trusts_the_cache() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let cached: Arc<dyn PlatformIdentity> = Arc::new(Cached::new(subject.store.clone()));
    let operator = Actor::parse("olga").expect("a plain name");
    let mina = cached
        .resolve(&acme, &who("mina"))
        .await
        .expect("resolves")
        .user_id;
    let receipt = subject
        .store
        .erase(&acme, mina, &operator, Mode::Erase)
        .await;
    receipt.expect("erased");
    // The entry is stale, the fence and the resolve are not.
    let stale = cached.lookup(&acme, &who("mina").id).await.expect("reads");
    assert_eq!(stale, Some(mina));
    assert_eq!(cached.user(&acme, mina).await.expect("reads"), None);
    let refused = subject.store.append(&acme, turn(mina, "k1").build()).await;
    assert!(refused.is_err());
    let fresh = cached.resolve(&acme, &who("mina")).await.expect("resolves");
    assert!(fresh.is_new && fresh.user_id != mina);
}
