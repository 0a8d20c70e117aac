//! Cases of everything at once: first sights, appends, merges and erasures that race.

use throughline_conversation_memory::AppendOutcome;
use throughline_platform_identity::{ChannelUser, IdentityError, MergeSource};

use super::Subject;
use super::sample::{
    MAIL, assert_counted, custom, erase, is_gone, joining, operator, person, say, seen, slack,
    teams, tenant, turns, usage, words,
};
use super::together::together;
use crate::Mode;

/// How often an append is let go against an erasure.
const ROUNDS: usize = 1_000;

/// failures.md 22, R-046.
pub async fn fifty_first_sights_keep_fifty_turns(subject: &dyn Subject) {
    let refs = vec![custom("mina"); 50];
    first_sights(subject, refs).await;
}

/// failures.md 22: the claim is as race-safe as the ref.
pub async fn fifty_first_sights_of_two_refs_with_one_address_make_one_person(
    subject: &dyn Subject,
) {
    let refs = [teams("T1", MAIL), slack("S1", MAIL)];
    first_sights(
        subject,
        (0..50).map(|number| refs[number % 2].clone()).collect(),
    )
    .await;
}

async fn first_sights(subject: &dyn Subject, refs: Vec<ChannelUser>) {
    let acme = joining(subject, "acme").await;
    let calls = refs.into_iter().enumerate().map(|(number, who)| {
        let (identity, memory, acme) = (subject.identity(), subject.memory(), acme.clone());
        async move {
            let resolved = identity.resolve(&acme, &who).await.expect("resolves");
            let turn = throughline_conversation_memory::contract::turn(
                resolved.account_id,
                &format!("key-{number}"),
            );
            let stored = memory.append(&acme, turn.build()).await.expect("stored");
            assert_eq!(stored.outcome, AppendOutcome::Stored);
            assert_eq!(stored.user_id, resolved.user_id);
            resolved
        }
    });
    let answers = together(calls.collect()).await;
    let user = answers[0].user_id;
    assert!(answers.iter().all(|resolved| resolved.user_id == user));
    assert_eq!(answers.iter().filter(|resolved| resolved.is_new).count(), 1);
    assert_eq!(turns(subject, &acme, user).await.len(), 50);
    assert_counted(subject, &acme, user).await;
}

/// T-50: A into B against B into A, and all around a circle: one person, no circle.
pub async fn merges_in_a_circle_make_one_person(subject: &dyn Subject) {
    for (name, size) in [("two", 2), ("five", 5)] {
        let acme = tenant(subject, name).await;
        let mut people = Vec::new();
        for number in 0..size {
            people.push(person(subject, &acme, &format!("p{number}"), 2).await);
        }
        let calls = (0..size).map(|number| {
            let (identity, acme) = (subject.identity(), acme.clone());
            let (primary, secondary) = (people[number], people[(number + 1) % size]);
            async move {
                let source = MergeSource::System;
                identity
                    .merge(&acme, primary, secondary, source, &operator())
                    .await
            }
        });
        let mut merged = 0;
        for answer in together(calls.collect()).await {
            match answer {
                Ok(_) => merged += 1,
                Err(error) => assert!(matches!(error, IdentityError::NoChange), "{error:?}"),
            }
        }
        assert_eq!(merged, size - 1, "{name}");
        let user = subject
            .identity()
            .user(&acme, people[0])
            .await
            .expect("reads")
            .expect("known");
        assert_eq!(user.merged_user_ids.len(), size - 1);
        assert_eq!(words(subject, &acme, user.user_id).await.len(), 2 * size);
        assert_counted(subject, &acme, user.user_id).await;
    }
}

/// failures.md 15, D-05: it lands before and is erased, or is refused as gone.
pub async fn an_append_never_survives_an_erasure(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    for round in 0..ROUNDS {
        let name = format!("mina-{round}");
        let user = seen(subject, &acme, &custom(&name)).await.user_id;
        let append = say(subject, &acme, user, &name);
        let erasure = async {
            // Half of the rounds let the append go a little ahead.
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            erase(subject, &acme, user, Mode::Erase).await
        };
        let (appended, erased) = tokio::join!(append, erasure);
        let receipt = erased.expect("erased");
        let landed = u64::from(appended.is_ok());
        assert!(landed == 1 || is_gone(&appended), "{appended:?}");
        assert_eq!(receipt.counts.deleted_turns, landed, "{round}");
        assert_eq!(turns(subject, &acme, user).await, [], "{round}");
        assert_eq!(usage(subject, &acme, user).await.turn_count, 0, "{round}");
    }
}
