//! R-112 where it is the database that says no.

use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    Audit as _, ConversationMemory as _, MemoryError, RawReads as _, RecentQuery,
};
use throughline_domain::Actor;

use super::scratch::Scratch;

#[tokio::test]
async fn without_an_entry_in_the_trail_nothing_is_returned() {
    let scratch = Scratch::new().await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let stored = scratch.store.append(&acme, turn(mina, "1").pending()).await;
    stored.unwrap();
    let (olga, query) = (Actor::parse("olga").unwrap(), RecentQuery::default());
    let refuse = "alter table ccm_audit_events add constraint no_more check (op <> 'read_raw');";
    scratch.database.psql(refuse).unwrap();
    let read = scratch.store.recent_raw(&acme, mina, &query, &olga).await;
    assert!(matches!(read, Err(MemoryError::Unavailable(_))), "{read:?}");
    assert_eq!(
        scratch
            .store
            .events(&acme, &AuditQuery::latest(10))
            .await
            .unwrap(),
        []
    );

    // The connection is whole again, and so is the next read.
    let allow = "alter table ccm_audit_events drop constraint no_more;";
    scratch.database.psql(allow).unwrap();
    let read = scratch.store.recent_raw(&acme, mina, &query, &olga).await;
    assert_eq!(read.unwrap().turns.len(), 1);
    assert_eq!(
        scratch
            .store
            .events(&acme, &AuditQuery::latest(10))
            .await
            .unwrap()
            .len(),
        1
    );
}
