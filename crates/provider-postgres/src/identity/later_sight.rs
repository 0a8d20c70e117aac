//! A later sight, where addresses join people: what it means for the claims. It never changes who
//! somebody is.

use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, Resolved, UserStatus, given_up, later_sight,
};

use super::claims;
use super::known::{self, Known};
use super::people::{self, Person};
use super::review;
use crate::session::Session;
use crate::store::PostgresStore;
use crate::transaction::Abort;

/// One try, inside a transaction.
pub(super) async fn see(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    who: &ChannelUser,
    now: Timestamp,
) -> Result<Resolved, Abort<IdentityError>> {
    let known = Known::find(session, tenant, who)
        .await?
        .ok_or(Abort::Moved)?;
    // Locked, so that no claim or review of somebody who is being erased is written behind.
    let mut person = people::lock(session, tenant, &[known.account]).await?;
    let person = person
        .pop()
        .flatten()
        .filter(|person| person.status == UserStatus::Active);
    let person = person.ok_or(Abort::Moved)?;
    if !known::touch(session, tenant, who, &known, now).await? {
        return Err(Abort::Moved);
    }
    let resolved = Resolved {
        user_id: person.root,
        ..known.resolved()
    };
    let Some(policy) = &known.policy else {
        return Ok(resolved);
    };
    let after = known.profile.after(who);
    if let Some(old) = given_up(&known.profile, &after) {
        claims::lapse(session, tenant, &old, &person.ids).await?;
    }
    let Some(email) = policy.vouched(who.id.kind, &after) else {
        return Ok(resolved);
    };
    let Some(stored) = claims::read(session, tenant, &claims::LOCK, &email).await? else {
        claims::make(session, tenant, &email, known.account, now).await?;
        return Ok(resolved);
    };
    let holder = holder(session, tenant, &person, stored.account).await?;
    let claim = stored.held_by(holder, Vec::new());
    let decision = later_sight(policy, person.root, Some(&claim), now);
    if let Some(reason) = decision.review {
        let pair = (stored.account, known.account);
        review::raise(store, session, tenant, pair, (reason, now)).await?;
    }
    let seen = (known.account, now);
    claims::apply(session, tenant, (&email, &stored), decision.claim, seen).await?;
    Ok(resolved)
}

/// Who holds the claim. Its row is locked, so an erasure of the holder waits and finds the review.
async fn holder(
    session: &Session<'_>,
    tenant: &TenantId,
    person: &Person,
    account: UserId,
) -> Result<UserId, Abort<IdentityError>> {
    if person.ids.contains(&account) {
        return Ok(person.root);
    }
    Ok(people::root(session, tenant, account)
        .await?
        .unwrap_or(account))
}
