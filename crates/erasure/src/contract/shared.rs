//! Cases of a channel user that is a group of people (T-05).

use throughline_conversation_memory::Limit;
use throughline_conversation_memory::contract::turn;
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::ChannelUser;

use super::Subject;
use super::sample::{
    MAIL, custom, joining, merge, questions, say, seen, slack, teams, tenant, usage, words,
};

fn group(id: &str) -> ChannelUser {
    custom(id).with_shared(true)
}

/// What the channel scope of the group shows.
async fn scope_says(subject: &dyn Subject, tenant: &TenantId) -> Vec<String> {
    let scope = turn(UserId::from_u128(0), "any").build().scope().clone();
    let memory = subject.memory();
    let history = memory.history(tenant, &scope, Limit::default()).await;
    let history = history.expect("reads");
    history.into_iter().map(|turn| turn.user_message).collect()
}

/// An address neither joins a group to anybody nor anybody to a group, whoever is seen first.
pub async fn a_group_is_joined_to_nobody_by_an_address(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let shared = seen(subject, &acme, &slack("C1", MAIL).with_shared(true)).await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await;
    assert!(mina.is_new && mina.user_id != shared.user_id);
    let other = seen(subject, &acme, &slack("C2", MAIL).with_shared(true)).await;
    assert!(other.is_new);
    let herself = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!(herself.user_id, mina.user_id);
    assert_eq!(questions(subject, &acme).await, []);
}

/// Who turns out to be a group gives their address up, and stays a group whatever is said later.
pub async fn who_turns_out_to_be_a_group_holds_no_address(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let first = seen(subject, &acme, &slack("C1", MAIL)).await.user_id;
    say(subject, &acme, first, "said").await.expect("stored");
    assert_eq!(words(subject, &acme, first).await, ["said says"]);
    let shared = slack("C1", MAIL).with_shared(true);
    assert_eq!(seen(subject, &acme, &shared).await.user_id, first);
    assert_eq!(words(subject, &acme, first).await, [""; 0]);
    seen(subject, &acme, &slack("C1", MAIL)).await;
    assert_eq!(words(subject, &acme, first).await, [""; 0]);
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await;
    assert!(mina.is_new && mina.user_id != first);
    let user = subject.identity().user(&acme, first).await.expect("reads");
    assert!(user.expect("known").identities[0].shared);
}

/// What is said in a group is read in its scope and by nobody's recall, a merged survivor's neither.
pub async fn what_a_group_says_is_read_in_its_scope_only(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = seen(subject, &acme, &custom("mina")).await.user_id;
    let shared = seen(subject, &acme, &group("C1")).await.user_id;
    say(subject, &acme, mina, "hers").await.expect("stored");
    say(subject, &acme, shared, "theirs").await.expect("stored");
    assert_eq!(words(subject, &acme, shared).await, [""; 0]);
    assert_eq!(usage(subject, &acme, shared).await.turn_count, 1);
    let both = ["hers says", "theirs says"];
    assert_eq!(scope_says(subject, &acme).await, both);
    merge(subject, &acme, mina, shared).await.expect("merged");
    assert_eq!(words(subject, &acme, mina).await, ["hers says"]);
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 2);
    assert_eq!(scope_says(subject, &acme).await, both);
}
