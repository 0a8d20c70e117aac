//! Offering appends to the store, and what its answer means for an entry.

use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, AuthorRef, QueuedAppend, QueuedAuthor, RejectReason,
};
use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_erasure::TOMBSTONE_LIFE;
use throughline_platform_identity::{ChannelUser, IdentityError};

use super::Deps;

/// What the store said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It took the turn.
    Stored,
    /// It had it.
    Duplicate,
    /// It must not have it: the turn or its user was deleted.
    Gone,
    /// It will never take it; a code for operators.
    Refused(&'static str),
    /// Nothing that helps; a code for operators.
    Trouble(&'static str),
}

impl Answer {
    /// Whether the store can be seen to work.
    pub(super) fn shows_life(&self) -> bool {
        !matches!(self, Self::Trouble(_))
    }
}

/// Channel users that were resolved, as of when they said something.
type Known = Vec<((AuthorRef, Timestamp), Result<UserId, Answer>)>;

/// One answer an append, in order.
pub(super) async fn offer(
    deps: &Deps,
    tenant: &TenantId,
    appends: Vec<QueuedAppend>,
) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = Vec::with_capacity(appends.len());
    let mut ready = Vec::new();
    let mut kinds = Vec::new();
    let mut known = Known::new();
    for append in appends {
        match author(deps, tenant, &append, &mut known).await {
            Ok(user) => {
                kinds.push(append.turn().scope().kind().clone());
                ready.push(append.said_by(user));
                answers.push(None);
            }
            Err(answer) => answers.push(Some(answer)),
        }
    }
    let results = if ready.is_empty() {
        Vec::new()
    } else {
        deps.memory.append_batch(tenant, ready).await
    };
    let mut results = results.into_iter().zip(kinds).map(|(result, kind)| {
        let answer = meaning(&result);
        if answer == Answer::Stored {
            deps.counts.stored(&kind);
        }
        answer
    });
    answers
        .into_iter()
        .map(|answer| {
            answer
                .or_else(|| results.next())
                .unwrap_or(Answer::Trouble("no_answer"))
        })
        .collect()
}

/// The user, resolved once a batch for those that came at one moment.
async fn author(
    deps: &Deps,
    tenant: &TenantId,
    append: &QueuedAppend,
    known: &mut Known,
) -> Result<UserId, Answer> {
    let author = match append.author() {
        QueuedAuthor::User(user) => return Ok(*user),
        QueuedAuthor::Ref(author) => author,
    };
    let key = (author.clone(), append.said_at());
    if let Some((_, found)) = known.iter().rev().find(|(of, _)| *of == key) {
        return found.clone();
    }
    let found = resolve(deps, tenant, author, append).await;
    known.push((key, found.clone()));
    found
}

async fn resolve(
    deps: &Deps,
    tenant: &TenantId,
    author: &AuthorRef,
    append: &QueuedAppend,
) -> Result<UserId, Answer> {
    // Nobody remembers any more whether they were erased since.
    if deps.clock.now().since(append.queued_at()) >= TOMBSTONE_LIFE {
        return Err(Answer::Refused("author_waited_too_long"));
    }
    let user = ChannelUser::of_author(author).ok_or(Answer::Refused("invalid_author"))?;
    // It may have waited with its channel before it came here.
    let resolved = deps
        .identity
        .resolve_queued(tenant, &user, append.said_at());
    match resolved.await {
        // The account, as a caller's own append does it: an undone merge parts turns by it.
        Ok(resolved) => Ok(resolved.account_id),
        Err(IdentityError::Gone) => Err(Answer::Gone),
        Err(IdentityError::UnknownTenant(_)) => Err(Answer::Refused("unknown_tenant")),
        Err(IdentityError::Unavailable(_)) => Err(Answer::Trouble("author_unavailable")),
        // The others are no answers to a resolve.
        Err(_) => Err(Answer::Trouble("author_corrupt")),
    }
}

fn meaning(result: &Result<Appended, AppendError>) -> Answer {
    match result {
        Ok(appended) if appended.outcome == AppendOutcome::Duplicate => Answer::Duplicate,
        Ok(_) | Err(AppendError::Committed { .. }) => Answer::Stored,
        Err(AppendError::Rejected { reason, .. }) => match reason {
            RejectReason::Gone => Answer::Gone,
            RejectReason::UnknownTenant(_) => Answer::Refused("unknown_tenant"),
            RejectReason::UnknownUser => Answer::Refused("unknown_user"),
            RejectReason::IdempotencyMismatch => Answer::Refused("idempotency_mismatch"),
            RejectReason::Expired => Answer::Refused("expired"),
            RejectReason::Unstorable => Answer::Refused("unstorable"),
        },
        Err(AppendError::Timeout { .. }) => Answer::Trouble("timeout"),
        Err(AppendError::Transport { .. }) => Answer::Trouble("transport"),
    }
}
