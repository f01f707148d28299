//! The tools of agents that change nothing outside of the agent.

/// Whether a tool only reads, or only concerns the agent and its own user.
pub(super) fn is_reading(name: &str) -> bool {
    matches!(
        name,
        "Read"
        | "read_file"
        | "read_many_files"
        | "Glob"
        | "glob"
        | "Grep"
        | "search_file_content"
        | "grep_search"
        | "LS"
        | "list_directory"
        | "view_image"
        | "NotebookRead"
        | "TaskOutput"
        | "TaskGet"
        | "TaskList"
        | "tracker_get_task"
        | "tracker_list_tasks"
        | "tracker_visualize"
        | "get_internal_docs"
        // What an agent notes for itself, asks its own user, or how it goes on.
        | "TodoWrite"
        | "TaskCreate"
        | "TaskUpdate"
        | "update_plan"
        | "write_todos"
        | "update_topic"
        | "complete_task"
        | "AskUserQuestion"
        | "ask_user"
        | "request_user_input"
        | "EnterPlanMode"
        | "ExitPlanMode"
        | "enter_plan_mode"
        | "exit_plan_mode"
    )
}
