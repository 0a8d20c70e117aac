//! W3C trace context, passed on to the service.

use std::future::Future;

use http::HeaderValue;

/// A `traceparent` and its `tracestate`, as they came from whoever called us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    pub(crate) parent: HeaderValue,
    pub(crate) state: Option<HeaderValue>,
}

/// The text is no trace context that may be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is no W3C trace context; pass traceparent and tracestate on as they came")]
pub struct InvalidTrace;

tokio::task_local! {
    static CURRENT: TraceContext;
}

impl TraceContext {
    /// Checks a `traceparent` header (W3C Trace Context, 3.2).
    pub fn parse(traceparent: &str) -> Result<Self, InvalidTrace> {
        if !is_traceparent(traceparent) {
            return Err(InvalidTrace);
        }
        let parent = HeaderValue::from_str(traceparent).map_err(|_| InvalidTrace)?;
        Ok(Self {
            parent,
            state: None,
        })
    }

    /// Adds the `tracestate` header.
    pub fn with_state(mut self, tracestate: &str) -> Result<Self, InvalidTrace> {
        let state = HeaderValue::from_str(tracestate).map_err(|_| InvalidTrace)?;
        self.state = Some(state);
        Ok(self)
    }

    /// Runs the future within this context: its calls carry it. A task that it spawns does not inherit
    /// it (T-48); take [`current`](Self::current) along and enter it there.
    pub async fn run<F: Future>(self, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// The context that this task runs in.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }
}

fn is_traceparent(text: &str) -> bool {
    let Some(head) = text.get(..55) else {
        return false;
    };
    let parts: Vec<&str> = head.split('-').collect();
    let [version, trace, parent, flags] = parts[..] else {
        return false;
    };
    let hex = |part: &str, length: usize| {
        let lower = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        part.len() == length && part.bytes().all(lower)
    };
    let is_set = |part: &str| part.bytes().any(|b| b != b'0');
    // Later versions may have more to say after another dash.
    let rest = match &text[55..] {
        "" => true,
        rest => version != "00" && rest.starts_with('-'),
    };
    hex(version, 2)
        && version != "ff"
        && hex(trace, 32)
        && is_set(trace)
        && hex(parent, 16)
        && is_set(parent)
        && hex(flags, 2)
        && rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn only_what_the_standard_allows_is_passed_on() {
        assert!(TraceContext::parse(GOOD).is_ok());
        assert!(TraceContext::parse(&format!("{}-later", GOOD.replacen("00", "01", 1))).is_ok());
        for bad in [
            "",
            &GOOD[1..],
            &format!("{GOOD}-later"),
            &GOOD.to_uppercase(),
            &GOOD.replacen("00", "ff", 1),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace('-', "_"),
            &"é".repeat(40),
        ] {
            assert_eq!(TraceContext::parse(bad), Err(InvalidTrace), "{bad:?}");
        }
        let context = TraceContext::parse(GOOD).unwrap();
        assert!(context.with_state("a=1\n").is_err());
    }
}
