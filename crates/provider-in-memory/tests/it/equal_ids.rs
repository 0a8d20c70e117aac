//! Two tenants whose users, turns and keys have the very same ids (failures.md 9).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{ConversationMemory, Limit, RecentQuery, Turn, Usage};
use throughline_domain::{Ids, ManualClock, TenantId, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{NewKey, Scopes, Tenancy, TenantConfig};
use ulid::Ulid;

/// Ids that count, and can start again.
#[derive(Default)]
struct Rewinding(AtomicU64);

impl Ids for Rewinding {
    fn ulid(&self, _at: Timestamp) -> Ulid {
        Ulid(u128::from(self.0.fetch_add(1, Ordering::SeqCst)))
    }

    fn secret(&self) -> [u8; 32] {
        [7; 32]
    }
}

/// Makes a tenant with a user, a key and a turn that says the tenant's name.
async fn furnished(store: &InMemoryStore, name: &str) -> (TenantId, UserId) {
    let tenant = TenantId::parse(name).expect("a plain name");
    let made = store.create_tenant(&tenant, TenantConfig::default()).await;
    made.expect("a new tenant");
    let who = ChannelUser::new(PlatformKind::Custom, "1").expect("a plain id");
    let user = store
        .resolve(&tenant, &who)
        .await
        .expect("resolves")
        .user_id;
    let key = NewKey {
        label: name.to_owned(),
        scopes: Scopes::all(),
    };
    store.mint_key(&tenant, key).await.expect("minted");
    let new = turn(user, "k1").saying(name).build();
    store.append(&tenant, new).await.expect("a good turn");
    (tenant, user)
}

async fn recent(store: &InMemoryStore, tenant: &TenantId, user: UserId) -> Vec<Turn> {
    let read = store.recent(tenant, user, &RecentQuery::default()).await;
    read.expect("reads").turns
}

#[tokio::test]
async fn equal_ids_in_two_tenants_stay_apart() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let ids = Arc::new(Rewinding::default());
    let store = InMemoryStore::new(clock, ids.clone());
    let (acme, mina) = furnished(&store, "acme").await;
    ids.0.store(0, Ordering::SeqCst);
    let (corp, other) = furnished(&store, "acme-corp").await;
    assert_eq!(mina, other);

    let turns = (
        recent(&store, &acme, mina).await,
        recent(&store, &corp, mina).await,
    );
    assert_eq!(turns.0[0].id, turns.1[0].id);
    assert_eq!((turns.0.len(), turns.1.len()), (1, 1));
    assert_eq!(turns.0[0].user_message, "acme");
    assert_eq!(turns.1[0].user_message, "acme-corp");

    let (first, second) = (
        store.keys(&acme).await.unwrap(),
        store.keys(&corp).await.unwrap(),
    );
    assert_eq!(first[0].id, second[0].id);
    store.revoke_key(&acme, first[0].id).await.unwrap();
    assert_eq!(store.keys(&corp).await.unwrap(), second);

    store.clear(&acme, &turns.0[0].scope).await.unwrap();
    let history = store
        .history(&corp, &turns.1[0].scope, Limit::default())
        .await;
    assert_eq!(history.unwrap(), turns.1);
    store.append(&acme, turn(mina, "k2").build()).await.unwrap();
    let usage = store.usage(&corp, mina).await.unwrap();
    let expected = Usage {
        turn_count: 1,
        byte_count: 9,
    };
    assert_eq!(usage, expected);
}
