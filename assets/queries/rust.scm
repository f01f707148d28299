; Where Rust defines and names things. @name is the name, @definition.KIND the whole item;
; @receiver is a part of the full name that stands elsewhere than around the item.

(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(enum_variant name: (identifier) @name) @definition.variant
(union_item name: (type_identifier) @name) @definition.union
(trait_item name: (type_identifier) @name) @definition.trait
(mod_item name: (identifier) @name) @definition.module
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.static
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(macro_definition name: (identifier) @name) @definition.macro
(field_declaration name: (field_identifier) @name) @definition.field

(impl_item trait: (_)? @trait type: (type_identifier) @name) @definition.impl
(impl_item trait: (_)? @trait type: (generic_type type: (type_identifier) @name)) @definition.impl
(impl_item trait: (_)? @trait type: (generic_type type: (scoped_type_identifier name: (type_identifier) @name))) @definition.impl
(impl_item trait: (_)? @trait type: (scoped_type_identifier name: (type_identifier) @name)) @definition.impl
(impl_item trait: (_)? @trait type: (primitive_type) @name) @definition.impl
(impl_item trait: (_)? @trait type: (reference_type type: (type_identifier) @name)) @definition.impl
(impl_item trait: (_)? @trait type: (reference_type type: (generic_type type: (type_identifier) @name))) @definition.impl
(impl_item trait: (_)? @trait type: (reference_type type: (primitive_type) @name)) @definition.impl
