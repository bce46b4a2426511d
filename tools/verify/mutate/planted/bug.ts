/** A realistic bug in the protocol's contracts. In `by`, `ON` stands for the condition of an active bug. */
export type Bug = { name: string; file: string; find: string; by: string };

export const bug = (name: string, file: string, find: string, by: string): Bug => ({ name, file, find, by });
/** A statement that is left out. */
export const without = (name: string, file: string, statement: string): Bug =>
  bug(name, file, statement, `if (!ON) ${statement}`);
/** @param marked The text to find; its part in double braces is replaced. */
const inside = (name: string, file: string, marked: string, replace: (part: string) => string): Bug => {
  const [before, part, after] = marked.split(/\{\{|\}\}/) as [string, string, string];
  return bug(name, file, `${before}${part}${after}`, `${before}${replace(part)}${after}`);
};
/** An expression, in double braces, that has another value. */
export const other = (name: string, file: string, marked: string, value: string): Bug =>
  inside(name, file, marked, (right) => `ON ? ${value} : ${right}`);
/** A condition, in double braces, that always holds. */
export const always = (name: string, file: string, marked: string): Bug =>
  inside(name, file, marked, (condition) => `(ON || (${condition}))`);
/** A condition, in double braces, that never holds. */
export const never = (name: string, file: string, marked: string): Bug =>
  inside(name, file, marked, (condition) => `(!ON && (${condition}))`);
/** A `require` whose condition need not hold. */
export const unchecked = (name: string, file: string, condition: string, error: string): Bug =>
  bug(name, file, `require(${condition}, ${error}`, `require(ON || (${condition}), ${error}`);
