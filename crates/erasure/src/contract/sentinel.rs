//! One word planted wherever a word of a person can get to, and looked for afterwards.

use std::time::Duration;

use serde_json::json;
use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    ChannelKind, ChannelScope, Chunk, Limit, Pass, QueuedAppend, QueuedAuthor,
};
use throughline_domain::{Clock as _, TenantId, UserId};
use throughline_platform_identity::{DecisionReason, PlatformKind, Verdict};

use super::sample::{
    ALL_REVIEWS, custom, erase, joining, mailed, merge, operator, person, seen, snapshot,
};
use super::waiting::unresolved;
use super::{Subject, SweptSubject};
use crate::{Mode, TOMBSTONE_LIFE};

const WORD: &str = "xq7sentinel";

/// failures.md 14, T-27: zero hits in a dump and in every read, and all other rows are as before.
pub async fn nothing_of_an_erased_person_is_left(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let noor = person(subject, &acme, "noor", 3).await;
    let ids = plant(subject, &acme, noor).await;
    let others = snapshot(subject, &acme, noor).await;
    let before = subject.dump().await;
    assert!(
        before.as_ref().is_none_or(|dump| dump.contains(WORD)),
        "it was planted"
    );

    erase(subject, &acme, ids[0], Mode::Erase)
        .await
        .expect("erased");

    let read = everything_readable(subject, &acme, &ids).await;
    assert!(!read.contains(WORD), "{read}");
    assert_eq!(snapshot(subject, &acme, noor).await, others);
    if let (Some(before), Some(after)) = (before, subject.dump().await) {
        assert_nothing_left(&before, &after, &ids);
    }
}

/// Two accounts of one person and a question about a third, with the word in every text there is.
async fn plant(subject: &dyn Subject, tenant: &TenantId, noor: UserId) -> Vec<UserId> {
    let mail = format!("{WORD}@corp.example");
    let teams = mailed(PlatformKind::TeamsAad, WORD, &mail, Some(true));
    let teams = teams.with_display_name(WORD).expect("a plain name");
    let mina = seen(subject, tenant, &teams).await.user_id;
    let slack = mailed(PlatformKind::SlackUser, WORD, &mail, Some(true));
    let slack = seen(subject, tenant, &slack).await.account_id;
    let alone = seen(subject, tenant, &custom(WORD)).await.user_id;
    for (number, user) in [mina, slack, alone].into_iter().enumerate() {
        let turn = turn(user, &format!("{WORD}-{number}"))
            .on("whatsapp-phone", &format!("{WORD}-{number}"))
            .canvas(WORD)
            .saying(WORD)
            .answered(WORD)
            .tools(json!([{"name": WORD, "result": {WORD: WORD}}]))
            .metadata(json!({WORD: [WORD]}))
            .build();
        subject.memory().append(tenant, turn).await.expect("stored");
    }
    let kind = ChannelKind::parse("whatsapp-phone").expect("a plain word");
    let scope = ChannelScope::new(kind, &format!("{WORD}-0")).expect("a plain scope");
    subject
        .memory()
        .clear(tenant, &scope)
        .await
        .expect("cleared");
    for (number, author) in [QueuedAuthor::User(mina), unresolved(WORD)]
        .into_iter()
        .enumerate()
    {
        let waits = turn(mina, &format!("{WORD}-waits-{number}")).saying(WORD);
        let waits = QueuedAppend::new(author, waits.pending(), subject.clock().now());
        let kept = subject.outbox().enqueue(tenant, &waits).await;
        kept.expect("kept");
    }
    merge(subject, tenant, mina, alone).await.expect("merged");
    let identity = subject.identity();
    let review = identity
        .propose_merge(tenant, noor, slack, &operator())
        .await
        .expect("asked");
    let reason = DecisionReason::parse(&format!("{WORD} says no")).expect("a plain reason");
    identity
        .decide_review(tenant, review, Verdict::Decline, &reason, &operator())
        .await
        .expect("declined");
    vec![mina, slack, alone]
}

