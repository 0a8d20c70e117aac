//! The query string. A parameter that nobody knows is ignored, but where one holds a deletion back; one
//! that is named twice, or that no caller may send, is refused. Empty is never taken for absent.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use throughline_conversation_memory::{CanvasSessionId, ChannelKind, ChannelScope, Limit};
use throughline_domain::Timestamp;
use throughline_wire::{Code, Place, Problem, is_reserved, name_problem};

use crate::failure::Failure;

const MAX_CHANNEL_KINDS: usize = 64;

/// Names and values as they were sent, still encoded.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(query: &str) -> Result<Self, Problem> {
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent_decode_str(&name.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned();
            if is_reserved(&name) {
                let detail = format!("the parameter {name} is reserved; leave it out");
                return Err(Problem::new(Code::ReservedField, detail).in_parameter(name));
            }
            pairs.push((name, value.to_owned()));
        }
        Ok(Self(pairs))
    }

    /// Refuses every other parameter: for calls that delete unless a parameter holds them back, where a
    /// mistyped name would delete.
    pub(crate) fn only(&self, names: &[&str]) -> Result<(), Problem> {
        let unknown = self.0.iter().find(|(name, _)| !names.contains(&&**name));
        unknown.map_or(Ok(()), |(name, _)| {
            let detail = format!(
                "there is no parameter {name} here; there is {}",
                names.join(", ")
            );
            Err(Place::Parameter(name).invalid(detail))
        })
    }

    /// The decoded value; `None` when the parameter is not there.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let mut values = self
            .0
            .iter()
            .filter(|(n, _)| n == name)
            .map(|(_, value)| value);
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            let detail = format!("{name} is given more than once; give it once");
            return Err(Place::Parameter(name).invalid(detail));
        }
        let value = value.replace('+', " ");
        match percent_decode_str(&value).decode_utf8() {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(_) => Err(Place::Parameter(name).invalid(format!("{name} is not UTF-8"))),
        }
    }

    /// As [`text`](Self::text), where the parameter must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String, Problem> {
        self.text(name)?
            .ok_or_else(|| Place::Parameter(name).invalid(format!("{name} is missing; give it")))
    }

    /// Absent is 20, above 100 is 100.
    pub(crate) fn limit(&self) -> Result<Limit, Problem> {
        let Some(text) = self.text("limit")? else {
            return Ok(Limit::default());
        };
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // A number too large for the type is still above 100.
        let number = digits.then(|| text.parse().unwrap_or(u32::MAX));
        number.and_then(Limit::new).ok_or_else(|| {
            let detail = "limit must be a whole number from 1";
            Place::Parameter("limit").problem(Code::InvalidLimit, detail)
        })
    }

    /// Whether an append is to be queued when the store cannot take it.
    pub(crate) fn queues(&self) -> Result<bool, Problem> {
        match self.text("on_unavailable")?.as_deref() {
            None => Ok(false),
            Some("queue") => Ok(true),
            Some(_) => {
                let detail = "on_unavailable is queue, or absent";
                Err(Place::Parameter("on_unavailable").invalid(detail))
            }
        }
    }

    /// Absent is no; anything but `true` and `false` is refused.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Place::Parameter(name).invalid(format!("{name} must be true or false"))),
        }
    }

    /// Epoch milliseconds.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let moment = text.parse::<i64>().ok().and_then(|millis| {
            let moment = Timestamp::from_millis(millis);
            (moment.as_millis() == millis).then_some(moment)
        });
        let detail = || format!("{name} must be a moment in milliseconds since 1970");
        moment
            .map(Some)
            .ok_or_else(|| Place::Parameter(name).invalid(detail()))
    }

    /// A canvas to leave out; blank is refused, for it must not mean "none" or "all".
    pub(crate) fn canvas(&self, name: &str) -> Result<Option<CanvasSessionId>, Problem> {
        let canvas = self.text(name)?.map(|id| CanvasSessionId::parse(&id));
        canvas
            .transpose()
            .map_err(|fault| name_problem(&fault, Place::Parameter(name)))
    }

    /// `channel_kinds=a,b`; absent and empty are no filter, a blank among others is refused.
    pub(crate) fn channel_kinds(&self) -> Result<Vec<ChannelKind>, Problem> {
        let place = Place::Parameter("channel_kinds");
        let text = self.text("channel_kinds")?.unwrap_or_default();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let kinds: Result<Vec<ChannelKind>, _> = text.split(',').map(ChannelKind::parse).collect();
        let mut kinds = kinds.map_err(|fault| name_problem(&fault, place))?;
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.len() > MAX_CHANNEL_KINDS {
            let detail = format!("there are more than {MAX_CHANNEL_KINDS} channel kinds");
            return Err(place.invalid(detail));
        }
        Ok(kinds)
    }

    /// `channel_kind` and `channel_scope`, both needed (T-21).
    pub(crate) fn scope(&self) -> Result<ChannelScope, Problem> {
        let (kind, id) = ("channel_kind", "channel_scope");
        let kind = ChannelKind::parse(&self.required(kind)?)
            .map_err(|fault| name_problem(&fault, Place::Parameter(kind)))?;
        ChannelScope::new(kind, &self.required(id)?)
            .map_err(|fault| name_problem(&fault, Place::Parameter(id)))
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).expect("a query")
    }

    //
    #[test]
    fn a_limit_is_20_when_absent_and_100_at_most() {
        let limit = |text: &str| query(text).limit().map(Limit::get).map_err(|p| p.code);
        assert_eq!(limit(""), Ok(20));
        assert_eq!(limit("limit=1"), Ok(1));
        assert_eq!(limit("limit=101"), Ok(100));
        assert_eq!(limit("limit=99999999999999999999"), Ok(100));
        for bad in [
            "limit=",
            "limit=0",
            "limit=-1",
            "limit=1.5",
            "limit=x",
            "limit=%201",
        ] {
            assert_eq!(limit(bad), Err(Code::InvalidLimit), "{bad}");
        }
    }

    // failures.md 11
    #[test]
    fn empty_blank_and_absent_are_told_apart() {
        let canvas = |text: &str| query(text).canvas("c").map_err(|p| p.code);
        assert_eq!(canvas(""), Ok(None));
        assert_eq!(canvas("c=x"), Ok(CanvasSessionId::parse("x").ok()));
        for bad in ["c", "c=", "c=%20", "c=+", "c=%00"] {
            assert!(canvas(bad).is_err(), "{bad}");
        }
        let kinds = |text: &str| {
            query(text)
                .channel_kinds()
                .map(|k| k.len())
                .map_err(|p| p.code)
        };
        assert_eq!(kinds(""), Ok(0));
        assert_eq!(kinds("channel_kinds="), Ok(0));
        assert_eq!(kinds("channel_kinds=b,a,b"), Ok(2));
        assert_eq!(kinds("channel_kinds=b%2Ca"), Ok(2));
        for bad in [
            "channel_kinds=,",
            "channel_kinds=a,,b",
            "channel_kinds=+",
            "channel_kinds=A",
        ] {
            assert_eq!(kinds(bad), Err(Code::InvalidParameter), "{bad}");
        }
        for bad in [
            "",
            "channel_kind=a",
            "channel_scope=a",
            "channel_kind=a&channel_scope=",
        ] {
            assert!(query(bad).scope().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_parameter_named_twice_is_refused_and_an_unknown_one_ignored() {
        assert!(query("limit=1&x=1&x=2&%ff=%ff").limit().is_ok());
        let twice = query("limit=1&lim%69t=1").limit().map_err(|p| p.code);
        assert_eq!(twice, Err(Code::InvalidParameter));
        assert!(query("c=%ff").text("c").is_err());
        let reserved = Query::parse("tenant%5fid=x").err().map(|p| p.code);
        assert_eq!(reserved, Some(Code::ReservedField));
    }

    #[test]
    fn a_moment_is_whole_milliseconds_in_range() {
        let moment = |text: &str| query(text).moment("since_ms").ok();
        assert_eq!(moment(""), Some(None));
        assert_eq!(
            moment("since_ms=-1"),
            Some(Some(Timestamp::from_millis(-1)))
        );
        for bad in [
            "since_ms=",
            "since_ms=1.0",
            "since_ms=x",
            "since_ms=9223372036854775807",
        ] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }
}
