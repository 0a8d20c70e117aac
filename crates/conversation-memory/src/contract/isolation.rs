//! Cases of two tenants, for every method: nothing crosses (failures.md 9, 10).

use throughline_domain::{TenantId, UserId};

use super::sample::{LOOKALIKES, ids, latest, limit, refusal, said, scope, store_one, told, usage};
use super::{Subject, turn};
use crate::{AppendOutcome, MemoryError, RecentQuery, RejectReason, Usage};

/// Three tenants whose names start alike, each with a user; a suffix makes three others.
async fn lookalikes(subject: &dyn Subject, suffix: &str) -> Vec<(TenantId, UserId)> {
    let mut pairs = Vec::new();
    for name in LOOKALIKES {
        let tenant = subject.tenant(&format!("{name}{suffix}"), 90).await;
        let user = subject.user(&tenant).await;
        pairs.push((tenant, user));
    }
    pairs
}

/// One key in three tenants is three turns, with or without equal words.
pub async fn a_key_belongs_to_its_tenant(subject: &dyn Subject) {
    for (suffix, own_words) in [(".equal", false), (".other", true)] {
        for (tenant, user) in lookalikes(subject, suffix).await {
            let words = if own_words { tenant.as_str() } else { "hello" };
            let new = turn(user, "k1").saying(words).build();
            store_one(subject, &tenant, new.clone()).await;
            let again = subject.memory().append(&tenant, new).await.expect("found");
            assert_eq!(again.outcome, AppendOutcome::Duplicate);
            assert_eq!(said(&latest(subject, &tenant, user).await), [words]);
        }
    }
}

/// A user of one tenant is nobody in another: nothing is stored, read or counted there.
pub async fn a_user_of_one_tenant_is_nobody_in_another(subject: &dyn Subject) {
    let pairs = lookalikes(subject, "").await;
    let (acme, mina) = &pairs[0];
    store_one(subject, acme, turn(*mina, "k1").build()).await;
    for (other, _) in &pairs[1..] {
        for key in ["k1", "k2"] {
            let refused = subject
                .memory()
                .append(other, turn(*mina, key).build())
                .await;
            assert_eq!(refusal(refused).1, RejectReason::UnknownUser);
        }
        assert_eq!(latest(subject, other, *mina).await, []);
        assert_eq!(usage(subject, other, *mina).await, Usage::default());
    }
    assert_eq!(usage(subject, acme, *mina).await.turn_count, 1);
}

/// One scope name in three tenants is three conversations, also for a batch and after a clearing.
pub async fn a_scope_belongs_to_its_tenant(subject: &dyn Subject) {
    let pairs = lookalikes(subject, "").await;
    let c1 = scope("slack-user", "C1");
    for (tenant, user) in &pairs {
        let batch = (0..3)
            .map(|n| {
                turn(*user, &format!("k{n}"))
                    .saying(tenant.as_str())
                    .build()
            })
            .collect();
        for answer in subject.memory().append_batch(tenant, batch).await {
            assert_eq!(answer.expect("a good turn").outcome, AppendOutcome::Stored);
        }
    }
    for (tenant, user) in &pairs {
        let history = told(subject, tenant, &c1).await;
        assert_eq!(said(&history), [tenant.as_str(); 3]);
        let mut recent = ids(&latest(subject, tenant, *user).await);
        recent.reverse();
        assert_eq!(recent, ids(&history));
        assert_eq!(usage(subject, tenant, *user).await.turn_count, 3);
    }
    subject
        .memory()
        .clear(&pairs[1].0, &c1)
        .await
        .expect("clears");
    for ((tenant, _), expected) in pairs.iter().zip([3, 0, 3]) {
        assert_eq!(told(subject, tenant, &c1).await.len(), expected, "{tenant}");
    }
}

/// A place in one tenant's log says nothing in another's: a page read with it holds own turns only.
pub async fn a_place_of_another_tenant_reveals_nothing(subject: &dyn Subject) {
    let pairs = lookalikes(subject, "").await;
    for (tenant, user) in &pairs {
        for n in 0..5 {
            let text = tenant.as_str();
            store_one(
                subject,
                tenant,
                turn(*user, &n.to_string()).saying(text).build(),
            )
            .await;
        }
    }
    let (acme, mina) = &pairs[0];
    let place = latest(subject, acme, *mina).await[0].position();
    for (tenant, user) in &pairs {
        let query = RecentQuery {
            before: Some(place),
            ..RecentQuery::default()
        };
        let page = subject
            .memory()
            .recent(tenant, *user, &query)
            .await
            .expect("reads");
        assert!(
            page.turns
                .iter()
                .all(|turn| turn.user_message == tenant.as_str())
        );
    }
}

/// A tenant that is not there refuses every turn of a batch, each under its own key.
pub async fn an_unknown_tenant_stores_nothing(subject: &dyn Subject) {
    let corp = subject.tenant("acme-corp", 90).await;
    let user = subject.user(&corp).await;
    let acme = TenantId::parse("acme").expect("a plain name");
    let memory = subject.memory();
    let batch = vec![turn(user, "a").build(), turn(user, "b").build()];
    let keys: Vec<_> = batch.iter().map(|turn| turn.key().clone()).collect();
    let answers = memory.append_batch(&acme, batch).await;
    let refusals: Vec<_> = answers.into_iter().map(refusal).collect();
    let reason = RejectReason::UnknownTenant(acme.clone());
    let expected: Vec<_> = keys.into_iter().map(|key| (key, reason.clone())).collect();
    assert_eq!(refusals, expected);
    let one = memory.append(&acme, turn(user, "a").build()).await;
    assert_eq!(refusal(one).1, reason);
    assert_eq!(usage(subject, &corp, user).await, Usage::default());
}

/// failures.md 34: reading or clearing a tenant that is not there is a typed error, never an empty
/// answer.
pub async fn an_unknown_tenant_is_never_read_as_empty(subject: &dyn Subject) {
    let corp = subject.tenant("acme-corp", 90).await;
    let user = subject.user(&corp).await;
    let acme = TenantId::parse("acme").expect("a plain name");
    let c1 = scope("slack-user", "C1");
    let memory = subject.memory();
    for error in [
        memory
            .recent(&acme, user, &RecentQuery::default())
            .await
            .err(),
        memory.history(&acme, &c1, limit(20)).await.err(),
        memory.clear(&acme, &c1).await.err(),
        memory.usage(&acme, user).await.err(),
    ] {
        assert!(
            matches!(&error, Some(MemoryError::UnknownTenant(id)) if *id == acme),
            "{error:?}"
        );
    }
}
