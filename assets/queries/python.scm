; Where Python defines and names things. @name is the name, @definition.KIND the whole item.

(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(module (expression_statement (assignment left: (identifier) @name)) @definition.variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @definition.field))
(type_alias_statement left: (type (identifier) @name)) @definition.type
