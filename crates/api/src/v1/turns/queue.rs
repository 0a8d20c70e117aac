//! Turns that the store did not take, for callers that asked to have them queued.

use throughline_conversation_memory::{NotKept, QueuedAppend, QueuedAuthor};
use throughline_domain::Timestamp;
use throughline_platform_identity::ChannelUser;
use throughline_wire::{
    Author, CheckedAppend, Code, KeySource, Outcome, QueuedAnswer, queue_problem,
};

use crate::caller::Tenant;
use crate::failure::Failure;

/// A turn on its way into the queue, with the answer it gets there.
pub(crate) struct Waiting {
    append: QueuedAppend,
    answer: QueuedAnswer,
}

impl Waiting {
    /// One that came at `arrived`: before anything was tried, so that an erasure since is seen.
    pub(super) fn new(checked: CheckedAppend, author: QueuedAuthor, arrived: Timestamp) -> Self {
        let source: KeySource = checked.key_source;
        Self {
            answer: QueuedAnswer::new(checked.key(), source),
            append: checked.queued(author, arrived),
        }
    }
}

/// The author as far as they are known without a store. What the ref says of the person is kept only
/// for a key that may resolve identities, as when it is resolved at once.
pub(crate) fn author(tenant: &Tenant, author: &Author) -> QueuedAuthor {
    match author {
        Author::User(user) => QueuedAuthor::User(*user),
        Author::Channel(user) if tenant.describes_people() => QueuedAuthor::Ref(user.to_author()),
        Author::Channel(user) => {
            let bare = ChannelUser::new(user.id.kind, user.id.id());
            let bare = bare.map(|bare| bare.with_shared(user.shared()));
            QueuedAuthor::Ref(bare.as_ref().unwrap_or(user).to_author())
        }
    }
}

/// Whether the failure is one that a queue helps against.
pub(super) fn helps(failure: &Failure) -> bool {
    failure.problem.code == Code::Unavailable
}

/// Queues one turn.
pub(crate) async fn keep(
    tenant: &Tenant,
    checked: CheckedAppend,
    author: QueuedAuthor,
    arrived: Timestamp,
) -> Result<QueuedAnswer, Failure> {
    let mut kept = keep_all(tenant, vec![Waiting::new(checked, author, arrived)]).await;
    kept.pop()
        .unwrap_or_else(|| Err(Failure::internal("the queue gave no answer")))
}

/// Queues turns; one answer each, in order.
pub(super) async fn keep_all(
    tenant: &Tenant,
    turns: Vec<Waiting>,
) -> Vec<Result<QueuedAnswer, Failure>> {
    let (appends, answers): (Vec<_>, Vec<_>) = turns
        .into_iter()
        .map(|turn| (turn.append, turn.answer))
        .unzip();
    let kept = tenant.keep(appends).await;
    let answer = |(answer, kept): (QueuedAnswer, Result<(), NotKept>)| match kept {
        Ok(()) => Ok(answer),
        Err(not_kept) => {
            let problem = queue_problem(&not_kept).about(&answer.client_message_id);
            let failure = Failure::from(problem);
            Err(match not_kept {
                NotKept::Unavailable { .. } => failure.because(not_kept),
                _ => failure,
            })
        }
    };
    answers.into_iter().zip(kept).map(answer).collect()
}

/// The refusal of a turn that the store did not take and that could not be queued either: it may be
/// stored if either may have it.
pub(super) fn neither(store: &Failure, mut queue: Failure) -> Failure {
    if helps(&queue) && store.problem.outcome == Some(Outcome::Unknown) {
        queue.problem.outcome = Some(Outcome::Unknown);
    }
    queue
}
