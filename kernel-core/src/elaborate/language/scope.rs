//! Names: scopes, variables and items.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use super::{
    constants,
    doubt::Doubt,
    value::{Ty, Val},
};
use crate::{
    loc::Loc,
    syntax::{ConstItem, Devices, Function, Impl, Item, Path, Segment, Struct, Trait},
};

/// A scope: an index into [`Scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeId(u32);

/// A variable: an index into [`Scopes::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VarId(pub(crate) u32);

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) val: Val,
    pub(crate) mutable: bool,
    /// Empty for one that the source does not name.
    pub(crate) name: Rc<str>,
    /// Where its first value is written.
    pub(crate) first: Option<(Loc, Rc<str>)>,
    /// Where it is declared.
    pub(crate) declared: Option<Loc>,
}

/// Where a value was held first.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    /// A variable, or a field of one.
    pub(crate) name: Rc<str>,
    pub(crate) mutable: bool,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Var(VarId),
    Function(Arc<Function>, ScopeId),
    Struct(Arc<Struct>, ScopeId),
    Const(Arc<ConstItem>, ScopeId),
    Trait(Arc<Trait>),
    /// A generic parameter.
    Type(Ty),
    /// `use a::b as name`
    Use(Vec<String>),
    /// An item that was refused.
    Refused,
    /// A device item whose tokens have not come yet.
    Awaited,
    /// A name in the place of an item that certainly is none.
    Nowhere,
}

impl Binding {
    /// Values and types are different namespaces; imports, unit structs and constant parameters are in both.
    fn is_value(&self) -> bool {
        match self {
            Binding::Var(_)
            | Binding::Function(..)
            | Binding::Struct(..)
            | Binding::Const(..)
            | Binding::Use(_)
            | Binding::Refused
            | Binding::Awaited
            | Binding::Nowhere => true,
            Binding::Type(ty) => matches!(ty, Ty::Const(..) | Ty::Infer),
            Binding::Trait(_) => false,
        }
    }

    fn is_type(&self) -> bool {
        match self {
            Binding::Struct(..)
            | Binding::Trait(_)
            | Binding::Type(_)
            | Binding::Use(_)
            | Binding::Refused
            | Binding::Awaited => true,
            Binding::Var(_) | Binding::Function(..) | Binding::Const(..) | Binding::Nowhere => {
                false
            }
        }
    }
}

#[derive(Debug, Default)]
struct Scope {
    parent: Option<ScopeId>,
    names: Vec<(String, Binding)>,
}

/// Every scope and variable of a kernel. Scopes are never removed: closures keep theirs.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    all: Vec<Scope>,
    pub(crate) vars: Vec<Var>,
    /// What held a value first, by the value's number. By name: the numbers of variables are given again after a branch or a loop.
    holders: BTreeMap<u32, Holder>,
    pub(crate) impls: Vec<(Arc<Impl>, ScopeId)>,
    /// What is not certain, as device items are still to come.
    pub(crate) doubt: Doubt,
    /// What only the host can use, by name: [`Devices::nowhere`].
    pub(crate) host: BTreeMap<String, &'static str>,
    /// Functions of the host, by name: [`Devices::functions`].
    pub(crate) host_functions: BTreeMap<String, (Loc, u32)>,
    /// Whether device items are still to come.
    pub(crate) pending: bool,
    /// Variables to which something was assigned that they cannot hold: what they are after it is not known.
    pub(crate) spoiled: BTreeSet<VarId>,
}

