import { Help, type Command, type Option } from "commander";
import { wordsOf } from "./walk.ts";

/** The groups of flags in a command's help, besides "Options:". */
export const GROUPS = {
  outputs: "Outputs:",
  model: "How the model is compiled:",
  chain: "Chain and account:",
  inputs: "Rare kinds of inputs:",
  run: "Runs of many items:",
  decoder: "Language models:",
  training: "Training:",
  limits: "Limits of compiling:",
  terms: "Rare terms of a job:",
  places: "Inputs that lie elsewhere:",
} as const;

/** The groups that a help shows with `--all` only. */
const RARE: ReadonlySet<string> = new Set(
  (["inputs", "run", "decoder", "training", "limits", "terms", "places"] as const).map((name) => GROUPS[name]),
);

/** The flag that has a help show all flags. It is no option of a command. */
export const ALL = "--all";

/** Rare groups that are no rare ones of a command. */
const common = new WeakMap<Command, readonly string[]>();

/** Has the help of a command always show some groups. */
export const alwaysShow = (command: Command, ...groups: readonly (keyof typeof GROUPS)[]): Command => {
  common.set(
    command,
    groups.map((name) => GROUPS[name]),
  );
  return command;
};

const isRare = (command: Command, { helpGroupHeading: heading = "" }: Option): boolean =>
  RARE.has(heading) && common.get(command)?.includes(heading) !== true;

/** The flags shown in a command's help without `--all`. */
export const commonFlags = (command: Command): Option[] =>
  new Help().visibleOptions(command).filter((option) => !isRare(command, option));

/** Says which flags a help leaves out; empty if none. */
export function leftOutText(command: Command): string {
  const rare = command.options.filter((option) => isRare(command, option));
  if (rare.length === 0) return "";
  const groups = [...new Set(rare.map(({ helpGroupHeading }) => helpGroupHeading!.slice(0, -1).toLowerCase()))];
  return `\n${rare.length} more flags: refute ${wordsOf(command).join(" ")} --help ${ALL}\n(${groups.join(", ")})`;
}
