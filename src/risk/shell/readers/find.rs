//! `find` expressions. Commands that `find` runs are rated separately.

use super::super::listed::listed;
use super::{Argument, CallEffect, is_known};

/// Words without a value.
const BARE: &str = "-H -L -P -O0 -O1 -O2 -O3 -E -X -s -x -a -and -o -or -not ! ( ) , -daystart -depth -d -follow \
    -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -warn -nowarn -empty -executable -readable \
    -writable -nogroup -nouser -true -false -ls -print -print0 -prune -quit";
/// Words that take one value.
const VALUE: &str = "-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname \
    -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -newermt -newerat -newerct \
    -newermm -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -printf -Btime -Bnewer";
const RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
const HARMS: [&str; 5] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// The effect of an expression.
pub(super) fn effect(arguments: &[Argument]) -> CallEffect {
    let mut effect = CallEffect::ReadsOnly;
    let mut index = 0;
    while let Some(argument) = arguments.get(index) {
        let text = argument.text;
        index += 1;
        if !is_known(text) {
            effect = effect.max(CallEffect::Unlisted);
        } else if RUNS.contains(&text) {
            let tail = arguments.get(index..).unwrap_or_default();
            let length = tail.iter().position(|it| it.text == ";").or_else(|| {
                tail.windows(2)
                    .position(|two| two.iter().map(|it| it.text).eq(["{}", "+"]))
                    .map(|index| index + 1)
            });
            match length {
                Some(length) => index += length + 1,
                None => return effect.max(CallEffect::Unlisted),
            }
        } else if listed(VALUE, text) {
            if arguments.get(index).is_none_or(|value| !is_known(value.text)) {
                effect = effect.max(CallEffect::Unlisted);
            }
            index += 1;
        } else if HARMS.contains(&text) {
            effect = CallEffect::Harmful;
        } else if text.starts_with(['-', '!', '(', ')', ',']) && !listed(BARE, text) {
            effect = effect.max(CallEffect::Unlisted);
        } else if argument.glob && text.starts_with(['*', '?', '[']) {
            // A file name may look like an option.
            effect = effect.max(CallEffect::Unlisted);
        }
    }
    effect
}
