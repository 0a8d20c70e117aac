//! The first sight of a channel user: somebody new, or the holder of their address.

use throughline_domain::{MergeId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ChannelUser, Claim, ClaimEffect, ClaimSource, FirstSight, IdentityError, MergeSource, Merged,
    NormalizedEmail, Profile, Resolved, claim_actor, first_sight,
};
use tokio_postgres::types::Type;

use super::claims::{self, Stored};
use super::merge::{self, Warrant};
use super::policy::policy;
use super::{people, review};
use crate::row::uuid;
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::Abort;

pub(super) static FIRST_SIGHT: ForTenant = ForTenant(Statement {
    name: "resolve_first_sight",
    sql: include_str!("resolve_first_sight.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::BOOL,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::UUID,
        Type::BOOL,
    ],
});

/// One try, inside a transaction. `Moved` also when the identity exists by now.
pub(super) async fn see(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    who: &ChannelUser,
) -> Result<Resolved, Abort<IdentityError>> {
    let policy = policy(session, tenant).await?;
    let now = store.clock.now();
    let account = UserId::new(store.ids.ulid(now));
    let newcomer = Newcomer {
        who,
        account,
        now,
        profile: Profile::of(who),
    };
    let Some(email) = policy.vouched(who.id.kind, &newcomer.profile) else {
        newcomer.mint(session, tenant, None).await?;
        return Ok(newcomer.alone());
    };
    let Some(claimed) = lock_claim(session, tenant, &email).await? else {
        // The claim first: two newcomers with one address meet here and not later.
        claims::make(session, tenant, &email, account, now).await?;
        newcomer.mint(session, tenant, None).await?;
        return Ok(newcomer.alone());
    };
    let decision = first_sight(&policy, &who.id, Some(&claimed.claim), now);
    newcomer
        .follow(store, session, tenant, (&email, &claimed.stored), decision)
        .await
}

/// A claim under lock, its holder under lock too.
struct Claimed {
    stored: Stored,
    claim: Claim,
}

async fn lock_claim(
    session: &Session<'_>,
    tenant: &TenantId,
    email: &NormalizedEmail,
) -> Result<Option<Claimed>, Abort<IdentityError>> {
    let Some((stored, holder)) = claims::lock(session, tenant, email).await? else {
        return Ok(None);
    };
    let ids = people::channel_users(session, tenant, &holder.ids).await?;
    let claim = stored.held_by(holder.root, ids);
    Ok(Some(Claimed { stored, claim }))
}

struct Newcomer<'a> {
    who: &'a ChannelUser,
    account: UserId,
    now: Timestamp,
    profile: Profile,
}

impl Newcomer<'_> {
    fn alone(&self) -> Resolved {
        Resolved {
            user_id: self.account,
            account_id: self.account,
            is_new: true,
        }
    }

    async fn follow(
        &self,
        store: &PostgresStore,
        session: &Session<'_>,
        tenant: &TenantId,
        (email, stored): (&NormalizedEmail, &Stored),
        decision: FirstSight,
    ) -> Result<Resolved, Abort<IdentityError>> {
        let (effect, resolved) = match decision {
            FirstSight::NewUser => {
                self.mint(session, tenant, None).await?;
                (ClaimEffect::Take, self.alone())
            }
            FirstSight::NewUserWithReview { reason, claim } => {
                self.mint(session, tenant, None).await?;
                let pair = (stored.account, self.account);
                review::raise(store, session, tenant, pair, (reason, self.now)).await?;
                (claim, self.alone())
            }
            FirstSight::Attach(holder) => {
                self.mint(session, tenant, Some(holder)).await?;
                self.attach(store, session, tenant, stored.account).await?;
                let attached = Resolved {
                    user_id: holder,
                    is_new: false,
                    ..self.alone()
                };
                (ClaimEffect::Confirm, attached)
            }
        };
        let seen = (self.account, self.now);
        claims::apply(session, tenant, (email, stored), effect, seen).await?;
        Ok(resolved)
    }

    /// Makes the account, under its survivor if it has one, and the identity.
    async fn mint(
        &self,
        session: &Session<'_>,
        tenant: &TenantId,
        survivor: Option<UserId>,
    ) -> Result<(), Abort<IdentityError>> {
        let survivor = survivor.map(|survivor| uuid(survivor.as_u128()));
        let source = match survivor {
            Some(_) => ClaimSource::AutoEmail,
            None => ClaimSource::System,
        };
        let made = session
            .bound(tenant)
            .query(
                &FIRST_SIGHT,
                &[
                    &self.who.id.kind.as_str(),
                    &self.who.id.id(),
                    &uuid(self.account.as_u128()),
                    &self.profile.display_name,
                    &self.profile.email,
                    &self.profile.email_verified,
                    &source.as_str(),
                    &self.now.to_system_time(),
                    &survivor,
                    &self.profile.shared,
                ],
            )
            .await?;
        if made.is_empty() {
            return Err(Abort::Moved);
        }
        Ok(())
    }

    /// A merge like any other, of somebody who has said nothing yet. The link is to the account whose
    /// address it was: should that one leave its survivor, the newcomer goes along.
    async fn attach(
        &self,
        store: &PostgresStore,
        session: &Session<'_>,
        tenant: &TenantId,
        claimant: UserId,
    ) -> Result<(), Abort<IdentityError>> {
        let merged = Merged {
            merge_id: MergeId::new(store.ids.ulid(self.now)),
            user_id: claimant,
            merged_identities: 1,
            moved_turns: 0,
        };
        let actor = claim_actor();
        let warrant = Warrant {
            source: MergeSource::AutoEmail,
            actor: &actor,
            now: self.now,
        };
        merge::record(store, session, tenant, (&merged, self.account), warrant).await?;
        Ok(())
    }
}
