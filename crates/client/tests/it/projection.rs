//! What a reader sees of turns that were looked through, or are still to be.

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    ContentForm, ConversationMemory, Limit, RecentQuery, RedactionState,
};
use throughline_domain::{Timestamp, UserId};
use throughline_tenancy::{RedactionMode, TenantConfig};

use crate::subject::service;

/// T-28: masks are on when a turn arrives, and the turn says so.
#[tokio::test]
async fn a_masked_turn_arrives_masked_and_says_so() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    let given = turn(mina, "k").saying("write to mina@corp.example");
    let given = given
        .at(Timestamp::from_micros(1_700_000_000_000_123))
        .build();
    let stored = client.append(&acme, given.clone()).await.unwrap();
    assert_eq!(stored.redaction_state, RedactionState::Redacted);
    let page = client
        .recent(&acme, mina, &RecentQuery::default())
        .await
        .unwrap();
    let [read] = &page.turns[..] else {
        panic!("{page:?}");
    };
    assert_eq!(read.user_message, "write to [EMAIL]");
    assert_eq!(read.redaction.state(), RedactionState::Redacted);
    assert_eq!(read.form, ContentForm::Masked);
    assert_eq!(
        (read.id, read.seq, read.user_id),
        (stored.turn_id, stored.seq, mina)
    );
    assert_eq!(&read.scope, given.scope());
    // What is finer than a millisecond is cut on the way.
    assert_eq!(read.created_at, Timestamp::from_millis(1_700_000_000_000));
    let history = client.history(&acme, given.scope(), Limit::default()).await;
    assert_eq!(history.unwrap(), page.turns);
}

/// T-07
#[tokio::test]
async fn a_turn_that_waits_for_its_scan_is_counted_and_not_shown() {
    let service = service().await;
    let config = TenantConfig {
        redaction_mode: RedactionMode::Deferred,
        ..TenantConfig::default()
    };
    let acme = service.tenant("acme", config).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    let stored = client.append(&acme, turn(mina, "k").build()).await.unwrap();
    assert_eq!(stored.redaction_state, RedactionState::Pending);
    let page = client
        .recent(&acme, mina, &RecentQuery::default())
        .await
        .unwrap();
    assert_eq!((page.turns.len(), page.pending_excluded), (0, 1));
}

/// The wire speaks milliseconds; a bound in microseconds holds all the same, whatever the page size.
#[tokio::test]
async fn bounds_hold_to_the_microsecond() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let client = service.client();
    // The service's own clock gives the microseconds that no caller can.
    let mut at = Vec::new();
    for step in 0..6_u32 {
        service.clock.advance(std::time::Duration::from_micros(400));
        at.push(throughline_domain::Clock::now(&*service.clock));
        let said = turn(mina, &step.to_string()).saying(&step.to_string());
        client.append(&acme, said.build()).await.unwrap();
    }
    for (since, until, expected) in [
        (None, None, "543210"),
        (Some(at[1]), None, "54321"),
        (None, Some(at[4]), "3210"),
        (Some(at[2]), Some(at[5]), "432"),
        (Some(at[3]), Some(at[3]), ""),
    ] {
        for size in [1, 2, 100] {
            let read = read(&client, &acme, mina, (since, until), size).await;
            assert_eq!(read, expected, "{since:?} {until:?} by {size}");
        }
    }
}

async fn read(
    client: &throughline_client::Client,
    tenant: &throughline_domain::TenantId,
    user: UserId,
    (since, until): (Option<Timestamp>, Option<Timestamp>),
    size: u32,
) -> String {
    let mut query = RecentQuery {
        limit: Limit::new(size).expect("not zero"),
        since,
        until,
        ..RecentQuery::default()
    };
    let mut read = String::new();
    loop {
        let page = client.recent(tenant, user, &query).await.expect("reads");
        for turn in &page.turns {
            read.push_str(&turn.user_message);
        }
        match page.next {
            Some(next) => query.before = Some(next),
            None => return read,
        }
    }
}
