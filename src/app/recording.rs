//! Records a decision about a plan. If the settings ask for signatures, it is signed first, beside the other queries.

use super::App;
use super::pending::FailedQuery;
use super::shared::Shared;
use crate::authorization::AuthorizationStatus;
use crate::worker::{RecordAuthorization, SignAuthorization};

impl Shared {
    /// Records a decision, an approval with its signature if the settings ask for one, and passes the result to `then`.
    /// Returns whether the query was sent.
    pub(super) fn record(
        &mut self,
        record: RecordAuthorization,
        then: impl FnOnce(&mut App, Result<(), FailedQuery>) + Send + 'static,
    ) -> bool {
        let is_approval = record.authorization.status == AuthorizationStatus::Approved;
        let then = move |app: &mut App, recorded, _: bool| then(app, recorded);
        if is_approval && SignAuthorization::is_needed(self.setup.policy.signing.as_ref()) {
            let ask = self.worker.signing_secrets();
            return self.query_each(SignAuthorization { record, ask }, then);
        }
        self.query_each(record, then)
    }
}
