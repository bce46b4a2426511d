/** Flags without a value that every command takes. */
export const FLAGS_OF_OUTPUT = ["--json", "--quiet", "--no-color"];
export const HELP_FLAGS = ["--help", "-h"];

export const isFlag = (arg: string): boolean => arg.startsWith("-");

/** Returns the place of the first argument other than a flag, from a given place on; -1 if all are flags. */
export const placeOfWord = (args: readonly string[], from = 0): number =>
  args.findIndex((arg, k) => k >= from && !isFlag(arg));

/** Arguments with `--help` in the place of the word `help`; `help completion` is a command. */
export function withHelpFlag(args: readonly string[]): readonly string[] {
  const at = placeOfWord(args);
  if (args[at] !== "help" || args.some((arg) => HELP_FLAGS.includes(arg))) return args;
  return args[placeOfWord(args, at + 1)] === "completion" ? args : [...args.toSpliced(at, 1), "--help"];
}
