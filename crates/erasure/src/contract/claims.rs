//! Cases of an address that makes two channel users one person (D-06).

use throughline_conversation_memory::AuditDetail;
use throughline_platform_identity::{ClaimSource, MergeSource, PlatformKind, ReviewReason};

use super::Subject;
use super::sample::{
    MAIL, joining, mailed, merges, operator, questions, say, seen, slack, snapshot, teams, tenant,
    trail, words,
};

/// failures.md 19, R-043, T-03: of the nine cases of {true, false, absent}, one joins.
pub async fn only_an_address_verified_on_both_sides_joins(subject: &dyn Subject) {
    let sides = [(Some(true), "yes"), (Some(false), "no"), (None, "unsaid")];
    for (first, first_name) in sides {
        for (second, second_name) in sides {
            let tenant = joining(subject, &format!("{first_name}-{second_name}")).await;
            let one = seen(
                subject,
                &tenant,
                &mailed(PlatformKind::TeamsAad, "T", MAIL, first),
            )
            .await;
            let two = mailed(PlatformKind::SlackUser, "S", MAIL, second);
            let two = seen(subject, &tenant, &two).await;
            let joined = first == Some(true) && second == Some(true);
            assert_eq!(one.user_id == two.user_id, joined, "{tenant}");
            assert_eq!(two.is_new, !joined, "{tenant}");
        }
    }
}

/// whatever a channel says, it counts only if the tenant trusts the channel.
pub async fn a_kind_the_tenant_does_not_trust_never_counts(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await;
    for kind in [
        PlatformKind::TelegramChat,
        PlatformKind::WhatsappPhone,
        PlatformKind::DiscordUser,
        PlatformKind::Custom,
    ] {
        let other = seen(subject, &acme, &mailed(kind, "X", MAIL, Some(true))).await;
        assert!(other.is_new && other.user_id != mina.user_id, "{kind}");
    }
    assert_eq!(questions(subject, &acme).await, []);
}

/// R-042, failures.md 18: without the operator's word nobody is joined.
pub async fn a_tenant_that_does_not_merge_keeps_equal_addresses_apart(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let one = seen(subject, &acme, &teams("T1", MAIL)).await;
    let two = seen(subject, &acme, &teams("T2", MAIL)).await;
    assert_ne!(one.user_id, two.user_id);
    assert_eq!(questions(subject, &acme).await, []);
}

/// failures.md 20: the claim is on the mailbox, not on its spelling; the spelling is kept.
pub async fn spellings_of_one_mailbox_join_and_lookalikes_do_not(subject: &dyn Subject) {
    let same = [
        ("A.B+x@GoogleMail.com", "ab@gmail.com"),
        ("Mina@Corp.example", "mina@corp.EXAMPLE"),
        ("jos\u{e9}@corp.example", "jose\u{301}@corp.example"),
        ("a@b\u{fc}cher.example", "a@xn--bcher-kva.example"),
    ];
    let different = [
        ("a.b@corp.example", "ab@corp.example"),
        ("\u{430}@corp.example", "a@corp.example"),
        ("a@b@corp.example", "a@b@corp.example"),
    ];
    let joins = same
        .map(|pair| (pair, true))
        .into_iter()
        .chain(different.map(|p| (p, false)));
    for (number, ((one, two), joined)) in joins.enumerate() {
        let acme = joining(subject, &format!("acme-{number}")).await;
        let first = seen(subject, &acme, &teams("T", one)).await.user_id;
        let second = seen(subject, &acme, &slack("S", two)).await.user_id;
        assert_eq!(first == second, joined, "{one} {two}");
        let user = subject.identity().user(&acme, second).await.expect("reads");
        let user = user.expect("a known user");
        assert!(
            user.identities
                .iter()
                .any(|known| known.email.as_deref() == Some(two))
        );
    }
}

/// failures.md 9: an address says nothing beyond its tenant.
pub async fn an_address_joins_within_its_tenant_only(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let corp = joining(subject, "acme-corp").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await;
    let other = seen(subject, &corp, &slack("S1", MAIL)).await;
    assert!(other.is_new);
    let unknown = subject.identity().user(&corp, mina.user_id).await;
    assert_eq!(unknown.expect("reads"), None);
}

