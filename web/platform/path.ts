/** What readers of models use of `node:path`, where there are no files: names of files with external tensors. */
export const sep = "/";

export const dirname = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(sep)));
export const isAbsolute = (path: string): boolean => path.startsWith(sep);
export const join = (...parts: readonly string[]): string => normalize(parts.filter((part) => part !== "").join(sep));

/** A path without empty parts, `.` and what `..` takes back. */
export function normalize(path: string): string {
  const kept: string[] = [];
  for (const part of path.split(sep)) {
    if (part === "" || part === ".") continue;
    if (part === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else kept.push(part);
  }
  return (isAbsolute(path) ? sep : "") + (kept.join(sep) || ".");
}

/** The way from one folder to a path. */
export function relative(from: string, to: string): string {
  const [a, b] = [from, to].map((path) => normalize(path).split(sep)) as [string[], string[]];
  const shared = a.findIndex((part, k) => part !== b[k]);
  const same = shared === -1 ? a.length : shared;
  return [...a.slice(same).map(() => ".."), ...b.slice(same)].join(sep);
}
