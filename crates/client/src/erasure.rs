//! [`Erasure`] over HTTP, for operators.

use async_trait::async_trait;
use http::Method;
use throughline_domain::{Actor, TenantId, UserId};
use throughline_erasure::{Counts, Erasure, ErasureError, Mode, Outcome, Receipt};
use throughline_wire::{Code, ReceiptAnswer, paths};

use crate::ClientError;
use crate::call::{Call, Speaker};
use crate::client::Client;
use crate::query::Query;
use crate::retry::Failed;

/// Needs an operator's key, whose own actor is the one that is written down.
#[async_trait]
impl Erasure for Client {
    /// Not repeated once it may have been done: the second receipt would say that nothing was left.
    async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        _: &Actor,
        mode: Mode,
    ) -> Result<Receipt, ErasureError> {
        let path = paths::fill(paths::USER, tenant, &[("user_id", &user.to_string())]);
        let rehearse = match mode {
            Mode::Erase => "false",
            Mode::Rehearse => "true",
        };
        let path = Query::of(path).with("dry_run", rehearse).path();
        let call = Call::change(tenant, Method::DELETE, path).spoken_by(Speaker::Operator);
        let erased = async {
            let answer = self.send(&call, self.deadline()).await?;
            let read: ReceiptAnswer = answer.read()?;
            if read.dry_run != (mode == Mode::Rehearse) {
                return Err(answer.unreadable("the receipt is of the other mode").into());
            }
            receipt(read).ok_or_else(|| answer.unreadable("outcome is not known").into())
        };
        let erased: Result<_, Failed> = erased.await;
        erased.map_err(|failed| error(failed.error, tenant, user))
    }
}

fn error(error: ClientError, tenant: &TenantId, user: UserId) -> ErasureError {
    match error.code() {
        Some(Code::UnknownTenant) => ErasureError::UnknownTenant(tenant.clone()),
        Some(Code::UnknownUser) => ErasureError::UnknownUser(user),
        _ => ErasureError::Unavailable(Box::new(error)),
    }
}

fn receipt(answer: ReceiptAnswer) -> Option<Receipt> {
    let outcome = match answer.outcome.as_str() {
        "erased" => Outcome::Erased,
        "nothing_left" => Outcome::NothingLeft,
        _ => return None,
    };
    Some(Receipt {
        outcome,
        user_ids: answer.user_ids,
        counts: Counts {
            deleted_turns: answer.deleted_turns,
            deleted_bytes: answer.deleted_bytes,
            deleted_outbox: answer.deleted_outbox,
            deleted_spooled: answer.deleted_spooled,
            tombstoned_refs: answer.tombstoned_refs,
            tombstoned_keys: answer.tombstoned_keys,
            deleted_clear_marks: answer.deleted_clear_marks,
            deleted_identities: answer.deleted_identities,
            deleted_claims: answer.deleted_claims,
            deleted_merges: answer.deleted_merges,
            deleted_reviews: answer.deleted_reviews,
            deleted_audit_rows: answer.deleted_audit_rows,
            nullified_audit_rows: answer.nullified_audit_rows,
            barred_user_ids: answer.barred_user_ids,
        },
        erasure_epoch: answer.erasure_epoch,
    })
}
