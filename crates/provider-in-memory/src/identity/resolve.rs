//! The user behind a channel's user.

use std::time::Duration;

use throughline_domain::{Ids, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, ClaimSource, Identity, Resolved};

use crate::state::{Known, People};

/// How stale `last_seen_at` may be (T-55).
const SEEN_WITHIN: Duration = Duration::from_mins(1);

pub(super) fn resolve(
    people: &mut People,
    who: &ChannelUser,
    ids: &dyn Ids,
    now: Timestamp,
) -> Resolved {
    if let Some(known) = people.identities.get_mut(&who.id) {
        see_again(&mut known.identity, who, now);
        return Resolved {
            user_id: known.user,
            is_new: false,
        };
    }
    let user_id = UserId::new(ids.ulid(now));
    let known = Known {
        user: user_id,
        identity: first_sight(who, now),
    };
    people.users.insert(user_id, vec![who.id.clone()]);
    people.identities.insert(who.id.clone(), known);
    Resolved {
        user_id,
        is_new: true,
    }
}

fn first_sight(who: &ChannelUser, now: Timestamp) -> Identity {
    Identity {
        id: who.id.clone(),
        display_name: who.display_name().map(str::to_owned),
        email: who.email().map(str::to_owned),
        email_verified: who.email_verified().unwrap_or(false),
        first_seen_at: now,
        last_seen_at: now,
        claim_source: ClaimSource::System,
    }
}

/// What is given replaces, what is absent stays (T-02).
fn see_again(identity: &mut Identity, who: &ChannelUser, now: Timestamp) {
    if let Some(name) = who.display_name() {
        identity.display_name = Some(name.to_owned());
    }
    if let Some(email) = who.email() {
        if identity.email.as_deref() != Some(email) {
            // What was said of the old address says nothing of this one (T-03).
            identity.email_verified = false;
            identity.email = Some(email.to_owned());
        }
        if let Some(verified) = who.email_verified() {
            identity.email_verified = verified;
        }
    }
    if now.since(identity.last_seen_at) >= SEEN_WITHIN {
        identity.last_seen_at = now;
    }
}