/// D-06: switching it on later joins nobody of the past, asks about those who share an address, and
/// joins the next one to the oldest.
pub async fn switching_it_on_later_joins_nobody_and_asks(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    subject.clock().advance(std::time::Duration::from_secs(1));
    let other = seen(subject, &acme, &slack("S1", MAIL)).await.user_id;
    seen(subject, &acme, &slack("S2", "noor@corp.example")).await;
    let read = subject.tenancy().tenant(&acme).await.expect("reads");
    let mut config = read.expect("a known tenant").config;
    config.auto_merge_on_email = true;
    config.verified_email_kinds = vec![
        PlatformKind::TeamsAad,
        PlatformKind::SlackUser,
        PlatformKind::DiscordUser,
    ];
    for _ in 0..2 {
        let configured = subject
            .tenancy()
            .configure(&acme, config.clone(), None)
            .await;
        configured.expect("configured");
        assert_eq!(
            questions(subject, &acme).await,
            [(ReviewReason::Collision, mina, other)]
        );
    }
    assert_ne!(mina, other);
    let third = mailed(PlatformKind::DiscordUser, "D1", MAIL, Some(true));
    let third = seen(subject, &acme, &third).await;
    assert_eq!((third.user_id, third.is_new), (mina, false));
}

/// An automatic merge is a merge: it can be taken back, with the turns by their account, and the same
/// address does not bring it about again; an operator is asked instead.
pub async fn an_address_that_joined_two_can_be_undone_and_does_not_join_again(
    subject: &dyn Subject,
) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await;
    let same = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!((same.user_id, same.is_new), (mina.user_id, false));
    say(subject, &acme, mina.account_id, "by teams")
        .await
        .expect("stored");
    say(subject, &acme, same.account_id, "by slack")
        .await
        .expect("stored");
    let made = merges(subject, &acme, mina.user_id).await;
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].source, MergeSource::AutoEmail);

    let undone = subject
        .identity()
        .undo_merge(&acme, made[0].id, &operator())
        .await;
    let undone = undone.expect("undone");
    assert_eq!(undone.secondary_user_id, same.account_id);
    assert_eq!(words(subject, &acme, mina.user_id).await, ["by teams says"]);
    assert_eq!(
        words(subject, &acme, same.account_id).await,
        ["by slack says"]
    );

    subject.clock().advance(std::time::Duration::from_mins(2));
    let again = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!((again.user_id, again.is_new), (same.account_id, false));
    let asked = (ReviewReason::Collision, mina.user_id, same.account_id);
    assert_eq!(questions(subject, &acme).await, [asked]);
    subject.clock().advance(std::time::Duration::from_mins(2));
    seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!(questions(subject, &acme).await, [asked], "asked once");
}

/// failures.md 18: why two people are one stands in the trail and on the identity.
pub async fn an_address_that_joined_two_is_audited(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    seen(subject, &acme, &slack("S1", MAIL)).await;
    let sources: Vec<_> = trail(subject, &acme)
        .await
        .into_iter()
        .map(|detail| match detail {
            AuditDetail::MergeIdentities(merge) => merge.source,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sources, ["auto-email"]);
    let user = subject
        .identity()
        .user(&acme, mina)
        .await
        .expect("reads")
        .expect("known");
    let mut sources: Vec<_> = user
        .identities
        .iter()
        .map(|known| known.claim_source)
        .collect();
    sources.sort_by_key(|source| source.as_str());
    assert_eq!(sources, [ClaimSource::AutoEmail, ClaimSource::System]);
}

/// a known channel user that reports somebody's address stays who they are.
pub async fn a_rename_to_an_address_of_somebody_else_joins_nobody(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let noor = seen(subject, &acme, &slack("S1", "noor@corp.example"))
        .await
        .user_id;
    let before = snapshot(subject, &acme, mina).await;
    let renamed = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!((renamed.user_id, renamed.is_new), (noor, false));
    assert_eq!(snapshot(subject, &acme, mina).await, before);
    assert_eq!(
        questions(subject, &acme).await,
        [(ReviewReason::Collision, mina, noor)]
    );
}
