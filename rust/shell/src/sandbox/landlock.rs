//! Landlock: the kernel refuses writes outside what is allowed, to this thread and its children.

use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, path_beneath_rules,
};

use super::Bounds;

/// The newest version whose ways of writing are all named here.
const WRITES: ABI = ABI::V3;

/// Whether the kernel has it and lets us use it.
pub fn works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(AccessFs::from_write(ABI::V1)).and_then(Ruleset::create).is_ok()
    })
}

/// See [`Bounds::enter`].
pub fn enter(bounds: &Bounds) -> Result<(), RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(WRITES))?;
    if !bounds.network {
        // An older kernel can't do it: better no command than one that reaches what it must not.
        ruleset = ruleset
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::from_all(ABI::V4))?
            .set_compatibility(CompatLevel::BestEffort);
    }
    // What is not there is left out: nobody can write it, nor make it outside of what is allowed.
    let rules = path_beneath_rules(&bounds.writable, AccessFs::from_write(WRITES));
    ruleset.create()?.add_rules(rules)?.restrict_self()?;
    Ok(())
}
