//! One user with every identity.

use throughline_domain::UserId;
use throughline_platform_identity::{Identity, User, UserStatus};

use crate::state::People;

pub(super) fn read(people: &People, user: UserId) -> Option<User> {
    let mut identities: Vec<Identity> = people
        .users
        .get(&user)?
        .iter()
        .filter_map(|id| people.identities.get(id))
        .map(|known| known.identity.clone())
        .collect();
    // By the kind's word, as a store that keeps words sorts it.
    identities.sort_by(|a, b| {
        let place = |of: &Identity| (of.first_seen_at, of.id.kind.as_str());
        place(a)
            .cmp(&place(b))
            .then_with(|| a.id.id().cmp(b.id.id()))
    });
    Some(User {
        user_id: user,
        status: UserStatus::Active,
        identities,
        merged_user_ids: Vec::new(),
    })
}
