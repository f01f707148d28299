; Where JavaScript defines and names things. @name is the name, @definition.KIND the whole item.

(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (identifier) @name) @definition.class
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.method
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @definition.field

; One variable in a statement is the statement; of several, each is its own part of it.
(lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .) @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .) @definition.function
(program (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable)
(program (variable_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable)
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name) .) @definition.variable))
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition.variable)))
