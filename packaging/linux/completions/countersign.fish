# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_countersign_global_optspecs
    string join \n workspace= evidence= log-level= h/help V/version
end

function __fish_countersign_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_countersign_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_countersign_using_subcommand
    set -l cmd (__fish_countersign_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c countersign -n "__fish_countersign_needs_command" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_needs_command" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_needs_command" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_needs_command" -s V -l version -d 'Print version'
complete -c countersign -n "__fish_countersign_needs_command" -a "check" -d 'Validate a plan and show what it would do; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "simulate" -d 'Show the file changes of all steps of a plan as one diff; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "convert" -d 'Print the plan that a diff, a patch or edit blocks are opened as; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "revise" -d 'Print a plan with other arguments, without some steps, or with a part of what they change; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "review-request" -d 'Write a request for another person\'s signature: the plan, what it would do, and what the approval would cover'
complete -c countersign -n "__fish_countersign_needs_command" -a "review" -d 'Show a request for a signature; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "sign" -d 'Sign a request with your SSH key, or refuse it with words; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "propose" -d 'Check a plan and put it into the inbox, where it waits for a person; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "inbox" -d 'List the inbox, or remove something from it'
complete -c countersign -n "__fish_countersign_needs_command" -a "run" -d 'Authorize a plan and run it'
complete -c countersign -n "__fish_countersign_needs_command" -a "continue" -d 'Make a plan of the steps of a run that did not succeed, authorize it and run it'
complete -c countersign -n "__fish_countersign_needs_command" -a "mcp" -d 'Serve agents by the Model Context Protocol: they propose plans, ask what became of them, and search the evidence'
complete -c countersign -n "__fish_countersign_needs_command" -a "hook" -d 'Answer an agent that wants to make a tool call: it is shown to a person in the window; see docs/agents.md'
complete -c countersign -n "__fish_countersign_needs_command" -a "exec" -d 'Run what a ticket of `hook` stands for, in the window; the agent does that'
complete -c countersign -n "__fish_countersign_needs_command" -a "acp" -d 'Start an agent, show each change that it wants to make, and write what is approved; see docs/agents.md'
complete -c countersign -n "__fish_countersign_needs_command" -a "plan" -d 'Let a planner propose a plan for a goal; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "loop" -d 'Let a planner propose plans for a goal, in a limited number of attempts, and run those that are authorized'
complete -c countersign -n "__fish_countersign_needs_command" -a "revert" -d 'Make a plan that reverts the file changes of a run, an execution or a loop, authorize it and run it'
complete -c countersign -n "__fish_countersign_needs_command" -a "reconcile" -d 'Make a plan that rolls back or finishes the interrupted step of a run, authorize it and run it'
complete -c countersign -n "__fish_countersign_needs_command" -a "evidence" -d 'Search, show, verify and export the evidence'
complete -c countersign -n "__fish_countersign_needs_command" -a "walls" -d 'Show the walls (the sandbox) of this computer, and grant access beyond them to every plan in a workspace'
complete -c countersign -n "__fish_countersign_needs_command" -a "risk" -d 'Show how dangerous a shell command is; nothing is run'
complete -c countersign -n "__fish_countersign_needs_command" -a "settings" -d 'List the settings (with --json also what they cost and protect), export them, or import those of a file'
complete -c countersign -n "__fish_countersign_needs_command" -a "explain" -d 'Say what an error code, a tool, a precondition, a rule, an exit code or a word means, and what to do'
complete -c countersign -n "__fish_countersign_needs_command" -a "doctor" -d 'Print what a report about a fault of the program needs: versions, system, settings, evidence and the end of the log, without secrets and without contents of plans'
complete -c countersign -n "__fish_countersign_needs_command" -a "diagnostics" -d 'Print what a report about a fault of the program needs: versions, system, settings, evidence and the end of the log, without secrets and without contents of plans'
complete -c countersign -n "__fish_countersign_needs_command" -a "schema" -d 'Print the JSON Schema of a plan dialect'
complete -c countersign -n "__fish_countersign_needs_command" -a "planner" -d 'Answer a request of the loop on stdin with a plan'
complete -c countersign -n "__fish_countersign_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand check" -l target -d 'The host on which the plan\'s commands run, an SSH destination or `local` [default: the plan\'s]' -r
complete -c countersign -n "__fish_countersign_using_subcommand check" -l mode -d 'How the plan\'s commands run [default: the plan\'s]' -r -f -a "automatic\t'Each command starts after the one before it; confirmations still pause the run'
guided\t'Each command waits for you'"
complete -c countersign -n "__fish_countersign_using_subcommand check" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand check" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand check" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand check" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand check" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand check" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand check" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand check" -l revoke-commands -d 'Revoke the trust in the commands of the workspace\'s countersign.toml that has this digest' -r
complete -c countersign -n "__fish_countersign_using_subcommand check" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand check" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand check" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand check" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand check" -l connect -d 'Connect to the plan\'s host, to see whether commands can run there; none is sent'
complete -c countersign -n "__fish_countersign_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l target -d 'The host on which the plan\'s commands run, an SSH destination or `local` [default: the plan\'s]' -r
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l mode -d 'How the plan\'s commands run [default: the plan\'s]' -r -f -a "automatic\t'Each command starts after the one before it; confirmations still pause the run'
guided\t'Each command waits for you'"
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand convert" -l input -d 'Print the plan with a value of an input; the others stay as they are' -r
complete -c countersign -n "__fish_countersign_using_subcommand convert" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand convert" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand convert" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand convert" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l set -d 'Give an argument of a step this value; STEP is its id, or its number from 1. What is no text in the plan is JSON' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l set-file -d 'As --set, with the content of a file' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l input -d 'Give an input of the plan this value' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l unset -d 'Take an argument of a step away' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l leave-out -d 'Leave a step out, with those that need it' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l hunks -d 'Keep only these hunks of what a step changes, counted from 1 through its files as `simulate` shows them' -r
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l out -d 'Write the plan to this new file instead of stdout' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand revise" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand revise" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l target -d 'The host on which the plan\'s commands run, an SSH destination or `local` [default: the plan\'s]' -r
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l mode -d 'How the plan\'s commands run [default: the plan\'s]' -r -f -a "automatic\t'Each command starts after the one before it; confirmations still pause the run'
guided\t'Each command waits for you'"
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l follow-up -d 'Make the plan from the recorded run with the id PLAN, as this command makes it' -r -f -a "continue\t'`continue RUN`'
revert\t'`revert RUN`, also of an execution or a loop'
roll-back\t'`reconcile RUN --roll-back`'
finish\t'`reconcile RUN --finish`'"
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand review-request" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand review" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand review" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand review" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand review" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l digest -d 'Only if the file of the request has this digest, as `review` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l refuse -d 'Refuse the plan, with these words for the person who asks' -r
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l key -d 'The key, or a public key whose private half is in the agent or in hardware; with --principal [default: that of the settings]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l principal -d 'Who signs, as lists of allowed signers name you; with --key [default: that of the settings]' -r
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand sign" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand sign" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand propose" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand propose" -l from -d 'Who proposes it, in any words; they are shown to the person' -r
complete -c countersign -n "__fish_countersign_using_subcommand propose" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand propose" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand propose" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand propose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and not __fish_seen_subcommand_from list remove help" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and not __fish_seen_subcommand_from list remove help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and not __fish_seen_subcommand_from list remove help" -f -a "list" -d 'List the plans that wait in the inbox, and what else is in its folder'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and not __fish_seen_subcommand_from list remove help" -f -a "remove" -d 'Move something from the inbox into its folder `removed`'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and not __fish_seen_subcommand_from list remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from list" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from list" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from list" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from remove" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from remove" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the plans that wait in the inbox, and what else is in its folder'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Move something from the inbox into its folder `removed`'
complete -c countersign -n "__fish_countersign_using_subcommand inbox; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand run" -l target -d 'The host on which the plan\'s commands run, an SSH destination or `local` [default: the plan\'s]' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l mode -d 'How the plan\'s commands run [default: the plan\'s]' -r -f -a "automatic\t'Each command starts after the one before it; confirmations still pause the run'
guided\t'Each command waits for you'"
complete -c countersign -n "__fish_countersign_using_subcommand run" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l authorize -d 'Authorize the plan if this is its digest, as `check` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l hosts -d 'With --authorize and a plan for several hosts: authorize these hosts and what ansible and ssh read, if this is the digest that `check` printed of them' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l confirm -d 'How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those that ask only because they have no walls [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand run" -l signature -d 'The signature of another person, as `sign` wrote it; repeat it for more persons [default: those in the folder that the settings name]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand run" -l trust-commands -d 'Trust the commands of the workspace\'s countersign.toml if this is its digest, as `check` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand run" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand run" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand run" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand run" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand run" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand run" -l yes -d 'Authorize the plan, whatever its digest is; this confirms no step'
complete -c countersign -n "__fish_countersign_using_subcommand run" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand run" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand run" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l authorize -d 'Authorize the plan if this is its digest, as `check` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l hosts -d 'With --authorize and a plan for several hosts: authorize these hosts and what ansible and ssh read, if this is the digest that `check` printed of them' -r
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l confirm -d 'How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those that ask only because they have no walls [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l signature -d 'The signature of another person, as `sign` wrote it; repeat it for more persons [default: those in the folder that the settings name]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l workspace -d 'The folder the plan works in [default: the run\'s]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l yes -d 'Authorize the plan, whatever its digest is; this confirms no step'
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand continue" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand continue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand mcp" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand mcp" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -l agent -d 'The agent that makes the call: claude, codex or gemini' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -l timeout -d 'How long to wait for a person, in seconds; must be less than the agent waits for the hook [default: nine tenths of what the agent waits by default: 540, for gemini 54]' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -l unsandboxed -d 'Codex runs commands without its sandbox, so that `exec` reaches the window. From its sandbox nothing can connect, and without this flag its commands wait in the inbox'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -f -a "install" -d 'Add the hook to the settings of an agent; everything else in them stays'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -f -a "remove" -d 'Remove the hook from the settings of an agent'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -f -a "doctor" -d 'Prove by a denied call that the hook fires'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and not __fish_seen_subcommand_from install remove doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l agent -d 'The agent: claude, codex or gemini' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l project -d 'The settings of the project in this folder' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l timeout -d 'How long the hook waits for a person, in seconds; the agent is told to wait a minute longer [default: 540]' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l user -d 'The user\'s own settings [default]'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -l unsandboxed -d 'Codex runs commands without its sandbox, so that `exec` reaches the window'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l agent -d 'The agent: claude, codex or gemini' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l project -d 'The settings of the project in this folder' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l user -d 'The user\'s own settings [default]'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l agent -d 'The agent: claude, codex or gemini' -r
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l project -d 'The settings of the project in this folder' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l user -d 'The user\'s own settings [default]'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "install" -d 'Add the hook to the settings of an agent; everything else in them stays'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove the hook from the settings of an agent'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "doctor" -d 'Prove by a denied call that the hook fires'
complete -c countersign -n "__fish_countersign_using_subcommand hook; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand exec" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand exec" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l prompt -d 'What the agent is asked to do' -r
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l prompt-file -d 'The file with what the agent is asked to do' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l confirm -d 'How to answer the agent\'s questions; `approve` approves dangerous ones too, `skip` rejects what it asks for, and `cancel` also ends its turn [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l workspace -d 'The folder the agent works in [default: the current folder or the nearest one above it with a Cargo.toml or .git, else the current folder]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l silence -d 'End the agent if it sends nothing for this long, in seconds; 0 waits without limit [default: 1800]' -r
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand acp" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand acp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l planner -d 'The planner that makes the plan: a command, or one of the planners listed below' -r
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l max-attempts -d 'The maximum number of attempts' -r
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l looks -d 'What the planner may look at before it plans. What it sees, without secrets, may leave this computer: a model runs where its server is' -r -f -a "none\t'Nothing beyond what each request contains'
workspace\t'The workspace\'s files except sensitive ones, and the facts of the goal\'s host'"
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l target -d 'The host of the goal, an SSH destination: the planner is told its system and programs, and its commands run there' -r
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l planner-timeout -d 'How long the planner may take for one answer, in seconds [default: 120; 600 for codex, claude and gemini]' -r
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l workspace -d 'The folder the plans work in [default: the current folder or the nearest one above it with a Cargo.toml or .git, else the current folder]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l planner-network -d 'Let the planner use the network; [planners.NAME] in the settings gives it other permissions'
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand plan" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l goal -d 'The goal, in words for the planner' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l planner -d 'The planner that makes the plans: a command, or one of the planners listed below' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l authorize-class -d 'Authorize the plans inside the class of plans that this file describes' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l verify -d 'What the loop verifies after an attempt, unless the plan verified it [default: local; none with --target]' -r -f -a "local\t'The workspace\'s quick verification'
full\t'The workspace\'s full verification, with tests'
none\t'Nothing; a completed loop is then marked as not verified'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l trust-commands -d 'Trust the commands of the workspace\'s countersign.toml if this is its digest, as the loop printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l confirm -d 'How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those that ask only because they have no walls [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l revoke-class -d 'Revoke the authorization class with this id, which its loop printed; no loop is started' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l max-attempts -d 'The maximum number of attempts' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l looks -d 'What the planner may look at before it plans. What it sees, without secrets, may leave this computer: a model runs where its server is' -r -f -a "none\t'Nothing beyond what each request contains'
workspace\t'The workspace\'s files except sensitive ones, and the facts of the goal\'s host'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l target -d 'The host of the goal, an SSH destination: the planner is told its system and programs, and its commands run there' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l planner-timeout -d 'How long the planner may take for one answer, in seconds [default: 120; 600 for codex, claude and gemini]' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l workspace -d 'The folder the plans work in [default: the current folder or the nearest one above it with a Cargo.toml or .git, else the current folder]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l yes -d 'Authorize the plan of every attempt; this confirms no step'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l planner-network -d 'Let the planner use the network; [planners.NAME] in the settings gives it other permissions'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand loop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l authorize -d 'Authorize the plan if this is its digest, as `check` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l hosts -d 'With --authorize and a plan for several hosts: authorize these hosts and what ansible and ssh read, if this is the digest that `check` printed of them' -r
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l confirm -d 'How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those that ask only because they have no walls [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l signature -d 'The signature of another person, as `sign` wrote it; repeat it for more persons [default: those in the folder that the settings name]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l workspace -d 'The folder the plan works in [default: the run\'s]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l yes -d 'Authorize the plan, whatever its digest is; this confirms no step'
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand revert" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand revert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l input -d 'Give an input of the plan a value; inputs that are not given get their defaults. The plan with its values has a digest of its own' -r
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l secret-input -d 'Give a secret input of the plan the content of a file, without the end of its last line; - is stdin. It is in no plan and no record' -r
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l authorize -d 'Authorize the plan if this is its digest, as `check` printed it' -r
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l hosts -d 'With --authorize and a plan for several hosts: authorize these hosts and what ansible and ssh read, if this is the digest that `check` printed of them' -r
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l confirm -d 'How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those that ask only because they have no walls [default: ask on a terminal, else cancel]' -r -f -a "approve\t'Run the step'
caution\t'Approve a step that asks only because it has no walls and whose risk is at most caution; about any other step ask on a terminal, and without a terminal deny it'
skip\t'Skip the step and go on with the next one'
cancel\t'Deny the step, which ends the run'
ask\t'Ask on the terminal'"
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l signature -d 'The signature of another person, as `sign` wrote it; repeat it for more persons [default: those in the folder that the settings name]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l workspace -d 'The folder the plan works in [default: the run\'s]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l engine -d 'The code engine, which finds symbols and replaces definitions [default: the settings\']' -r -f -a "auto\t'The external engine if there is a codegraph.db newer than the sources, else the embedded engine'
embedded\t'The built-in grammars'
external\t'magellan\'s codegraph.db and the program splice'"
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l walls -d 'The walls (the sandbox) of this run; where the settings require walls, it cannot have others [default: the settings\']' -r -f -a "required\t'The strongest walls, or the plan cannot run'
preferred\t'The strongest walls that this computer has'
off\t'No walls; steps rated caution ask'"
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l roll-back -d 'Restore the files as they were before the interrupted step'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l finish -d 'Write the files as the interrupted step was to write them'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l yes -d 'Authorize the plan, whatever its digest is; this confirms no step'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l ask-every-step -d 'Ask before every step'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand reconcile" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "search" -d 'Find executions by words in their tool, arguments, errors and output'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "show" -d 'Show one execution, run or loop in full'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "query" -d 'Ask one of the prepared questions'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "times" -d 'Show when each step of a run began, waited for a person, and worked'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "compare" -d 'Show what differs between two runs: plans, approved files, outcomes, outputs and times'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "file" -d 'List every recorded change of a file with its difference, oldest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "durations" -d 'Show how long the step of an execution took in each run'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "judge" -d 'List the past commands whose risk is another one by the present rules'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "timeline" -d 'Count executions over time, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "counts" -d 'Count executions by outcome, tool, file and so on, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "verify" -d 'Recompute the hash chain of all records'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "export" -d 'Write executions to a file in a common format: JSON Lines, CSV, SARIF, JUnit, asciicast or HTML'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "case" -d 'Write everything about a run into one file that can be checked without Countersign'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "key" -d 'Print the public key with which others check your checkpoints'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "checkpoint" -d 'Sign the state of all records, or compare them with an earlier checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "prove" -d 'Write the records of an execution or a run with the proof that they are among those of a checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "attest" -d 'Write a signed statement about a run: its plan, its approval, what it did, and which files it wrote'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "sign" -d 'Sign the head of the evidence or the end of a run with your SSH key'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "verify-signature" -d 'Say whether allowed signers have signed a run, an authorization or the head'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "push" -d 'Copy the verified records that it lacks to the PostgreSQL server of a team'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "accept-head" -d 'Accept a database that was replaced or truncated, and record why'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "sizes" -d 'Say how large and how old the evidence is, and what could be given back'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "purge" -d 'Delete old, large or named records for ever, and record that and why. The chain stays verifiable'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "compact" -d 'Give the space of purged records back to the disk'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "secrets" -d 'List records that have a secret in clear by the present rules, without the secret'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "backup" -d 'Write all records into one file and verify it. The key that protects secrets is not in it'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "restore" -d 'Replace the evidence by a backup, and record why. What is here now is moved aside'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and not __fish_seen_subcommand_from search show query times compare file durations judge timeline counts verify export case key checkpoint prove attest sign verify-signature push accept-head sizes purge compact secrets backup restore help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l run -d 'Only this run' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l loop -d 'Only the runs of this bounded loop' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l plan -d 'Only this plan' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l tool -d 'Only this tool' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l outcome -d 'Only this outcome' -r -f -a "succeeded\t''
failed\t''
denied\t''
skipped\t''
done_by_hand\t''
precondition_failed\t''
cancelled\t''
interrupted\t''
running\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l risk -d 'Only this risk' -r -f -a "safe\t''
caution\t''
dangerous\t''
blocked\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l host -d 'Only what ran on this host, as its plan names it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l path -l file -d 'Only what touched a file with these words in its path, in their order; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l wrote -d 'Only what wrote such a file; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l code -d 'Only what has a diagnostic of this code' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l by -d 'Only what this user decided about, or what was decided there, for instance `window`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l since -d 'Only what started then or later: a date, a time (RFC 3339, or local), `yesterday`, an age such as 7d, or Unix milliseconds' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l until -d 'Only what started then or earlier' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l limit -d 'At most this many rows' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l team -d 'Search the server of a team instead: postgres://USER@HOST:PORT/DATABASE, or at the end of the line that of the setting `team`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l origin -d 'Only what was pushed from this evidence: its name or the id in it, as `evidence key` prints it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from show" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from show" -l team -d 'An execution on the server of a team instead, by its whole id: postgres://USER@HOST:PORT/DATABASE, or at the end of the line that of the setting `team`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from show" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from show" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q1" -d 'Executions of a tool, oldest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q2" -d 'Failures of a tool, newest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q3" -d 'Executions with a diagnostic of this code'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q4" -d 'Executions that touched a file, and how'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q5" -d 'One execution in full'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q6" -d 'The latest execution that worked on a file'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q7" -d 'Recurring diagnostics, most frequent first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "q8" -d 'Changes of a file that occurred after a diagnostic in it'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "rejected" -d 'Plans that a person rejected, and why, newest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "interrupted" -d 'Runs whose process ended without recording an end, newest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from query" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from times" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from times" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from times" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from times" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compare" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compare" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compare" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -l workspace -d 'Only the file of this workspace [default: the file of this path in every workspace]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -l limit -d 'At most this many changes, the newest ones' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from file" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from durations" -l limit -d 'At most this many executions, the newest ones' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from durations" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from durations" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from durations" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from durations" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from judge" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from judge" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from judge" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from judge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l intervals -d 'At most this many intervals of equal length' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l run -d 'Only this run' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l loop -d 'Only the runs of this bounded loop' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l plan -d 'Only this plan' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l tool -d 'Only this tool' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l outcome -d 'Only this outcome' -r -f -a "succeeded\t''
failed\t''
denied\t''
skipped\t''
done_by_hand\t''
precondition_failed\t''
cancelled\t''
interrupted\t''
running\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l risk -d 'Only this risk' -r -f -a "safe\t''
caution\t''
dangerous\t''
blocked\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l host -d 'Only what ran on this host, as its plan names it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l path -l file -d 'Only what touched a file with these words in its path, in their order; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l wrote -d 'Only what wrote such a file; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l code -d 'Only what has a diagnostic of this code' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l by -d 'Only what this user decided about, or what was decided there, for instance `window`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l since -d 'Only what started then or later: a date, a time (RFC 3339, or local), `yesterday`, an age such as 7d, or Unix milliseconds' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l until -d 'Only what started then or earlier' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l limit -d 'At most this many rows' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from timeline" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l run -d 'Only this run' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l loop -d 'Only the runs of this bounded loop' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l plan -d 'Only this plan' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l tool -d 'Only this tool' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l outcome -d 'Only this outcome' -r -f -a "succeeded\t''
failed\t''
denied\t''
skipped\t''
done_by_hand\t''
precondition_failed\t''
cancelled\t''
interrupted\t''
running\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l risk -d 'Only this risk' -r -f -a "safe\t''
caution\t''
dangerous\t''
blocked\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l host -d 'Only what ran on this host, as its plan names it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l path -l file -d 'Only what touched a file with these words in its path, in their order; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l wrote -d 'Only what wrote such a file; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l code -d 'Only what has a diagnostic of this code' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l by -d 'Only what this user decided about, or what was decided there, for instance `window`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l since -d 'Only what started then or later: a date, a time (RFC 3339, or local), `yesterday`, an age such as 7d, or Unix milliseconds' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l until -d 'Only what started then or earlier' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l limit -d 'At most this many rows' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from counts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l head -d 'A head that was copied earlier; it must still be part of the chain' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l team -d 'The chains of every evidence on the server of a team, instead of the evidence here; without a URL, that of the setting `team`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l origin -d 'Only the chain of this evidence there: its name or the id in it, as `evidence key` prints it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l format -d 'The format: jsonl, csv, sarif (2.1.0), junit, asciicast (v3, of one run) or html' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l run -d 'Only this run' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l loop -d 'Only the runs of this bounded loop' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l plan -d 'Only this plan' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l tool -d 'Only this tool' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l outcome -d 'Only this outcome' -r -f -a "succeeded\t''
failed\t''
denied\t''
skipped\t''
done_by_hand\t''
precondition_failed\t''
cancelled\t''
interrupted\t''
running\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l risk -d 'Only this risk' -r -f -a "safe\t''
caution\t''
dangerous\t''
blocked\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l host -d 'Only what ran on this host, as its plan names it' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l path -l file -d 'Only what touched a file with these words in its path, in their order; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l wrote -d 'Only what wrote such a file; `*` for any file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l code -d 'Only what has a diagnostic of this code' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l by -d 'Only what this user decided about, or what was decided there, for instance `window`' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l since -d 'Only what started then or later: a date, a time (RFC 3339, or local), `yesterday`, an age such as 7d, or Unix milliseconds' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l until -d 'Only what started then or earlier' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l limit -d 'At most this many rows' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -l out -d 'The zip file to write, readable by you alone' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from case" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from key" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from key" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from key" -l pem -d 'Print it as a PEM file, for programs that check attestations'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from key" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from key" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l verify -d 'Compare the evidence with this earlier checkpoint instead' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l key -d 'The key that has signed it, as `evidence key` printed it [default: the key on this computer]' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from checkpoint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l record -d 'The record with this number in the ledger, such as a decision of a case file' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l checkpoint -d 'A checkpoint of this evidence, which others may have signed, too [default: a new one]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l since -d 'Prove also that the checkpoint continues this earlier one' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l verifier -d 'Print the program in Python that checks proofs instead'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from prove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l predicate -d 'What is stated about it' -r -f -a "run\t'How it was approved, what it did, and which files it wrote'
test-result\t'Whether its verifications passed, as in-toto\'s test result'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l checkpoint -d 'A checkpoint of this evidence, which others may have signed, too [default: a new one]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from attest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -l key -d 'The key, or a public key whose private half is in the agent or in hardware [default: that of the settings]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -l principal -d 'Who signs, as lists of allowed signers name you [default: that of the settings]' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sign" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l allowed-signers -d 'Who may sign with which key: a list as `ssh-keygen -Y verify` takes it' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l revoked -d 'Keys that do not count any more: public keys, or a list that `ssh-keygen -k` made' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l all -d 'All signatures in the evidence, and what is not signed although others are'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from verify-signature" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from push" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from push" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from push" -l setup -d 'Print the SQL script that makes a database ready instead'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from push" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from accept-head" -l reason -d 'Why the database is accepted as it is' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from accept-head" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from accept-head" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from accept-head" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from accept-head" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sizes" -l by -d 'What the runs recorded by month, or by plan' -r -f -a "month\t''
plan\t''"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sizes" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sizes" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sizes" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from sizes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l older-than -d 'Only runs and loops that ended before then: an age such as 90d, a date or a time' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l larger-than -d 'Only contents of at least this size, such as 10M: outputs and files that are stored apart' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l run -d 'Only this run' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l plan -d 'Only runs of this plan, by its id or digest' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l loop -d 'Only this bounded loop, with its runs' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l execution -d 'Only this step, by its execution' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l reason -d 'Why; it is recorded' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l secrets -d 'Only steps whose records have a secret in clear by the present rules, see `evidence secrets`'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l with-old-backups -d 'Afterwards, also delete the copies that migrations made of the database: they still have what is purged'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l dry-run -d 'Only say what would be purged'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l yes -d 'Purge without asking'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from purge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compact" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compact" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compact" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from secrets" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from secrets" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from secrets" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from secrets" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from backup" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from backup" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from backup" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from restore" -l reason -d 'Why; it is recorded' -r
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from restore" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from restore" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from restore" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "search" -d 'Find executions by words in their tool, arguments, errors and output'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one execution, run or loop in full'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "query" -d 'Ask one of the prepared questions'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "times" -d 'Show when each step of a run began, waited for a person, and worked'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Show what differs between two runs: plans, approved files, outcomes, outputs and times'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "file" -d 'List every recorded change of a file with its difference, oldest first'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "durations" -d 'Show how long the step of an execution took in each run'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "judge" -d 'List the past commands whose risk is another one by the present rules'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "timeline" -d 'Count executions over time, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "counts" -d 'Count executions by outcome, tool, file and so on, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Recompute the hash chain of all records'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write executions to a file in a common format: JSON Lines, CSV, SARIF, JUnit, asciicast or HTML'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "case" -d 'Write everything about a run into one file that can be checked without Countersign'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "key" -d 'Print the public key with which others check your checkpoints'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "checkpoint" -d 'Sign the state of all records, or compare them with an earlier checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "prove" -d 'Write the records of an execution or a run with the proof that they are among those of a checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "attest" -d 'Write a signed statement about a run: its plan, its approval, what it did, and which files it wrote'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "sign" -d 'Sign the head of the evidence or the end of a run with your SSH key'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "verify-signature" -d 'Say whether allowed signers have signed a run, an authorization or the head'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "push" -d 'Copy the verified records that it lacks to the PostgreSQL server of a team'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "accept-head" -d 'Accept a database that was replaced or truncated, and record why'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "sizes" -d 'Say how large and how old the evidence is, and what could be given back'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "purge" -d 'Delete old, large or named records for ever, and record that and why. The chain stays verifiable'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Give the space of purged records back to the disk'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "secrets" -d 'List records that have a secret in clear by the present rules, without the secret'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "backup" -d 'Write all records into one file and verify it. The key that protects secrets is not in it'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Replace the evidence by a backup, and record why. What is here now is moved aside'
complete -c countersign -n "__fish_countersign_using_subcommand evidence; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l workspace -d 'The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or .git, else the plan\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l allow -d 'Grant every step of the run something beyond its walls: `network`, or `write=PATH`' -r
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l grant-proposed -d 'Grant what the commands are known to need beyond their walls, as `check` proposes it'
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l forget -d 'Revoke all grants to the plans in this workspace; without this flag, new grants add to earlier ones'
complete -c countersign -n "__fish_countersign_using_subcommand walls" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand walls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand risk" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand risk" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand risk" -l stdin -d 'Read commands from stdin, one per line, and print one verdict per line'
complete -c countersign -n "__fish_countersign_using_subcommand risk" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand risk" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -f -a "export" -d 'Write the settings for another computer, without secrets and what is about this computer'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -f -a "import" -d 'Take over settings of a file; what it would change is printed first'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and not __fish_seen_subcommand_from export import help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -l out -d 'The file to write, readable by you alone [default: stdout]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -l force -d 'Replace the file if it exists'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l weaken -d 'Also change this key, which weakens protection; repeat it for each one' -r
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l without -d 'Leave this key as it is; repeat it for more' -r
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l dry-run -d 'Print what would change, and change nothing'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l yes -d 'Change the settings'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write the settings for another computer, without secrets and what is about this computer'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "import" -d 'Take over settings of a file; what it would change is printed first'
complete -c countersign -n "__fish_countersign_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand explain" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand explain" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand explain" -l search -d 'Print every entry that contains these words'
complete -c countersign -n "__fish_countersign_using_subcommand explain" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand doctor" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand doctor" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand doctor" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand diagnostics" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand diagnostics" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand diagnostics" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand diagnostics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand schema" -l evidence -d 'The evidence folder [default: the user\'s own]' -r -F
complete -c countersign -n "__fish_countersign_using_subcommand schema" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand schema" -l json -d 'Print JSON on stdout'
complete -c countersign -n "__fish_countersign_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand planner" -l log-level -d 'How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings\']' -r -f -a "off\t'Nothing is logged'
error\t'What failed'
warn\t'What is unusual, too'
info\t'What happened, too'
debug\t'Details, too: steps, slow frames'"
complete -c countersign -n "__fish_countersign_using_subcommand planner" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "check" -d 'Validate a plan and show what it would do; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "simulate" -d 'Show the file changes of all steps of a plan as one diff; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "convert" -d 'Print the plan that a diff, a patch or edit blocks are opened as; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "revise" -d 'Print a plan with other arguments, without some steps, or with a part of what they change; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "review-request" -d 'Write a request for another person\'s signature: the plan, what it would do, and what the approval would cover'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "review" -d 'Show a request for a signature; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "sign" -d 'Sign a request with your SSH key, or refuse it with words; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "propose" -d 'Check a plan and put it into the inbox, where it waits for a person; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "inbox" -d 'List the inbox, or remove something from it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "run" -d 'Authorize a plan and run it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "continue" -d 'Make a plan of the steps of a run that did not succeed, authorize it and run it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "mcp" -d 'Serve agents by the Model Context Protocol: they propose plans, ask what became of them, and search the evidence'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "hook" -d 'Answer an agent that wants to make a tool call: it is shown to a person in the window; see docs/agents.md'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "exec" -d 'Run what a ticket of `hook` stands for, in the window; the agent does that'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "acp" -d 'Start an agent, show each change that it wants to make, and write what is approved; see docs/agents.md'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "plan" -d 'Let a planner propose a plan for a goal; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "loop" -d 'Let a planner propose plans for a goal, in a limited number of attempts, and run those that are authorized'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "revert" -d 'Make a plan that reverts the file changes of a run, an execution or a loop, authorize it and run it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "reconcile" -d 'Make a plan that rolls back or finishes the interrupted step of a run, authorize it and run it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "evidence" -d 'Search, show, verify and export the evidence'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "walls" -d 'Show the walls (the sandbox) of this computer, and grant access beyond them to every plan in a workspace'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "risk" -d 'Show how dangerous a shell command is; nothing is run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "settings" -d 'List the settings (with --json also what they cost and protect), export them, or import those of a file'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "explain" -d 'Say what an error code, a tool, a precondition, a rule, an exit code or a word means, and what to do'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "doctor" -d 'Print what a report about a fault of the program needs: versions, system, settings, evidence and the end of the log, without secrets and without contents of plans'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "schema" -d 'Print the JSON Schema of a plan dialect'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "planner" -d 'Answer a request of the loop on stdin with a plan'
complete -c countersign -n "__fish_countersign_using_subcommand help; and not __fish_seen_subcommand_from check simulate convert revise review-request review sign propose inbox run continue mcp hook exec acp plan loop revert reconcile evidence walls risk settings explain doctor schema planner help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from inbox" -f -a "list" -d 'List the plans that wait in the inbox, and what else is in its folder'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from inbox" -f -a "remove" -d 'Move something from the inbox into its folder `removed`'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from hook" -f -a "install" -d 'Add the hook to the settings of an agent; everything else in them stays'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from hook" -f -a "remove" -d 'Remove the hook from the settings of an agent'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from hook" -f -a "doctor" -d 'Prove by a denied call that the hook fires'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "search" -d 'Find executions by words in their tool, arguments, errors and output'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "show" -d 'Show one execution, run or loop in full'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "query" -d 'Ask one of the prepared questions'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "times" -d 'Show when each step of a run began, waited for a person, and worked'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "compare" -d 'Show what differs between two runs: plans, approved files, outcomes, outputs and times'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "file" -d 'List every recorded change of a file with its difference, oldest first'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "durations" -d 'Show how long the step of an execution took in each run'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "judge" -d 'List the past commands whose risk is another one by the present rules'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "timeline" -d 'Count executions over time, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "counts" -d 'Count executions by outcome, tool, file and so on, with the words and filters of `evidence search`'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "verify" -d 'Recompute the hash chain of all records'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "export" -d 'Write executions to a file in a common format: JSON Lines, CSV, SARIF, JUnit, asciicast or HTML'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "case" -d 'Write everything about a run into one file that can be checked without Countersign'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "key" -d 'Print the public key with which others check your checkpoints'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "checkpoint" -d 'Sign the state of all records, or compare them with an earlier checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "prove" -d 'Write the records of an execution or a run with the proof that they are among those of a checkpoint'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "attest" -d 'Write a signed statement about a run: its plan, its approval, what it did, and which files it wrote'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "sign" -d 'Sign the head of the evidence or the end of a run with your SSH key'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "verify-signature" -d 'Say whether allowed signers have signed a run, an authorization or the head'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "push" -d 'Copy the verified records that it lacks to the PostgreSQL server of a team'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "accept-head" -d 'Accept a database that was replaced or truncated, and record why'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "sizes" -d 'Say how large and how old the evidence is, and what could be given back'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "purge" -d 'Delete old, large or named records for ever, and record that and why. The chain stays verifiable'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "compact" -d 'Give the space of purged records back to the disk'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "secrets" -d 'List records that have a secret in clear by the present rules, without the secret'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "backup" -d 'Write all records into one file and verify it. The key that protects secrets is not in it'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from evidence" -f -a "restore" -d 'Replace the evidence by a backup, and record why. What is here now is moved aside'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "export" -d 'Write the settings for another computer, without secrets and what is about this computer'
complete -c countersign -n "__fish_countersign_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "import" -d 'Take over settings of a file; what it would change is printed first'
