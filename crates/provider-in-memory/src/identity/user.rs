//! One user with every identity.

use throughline_domain::UserId;
use throughline_platform_identity::{Identity, User, UserStatus};

use crate::people::People;

/// `None` for one that never was, or was forgotten.
pub(super) fn read(people: &People, user: UserId) -> Option<User> {
    let root = people.root(user)?;
    let members = people.members(root);
    let known = people.identities_of(&members);
    let mut identities: Vec<Identity> = known.map(|known| known.identity.clone()).collect();
    // By the kind's word, as a store that keeps words sorts it.
    identities.sort_by(|a, b| {
        let place = |of: &Identity| (of.first_seen_at, of.id.kind.as_str());
        place(a)
            .cmp(&place(b))
            .then_with(|| a.id.id().cmp(b.id.id()))
    });
    Some(User {
        user_id: root,
        status: UserStatus::Active,
        identities,
        merged_user_ids: people.merged_into(root),
    })
}