/// T-27: a scope can be a phone number, and its clear mark outlives the turns it was set for. A mark in a
/// scope where somebody else speaks stays.
pub async fn a_clear_mark_goes_with_the_channel_user_whose_turns_have_ended(
    subject: &dyn SweptSubject,
) {
    let acme = joining(subject, "acme").await;
    let mina = person(subject, &acme, WORD, 0).await;
    let noor = person(subject, &acme, "noor", 0).await;
    let kind = ChannelKind::parse("whatsapp-phone").expect("a plain word");
    for (user, scope) in [(mina, WORD), (noor, "group-of-noor")] {
        let said = turn(user, scope).on("whatsapp-phone", scope).build();
        subject.memory().append(&acme, said).await.expect("stored");
        let scope = ChannelScope::new(kind.clone(), scope).expect("a plain scope");
        let cleared = subject.memory().clear(&acme, &scope).await;
        cleared.expect("cleared");
    }
    subject.clock().advance(Duration::from_hours(24 * 1_000));
    let said = turn(noor, "later")
        .on("whatsapp-phone", "group-of-noor")
        .build();
    subject.memory().append(&acme, said).await.expect("stored");
    let (retention, chunk) = (subject.retention(), Chunk::new(10));
    let swept = retention
        .sweep(&acme, Pass::Ended, chunk, TOMBSTONE_LIFE)
        .await;
    assert_eq!(swept.expect("swept").rows, 2);

    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    if let Some(dump) = subject.dump().await {
        assert!(!dump.contains(WORD), "{}", lines_with(&dump, WORD));
        assert!(dump.contains("group-of-noor"), "somebody else's went too");
    }
}

async fn everything_readable(subject: &dyn Subject, tenant: &TenantId, ids: &[UserId]) -> String {
    let mut read = Vec::new();
    for id in ids {
        read.push(format!("{:?}", snapshot(subject, tenant, *id).await));
        let merges = subject.identity().merges(tenant, *id).await;
        assert!(merges.is_err(), "{merges:?}");
    }
    for number in 0..ids.len() {
        let kind = ChannelKind::parse("whatsapp-phone").expect("a plain word");
        let scope = ChannelScope::new(kind, &format!("{WORD}-{number}")).expect("a plain scope");
        let history = subject
            .memory()
            .history(tenant, &scope, Limit::default())
            .await;
        read.push(format!("{:?}", history.expect("reads")));
    }
    for kind in PlatformKind::ALL {
        let who = mailed(kind, WORD, "x@corp.example", None);
        let found = subject
            .identity()
            .lookup(tenant, &who.id)
            .await
            .expect("reads");
        assert_eq!(found, None);
    }
    let reviews = subject
        .identity()
        .reviews(tenant, &ALL_REVIEWS)
        .await
        .expect("reads");
    read.push(format!("{reviews:?}"));
    let events = subject
        .audit()
        .events(tenant, &AuditQuery::latest(1_000))
        .await
        .expect("reads");
    read.push(format!("{events:?}"));
    read.join("\n")
}

/// In the dump the person's ids stand in the users table alone, and no line of anybody else changed.
fn assert_nothing_left(before: &str, after: &str, ids: &[UserId]) {
    assert!(!after.contains(WORD), "{}", lines_with(after, WORD));
    let ids: Vec<String> = ids
        .iter()
        .flat_map(|id| [id.to_string(), uuid_text(id.as_u128())])
        .collect();
    for id in &ids {
        let left = lines_with(after, id);
        let barred = |line: &str| line.contains("users") && line.contains("forgotten");
        assert!(left.lines().all(barred), "{left}");
    }
    let is_theirs = |line: &str| line.contains(WORD) || ids.iter().any(|id| line.contains(id));
    // The tenant's own row carries the epoch.
    let is_tenant = |line: &str| line.contains("public.tenants ");
    // pg_dump's own lines differ from run to run.
    let rows = before.lines().filter(|line| line.starts_with("INSERT"));
    for line in rows.filter(|line| !is_theirs(line) && !is_tenant(line)) {
        assert!(
            after.lines().any(|left| left == line),
            "changed or gone: {line}"
        );
    }
}

fn lines_with(dump: &str, word: &str) -> String {
    let lines: Vec<_> = dump.lines().filter(|line| line.contains(word)).collect();
    lines.join("\n")
}

fn uuid_text(id: u128) -> String {
    let hex = format!("{id:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}