/// Whether a program can write this name: what the compiler names for itself is no help to anybody.
fn is_written(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

impl Scopes {
    pub(crate) fn new() -> (Self, ScopeId) {
        (Scopes { all: vec![Scope::default()], ..Scopes::default() }, ScopeId(0))
    }

    pub(crate) fn child(&mut self, parent: ScopeId) -> ScopeId {
        let id = ScopeId(u32::try_from(self.all.len()).expect("fewer than 2^32 scopes"));
        self.all.push(Scope { parent: Some(parent), names: Vec::new() });
        id
    }

    pub(crate) fn bind(&mut self, scope: ScopeId, name: &str, binding: Binding) {
        self.all[scope.0 as usize].names.push((name.to_owned(), binding));
    }

    pub(crate) fn declare(&mut self, scope: ScopeId, name: &str, mutable: bool, val: Val) -> VarId {
        let id = VarId(u32::try_from(self.vars.len()).expect("fewer than 2^32 variables"));
        self.vars.push(Var { val, mutable, name: name.into(), first: None, declared: None });
        self.doubt.declared(id);
        self.bind(scope, name, Binding::Var(id));
        self.held(id);
        id
    }

    /// A variable has another value.
    pub(crate) fn held(&mut self, id: VarId) {
        let Var { val, mutable, name, .. } = self.vars[id.0 as usize].clone();
        if !name.is_empty() {
            self.hold(&val, Holder { name, mutable });
        }
    }

    fn hold(&mut self, val: &Val, holder: Holder) {
        if let Val::Value(value) = val {
            self.holders.entry(value.into_raw().into_u32()).or_insert(holder);
        } else if let Val::Struct(fields) = val {
            for ((field, _), val) in fields.def.fields.iter().zip(&fields.fields) {
                let name = format!("{}.{field}", holder.name).into();
                self.hold(val, Holder { name, ..holder });
            }
        }
    }

    /// What held each value first.
    pub(crate) fn take_holders(&mut self) -> BTreeMap<u32, Holder> {
        std::mem::take(&mut self.holders)
    }

    /// What a name stands for as a value. If nothing of that name is a value, what else it stands for.
    pub(crate) fn lookup(&self, scope: ScopeId, name: &str) -> Option<&Binding> {
        let found = self.value_named(scope, name);
        if let Some(binding) = found {
            self.doubt.looked_up(binding);
        }
        found
    }

    /// The same for a look at the text alone, which uses nothing.
    pub(crate) fn value_named(&self, scope: ScopeId, name: &str) -> Option<&Binding> {
        self.find(scope, name, &Binding::is_value).or_else(|| self.find(scope, name, &|_| true))
    }

    /// What a name stands for as a type: a variable of the same name does not hide it.
    pub(crate) fn lookup_type(&self, scope: ScopeId, name: &str) -> Option<&Binding> {
        let found = self.find(scope, name, &Binding::is_type);
        if let Some(binding) = found {
            self.doubt.looked_up(binding);
        }
        found
    }

    fn find(
        &self,
        scope: ScopeId,
        name: &str,
        fits: &dyn Fn(&Binding) -> bool,
    ) -> Option<&Binding> {
        let scope_id = scope;
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = &self.all[id.0 as usize];
            let mut named = scope.names.iter().rev().filter(|(n, _)| n == name);
            if let Some((_, binding)) = named.find(|(_, binding)| fits(binding)) {
                // `use library::name` in a body: what came with bundles is known by its whole path.
                if let Binding::Use(path) = binding
                    && path.len() > 1
                    && let Some(device) = self.find(scope_id, &path.join("::"), &fits)
                {
                    return Some(device);
                }
                return Some(binding);
            }
            at = scope.parent;
        }
        None
    }

    /// Whether anything in the kernel has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|scope| scope.names.iter().any(|(known, _)| known == name))
    }

    /// The name of a variable.
    pub(crate) fn name_of(&self, var: VarId) -> Option<&str> {
        self.vars.get(var.0 as usize).map(|var| &*var.name).filter(|name| is_written(name))
    }

    /// The name of the variable with this number.
    pub(crate) fn name_at(&self, index: usize) -> Option<&str> {
        self.name_of(VarId(u32::try_from(index).ok()?))
    }

    /// The name of a variable with such a value that was declared as number `from` or later, if no other hides it.
    pub(crate) fn name_with(&self, from: usize, is: impl Fn(&Val) -> bool) -> Option<&str> {
        let named = || {
            self.all.iter().enumerate().flat_map(|(scope, held)| {
                held.names.iter().filter_map(move |(name, binding)| {
                    let Binding::Var(var) = binding else { return None };
                    Some((var.0 as usize, scope, name.as_str()))
                })
            })
        };
        let (var, scope, name) = named()
            .filter(|(var, _, name)| *var >= from && is_written(name))
            .filter(|(var, _, _)| self.vars.get(*var).is_some_and(|var| is(&var.val)))
            .min()?;
        let hides = |(other, inner, called): (usize, usize, &str)| {
            other > var && called == name && self.is_within(inner, scope)
        };
        (!named().any(hides)).then_some(name)
    }

    /// The values of the variables in sight of `scope`.
    pub(crate) fn values(&self, scope: ScopeId) -> impl Iterator<Item = &Val> {
        self.names(scope).into_iter().filter_map(move |name| {
            let Binding::Var(var) = self.value_named(scope, name)? else { return None };
            Some(&self.vars.get(var.0 as usize)?.val)
        })
    }

    /// The name of the only variable in sight of `scope` with such a value.
    pub(crate) fn only_with(&self, scope: ScopeId, is: impl Fn(&Val) -> bool) -> Option<&str> {
        let mut found = Vec::new();
        for name in self.names(scope) {
            let Some(Binding::Var(var)) = self.value_named(scope, name) else { continue };
            let fits = self.vars.get(var.0 as usize).is_some_and(|var| is(&var.val));
            if fits && !found.contains(&name) {
                found.push(name);
            }
        }
        if let [only] = found[..] { Some(only) } else { None }
    }

    fn is_within(&self, inner: usize, outer: usize) -> bool {
        let parent = |id: &usize| self.all[*id].parent.map(|id| id.0 as usize);
        std::iter::successors(Some(inner), parent).any(|id| id == outer)
    }

    /// Every name in sight, for suggestions.
    pub(crate) fn names(&self, scope: ScopeId) -> Vec<&str> {
        let mut out = Vec::new();
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = &self.all[id.0 as usize];
            let known =
                scope.names.iter().filter(|(_, binding)| !matches!(binding, Binding::Nowhere));
            out.extend(known.map(|(name, _)| name.as_str()).filter(|name| is_written(name)));
            at = scope.parent;
        }
        out
    }

    /// Binds what the free paths of the kernel at `root`, and of the device items themselves, stand for.
    pub(crate) fn add_devices(&mut self, root: ScopeId, devices: &Devices) {
        let homes: Vec<ScopeId> = devices
            .items
            .iter()
            .map(|item| {
                // A device item sees its own module's names, not those of the kernel.
                let home = self.orphan();
                self.add_items(home, &item.items);
                home
            })
            .collect();
        let users = std::iter::once((root, &devices.uses))
            .chain(homes.iter().copied().zip(devices.items.iter().map(|item| &item.uses)));
        for (user, uses) in users {
            for one in uses {
                let home = devices.items.iter().position(|item| item.id == one.id);
                let found = home
                    .and_then(|home| self.find(homes[home], &one.export, &|_| true))
                    .cloned()
                    .unwrap_or(Binding::Refused);
                self.bind(user, &one.path, found);
            }
        }
        for (name, what) in &devices.nowhere {
            if self.find(root, name, &|_| true).is_none() {
                self.bind(root, name, Binding::Nowhere);
            }
            self.host.extend(what.map(|what| (name.clone(), what)));
        }
        self.host_functions.extend(devices.functions.clone());
        self.pending = !devices.pending.is_empty();
        for path in &devices.pending {
            self.bind(root, path, Binding::Awaited);
        }
    }

    fn orphan(&mut self) -> ScopeId {
        let id = ScopeId(u32::try_from(self.all.len()).expect("fewer than 2^32 scopes"));
        self.all.push(Scope::default());
        id
    }

    /// A path of which the first segments name a device item together, with these as one segment.
    ///
    /// `sched::Ring::<3>::new` becomes the two segments `sched::Ring` and `new` if `sched::Ring` is known.
    pub(crate) fn joined(&self, scope: ScopeId, path: &Path) -> Option<Path> {
        let first = path.segments.first()?;
        // `use library::sched` in a body, and `sched::Ring`.
        let head = match self.find(scope, &first.name, &|_| true) {
            Some(Binding::Use(real)) if path.segments.len() > 1 => Some(real.join("::")),
            _ => None,
        };
        (2..=path.segments.len()).rev().find_map(|count| {
            let names = |first: &str| {
                let rest = path.segments[1..count].iter().map(|segment| segment.name.as_str());
                std::iter::once(first).chain(rest).collect::<Vec<_>>().join("::")
            };
            let name = std::iter::once(first.name.as_str())
                .chain(head.as_deref())
                .map(names)
                .find(|name| self.find(scope, name, &|_| true).is_some())?;
            let head = Segment { name, ..path.segments[count - 1].clone() };
            let segments = std::iter::once(head).chain(path.segments[count..].iter().cloned());
            Some(Path { segments: segments.collect(), loc: path.loc })
        })
    }

    pub(crate) fn add_items(&mut self, scope: ScopeId, items: &[Item]) {
        for item in items {
            match item {
                Item::Function(f) => {
                    self.bind(scope, &f.name.name, Binding::Function(f.clone(), scope));
                }
                Item::Struct(s) => {
                    self.bind(scope, &s.name.name, Binding::Struct(s.clone(), scope));
                }
                Item::Const(c) => self.bind(scope, &c.name.name, Binding::Const(c.clone(), scope)),
                Item::Trait(t) => self.bind(scope, &t.name.name, Binding::Trait(t.clone())),
                Item::Refused(name) => self.bind(scope, name, Binding::Refused),
                Item::Impl(i) => self.impls.push((i.clone(), scope)),
                Item::Use(item) if item.name == "*" && constants::is_module(&item.path) => {
                    for name in constants::NAMES {
                        let path = item.path.iter().cloned().chain([(*name).to_owned()]);
                        self.bind(scope, name, Binding::Use(path.collect()));
                    }
                }
                Item::Use(item) => {
                    self.bind(scope, &item.name, Binding::Use(item.path.clone()));
                }
            }
        }
    }
}

/// A call on the way, for messages and against recursion.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: Arc<Function>,
    /// What its generic parameters stand for, and which closures it was given.
    pub(crate) instance: Vec<String>,
    pub(crate) loc: Loc,
    /// How many variables there were before.
    pub(crate) vars: usize,
}
