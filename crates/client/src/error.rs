//! What can go wrong on the way to the service and back.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{Cause, MemoryError};
use throughline_domain::TenantId;
use throughline_wire::{Code, Outcome, Refusal};

/// Why a call was not answered with a success: the cause behind the error of a trait.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no key for this tenant; nothing was sent.
    #[error("there is no key for tenant {0}; give the client one")]
    NoKey(TenantId),
    /// Only an operator may do this: with a tenant's key it would be something else. Nothing was sent.
    #[error("this needs an operator's key; give the client one")]
    OperatorOnly,
    /// An operator's key would do at once what is only to be proposed. Nothing was sent.
    #[error("an operator's key would merge at once; give the client a key of the tenant")]
    WouldMerge,
    /// There is no connection; nothing was sent.
    #[error("the service cannot be reached")]
    NotConnected(#[source] Arc<dyn Error + Send + Sync>),
    /// The connection broke before the whole answer was there.
    #[error("the connection broke before the answer was there")]
    Broken(#[source] Arc<dyn Error + Send + Sync>),
    /// No answer in time.
    #[error("the service did not answer within {within:?}")]
    TooLate {
        /// How long it had.
        within: Duration,
    },
    /// The deadline passed before this could be sent.
    #[error("the deadline passed before the request could be sent")]
    NotSent,
    /// What is asked for makes an address longer than any server takes; nothing was sent.
    #[error("the request is too long for an address; ask for fewer channel kinds")]
    TooLong,
    /// The service refused, and says why.
    #[error("the service refused with {}: {}", .0.word(), .0.detail)]
    Refused(Box<Refusal>),
    /// An answer that is not the service's own: a proxy's, or another server's.
    #[error(
        "the answer with status {status} is not the service's own; check the address and what is between"
    )]
    Foreign {
        /// Its status.
        status: u16,
    },
    /// A success whose body says nothing that this release understands; it is never taken for one.
    #[error(
        "the body of the answer with status {status} cannot be read; see that both sides have compatible releases"
    )]
    Unreadable {
        /// Its status.
        status: u16,
        /// What is wrong with it.
        #[source]
        cause: Arc<dyn Error + Send + Sync>,
    },
}

/// What is known of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It was not done.
    None,
    /// It may have been done, or still be.
    Unknown,
}

impl ClientError {
    /// The client's error behind an error of [`ConversationMemory`] or [`PlatformIdentity`], if a client
    /// made it.
    ///
    /// [`ConversationMemory`]: throughline_conversation_memory::ConversationMemory
    /// [`PlatformIdentity`]: throughline_platform_identity::PlatformIdentity
    pub fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            if let Some(cause) = error.downcast_ref::<Cause>() {
                return cause.downcast_ref();
            }
            next = error.source();
        }
        None
    }

    /// The code of a refusal; `None` for everything else, and for a code of a newer release.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused(refusal) => refusal.code(),
            _ => None,
        }
    }

    /// What is known of the call, after this one attempt.
    pub fn effect(&self) -> Effect {
        match self {
            Self::NoKey(_)
            | Self::OperatorOnly
            | Self::WouldMerge
            | Self::NotConnected(_)
            | Self::TooLong
            | Self::NotSent => Effect::None,
            Self::Refused(refusal) => effect_of(refusal),
            Self::Broken(_)
            | Self::TooLate { .. }
            | Self::Foreign { .. }
            | Self::Unreadable { .. } => Effect::Unknown,
        }
    }

    /// Whether the same request may have another answer in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::NotConnected(_) | Self::Broken(_) | Self::TooLate { .. } => true,
            Self::Foreign { status } => matches!(status, 408 | 429 | 502 | 503 | 504),
            Self::Refused(refusal) => match refusal.code() {
                Some(Code::RateLimited | Code::Overloaded | Code::Unavailable | Code::Timeout) => {
                    true
                }
                Some(_) => false,
                None => matches!(refusal.status, 408 | 429 | 503),
            },
            Self::NoKey(_)
            | Self::OperatorOnly
            | Self::WouldMerge
            | Self::NotSent
            | Self::TooLong
            | Self::Unreadable { .. } => false,
        }
    }

    pub(crate) fn unreadable(status: u16, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = Arc::from(cause.into());
        Self::Unreadable { status, cause }
    }
}

/// A refusal means that nothing was done, but for those that a service gives while it does not know
/// itself.
fn effect_of(refusal: &Refusal) -> Effect {
    let unknown = match (refusal.outcome, refusal.code()) {
        (Some(outcome), _) => outcome == Outcome::Unknown,
        (None, Some(code)) => matches!(code, Code::Unavailable | Code::Internal),
        (None, None) => !(400..500).contains(&refusal.status),
    };
    if unknown {
        Effect::Unknown
    } else {
        Effect::None
    }
}

/// For a read or a clear: anything but an unknown tenant is "not available", never an empty list.
pub(crate) fn memory_error(error: ClientError, tenant: &TenantId) -> MemoryError {
    match error.code() {
        Some(Code::UnknownTenant) => MemoryError::UnknownTenant(tenant.clone()),
        _ => MemoryError::Unavailable(Cause::new(error)),
    }
}
