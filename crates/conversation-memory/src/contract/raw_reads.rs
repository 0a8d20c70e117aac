//! Cases of raw reads (R-085, R-101, R-110 … R-112, T-63).

use throughline_domain::{Actor, Json, TenantId};

use super::sample::{acme_and_mina, kind, limit, nobody, now, said, store};
use super::{RedactionSubject, turn};
use crate::AuditQuery;
use crate::{
    AuditDetail, AuditEvent, CanvasSessionId, ContentForm, MaskedContent, MemoryError, ReadRaw,
    RecentQuery, Redaction, RedactionState,
};

fn olga() -> Actor {
    Actor::parse("olga").expect("a plain name")
}

async fn trail(subject: &dyn RedactionSubject, tenant: &TenantId) -> Vec<AuditEvent> {
    let events = subject
        .audit()
        .events(tenant, &AuditQuery::latest(100))
        .await;
    events.expect("reads")
}

/// pending, clean and redacted turns, each as it is stored, and what was stored masked says so.
pub async fn a_raw_read_returns_every_state_verbatim(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let found = Redaction::redacted(1, Json::from_stored("{\"spans\":[]}"));
    let masked = MaskedContent {
        user_message: "[EMAIL]".to_owned(),
        assistant_answer: String::new(),
        tool_calls: None,
        metadata: Json::empty_object(),
    };
    let turns = vec![
        turn(mina, "1").saying("pending").pending(),
        turn(mina, "2").saying("clean").build(),
        turn(mina, "3")
            .saying("redacted")
            .pending()
            .with_redaction(found.clone()),
        turn(mina, "4").pending().with_masked_content(masked, found),
    ];
    store(subject, &acme, turns).await;
    let raw = subject
        .raw()
        .recent_raw(&acme, mina, &RecentQuery::default(), &olga())
        .await;
    let raw = raw.expect("reads");
    assert_eq!(
        said(&raw.turns),
        ["[EMAIL]", "redacted", "clean", "pending"]
    );
    let states: Vec<_> = raw
        .turns
        .iter()
        .map(|turn| turn.redaction.state())
        .collect();
    assert_eq!(
        states,
        [
            RedactionState::Redacted,
            RedactionState::Redacted,
            RedactionState::Clean,
            RedactionState::Pending
        ]
    );
    let forms: Vec<_> = raw.turns.iter().map(|turn| turn.form).collect();
    assert_eq!(
        forms,
        [
            ContentForm::Masked,
            ContentForm::Raw,
            ContentForm::Raw,
            ContentForm::Raw
        ]
    );
    assert_eq!(raw.pending_excluded, 0);
}

/// T-63: one entry a call, with its keys and nothing else, and no target.
pub async fn a_raw_read_leaves_exactly_one_entry(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = vec![
        turn(mina, "1").saying("one").pending(),
        turn(mina, "2").saying("two").build(),
        turn(mina, "3").on("teams-aad", "T").build(),
        turn(mina, "4").canvas("cv").build(),
    ];
    store(subject, &acme, turns).await;
    let query = RecentQuery {
        limit: limit(7),
        since: Some(now(subject)),
        exclude_canvas: Some(CanvasSessionId::parse("cv").expect("a plain id")),
        channel_kinds: vec![kind("slack-user")],
        ..RecentQuery::default()
    };
    let raw = subject.raw().recent_raw(&acme, mina, &query, &olga()).await;
    assert_eq!(said(&raw.expect("reads").turns), ["two", "one"]);
    let events = trail(subject, &acme).await;
    assert_eq!(events.len(), 1);
    let AuditEvent {
        actor,
        user_id,
        target_id,
        detail,
        created_at,
        ..
    } = events[0].clone();
    assert_eq!((actor, user_id, target_id), (olga(), Some(mina), None));
    assert_eq!(created_at, now(subject));
    let expected = ReadRaw {
        limit: 7,
        since_ms: Some(now(subject).as_millis()),
        exclude_canvas_session_id: Some("cv".to_owned()),
        channel_kinds: vec!["slack-user".to_owned()],
        returned_count: 2,
    };
    assert_eq!(detail, AuditDetail::ReadRaw(expected));
}

/// Default reads leave none, and a raw read of nobody leaves one too: somebody looked.
pub async fn only_raw_reads_are_written_down(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store(subject, &acme, vec![turn(mina, "1").build()]).await;
    let query = RecentQuery::default();
    subject
        .memory()
        .recent(&acme, mina, &query)
        .await
        .expect("reads");
    assert_eq!(trail(subject, &acme).await, []);
    let raw = subject
        .raw()
        .recent_raw(&acme, nobody(), &query, &olga())
        .await;
    assert_eq!(raw.expect("reads").turns, []);
    assert_eq!(trail(subject, &acme).await.len(), 1);
    let unknown = TenantId::parse("nobody").expect("a plain name");
    let refused = subject
        .raw()
        .recent_raw(&unknown, mina, &query, &olga())
        .await;
    assert!(matches!(refused, Err(MemoryError::UnknownTenant(_))));
}

/// Pages of a raw read hold each turn once, the pending ones in their places.
pub async fn raw_pages_hold_each_turn_once(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = (0..5).map(|n| {
        let turn = turn(mina, &n.to_string()).saying(&n.to_string());
        if n % 2 == 0 {
            turn.pending()
        } else {
            turn.build()
        }
    });
    store(subject, &acme, turns.collect()).await;
    let mut query = RecentQuery {
        limit: limit(2),
        ..RecentQuery::default()
    };
    let mut words = Vec::new();
    loop {
        let page = subject.raw().recent_raw(&acme, mina, &query, &olga()).await;
        let page = page.expect("reads");
        words.extend(page.turns.iter().map(|turn| turn.user_message.clone()));
        if !super::sample::go_on(&mut query, page.next) {
            break;
        }
    }
    assert_eq!(words, ["4", "3", "2", "1", "0"]);
    assert_eq!(trail(subject, &acme).await.len(), 3);
}
