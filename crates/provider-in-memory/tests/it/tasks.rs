//! Many tasks on one store.

use std::collections::HashSet;
use std::sync::Arc;

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{ConversationMemory, Limit, NewTurn, RecentQuery, Turn};
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{NewKey, Scopes, Tenancy, TenantConfig};
use tokio::task::JoinSet;

use crate::subject::subject;

fn slack(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::SlackUser, id).expect("a plain id")
}

fn all() -> RecentQuery {
    RecentQuery {
        limit: Limit::new(100).expect("not zero"),
        ..RecentQuery::default()
    }
}

// failures.md 22
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_first_messages_of_one_person_make_one_user_with_fifty_turns() {
    let subject = subject().await;
    let acme = subject.tenant("acme", TenantConfig::default()).await;
    let mut tasks = JoinSet::new();
    for number in 0..50 {
        let (store, acme) = (subject.store.clone(), acme.clone());
        tasks.spawn(async move {
            let resolved = store.resolve(&acme, &slack("U1")).await.unwrap();
            let new = turn(resolved.user_id, &format!("k{number}")).build();
            store.append(&acme, new).await.unwrap();
            resolved
        });
    }
    let resolved = tasks.join_all().await;
    let users: HashSet<UserId> = resolved.iter().map(|resolved| resolved.user_id).collect();
    assert_eq!(users.len(), 1);
    assert_eq!(
        resolved.iter().filter(|resolved| resolved.is_new).count(),
        1
    );
    let read = subject
        .store
        .recent(&acme, resolved[0].user_id, &all())
        .await;
    assert_eq!(read.unwrap().turns.len(), 50);
}

fn own(turns: &[Turn], tenant: &TenantId) -> bool {
    turns
        .iter()
        .all(|turn| turn.user_message == tenant.as_str())
}

/// Everything the store can do, again and again, in one tenant.
async fn live(store: Arc<InMemoryStore>, tenant: TenantId, task: u64) -> u64 {
    let who = slack(&format!("U{}", task % 4));
    let user = store
        .resolve(&tenant, &who)
        .await
        .expect("resolves")
        .user_id;
    for round in 0..40 {
        let said = |n: u64| -> NewTurn {
            let key = format!("{task} {round} {n}");
            let scope = format!("C{}", round % 3);
            turn(user, &key)
                .on("slack-user", &scope)
                .saying(tenant.as_str())
                .build()
        };
        let scope = said(0).scope().clone();
        for answer in store.append_batch(&tenant, vec![said(0), said(1)]).await {
            assert_eq!(answer.expect("a good turn").user_id, user);
        }
        let page = store.recent(&tenant, user, &all()).await.expect("done");
        assert!(page.turns.len() >= 2 && own(&page.turns, &tenant));
        let history = store
            .history(&tenant, &scope, all().limit)
            .await
            .expect("done");
        assert!(own(&history, &tenant));
        if round % 8 == 7 {
            store.clear(&tenant, &scope).await.expect("done");
            let config = TenantConfig::default();
            store.configure(&tenant, config, None).await.expect("done");
            let key = NewKey {
                label: String::new(),
                scopes: Scopes::all(),
            };
            let minted = store.mint_key(&tenant, key).await.expect("done");
            assert!(
                store
                    .authenticate(&minted.token)
                    .await
                    .expect("answers")
                    .is_some()
            );
        }
    }
    80
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_that_do_everything_at_once_lose_and_cross_nothing() {
    let subject = subject().await;
    let mut tasks = JoinSet::new();
    let mut tenants = Vec::new();
    for name in ["acme", "acme-corp", "acme_corp"] {
        let tenant = subject.tenant(name, TenantConfig::default()).await;
        for task in 0..8 {
            tasks.spawn(live(subject.store.clone(), tenant.clone(), task));
        }
        tenants.push(tenant);
    }
    let appended: u64 = tasks.join_all().await.into_iter().sum();
    let mut counted = 0;
    for tenant in &tenants {
        for id in ["U0", "U1", "U2", "U3"] {
            let user = subject.store.lookup(tenant, &slack(id).id).await.unwrap();
            let usage = subject.store.usage(tenant, user.unwrap()).await.unwrap();
            counted += usage.turn_count;
        }
        let state = subject.store.tenant(tenant).await.unwrap().unwrap();
        assert_eq!(state.config_revision, 1 + 8 * 5);
        assert_eq!(subject.store.keys(tenant).await.unwrap().len(), 8 * 5);
    }
    assert_eq!(counted, appended);
    assert_eq!(appended, 3 * 8 * 80);
}
