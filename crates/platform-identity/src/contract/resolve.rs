//! Cases of `resolve`.

use super::Subject;
use crate::{ChannelUser, PlatformKind};

/// R-040, T-04: the first sight makes a user, every later one finds it.
pub async fn a_ref_keeps_its_user_forever(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let identity = subject.identity();
    let mina = ChannelUser::new(PlatformKind::SlackUser, "U1").expect("a plain id");
    let first = identity.resolve(&acme, &mina).await.expect("resolves");
    let again = identity.resolve(&acme, &mina).await.expect("resolves");
    assert!(first.is_new && !again.is_new);
    assert_eq!(first.user_id, again.user_id);
}
