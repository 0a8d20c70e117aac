//! Merging, proposing to, and taking it back.

use http::Method;
use throughline_domain::{Actor, MergeId, ReviewId, TenantId, UserId};
use throughline_platform_identity::{
    IdentityError, MergeRecord, MergeSource, Merged, PlatformIdentity, Undone,
};
use throughline_wire::{
    Code, MergeAnswer, MergeBody, MergesAnswer, ProposedAnswer, UndoneAnswer, paths,
};

use super::by_operator;
use super::error::{Subject, of};
use crate::ClientError;
use crate::answer::Answer;
use crate::call::{Call, Speaker};
use crate::client::Client;
use crate::query::Query;
use crate::retry::Failed;

pub(super) async fn merge(
    client: &Client,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    source: MergeSource,
) -> Result<Merged, IdentityError> {
    let body = MergeBody {
        primary_user_id: primary,
        secondary_user_id: secondary,
        source: Some(source.as_str().to_owned()),
    };
    let path = paths::fill(paths::MERGES, tenant, &[]);
    let call = by_operator(tenant, Method::POST, path).carrying(&body);
    let merged = async {
        let answer = expect(client.send(&call, client.deadline()).await?, 201)?;
        let answer: MergeAnswer = answer.read()?;
        Ok(Merged {
            merge_id: answer.merge_id,
            user_id: answer.user_id,
            merged_identities: answer.merged_identities,
            moved_turns: answer.moved_turns,
        })
    };
    match merged.await {
        Ok(merged) => Ok(merged),
        Err(failed) => Err(about_both(client, tenant, (primary, secondary), failed).await),
    }
}

pub(super) async fn propose(
    client: &Client,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
) -> Result<ReviewId, IdentityError> {
    let body = MergeBody {
        primary_user_id: primary,
        secondary_user_id: secondary,
        source: None,
    };
    let path = paths::fill(paths::MERGES, tenant, &[]);
    // The same open proposal again gives the first one's id.
    let call = Call::idempotent(tenant, path, &body).spoken_by(Speaker::Tenant);
    let proposed = async {
        let answer = expect(client.send(&call, client.deadline()).await?, 202)?;
        Ok(answer.read::<ProposedAnswer>()?.review_id)
    };
    match proposed.await {
        Ok(review) => Ok(review),
        Err(failed) => Err(about_both(client, tenant, (primary, secondary), failed).await),
    }
}

pub(super) async fn undo(
    client: &Client,
    tenant: &TenantId,
    merge: MergeId,
) -> Result<Undone, IdentityError> {
    let path = paths::fill(paths::MERGE, tenant, &[("merge_id", &merge.to_string())]);
    let call = by_operator(tenant, Method::DELETE, path);
    let undone = async {
        let answer: UndoneAnswer = client.send(&call, client.deadline()).await?.read()?;
        Ok(Undone {
            merge_id: answer.merge_id,
            primary_user_id: answer.primary_user_id,
            secondary_user_id: answer.secondary_user_id,
            restored_identities: answer.restored_identities,
            restored_turns: answer.restored_turns,
        })
    };
    undone
        .await
        .map_err(|failed| of(failed, tenant, Subject::Merge(merge)))
}

pub(super) async fn list(
    client: &Client,
    tenant: &TenantId,
    user: UserId,
) -> Result<Vec<MergeRecord>, IdentityError> {
    let path = Query::of(paths::fill(paths::MERGES, tenant, &[]))
        .with("user_id", &user.to_string())
        .path();
    let call = Call::get(tenant, path).spoken_by(Speaker::Operator);
    let read = async {
        let answer = client.send(&call, client.deadline()).await?;
        records(&answer).map_err(Failed::from)
    };
    read.await
        .map_err(|failed| of(failed, tenant, Subject::User(user)))
}

fn records(answer: &Answer) -> Result<Vec<MergeRecord>, ClientError> {
    let read: MergesAnswer = answer.read()?;
    let mut records = Vec::with_capacity(read.merges.len());
    for body in read.merges {
        let source = MergeSource::parse(&body.source);
        records.push(MergeRecord {
            id: body.merge_id,
            primary_user_id: body.primary_user_id,
            secondary_user_id: body.secondary_user_id,
            source: source.ok_or_else(|| answer.unreadable("source is not known"))?,
            actor: Actor::parse(&body.actor).map_err(|fault| answer.unreadable(fault))?,
            created_at: body.created_at,
            undone_at: body.undone_at,
        });
    }
    Ok(records)
}

/// A success of the wrong kind: a merge where a proposal was meant, or the other way round.
fn expect(answer: Answer, status: u16) -> Result<Answer, ClientError> {
    if answer.status == status {
        Ok(answer)
    } else {
        Err(answer.unreadable("another kind of success was expected"))
    }
}

/// The code does not say which of the two is unknown, so the first is asked for.
async fn about_both(
    client: &Client,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    failed: Failed,
) -> IdentityError {
    if failed.error.code() != Some(Code::UnknownUser) {
        return of(failed, tenant, Subject::None);
    }
    match client.user(tenant, primary).await {
        Ok(None) => IdentityError::UnknownUser(primary),
        Ok(Some(_)) => IdentityError::UnknownUser(secondary),
        Err(error) => error,
    }
}
