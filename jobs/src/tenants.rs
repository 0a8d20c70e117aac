//! All tenants, once each, from wherever a job goes on.

use std::collections::VecDeque;

use throughline_domain::TenantId;
use throughline_tenancy::{Tenancy, TenancyError, Tenant};

const PAGE: u32 = 500;

/// The tenants after `from` in name order, then those up to and including it (D-04).
pub(crate) struct Round<'a> {
    tenancy: &'a dyn Tenancy,
    from: Option<TenantId>,
    after: Option<TenantId>,
    page: VecDeque<Tenant>,
    wrapped: bool,
}

impl<'a> Round<'a> {
    pub(crate) fn from(tenancy: &'a dyn Tenancy, from: Option<TenantId>) -> Self {
        Self {
            tenancy,
            after: from.clone(),
            wrapped: from.is_none(),
            from,
            page: VecDeque::new(),
        }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Tenant>, TenancyError> {
        loop {
            if let Some(tenant) = self.page.pop_front() {
                self.after = Some(tenant.id.clone());
                let all_seen = self.from.as_ref().is_some_and(|from| tenant.id > *from);
                return Ok(Some(tenant).filter(|_| !(self.wrapped && all_seen)));
            }
            self.page = self
                .tenancy
                .tenants(self.after.as_ref(), PAGE)
                .await?
                .into();
            if self.page.is_empty() {
                if self.wrapped {
                    return Ok(None);
                }
                self.wrapped = true;
                self.after = None;
            }
        }
    }
}
