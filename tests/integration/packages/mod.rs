//! What packages contain besides the program: the files in `packaging/linux`.

mod command_line;
