//! The surface as an `OpenAPI` 3.1 document: paths and access from the list of routes, shapes from the
//! wire's own types, so that neither can say something else than the code does.

mod operations;

use serde_json::{Map, Value, json};
use throughline_wire::{Members, paths};
use utoipa::ToSchema;

use crate::routes::{self, Access, Route};
use operations::{Body, Operation};

/// The document.
pub(crate) fn document() -> Value {
    let mut schemas = Map::new();
    add_schema::<Members>(&mut schemas);
    let mut all = Map::new();
    for route in routes::all() {
        let operation = operations::of(&route.method, route.path);
        for add in operation.schemas() {
            add(&mut schemas);
        }
        let path = all.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = describe(route, &operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Throughline",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Cross-channel memory: who is behind a channel's user, and what was said.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "paths": all,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "A tenant's or an operator's key."},
                "metrics": {"type": "http", "scheme": "bearer", "description": "The metrics token."},
            },
        },
    })
}

fn describe(route: &Route, operation: &Operation) -> Value {
    let parameters: Vec<Value> = path_parameters(route.path)
        .chain(operation.query.iter().map(query_parameter))
        .collect();
    let mut described = json!({
        "operationId": operation_id(route),
        "summary": operation.summary,
        "parameters": parameters,
        "security": security(route),
        "responses": responses(operation),
    });
    if let Some(body) = &operation.body {
        let content = json!({"application/json": {"schema": body.reference()}});
        described["requestBody"] = json!({"required": true, "content": content});
    }
    described
}

fn operation_id(route: &Route) -> String {
    let path = route.path.replace(['{', '}'], "").replace(['/', '.'], "_");
    format!("{}{path}", route.method.as_str().to_lowercase())
}

fn security(route: &Route) -> Value {
    match route.access {
        Access::Open if [paths::METRICS, paths::CCM_METRICS].contains(&route.path) => {
            json!([{"metrics": []}, {}])
        }
        Access::Open => json!([]),
        // A role may be named for any kind of scheme since 3.1.
        Access::Scope(scope) => json!([{"key": [scope.as_str()]}]),
        Access::Operator => json!([{"key": ["operator"]}]),
    }
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = Value> {
    let names = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let schema = if name == "tenant" {
            json!({"type": "string", "pattern": "^[a-z0-9._-]{1,64}$", "not": {"enum": [".", ".."]}})
        } else {
            json!({"type": "string", "minLength": 26, "maxLength": 26, "description": "A ULID."})
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    })
}

fn query_parameter(parameter: &operations::Parameter) -> Value {
    let (name, kind, required) = *parameter;
    json!({"name": name, "in": "query", "required": required, "schema": {"type": kind}})
}

fn responses(operation: &Operation) -> Value {
    let mut responses = json!({
        "default": {
            "description": "A problem; see its code.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
    });
    for (status, description, body) in &operation.answers {
        let mut response = json!({"description": description});
        if let Some(body) = body {
            let schema = body.reference();
            response["content"] = json!({body.media_type(): {"schema": schema}});
        }
        responses[status.to_string()] = response;
    }
    responses
}

/// Adds a type and every type in it.
fn add_schema<T: ToSchema>(schemas: &mut Map<String, Value>) {
    let mut found = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut found);
    for (name, schema) in found {
        let schema = serde_json::to_value(schema).expect("a schema is plain JSON");
        schemas.insert(name, schema);
    }
}

impl Body {
    fn of<T: ToSchema>() -> Self {
        Self::Json(T::name().into_owned(), add_schema::<T>)
    }

    fn lines_of<T: ToSchema>() -> Self {
        Self::Lines(T::name().into_owned(), add_schema::<T>)
    }

    fn media_type(&self) -> &'static str {
        match self {
            Self::Json(..) | Self::Status => "application/json",
            Self::Lines(..) => "application/x-ndjson",
            Self::Text => "text/plain",
        }
    }

    fn reference(&self) -> Value {
        match self {
            Self::Json(name, _) | Self::Lines(name, _) => {
                json!({"$ref": format!("#/components/schemas/{name}")})
            }
            Self::Status => json!({"type": "object"}),
            Self::Text => json!({"type": "string"}),
        }
    }
}
