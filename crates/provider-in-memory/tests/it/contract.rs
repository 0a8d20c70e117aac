//! Every case of the suites.

mod tenancy {
    throughline_tenancy::tenancy_contract!(crate::subject::subject);
}

mod identity {
    throughline_platform_identity::platform_identity_contract!(crate::subject::subject);
}

mod memory {
    throughline_conversation_memory::conversation_memory_contract!(crate::subject::subject);
}

mod retention {
    throughline_conversation_memory::retention_contract!(crate::subject::subject);
}

mod one_person {
    throughline_erasure::one_person_contract!(crate::subject::subject);
}

mod redaction {
    throughline_conversation_memory::redaction_contract!(crate::subject::subject);
}

mod swept {
    throughline_erasure::swept_contract!(crate::subject::subject);
}
