. "$(dirname "$0")/lib.sh"
need_code_tools
